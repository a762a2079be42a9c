// What the trees of a forest say about rows. X is row-major (rows, forest.columns), NaN = missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forest.hpp"

namespace conjunto {

struct Rows {
    const double* data;
    std::size_t n;
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
// (rows): sum over trees of the predicted value.
void value_sums(const Forest& forest, Rows x, double* out, std::size_t threads);

// (rows, width): sum over trees of what the leaf is worth, value[leaf] to column[leaf] (leaves numbered over the forest).
void leaf_sums(const Forest& forest, Rows x, const double* value, const std::int32_t* column, std::size_t width, double* out,
               std::size_t threads);
// The same where a leaf is worth a whole row of `values`, (leaves, width).
void leaf_row_sums(const Forest& forest, Rows x, const double* values, std::size_t width, double* out, std::size_t threads);

}  // namespace conjunto
