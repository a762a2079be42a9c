// The search of small nodes: columns side by side, one vector lane each, scanned together.
//
// Where a node tries few of the columns they are sorted on the spot, by a network that sorts up to eight
// at once. Where it tries all of them, sorted lists are made once for a subtree and carried down it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>

#include "kernels.hpp"
#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

struct LaneSpace {
    alignas(64) std::array<std::uint32_t, (kLaneRows + 8) * 8> keys;
    std::array<std::uint32_t, kLaneRows> numbers;  // 0, 1, 2, ...

    LaneSpace() { std::iota(numbers.begin(), numbers.end(), 0U); }
};

struct LaneColumn {
    std::uint32_t column;
    std::uint32_t order;
};

// The part of a scan that depends on the node alone.
inline LaneScan lane_scan(const NodeRows& node, const Limits& limits, const Packing& packing) {
    LaneScan job{};
    job.n = static_cast<int>(node.n);
    job.packing = packing;
    job.payload = node.payload;
    job.weight = node.weight;
    job.moment = node.moment;
    job.classes = static_cast<int>(node.class_total.size());
    job.class_total = node.class_total.data();
    job.total = node.total;
    job.total_moment = node.total_moment;
    job.min_rows = static_cast<int>(std::min<std::size_t>(limits.min_rows, kLaneRows));
    job.min_weight = limits.min_weight;
    return job;
}

// Whether a vector kernel scans this node.
template <class Tally>
bool has_kernel(const NodeRows& node) {
    if constexpr (std::is_same_v<Tally, GiniTally>)
        return node.integer && node.class_total.size() >= 3 && node.total <= kMaxLaneWeight;
    return std::is_same_v<Tally, MomentTally> && (!node.integer || node.total <= kMaxLaneWeight);
}

template <class Tally>
void run_scan(const Kernels& kernels, const NodeRows& node, int width, LaneScan& job) {
    (Tally::kClasses ? kernels.scan_classes : node.integer ? kernels.scan_two_classes : kernels.scan_moments)[width](job);
}

// The same for any criterion, column by column and row by row.
template <class Tally>
void scan_tally(Tally& tally, const NodeRows& node, const Limits& limits, std::size_t lanes, LaneScan& job) {
    job.column = -1;
    for (int l = 0; l < job.columns; ++l) {
        auto key = [&](std::size_t i) { return job.keys[i * lanes + l]; };
        tally.clear();
        for (std::size_t i = 0; i + limits.min_rows < node.n; ++i) {
            tally.add((key(i) >> job.packing.row_shift) & (kLaneRows - 1));
            if (key(i) >> job.packing.shift == key(i + 1) >> job.packing.shift || i + 1 < limits.min_rows) continue;
            if (tally.left() < limits.min_weight || node.total - tally.left() < limits.min_weight) continue;
            if (const double score = tally.score(); score > job.score) {
                job.score = score;
                job.column = l;
                job.place = static_cast<int>(i);
            }
        }
    }
}

// One lane of a search: a column, with its missing values behind all others or, in a lane of their own, before them.
struct Lane {
    std::uint32_t column, slot;
    std::uint32_t missing_rank;  // what stands for a missing value
    std::uint32_t up;            // added to the other ranks
    bool missing_first;
};

// Lanes that a column takes.
inline std::size_t lanes_of(const Column& column) { return column.missing ? 2 : 1; }

// The lanes of some columns in a node. Missing values that go first take the rank of the smallest value: a cut between the
// two would be the one that parts missing values from all others, which the first lane has.
class LaneList {
public:
    LaneList(const NodeRows& node, const Table& table, std::span<const LaneColumn> columns, std::uint32_t last_rank) {
        for (std::uint32_t slot = 0; slot < columns.size(); ++slot) {
            const std::uint32_t column = columns[slot].column;
            lanes_[size_++] = {column, slot, last_rank, 0, false};
            if (!table.column[column].missing) continue;
            std::uint32_t least = kMissing;
            bool missing = false;
            for (std::size_t i = 0; i < node.n; ++i) {
                const std::uint32_t rank = table.ranks_of(node.row[i])[column];
                missing |= rank == kMissing;
                least = std::min(least, rank);
            }
            if (missing && least != kMissing) lanes_[size_++] = {column, slot, least + 1, 1, true};
        }
    }
    std::size_t size() const { return size_; }
    const Lane& operator[](std::size_t l) const { return lanes_[l]; }

private:
    std::array<Lane, 8> lanes_;
    std::size_t size_ = 0;
};

