// The plain search: every cut of one sorted column, with missing values tried on both sides.
//
// Any criterion, any weights, any size; the other searches are faster ways to the same answer.
#pragma once

#include <cstdint>
#include <span>

#include "radix.hpp"
#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

// `column` is the one that is cut (of combinations none is constrained); `sorted` holds local rows in ascending order of
// value, `missing` those without one; apart(i) tells whether values i and i + 1 differ; offer(score, i, missing_left)
// receives each allowed cut behind element i.
template <class Tally, class Apart, class Offer>
void scan_sorted(Tally& tally, const NodeRows& node, const Limits& limits, std::uint32_t column, std::span<const std::uint32_t> sorted,
                 std::span<const std::uint32_t> missing, Apart&& apart, Offer&& offer) {
    auto allowed = [&](std::size_t rows_left) { return limits.admit(tally, rows_left, node.n, node.total, column); };
    if constexpr (Tally::kOrdered) tally.follow(sorted, missing);
    tally.clear();
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        tally.add(sorted[i]);
        const bool last = i + 1 == sorted.size();
        if (last ? missing.empty() : !apart(i)) continue;
        if (allowed(i + 1)) offer(tally.score(), i, false);
    }
    if (missing.empty()) return;
    if constexpr (Tally::kOrdered) tally.follow(missing, sorted);
    tally.clear();
    for (const std::uint32_t i : missing) tally.add(i);
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        tally.add(sorted[i]);
        if (apart(i) && allowed(missing.size() + i + 1)) offer(tally.score(), i, true);
    }
}

// Scratch memory of a search by sorting.
struct SortedSpace {
    std::vector<std::uint64_t> keys;
    KeySort sort;
    std::vector<std::uint32_t> sorted, missing, step;
    std::vector<std::pair<double, std::uint32_t>> values;
};

// Tries every cut of a numeric column. False if the column is constant in the node.
template <class Tally>
bool search_sorted(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                   std::uint32_t order, SortedSpace& space, Choice& choice) {
    space.keys.resize(node.n);
    space.missing.clear();
    std::size_t known = 0;
    const bool dense = !table.sparse;
    const std::uint32_t* const ranks = dense ? table.rank.data() + column : nullptr;
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::uint32_t rank = dense ? ranks[node.row[i] * table.columns] : table.rank_of(node.row[i], column);
        space.keys[known] = static_cast<std::uint64_t>(rank) << 32 | i;
        if (rank == kMissing)
            space.missing.push_back(static_cast<std::uint32_t>(i));
        else
            ++known;
    }
    space.keys.resize(known);
    space.sort.sort(space.keys, table.column[column].values);
    space.sorted.resize(known);
    for (std::size_t i = 0; i < known; ++i) space.sorted[i] = static_cast<std::uint32_t>(space.keys[i]);
    auto rank_at = [&](std::size_t i) { return static_cast<std::uint32_t>(space.keys[i] >> 32); };
    const std::size_t last = space.keys.size() - 1;
    const bool varies = !space.keys.empty() && (!space.missing.empty() || rank_at(0) != rank_at(last));
    if (!varies) return false;
    scan_sorted(
        tally, node, limits, column, space.sorted, space.missing, [&](std::size_t i) { return rank_at(i) != rank_at(i + 1); },
        [&](double score, std::size_t i, bool missing_left) {
            if (!choice.wants(score, order)) return;
            Split split;
            split.score = score;
            split.order = order;
            split.column = column;
            split.missing_left = missing_left;
            split.low = rank_at(i);
            split.high = i == last ? kMissing : rank_at(i + 1);
            split.low_row = node.row[space.sorted[i]];
            if (i != last) split.high_row = node.row[space.sorted[i + 1]];
            choice.offer(split);
        });
    return true;
}

// The same of a column without missing values, where somebody knows the order of the rows (`sorted`, and `step`, which grows
// where the value does).
template <class Tally>
void search_ordered(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                    std::uint32_t order, SortedSpace& space, Choice& choice) {
    scan_sorted(
        tally, node, limits, column, space.sorted, {}, [&](std::size_t i) { return space.step[i] != space.step[i + 1]; },
        [&](double score, std::size_t i, bool) {
            if (!choice.wants(score, order)) return;
            Split split;
            split.score = score;
            split.order = order;
            split.column = column;
            split.low_row = node.row[space.sorted[i]];
            split.high_row = node.row[space.sorted[i + 1]];
            split.low = table.rank_of(split.low_row, column);
            split.high = table.rank_of(split.high_row, column);
            choice.offer(split);
        });
}

// Tries every cut of computed values (NaN: missing), such as those of a linear combination.
template <class Tally>
bool search_values(Tally& tally, const NodeRows& node, const Limits& limits, std::span<const double> values,
                   std::uint32_t combination, std::uint32_t order, SortedSpace& space, Choice& choice) {
    space.values.clear();
    space.sorted.clear();
    space.missing.clear();
    for (std::size_t i = 0; i < node.n; ++i) {
        if (std::isnan(values[i]))
            space.missing.push_back(static_cast<std::uint32_t>(i));
        else
            space.values.emplace_back(values[i], static_cast<std::uint32_t>(i));
    }
    std::sort(space.values.begin(), space.values.end());
    for (const auto& [value, row] : space.values) space.sorted.push_back(row);
    const std::size_t last = space.values.size() - 1;
    auto value_at = [&](std::size_t i) { return space.values[i].first; };
    if (space.values.empty() || (space.missing.empty() && value_at(0) == value_at(last))) return false;
    scan_sorted(
        tally, node, limits, 0, space.sorted, space.missing, [&](std::size_t i) { return value_at(i) != value_at(i + 1); },
        [&](double score, std::size_t i, bool missing_left) {
            if (!choice.wants(score, order)) return;
            Split split;
            split.score = score;
            split.order = order;
            split.kind = TestKind::combination;
            split.column = combination;
            split.missing_left = missing_left;
            split.threshold = i == last ? std::numeric_limits<double>::max() : midpoint(value_at(i), value_at(i + 1));
            choice.offer(split);
        });
    return true;
}

}  // namespace conjunto
