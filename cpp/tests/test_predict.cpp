#include "predict.hpp"

#include "check.hpp"
#include "data.hpp"

using namespace conjunto;

namespace {

// Every way to ask, compared with walking the trees by goes_left.
void check_predictions(const Forest& forest, const Data& data, std::size_t rows) {
    const std::size_t trees = forest.trees(), classes = forest.classes;
    const Rows x{data.x.data(), rows, data.columns};
    std::vector<std::int32_t> leaves(rows * trees), labels(rows * trees);
    std::vector<double> counts(rows * classes, 0.0), shares(rows * classes, 0.0), values(rows * trees), sums(rows, 0.0);
    // What leaves are worth: any numbers, each in a column of its own choice or a row of them.
    constexpr std::size_t width = 3;
    std::vector<double> worth(forest.leaves() * width), leaf_sum(rows * width, 0.0), row_sum(rows * width, 0.0);
    std::vector<std::int32_t> column(forest.leaves());
    for (std::size_t i = 0; i < worth.size(); ++i) worth[i] = std::sin(static_cast<double>(i + 1));
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<std::int32_t>(i * i % width);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t tree = 0; tree < trees; ++tree) {
            const std::size_t leaf = leaf_of(forest, tree, data.row(row)), number = forest.leaf_start[tree] + leaf;
            leaves[row * trees + tree] = static_cast<std::int32_t>(leaf);
            leaf_sum[row * width + static_cast<std::size_t>(column[number])] += worth[number];
            for (std::size_t k = 0; k < width; ++k) row_sum[row * width + k] += worth[number * width + k];
            if (classes) {
                const std::int32_t stored = forest.leaf_label[number], label = forest.label(number);
                labels[tree * rows + row] = label;
                counts[row * classes + static_cast<std::size_t>(label)] += 1;
                for (std::size_t k = 0; k < classes; ++k) {
                    const double pure = stored == static_cast<std::int32_t>(k);
                    shares[row * classes + k] +=
                        stored < 0 ? forest.shares[static_cast<std::size_t>(~stored) * classes + k] : pure;
                }
            } else {
                values[tree * rows + row] = forest.leaf_value[number];
                sums[row] += forest.leaf_value[number];
            }
        }
    // The same rows, column by column.
    std::vector<double> columns(rows * data.columns);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t c = 0; c < data.columns; ++c) columns[c * rows + row] = data.row(row)[c];
    const Rows by_columns{columns.data(), rows, data.columns, 1, static_cast<std::ptrdiff_t>(rows)};
    for (const std::size_t threads : {1, 3}) {
        std::vector<std::int32_t> words(rows * trees, -1);
        member_leaves(forest, by_columns, words.data(), threads);
        CHECK(words == leaves);
        member_leaves(forest, x, words.data(), threads);
        CHECK(words == leaves);
        std::vector<double> wide(rows * width, -1.0);
        leaf_sums(forest, x, worth.data(), column.data(), width, wide.data(), threads);
        CHECK(wide == leaf_sum);
        leaf_row_sums(forest, x, worth.data(), width, wide.data(), threads);
        CHECK(wide == row_sum);
        if (classes) {
            member_labels(forest, x, words.data(), threads);
            CHECK(words == labels);
            std::vector<double> out(rows * classes, -1.0);
            vote_counts(forest, x, out.data(), threads);
            CHECK(out == counts);
            share_sums(forest, x, out.data(), threads);
            CHECK(out == shares);
        } else {
            std::vector<double> out(rows * trees, -1.0);
            member_values(forest, x, out.data(), threads);
            CHECK(out == values);
            out.assign(rows, -1.0);
            value_sums(forest, x, out.data(), threads);
            CHECK(out == sums);
        }
    }
}

// Below 8 rows trees are walked in step, from 256 rows small trees are evaluated by code, else rows are walked.
constexpr std::size_t kSizes[] = {0, 1, 7, 8, 13, 255, 256, 257, 600};

}  // namespace

TEST(small_trees) {
    for (const std::uint32_t classes : {0U, 2U, 3U, 20U}) {
        const Data data = make_data(600, 5, {.classes = classes}, classes);
        const Forest forest = grow_trees(data, {.classes = classes, .max_features = 2, .max_depth = 4}, 11);
        for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
    }
}

TEST(large_trees) {
    for (const std::uint32_t classes : {0U, 3U}) {
        const Data data = make_data(600, 5, {.classes = classes}, classes);
        const Forest forest = grow_trees(data, {.classes = classes, .max_features = 2}, 4);
        if (!classes) CHECK(forest.nodes.size() > 160 * forest.trees());
        for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
    }
}

TEST(values_that_equal_a_threshold_go_left) {
    // Half of the values lie on a threshold of a tree grown on the others.
    Data data = make_data(600, 2, {.classes = 2, .values = 16}, 5);
    const Forest forest = grow_trees(data, {.classes = 2, .max_depth = 5}, 3);
    for (double& value : data.x) value -= std::fmod(value * 32, 2) < 1 ? 1.0 / 32 : 0;
    for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
}