// Tries every cut of numeric columns that take at most 8 lanes, in a node of at most kLaneRows rows; `varies` receives
// which of them vary in the node.
template <class Tally>
void search_lanes(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                  std::span<const LaneColumn> columns, const Kernels& kernels, LaneSpace& space, bool* varies, Choice& choice) {
    const bool vector = has_kernel<Tally>(node);
    const bool packed = vector && node.integer && table.most_values < (1U << 16);
    LaneScan job = lane_scan(node, limits, packed ? kShortRanks : kLongRanks);
    const int shift = job.packing.shift;
    const std::uint32_t last_rank = 0xFFFFFFFFU >> shift;
    const LaneList list(node, table, columns, last_rank);
    const std::size_t lanes = list.size() <= 4 ? 4 : 8;

    std::uint32_t* keys = space.keys.data();
    std::array<Lane, 8> lane;
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = list[std::min(l, list.size() - 1)];
    const std::uint32_t* const rest = packed ? node.payload : space.numbers.data();
    const auto all_lanes = [&](bool counted) {
        return std::all_of(lane.begin(), lane.begin() + static_cast<std::ptrdiff_t>(lanes), [&](const Lane& one) {
            return !table.column[one.column].missing && table.column[one.column].counted == counted;
        });
    };
    // Row by row where the values of a row lie together: the bins are ranks where they are values.
    const auto fill_by_row = [&](auto&& of_row) {
        for (std::size_t i = 0; i < node.n; ++i) {
            const auto* values = of_row(node.row[i]);
            for (std::size_t l = 0; l < lanes; ++l)
                keys[i * lanes + l] = static_cast<std::uint32_t>(values[lane[l].column]) << shift | rest[i];
        }
    };
    const bool ranked = all_lanes(false), counted = table.few(node.n) && all_lanes(true);
    if (ranked) fill_by_row([&](std::size_t row) { return table.ranks_of(row); });
    if (counted) fill_by_row([&](std::size_t row) { return table.row_bins_of(row); });
    for (std::size_t l = 0; !ranked && !counted && l < lanes; ++l) {
        const Column& kind = table.column[lane[l].column];
        std::uint32_t* key = keys + l;
        const Table::Bins bins = table.bins_for(lane[l].column, node.n);
        if (kind.counted && !kind.missing) {
            for (std::size_t i = 0; i < node.n; ++i) key[i * lanes] = static_cast<std::uint32_t>(bins[node.row[i]]) << shift | rest[i];
            continue;
        }
        const std::uint32_t* ranks = table.ranks_of(0) + lane[l].column;
        const std::uint32_t missing_rank = lane[l].missing_rank, up = lane[l].up;
        for (std::size_t i = 0; i < node.n; ++i) {
            const std::uint32_t rank = ranks[node.row[i] * table.columns];
            key[i * lanes] = (rank == kMissing ? missing_rank : rank + up) << shift | rest[i];
        }
    }
    const int width = lanes == 4 ? 0 : 1;
    kernels.sort[width](keys, job.n);
    job.keys = keys;
    job.columns = static_cast<int>(list.size());
    job.score = choice.floor();
    if (vector)
        run_scan<Tally>(kernels, node, width, job);
    else
        scan_tally(tally, node, limits, lanes, job);

    auto rank_at = [&](std::size_t i, std::size_t l) { return keys[i * lanes + l] >> shift; };
    if (job.column >= 0) {
        const auto l = static_cast<std::size_t>(job.column), place = static_cast<std::size_t>(job.place);
        Split split;
        split.score = job.score;
        split.order = columns[lane[l].slot].order;
        split.column = lane[l].column;
        split.missing_left = lane[l].missing_first;
        split.low = rank_at(place, l) - lane[l].up;
        const std::uint32_t high = rank_at(place + 1, l);
        split.high = high == last_rank ? kMissing : high - lane[l].up;
        if (!packed && !table.column[split.column].missing) {
            split.low_row = node.row[keys[place * lanes + l] & (kLaneRows - 1)];
            split.high_row = node.row[keys[(place + 1) * lanes + l] & (kLaneRows - 1)];
        }
        choice.offer(split);
    }
    for (std::size_t l = list.size(); l-- > 0;)
        if (!lane[l].missing_first) varies[lane[l].slot] = rank_at(0, l) != rank_at(node.n - 1, l);
}

}  // namespace conjunto
