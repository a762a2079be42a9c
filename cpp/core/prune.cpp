#include "prune.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

namespace conjunto {

namespace {

// Costs per leaf that differ by less than this share of them differ by rounding alone.
constexpr double kRounding = 1e-12;

double squared_error(const double* sums) { return std::max(0.0, sums[2] - sums[1] * sums[1] / sums[0]); }

// The tree while its links are cut, one after the other.
struct Links {
    const Forest& tree;
    std::vector<std::int32_t> parent;
    std::vector<double> own, below;     // risk as a leaf, and of the leaves below
    std::vector<std::int32_t> leaves;   // below
    std::vector<double> cost;           // of the link: what a leaf below saves

    Links(const Forest& t, const TreeNotes& notes, Risk risk, Criterion criterion)
        : tree(t), parent(t.nodes.size(), -1), own(parent.size()), below(parent.size()), leaves(parent.size()), cost(parent.size()) {
        for (std::size_t i = parent.size(); i-- > 0;) {
            own[i] = node_risk(notes, static_cast<std::int32_t>(i), risk, criterion) / notes.weight;
            for (const std::int32_t child : {tree.nodes[i].left, tree.nodes[i].right}) {
                if (child >= 0) {
                    parent[child] = static_cast<std::int32_t>(i);
                    below[i] += below[child];
                    leaves[i] += leaves[child];
                } else {
                    below[i] += node_risk(notes, child, risk, criterion) / notes.weight;
                    leaves[i] += 1;
                }
            }
            cost[i] = cost_of(i);
        }
    }