TEST(missing_values_categories_and_combinations) {
    for (const std::uint32_t classes : {0U, 3U})
        for (const std::uint32_t combination : {0U, 3U}) {
            Data data = make_data(600, 7, {.classes = classes, .missing = true, .category = true}, classes);
            const Forest forest = grow_trees(
                data, {.classes = classes, .max_features = 3, .combination = combination, .min_rows_leaf = 4}, 9);
            for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
            // Values that training has not seen: any column may lack a value, any category be unknown.
            for (std::size_t row = 0; row < data.rows; ++row) {
                data.at(row, row % 7) = std::nan("");
                for (const std::size_t c : {2, 5})
                    if (row % 3 == 0) data.at(row, c) = row % 2 ? 1000.0 : -1.0;
            }
            for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
        }
}

TEST(missing_values_in_a_forest_of_plain_tests) {
    Data data = make_data(600, 4, {.classes = 2}, 6);
    const Forest forest = grow_trees(data, {.classes = 2, .max_depth = 4}, 9);
    data.at(599, 3) = std::nan("");
    data.at(0, 0) = std::nan("");
    for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
}

TEST(infinite_values_are_larger_than_all_others) {
    Data data = make_data(600, 4, {.classes = 2}, 7);
    const Forest forest = grow_trees(data, {.classes = 2, .max_depth = 4}, 3);
    for (std::size_t row = 0; row < data.rows; ++row) data.at(row, row % 4) = row % 8 < 4 ? INFINITY : -INFINITY;
    for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
}

TEST(single_leaves_and_no_trees) {
    for (const std::uint32_t classes : {0U, 3U}) {
        Data data = make_data(600, 3, {.classes = classes}, 8);
        Forest forest = grow_trees(data, {.classes = classes, .max_depth = 0}, 10);
        CHECK(forest.nodes.empty());
        for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
        forest.append(grow_trees(data, {.classes = classes, .max_depth = 2}, 2));
        forest = forest.take(std::vector<std::int64_t>{0, 11, 3, 10, 4});
        for (const std::size_t rows : kSizes) check_predictions(forest, data, rows);
        for (const std::size_t rows : kSizes) check_predictions(forest.take({}), data, rows);
    }
}

TEST(more_rows_than_a_chunk) {
    const Data data = make_data(9000, 3, {.classes = 2}, 9);
    check_predictions(grow_trees(data, {.classes = 2, .max_depth = 3}, 2), data, 9000);
    check_predictions(grow_trees(data, {.classes = 2, .min_rows_leaf = 10}, 2), data, 9000);
}

// Categories as bits of a word and of several, missing and unknown values on both sides, columns nobody asks for: the
// coded form, which the forest keeps from the first large prediction on, answers as a walk by hand does.
TEST(the_coded_form_answers_as_a_walk_by_hand) {
    std::mt19937_64 random(21);
    for (const bool missing : {false, true})
        for (const bool category : {false, true})
            for (const std::uint32_t widest : {40U, 63U, 64U, 256U}) {
                const std::size_t n = 1500, m = 9;
                Data data = make_data(n, m, {.classes = 4, .missing = missing, .category = category}, 31);
                for (std::size_t c = 0; c < m; ++c) {
                    if (data.categories[c] != 40) continue;
                    data.categories[c] = widest;
                    for (std::size_t row = 0; row < n; ++row)
                        if (!std::isnan(data.at(row, c))) data.at(row, c) = static_cast<double>(random() % widest);
                }
                const Forest forest = grow_trees(data, {.classes = 4, .max_features = 3}, 7, bootstrap(7, n, 5));
                Data asked = make_data(n, m, {.classes = 4, .missing = missing, .category = category}, 32);
                for (std::size_t c = 0; category && c < m; ++c)
                    for (std::size_t row = 0; data.categories[c] && row < n; ++row)
                        asked.at(row, c) = row % 11 == 0   ? std::numeric_limits<double>::quiet_NaN()
                                           : row % 13 == 0 ? static_cast<double>(data.categories[c]) + 5
                                                           : static_cast<double>(random() % data.categories[c]);
                std::vector<std::int32_t> leaves(n * 7);
                for (const std::size_t threads : {1, 1, 1, 3}) {
                    member_leaves(forest, {asked.x.data(), n, asked.columns}, leaves.data(), threads);
                    for (std::size_t row = 0; row < n; ++row)
                        for (std::size_t tree = 0; tree < 7; ++tree)
                            CHECK(static_cast<std::size_t>(leaves[row * 7 + tree]) == leaf_of(forest, tree, asked.row(row)));
                }
                CHECK(forest.coded.bytes() > 0);
                const Forest copy = forest;
                CHECK(copy.coded.bytes() == 0);
                // What was made of a forest is not used for a larger one.
                Forest larger = forest;
                member_leaves(larger, {asked.x.data(), n, asked.columns}, leaves.data(), 1);
                larger.append(forest);
                std::vector<std::int32_t> twice(n * 14);
                member_leaves(larger, {asked.x.data(), n, asked.columns}, twice.data(), 1);
                for (std::size_t row = 0; row < n; ++row) CHECK(twice[row * 14] == leaves[row * 7] && twice[row * 14 + 13] == leaves[row * 7 + 6]);
            }
}
