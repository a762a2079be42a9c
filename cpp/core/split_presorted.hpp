// The search of a stump: every cut of columns that were sorted once, for all stumps of a session.
//
// Boosting grows thousands of stumps on the same rows with other weights. Nothing then depends on the weights but the
// sums along the sorted columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "split_sorted.hpp"

namespace conjunto {

// The rows of every numeric column in ascending order of value, those without one behind.
class PresortedColumns {
public:
    // An element is a row; the flag says that the next element has another value.
    static constexpr std::uint32_t kApart = 1U << 31;
    static constexpr std::uint32_t kRow = kApart - 1;

    explicit PresortedColumns(const Table& table) : rows_(table.rows), keys_(table.rows * table.columns), present_(table.columns) {
        std::vector<std::uint32_t> start;
        for (std::size_t c = 0; c < table.columns; ++c) {
            if (table.column[c].categorical()) continue;
            const std::size_t values = table.column[c].values;
            start.assign(values + 2, 0U);
            auto place_of = [&](std::uint32_t rank) { return rank == kMissing ? values : std::size_t{rank}; };
            for (std::size_t row = 0; row < rows_; ++row) ++start[place_of(table.ranks_of(row)[c]) + 1];
            for (std::size_t v = 0; v <= values; ++v) start[v + 1] += start[v];
            present_[c] = start[values];
            std::uint32_t* keys = keys_.data() + c * rows_;
            for (std::size_t row = 0; row < rows_; ++row)
                keys[start[place_of(table.ranks_of(row)[c])]++] = static_cast<std::uint32_t>(row);
            for (std::size_t i = 0; i + 1 < present_[c]; ++i)
                if (table.ranks_of(keys[i])[c] != table.ranks_of(keys[i + 1])[c]) keys[i] |= kApart;
        }
    }

    std::span<const std::uint32_t> sorted(std::size_t c) const { return {keys_.data() + c * rows_, present_[c]}; }
    std::span<const std::uint32_t> missing(std::size_t c) const {
        return {keys_.data() + c * rows_ + present_[c], rows_ - present_[c]};
    }

private:
    std::size_t rows_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::size_t> present_;
};

struct PresortedSpace {
    std::vector<std::uint32_t> local, sorted, missing;
    std::vector<double> left;

