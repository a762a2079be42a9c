// Trees as flat arrays, many trees in one set of arrays.
//
// Only inner nodes are stored; a child is a node number, or ~leaf number. Both count from the start of
// their tree, and children have higher numbers than their parent, which is what makes any walk end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "coded_forest.hpp"
#include "named_arrays.hpp"

namespace conjunto {

// A bound on what arrays from outside can ask for; a vote takes 8 bytes per class and row.
inline constexpr std::uint32_t kMaxClasses = 1U << 20;

struct Node {
    double threshold;    // numeric and combination test: left if value <= threshold; category test: offset of its set
    std::int32_t left;
    std::int32_t right;
    std::uint32_t test;  // flags and the column, or the number of the combination
    float gain;          // weighted impurity decrease, in a unit of the tree's own

    static constexpr std::uint32_t kCategory = 1U << 31;
    static constexpr std::uint32_t kCombination = 1U << 30;
    static constexpr std::uint32_t kMissingLeft = 1U << 29;
    static constexpr std::uint32_t kIndex = kMissingLeft - 1;

    std::uint32_t index() const { return test & kIndex; }
    bool special() const { return (test & (kCategory | kCombination)) != 0; }
    bool missing_left() const { return (test & kMissingLeft) != 0; }
};
static_assert(sizeof(Node) == 24);

// One term of a linear combination: coefficient * value, or coefficient * [category in set].
struct Term {
    double coefficient;
    std::uint32_t column;
    std::int32_t set;  // offset of the set, -1 for a numeric column
};
static_assert(sizeof(Term) == 16);

// What prediction does not need of a leaf, and pictures, explanations and other libraries ask for.
struct LeafSize {
    std::uint32_t rows;  // of positive weight, that growing saw here
    float weight;        // in the unit of the tree
};

// Single precision keeps the digits of leaf sizes but not their range: the units bring it back.
struct TreeUnits {
    double weight = 1;
    double target = 1;  // regression: impurities are in squares of it, those of absolute errors and Poisson in it
};

struct Forest {
    static constexpr const char* kName = "forest";
    // Raised whenever the names or the meaning of the arrays change.
    static constexpr int kFormat = 4;

    std::uint32_t columns = 0;
    std::uint32_t classes = 0;              // 0: regression; with several targets those of all of them
    std::vector<std::uint32_t> outputs;     // where there are several targets: the classes of each, 0 in regression
    std::vector<std::uint32_t> categories;  // by column, 0 = numeric
    std::vector<Node> nodes;
    std::vector<std::uint64_t> node_start{0};  // by tree, and the end
    std::vector<std::uint64_t> leaf_start{0};
    std::vector<std::int32_t> leaf_label;  // classification: class of a pure leaf, or ~row of shares
    std::vector<double> leaf_value;        // regression: (leaves, targets)
    std::vector<double> shares;            // (rows, classes): class distribution of impure leaves
    std::vector<std::int32_t> share_label;  // the class an impure leaf votes for
    // Classification with several targets: (leaves, targets), the class of each. The label of a leaf that is pure in all of
    // them is 0, and the shares of the others hold one target behind the other.
    std::vector<std::int32_t> output_label;
    // (inner nodes, targets): values that do not follow from those of the leaves, medians and those kept in bounds.
    std::vector<double> inner_value;
    std::vector<LeafSize> leaf_size;
    std::vector<double> leaf_impurity;     // regression: by the criterion of growth; behind the last that is not 0 left out
    std::vector<TreeUnits> units;          // by tree
    std::vector<std::uint32_t> sets;       // bits of categories that go left
    std::vector<Term> terms;
    std::vector<std::uint32_t> term_start{0};  // by combination, and the end
    CodedCache coded{};

    // Calls visit.array(name, values) and, for arrays of structs, visit.entries(what, values, fields...).
    template <class Self, class Visit>
    static void visit_arrays(Self& self, Visit&& visit) {
        visit.array("categories", self.categories);
        visit.array("outputs", self.outputs);
        visit.entries("node", self.nodes, Field{"threshold", &Node::threshold}, Field{"left", &Node::left},
                      Field{"right", &Node::right}, Field{"test", &Node::test}, Field{"gain", &Node::gain});
        visit.array("node_start", self.node_start);
        visit.array("leaf_start", self.leaf_start);
        visit.array("leaf_label", self.leaf_label);
        visit.array("leaf_value", self.leaf_value);
        visit.array("shares", self.shares);
        visit.array("share_label", self.share_label);
        visit.array("output_label", self.output_label);
        visit.array("inner_value", self.inner_value);
        visit.entries("leaf size", self.leaf_size, Field{"leaf_rows", &LeafSize::rows}, Field{"leaf_weight", &LeafSize::weight});
        visit.array("leaf_impurity", self.leaf_impurity);
        visit.entries("unit", self.units, Field{"weight_unit", &TreeUnits::weight}, Field{"target_unit", &TreeUnits::target});
        visit.array("sets", self.sets);
        visit.entries("term", self.terms, Field{"term_coefficient", &Term::coefficient}, Field{"term_column", &Term::column},
                      Field{"term_set", &Term::set});
        visit.array("term_start", self.term_start);
    }

