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

// Ranks, in two bytes each where all of them fit; the largest number stands for what is missing.
class Ranks {
public:
    // For so many ranks, each below `end` or missing.
    void resize(std::size_t count, std::size_t end) {
        is_narrow_ = end < kNarrow;
        is_narrow_ ? narrow_.resize(count) : wide_.resize(count);
    }
    void set(std::size_t i, std::uint32_t rank) {
        if (is_narrow_)
            narrow_[i] = static_cast<std::uint16_t>(rank);
        else
            wide_[i] = rank;
    }
    std::uint32_t operator[](std::size_t i) const {
        if (!is_narrow_) return wide_[i];
        return narrow_[i] == kNarrow ? ~std::uint32_t{0} : narrow_[i];
    }
    std::size_t size() const { return is_narrow_ ? narrow_.size() : wide_.size(); }

private:
    static constexpr std::uint16_t kNarrow = 0xFFFF;

    bool is_narrow_ = false;
    std::vector<std::uint16_t> narrow_;
    std::vector<std::uint32_t> wide_;
};

// A prepared table of such rows: the rank of every entry among the values of its column, of which 0 is one.
struct SparseTable {
    SparseRows by_row;
    Ranks rank;                       // by entry
    std::vector<std::uint32_t> zero;  // by column: the rank of 0
    // The same by columns: those of column c are column_start[c] .. column_start[c + 1], by ascending row.
    std::vector<std::uint32_t> column_start, column_row;
    Ranks column_rank;

    std::uint32_t rank_of(std::size_t row, std::size_t c) const {
        const std::size_t entry = by_row.find(row, c);
        return entry == by_row.end(row) ? zero[c] : rank[entry];
    }
};

}  // namespace conjunto
