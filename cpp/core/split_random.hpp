// One random cut of a column (Geurts, Ernst and Wehenkel 2006).
//
// Of numbers: x <= t with t uniform between the smallest and the largest value in the node, missing values to a side
// drawn at random. Of categories: a random subset of those in the node, where missing values count as one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rng.hpp"
#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

struct RandomSpace {
    std::vector<char> present, left;  // by category, missing values behind the last
    std::vector<std::uint32_t> left_rows, right_rows;
    std::vector<double> value;  // by row of the node
};

// Uniform in [low, high).
inline double draw_between(double low, double high, Philox& random) {
    const double share = random.uniform();
    const double drawn = low * (1 - share) + high * share;
    return drawn < high ? std::max(drawn, low) : low;
}

// Offers a cut whose left side is that of the rows of the node for which `goes_left` holds; `finish` completes the split.
template <class Tally, class GoesLeft, class Finish>
void offer_cut(Tally& tally, const NodeRows& node, const Limits& limits, Split& split, GoesLeft&& goes_left, RandomSpace& space,
               Choice& choice, Finish&& finish) {
    tally.clear();
    std::size_t rows_left = 0;
    if constexpr (Tally::kOrdered) {
        space.left_rows.clear();
        space.right_rows.clear();
        for (std::uint32_t i = 0; i < node.n; ++i) (goes_left(i) ? space.left_rows : space.right_rows).push_back(i);
        tally.follow(space.left_rows, space.right_rows);
        for (const std::uint32_t i : space.left_rows) tally.add(i);
        rows_left = space.left_rows.size();
    } else {
        for (std::size_t i = 0; i < node.n; ++i) {
            if (!goes_left(i)) continue;
            tally.add(i);
            ++rows_left;
        }
    }
    if (!limits.admit(tally, rows_left, node.n, node.total, split.column)) return;
    split.score = tally.score();
    finish();
    choice.offer(split);
}

template <class Tally, class GoesLeft>
void offer_cut(Tally& tally, const NodeRows& node, const Limits& limits, Split& split, GoesLeft&& goes_left, RandomSpace& space,
               Choice& choice) {
    offer_cut(tally, node, limits, split, goes_left, space, choice, [] {});
}

// The values of a column in the node.
inline void read_values(const NodeRows& node, const Table& table, std::uint32_t column, std::vector<double>& values) {
    values.resize(node.n);
    if (table.sparse) {
        for (std::size_t i = 0; i < node.n; ++i) values[i] = table.value(node.row[i], column);
        return;
    }
    const double* first = table.data + static_cast<std::ptrdiff_t>(column) * table.column_stride;
    for (std::size_t i = 0; i < node.n; ++i) values[i] = first[static_cast<std::ptrdiff_t>(node.row[i]) * table.row_stride];
}

template <class Tally>
bool cut_numbers(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, Split& split, Philox& random,
                 RandomSpace& space, Choice& choice) {
    read_values(node, table, split.column, space.value);
    const double* value = space.value.data();
    std::size_t missing = 0, least = node.n, most = node.n;
    for (std::size_t i = 0; i < node.n; ++i) {
        if (std::isnan(value[i])) {
            ++missing;
            continue;
        }
        if (least == node.n || value[i] < value[least]) least = i;
        if (most == node.n || value[i] >= value[most]) most = i;
    }
    if (least == node.n) return false;
    split.low_row = node.row[least];
    split.high_row = node.row[most];
    // Neighbouring values may share a rank, and are then one.
    const auto rank_of = [&](std::uint32_t row) { return table.rank_of(row, split.column); };
    split.low = rank_of(split.low_row);
    split.high = rank_of(split.high_row);
    if (split.low == split.high) {
        if (missing == 0) return false;
        // One value, and rows without it: that is the only cut.
        split.high = split.high_row = kMissing;
        offer_cut(tally, node, limits, split, [&](std::size_t i) { return !std::isnan(value[i]); }, space, choice);
        return true;
    }
    split.drawn = true;
    split.threshold = draw_between(value[least], value[most], random);
    split.missing_left = missing > 0 && random.below(2) == 1;
    std::size_t low = least, high = most;
    offer_cut(tally, node, limits, split, [&](std::size_t i) {
        if (std::isnan(value[i])) return split.missing_left;
        const bool left = value[i] <= split.threshold;
        if (left && value[i] > value[low]) low = i;
        if (!left && value[i] < value[high]) high = i;
        return left;
    }, space, choice, [&] {
        split.low_row = node.row[low];
        split.high_row = node.row[high];
        split.low = rank_of(split.low_row);
        split.high = rank_of(split.high_row);
    });
    return true;
}

template <class Tally>
bool cut_categories(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, Split& split, Philox& random,
                    RandomSpace& space, Choice& choice) {
    const std::uint32_t categories = table.column[split.column].categories;
    auto code_of = [&](std::uint32_t row) { return std::min(table.rank_of(row, split.column), categories); };
    space.present.assign(categories + 1, 0);
    for (std::size_t i = 0; i < node.n; ++i) space.present[code_of(node.row[i])] = 1;
    const auto present = std::count(space.present.begin(), space.present.end(), 1);
    if (present < 2) return false;
    std::ptrdiff_t chosen = 0;
    while (chosen == 0 || chosen == present) {
        space.left.assign(categories + 1, 0);
        for (std::uint32_t code = 0; code <= categories; ++code)
            if (space.present[code]) space.left[code] = static_cast<char>(random.below(2));
        chosen = std::count(space.left.begin(), space.left.end(), 1);
    }
    split.kind = TestKind::category;
    split.missing_left = space.left[categories];
    for (std::uint32_t code = 0; code < categories; ++code)
        if (space.left[code]) split.set[code / 32] |= 1U << (code % 32);
    offer_cut(tally, node, limits, split, [&](std::size_t i) { return space.left[code_of(node.row[i])] != 0; }, space, choice);
    return true;
}

// Tries one cut of a column. False if it is constant in the node.
template <class Tally>
bool search_random(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                   std::uint32_t order, Philox& random, RandomSpace& space, Choice& choice) {
    Split split;
    split.order = order;
    split.column = column;
    return table.column[column].categorical() ? cut_categories(tally, node, limits, table, split, random, space, choice)
                                              : cut_numbers(tally, node, limits, table, split, random, space, choice);
}

}  // namespace conjunto
