// The prepared data that every member of an ensemble shares.
//
// Members differ in row weights and labels only, so the sorting is done once per problem: each value
// becomes its rank among the distinct values of its column, and splits are searched on ranks. Ranks
// keep any two distinct doubles apart, which rounding to float would not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sparse.hpp"

namespace conjunto {

inline constexpr std::uint32_t kMissing = 0xFFFFFFFFU;
inline constexpr std::uint32_t kMaxCategories = 256;
inline constexpr std::size_t kBins = 256;
// A node that has less than one row in so many finds hardly two of them in one cache line of a column.
inline constexpr std::size_t kRowsPerLine = 64;

struct Column {
    std::uint32_t categories = 0;  // 0: numeric
    bool missing = false;          // some row has no value
    bool counted = false;          // a bin is one rank, one category, or what is missing: the bins say all
    std::uint32_t bins = 0;        // bins 0 .. bins - 1 occur; rows without a value have the last one to themselves
    std::size_t values = 0;        // distinct values (numeric only)

    bool categorical() const { return categories > 0; }
};

// What the bins of a counted column of numbers stand for.
struct BinValues {
    std::vector<double> most;   // by bin: its value, or the largest that it stands for
    std::vector<double> least;  // by bin: the least that it stands for; empty where that is the largest, too
};

// What random combinations of columns need to know of a table, made when it is first asked for.
struct ColumnScales {
    std::once_flag made;
    std::vector<double> of_column;
    std::vector<bool> ignored;  // rows that nobody learns from, or none
};

struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    // The caller's own values, which must outlive the table: thresholds are made of them.
    const double* data = nullptr;
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t column_stride = 0;
    std::vector<Column> column;
    std::vector<BinValues> bin_values;  // by column
    // Row-major, because a node visits its rows for several columns: one cache line serves many.
    std::vector<std::uint32_t> rank;  // rank, category code, or kMissing
    // A monotone map of the rank to 0 .. 255, kMissing to the last bin. Once by columns, a byte per row, for nodes that
    // visit a good part of the rows; once by rows, where one cache line serves many columns, for those that visit few.
    std::vector<std::uint8_t> bin, row_bin;
    // Small tables only, numeric columns only: rank << 23 | row << 14 in ascending order, (columns, rows).
    std::vector<std::uint32_t> presorted;
    std::size_t most_values = 0;      // the largest number of distinct values in a numeric column

    std::shared_ptr<ColumnScales> scales = std::make_shared<ColumnScales>();

    // 1 / standard deviation of a numeric column over the rows that somebody learns from.
    double scale(std::size_t c) const;
    // Where most values are 0: all there is; the arrays above are empty then, and no column is counted or categorical.
    std::shared_ptr<const SparseTable> sparse;

    double value(std::size_t row, std::size_t c) const {
        if (sparse) return sparse->by_row.at(row, c);
        return data[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(c) * column_stride];
    }
    // The values of a row side by side, where they lie or copied to `space` (of `columns` entries).
    const double* values_of(std::size_t row, double* space) const {
        if (!sparse && column_stride == 1) return data + static_cast<std::ptrdiff_t>(row) * row_stride;
        if (sparse) {
            const SparseRows& rows = sparse->by_row;
            std::fill_n(space, columns, 0.0);
            for (std::size_t entry = rows.first(row); entry < rows.end(row); ++entry) space[rows.column[entry]] = rows.value[entry];
            return space;
        }
        for (std::size_t c = 0; c < columns; ++c) space[c] = value(row, c);
        return space;
    }
    const std::uint32_t* ranks_of(std::size_t row) const { return rank.data() + row * columns; }
    std::uint32_t rank_of(std::size_t row, std::size_t c) const { return sparse ? sparse->rank_of(row, c) : ranks_of(row)[c]; }
    const std::uint8_t* bins_of(std::size_t c) const { return bin.data() + c * rows; }
    // The bins of one column as seen by a node of n rows: the bin of a row is first[row * step].
    struct Bins {
        const std::uint8_t* first;
        std::size_t step;
        std::uint8_t operator[](std::size_t row) const { return first[row * step]; }
    };
    // Whether a node of n rows reads bins row by row.
    bool few(std::size_t n) const { return n * kRowsPerLine < rows; }
    const std::uint8_t* row_bins_of(std::size_t row) const { return row_bin.data() + row * columns; }
    Bins bins_for(std::size_t c, std::size_t n) const {
        return few(n) ? Bins{row_bin.data() + c, columns} : Bins{bins_of(c), 1};
    }
};

// values(row, column) = data[row * row_stride + column * column_stride]; NaN is missing.
// categories[c] is 0 for a numeric column, else the number of codes (at most kMaxCategories).
// ignored[row], if it is given: members may be asked about the row, but none learns from it.
// max_bins > 0: a column of more values is cut between that many groups of neighbouring values only; values of a group
// share a rank.
// Throws std::invalid_argument for infinite values and for codes out of range.
Table prepare(const double* data, std::size_t rows, std::size_t columns, std::ptrdiff_t row_stride,
              std::ptrdiff_t column_stride, const std::uint32_t* categories, std::size_t threads,
              const bool* ignored = nullptr, std::uint32_t max_bins = 0);
// The same of rows of which most values are 0, all of them numbers. Throws std::invalid_argument unless the columns of a
// row are in range and ascending.
Table prepare_sparse(const SparseRows& rows_given, std::size_t rows, std::size_t columns, const bool* ignored = nullptr);

}  // namespace conjunto