    std::size_t trees() const { return node_start.size() - 1; }
    std::size_t leaves() const { return leaf_start.back(); }
    // Leaves so far, those of the tree being built too.
    std::size_t leaves_now() const { return leaf_size.size(); }
    std::size_t targets() const { return outputs.empty() ? 1 : outputs.size(); }
    bool several() const { return !outputs.empty(); }
    // A forest of the same problem without trees.
    Forest empty() const;
    std::size_t bytes() const;

    // The class that a leaf (numbered over the whole forest) votes for.
    std::int32_t label(std::size_t leaf) const {
        const std::int32_t label = leaf_label[leaf];
        return label >= 0 ? label : share_label[~label];
    }

    // The class shares of a leaf, numbered likewise; of several targets one behind the other.
    void shares_of(std::size_t leaf, double* out) const {
        const std::int32_t label = leaf_label[leaf];
        if (several() && label >= 0) {
            std::fill_n(out, classes, 0.0);
            add_votes(leaf, out);
            return;
        }
        for (std::size_t k = 0; k < classes; ++k)
            out[k] = label >= 0 ? double(k == static_cast<std::size_t>(label)) : shares[static_cast<std::size_t>(~label) * classes + k];
    }

    // Adds one to the class that the leaf votes for, of each of several targets.
    void add_votes(std::size_t leaf, double* sums) const {
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            sums[output_label[leaf * outputs.size() + o]] += 1;
            sums += outputs[o];
        }
    }

    double impurity_of(std::size_t leaf) const { return leaf < leaf_impurity.size() ? leaf_impurity[leaf] : 0.0; }

    // Takes in the sets and terms that a node of another forest of the same columns refers to; the node as it is here.
    Node adopt(const Forest& other, Node node);
    // Begins a tree of this weight, whose targets are of the order of `target`.
    void open_tree(double weight, double target = 1);
    // Adds a leaf of the tree being built: class weights, the class it votes for, and how many rows are there.
    std::int32_t add_leaf(const double* class_weight, std::int32_t label, std::size_t rows);
    // The same for several targets, whose class weights lie one behind the other; on a tie the lowest class.
    std::int32_t add_leaf_of_outputs(const double* class_weight, std::size_t rows);
    // A leaf of values, one for each target. The impurity is in units of the tree.
    std::int32_t add_leaf_of_values(const double* value, std::size_t rows, double weight, double impurity);
    // A leaf of another forest of the same problem.
    std::int32_t adopt_leaf(const Forest& other, std::size_t leaf);
    // Ends the tree being built.
    void close_tree();

    // Throws std::invalid_argument unless every index in every array can be followed safely.
    void validate() const;
    void append(const Forest& other);
    // Forgets the last `count` trees.
    void drop(std::size_t count);
    // Makes room for `factor` times what is there, so that appending does not copy.
    void reserve(double factor);
    Forest take(std::span<const std::int64_t> members) const;
    // The same trees, which answer for one of several targets. What leaves know of their impurity is lost.
    Forest of_output(std::size_t output) const;
    // Depth of each tree; a single leaf has depth 0.
    std::vector<std::int32_t> depths() const;
    // (trees, columns): impurity decrease by column, each tree summing to 1 (or 0 for a single leaf).
    std::vector<double> importances() const;
};

inline bool in_set(const Forest& forest, std::size_t offset, std::uint32_t code) {
    return (forest.sets[offset + code / 32] >> (code % 32)) & 1U;
}

// The category code of a value, or false where it is missing or unknown.
inline bool category_of(const Forest& forest, std::uint32_t column, double value, std::uint32_t& code) {
    if (!(value >= 0 && value < forest.categories[column])) return false;
    code = static_cast<std::uint32_t>(value);
    return true;
}

// Sums that overflow count as the largest number there is, so that thresholds stay finite.
inline double bounded(double sum) {
    constexpr double most = std::numeric_limits<double>::max();
    return sum > most ? most : sum < -most ? -most : sum;
}

// NaN where a value that the combination needs is missing; `x(column)` is a value.
template <class Value>
double combine(const Forest& forest, std::uint32_t combination, const Value& x) {
    double sum = 0;
    for (std::uint32_t t = forest.term_start[combination]; t < forest.term_start[combination + 1]; ++t) {
        const Term& term = forest.terms[t];
        double value = x(term.column);
        if (term.set >= 0) {
            std::uint32_t code;
            value = category_of(forest, term.column, value, code) ? double(in_set(forest, term.set, code)) : std::nan("");
        }
        sum += term.coefficient * value;
    }
    return bounded(sum);
}

template <class Value>
bool goes_left_by(const Forest& forest, const Node& node, const Value& x) {
    if (node.test & Node::kCategory) {
        std::uint32_t code;
        if (!category_of(forest, node.index(), x(node.index()), code)) return node.missing_left();
        return in_set(forest, static_cast<std::size_t>(node.threshold), code);
    }
    const double value = node.test & Node::kCombination ? combine(forest, node.index(), x) : x(node.index());
    return std::isnan(value) ? node.missing_left() : value <= node.threshold;
}

inline bool goes_left(const Forest& forest, const Node& node, const double* x) {
    return goes_left_by(forest, node, [x](std::size_t column) { return x[column]; });
}

}  // namespace conjunto
