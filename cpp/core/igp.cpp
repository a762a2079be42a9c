#include "igp.hpp"

#include <algorithm>
#include <numeric>

#include "draw.hpp"

namespace conjunto {

namespace {

// Pruned trees only grow, so the sequence ends by itself; rounding of real weights must not keep it going.
constexpr std::uint32_t kMostPasses = 100;
constexpr double kRounding = 1e-12;

// A node of the tree that is being grown and pruned. Children have higher numbers than their parent.
struct IgpNode {
    Node test{};
    std::int32_t left = -1, right = -1;  // -1: a leaf
    std::int32_t label = 0;
};

class IgpTree {
public:
    IgpTree(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options)
        : grower_(grower),
          table_(table),
          one_(one),
          classes_(options.classes),
          random_(one.key, *one.number, Purpose::tree),
          half_(table.rows),
          at_(table.rows, 0),
          leaf_in_graft_(table.rows),
          x_(table.columns) {
        parts_.columns = static_cast<std::uint32_t>(table.columns);
        parts_.classes = classes_;
        for (const Column& column : table.column) parts_.categories.push_back(column.categories);
        for (std::size_t r = 0; r < table.rows; ++r)
            if (weight_of(one, r) > 0) rows_.push_back(static_cast<std::uint32_t>(r));
        if (one.halves) {
            std::copy_n(one.halves, table.rows, half_.begin());
        } else {
            Philox random(one.key, *one.number, Purpose::halves);
            draw_halves(random, rows_, one.labels, classes_, table.rows, half_.data());
        }
    }

    std::uint32_t run() {
        nodes_.push_back({});
        nodes_[0].label = majority_of_half(1);
        std::size_t size = 0;
        for (std::uint32_t pass = 0; pass < kMostPasses; ++pass) {
            const std::uint8_t growing = pass % 2 == 0;
            grow(growing);
            prune(!growing);
            const std::size_t leaves = count_leaves();
            if (pass > 0 && leaves == size) return pass + 1;
            size = leaves;
        }
        return kMostPasses;
    }

    Forest packed(std::int32_t* leaves) {
        Forest out = parts_.empty();
        std::vector<double> totals(nodes_.size() * classes_);
        std::vector<std::size_t> rows(nodes_.size());
        for (const std::uint32_t row : rows_) {
            totals[at_[row] * classes_ + one_.labels[row]] += weight_of(one_, row);
            ++rows[at_[row]];
        }
        out.open_tree(std::accumulate(totals.begin(), totals.end(), 0.0));
        std::vector<std::int32_t> leaf_of(nodes_.size(), -1);
        struct Visit {
            std::int32_t node, parent;
            bool left;
        };
        std::vector<Visit> stack{{0, -1, false}};
        while (!stack.empty()) {
            const auto [at, parent, left] = stack.back();
            stack.pop_back();
            const IgpNode& node = nodes_[at];
            std::int32_t number;
            if (node.left < 0) {
                leaf_of[at] = out.add_leaf(totals.data() + at * classes_, node.label, rows[at]);
                number = ~leaf_of[at];
            } else {
                number = static_cast<std::int32_t>(out.nodes.size());
                const Node test = out.adopt(parts_, node.test);
                out.nodes.push_back(test);
                stack.push_back({node.right, number, false});
                stack.push_back({node.left, number, true});
            }
            if (parent >= 0) (left ? out.nodes[parent].left : out.nodes[parent].right) = number;
        }
        out.close_tree();
        if (leaves)
            for (std::size_t row = 0; row < table_.rows; ++row)
                leaves[row] = leaf_of[weight_of(one_, row) > 0 ? at_[row] : descend(static_cast<std::uint32_t>(row), 0)];
        return out;
    }

private:
    // Of all rows where the half has none.
    std::int32_t majority_of_half(std::uint8_t half) const {
        std::vector<double> total(classes_, 0.0);
        const bool some = std::any_of(rows_.begin(), rows_.end(), [&](std::uint32_t row) { return half_[row] == half; });
        for (const std::uint32_t row : rows_)
            if (half_[row] == half || !some) total[one_.labels[row]] += weight_of(one_, row);
        return static_cast<std::int32_t>(std::max_element(total.begin(), total.end()) - total.begin());
    }

    // Grows a subtree on every leaf that holds rows of more than one class of the half.
    void grow(std::uint8_t half) {
        const std::size_t before = nodes_.size();
        // Rows of the half, those of one leaf together and ascending.
        std::vector<std::size_t> start(before + 1, 0);
        for (const std::uint32_t row : rows_) start[at_[row] + 1] += half_[row] == half;
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<std::size_t> place(start.begin(), start.end() - 1);
        std::vector<std::uint32_t> sorted(start.back());
        for (const std::uint32_t row : rows_)
            if (half_[row] == half) sorted[place[at_[row]]++] = row;
        for (std::size_t leaf = 0; leaf < before; ++leaf) {
            const std::span<const std::uint32_t> here(sorted.data() + start[leaf], start[leaf + 1] - start[leaf]);
            if (nodes_[leaf].left >= 0 || one_class(here)) continue;
            graft(static_cast<std::int32_t>(leaf), here);
        }
        if (nodes_.size() == before) return;
        // Rows of this half know their leaf from growing; those of the other half are sent down.
        for (const std::uint32_t row : rows_)
            if (half_[row] != half) at_[row] = descend(row, at_[row]);
    }

