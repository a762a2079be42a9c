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

// 1 / standard deviation of the values that are there, without those of rows that nobody learns from.
double inverse_deviation(std::vector<Entry>& entries, const bool* ignored) {
    if (ignored) std::erase_if(entries, [&](const Entry& entry) { return ignored[entry.row]; });
    const auto n = static_cast<double>(entries.size());
    double mean = 0, squares = 0;
    for (const Entry& entry : entries) mean += from_sortable(entry.key) / n;
    for (const Entry& entry : entries) {
        const double difference = from_sortable(entry.key) - mean;
        squares += difference / n * difference;
    }
    const double inverse = 1 / std::sqrt(squares);
    return std::isfinite(inverse) && inverse > 0 ? inverse : 1.0;
}

bool is_new(const std::vector<Entry>& entries, std::size_t i) { return i == 0 || entries[i].key != entries[i - 1].key; }

// With more distinct values than bins, a bin holds about the same number of rows.
void fill_bins(std::size_t c, Table& table, const std::vector<Entry>& entries) {
    const bool one_value = table.column[c].one_value_per_bin;
    std::size_t bin = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::uint32_t row = entries[i].row;
        if (is_new(entries, i)) bin = one_value ? table.ranks_of(row)[c] : i * kBins / entries.size();
        table.bin[c * table.rows + row] = static_cast<std::uint8_t>(bin);
    }
}

void rank_numeric(std::size_t c, Table& table, const bool* ignored, std::vector<Entry>& entries,
                  std::vector<Entry>& spare) {
    Column& column = table.column[c];
    entries.clear();
    entries.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = table.value(row, c);
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
    for (std::size_t i = 0; i < entries.size(); ++i) {
        column.values += is_new(entries, i);
        table.rank[entries[i].row * table.columns + c] = static_cast<std::uint32_t>(column.values - 1);
    }
    column.one_value_per_bin = column.values <= kBins;
    if (!table.bin.empty()) fill_bins(c, table, entries);
    column.scale = inverse_deviation(entries, ignored);
}

void rank_categorical(std::size_t c, Table& table) {
    Column& column = table.column[c];
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = table.value(row, c);
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
              std::ptrdiff_t column_stride, const std::uint32_t* categories, std::size_t threads, const bool* ignored) {
    if (rows >= kMissing || columns >= (1U << 28)) throw std::invalid_argument("X has too many rows or columns");
    Table table;
    table.rows = rows;
    table.columns = columns;
    table.data = data;
    table.row_stride = row_stride;
    table.column_stride = column_stride;
    table.column.resize(columns);
    table.rank.resize(rows * columns);
    // Bins serve nodes too large to sort; below that they would never be read.
    if (rows > kLaneRows) table.bin.resize(rows * columns);
    for (std::size_t c = 0; c < columns; ++c) {
        if (categories[c] > kMaxCategories)
            throw std::invalid_argument("column " + std::to_string(c) + " has more than 256 categories");
        table.column[c].categories = categories[c];
    }
    std::vector<std::vector<Entry>> entries(std::max<std::size_t>(threads, 1)), spare(entries.size());
    parallel_for(columns, threads, [&](std::size_t c, std::size_t worker) {
        if (table.column[c].categorical())
            rank_categorical(c, table);
        else
            rank_numeric(c, table, ignored, entries[worker], spare[worker]);
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
    for (const Column& column : table.column) table.most_values = std::max(table.most_values, column.values);
    return table;
}

}  // namespace conjunto
