#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "radix.hpp"
#include "table.hpp"

namespace conjunto {

namespace {

void check(const SparseRows& given, std::size_t rows, std::size_t columns) {
    if (rows >= kMissing || columns >= (1U << 28)) throw std::invalid_argument("X has too many rows or columns");
    if (given.start[0] != 0) throw std::invalid_argument("the entries of sparse X must begin with the first one");
    for (std::size_t row = 0; row < rows; ++row) {
        if (given.start[row + 1] < given.start[row]) throw std::invalid_argument("the rows of sparse X are not one after another");
        for (std::size_t entry = given.first(row); entry < given.end(row); ++entry) {
            const std::int32_t c = given.column[entry];
            const bool ascending = entry == given.first(row) || given.column[entry - 1] < c;
            if (c < 0 || static_cast<std::size_t>(c) >= columns || !ascending)
                throw std::invalid_argument("row " + std::to_string(row) + " of sparse X has columns out of range, twice, or not ascending");
            if (std::isinf(given.value[entry])) throw std::invalid_argument("X contains infinity in column " + std::to_string(c));
        }
    }
    if (given.first(rows) >= kMissing) throw std::invalid_argument("sparse X has too many entries");
}

// Writes, for the entries of each column, something that is known of the row and the number of an entry.
template <class Known>
void fill_by_column(SparseTable& table, std::size_t rows, std::size_t columns, std::vector<std::uint32_t>& out, const Known& known) {
    std::vector<std::uint32_t> next(table.column_start.begin(), table.column_start.begin() + static_cast<std::ptrdiff_t>(columns));
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t entry = table.by_row.first(row); entry < table.by_row.end(row); ++entry)
            out[next[static_cast<std::size_t>(table.by_row.column[entry])]++] = static_cast<std::uint32_t>(known(row, entry));
}

// Ranks of the entries of a column, whose numbers stand in the place of their rows.
void rank_column(SparseTable& table, std::size_t c, Column& column, std::vector<Entry>& entries, std::vector<Entry>& spare) {
    const std::size_t begin = table.column_start[c], end = table.column_start[c + 1];
    const std::vector<std::uint32_t>& number = table.column_row;
    const std::uint64_t zero = sortable(0.0);
    entries.clear();
    for (std::size_t i = begin; i < end; ++i) {
        const double value = table.by_row.value[number[i]];
        if (std::isnan(value)) {
            column.missing = true;
            table.rank.set(number[i], kMissing);
        } else {
            entries.push_back({sortable(value), number[i]});
        }
    }
    sort_entries(entries, spare);
    std::uint32_t next = 0;
    bool passed = false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i > 0 && entries[i].key != entries[i - 1].key) ++next;
        // 0 has a rank of its own, whether it is among the entries or not.
        if (!passed && entries[i].key >= zero) {
            table.zero[c] = next;
            passed = true;
            next += entries[i].key > zero;
        }
        table.rank.set(entries[i].row, next);
    }
    if (!passed) table.zero[c] = entries.empty() ? 0 : ++next;
    column.values = next + 1;
    for (std::size_t i = begin; i < end; ++i) table.column_rank.set(i, table.rank[number[i]]);
}

}  // namespace

Table prepare_sparse(const SparseRows& given, std::size_t rows, std::size_t columns, const bool* ignored) {
    check(given, rows, columns);
    auto sparse = std::make_shared<SparseTable>();
    const std::size_t entries = given.first(rows);
    sparse->by_row = given;
    sparse->zero.assign(columns, 0);
    sparse->column_start.assign(columns + 1, 0);
    sparse->column_row.resize(entries);
    for (std::size_t entry = 0; entry < entries; ++entry) ++sparse->column_start[static_cast<std::size_t>(given.column[entry]) + 1];
    // A column has a rank for each of its entries at most, and one for 0.
    const std::size_t most = *std::max_element(sparse->column_start.begin(), sparse->column_start.end()) + std::size_t{1};
    sparse->rank.resize(entries, most);
    sparse->column_rank.resize(entries, most);
    for (std::size_t c = 0; c < columns; ++c) sparse->column_start[c + 1] += sparse->column_start[c];
    fill_by_column(*sparse, rows, columns, sparse->column_row, [](std::size_t, std::size_t entry) { return entry; });
    Table table;
    table.rows = rows;
    table.columns = columns;
    table.column.resize(columns);
    if (ignored) table.scales->ignored.assign(ignored, ignored + rows);
    std::vector<Entry> sorted, spare;
    for (std::size_t c = 0; c < columns; ++c) {
        rank_column(*sparse, c, table.column[c], sorted, spare);
        table.most_values = std::max(table.most_values, table.column[c].values);
    }
    fill_by_column(*sparse, rows, columns, sparse->column_row, [](std::size_t row, std::size_t) { return row; });
    table.sparse = std::move(sparse);
    return table;
}

}  // namespace conjunto
