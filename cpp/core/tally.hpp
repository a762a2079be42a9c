// The impurity criteria, as tallies of what lies left of a cut.
//
// A tally is filled row by row (or group by group) and asked for the score of the cut; the best cut has
// the highest score. Scores of one node compare across columns; `decrease` turns a score into the
// weighted impurity decrease.
//
// What the searches ask of a tally's type:
//   kClasses  rows are counted by class, else by weight and moment
//   kPlain    only the plain searches know it (sorted, random cuts, categories, entries of sparse tables)
//   kGroups   what any set of rows adds is a row of sums; else rows are added one by one
//   kOrdered  it has to be told beforehand in which order rows will be added (`follow`)
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace conjunto {

// The rows of one node, by local number, and their totals. Integer weights below 256 with at most 255
// classes are packed as weight << 8 | class; everything else is kept as doubles.
struct NodeRows {
    const std::uint32_t* row = nullptr;
    std::size_t n = 0;
    bool integer = false;
    bool regression = false;
    const std::uint32_t* payload = nullptr;
    const double* weight = nullptr;
    const double* moment = nullptr;         // weight * target, or weight * [class 1]
    const std::uint32_t* label = nullptr;
    const double* target = nullptr;               // regression
    const std::uint32_t* target_rank = nullptr;   // by target among the rows of the tree, where medians are wanted
    double total = 0;
    double total_moment = 0;
    std::vector<double> class_total;
    std::vector<NodeRows> outputs;  // where there are several targets: the same rows by each of them

    double weight_of(std::size_t i) const { return integer ? double(payload[i] >> 8) : weight[i]; }
    double moment_of(std::size_t i) const {
        return integer ? (payload[i] & 255U) == 1 ? double(payload[i] >> 8) : 0.0 : moment[i];
    }
    std::uint32_t label_of(std::size_t i) const { return integer ? payload[i] & 255U : label[i]; }
};

// Variance, and Gini with two classes, which is the variance of the indicator of class 1.
class MomentTally {
public:
    static constexpr bool kClasses = false, kPlain = false, kGroups = true, kOrdered = false;

    explicit MomentTally(const NodeRows& node) : node_(node) {}
    // To be called for each new node.
    void reset() { clear(); }
    std::size_t width() const { return 2; }
    void clear() { left_ = moment_ = 0; }
    // All rows are on the left.
    void fill() {
        left_ = node_.total;
        moment_ = node_.total_moment;
    }
    void add(std::size_t i) {
        left_ += node_.weight_of(i);
        moment_ += node_.moment_of(i);
    }
    void remove(std::size_t i) {
        left_ -= node_.weight_of(i);
        moment_ -= node_.moment_of(i);
    }
    void add_group(const double* group) {
        left_ += group[0];
        moment_ += group[1];
    }
    double left() const { return left_; }
    double moment() const { return moment_; }
    // Whether the cut is one at all by the criterion, and what a leaf on either side would answer: the mean, or the share of
    // class 1.
    bool possible() const { return true; }
    double left_value() const { return moment_ / left_; }
    double right_value() const { return (node_.total_moment - moment_) / (node_.total - left_); }
    double score() const { return moment_score(left_, moment_, node_.total, node_.total_moment); }
    double decrease(double score) const { return (node_.regression ? 1 : 2) * score / node_.total; }
    // The score of a cut that leaves both sides pure.
    double perfect() const {
        if (node_.regression) return INFINITY;
        return node_.total_moment * (node_.total - node_.total_moment);
    }

private:
    const NodeRows& node_;
    double left_ = 0, moment_ = 0;
};

// Gini and entropy for any number of classes. Shape(l, n) is the share of one class on one side of n.
template <bool kEntropy>
class ClassTally {
public:
    static constexpr bool kClasses = true, kPlain = false, kGroups = true, kOrdered = false;

    explicit ClassTally(const NodeRows& node) : node_(node) {}
    void reset() {
        left_of_.resize(node_.class_total.size());
        whole_ = 0;
        for (const double total : node_.class_total) whole_ += part(total);
        clear();
    }
    std::size_t width() const { return left_of_.size(); }
    void clear() {
        std::fill(left_of_.begin(), left_of_.end(), 0.0);
        left_ = 0;
        left_part_ = 0;
        right_part_ = whole_;
    }
    // All rows are on the left.
    void fill() {
        left_of_ = node_.class_total;
        left_ = node_.total;
        left_part_ = whole_;
        right_part_ = 0;
    }
    void add(std::size_t i) { add_class(node_.label_of(i), node_.weight_of(i)); }
    void remove(std::size_t i) { add_class(node_.label_of(i), -node_.weight_of(i)); }
    void add_group(const double* group) {
        for (std::size_t k = 0; k < left_of_.size(); ++k)
            if (group[k] != 0) add_class(k, group[k]);
    }
    // Rows of class k, of this weight, move to the left.
    void add_class(std::size_t k, double w) {
        const double l = left_of_[k], r = node_.class_total[k] - l;
        if constexpr (kEntropy) {
            left_part_ += part(l + w) - part(l);
            right_part_ += part(r - w) - part(r);
        } else {
            left_part_ += w * (2 * l + w);
            right_part_ -= w * (2 * r - w);
        }
        left_of_[k] = l + w;
        left_ += w;
    }
    double left() const { return left_; }
    double left_of(std::size_t k) const { return left_of_[k]; }
    bool possible() const { return true; }
    double left_value() const { return left_of_[1] / left_; }
    double right_value() const { return (node_.class_total[1] - left_of_[1]) / (node_.total - left_); }
    double score() const {
        const double right = node_.total - left_;
        if constexpr (kEntropy) return left_part_ - part(left_) + right_part_ - part(right);
        return gini_score(left_part_, right_part_, left_, right);
    }
    double decrease(double score) const {
        if constexpr (kEntropy) return (score - whole_ + part(node_.total)) / std::log(2.0);
        return score - whole_ / node_.total;
    }
    double perfect() const {
        int present = 0;
        for (const double total : node_.class_total) present += total > 0;
        if (present > 2) return INFINITY;
        return kEntropy ? 0.0 : node_.total;
    }
    // An upper bound of the score over all cuts inside a group, given the tally at its start: the score
    // is a sum over classes of functions convex in (left of class, left), each largest at a corner.
    double bound(const double* group) const {
        double size = 0;
        for (std::size_t k = 0; k < left_of_.size(); ++k) size += group[k];
        double sum = 0;
        for (std::size_t k = 0; k < left_of_.size(); ++k) {
            const double c = group[k];
            double most = std::fmax(corner(k, 0, 0), corner(k, 0, size - c));
            if (c > 0) most = std::fmax(most, std::fmax(corner(k, c, c), corner(k, c, size)));
            sum += most;
        }
        return sum;
    }

private:
    // With integer weights x log x is rounded to a multiple of 2^-28: sums of it are then exact, so that they do not
    // depend on the order in which a search adds rows.
    double part(double x) const {
        if constexpr (kEntropy) {
            const double value = x > 0 ? x * std::log(x) : 0.0;
            return node_.integer ? std::round(value * 0x1.0p28) * 0x1.0p-28 : value;
        }
        return x * x;
    }
    static double shape(double l, double n) {
        if (!(l > 0)) return 0;
        if constexpr (kEntropy) return l * std::log(l / n);
        return l * l / n;
    }
    double corner(std::size_t k, double more, double moved) const {
        const double l = left_of_[k] + more, n = left_ + moved;
        return shape(l, n) + shape(node_.class_total[k] - l, node_.total - n);
    }

    const NodeRows& node_;
    std::vector<double> left_of_;
    double left_ = 0, left_part_ = 0, right_part_ = 0, whole_ = 0;
};

using GiniTally = ClassTally<false>;
using EntropyTally = ClassTally<true>;

}  // namespace conjunto