    bool one_class(std::span<const std::uint32_t> rows) const {
        return std::all_of(rows.begin(), rows.end(),
                           [&](std::uint32_t row) { return one_.labels[row] == one_.labels[rows[0]]; });
    }

    void graft(std::int32_t leaf, std::span<const std::uint32_t> rows) {
        GrowRequest request;
        request.leaves = leaf_in_graft_.data();
        request.notes = &notes_;
        request.rows = rows;
        request.root_label = nodes_[leaf].label;
        request.random = &random_;
        const Forest tree = grower_.grow(one_, 0, request);
        if (tree.nodes.empty()) return;
        // The root takes the place of the leaf; other inner nodes, then leaves, follow.
        const auto first = static_cast<std::int32_t>(nodes_.size()) - 1;
        const auto first_leaf = static_cast<std::int32_t>(first + tree.nodes.size());
        auto number = [&](std::int32_t child) {
            return child < 0 ? first_leaf + ~child : child == 0 ? leaf : first + child;
        };
        nodes_.resize(nodes_.size() + tree.nodes.size() - 1 + tree.leaves());
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            IgpNode& node = nodes_[number(static_cast<std::int32_t>(i))];
            node.test = parts_.adopt(tree, tree.nodes[i]);
            // Gains are shares of the weight of what was grown here; importances compare them over the whole tree.
            node.test.gain *= static_cast<float>(notes_.weight);
            node.left = number(tree.nodes[i].left);
            node.right = number(tree.nodes[i].right);
            if (i > 0) node.label = notes_.label[i];
        }
        for (std::size_t i = 0; i < tree.leaves(); ++i) nodes_[first_leaf + i].label = notes_.leaf_label[i];
        for (const std::uint32_t row : rows) at_[row] = first_leaf + leaf_in_graft_[row];
    }

    // Collapses nodes whose own error on the half is at most that of the leaves below them.
    void prune(std::uint8_t half) {
        const std::size_t n = nodes_.size();
        totals_.assign(n * classes_, 0.0);
        double all = 0;
        for (const std::uint32_t row : rows_) {
            if (half_[row] != half) continue;
            const double weight = weight_of(one_, row);
            totals_[at_[row] * classes_ + one_.labels[row]] += weight;
            all += weight;
        }
        below_.assign(n, 0.0);
        gone_.assign(n, 0);
        for (std::size_t i = n; i-- > 0;) {
            const IgpNode& node = nodes_[i];
            double* totals = totals_.data() + i * classes_;
            if (node.left >= 0)
                for (std::size_t k = 0; k < classes_; ++k)
                    totals[k] += totals_[node.left * classes_ + k] + totals_[node.right * classes_ + k];
            const double own = std::accumulate(totals, totals + classes_, 0.0) - totals[node.label];
            if (node.left < 0) {
                below_[i] = own;
                continue;
            }
            below_[i] = below_[node.left] + below_[node.right];
            if (below_[i] >= own - kRounding * all) {
                gone_[i] = 1;
                below_[i] = own;
            }
        }
        // Parents come first: what lies below a collapsed node goes where that node is.
        home_.resize(n);
        std::iota(home_.begin(), home_.end(), 0);
        for (std::size_t i = 0; i < n; ++i) {
            IgpNode& node = nodes_[i];
            if (node.left < 0) continue;
            if (home_[i] != static_cast<std::int32_t>(i) || gone_[i]) home_[node.left] = home_[node.right] = home_[i];
            if (gone_[i]) node.left = node.right = -1;
        }
        for (const std::uint32_t row : rows_) at_[row] = home_[at_[row]];
        compact();
    }

    // Forgets nodes that nothing leads to any more.
    void compact() {
        std::vector<std::int32_t> number(nodes_.size(), -1);
        number[0] = 0;
        std::vector<IgpNode> kept;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (number[i] < 0) continue;
            number[i] = static_cast<std::int32_t>(kept.size());
            kept.push_back(nodes_[i]);
            if (nodes_[i].left >= 0) number[nodes_[i].left] = number[nodes_[i].right] = 0;
        }
        for (IgpNode& node : kept)
            if (node.left >= 0) {
                node.left = number[node.left];
                node.right = number[node.right];
            }
        for (const std::uint32_t row : rows_) at_[row] = number[at_[row]];
        nodes_.swap(kept);
    }

    std::size_t count_leaves() const {
        return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const IgpNode& n) { return n.left < 0; }));
    }

    std::int32_t descend(std::uint32_t row, std::int32_t at) {
        const double* x = table_.values_of(row, x_.data());
        while (nodes_[at].left >= 0) at = goes_left(parts_, nodes_[at].test, x) ? nodes_[at].left : nodes_[at].right;
        return at;
    }

    TreeGrower& grower_;
    const Table& table_;
    const Views& one_;
    const std::uint32_t classes_;
    Philox random_;
    std::vector<std::uint8_t> half_;
    std::vector<std::uint32_t> rows_;  // of positive weight
    std::vector<std::int32_t> at_;     // the leaf of each row
    std::vector<IgpNode> nodes_;
    Forest parts_;                     // sets and terms of tests
    TreeNotes notes_;
    std::vector<std::int32_t> leaf_in_graft_, home_;
    std::vector<double> totals_, below_, x_;
    std::vector<char> gone_;
};

}  // namespace

Forest grow_igp(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options, std::int32_t* leaves,
                std::uint32_t& passes) {
    IgpTree tree(grower, table, one, options);
    passes = tree.run();
    return tree.packed(leaves);
}

}  // namespace conjunto
