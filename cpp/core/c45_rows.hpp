// The tree that is being grown, and the rows of its open nodes.
//
// A node is a range of every list: list 0 holds its rows, the others its rows sorted by a numeric column. Dividing a
// node partitions the lists stably, so that nothing is sorted twice. Where some rows have no known branch, each child
// gets a range of its own behind the parent's, with these rows at part of their weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "c45.hpp"

namespace conjunto {

struct GrownNode {
    static constexpr std::uint32_t kLeaf = 0xFFFFFFFFU;
    static constexpr std::size_t kOneClass = std::numeric_limits<std::size_t>::max();

    std::uint32_t column = kLeaf;
    std::uint32_t branches = 0;
    std::uint32_t first = 0;  // its children are first .. first + branches - 1
    std::uint32_t cut = 0;    // rank of the threshold
    double threshold = 0;
    std::size_t route = 0;  // category: where the branches of the codes begin
    double gain = 0;        // bits per unit of weight
    double weight = 0;
    double share = 0;  // of the known weight of its parent
    std::uint32_t label = 0;
    std::size_t counts = kOneClass;  // leaf: where its class weights begin

    bool leaf() const { return column == kLeaf; }
};

struct GrownTree {
    std::vector<GrownNode> nodes;
    std::vector<std::uint16_t> routes;
    std::vector<double> counts;
};

// Two sums of weights that differ by rounding alone are equal.
inline constexpr double kRounding = 1e-9;

class C45Rows {
public:
    struct Item {
        double weight;
        std::uint32_t label;
    };
    struct Range {
        std::size_t begin, end;
        bool empty() const { return begin == end; }
    };
    // A divided node; its children are entered one after another, then it is left. Divisions nest.
    struct Division {
        std::size_t unknown;  // rows without a branch
        std::size_t base;     // of its entries in bounds_ and weights_
        std::size_t saved;    // of its entries in saved_
        std::size_t top;      // of the lists, before any child
        std::uint32_t branches;
        Range range;
        double known;  // weight
    };

    std::vector<Item> item;  // by row of the table
    // rank << 32 | row; list 0 has no ranks
    std::vector<std::vector<std::uint64_t>> list;
    double total = 0;
    bool whole = false;  // all weights are whole numbers

    static std::uint32_t row_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }
    static std::uint32_t rank_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 32); }

    // Takes the member's rows of positive weight; `sorted` are the columns of the lists, all rows of the table.
    void load(const Table& table, const Views& views, std::size_t member,
              const std::vector<const std::uint64_t*>& sorted);

    Range all() const { return {0, size_}; }

    // Adds up the class weights of a range; returns their sum.
    double count(Range range, std::vector<double>& counts) const;

    // Finds the branch of each row and partitions list 0.
    Division divide(const Table& table, const GrownTree& tree, const GrownNode& node, Range range);
    // Partitions the other lists too.
    void partition_sorted(const Division& division) {
        for (std::size_t l = 1; l < list.size(); ++l) partition(list[l], division);
    }
    double branch_weight(const Division& division, std::uint32_t branch) const {
        return weights_[division.base + branch];
    }
    // Weights so small that they vanish leave nothing to divide by.
    double branch_share(const Division& division, std::uint32_t branch) const {
        return division.known > 0 ? branch_weight(division, branch) / division.known : 0.0;
    }
    // The known rows of a branch, in the range of the parent.
    Range known_rows(const Division& division, std::uint32_t branch) const {
        return {bounds_[division.base + branch], bounds_[division.base + branch + 1]};
    }
    // The rows of a branch in the first `lists` lists, empty if it has no known ones.
    Range enter(const Division& division, std::uint32_t branch, std::size_t lists);
    // Gives the rows their weights back.
    void leave(const Division& division);

private:
    void partition(std::vector<std::uint64_t>& keys, const Division& division);

    std::size_t size_ = 0, top_ = 0;
    std::vector<std::uint16_t> branch_;  // by row of the table
    std::vector<std::size_t> bounds_, place_;
    std::vector<double> weights_, saved_;
    std::vector<std::uint64_t> spare_;
};

// Prunes the tree bottom-up by the errors to be expected of leaves, subtrees and largest branches.
void prune_c45(GrownTree& tree, C45Rows& rows, const Table& table, const C45Options& options);

// The weighted majority; on a tie the parent's class if it takes part, else the lowest.
inline std::uint32_t majority(const std::vector<double>& counts, double total, std::uint32_t parent_label) {
    const double most = *std::max_element(counts.begin(), counts.end()) - kRounding * total;
    if (parent_label < counts.size() && counts[parent_label] >= most) return parent_label;
    return static_cast<std::uint32_t>(
        std::find_if(counts.begin(), counts.end(), [&](double count) { return count >= most; }) - counts.begin());
}

// Makes a leaf of a node whose rows have these class weights.
inline void make_leaf(GrownTree& tree, GrownNode& node, const std::vector<double>& counts) {
    node.column = GrownNode::kLeaf;
    node.branches = 0;
    node.counts = GrownNode::kOneClass;
    if (std::count_if(counts.begin(), counts.end(), [](double count) { return count > 0; }) < 2) return;
    node.counts = tree.counts.size();
    tree.counts.insert(tree.counts.end(), counts.begin(), counts.end());
}

// Makes a leaf without rows, of the class of its parent.
inline void make_empty_leaf(GrownNode& node, std::uint32_t parent_label) {
    node = GrownNode{};
    node.label = parent_label;
}

}  // namespace conjunto
