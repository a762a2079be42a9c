// Tables of which most values are 0: what is not 0, by rows and by columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conjunto {

// Values other than 0, row by row: those of row i are entries start[i] .. start[i + 1], by ascending column. The arrays
// are the caller's own and must outlive this. A value of 0 may be among them.
struct SparseRows {
    const double* value = nullptr;
    const std::int32_t* column = nullptr;
    const std::int64_t* start = nullptr;  // (rows + 1)

    std::size_t first(std::size_t row) const { return static_cast<std::size_t>(start[row]); }
    std::size_t end(std::size_t row) const { return static_cast<std::size_t>(start[row + 1]); }
    // The entry of a column in a row, or end(row).
    std::size_t find(std::size_t row, std::size_t c) const {
        const std::int32_t* const last = column + end(row);
        const std::int32_t* const at = std::lower_bound(column + first(row), last, static_cast<std::int32_t>(c));
        return at != last && *at == static_cast<std::int32_t>(c) ? static_cast<std::size_t>(at - column) : end(row);
    }
    double at(std::size_t row, std::size_t c) const {
        const std::size_t entry = find(row, c);
        return entry == end(row) ? 0.0 : value[entry];
    }
};

// A prepared table of such rows: the rank of every entry among the values of its column, of which 0 is one.
struct SparseTable {
    SparseRows by_row;
    std::vector<std::uint32_t> rank;  // by entry
    std::vector<std::uint32_t> zero;  // by column: the rank of 0
    // The same by columns: those of column c are column_start[c] .. column_start[c + 1], by ascending row.
    std::vector<std::uint32_t> column_start, column_row, column_rank;

    std::uint32_t rank_of(std::size_t row, std::size_t c) const {
        const std::size_t entry = by_row.find(row, c);
        return entry == by_row.end(row) ? zero[c] : rank[entry];
    }
};

}  // namespace conjunto
