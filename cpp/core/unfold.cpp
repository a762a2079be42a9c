#include "unfold.hpp"

#include <cmath>
#include <stdexcept>

namespace conjunto {

namespace {

// Calls visit(number, child, parent) for every node of a tree: the number of the walk, the child as its parent writes it.
template <class Visit>
void walk(const Forest& forest, std::size_t tree, Visit&& visit) {
    struct Step {
        std::int32_t child, parent;
    };
    const std::size_t first = forest.node_start[tree];
    std::vector<Step> stack{{forest.node_start[tree + 1] == first ? ~0 : 0, -1}};
    for (std::int32_t number = 0; !stack.empty(); ++number) {
        const Step step = stack.back();
        stack.pop_back();
        visit(number, step.child, step.parent);
        if (step.child < 0) continue;
        const Node& node = forest.nodes[first + static_cast<std::size_t>(step.child)];
        stack.push_back({node.right, number});
        stack.push_back({node.left, number});
    }
}

double class_impurity(const double* share, std::size_t classes, Criterion criterion) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) {
        if (criterion == Criterion::gini)
            sum += share[k] * share[k];
        else if (share[k] > 0)
            sum -= share[k] * std::log2(share[k]);
    }
    return criterion == Criterion::gini ? 1 - sum : sum;
}

// The node's value and impurity from those of its children.
void join(const Forest& forest, NodeTable& nodes, std::size_t at, Criterion criterion) {
    const auto l = static_cast<std::size_t>(nodes.left[at]), r = static_cast<std::size_t>(nodes.right[at]);
    const double left = nodes.weight[l], right = nodes.weight[r], both = left + right;
    nodes.rows[at] = nodes.rows[l] + nodes.rows[r];
    nodes.weight[at] = both;
    double* value = nodes.value.data() + at * nodes.width;
    for (std::size_t k = 0; k < nodes.width; ++k)
        value[k] = left / both * nodes.value[l * nodes.width + k] + right / both * nodes.value[r * nodes.width + k];
    if (forest.classes) {
        nodes.impurity[at] = class_impurity(value, forest.classes, criterion);
        return;
    }
    const double apart = nodes.value[l] - nodes.value[r];
    nodes.impurity[at] = left / both * nodes.impurity[l] + right / both * nodes.impurity[r] + left / both * (right / both) * apart * apart;
}

}  // namespace

NodeTable unfold(const Forest& forest, std::size_t tree, Criterion criterion) {
    if (tree >= forest.trees()) throw std::invalid_argument("there is no such tree");
    if ((criterion == Criterion::variance) != (forest.classes == 0))
        throw std::invalid_argument("the criterion does not fit the task");
    const std::size_t first_leaf = forest.leaf_start[tree];
    const std::size_t count = 2 * (forest.leaf_start[tree + 1] - first_leaf) - 1;
    NodeTable nodes;
    nodes.place.resize(count);
    nodes.left.assign(count, -1);
    nodes.right.assign(count, -1);
    nodes.rows.resize(count);
    nodes.weight.resize(count);
    nodes.impurity.resize(count);
    nodes.width = forest.classes ? forest.classes : 1;
    nodes.value.resize(count * nodes.width);
    walk(forest, tree, [&](std::int32_t number, std::int32_t child, std::int32_t parent) {
        nodes.place[number] = child;
        if (parent >= 0) (nodes.left[parent] < 0 ? nodes.left : nodes.right)[parent] = number;
    });
    const TreeUnits unit = forest.units[tree];
    for (std::size_t at = count; at-- > 0;) {
        if (nodes.place[at] >= 0) {
            join(forest, nodes, at, criterion);
            continue;
        }
        const std::size_t leaf = first_leaf + static_cast<std::size_t>(~nodes.place[at]);
        nodes.rows[at] = forest.leaf_size[leaf].rows;
        nodes.weight[at] = unit.weight * double(forest.leaf_size[leaf].weight);
        double* value = nodes.value.data() + at * nodes.width;
        if (forest.classes) {
            forest.shares_of(leaf, value);
            nodes.impurity[at] = class_impurity(value, forest.classes, criterion);
        } else {
            *value = forest.leaf_value[leaf];
            nodes.impurity[at] = unit.target * unit.target * forest.impurity_of(leaf);
        }
    }
    return nodes;
}

std::vector<std::int32_t> leaf_numbers(const Forest& forest) {
    std::vector<std::int32_t> numbers(forest.leaves());
    for (std::size_t tree = 0; tree < forest.trees(); ++tree)
        walk(forest, tree, [&](std::int32_t number, std::int32_t child, std::int32_t) {
            if (child < 0) numbers[forest.leaf_start[tree] + static_cast<std::size_t>(~child)] = number;
        });
    return numbers;
}

}  // namespace conjunto
