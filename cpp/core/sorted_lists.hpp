// Sorted lists of all columns for a small subtree.
//
// Made once where the subtree starts, from at most kLaneRows rows; every split then partitions each list
// stably, so that no node of the subtree sorts again. Worth it where nodes try all columns; plain searches are told the
// order of rows by them. A node's
// rows are the same range of every list as of the row store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "split_lanes.hpp"

namespace conjunto {

class SortedLists {
public:
    bool holds(std::size_t begin, std::size_t end) const { return begin_ <= begin && end <= end_; }
    void close() { begin_ = end_ = 0; }

    // The rows of `node` are rows begin .. begin + n of the store. `columns` are the plain numeric ones.
    void open(const NodeRows& node, std::size_t begin, const Table& table, std::span<const std::uint32_t> columns,
              const Kernels& kernels, LaneSpace& space) {
        begin_ = begin;
        end_ = begin + node.n;
        n_columns_ = columns.size();
        slot_.resize(table.columns);
        lists_.resize(n_columns_ * kStride);
        for (std::size_t c = 0; c < n_columns_; ++c) slot_[columns[c]] = static_cast<std::uint32_t>(c);
        // Going through the presorted rows costs the whole table, which few rows are not worth.
        if (!table.presorted.empty() && 8 * node.n >= table.rows)
            open_presorted(node, table, columns, kernels);
        else
            open_sorting(node, table, columns, kernels, space);
    }

    // Tries every cut of up to eight columns; `varies` receives which of them vary in the node.
    template <class Tally>
    void search(const NodeRows& node, std::size_t begin, const Limits& limits, const Table& table,
                std::span<const LaneColumn> columns, const Kernels& kernels, LaneSpace& space, bool* varies,
                Choice& choice) const {
        LaneScan job = lane_scan(node, limits, kLists);
        job.weight = weight_.data();
        job.moment = moment_.data();
        std::array<const std::uint32_t*, 8> lists;
        for (std::size_t l = 0; l < 8; ++l)
            lists[l] = list_of(columns[std::min(l, columns.size() - 1)].column) + (begin - begin_);
        kernels.interleave(lists.data(), job.n, space.keys.data());
        job.keys = space.keys.data();
        job.columns = static_cast<int>(columns.size());
        job.score = choice.floor();
        run_scan<Tally>(kernels, node, 1, job);
        if (job.column >= 0) {
            const std::uint32_t* list = lists[job.column];
            Split split;
            split.score = job.score;
            split.order = columns[job.column].order;
            split.column = columns[job.column].column;
            split.low_row = row_of(list[job.place]);
            split.high_row = row_of(list[job.place + 1]);
            split.low = table.ranks_of(split.low_row)[split.column];
            split.high = table.ranks_of(split.high_row)[split.column];
            choice.offer(split);
        }
        for (std::size_t l = 0; l < columns.size(); ++l)
            varies[l] = lists[l][0] >> kLists.shift != lists[l][node.n - 1] >> kLists.shift;
    }

    // Begins a node whose rows will be asked for in the order of columns.
    void enter(std::size_t begin, std::size_t n) {
        place_.resize(kLaneRows);
        for (std::size_t i = 0; i < n; ++i) place_[local_of(begin, i)] = static_cast<std::uint32_t>(i);
    }
    // The rows of that node, by their places in it, in ascending order of a column; `step` receives something that grows
    // from one row to the next where the value does. False if the column is constant.
    bool order(std::uint32_t column, std::size_t begin, std::size_t n, std::uint32_t* sorted, std::uint32_t* step) const {
        const std::uint32_t* list = list_of(column) + (begin - begin_);
        for (std::size_t i = 0; i < n; ++i) {
            sorted[i] = place_[(list[i] >> kLists.row_shift) & (kLaneRows - 1)];
            step[i] = list[i] >> kLists.shift;
        }
        return step[0] != step[n - 1];
    }

