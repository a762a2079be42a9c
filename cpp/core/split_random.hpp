// One random cut of a column (Geurts, Ernst and Wehenkel 2006).
//
// Of numbers: x <= t with t uniform between the smallest and the largest value in the node, missing values to a side
// drawn at random. Of categories: a random subset of those in the node, where missing values count as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rng.hpp"
#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

struct RandomSpace {
    std::vector<char> present, left;  // by category, missing values behind the last
    std::vector<std::uint32_t> left_rows, right_rows;
};

// Uniform in [low, high).
inline double draw_between(double low, double high, Philox& random) {
    const double share = random.uniform();
    const double drawn = low * (1 - share) + high * share;
    return drawn < high ? std::max(drawn, low) : low;
}

// Offers a cut whose left side is that of the rows for which `goes_left` holds.
template <class Tally, class GoesLeft>
void offer_cut(Tally& tally, const NodeRows& node, const Limits& limits, Split& split, GoesLeft&& goes_left, RandomSpace& space,
               Choice& choice) {
    tally.clear();
    std::size_t rows_left = 0;
    if constexpr (Tally::kOrdered) {
        space.left_rows.clear();
        space.right_rows.clear();
        for (std::uint32_t i = 0; i < node.n; ++i) (goes_left(node.row[i]) ? space.left_rows : space.right_rows).push_back(i);
        tally.follow(space.left_rows, space.right_rows);
        for (const std::uint32_t i : space.left_rows) tally.add(i);
        rows_left = space.left_rows.size();
    } else {
        for (std::size_t i = 0; i < node.n; ++i) {
            if (!goes_left(node.row[i])) continue;
            tally.add(i);
            ++rows_left;
        }
    }
    if (!limits.admit(tally, rows_left, node.n, node.total, split.column)) return;
    split.score = tally.score();
    choice.offer(split);
}

template <class Tally>
bool cut_numbers(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, Split& split, Philox& random,
                 RandomSpace& space, Choice& choice) {
    const std::uint32_t column = split.column;
    std::uint32_t least = kMissing, most = 0, missing = 0;
    std::size_t least_row = 0, most_row = 0;
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::uint32_t rank = table.rank_of(node.row[i], column);
        if (rank == kMissing) {
            ++missing;
            continue;
        }
        if (rank < least || least == kMissing) least = rank, least_row = node.row[i];
        if (rank >= most) most = rank, most_row = node.row[i];
    }
    if (least == kMissing || (least == most && missing == 0)) return false;
    if (least == most) {
        // One value, and rows without it: that is the only cut.
        split.low = most;
        split.high = kMissing;
        split.low_row = static_cast<std::uint32_t>(most_row);
        offer_cut(tally, node, limits, split, [&](std::uint32_t row) { return table.rank_of(row, column) == most; }, space, choice);
        return true;
    }
    split.drawn = true;
    split.threshold = draw_between(table.value(least_row, column), table.value(most_row, column), random);
    split.missing_left = missing > 0 && random.below(2) == 1;
    split.low = least;
    split.high = most;
    split.low_row = static_cast<std::uint32_t>(least_row);
    split.high_row = static_cast<std::uint32_t>(most_row);
    offer_cut(tally, node, limits, split, [&](std::uint32_t row) {
        const std::uint32_t rank = table.rank_of(row, column);
        if (rank == kMissing) return split.missing_left;
        const bool left = table.value(row, column) <= split.threshold;
        if (left && rank > split.low) split.low = rank, split.low_row = row;
        if (!left && rank < split.high) split.high = rank, split.high_row = row;
        return left;
    }, space, choice);
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
    offer_cut(tally, node, limits, split, [&](std::uint32_t row) { return space.left[code_of(row)] != 0; }, space, choice);
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
