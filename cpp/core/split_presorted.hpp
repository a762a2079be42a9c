// The search of a stump: every cut of columns that were sorted once, for all stumps of a session.
//
// Boosting grows thousands of stumps on the same rows with other weights. Nothing then depends on the weights but the
// sums along the sorted columns.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "split_lanes.hpp"
#include "split_sorted.hpp"

namespace conjunto {

// The rows of every numeric column in ascending order of value, those without one behind.
class PresortedColumns {
public:
    // An element is a row; the flag says that the next element has another value.
    static constexpr std::uint32_t kApart = PresortedScan::kApart;
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

// Columns scanned in step: the sums of one are a chain of additions, those of four overlap.
inline constexpr std::size_t kPresortedColumns = 4;

struct PresortedSpace {
    std::vector<std::uint32_t> local, missing;
    std::array<std::vector<std::uint32_t>, kPresortedColumns> sorted;
    std::vector<double> left;

    // To be called for each tree: numbers its rows where it does not see all of them.
    void number(const NodeRows& node, std::size_t rows) {
        if (node.n == rows) return;
        local.assign(rows, kMissing);
        for (std::size_t i = 0; i < node.n; ++i) local[node.row[i]] = static_cast<std::uint32_t>(i);
    }

    // The elements of a column that the node sees, by their number among its rows.
    std::span<const std::uint32_t> seen(const NodeRows& node, std::size_t rows, std::span<const std::uint32_t> keys, std::size_t lane) {
        if (node.n == rows) return keys;
        std::vector<std::uint32_t>& out = sorted[lane];
        out.clear();
        for (const std::uint32_t key : keys) {
            const std::uint32_t number = local[key & PresortedColumns::kRow];
            if (number != kMissing)
                out.push_back(number | (key & PresortedColumns::kApart));
            else if (!out.empty())
                out.back() |= key & PresortedColumns::kApart;
        }
        if (!out.empty()) out.back() &= PresortedColumns::kRow;
        return out;
    }
};

// Gini with any number of classes, column by column.
inline void scan_presorted_classes(PresortedScan& job, const NodeRows& node, std::size_t columns, std::vector<double>& left_of) {
    double whole = 0;
    for (const double total : node.class_total) whole += total * total;
    for (std::size_t l = 0; l < columns; ++l) {
        left_of.assign(node.class_total.size(), 0.0);
        double left = 0, left_part = 0, right_part = whole;
        job.score[l] = -INFINITY;
        for (std::size_t i = 0; i < job.end; ++i) {
            const std::uint32_t key = job.keys[l][i], row = key & PresortedColumns::kRow, k = node.label[row];
            const double w = node.weight[row], before = left_of[k], behind = node.class_total[k] - before;
            left_part += w * (2 * before + w);
            right_part -= w * (2 * behind - w);
            left_of[k] = before + w;
            left += w;
            const double right = node.total - left;
            if (!(key & PresortedColumns::kApart) || left_part * right + right_part * left < job.needed * (left * right)) continue;
            if (i < job.first || left < job.lightest || left > job.heaviest) continue;
            const double score = gini_score(left_part, right_part, left, right);
            if (!(score * (1 - PresortedScan::kTolerance) > job.score[l])) continue;
            job.score[l] = score;
            job.place[l] = i;
            job.needed = std::max(job.needed, PresortedScan::bar(score));
        }
    }
}

// A cut behind element `place` of a sorted column.
inline Split cut_behind(const NodeRows& node, const Table& table, std::uint32_t column, std::uint32_t order,
                        std::span<const std::uint32_t> keys, std::size_t place, double score) {
    auto row_at = [&](std::size_t i) { return node.row[keys[i] & PresortedColumns::kRow]; };
    Split split;
    split.score = score;
    split.order = order;
    split.column = column;
    split.low_row = row_at(place);
    split.low = table.ranks_of(split.low_row)[column];
    split.high = kMissing;
    if (place + 1 < keys.size()) {
        split.high_row = row_at(place + 1);
        split.high = table.ranks_of(split.high_row)[column];
    }
    return split;
}

// Tries every cut of up to four columns without missing values, at the root; `varies` receives which of them vary there.
template <class Tally>
void search_presorted(const NodeRows& node, const Limits& limits, const Table& table, std::span<const LaneColumn> columns,
                             const PresortedColumns& presorted, const Kernels& kernels, PresortedSpace& space, bool* varies,
                      Choice& choice) {
    std::array<std::span<const std::uint32_t>, kPresortedColumns> lists;
    PresortedScan job{};
    for (std::size_t l = 0; l < kPresortedColumns; ++l) {
        // Lanes without a column of their own repeat another's.
        lists[l] = l < columns.size() ? space.seen(node, table.rows, presorted.sorted(columns[l].column), l) : lists[0];
        job.keys[l] = lists[l].data();
    }
    job.first = limits.min_rows - 1;
    job.end = node.n - limits.min_rows;
    job.weight = node.weight;
    job.moment = node.moment;
    job.total = node.total;
    job.total_moment = node.total_moment;
    job.lightest = limits.min_weight;
    job.heaviest = node.total - limits.min_weight;
    job.needed = PresortedScan::bar(choice.least());
    if constexpr (Tally::kClasses)
        scan_presorted_classes(job, node, columns.size(), space.left);
    else
        kernels.scan_presorted(job);
    for (std::size_t l = 0; l < columns.size(); ++l) {
        const auto [column, order] = columns[l];
        auto rank_at = [&](std::size_t i) { return table.ranks_of(node.row[lists[l][i] & PresortedColumns::kRow])[column]; };
        varies[l] = rank_at(0) != rank_at(node.n - 1);
        if (job.score[l] > -INFINITY) choice.offer(cut_behind(node, table, column, order, lists[l], job.place[l], job.score[l]));
    }
}

// The same for one column by any criterion, with missing values. False if the column is constant.
template <class Tally>
bool search_presorted_column(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, LaneColumn column,
                             const PresortedColumns& presorted, PresortedSpace& space, Choice& choice) {
    const std::span<const std::uint32_t> keys = space.seen(node, table.rows, presorted.sorted(column.column), 0);
    space.missing.clear();
    for (const std::uint32_t row : presorted.missing(column.column)) {
        const std::uint32_t number = node.n == table.rows ? row : space.local[row];
        if (number != kMissing) space.missing.push_back(number);
    }
    auto apart = [&](std::size_t i) { return (keys[i] & PresortedColumns::kApart) != 0; };
    std::vector<std::uint32_t>& rows = space.sorted[1];
    rows.clear();
    bool varies = !keys.empty() && !space.missing.empty();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        rows.push_back(keys[i] & PresortedColumns::kRow);
        varies |= apart(i);
    }
    if (!varies) return false;
    scan_sorted(tally, node, limits, column.column, rows, space.missing, apart, [&](double score, std::size_t i, bool missing_left) {
        if (!choice.wants(score, column.order)) return;
        Split split = cut_behind(node, table, column.column, column.order, keys, i, score);
        split.missing_left = missing_left;
        choice.offer(split);
    });
    return true;
}

}  // namespace conjunto
