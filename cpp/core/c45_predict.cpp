#include <algorithm>
#include <cmath>
#include <vector>

#include "c45.hpp"
#include "parallel.hpp"

namespace conjunto {

namespace {

// Rows that one task asks: while a tree is in the cache it answers all of them.
constexpr std::size_t kBlock = 256;
// Shares closer than this are equal: they differ by rounding alone.
constexpr double kSame = 1e-9;

// One tree and what a walk in it needs.
class Walker {
public:
    explicit Walker(const C45Forest& forest) : forest_(forest), sum_(forest.classes) {}

    void enter(std::size_t tree) {
        nodes_ = forest_.nodes.data() + forest_.node_start[tree];
        child_ = forest_.child.data() + forest_.child_start[tree];
        share_ = forest_.share.data() + forest_.child_start[tree];
        route_ = forest_.route.data() + forest_.route_start[tree];
        leaf_label_ = forest_.leaf_label.data() + forest_.leaf_start[tree];
        share_label_ = forest_.share_label.data() + forest_.share_start[tree];
        shares_ = forest_.shares.data() + forest_.share_start[tree] * forest_.classes;
        root_ = forest_.node_start[tree] == forest_.node_start[tree + 1] ? ~0 : 0;
    }

    std::int32_t label(const double* x) {
        const std::int32_t at = walk(root_, x);
        if (at < 0) return label_of(~at);
        std::fill(sum_.begin(), sum_.end(), 0.0);
        std::int32_t only = -1;
        if (spread(at, x, sum_.data(), only) == 1) return label_of(only);
        const double most = *std::max_element(sum_.begin(), sum_.end()) - kSame;
        return static_cast<std::int32_t>(
            std::find_if(sum_.begin(), sum_.end(), [&](double share) { return share >= most; }) - sum_.begin());
    }

    void add_shares(const double* x, double* out) {
        const std::int32_t at = walk(root_, x);
        std::int32_t only;
        if (at < 0)
            add_leaf(~at, 1.0, out);
        else
            spread(at, x, out, only);
    }

private:
    struct Part {
        std::int32_t node;
        double weight;
    };

    // The branch of a row, or kNoBranch where its value is missing.
    std::uint32_t branch_of(const C45Node& node, const double* x) const {
        const double value = x[node.column];
        const std::uint32_t codes = forest_.categories[node.column];
        if (codes == 0) return std::isnan(value) ? C45Forest::kNoBranch : value > node.threshold;
        if (!(value >= 0 && value < codes)) return C45Forest::kNoBranch;
        return route_[static_cast<std::size_t>(node.threshold) + static_cast<std::size_t>(value)];
    }

    // Down to ~leaf, or to the node whose value is missing.
    std::int32_t walk(std::int32_t at, const double* x) const {
        while (at >= 0) {
            const C45Node& node = nodes_[at];
            const std::uint32_t branch = branch_of(node, x);
            if (branch == C45Forest::kNoBranch) return at;
            at = child_[node.first + branch];
        }
        return at;
    }

    // Adds the shares of all leaves below a node whose value is missing; returns their number, and the last of them.
    std::size_t spread(std::int32_t from, const double* x, double* out, std::int32_t& last) {
        std::size_t leaves = 0;
        parts_.assign(1, {from, 1.0});
        while (!parts_.empty()) {
            const Part part = parts_.back();
            parts_.pop_back();
            const C45Node& node = nodes_[part.node];
            for (std::uint32_t branch = 0; branch < node.branches; ++branch) {
                const double weight = part.weight * share_[node.first + branch];
                if (!(weight > 0)) continue;
                const std::int32_t at = walk(child_[node.first + branch], x);
                if (at >= 0) {
                    parts_.push_back({at, weight});
                    continue;
                }
                add_leaf(~at, weight, out);
                last = ~at;
                ++leaves;
            }
        }
        return leaves;
    }

    std::int32_t label_of(std::int32_t leaf) const {
        const std::int32_t label = leaf_label_[leaf];
        return label >= 0 ? label : share_label_[~label];
    }

    void add_leaf(std::int32_t leaf, double weight, double* out) const {
        const std::int32_t label = leaf_label_[leaf];
        if (label >= 0) {
            out[label] += weight;
            return;
        }
        const double* row = shares_ + static_cast<std::size_t>(~label) * forest_.classes;
        for (std::size_t k = 0; k < forest_.classes; ++k) out[k] += weight * row[k];
    }

    const C45Forest& forest_;
    const C45Node* nodes_ = nullptr;
    const std::int32_t *child_ = nullptr, *leaf_label_ = nullptr, *share_label_ = nullptr;
    const double *share_ = nullptr, *shares_ = nullptr;
    const std::uint16_t* route_ = nullptr;
    std::int32_t root_ = ~0;
    std::vector<double> sum_;
    std::vector<Part> parts_;
};

// Calls body(walker, tree, row, values) for every tree and row; the rows of a block belong to one thread.
template <class Body>
void each_block(const C45Forest& forest, Rows x, std::size_t threads, Body&& body) {
    const std::size_t blocks = (x.n + kBlock - 1) / kBlock;
    parallel_for(blocks, threads, [&](std::size_t block, std::size_t) {
        Walker walker(forest);
        const std::size_t first = block * kBlock, count = std::min(kBlock, x.n - first);
        std::vector<double> space;
        const Rows rows = x.part(first, count).by_rows(space);
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            walker.enter(tree);
            for (std::size_t i = 0; i < count; ++i) body(walker, tree, first + i, rows.at(i, 0));
        }
    });
}

}  // namespace

void member_labels(const C45Forest& forest, Rows x, std::int32_t* out, std::size_t threads) {
    each_block(forest, x, threads, [&](Walker& walker, std::size_t tree, std::size_t row, const double* values) {
        out[tree * x.n + row] = walker.label(values);
    });
}

void vote_counts(const C45Forest& forest, Rows x, double* out, std::size_t threads) {
    std::fill_n(out, x.n * forest.classes, 0.0);
    each_block(forest, x, threads, [&](Walker& walker, std::size_t, std::size_t row, const double* values) {
        out[row * forest.classes + static_cast<std::size_t>(walker.label(values))] += 1;
    });
}

void share_sums(const C45Forest& forest, Rows x, double* out, std::size_t threads) {
    std::fill_n(out, x.n * forest.classes, 0.0);
    each_block(forest, x, threads, [&](Walker& walker, std::size_t, std::size_t row, const double* values) {
        walker.add_shares(values, out + row * forest.classes);
    });
}

}  // namespace conjunto
