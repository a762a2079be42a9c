// What growing knows of the nodes of one tree and a forest does not keep: pruning needs it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace conjunto {

struct TreeNotes {
    // The numbers kept of a node: the weight of each class; in regression the weight, the weighted sum of the targets
    // and that of their squares, where a target is center + scale * what is summed.
    std::size_t width = 0;
    std::vector<double> totals;       // (inner nodes, width)
    std::vector<double> leaf_totals;  // (leaves, width)
    std::vector<std::uint32_t> rows;  // of the nodes
    std::vector<std::uint32_t> leaf_rows;
    std::vector<std::int32_t> label;  // the class that the node would vote for as a leaf
    std::vector<std::int32_t> leaf_label;
    double center = 0, scale = 1;
    double weight = 0;  // of the tree
    // In place of totals and labels, where these do not tell what a node would be as a leaf (several targets, medians,
    // Poisson): inner nodes as leaves of a tree, and the risk of nodes and leaves by the criterion of growth.
    bool as_leaves = false;
    Forest inner;
    std::vector<double> risk, leaf_risk;

    // Forgets a tree but keeps the memory.
    void clear() {
        for (std::vector<double>* values : {&totals, &leaf_totals, &risk, &leaf_risk}) values->clear();
        for (std::vector<std::uint32_t>* counts : {&rows, &leaf_rows}) counts->clear();
        for (std::vector<std::int32_t>* labels : {&label, &leaf_label}) labels->clear();
    }

    bool regression() const { return label.empty() && leaf_label.empty(); }
    // Children as a forest writes them: an inner node, or ~leaf.
    const double* totals_of(std::int32_t child) const {
        return child >= 0 ? totals.data() + static_cast<std::size_t>(child) * width
                          : leaf_totals.data() + static_cast<std::size_t>(~child) * width;
    }
    std::uint32_t rows_of(std::int32_t child) const { return child >= 0 ? rows[child] : leaf_rows[~child]; }
    std::int32_t label_of(std::int32_t child) const { return child >= 0 ? label[child] : leaf_label[~child]; }
    double value_of(std::int32_t child) const {
        const double* sums = totals_of(child);
        return center + scale * (sums[1] / sums[0]);
    }
    // In squares of `scale`.
    double variance_of(std::int32_t child) const {
        const double* sums = totals_of(child);
        const double mean = sums[1] / sums[0];
        return std::fmax(0.0, sums[2] / sums[0] - mean * mean);
    }
};

}  // namespace conjunto
