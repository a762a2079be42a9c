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

// Ranks of the entries of a column, in place of their numbers.
void rank_column(SparseTable& table, std::size_t c, Column& column, std::vector<Entry>& entries, std::vector<Entry>& spare) {
    const std::size_t begin = table.column_start[c], end = table.column_start[c + 1];
    std::vector<std::uint32_t>& number = table.column_rank;
    const std::uint64_t zero = sortable(0.0);
    entries.clear();
    for (std::size_t i = begin; i < end; ++i) {
        const double value = table.by_row.value[number[i]];
        if (std::isnan(value)) {
            column.missing = true;
            table.rank[number[i]] = kMissing;
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
        table.rank[entries[i].row] = next;
    }
    if (!passed) table.zero[c] = entries.empty() ? 0 : ++next;
    column.values = next + 1;
    for (std::size_t i = begin; i < end; ++i) number[i] = table.rank[number[i]];
}

}  // namespace

Table prepare_sparse(const SparseRows& given, std::size_t rows, std::size_t columns, const bool* ignored) {
    check(given, rows, columns);
    auto sparse = std::make_shared<SparseTable>();
    const std::size_t entries = given.first(rows);
    sparse->by_row = given;
    sparse->rank.resize(entries);
    sparse->zero.assign(columns, 0);
    sparse->column_start.assign(columns + 1, 0);
    sparse->column_row.resize(entries);
    sparse->column_rank.resize(entries);
    for (std::size_t entry = 0; entry < entries; ++entry) ++sparse->column_start[static_cast<std::size_t>(given.column[entry]) + 1];
    for (std::size_t c = 0; c < columns; ++c) sparse->column_start[c + 1] += sparse->column_start[c];
    std::vector<std::uint32_t> next(sparse->column_start.begin(), sparse->column_start.end() - 1);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t entry = given.first(row); entry < given.end(row); ++entry) {
            const std::uint32_t at = next[static_cast<std::size_t>(given.column[entry])]++;
            sparse->column_row[at] = static_cast<std::uint32_t>(row);
            sparse->column_rank[at] = static_cast<std::uint32_t>(entry);
        }
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
    table.sparse = std::move(sparse);
    return table;
}

}  // namespace conjunto
