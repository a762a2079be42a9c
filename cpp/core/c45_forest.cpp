#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "c45.hpp"

namespace conjunto {

namespace {

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string("corrupt C4.5 forest: ") + what);
}

void check_starts(const std::vector<std::uint64_t>& starts, std::size_t trees, std::size_t end, const char* what) {
    require(starts.size() == trees + 1 && starts.front() == 0 && starts.back() == end, what);
    require(std::is_sorted(starts.begin(), starts.end()), what);
}

std::size_t length(const std::vector<std::uint64_t>& starts, std::size_t tree) { return starts[tree + 1] - starts[tree]; }

// The entries of a node in child, share and route follow those of the node before it.
struct Used {
    std::size_t child = 0, route = 0;
};

void check_node(const C45Forest& forest, std::size_t tree, const C45Node& node, Used& used) {
    require(node.column < forest.columns, "a column");
    require(std::isfinite(node.gain) && node.gain >= 0, "a gain");
    const std::size_t room = length(forest.child_start, tree) - used.child;
    require(node.first == used.child && node.branches >= 2 && node.branches <= room, "the branches of a node");
    double sum = 0;
    for (std::size_t i = 0; i < node.branches; ++i) {
        const double share = forest.share[forest.child_start[tree] + used.child + i];
        require(share >= 0 && share <= 1, "the share of a branch");
        sum += share;
    }
    require(std::fabs(sum - 1) < 1e-6, "the shares of a node");
    used.child += node.branches;
    const std::size_t codes = forest.categories[node.column];
    if (codes == 0) {
        require(node.branches == 2 && std::isfinite(node.threshold), "a threshold");
        return;
    }
    require(codes <= length(forest.route_start, tree) - used.route, "the route of a category");
    require(node.threshold == static_cast<double>(used.route), "the route of a category");
    for (std::size_t code = 0; code < codes; ++code) {
        const std::uint16_t branch = forest.route[forest.route_start[tree] + used.route + code];
        require(branch < node.branches || branch == C45Forest::kNoBranch, "the branch of a category");
    }
    used.route += codes;
}

void check_tree(const C45Forest& forest, std::size_t tree, std::vector<char>& seen_node, std::vector<char>& seen_leaf) {
    const std::size_t n = length(forest.node_start, tree), leaves = length(forest.leaf_start, tree);
    const std::size_t children = length(forest.child_start, tree), mixed = length(forest.share_start, tree);
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    require(leaves >= 1 && n < most && leaves < most && n + leaves == children + 1, "the size of a tree");
    seen_node.assign(n, 0);
    seen_leaf.assign(leaves, 0);
    Used used;
    for (std::size_t i = 0; i < n; ++i) {
        const C45Node& node = forest.nodes[forest.node_start[tree] + i];
        check_node(forest, tree, node, used);
        for (std::size_t branch = 0; branch < node.branches; ++branch) {
            const std::int32_t child = forest.child[forest.child_start[tree] + node.first + branch];
            if (child >= 0) {
                const auto number = static_cast<std::size_t>(child);
                require(number > i && number < n && !seen_node[number], "a child node");
                seen_node[number] = 1;
            } else {
                const auto number = static_cast<std::size_t>(~child);
                require(number < leaves && !seen_leaf[number], "a leaf");
                seen_leaf[number] = 1;
            }
        }
    }
    require(used.child == children && used.route == length(forest.route_start, tree), "the size of a tree");
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        const std::int32_t label = forest.leaf_label[forest.leaf_start[tree] + leaf];
        require(label >= 0 ? static_cast<std::uint32_t>(label) < forest.classes : static_cast<std::size_t>(~label) < mixed,
                "a leaf label");
    }
}

template <class T>
void add_slice(std::vector<T>& out, const std::vector<T>& from, std::size_t begin, std::size_t end) {
    out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
}

void add_starts(std::vector<std::uint64_t>& out, const std::vector<std::uint64_t>& from, std::size_t first, std::size_t last) {
    const std::uint64_t shift = out.back() - from[first];
    for (std::size_t tree = first; tree < last; ++tree) out.push_back(from[tree + 1] + shift);
}

