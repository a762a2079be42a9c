#include "grow.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"

using namespace conjunto;

namespace {

std::size_t leaves_of(const Forest& forest, std::size_t tree) {
    return forest.leaf_start[tree + 1] - forest.leaf_start[tree];
}

std::int32_t label_of(const Forest& forest, std::size_t tree, const double* x) {
    return forest.label(forest.leaf_start[tree] + leaf_of(forest, tree, x));
}

// Whether every search gives the same bytes.
bool searches_agree(const Data& data, GrowOptions options, std::size_t members = 2,
                    const std::vector<std::uint8_t>& small = {}, const std::vector<double>& real = {}) {
    options.search = Search::sorted;
    const Forest sorted = grow_trees(data, options, members, small, real);
    options.search = Search::no_vectors;
    const Forest plain = grow_trees(data, options, members, small, real);
    options.search = Search::automatic;
    return same_forest(sorted, plain) && same_forest(sorted, grow_trees(data, options, members, small, real));
}

// Rows in each leaf of a tree.
std::vector<std::size_t> leaf_rows(const Forest& forest, std::size_t tree, const Data& data) {
    std::vector<std::size_t> rows(leaves_of(forest, tree), 0);
    for (std::size_t row = 0; row < data.rows; ++row) ++rows[leaf_of(forest, tree, data.row(row))];
    return rows;
}

}  // namespace

TEST(xor_needs_two_levels) {
    Data data(4, 2);
    for (std::size_t row = 0; row < 4; ++row) {
        data.at(row, 0) = static_cast<double>(row / 2);
        data.at(row, 1) = static_cast<double>(row % 2);
        data.labels[row] = static_cast<std::int32_t>((row / 2) ^ (row % 2));
        data.targets[row] = data.labels[row];
    }
    for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
        const Forest forest = grow_trees(data, {.criterion = criterion, .classes = 2});
        CHECK(leaves_of(forest, 0) == 4 && forest.depths()[0] == 2);
        for (std::size_t row = 0; row < 4; ++row) CHECK(label_of(forest, 0, data.row(row)) == data.labels[row]);
        CHECK(forest.nodes[0].threshold == 0.5);
    }
    const Forest forest = grow_trees(data, {.classes = 0});
    for (std::size_t row = 0; row < 4; ++row)
        CHECK(forest.leaf_value[leaf_of(forest, 0, data.row(row))] == data.targets[row]);
}

TEST(a_pure_root_is_a_leaf) {
    Data data = make_data(50, 3, {}, 1);
    std::fill(data.labels.begin(), data.labels.end(), 1);
    std::fill(data.targets.begin(), data.targets.end(), 2.7);
    const Forest forest = grow_trees(data, {.classes = 3});
    CHECK(forest.nodes.empty() && forest.leaf_label == std::vector<std::int32_t>{1});
    CHECK(grow_trees(data, {.classes = 0}).leaf_value == std::vector<double>{2.7});
}

TEST(duplicates_share_a_leaf) {
    Data data(30, 2);
    for (std::size_t row = 0; row < 30; ++row) {
        data.at(row, 0) = data.at(row, 1) = static_cast<double>(row % 2);
        data.labels[row] = row % 2 == 0 ? 0 : row % 3 == 0 ? 1 : 2;
        data.targets[row] = static_cast<double>(row % 3);
    }
    const Forest forest = grow_trees(data, {.classes = 3});
    CHECK(leaves_of(forest, 0) == 2 && forest.share_label == std::vector<std::int32_t>{2});
    CHECK(forest.shares == std::vector<double>{0, 5.0 / 15, 10.0 / 15});
    CHECK(leaves_of(grow_trees(data, {.classes = 0}), 0) <= 2);
    Data constant(10, 1);
    for (std::size_t row = 0; row < 10; ++row) constant.labels[row] = row < 4;
    CHECK(grow_trees(constant, {.classes = 2}).label(0) == 0);
}

