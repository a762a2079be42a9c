// Pruning a grown tree: the weakest links of cost-complexity pruning, and reduced errors.
//
// R_alpha(T) = R(T) + alpha * leaves(T), with R as a share of the tree's weight (Breiman et al. 1984, chapter 3).
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "grow.hpp"
#include "notes.hpp"

namespace conjunto {

// The nested trees of cost-complexity pruning, from the whole tree to its root: tree i is the best one for
// alpha[i] <= alpha < alpha[i + 1].
struct PruningPath {
    std::vector<double> alpha;
    std::vector<double> risk;                // of the tree on its own training rows
    std::vector<std::int32_t> leaves;
    std::vector<double> error;               // cross-validated
    std::vector<double> standard_error;
    std::size_t chosen = 0;
};

// The risk of a node as a leaf, in units of weight.
double node_risk(const TreeNotes& notes, std::int32_t child, Risk risk, Criterion criterion);

// For each inner node of a tree the least alpha at which it is not split any more; never more than its parent's.
std::vector<double> weakest_links(const Forest& tree, const TreeNotes& notes, Risk risk, Criterion criterion, PruningPath& path);

// Which inner nodes end up as leaves (or below one) where each is given its error on other rows: a node is collapsed when
// its own error is at most the sum over the leaves below it. `error` and `leaf_error` by node and leaf.
std::vector<char> reduced_errors(const Forest& tree, const std::vector<double>& error, const std::vector<double>& leaf_error);

// The tree without the nodes of `gone` and what is below them. `leaf_of`, unless null, receives for each leaf of the
// tree the leaf that takes its rows.
Forest collapsed(const Forest& tree, const TreeNotes& notes, const std::vector<char>& gone, std::vector<std::int32_t>* leaf_of);

}  // namespace conjunto
