// Growing trees: what the members of a batch see of one prepared table, and how their trees are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest.hpp"
#include "rng.hpp"
#include "table.hpp"

namespace conjunto {

enum class Criterion { gini, entropy, misclassification, variance, absolute_error, poisson };
inline bool for_classes(Criterion criterion) { return criterion <= Criterion::misclassification; }
// sorted: the plain search everywhere, the reference for the others; no_vectors: the portable kernels.
enum class Search { automatic, sorted, no_vectors };

enum class Pruning { none, alpha, cross_validation };
// error: what a node gets wrong (squared error in regression); impurity: the criterion of growth.
enum class Risk { error, impurity };

struct PruneOptions {
    Pruning by = Pruning::none;
    Risk risk = Risk::error;
    double alpha = 0;            // links with at most this cost per leaf are cut
    std::uint32_t folds = 10;
    bool one_standard_error = false;  // the smallest tree within one standard error of the best
    bool to_root = true;         // whether cross-validation may choose the root alone
    bool copies = false;         // whole-number weights count copies of a row, as those of a bootstrap sample do
    bool copies_apart = true;    // and copies of a row may fall in different folds
};

struct GrowOptions {
    Criterion criterion = Criterion::gini;
    std::uint32_t classes = 0;  // 0: regression; with several targets the sum of `outputs`
    std::vector<std::uint32_t> outputs{};  // where there are several targets: the classes of each, 0 in regression
    std::vector<std::int8_t> monotone{};   // by column: whether what is predicted may only rise (1) or fall (-1) with it
    // Columns, or combinations, tried at each node; those constant in the node do not count.
    std::uint32_t max_features = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t combination = 0;  // > 0: tests on linear combinations of so many columns (Forest-RC)
    bool oblique = false;           // also tests on linear combinations, found by search (CART-LC)
    std::uint32_t k_best = 1;       // > 1: one of the k best splits, at random
    bool random_cuts = false;       // one random cut of each column tried, in place of the best (extremely randomised trees)
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t max_leaves = 0;  // > 0: best-first growth up to so many leaves
    std::uint32_t min_rows_split = 2;
    std::uint32_t min_rows_leaf = 1;
    double min_weight_share_leaf = 0;  // of the weight of the tree
    double min_decrease = 0;           // of impurity, as a share of the weight of the tree
    PruneOptions prune{};
    bool igp = false;                  // iterative growing and pruning between two halves of the rows
    Search search = Search::automatic;
    bool rounding_ties = false;        // with real weights, scores that differ by rounding alone are equal
    std::size_t threads = 1;
};

// What the members of a batch see. Row-major; a pointer that is null means "all ones" (weights) or
// "all columns"; exactly one of labels and targets is given.
struct Views {
    std::size_t members = 0;
    const std::uint8_t* small_weights = nullptr;  // (members, rows), 0 = out of bag
    const double* weights = nullptr;              // (members, rows)
    const std::int32_t* labels = nullptr;         // (members, rows), or (rows) if shared; several targets: (rows, targets)
    const double* targets = nullptr;              // likewise
    bool shared_labels = true;
    const std::uint32_t* columns = nullptr;  // (members, columns_seen)
    std::size_t columns_seen = 0;
    // (members, rows): 1 for rows of the half that grows first (IGP); null: each member draws its halves.
    const std::uint8_t* halves = nullptr;
    // (rows): the fold of each row, in place of drawn ones (cross-validation).
    const std::uint32_t* folds = nullptr;
    Key key;
    const std::uint64_t* number = nullptr;  // (members): the number of the member's random stream

    // What one of the members sees, as a batch of its own; `rows` are those of the table.
    Views of(std::size_t member, std::size_t rows) const {
        Views one = *this;
        one.members = 1;
        if (small_weights) one.small_weights += member * rows;
        if (weights) one.weights += member * rows;
        if (labels && !shared_labels) one.labels += member * rows;
        if (targets && !shared_labels) one.targets += member * rows;
        if (columns) one.columns += member * columns_seen;
        if (halves) one.halves += member * rows;
        one.shared_labels = true;
        one.number += member;
        return one;
    }
};

Forest grow(const Table& table, const Views& views, const GrowOptions& options);

}  // namespace conjunto