TEST(a_full_tree_knows_its_training_rows) {
    for (const std::size_t n : {20, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U, 9U}) {
            const Data data = make_data(n, 4, {.classes = classes}, static_cast<unsigned>(n));
            const Forest forest = grow_trees(data, {.classes = classes, .max_features = 2}, 2);
            for (std::size_t row = 0; row < n; ++row)
                for (const std::size_t tree : {0, 1}) {
                    if (classes)
                        CHECK(label_of(forest, tree, data.row(row)) == data.labels[row]);
                    else
                        CHECK(forest.leaf_value[forest.leaf_start[tree] + leaf_of(forest, tree, data.row(row))] ==
                              data.targets[row]);
                }
        }
}

TEST(best_first_growth_stops_at_so_many_leaves) {
    const Data data = make_data(400, 4, {.classes = 3}, 2);
    const std::size_t full = leaves_of(grow_trees(data, {.classes = 3}), 0);
    double gain = 0;
    for (const std::uint32_t leaves : {1U, 2U, 3U, 10U, 50U, 100000U}) {
        const Forest forest = grow_trees(data, {.classes = 3, .max_leaves = leaves});
        forest.validate();
        CHECK(leaves_of(forest, 0) == std::min<std::size_t>(leaves, full));
        double sum = 0;
        for (const Node& node : forest.nodes) sum += node.gain;
        CHECK(sum >= gain);
        gain = sum;
    }
}

TEST(limits_are_kept) {
    for (const std::size_t n : {100, 1500})
        for (const std::uint32_t classes : {0U, 2U, 3U}) {
            const Data data = make_data(n, 4, {.classes = classes}, 3);
            for (const std::uint32_t depth : {0U, 1U, 3U}) {
                const Forest forest = grow_trees(data, {.classes = classes, .max_depth = depth});
                CHECK(forest.depths()[0] == static_cast<std::int32_t>(depth));
            }
            const Forest large = grow_trees(data, {.classes = classes, .min_rows_leaf = 7});
            for (const std::size_t rows : leaf_rows(large, 0, data)) CHECK(rows >= 7);
            // A bound of the depth, lest a cut that moves nothing be made forever.
            const GrowOptions heavy{.classes = classes, .max_depth = 12, .min_weight_share_leaf = 0.03};
            const Forest weighty = grow_trees(data, heavy);
            for (const std::size_t rows : leaf_rows(weighty, 0, data)) CHECK(rows >= 0.03 * static_cast<double>(n));
            const Forest useful = grow_trees(data, {.classes = classes, .min_decrease = 0.01});
            CHECK(leaves_of(useful, 0) < leaves_of(grow_trees(data, {.classes = classes}), 0));
            // In regression gains are in a unit of the tree's own.
            if (classes > 0)
                for (const Node& node : useful.nodes) CHECK(node.gain >= 0.0099F);
            const Forest forest = grow_trees(data, {.classes = classes, .min_rows_split = 20});
            CHECK(leaves_of(forest, 0) < leaves_of(grow_trees(data, {.classes = classes}), 0));
        }
}

// The lists and lanes serve up to 512 rows, the histograms more.
TEST(searches_agree_on_plain_columns) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U, 9U})
            for (const unsigned values : {0U, 6U}) {
                const Data data = make_data(n, 11, {.classes = classes, .values = values}, static_cast<unsigned>(n));
                CHECK(searches_agree(data, {.classes = classes}));
                CHECK(searches_agree(data, {.classes = classes}, 2, bootstrap(2, n, 4)));
                CHECK(searches_agree(data, {.classes = classes, .max_leaves = 12}, 2, bootstrap(2, n, 4)));
            }
}

TEST(searches_agree_on_some_of_the_columns) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const unsigned values : {0U, 6U}) {
                const Data data = make_data(n, 11, {.classes = classes, .values = values}, static_cast<unsigned>(n));
                CHECK(searches_agree(data, {.classes = classes, .max_features = 3}, 2, bootstrap(2, n, 4)));
            }
}

