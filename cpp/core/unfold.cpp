#include "unfold.hpp"

#include <algorithm>
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

// The mean over the targets of the impurity of class shares.
double shares_impurity(const Forest& forest, const double* share, Criterion criterion) {
    if (!forest.several()) return class_impurity(share, forest.classes, 1, criterion);
    double sum = 0;
    for (const std::uint32_t classes : forest.outputs) {
        sum += class_impurity(share, classes, 1, criterion);
        share += classes;
    }
    return sum / static_cast<double>(forest.targets());
}

// What a cut decreases the impurity of values by, from the means on both sides (shares of weight l and r).
double decrease_of_means(double left, double right, double l, double r, Criterion criterion) {
    if (criterion == Criterion::variance) return l * r * (left - right) * (left - right);
    const double mean = l * left + r * right;
    const auto part = [](double share, double value) { return value > 0 ? share * value * std::log(value) : 0.0; };
    return part(l, left) + part(r, right) - part(1, mean);
}

// The node's value and impurity from those of its children. `gain` is what its cut decreases the weighted impurity by.
void join(const Forest& forest, std::size_t node, NodeTable& nodes, std::size_t at, Criterion criterion, double gain) {
    const auto l = static_cast<std::size_t>(nodes.left[at]), r = static_cast<std::size_t>(nodes.right[at]);
    const double both = nodes.weight[l] + nodes.weight[r], left = nodes.weight[l] / both, right = nodes.weight[r] / both;
    nodes.rows[at] = nodes.rows[l] + nodes.rows[r];
    nodes.weight[at] = both;
    double* value = nodes.value.data() + at * nodes.width;
    const double *of_left = nodes.value.data() + l * nodes.width, *of_right = nodes.value.data() + r * nodes.width;
    for (std::size_t k = 0; k < nodes.width; ++k) value[k] = left * of_left[k] + right * of_right[k];
    if (forest.classes) {
        nodes.impurity[at] = shares_impurity(forest, value, criterion);
        return;
    }
    double decrease = 0;
    if (!forest.inner_value.empty()) {
        std::copy_n(forest.inner_value.data() + node * nodes.width, nodes.width, value);
        decrease = gain / both;
    } else {
        for (std::size_t o = 0; o < nodes.width; ++o) decrease += decrease_of_means(of_left[o], of_right[o], left, right, criterion);
        decrease /= static_cast<double>(nodes.width);
    }
    nodes.impurity[at] = left * nodes.impurity[l] + right * nodes.impurity[r] + decrease;
}

}  // namespace

double class_impurity(const double* weight, std::size_t classes, double total, Criterion criterion) {
    double sum = 0, most = 0;
    for (std::size_t k = 0; k < classes; ++k) {
        const double share = weight[k] / total;
        most = std::fmax(most, share);
        if (criterion == Criterion::gini)
            sum += share * share;
        else if (criterion == Criterion::entropy && share > 0)
            sum -= share * std::log2(share);
    }
    return criterion == Criterion::misclassification ? 1 - most : criterion == Criterion::gini ? 1 - sum : sum;
}

NodeTable unfold(const Forest& forest, std::size_t tree, Criterion criterion) {
    if (tree >= forest.trees()) throw std::invalid_argument("there is no such tree");
    if (for_classes(criterion) != (forest.classes > 0))
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
    nodes.width = forest.classes ? forest.classes : forest.targets();
    nodes.value.resize(count * nodes.width);
    walk(forest, tree, [&](std::int32_t number, std::int32_t child, std::int32_t parent) {
        nodes.place[number] = child;
        if (parent >= 0) (nodes.left[parent] < 0 ? nodes.left : nodes.right)[parent] = number;
    });
    const TreeUnits unit = forest.units[tree];
    const double of_impurity = criterion == Criterion::variance ? unit.target * unit.target : unit.target;
    double whole = 0;
    for (std::size_t leaf = first_leaf; leaf < forest.leaf_start[tree + 1]; ++leaf) whole += unit.weight * double(forest.leaf_size[leaf].weight);
    for (std::size_t at = count; at-- > 0;) {
        if (nodes.place[at] >= 0) {
            const std::size_t node = forest.node_start[tree] + static_cast<std::size_t>(nodes.place[at]);
            join(forest, node, nodes, at, criterion, double(forest.nodes[node].gain) * whole * of_impurity);
            continue;
        }
        const std::size_t leaf = first_leaf + static_cast<std::size_t>(~nodes.place[at]);
        nodes.rows[at] = forest.leaf_size[leaf].rows;
        nodes.weight[at] = unit.weight * double(forest.leaf_size[leaf].weight);
        double* value = nodes.value.data() + at * nodes.width;
        if (forest.classes) {
            forest.shares_of(leaf, value);
            nodes.impurity[at] = shares_impurity(forest, value, criterion);
        } else {
            std::copy_n(forest.leaf_value.data() + leaf * nodes.width, nodes.width, value);
            nodes.impurity[at] = of_impurity * forest.impurity_of(leaf);
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