    double cost_of(std::size_t i) const { return std::max(0.0, own[i] - below[i]) / (leaves[i] - 1); }
};

// Adds the node, or leaf, to another tree as a leaf.
std::int32_t leaf_of_node(const Forest& tree, const TreeNotes& notes, std::int32_t child, Forest& out) {
    if (notes.as_leaves) return child >= 0 ? out.adopt_leaf(notes.inner, child) : out.adopt_leaf(tree, ~child);
    const std::size_t rows = notes.rows_of(child);
    if (!notes.regression()) return out.add_leaf(notes.totals_of(child), notes.label_of(child), rows);
    const double value = notes.value_of(child);
    return out.add_leaf_of_values(&value, rows, *notes.totals_of(child), notes.variance_of(child));
}

}  // namespace

double node_risk(const TreeNotes& notes, std::int32_t child, Risk risk, Criterion criterion) {
    if (notes.as_leaves) return child >= 0 ? notes.risk[child] : notes.leaf_risk[~child];
    const double* totals = notes.totals_of(child);
    if (notes.regression()) return squared_error(totals) * notes.scale * notes.scale;
    double total = 0, part = 0;
    for (std::size_t k = 0; k < notes.width; ++k) total += totals[k];
    if (risk == Risk::error || criterion == Criterion::misclassification) return total - totals[notes.label_of(child)];
    for (std::size_t k = 0; k < notes.width; ++k) {
        if (criterion == Criterion::gini)
            part += totals[k] * totals[k] / total;
        else if (totals[k] > 0)
            part += totals[k] * (1 + std::log2(totals[k] / total));
    }
    // Entropy is sum -n log2(n / N); both have the form total - part, the risk of a pure node being 0.
    return total - part;
}

std::vector<double> weakest_links(const Forest& tree, const TreeNotes& notes, Risk risk, Criterion criterion, PruningPath& path) {
    Links links(tree, notes, risk, criterion);
    const std::size_t n = tree.nodes.size();
    std::vector<double> at(n, -1.0);
    path = PruningPath{};
    path.alpha.push_back(0.0);
    path.leaves.push_back(n ? links.leaves[0] : 1);
    path.risk.push_back(n ? links.below[0] : node_risk(notes, ~0, risk, criterion) / notes.weight);

    using Entry = std::pair<double, std::int32_t>;
    std::vector<Entry> entries;
    entries.reserve(2 * n);
    for (std::size_t i = 0; i < n; ++i) entries.emplace_back(links.cost[i], static_cast<std::int32_t>(i));
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> weakest(std::greater<>{}, std::move(entries));
    std::vector<std::int32_t> stack;
    while (!weakest.empty()) {
        const auto [cost, node] = weakest.top();
        weakest.pop();
        if (at[node] >= 0) continue;
        if (cost != links.cost[node]) {
            if (cost < links.cost[node]) weakest.emplace(links.cost[node], node);
            continue;
        }
        double alpha = path.alpha.back();
        if (cost > alpha + kRounding * links.own[0] && cost > alpha * (1 + kRounding)) {
            alpha = cost;
            path.alpha.push_back(alpha);
            path.leaves.push_back(path.leaves.back());
            path.risk.push_back(path.risk.back());
        }
        stack.assign(1, node);
        while (!stack.empty()) {
            const std::int32_t i = stack.back();
            stack.pop_back();
            if (i < 0 || at[i] >= 0) continue;
            at[i] = alpha;
            stack.push_back(tree.nodes[i].left);
            stack.push_back(tree.nodes[i].right);
        }
        const std::int32_t lost = links.leaves[node] - 1;
        const double more = links.own[node] - links.below[node];
        path.leaves.back() -= lost;
        path.risk.back() += more;
        for (std::int32_t up = links.parent[node]; up >= 0; up = links.parent[up]) {
            links.leaves[up] -= lost;
            links.below[up] += more;
            const double before = links.cost[up];
            links.cost[up] = links.cost_of(static_cast<std::size_t>(up));
            // Without the weakest link the others only get stronger, but for rounding: an entry waits until it is met.
            if (links.cost[up] < before) weakest.emplace(links.cost[up], up);
        }
    }
    // The root's risk is known without the rounding of what was added up on the way.
    if (n && path.leaves.back() == 1) path.risk.back() = links.own[0];
    return at;
}

std::vector<char> reduced_errors(const Forest& tree, const std::vector<double>& error, const std::vector<double>& leaf_error) {
    const std::size_t n = tree.nodes.size();
    std::vector<char> gone(n, 0);
    std::vector<double> below(n);
    for (std::size_t i = n; i-- > 0;) {
        for (const std::int32_t child : {tree.nodes[i].left, tree.nodes[i].right})
            below[i] += child >= 0 ? below[child] : leaf_error[~child];
        if (below[i] >= error[i] - kRounding * error[0]) {
            gone[i] = 1;
            below[i] = error[i];
        }
    }
    return gone;
}

Forest collapsed(const Forest& tree, const TreeNotes& notes, const std::vector<char>& gone, std::vector<std::int32_t>* leaf_of) {
    Forest out = tree.empty();
    out.open_tree(notes.weight, notes.scale);
    if (leaf_of) leaf_of->assign(tree.leaves(), -1);
    struct Visit {
        std::int32_t child, parent;
        bool left;
    };
    std::vector<Visit> stack{{tree.nodes.empty() ? ~0 : 0, -1, false}};
    std::vector<std::int32_t> under;
    while (!stack.empty()) {
        const auto [child, parent, left] = stack.back();
        stack.pop_back();
        std::int32_t number;
        if (child < 0 || gone[child]) {
            const std::int32_t leaf = leaf_of_node(tree, notes, child, out);
            number = ~leaf;
            under.assign(leaf_of ? 1 : 0, child);
            while (!under.empty()) {
                const std::int32_t at = under.back();
                under.pop_back();
                if (at < 0) {
                    (*leaf_of)[~at] = leaf;
                    continue;
                }
                under.push_back(tree.nodes[at].left);
                under.push_back(tree.nodes[at].right);
            }
        } else {
            number = static_cast<std::int32_t>(out.nodes.size());
            const Node node = out.adopt(tree, tree.nodes[child]);
            out.nodes.push_back(node);
            for (std::size_t o = 0; o < tree.targets() && !tree.inner_value.empty(); ++o)
                out.inner_value.push_back(tree.inner_value[static_cast<std::size_t>(child) * tree.targets() + o]);
            stack.push_back({tree.nodes[child].right, number, false});
            stack.push_back({tree.nodes[child].left, number, true});
        }
        if (parent >= 0) (left ? out.nodes[parent].left : out.nodes[parent].right) = number;
    }
    out.close_tree();
    return out;
}

}  // namespace conjunto
