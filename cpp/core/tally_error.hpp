// The misclassification rate: the weight of what is not of the largest class.
//
// Many cuts leave the majority of both sides as it was and decrease nothing. Gini decides between cuts that are equally
// good: without that the first value of the first column would be cut off, again and again.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tally.hpp"

namespace conjunto {

class ErrorTally {
public:
    static constexpr bool kClasses = true, kPlain = true, kGroups = true, kOrdered = false;

    explicit ErrorTally(const NodeRows& node) : node_(node), gini_(node) {}
    void reset() {
        gini_.reset();
        const double most = *std::max_element(node_.class_total.begin(), node_.class_total.end());
        // Counts differ by 1 at least, and Gini's score is at most the weight of the node.
        tie_ = (node_.integer ? 0.5 : kTie) / node_.total;
        whole_ = most + (node_.integer ? 0.0 : tie_ * squares(node_.class_total) / node_.total);
    }
    std::size_t width() const { return gini_.width(); }
    void clear() { gini_.clear(); }
    void fill() { gini_.fill(); }
    void add(std::size_t i) { gini_.add(i); }
    void remove(std::size_t i) { gini_.remove(i); }
    void add_group(const double* group) { gini_.add_group(group); }
    void add_class(std::size_t k, double w) { gini_.add_class(k, w); }
    double left() const { return gini_.left(); }
    double left_of(std::size_t k) const { return gini_.left_of(k); }
    bool possible() const { return true; }
    double left_value() const { return gini_.left_value(); }
    double right_value() const { return gini_.right_value(); }
    double score() const {
        double left = 0, right = 0;
        for (std::size_t k = 0; k < width(); ++k) {
            left = std::fmax(left, gini_.left_of(k));
            right = std::fmax(right, node_.class_total[k] - gini_.left_of(k));
        }
        return left + right + tie_ * gini_.score();
    }
    double decrease(double score) const { return (node_.integer ? std::floor(score) : score) - whole_; }
    double perfect() const { return INFINITY; }

private:
    static constexpr double kTie = 1e-9;

    static double squares(const std::vector<double>& weights) {
        double sum = 0;
        for (const double w : weights) sum += w * w;
        return sum;
    }

    const NodeRows& node_;
    GiniTally gini_;
    double tie_ = 0, whole_ = 0;
};

}  // namespace conjunto
