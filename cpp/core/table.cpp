#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels.hpp"
#include "parallel.hpp"
#include "radix.hpp"

namespace conjunto {

namespace {

// 1 / standard deviation of a column given as distinct values and where each starts in sorted order.
double inverse_deviation(const std::vector<double>& values, const std::vector<std::size_t>& first, std::size_t n) {
    auto copies = [&](std::size_t i) { return static_cast<double>((i + 1 < first.size() ? first[i + 1] : n) - first[i]); };
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) mean += copies(i) / static_cast<double>(n) * values[i];
    for (std::size_t i = 0; i < values.size(); ++i)
        squares += copies(i) / static_cast<double>(n) * (values[i] - mean) * (values[i] - mean);
    const double inverse = 1 / std::sqrt(squares);
    return std::isfinite(inverse) && inverse > 0 ? inverse : 1.0;
}

void rank_numeric(const double* data, std::ptrdiff_t stride, std::size_t c, Table& table) {
    Column& column = table.column[c];
    std::vector<Entry> entries, spare;
    entries.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = data[static_cast<std::ptrdiff_t>(row) * stride];
        if (std::isnan(value)) {
            column.missing = true;
            table.rank[row * table.columns + c] = kMissing;
        } else if (std::isinf(value)) {
            throw std::invalid_argument("X contains infinity in column " + std::to_string(c));
        } else {
            entries.push_back({sortable(value), static_cast<std::uint32_t>(row)});
        }
    }
    sort_entries(entries, spare);
    std::vector<std::size_t> first_place;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i == 0 || entries[i].key != entries[i - 1].key) {
            column.values.push_back(from_sortable(entries[i].key));
            first_place.push_back(i);
        }
        table.rank[entries[i].row * table.columns + c] = static_cast<std::uint32_t>(column.values.size() - 1);
    }
    column.scale = inverse_deviation(column.values, first_place, entries.size());
    column.one_value_per_bin = column.values.size() <= kBins;
    if (table.bin.empty()) return;
    // With more distinct values than bins, a bin holds about the same number of rows.
    std::vector<std::uint8_t>& bin_of = column.bin_of;
    bin_of.resize(column.values.size());
    for (std::size_t rank = 0; rank < bin_of.size(); ++rank)
        bin_of[rank] =
            static_cast<std::uint8_t>(column.one_value_per_bin ? rank : first_place[rank] * kBins / entries.size());
    for (std::size_t row = 0; row < table.rows; ++row) {
        const std::uint32_t rank = table.rank[row * table.columns + c];
        table.bin[c * table.rows + row] = rank == kMissing ? std::uint8_t{0} : bin_of[rank];
    }
}

void rank_categorical(const double* data, std::ptrdiff_t stride, std::size_t c, Table& table) {
    Column& column = table.column[c];
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = data[static_cast<std::ptrdiff_t>(row) * stride];
        std::uint32_t code = kMissing;
        if (std::isnan(value)) {
            column.missing = true;
        } else {
            if (!(value >= 0 && value < column.categories) || value != std::floor(value))
                throw std::invalid_argument("column " + std::to_string(c) + " has a category code outside 0 .. " +
                                            std::to_string(column.categories - 1));
            code = static_cast<std::uint32_t>(value);
        }
        table.rank[row * table.columns + c] = code;
    }
}

}  // namespace

Table prepare(const double* data, std::size_t rows, std::size_t columns, std::ptrdiff_t row_stride,
              std::ptrdiff_t column_stride, const std::uint32_t* categories, std::size_t threads) {
    if (rows >= kMissing || columns >= (1U << 28)) throw std::invalid_argument("X has too many rows or columns");
    Table table;
    table.rows = rows;
    table.columns = columns;
    table.column.resize(columns);
    table.rank.resize(rows * columns);
    // Bins serve nodes too large to sort; below that they would never be read.
    if (rows > 256) table.bin.resize(rows * columns);
    for (std::size_t c = 0; c < columns; ++c) {
        if (categories[c] > kMaxCategories)
            throw std::invalid_argument("column " + std::to_string(c) + " has more than 256 categories");
        table.column[c].categories = categories[c];
    }
    parallel_for(columns, threads, [&](std::size_t c, std::size_t) {
        const double* start = data + static_cast<std::ptrdiff_t>(c) * column_stride;
        if (table.column[c].categorical())
            rank_categorical(start, row_stride, c, table);
        else
            rank_numeric(start, row_stride, c, table);
    });
    if (rows <= kLaneRows) {
        table.presorted.resize(rows * columns);
        for (std::size_t c = 0; c < columns; ++c) {
            if (table.column[c].categorical() || table.column[c].missing) continue;
            std::uint32_t* list = table.presorted.data() + c * rows;
            for (std::size_t row = 0; row < rows; ++row)
                list[row] = table.ranks_of(row)[c] << kLists.shift | static_cast<std::uint32_t>(row) << kLists.row_shift;
            std::sort(list, list + rows);
        }
    }
    for (const Column& column : table.column) table.most_values = std::max(table.most_values, column.values.size());
    return table;
}

}  // namespace conjunto