TEST(searches_agree_on_real_weights) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U}) {
            const Data data = make_data(n, 5, {.classes = classes, .values = 600}, static_cast<unsigned>(n));
            std::vector<double> weights(n);
            for (std::size_t row = 0; row < n; ++row) weights[row] = static_cast<double>(row * 7 % 5) / 4;
            CHECK(searches_agree(data, {.classes = classes}, 1, {}, weights));
        }
}

TEST(searches_agree_on_least_rows_of_a_leaf) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const std::uint32_t least : {2U, 5U, 9U}) {
                const Data data = make_data(n, 6, {.classes = classes}, static_cast<unsigned>(n));
                CHECK(searches_agree(data, {.classes = classes, .min_rows_leaf = least}, 2, bootstrap(2, n, 4)));
            }
}

// 1024 rows in 256 bins of 4. The best cut is behind row 3, the best of those allowed behind row 5: inside a bin of
// one class, where without limits no cut would be worth a look.
TEST(searches_agree_on_limits_inside_a_pure_bin) {
    Data data(1024, 1);
    for (std::size_t row = 0; row < 1024; ++row) {
        data.at(row, 0) = static_cast<double>(row);
        data.labels[row] = row < 4 || (row > 8 && row % 16 == 8);
    }
    for (const std::uint32_t classes : {2U, 3U}) {
        GrowOptions options{.classes = classes, .max_depth = 1, .min_rows_leaf = 6};
        CHECK(grow_trees(data, options).nodes[0].threshold == 5.5);
        CHECK(searches_agree(data, options));
        options.min_rows_leaf = 1;
        options.min_weight_share_leaf = 6.0 / 1024;
        CHECK(searches_agree(data, options));
    }
}

TEST(searches_agree_on_least_weight_of_a_leaf) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const double share : {0.01, 0.1}) {
                const Data data = make_data(n, 6, {.classes = classes, .values = 50}, static_cast<unsigned>(n));
                const GrowOptions options{.classes = classes, .max_depth = 12, .min_weight_share_leaf = share};
                CHECK(searches_agree(data, options, 2, bootstrap(2, n, 4)));
            }
}

