#include "unfold.hpp"

#include <cmath>
#include <numeric>

#include "check.hpp"
#include "data.hpp"

using namespace conjunto;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)); }

// The nodes that a row passes, by their number in the table.
std::vector<std::size_t> way(const Forest& forest, std::size_t tree, const NodeTable& nodes, const double* x) {
    std::vector<std::size_t> passed{0};
    while (nodes.place[passed.back()] >= 0) {
        const Node& node = forest.nodes[forest.node_start[tree] + static_cast<std::size_t>(nodes.place[passed.back()])];
        const auto& next = goes_left(forest, node, x) ? nodes.left : nodes.right;
        passed.push_back(static_cast<std::size_t>(next[passed.back()]));
    }
    return passed;
}

}  // namespace

// Counts, weights, values and impurities of every node are those of the rows that pass it.
TEST(nodes_tell_of_the_rows_that_pass_them) {
    for (const std::uint32_t classes : {0U, 2U, 3U}) {
        const Data data = make_data(150, 5, {.classes = std::max(classes, 2U), .missing = true, .category = true}, 3);
        GrowOptions options{.classes = classes, .max_features = 2, .min_rows_leaf = 3};
        options.criterion = classes ? Criterion::gini : Criterion::variance;
        const auto weights = bootstrap(4, data.rows, 5);
        const Forest forest = grow_trees(data, options, 4, weights);
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            const NodeTable nodes = unfold(forest, tree, options.criterion);
            const std::size_t count = nodes.place.size();
            std::vector<double> rows(count), weight(count), sum(count), square(count);
            std::vector<std::vector<double>> of_class(count, std::vector<double>(nodes.width));
            for (std::size_t row = 0; row < data.rows; ++row) {
                const double w = weights[tree * data.rows + row];
                if (w == 0) continue;
                std::vector<double> x(data.columns);
                for (std::size_t c = 0; c < data.columns; ++c) x[c] = data.x[row * data.columns + c];
                for (const std::size_t node : way(forest, tree, nodes, x.data())) {
                    rows[node] += 1;
                    weight[node] += w;
                    if (classes) {
                        of_class[node][static_cast<std::size_t>(data.labels[row])] += w;
                    } else {
                        sum[node] += w * data.targets[row];
                        square[node] += w * data.targets[row] * data.targets[row];
                    }
                }
            }
            for (std::size_t node = 0; node < count; ++node) {
                CHECK(rows[node] == nodes.rows[node] && near(weight[node], nodes.weight[node]));
                double impurity = 1;
                for (std::size_t k = 0; classes && k < classes; ++k) {
                    const double share = of_class[node][k] / weight[node];
                    CHECK(near(share, nodes.value[node * nodes.width + k]));
                    impurity -= share * share;
                }
                if (!classes) {
                    const double mean = sum[node] / weight[node];
                    CHECK(near(mean, nodes.value[node]));
                    impurity = square[node] / weight[node] - mean * mean;
                }
                CHECK(near(impurity, nodes.impurity[node]));
            }
        }
    }
}

TEST(leaves_are_numbered_as_a_walk_meets_them) {
    const Data data = make_data(120, 4, {.classes = 3}, 7);
    const Forest forest = grow_trees(data, GrowOptions{.classes = 3}, 3, bootstrap(3, data.rows, 8));
    const std::vector<std::int32_t> numbers = leaf_numbers(forest);
    for (std::size_t tree = 0; tree < 3; ++tree) {
        const NodeTable nodes = unfold(forest, tree, Criterion::gini);
        for (std::size_t node = 0; node < nodes.place.size(); ++node) {
            if (nodes.place[node] >= 0) {
                CHECK(nodes.left[node] == static_cast<std::int32_t>(node) + 1 && nodes.right[node] > nodes.left[node]);
            } else {
                const std::size_t leaf = forest.leaf_start[tree] + static_cast<std::size_t>(~nodes.place[node]);
                CHECK(numbers[leaf] == static_cast<std::int32_t>(node));
            }
        }
    }
}

// A random cut leaves rows on both sides, whatever the column holds, and is drawn from the stream of the tree.
TEST(random_cuts_leave_rows_on_both_sides) {
    const Data data = make_data(200, 4, {.classes = 2, .missing = true, .category = true}, 11);
    GrowOptions options{.classes = 2, .max_features = 2};
    options.random_cuts = true;
    const Forest forest = grow_trees(data, options, 6);
    forest.validate();
    for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
        const NodeTable nodes = unfold(forest, tree, Criterion::gini);
        for (std::size_t node = 0; node < nodes.place.size(); ++node) {
            CHECK(nodes.rows[node] > 0);
            if (nodes.place[node] < 0) continue;
            CHECK(nodes.rows[nodes.left[node]] > 0 && nodes.rows[nodes.right[node]] > 0);
        }
    }
    CHECK(!same_forest(forest, grow_trees(data, GrowOptions{.classes = 2, .max_features = 2}, 6)));
    CHECK(same_forest(forest, grow_trees(data, options, 6)));
}
