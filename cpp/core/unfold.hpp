// A tree as a table of all its nodes, leaves too, as pictures and other libraries have it.
//
// Nodes are numbered in the order of a walk that takes the left branch first: a child has a higher number than its
// parent, and the left child the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "grow.hpp"

namespace conjunto {

struct NodeTable {
    std::vector<std::int32_t> place;        // the inner node within the tree, or ~leaf
    std::vector<std::int32_t> left, right;  // -1 in a leaf
    std::vector<std::uint32_t> rows;
    std::vector<double> weight;
    std::vector<double> impurity;
    std::size_t width = 1;
    std::vector<double> value;  // (nodes, width): class shares, or values, of one target behind the other
};

// The impurity of rows of which each class weighs so much.
double class_impurity(const double* weight, std::size_t classes, double total, Criterion criterion);

NodeTable unfold(const Forest& forest, std::size_t tree, Criterion criterion);

// The number of each leaf of each tree in this order.
std::vector<std::int32_t> leaf_numbers(const Forest& forest);

}  // namespace conjunto