TEST(searches_agree_on_missing_values_and_categories) {
    for (const std::size_t n : {40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const std::uint32_t features : {3U, 100U}) {
                const Kind kind{.classes = classes, .values = 8, .missing = true, .category = true};
                const Data data = make_data(n, 9, kind, static_cast<unsigned>(n));
                CHECK(searches_agree(data, {.classes = classes, .max_features = features}, 4, bootstrap(4, n, 4)));
            }
}

// Few values, many classes, missing values, categories: by counts, lanes and bins, with limits and without.
TEST(searches_agree_on_users_tables) {
    for (const std::size_t n : {50, 400, 1200, 5000})
        for (const std::uint32_t classes : {2U, 3U, 11U, 100U})
            for (const unsigned values : {2U, 16U, 255U, 256U, 700U}) {
                const Kind kind{.classes = classes, .values = values, .missing = true, .category = true};
                const Data data = make_data(n, 9, kind, static_cast<unsigned>(n) + classes);
                const std::vector<std::uint8_t> weights = bootstrap(2, n, 4);
                CHECK(searches_agree(data, {.classes = classes, .max_features = 3}, 2, weights));
                CHECK(searches_agree(data, {.classes = classes, .max_features = 3, .min_rows_leaf = 4}, 2, weights));
                if (n <= 1200) CHECK(searches_agree(data, {.classes = classes}, 1, weights));
                if (n <= 1200) CHECK(searches_agree(data, {.classes = classes, .max_features = 3, .max_leaves = 30}, 2, weights));
                if (values == 16 && n <= 1200) CHECK(searches_agree(data, {.criterion = Criterion::entropy, .classes = classes, .max_features = 3}, 1, weights));
            }
}

// Columns of one value, constant in all of the table or below a cut, are left out without a trace.
TEST(constant_columns_do_not_count) {
    for (const std::uint32_t classes : {2U, 5U}) {
        Data data = make_data(600, 12, {.classes = classes, .values = 3}, 17);
        for (std::size_t row = 0; row < 600; ++row)
            for (std::size_t c = 4; c < 12; ++c) data.at(row, c) = c == 4 || data.at(row, 0) > 0.5 ? 7 : data.at(row, c);
        CHECK(searches_agree(data, {.classes = classes, .max_features = 2}, 6, bootstrap(6, 600, 4)));
        CHECK(searches_agree(data, {.classes = classes}, 2, bootstrap(2, 600, 4)));
        const Forest forest = grow_trees(data, {.classes = classes, .max_features = 2}, 6, bootstrap(6, 600, 4));
        for (const Node& node : forest.nodes) CHECK(node.index() != 4);
    }
}

// A category that says the same as a numeric column: the one tried first must win whatever the search.
TEST(searches_agree_on_equal_columns_of_different_kinds) {
    Data data(40, 2);
    data.categories[1] = 2;
    for (std::size_t row = 0; row < 40; ++row) {
        data.at(row, 0) = data.at(row, 1) = static_cast<double>(row % 2);
        data.labels[row] = row % 2 || row % 5 == 0;
    }
    CHECK(searches_agree(data, {.classes = 2}, 10));
}

TEST(the_kernels_do_not_matter) {
    for (const std::uint32_t classes : {0U, 2U, 5U})
        for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
            const Data data = make_data(900, 10, {.classes = classes, .missing = true, .category = true}, 5);
            GrowOptions options{.criterion = criterion, .classes = classes, .max_features = 3};
            const Forest vectors = grow_trees(data, options, 3, bootstrap(3, 900, 6));
            options.search = Search::no_vectors;
            CHECK(same_forest(vectors, grow_trees(data, options, 3, bootstrap(3, 900, 6))));
        }
}

TEST(threads_do_not_matter) {
    for (const std::uint32_t classes : {0U, 3U})
        for (const std::uint32_t combination : {0U, 2U}) {
            const Data data = make_data(300, 6, {.classes = classes, .missing = true, .category = true}, 7);
            GrowOptions options{.classes = classes, .max_features = 2, .combination = combination};
            const Forest one = grow_trees(data, options, 8, bootstrap(8, 300, 7));
            options.threads = 3;
            CHECK(same_forest(one, grow_trees(data, options, 8, bootstrap(8, 300, 7))));
        }
}

TEST(a_weight_counts_as_so_many_rows) {
    const Data data = make_data(200, 4, {.classes = 3}, 8);
    const std::vector<std::uint8_t> weights = bootstrap(1, 200, 8);
    const std::vector<double> real(weights.begin(), weights.end());
    Data repeated(200, 4);
    std::size_t at = 0;
    for (std::size_t row = 0; row < 200; ++row)
        for (int copy = 0; copy < weights[row]; ++copy, ++at) {
            std::copy_n(data.row(row), 4, &repeated.at(at, 0));
            repeated.labels[at] = data.labels[row];
            repeated.targets[at] = data.targets[row];
        }
    CHECK(at == 200);
    for (const std::uint32_t classes : {0U, 3U}) {
        const Forest small = grow_trees(data, {.classes = classes}, 1, weights);
        CHECK(same_forest(small, grow_trees(data, {.classes = classes}, 1, {}, real)));
        const Forest rows = grow_trees(repeated, {.classes = classes});
        for (std::size_t row = 0; row < 200; ++row)
            CHECK(leaf_of(small, 0, data.row(row)) == leaf_of(rows, 0, data.row(row)));
    }
}

TEST(a_member_without_rows_is_refused) {
    const Data data = make_data(10, 2, {}, 9);
    for (const std::size_t threads : {1, 2})
        CHECK_THROWS(grow_trees(data, {.classes = 2, .threads = threads}, 3, std::vector<std::uint8_t>(30, 0)),
                     std::invalid_argument);
}

