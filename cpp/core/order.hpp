// Greedy orders of the members of an ensemble (Martinez-Munoz 2006, chapter 5): each step takes one of the members that are
// left. Of equally good ones the lowest index wins; a difference by rounding alone is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ballot.hpp"

namespace conjunto {

using Order = std::vector<std::uint32_t>;

// The member with which the sub-ensemble errs least (eq. 5.2), as a share of the examples on which somebody in it votes.
// While it has 2 .. backfit members, every addition is followed by passes that put in each one's place the member that
// makes the error least (Margineantu and Dietterich 1997).
Order reduce_error(const Ballots& ballots, std::size_t backfit, std::size_t threads);

// The member that is right on most examples where the sub-ensemble is not (eq. 5.3); first the one of least error.
Order complementarity(const Ballots& ballots, std::size_t threads);

// The member that brings the mean correctness nearest to (p, …, p) (eq. 5.7).
Order margin_distance(const Ballots& ballots, double p, std::size_t threads);

struct BoostedOrder {
    Order order;
    std::size_t good;  // members before the first one with a weighted error of one half or more
};

// The member of least weighted error under the weights of AdaBoost (fig. 5.5).
BoostedOrder boosting_based(const Ballots& ballots, std::size_t threads);

// Predictions of a regression; NaN abstains.
struct Predictions {
    const double* values;  // [member][example]
    const double* truth;
    const double* weights;   // of members; null: all equal
    const double* examples;  // weights of examples; null: all equal
    std::size_t members, n;
    bool median;  // the sub-ensemble answers with the weighted median of its members, not the mean
};

// The member with which the sub-ensemble's mean squared error is least; an example on which nobody in it votes has the error
// of the whole ensemble.
Order reduce_squared_error(const Predictions& predictions, std::size_t threads);

// The member that brings the answer nearer to the truth on most examples; first the one of least error.
Order complementarity_of_values(const Predictions& predictions, std::size_t threads);

}  // namespace conjunto
