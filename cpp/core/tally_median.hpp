// Absolute errors: what the targets of a side are away from their median.
//
// The medians of all prefixes of an order of rows are found backwards. The targets of the node lie in a list, sorted; the
// last row of the order leaves it, then the one before, and the median moves by a step or two each time. The other sides
// are prefixes of the reverse order. A column so costs its rows, where a heap or a tree of sums would cost a logarithm more
// for every cut.
//
// Where targets are few numbers, many cuts leave both medians where they were and decrease nothing. Least squares decide
// between cuts that are equally good: without that the first value of the first column would be cut off, again and again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "radix.hpp"
#include "tally.hpp"

namespace conjunto {

// The weighted median: where both halves weigh the same, the middle between the two targets there.
inline double median_of(std::vector<std::pair<double, double>>& targets_and_weights) {
    std::sort(targets_and_weights.begin(), targets_and_weights.end());
    double total = 0, below = 0;
    for (const auto& [target, weight] : targets_and_weights) total += weight;
    for (std::size_t i = 0; i < targets_and_weights.size(); ++i) {
        below += targets_and_weights[i].second;
        if (2 * below > total) return targets_and_weights[i].first;
        if (2 * below == total && i + 1 < targets_and_weights.size())
            return targets_and_weights[i].first / 2 + targets_and_weights[i + 1].first / 2;
    }
    return targets_and_weights.back().first;
}

class MedianTally {
public:
    static constexpr bool kClasses = false, kPlain = true, kGroups = false, kOrdered = true;

    explicit MedianTally(const NodeRows& node) : node_(node) {}

    void reset() {
        keys_.clear();
        for (std::size_t i = 0; i < node_.n; ++i) keys_.push_back(static_cast<std::uint64_t>(node_.target_rank[i]) << 32 | i);
        sort_.sort(keys_);
        item_.resize(node_.n + 2);
        place_.resize(node_.n);
        for (std::size_t p = 1; p <= node_.n; ++p) {
            const auto i = static_cast<std::uint32_t>(keys_[p - 1]);
            place_[i] = static_cast<std::uint32_t>(p);
            item_[p].weight = node_.weight[i];
            item_[p].target = node_.target[i];
        }
        start();
        whole_ = side().loss;
        clear();
    }

    void clear() {
        left_ = moment_ = 0;
        moved_ = 0;
    }
    // Rows will be added in this order: those of `first`, then those of `second`.
    void follow(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second) {
        const std::size_t n = node_.n;
        left_side_.resize(n);
        right_side_.resize(n);
        auto row = [&](std::size_t j) { return j < first.size() ? first[j] : second[j - first.size()]; };
        start();
        for (std::size_t j = n; j-- > 1;) {
            drop(place_[row(j)]);
            left_side_[j - 1] = side();
        }
        start();
        for (std::size_t j = 0; j + 1 < n; ++j) {
            drop(place_[row(j)]);
            right_side_[j] = side();
        }
    }
    void add(std::size_t i) {
        left_ += node_.weight[i];
        moment_ += node_.moment[i];
        ++moved_;
    }
    double left() const { return left_; }
    bool possible() const { return true; }
    double left_value() const { return left_side_[moved_ - 1].median; }
    double right_value() const { return right_side_[moved_ - 1].median; }
    double score() const {
        const double squares = moment_score(left_, moment_, node_.total, node_.total_moment) / node_.total;
        return whole_ - left_side_[moved_ - 1].loss - right_side_[moved_ - 1].loss + kTie * squares;
    }
    double decrease(double score) const { return score; }
    double perfect() const { return INFINITY; }
    // What the targets of the node are away from their median.
    double whole() const { return whole_; }

private:
    static constexpr double kTie = 1e-9;

    struct Item {
        double weight, target;
        std::uint32_t before, behind;
    };
    struct Side {
        double loss, median;
    };

    // All items are in the list, which begins at 0 and ends at n + 1.
    void start() {
        weight_ = sum_ = 0;
        const auto n = static_cast<std::uint32_t>(node_.n);
        for (std::uint32_t p = 0; p <= n + 1; ++p) {
            item_[p].before = p - 1;
            item_[p].behind = p + 1;
        }
        item_[0].weight = item_[n + 1].weight = item_[0].target = item_[n + 1].target = 0;
        for (std::uint32_t p = 1; p <= n; ++p) {
            weight_ += item_[p].weight;
            sum_ += item_[p].weight * item_[p].target;
        }
        median_ = 0;
        low_ = low_sum_ = 0;
        settle();
    }

    void drop(std::uint32_t p) {
        const Item& item = item_[p];
        item_[item.before].behind = item.behind;
        item_[item.behind].before = item.before;
        weight_ -= item.weight;
        sum_ -= item.weight * item.target;
        if (p <= median_) {
            low_ -= item.weight;
            low_sum_ -= item.weight * item.target;
            if (p == median_) median_ = item.before;
        }
        settle();
    }

    // The median is the first item up to which half of the weight lies.
    void settle() {
        const double half = weight_ / 2;
        const auto end = static_cast<std::uint32_t>(node_.n) + 1;
        while (low_ < half && item_[median_].behind != end) {
            median_ = item_[median_].behind;
            low_ += item_[median_].weight;
            low_sum_ += item_[median_].weight * item_[median_].target;
        }
        while (median_ > 0 && low_ - item_[median_].weight >= half) {
            low_ -= item_[median_].weight;
            low_sum_ -= item_[median_].weight * item_[median_].target;
            median_ = item_[median_].before;
        }
    }

    Side side() const {
        const double at = item_[median_].target;
        const double loss = at * low_ - low_sum_ + (sum_ - low_sum_) - at * (weight_ - low_);
        const std::uint32_t next = item_[median_].behind;
        const bool between = 2 * low_ == weight_ && next <= node_.n;
        return {loss, between ? at / 2 + item_[next].target / 2 : at};
    }

    const NodeRows& node_;
    KeySort sort_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> place_;  // by row, in the order of targets, from 1 on
    std::vector<Item> item_;
    std::vector<Side> left_side_, right_side_;  // of the cut behind so many rows
    double weight_ = 0, sum_ = 0;         // of the list
    double low_ = 0, low_sum_ = 0;        // up to the median
    std::uint32_t median_ = 0;
    double whole_ = 0, left_ = 0, moment_ = 0;
    std::size_t moved_ = 0;
};

}  // namespace conjunto
