// C4.5, Release 8 (Quinlan 1993, 1996): growing, pruning, packed trees, prediction.
//
// A test on a number has two branches, a test on a category one branch per category or per group of categories. A row
// whose value is unknown goes down every branch with part of its weight, in training and in prediction, so that a row
// ends in several leaves: there is no leaf of a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "grow.hpp"
#include "named_arrays.hpp"
#include "predict.hpp"
#include "table.hpp"

namespace conjunto {

struct C45Options {
    std::uint32_t classes = 0;
    bool gain_ratio = true;     // false: the largest gain
    bool mdl = true;            // the gain of a threshold pays for its choice among the cuts tried
    bool group_values = false;  // categories in groups, merged while the gain ratio rises
    double min_objects = 2;     // weight that two branches of a test need
    bool prune = true;
    bool raise_branches = true;  // pruning may replace a node by its largest branch
    bool collapse = true;        // subtrees that make no fewer training errors than a leaf become one
    double confidence = 0.25;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::size_t threads = 1;
};

struct C45Node {
    // Number: branch 0 if value <= threshold, else branch 1. Category: where the branches of its codes begin in `route`,
    // from the start of the tree.
    double threshold;
    std::uint32_t column;
    std::uint32_t first;  // of its entries in child and share, from the start of the tree
    std::uint32_t branches;
    float gain;  // information gain times the node's share of the weight of the tree
};
static_assert(sizeof(C45Node) == 24);

// Trees as flat arrays. Only inner nodes are stored; a child is a node number, or ~leaf number, both counted from the
// start of their tree. Nothing inside a tree refers to other trees, so trees are joined and taken as slices.
struct C45Forest {
    static constexpr const char* kName = "C4.5 forest";
    // Raised whenever the names or the meaning of the arrays change.
    static constexpr int kFormat = 2;
    static constexpr std::uint16_t kNoBranch = 0xFFFF;

    std::uint32_t columns = 0;
    std::uint32_t classes = 0;
    std::vector<std::uint32_t> categories;  // by column, 0 = numeric
    std::vector<C45Node> nodes;
    std::vector<std::int32_t> child;     // by branch; children have higher numbers than their parent
    std::vector<double> share;           // by branch: its share of the known training weight of the node
    std::vector<std::uint16_t> route;    // by code: the branch, or kNoBranch, which is the way of a missing value
    std::vector<std::int32_t> leaf_label;   // class of a leaf of one class or of no rows, or ~row of shares
    std::vector<std::int32_t> share_label;  // the class a mixed leaf votes for
    std::vector<double> shares;             // (rows, classes): class distribution of mixed leaves
    // By tree, and the end.
    std::vector<std::uint64_t> node_start{0}, child_start{0}, route_start{0}, leaf_start{0}, share_start{0};

    // Calls visit.array(name, values) and, for arrays of structs, visit.entries(what, values, fields...).
    template <class Self, class Visit>
    static void visit_arrays(Self& self, Visit&& visit) {
        visit.array("categories", self.categories);
        visit.entries("node", self.nodes, Field{"threshold", &C45Node::threshold}, Field{"column", &C45Node::column},
                      Field{"first", &C45Node::first}, Field{"branches", &C45Node::branches}, Field{"gain", &C45Node::gain});
        visit.array("child", self.child);
        visit.array("share", self.share);
        visit.array("route", self.route);
        visit.array("leaf_label", self.leaf_label);
        visit.array("share_label", self.share_label);
        visit.array("shares", self.shares);
        visit.array("node_start", self.node_start);
        visit.array("child_start", self.child_start);
        visit.array("route_start", self.route_start);
        visit.array("leaf_start", self.leaf_start);
        visit.array("share_start", self.share_start);
    }

    std::size_t trees() const { return node_start.size() - 1; }
    std::size_t leaves() const { return leaf_start.back(); }
    std::size_t bytes() const;
    // Throws std::invalid_argument unless every index in every array can be followed safely.
    void validate() const;
    void append(const C45Forest& other);
    // Makes room for `factor` times what is there, so that appending does not copy.
    void reserve(double factor);
    C45Forest take(std::span<const std::int64_t> members) const;
    // Depth of each tree; a single leaf has depth 0.
    std::vector<std::int32_t> depths() const;
    // (trees, columns): gain by column, each tree summing to 1 (or 0 for a single leaf).
    std::vector<double> importances() const;
};

// One tree per member of the views. Weights count as they are: a row of weight 2 is two rows, a row of weight 0 does
// not exist. Throws std::invalid_argument if a member has no row of positive weight.
C45Forest grow_c45(const Table& table, const Views& views, const C45Options& options);

// What error-based pruning adds to `errors` on `rows` training rows: rows * U_CF(errors, rows) - errors, by Quinlan's
// approximation of the upper confidence limit of a binomial share.
double c45_extra_errors(double rows, double errors, double confidence);

// (trees, rows): the class of the largest share; a row that ends whole in one leaf gets the leaf's class.
void member_labels(const C45Forest& forest, Rows x, std::int32_t* out, std::size_t threads);
// (rows, classes): number of votes by class.
void vote_counts(const C45Forest& forest, Rows x, double* out, std::size_t threads);
// (rows, classes): sum over trees of the class shares.
void share_sums(const C45Forest& forest, Rows x, double* out, std::size_t threads);

}  // namespace conjunto
