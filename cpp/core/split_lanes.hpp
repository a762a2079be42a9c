// The search of small nodes: columns side by side, one vector lane each, scanned together.
//
// Where a node tries few of the columns they are sorted on the spot, by a network that sorts up to eight
// at once. Where it tries all of them, sorted lists are made once for a subtree and carried down it.
#pragma once

#include <array>
#include <cstdint>

#include "kernels.hpp"
#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

struct LaneSpace {
    alignas(64) std::array<std::uint32_t, (kLaneRows + 8) * 8> keys;
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
        return node.integer && node.class_total.size() >= 3 && node.class_total.size() <= kMaxLaneClasses && node.total <= kMaxLaneWeight;
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

// Tries every cut of 1 to 8 numeric columns without missing values in a node of at most kLaneRows rows.
// Returns how many of the columns vary in the node.
template <class Tally>
std::size_t search_lanes(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                         std::span<const LaneColumn> columns, const Kernels& kernels, LaneSpace& space,
                         Choice& choice) {
    const bool vector = has_kernel<Tally>(node);
    const bool packed = vector && node.integer && table.most_values <= (1U << 16);
    LaneScan job = lane_scan(node, limits, packed ? kShortRanks : kLongRanks);
    const int shift = job.packing.shift;
    const std::size_t lanes = columns.size() <= 4 ? 4 : 8;

    std::uint32_t* keys = space.keys.data();
    std::array<std::uint32_t, 8> column;
    for (std::size_t l = 0; l < lanes; ++l) column[l] = columns[std::min(l, columns.size() - 1)].column;
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::uint32_t* ranks = table.ranks_of(node.row[i]);
        const std::uint32_t rest = packed ? node.payload[i] : static_cast<std::uint32_t>(i);
        for (std::size_t l = 0; l < lanes; ++l) keys[i * lanes + l] = ranks[column[l]] << shift | rest;
    }
    const int width = lanes == 4 ? 0 : 1;
    kernels.sort[width](keys, job.n);
    job.keys = keys;
    job.columns = static_cast<int>(columns.size());
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
        split.order = columns[l].order;
        split.column = columns[l].column;
        split.low = rank_at(place, l);
        split.high = rank_at(place + 1, l);
        if (!packed) {
            split.low_row = node.row[keys[place * lanes + l] & (kLaneRows - 1)];
            split.high_row = node.row[keys[(place + 1) * lanes + l] & (kLaneRows - 1)];
        }
        choice.offer(split);
    }
    std::size_t vary = 0;
    for (std::size_t l = 0; l < columns.size(); ++l) vary += rank_at(0, l) != rank_at(node.n - 1, l);
    return vary;
}

}  // namespace conjunto