// Adds the trees first .. last - 1 of another forest.
void add_trees(C45Forest& out, const C45Forest& from, std::size_t first, std::size_t last) {
    add_slice(out.nodes, from.nodes, from.node_start[first], from.node_start[last]);
    add_slice(out.child, from.child, from.child_start[first], from.child_start[last]);
    add_slice(out.share, from.share, from.child_start[first], from.child_start[last]);
    add_slice(out.route, from.route, from.route_start[first], from.route_start[last]);
    add_slice(out.leaf_label, from.leaf_label, from.leaf_start[first], from.leaf_start[last]);
    add_slice(out.share_label, from.share_label, from.share_start[first], from.share_start[last]);
    add_slice(out.shares, from.shares, from.share_start[first] * from.classes, from.share_start[last] * from.classes);
    add_starts(out.node_start, from.node_start, first, last);
    add_starts(out.child_start, from.child_start, first, last);
    add_starts(out.route_start, from.route_start, first, last);
    add_starts(out.leaf_start, from.leaf_start, first, last);
    add_starts(out.share_start, from.share_start, first, last);
}

}  // namespace

std::size_t C45Forest::bytes() const {
    const std::size_t starts = node_start.size() + child_start.size() + route_start.size() + leaf_start.size() + share_start.size();
    return nodes.size() * sizeof(C45Node) + (starts + share.size() + shares.size()) * 8 + route.size() * 2 +
           (child.size() + leaf_label.size() + share_label.size()) * 4;
}

void C45Forest::validate() const {
    require(categories.size() == columns, "categories");
    for (const std::uint32_t count : categories) require(count <= kMaxCategories, "categories");
    require(!node_start.empty(), "node_start");
    check_starts(node_start, trees(), nodes.size(), "node_start");
    check_starts(child_start, trees(), child.size(), "child_start");
    require(share.size() == child.size(), "share");
    check_starts(route_start, trees(), route.size(), "route_start");
    check_starts(leaf_start, trees(), leaf_label.size(), "leaf_start");
    check_starts(share_start, trees(), share_label.size(), "share_start");
    require(classes <= kMaxClasses && shares.size() == share_label.size() * classes, "shares");
    for (const double value : shares) require(value >= 0 && value <= 1 + 1e-6, "shares");
    for (const std::int32_t label : share_label)
        require(label >= 0 && static_cast<std::uint32_t>(label) < classes, "a leaf label");
    std::vector<char> seen_node, seen_leaf;
    for (std::size_t tree = 0; tree < trees(); ++tree) check_tree(*this, tree, seen_node, seen_leaf);
}

void C45Forest::append(const C45Forest& other) {
    if (&other == this) return append(C45Forest(other));
    if (other.columns != columns || other.classes != classes || other.categories != categories)
        throw std::invalid_argument("forests of different problems cannot be joined");
    add_trees(*this, other, 0, other.trees());
}

void C45Forest::reserve(double factor) {
    if (!(factor > 1 && factor < 1e6)) return;
    auto grow = [&](auto& values) { values.reserve(static_cast<std::size_t>(static_cast<double>(values.size()) * factor * 1.05)); };
    grow(nodes);
    grow(child);
    grow(share);
    grow(route);
    grow(leaf_label);
    grow(share_label);
    grow(shares);
}

C45Forest C45Forest::take(std::span<const std::int64_t> members) const {
    C45Forest out;
    out.columns = columns;
    out.classes = classes;
    out.categories = categories;
    for (const std::int64_t member : members) {
        if (member < 0 || static_cast<std::size_t>(member) >= trees())
            throw std::invalid_argument("there is no member " + std::to_string(member));
        add_trees(out, *this, static_cast<std::size_t>(member), static_cast<std::size_t>(member) + 1);
    }
    return out;
}

std::vector<std::int32_t> C45Forest::depths() const {
    std::vector<std::int32_t> out(trees(), 0), depth;
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        depth.assign(length(node_start, tree), 1);
        for (std::size_t i = 0; i < depth.size(); ++i) {
            const C45Node& node = nodes[node_start[tree] + i];
            out[tree] = std::max(out[tree], depth[i]);
            for (std::size_t branch = 0; branch < node.branches; ++branch) {
                const std::int32_t below = child[child_start[tree] + node.first + branch];
                if (below >= 0) depth[static_cast<std::size_t>(below)] = depth[i] + 1;
            }
        }
    }
    return out;
}

std::vector<double> C45Forest::importances() const {
    std::vector<double> out(trees() * columns, 0.0);
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        double* row = out.data() + tree * columns;
        double sum = 0;
        for (std::size_t i = node_start[tree]; i < node_start[tree + 1]; ++i) {
            row[nodes[i].column] += static_cast<double>(nodes[i].gain);
            sum += static_cast<double>(nodes[i].gain);
        }
        if (sum > 0)
            for (std::size_t c = 0; c < columns; ++c) row[c] /= sum;
    }
    return out;
}

}  // namespace conjunto