    // To be called for each tree: numbers its rows where it does not see all of them.
    void number(const NodeRows& node, std::size_t rows) {
        if (node.n == rows) return;
        local.assign(rows, kMissing);
        for (std::size_t i = 0; i < node.n; ++i) local[node.row[i]] = static_cast<std::uint32_t>(i);
    }
};

namespace detail {

// Sums left of a cut, for real weights; beats() compares scores without dividing, on the safe side of rounding.
class RunningMoment {
public:
    RunningMoment(const NodeRows& node, std::vector<double>&)
        : weight_(node.weight), moment_(node.moment), total_(node.total), total_moment_(node.total_moment) {}
    void add(std::uint32_t i) {
        left += weight_[i];
        left_moment_ += moment_[i];
    }
    bool beats(double score) const {
        const double d = left_moment_ * total_ - left * total_moment_;
        return d * d >= score * (left * (total_ - left));
    }
    double score() const { return moment_score(left, left_moment_, total_, total_moment_); }
    double left = 0;

private:
    const double* weight_;
    const double* moment_;
    double total_, total_moment_, left_moment_ = 0;
};

class RunningGini {
public:
    RunningGini(const NodeRows& node, std::vector<double>& space)
        : weight_(node.weight), label_(node.label), total_(node.total), class_total_(node.class_total.data()) {
        space.assign(node.class_total.size(), 0.0);
        of_class_ = space.data();
        for (const double total : node.class_total) right_part_ += total * total;
    }
    void add(std::uint32_t i) {
        const std::uint32_t k = label_[i];
        const double w = weight_[i], l = of_class_[k], r = class_total_[k] - l;
        left_part_ += w * (2 * l + w);
        right_part_ -= w * (2 * r - w);
        of_class_[k] = l + w;
        left += w;
    }
    bool beats(double score) const {
        const double right = total_ - left;
        return left_part_ * right + right_part_ * left >= score * (left * right);
    }
    double score() const { return gini_score(left_part_, right_part_, left, total_ - left); }
    double left = 0;

private:
    const double* weight_;
    const std::uint32_t* label_;
    double total_;
    const double* class_total_;
    double* of_class_ = nullptr;
    double left_part_ = 0, right_part_ = 0;
};

// The first of the best cuts of a column that reach `least`: it lies behind element `place`.
struct BestCut {
    double score = -INFINITY;
    std::size_t place = 0;
};

template <class Running>
BestCut scan_presorted(const NodeRows& node, const Limits& limits, std::span<const std::uint32_t> keys, double least,
                       std::vector<double>& space) {
    constexpr std::uint32_t apart = PresortedColumns::kApart, row = PresortedColumns::kRow;
    const double lightest = limits.min_weight, heaviest = node.total - limits.min_weight;
    const std::size_t first = limits.min_rows - 1, end = node.n - limits.min_rows;
    auto bar = [](double score) { return score > 0 ? score * (1 - 1e-12) : -1.0; };
    double needed = bar(least);
    BestCut best;
    Running running(node, space);
    for (std::size_t i = 0; i < std::min(end, keys.size()); ++i) {
        running.add(keys[i] & row);
        if (!(keys[i] & apart) || !running.beats(needed)) continue;
        if (running.left < lightest || running.left > heaviest || i < first) continue;
        const double score = running.score();
        if (!(score > best.score)) continue;
        best = {score, i};
        needed = std::max(needed, bar(score));
    }
    return best;
}

}  // namespace detail

// Tries every cut of a numeric column at the root. False if the column is constant there.
template <class Tally>
bool search_presorted(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                      std::uint32_t order, const PresortedColumns& presorted, PresortedSpace& space, Choice& choice) {
    constexpr std::uint32_t apart = PresortedColumns::kApart, row_of = PresortedColumns::kRow;
    std::span<const std::uint32_t> keys = presorted.sorted(column), missing = presorted.missing(column);
    if (node.n < table.rows) {
        // Some rows have no weight: keep the others, by their number among them.
        space.sorted.clear();
        space.missing.clear();
        for (const std::uint32_t key : keys) {
            const std::uint32_t local = space.local[key & row_of];
            if (local != kMissing)
                space.sorted.push_back(local | (key & apart));
            else if (!space.sorted.empty())
                space.sorted.back() |= key & apart;
        }
        if (!space.sorted.empty()) space.sorted.back() &= row_of;
        for (const std::uint32_t key : missing)
            if (space.local[key] != kMissing) space.missing.push_back(space.local[key]);
        keys = space.sorted;
        missing = space.missing;
    }
    const std::size_t last = keys.size() - 1;
    auto rank_at = [&](std::size_t i) { return table.ranks_of(node.row[keys[i] & row_of])[column]; };
    if (keys.empty() || (missing.empty() && rank_at(0) == rank_at(last))) return false;
    auto offer = [&](double score, std::size_t i, bool missing_left) {
        if (!choice.wants(score, order)) return;
        Split split;
        split.score = score;
        split.order = order;
        split.column = column;
        split.missing_left = missing_left;
        split.low = rank_at(i);
        split.high = i == last ? kMissing : rank_at(i + 1);
        split.low_row = node.row[keys[i] & row_of];
        if (i != last) split.high_row = node.row[keys[i + 1] & row_of];
        choice.offer(split);
    };
    if constexpr (std::is_same_v<Tally, MomentTally> || std::is_same_v<Tally, GiniTally>) {
        using Running = std::conditional_t<Tally::kClasses, detail::RunningGini, detail::RunningMoment>;
        if (missing.empty()) {
            const detail::BestCut best = detail::scan_presorted<Running>(node, limits, keys, choice.least(), space.left);
            if (best.score > -INFINITY) offer(best.score, best.place, false);
            return true;
        }
    }
    std::vector<std::uint32_t> rows(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) rows[i] = keys[i] & row_of;
    scan_sorted(tally, node, limits, rows, missing, [&](std::size_t i) { return (keys[i] & apart) != 0; },
                offer);
    return true;
}

}  // namespace conjunto
