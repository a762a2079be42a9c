// Error-based pruning (Quinlan 1993, chapter 4).
//
// A leaf with N rows, e of them wrong, is expected to make N * U_CF(e, N) errors on new rows. Bottom-up, a node is
// compared as it is, as a leaf, and replaced by its largest branch with all its rows sent down that branch.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "c45_rows.hpp"

namespace conjunto {

namespace {

// A simpler tree may be expected to make so many errors more.
constexpr double kMargin = 0.1;

// Squared standard normal deviate of a confidence level, by interpolation.
double squared_deviate(double confidence) {
    constexpr std::array<double, 9> level{0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
    constexpr std::array<double, 9> deviate{4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};
    std::size_t i = 1;
    while (i + 1 < level.size() && confidence > level[i]) ++i;
    const double part = (confidence - level[i - 1]) / (level[i] - level[i - 1]);
    const double z = deviate[i - 1] + part * (deviate[i] - deviate[i - 1]);
    return z * z;
}

double extra_errors(double rows, double errors, double confidence, double z2) {
    if (!(rows > 0)) return 0;
    if (errors < 0.9999) {
        const double none = rows * (1 - std::exp(std::log(confidence) / rows));
        if (errors < 1e-6) return none;
        return none + errors * (extra_errors(rows, 1.0, confidence, z2) - none);
    }
    const double corrected = errors + 0.5;
    if (corrected >= rows) return 0.67 * (rows - errors);
    const double spread = std::sqrt(z2 * (corrected * (1 - corrected / rows) + z2 / 4));
    return rows * (corrected + z2 / 2 + spread) / (rows + z2) - errors;
}

class Pruner {
public:
    Pruner(GrownTree& tree, C45Rows& rows, const Table& table, const C45Options& options)
        : tree_(tree), rows_(rows), table_(table), options_(options), z2_(squared_deviate(options.confidence)),
          counts_(options.classes) {}

    void prune() {
        visit(0, GrownNode::kLeaf, rows_.all());
        while (!open_.empty()) {
            Open& open = open_.back();
            const GrownNode& node = tree_.nodes[open.node];
            if (open.next == node.branches) {
                close();
                continue;
            }
            const std::uint32_t branch = open.next++, child = node.first + branch;
            const C45Rows::Range range = rows_.enter(open.division, branch, 1);
            if (range.empty()) {
                make_empty_leaf(tree_.nodes[child], node.label);
                continue;
            }
            const double share = rows_.branch_share(open.division, branch);
            tree_.nodes[child].share = share;
            if (share >= open.largest_share - kRounding) {
                open.largest_share = share;
                open.largest = child;
            }
            visit(child, node.label, range);
        }
    }

private:
    // A node whose branches are being pruned.
    struct Open {
        std::uint32_t node, parent_label, next, largest;
        double largest_share;
        C45Rows::Range range;
        C45Rows::Division division;
        double errors;       // to be expected of the branches, so far
        double leaf_errors;  // to be expected of a leaf
    };

    struct Sent {
        std::uint32_t node, next;
        C45Rows::Division division;
    };

    double expected(double rows, double errors) const {
        return errors + extra_errors(rows, errors, options_.confidence, z2_);
    }

    // Takes the rows of the range for those of the node: its class, its weight, its leaf; an inner node is opened.
    void visit(std::uint32_t number, std::uint32_t parent_label, C45Rows::Range range) {
        GrownNode& node = tree_.nodes[number];
        node.weight = rows_.count(range, counts_);
        node.label = majority(counts_, node.weight, parent_label);
        const double errors = expected(node.weight, node.weight - counts_[node.label]);
        if (node.leaf()) {
            make_leaf(tree_, node, counts_);
            add(errors);
            return;
        }
        const C45Rows::Division division = rows_.divide(table_, tree_, node, range);
        open_.push_back({number, parent_label, 0, node.first, 0.0, range, division, 0.0, errors});
    }

    void close() {
        const Open open = open_.back();
        open_.pop_back();
        rows_.leave(open.division);
        GrownNode& node = tree_.nodes[open.node];
        double branch_errors = std::numeric_limits<double>::infinity();
        if (options_.raise_branches) {
            const double enough = std::max(open.leaf_errors - kMargin, open.errors + kMargin);
            branch_errors = errors_of(open.largest, open.range, enough);
        }
        if (open.leaf_errors <= branch_errors + kMargin && open.leaf_errors <= open.errors + kMargin) {
            rows_.count(open.range, counts_);
            make_leaf(tree_, node, counts_);
            add(open.leaf_errors);
        } else if (branch_errors <= open.errors + kMargin) {
            const double share = node.share;
            node = GrownNode(tree_.nodes[open.largest]);
            node.share = share;
            visit(open.node, open.parent_label, open.range);
        } else {
            add(open.errors);
        }
    }

    void add(double errors) {
        if (!open_.empty()) open_.back().errors += errors;
    }

    // Errors to be expected of a subtree if it got these rows; above `enough` no more than that is known of them.
    double errors_of(std::uint32_t number, C45Rows::Range range, double enough) {
        double errors = 0;
        send(number, range, errors);
        while (!sent_.empty()) {
            Sent& at = sent_.back();
            const GrownNode& node = tree_.nodes[at.node];
            if (at.next == node.branches || errors > enough) {
                rows_.leave(at.division);
                sent_.pop_back();
                continue;
            }
            const std::uint32_t branch = at.next++;
            const C45Rows::Range below = rows_.enter(at.division, branch, 1);
            if (!below.empty()) send(node.first + branch, below, errors);
        }
        return errors;
    }

    void send(std::uint32_t number, C45Rows::Range range, double& errors) {
        const GrownNode& node = tree_.nodes[number];
        if (!node.leaf()) {
            sent_.push_back({number, 0, rows_.divide(table_, tree_, node, range)});
            return;
        }
        const double weight = rows_.count(range, counts_);
        errors += expected(weight, weight - *std::max_element(counts_.begin(), counts_.end()));
    }

    GrownTree& tree_;
    C45Rows& rows_;
    const Table& table_;
    const C45Options& options_;
    double z2_;
    std::vector<double> counts_;
    std::vector<Open> open_;
    std::vector<Sent> sent_;
};

}  // namespace

double c45_extra_errors(double rows, double errors, double confidence) {
    return extra_errors(rows, errors, confidence, squared_deviate(confidence));
}

void prune_c45(GrownTree& tree, C45Rows& rows, const Table& table, const C45Options& options) {
    Pruner(tree, rows, table, options).prune();
}

}  // namespace conjunto
