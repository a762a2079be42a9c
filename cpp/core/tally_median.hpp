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

// Targets of a node in their order, as a list from which rows are taken one by one, and its median. A value: where it is a
// variable of a loop the compiler keeps it in registers.
struct MedianList {
    // Items are numbered from 1 on, in ascending order; those of number 0 and behind the last are ends.
    struct Link {
        std::uint32_t before, behind;
    };
    struct Item {
        double weight, moment, target;
    };
    struct Side {
        double loss, median;
    };

    Link* link;
    const Item* item;
    std::uint32_t end;  // behind the last
    double weight, sum;  // of what is in the list
    // The first item up to which half of the weight lies, and what lies up to there.
    std::uint32_t middle = 0;
    double low = 0, low_sum = 0;

    [[gnu::always_inline]] void drop(std::uint32_t p) {
        const Link here = link[p];
        link[here.before].behind = here.behind;
        link[here.behind].before = here.before;
        weight -= item[p].weight;
        sum -= item[p].moment;
        if (p <= middle) {
            low -= item[p].weight;
            low_sum -= item[p].moment;
            if (p == middle) middle = here.before;
        }
        settle();
    }
    [[gnu::always_inline]] void settle() {
        const double half = weight / 2;
        while (low < half && link[middle].behind != end) {
            middle = link[middle].behind;
            low += item[middle].weight;
            low_sum += item[middle].moment;
        }
        while (middle > 0 && low - item[middle].weight >= half) {
            low -= item[middle].weight;
            low_sum -= item[middle].moment;
            middle = link[middle].before;
        }
    }
    [[gnu::always_inline]] Side side() const {
        const double at = item[middle].target;
        const double loss = at * low - low_sum + (sum - low_sum) - at * (weight - low);
        const std::uint32_t next = link[middle].behind;
        const bool between = 2 * low == weight && next != end;
        return {loss, between ? at / 2 + item[next].target / 2 : at};
    }
};

class MedianTally {
public:
    static constexpr bool kClasses = false, kPlain = true, kGroups = false, kOrdered = true;

    explicit MedianTally(const NodeRows& node) : node_(node) {}

    void reset() {
        const auto n = static_cast<std::uint32_t>(node_.n);
        keys_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) keys_[i] = static_cast<std::uint64_t>(node_.target_rank[i]) << 32 | i;
        sort_.sort(keys_);
        item_.resize(node_.n + 2);
        for (auto* links : {&links_, &left_links_, &right_links_}) links->resize(node_.n + 2);
        place_.resize(node_.n);
        item_[0] = item_[n + 1] = {0, 0, 0};
        double weight = 0, sum = 0;
        for (std::uint32_t p = 0; p <= n + 1; ++p) links_[p] = {p - 1, p + 1};
        for (std::uint32_t p = 1; p <= n; ++p) {
            const auto i = static_cast<std::uint32_t>(keys_[p - 1]);
            place_[i] = p;
            item_[p] = {node_.weight[i], node_.moment[i], node_.target[i]};
            weight += item_[p].weight;
            sum += item_[p].moment;
        }
        all_ = {links_.data(), item_.data(), n + 1, weight, sum};
        all_.settle();
        whole_ = all_.side().loss;
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
        order_.resize(n);
        for (std::size_t j = 0; j < first.size(); ++j) order_[j] = place_[first[j]];
        for (std::size_t j = 0; j < second.size(); ++j) order_[first.size() + j] = place_[second[j]];
        std::copy(links_.begin(), links_.end(), left_links_.begin());
        std::copy(links_.begin(), links_.end(), right_links_.begin());
        MedianList left = all_, right = all_;
        left.link = left_links_.data();
        right.link = right_links_.data();
        MedianList::Side *const left_side = left_side_.data(), *const right_side = right_side_.data();
        const std::uint32_t* const order = order_.data();
        // Both lists in one loop: while one waits for memory the other goes on.
        for (std::size_t j = 0; j + 1 < n; ++j) {
            left.drop(order[n - 1 - j]);
            right.drop(order[j]);
            left_side[n - 2 - j] = left.side();
            right_side[j] = right.side();
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

    const NodeRows& node_;
    KeySort sort_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> place_;  // by row, in the order of targets, from 1 on
    std::vector<std::uint32_t> order_;  // places in the order in which rows will be added
    std::vector<MedianList::Item> item_;
    std::vector<MedianList::Link> links_, left_links_, right_links_;
    MedianList all_{};  // the list of all rows
    std::vector<MedianList::Side> left_side_, right_side_;  // of the cut behind so many rows
    double whole_ = 0, left_ = 0, moment_ = 0;
    std::size_t moved_ = 0;
};

}  // namespace conjunto
