// Histograms of the columns of a node: how they are laid out, filled and cleared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "split_lanes.hpp"
#include "table.hpp"
#include "tally.hpp"

namespace conjunto {

inline constexpr std::size_t kHistogramColumns = 32;

// Histograms of some columns in one node. Integer counts are 0 between two nodes, but where they are kept for a child: a
// small node clears the bins that it has touched, not all there are.
struct HistogramSpace {
    std::vector<std::int32_t> counts;  // integer weights: (cell, stride), the cells of a column from first[slot] on
    std::vector<std::uint8_t> present; // more than two classes: (slot, kBins), 1 where there are rows
    bool kept = false;                 // counts hold the whole node already, and stay
    std::vector<double> sums;          // real weights: (cell, stride), or (cell, 3) for moments
    std::array<std::size_t, kHistogramColumns> first;  // by slot: its first cell
    std::vector<double> totals;        // by class, padded to the stride
    std::vector<std::uint32_t> rows;   // (bin), only where rows must be counted
    std::vector<double> squares;       // by row: weight * target^2
    std::vector<double> groups;        // one column: (bin, tally width)
    std::vector<double> bounds;        // (slot, kBins)
    std::vector<std::uint64_t> keys;
};

// Counts of one bin lie so far apart.
inline std::size_t count_stride(std::size_t classes) { return classes <= 2 ? 2 : (classes + 3) / 4 * 4; }
// Cells that a column takes; scans go in steps of four.
inline std::size_t cells_of(const Column& column) { return (column.bins + 3U) / 4 * 4; }

namespace detail {

// Calls body(i, slot, bin) for the node's rows, N columns in one pass.
template <std::size_t N, class Body>
void each_bin_of(const NodeRows& node, const Table& table, const LaneColumn* columns, std::size_t slot, const Body body) {
    std::array<const std::uint8_t*, N> bins;
    std::size_t step = 1;
    for (std::size_t j = 0; j < N; ++j) {
        const Table::Bins seen = table.bins_for(columns[j].column, node.n);
        bins[j] = seen.first;
        step = seen.step;
    }
    const std::uint32_t* rows = node.row;
    const std::size_t n = node.n;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = rows[i] * step;
        for (std::size_t j = 0; j < N; ++j) body(i, slot + j, bins[j][at]);
    }
}

template <class Body>
void each_bin(const NodeRows& node, const Table& table, std::span<const LaneColumn> columns, const Body& body) {
    // Several at a time: rows of one class and bin follow one another, and each waits for the sum before it.
    for (std::size_t slot = 0; slot < columns.size();) {
        const std::size_t left = columns.size() - slot;
        const std::size_t width = left >= 8 ? 4 : left > 4 ? (left + 1) / 2 : left;
        const LaneColumn* first = columns.data() + slot;
        switch (width) {
            case 1: each_bin_of<1>(node, table, first, slot, body); break;
            case 2: each_bin_of<2>(node, table, first, slot, body); break;
            case 3: each_bin_of<3>(node, table, first, slot, body); break;
            default: each_bin_of<4>(node, table, first, slot, body); break;
        }
        slot += width;
    }
}

// Adds the node's integer weights to the counts of every column; slot j has its cells from first[j] on.
template <class Tally>
void add_counts(const NodeRows& node, const Table& table, std::span<const LaneColumn> columns, const std::size_t* first,
                std::int32_t* counts, std::uint8_t* present) {
    const std::size_t stride = count_stride(node.class_total.size());
    std::array<std::int32_t*, kHistogramColumns> start;
    for (std::size_t j = 0; j < columns.size(); ++j) start[j] = counts + first[j] * stride;
    // Captured by value: bytes may be anything to the compiler, which would read all of it again after each of them.
    each_bin(node, table, columns, [=, payloads = node.payload](std::size_t i, std::size_t j, std::size_t bin) {
        const std::uint32_t payload = payloads[i];
        start[j][bin * (Tally::kClasses ? stride : 2) + (payload & 255U)] += static_cast<std::int32_t>(payload >> 8);
        if (Tally::kClasses && present) present[j * kBins + bin] = 1;
    });
}

// Adds up the node's rows by bin, for every column.
template <class Tally>
void fill_histograms(const Tally& tally, const NodeRows& node, const Table& table, std::span<const LaneColumn> columns,
                     HistogramSpace& space) {
    std::size_t cells = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        space.first[j] = cells;
        cells += cells_of(table.column[columns[j].column]);
    }
    if (node.integer) {
        if (const std::size_t needed = cells * count_stride(node.class_total.size()); space.counts.size() < needed)
            space.counts.resize(needed, 0);
        if (space.present.size() < columns.size() * kBins) space.present.resize(columns.size() * kBins, 0);
        add_counts<Tally>(node, table, columns, space.first.data(), space.counts.data(), space.present.data());
    } else if constexpr (Tally::kClasses) {
        // Even and odd rows apart: a sum waits for the one before it in the same cell.
        const std::size_t stride = count_stride(tally.width()), half = cells * stride;
        space.sums.assign(2 * half, 0.0);
        std::array<double*, kHistogramColumns> start;
        for (std::size_t j = 0; j < columns.size(); ++j) start[j] = space.sums.data() + space.first[j] * stride;
        each_bin(node, table, columns, [=, label = node.label, weight = node.weight](std::size_t i, std::size_t j, std::size_t bin) {
            start[j][bin * stride + label[i] + (i & 1U) * half] += weight[i];
        });
        for (std::size_t cell = 0; cell < half; ++cell) space.sums[cell] += space.sums[half + cell];
    } else {
        space.sums.assign(cells * 3, 0.0);
        space.squares.resize(node.n);
        for (std::size_t i = 0; i < node.n; ++i) space.squares[i] = node.moment[i] * (node.moment[i] / node.weight[i]);
        each_bin(node, table, columns, [=, first = space.first.data(), sums = space.sums.data(), squares = space.squares.data(),
                                        weight = node.weight, moment = node.moment](std::size_t i, std::size_t j, std::size_t bin) {
            double* sum = sums + (first[j] + bin) * 3;
            sum[0] += weight[i];
            sum[1] += moment[i];
            sum[2] += squares[i];
        });
    }
}

// Makes the counts of a column 0 again.
inline void clear_counts(const Column& column, std::size_t slot, std::size_t stride, bool two_classes, HistogramSpace& space) {
    std::int32_t* counts = space.counts.data() + space.first[slot] * stride;
    if (two_classes) {
        std::fill_n(counts, column.bins * stride, 0);
        return;
    }
    std::uint8_t* present = space.present.data() + slot * kBins;
    for (std::size_t bin = 0; bin < column.bins; ++bin)
        if (present[bin]) std::fill_n(counts + bin * stride, stride, 0);
    std::fill_n(present, column.bins, std::uint8_t{0});
}

}  // namespace detail

}  // namespace conjunto
