// What the trees of a forest say about rows of (forest.columns) values, NaN = missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "sparse.hpp"

namespace conjunto {

// Rows to predict, by rows or by columns: those of a DataFrame lie column by column. Or what is not 0 of them.
struct Rows {
    const double* data;
    std::size_t n, columns;
    std::ptrdiff_t row_stride, column_stride;
    const SparseRows* sparse = nullptr;  // if given, there is no data
    std::size_t before = 0;              // rows of the whole that come before these

    Rows(const SparseRows& sparse, std::size_t n, std::size_t columns) : Rows(nullptr, n, columns) { this->sparse = &sparse; }

    Rows(const double* data, std::size_t n, std::size_t columns)
        : Rows(data, n, columns, static_cast<std::ptrdiff_t>(columns), 1) {}
    Rows(const double* data, std::size_t n, std::size_t columns, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride)
        : data(data), n(n), columns(columns), row_stride(row_stride), column_stride(column_stride) {}

    const double* at(std::size_t row, std::size_t column) const {
        return data + static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride;
    }
    Rows part(std::size_t first, std::size_t count) const {
        Rows rows = *this;
        if (!sparse) rows.data = at(first, 0);
        rows.n = count;
        rows.before += first;
        return rows;
    }
    // The same with the values of a row side by side, where they lie or copied to `space`.
    Rows by_rows(std::vector<double>& space) const {
        if (sparse) {
            space.assign(n * columns, 0.0);
            for (std::size_t row = 0; row < n; ++row)
                for (std::size_t entry = sparse->first(before + row); entry < sparse->end(before + row); ++entry)
                    space[row * columns + static_cast<std::size_t>(sparse->column[entry])] = sparse->value[entry];
            return {space.data(), n, columns};
        }
        if (column_stride == 1 && row_stride == static_cast<std::ptrdiff_t>(columns)) return *this;
        space.resize(n * columns);
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t c = 0; c < columns; ++c) space[row * columns + c] = *at(row, c);
        return {space.data(), n, columns};
    }
};

// (trees, rows): the class that each tree votes for.
void member_labels(const Forest& forest, Rows x, std::int32_t* out, std::size_t threads);
// (trees, rows): the value that each tree predicts.
void member_values(const Forest& forest, Rows x, double* out, std::size_t threads);
// (rows, trees): the leaf, numbered within its tree.
void member_leaves(const Forest& forest, Rows x, std::int32_t* out, std::size_t threads);
// (rows, classes): number of votes by class.
void vote_counts(const Forest& forest, Rows x, double* out, std::size_t threads);
// (rows, classes): sum over trees of the class shares of the leaf.
void share_sums(const Forest& forest, Rows x, double* out, std::size_t threads);
// (rows), or (rows, targets): sum over trees of the predicted value.
void value_sums(const Forest& forest, Rows x, double* out, std::size_t threads);

// (rows, width): sum over trees of what the leaf is worth, value[leaf] to column[leaf] (leaves numbered over the forest).
void leaf_sums(const Forest& forest, Rows x, const double* value, const std::int32_t* column, std::size_t width, double* out,
               std::size_t threads);
// The same where a leaf is worth a whole row of `values`, (leaves, width).
void leaf_row_sums(const Forest& forest, Rows x, const double* values, std::size_t width, double* out, std::size_t threads);

}  // namespace conjunto