    // Follows the partition of the store's rows begin .. begin + n; side[i] is 1 for a row that goes left.
    // Lists of a child that will be a leaf are not read again: `needed` false saves the work.
    void partition(std::size_t begin, std::size_t n, const std::uint8_t* side, bool needed, const Kernels& kernels) {
        if (!needed) return;
        const std::size_t at = begin - begin_;
        side_.assign(kLaneRows / 32, 0U);
        spare_.resize(kStride);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t local = local_[at + i];
            side_[local / 32] |= static_cast<std::uint32_t>(side[i]) << (local % 32);
        }
        kernels.divide(local_.data() + at, n, side, spare_.data());
        kernels.partition(lists_.data() + at, n_columns_, kStride, static_cast<int>(n), side_.data(), spare_.data());
    }

private:
    // Room behind a list for a vector store that spills over its end.
    static constexpr std::size_t kStride = kLaneRows + 8;

    // Lists of a table that is small as a whole: its presorted rows without those of weight 0. The local
    // number of a row is its number.
    void open_presorted(const NodeRows& node, const Table& table, std::span<const std::uint32_t> columns,
                        const Kernels& kernels) {
        row_.resize(table.rows);
        for (std::size_t row = 0; row < table.rows; ++row) row_[row] = static_cast<std::uint32_t>(row);
        local_.assign(node.row, node.row + node.n);
        // Rows outside the node have no payload, which marks them: weights inside are positive.
        payload_.assign(table.rows, 0U);
        for (std::size_t i = 0; i < node.n; ++i) payload_[node.row[i]] = node.integer ? node.payload[i] : 1U;
        if (!node.integer) {
            weight_.resize(table.rows);
            moment_.resize(table.rows);
            for (std::size_t i = 0; i < node.n; ++i) {
                weight_[node.row[i]] = node.weight[i];
                moment_[node.row[i]] = node.moment[i];
            }
        }
        for (std::size_t c = 0; c < columns.size(); ++c)
            kernels.select(table.presorted.data() + columns[c] * table.rows, table.rows, payload_.data(),
                           lists_.data() + c * kStride);
    }

    void open_sorting(const NodeRows& node, const Table& table, std::span<const std::uint32_t> columns,
                      const Kernels& kernels, LaneSpace& space) {
        row_.assign(node.row, node.row + node.n);
        local_.resize(node.n);
        for (std::size_t i = 0; i < node.n; ++i) local_[i] = static_cast<std::uint32_t>(i);
        if (!node.integer) {
            weight_.assign(node.weight, node.weight + node.n);
            moment_.assign(node.moment, node.moment + node.n);
        }
        for (std::size_t first = 0; first < n_columns_; first += 8) {
            const std::size_t count = std::min<std::size_t>(8, n_columns_ - first);
            std::uint32_t* keys = space.keys.data();
            std::array<std::uint32_t, 8> column;
            for (std::size_t l = 0; l < 8; ++l) column[l] = columns[first + std::min(l, count - 1)];
            for (std::size_t i = 0; i < node.n; ++i) {
                const std::uint32_t* ranks = table.ranks_of(node.row[i]);
                for (std::size_t l = 0; l < 8; ++l) keys[i * 8 + l] = ranks[column[l]] << 9 | static_cast<std::uint32_t>(i);
            }
            kernels.sort[1](keys, static_cast<int>(node.n));
            for (std::size_t l = 0; l < count; ++l) {
                std::uint32_t* list = lists_.data() + (first + l) * kStride;
                std::uint32_t rank = 0;
                for (std::size_t i = 0; i < node.n; ++i) {
                    const std::uint32_t key = keys[i * 8 + l], local = key & (kLaneRows - 1);
                    rank += i > 0 && key >> 9 != keys[(i - 1) * 8 + l] >> 9;
                    const std::uint32_t payload = node.integer ? node.payload[local] : 0U;
                    list[i] = rank << kLists.shift | local << kLists.row_shift | payload;
                }
            }
        }
    }

    std::uint32_t local_of(std::size_t begin, std::size_t i) const { return local_[begin - begin_ + i]; }
    const std::uint32_t* list_of(std::uint32_t column) const { return lists_.data() + slot_[column] * kStride; }
    std::uint32_t row_of(std::uint32_t key) const { return row_[(key >> kLists.row_shift) & (kLaneRows - 1)]; }

    std::size_t begin_ = 0, end_ = 0, n_columns_ = 0;
    std::vector<std::uint32_t> slot_, lists_, row_, local_, payload_, side_, spare_, place_;
    std::vector<double> weight_, moment_;
};

}  // namespace conjunto
