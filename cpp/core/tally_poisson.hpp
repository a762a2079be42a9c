// Half the Poisson deviance: for counts and rates, whose spread grows with their mean.
//
// A side of weight W and sum M has sum y log y - M log(M / W) of it, so that the best cut makes the sum over both sides of
// M log(M / W) largest. A side without any count would predict 0, at which the deviance has no end: that is no cut.
#pragma once

#include <cmath>

#include "tally.hpp"

namespace conjunto {

// M log(M / W), and its limit 0.
inline double poisson_part(double weight, double moment) { return moment > 0 ? moment * std::log(moment / weight) : 0.0; }

class PoissonTally : public MomentTally {
public:
    static constexpr bool kPlain = true;

    explicit PoissonTally(const NodeRows& node) : MomentTally(node), node_(node) {}
    bool possible() const {
        const double least = kRounding * node_.total_moment;
        return moment() > least && node_.total_moment - moment() > least;
    }
    double score() const {
        return poisson_part(left(), moment()) + poisson_part(node_.total - left(), node_.total_moment - moment());
    }
    double decrease(double score) const { return score - poisson_part(node_.total, node_.total_moment); }
    double perfect() const { return INFINITY; }

private:
    // Moments are sums and differences: less than this share of the whole cannot be told from nothing.
    static constexpr double kRounding = 1e-14;

    const NodeRows& node_;
};

}  // namespace conjunto