TEST(combinations_split_what_single_columns_cannot) {
    Data data(200, 2);
    std::mt19937_64 random(10);
    for (std::size_t row = 0; row < 200; ++row) {
        for (const std::size_t c : {0, 1}) data.at(row, c) = static_cast<double>(random() % 1000) / 1000;
        data.labels[row] = data.at(row, 0) > data.at(row, 1);
    }
    const Forest forest = grow_trees(data, {.classes = 2, .max_features = 50, .combination = 2});
    forest.validate();
    CHECK(leaves_of(forest, 0) < leaves_of(grow_trees(data, {.classes = 2}), 0));
    for (std::size_t row = 0; row < 200; ++row) CHECK(label_of(forest, 0, data.row(row)) == data.labels[row]);
}

TEST(combinations_of_huge_values_are_valid) {
    Data data(60, 3);
    for (std::size_t row = 0; row < 60; ++row) {
        for (const std::size_t c : {0, 1, 2})
            data.at(row, c) = (row * (c + 3) % 7 < 3 ? -1.7e308 : 1.7e308) / static_cast<double>(1 + row % 4);
        data.labels[row] = row * row % 3 == 1;
    }
    grow_trees(data, {.classes = 2, .max_features = 3, .combination = 3}, 5).validate();
}

TEST(k_best_chooses_among_good_splits) {
    const Data data = make_data(300, 6, {.classes = 2}, 11);
    const Forest forest = grow_trees(data, {.classes = 2, .k_best = 20}, 10);
    forest.validate();
    bool differ = false;
    for (std::size_t tree = 1; tree < 10; ++tree)
        differ |= forest.nodes[forest.node_start[tree]].threshold != forest.nodes[0].threshold;
    CHECK(differ);
    for (std::size_t row = 0; row < 300; ++row) CHECK(label_of(forest, 9, data.row(row)) == data.labels[row]);
}

// Labels that alternate: each split takes one row away, and nothing may recurse.
TEST(a_chain_of_great_depth) {
    const std::size_t n = 2000;
    Data data(n, 1);
    for (std::size_t row = 0; row < n; ++row) {
        data.at(row, 0) = static_cast<double>(row);
        data.labels[row] = static_cast<std::int32_t>(row % 2);
    }
    for (const std::uint32_t max_leaves : {0U, 100000U}) {
        const Forest forest = grow_trees(data, {.classes = 2, .max_leaves = max_leaves});
        forest.validate();
        CHECK(forest.depths()[0] == static_cast<std::int32_t>(n) - 1);
        CHECK(leaves_of(forest, 0) == n);
        for (std::size_t row = 0; row < n; ++row) CHECK(label_of(forest, 0, data.row(row)) == data.labels[row]);
    }
}

// A power of two as the unit of the targets changes no digit of the tree.
TEST(the_unit_of_the_targets_does_not_matter) {
    Data data = make_data(200, 4, {.classes = 0}, 12);
    const Forest forest = grow_trees(data, {.classes = 0});
    for (const int power : {100, -100}) {
        Data scaled = data;
        for (double& target : scaled.targets) target = std::ldexp(target, power);
        const Forest other = grow_trees(scaled, {.classes = 0});
        CHECK(other.leaves() == forest.leaves());
        CHECK(other.importances() == forest.importances());
    }
}

TEST(weights_of_any_size_give_finite_gains) {
    Data data(6, 1);
    for (std::size_t row = 0; row < 6; ++row) {
        data.at(row, 0) = static_cast<double>(row);
        data.labels[row] = static_cast<std::int32_t>(row % 2);
        data.targets[row] = static_cast<double>(row % 2);
    }
    for (const std::uint32_t classes : {0U, 2U, 3U})
        for (const Node& node : grow_trees(data, {.classes = classes}, 1, {}, {1e17, 1, 1e17, 1, 1, 3}).nodes)
            CHECK(std::isfinite(node.gain));
}
