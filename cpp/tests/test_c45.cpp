// C4.5 at the edges; tests/learners/test_c45.py compares whole trees with a plain program.
#include "c45.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"

namespace conjunto {

namespace {

C45Forest grow_c45_trees(const Data& data, const C45Options& options, std::size_t members = 1,
                         const std::vector<std::uint8_t>& small = {}, const std::vector<double>& real = {}) {
    Views views;
    views.members = members;
    views.labels = data.labels.data();
    if (!small.empty()) views.small_weights = small.data();
    if (!real.empty()) views.weights = real.data();
    const Table table = data.table();
    C45Forest forest = grow_c45(table, views, options);
    forest.validate();
    return forest;
}

// Splits everything that can be split.
C45Options full(std::uint32_t classes) {
    return {.classes = classes, .mdl = false, .min_objects = 1, .prune = false, .collapse = false};
}

std::vector<std::int32_t> labels_of(const C45Forest& forest, const Data& data) {
    std::vector<std::int32_t> out(forest.trees() * data.rows);
    member_labels(forest, {data.x.data(), data.rows, data.columns}, out.data(), 1);
    return out;
}

std::vector<double> shares_of(const C45Forest& forest, const std::vector<double>& x) {
    std::vector<double> out(x.size() / forest.columns * forest.classes, -1.0);
    share_sums(forest, {x.data(), x.size() / forest.columns, forest.columns}, out.data(), 1);
    return out;
}

bool same(const C45Forest& a, const C45Forest& b) {
    return a.columns == b.columns && a.classes == b.classes && a.categories == b.categories &&
           same_bytes(a.nodes, b.nodes) && a.child == b.child && same_bytes(a.share, b.share) && a.route == b.route &&
           a.leaf_label == b.leaf_label && a.share_label == b.share_label && same_bytes(a.shares, b.shares) &&
           a.node_start == b.node_start && a.child_start == b.child_start && a.route_start == b.route_start &&
           a.leaf_start == b.leaf_start && a.share_start == b.share_start;
}

}  // namespace

TEST(one_row_is_one_leaf) {
    Data data(1, 2);
    data.labels = {1};
    data.at(0, 1) = std::nan("");
    const C45Forest forest = grow_c45_trees(data, {.classes = 3});
    CHECK(forest.nodes.empty() && forest.leaf_label == std::vector<std::int32_t>{1});
    CHECK(forest.depths() == std::vector<std::int32_t>{0} && forest.importances() == std::vector<double>{0, 0});
    CHECK(shares_of(forest, {5, 5, std::nan(""), 0}) == std::vector<double>{0, 1, 0, 0, 1, 0});
}

TEST(one_class_is_one_leaf) {
    Data data = make_data(50, 3, {}, 1);
    std::fill(data.labels.begin(), data.labels.end(), 1);
    CHECK(grow_c45_trees(data, full(2)).leaf_label == std::vector<std::int32_t>{1});
}

TEST(columns_without_values_or_with_one_are_not_tested) {
    Data data = make_data(60, 4, {.classes = 2}, 2);
    for (std::size_t row = 0; row < data.rows; ++row) {
        data.at(row, 0) = std::nan("");
        data.at(row, 1) = 7;
        data.at(row, 2) = 0;
    }
    data.categories[2] = 3;
    const C45Forest forest = grow_c45_trees(data, full(2));
    CHECK(!forest.nodes.empty());
    for (const C45Node& node : forest.nodes) CHECK(node.column == 3);
    data.categories[0] = 2;
    CHECK(same_bytes(grow_c45_trees(data, full(2)).nodes, forest.nodes));
}

TEST(three_hundred_classes) {
    Data data(900, 2);
    for (std::size_t row = 0; row < data.rows; ++row) {
        data.labels[row] = static_cast<std::int32_t>(row / 3);
        data.at(row, 0) = static_cast<double>(row);
        data.at(row, 1) = static_cast<double>(row % 7);
    }
    CHECK(labels_of(grow_c45_trees(data, full(300)), data) == data.labels);
    const std::vector<double> weights(data.rows, 0.75);
    C45Options options = full(300);
    options.min_objects = 0.5;
    CHECK(labels_of(grow_c45_trees(data, options, 1, {}, weights), data) == data.labels);
}

TEST(all_categories_there_can_be) {
    Data data(2560, 1);
    data.categories[0] = kMaxCategories;
    for (std::size_t row = 0; row < data.rows; ++row) {
        data.at(row, 0) = static_cast<double>(row % kMaxCategories);
        data.labels[row] = static_cast<std::int32_t>(row % kMaxCategories % 3);
    }
    const C45Forest plain = grow_c45_trees(data, full(3));
    CHECK(plain.nodes.size() == 1 && plain.nodes[0].branches == kMaxCategories && labels_of(plain, data) == data.labels);
    C45Options options = full(3);
    options.group_values = true;
    const C45Forest grouped = grow_c45_trees(data, options);
    CHECK(grouped.nodes[0].branches < kMaxCategories && labels_of(grouped, data) == data.labels);
    CHECK(shares_of(plain, {std::nan(""), 256, -1, 1e300}).size() == 12);
}

// A category that a member does not see has a branch all the same: a leaf of its parent's class without rows.
TEST(empty_branches_are_leaves_of_the_class_of_the_parent) {
    Data data(9, 1);
    data.categories[0] = 3;
    data.labels = {0, 0, 0, 0, 0, 1, 1, 1, 1};
    data.x = {0, 0, 0, 0, 0, 1, 1, 1, 2};
    const C45Forest forest = grow_c45_trees(data, full(2), 1, {1, 1, 1, 1, 1, 1, 1, 1, 0});
    CHECK(forest.nodes.size() == 1 && forest.nodes[0].branches == 3);
    CHECK(shares_of(forest, {2}) == std::vector<double>{1, 0});
    const std::vector<double> missing = shares_of(forest, {std::nan("")});
    CHECK(std::fabs(missing[0] - 5.0 / 8) < 1e-12 && std::fabs(missing[1] - 3.0 / 8) < 1e-12);
}

TEST(whole_numbers_are_the_same_in_both_kinds_of_weights) {
    const Data data = make_data(400, 8, {.classes = 4, .values = 30, .missing = true, .category = true}, 3);
    const std::vector<std::uint8_t> small = bootstrap(6, data.rows, 4);
    for (const bool prune : {false, true}) {
        const C45Options options{.classes = 4, .prune = prune};
        const C45Forest forest = grow_c45_trees(data, options, 6, small);
        CHECK(same(forest, grow_c45_trees(data, options, 6, {}, {small.begin(), small.end()})));
        C45Options two = options;
        two.threads = 2;
        CHECK(same(forest, grow_c45_trees(data, two, 6, small)));
    }
}

TEST(a_member_without_rows_is_refused) {
    const Data data = make_data(10, 2, {}, 1);
    CHECK_THROWS(grow_c45_trees(data, {.classes = 2}, 1, std::vector<std::uint8_t>(10, 0)), std::invalid_argument);
}

TEST(trees_are_taken_and_joined_as_slices) {
    const Data data = make_data(300, 8, {.classes = 3, .missing = true, .category = true}, 5);
    const C45Forest forest = grow_c45_trees(data, full(3), 4, bootstrap(4, data.rows, 6));
    CHECK(!forest.route.empty() && !forest.nodes.empty());
    C45Forest joined = forest.take(std::vector<std::int64_t>{});
    joined.validate();
    for (const std::int64_t member : {0, 1}) joined.append(forest.take(std::vector<std::int64_t>{member}));
    joined.append(forest.take(std::vector<std::int64_t>{2, 3}));
    CHECK(same(joined, forest));
    joined.append(joined);
    joined.validate();
    CHECK(joined.trees() == 8 && same(joined.take(std::vector<std::int64_t>{4, 5, 6, 7}), forest));
    CHECK_THROWS(forest.take(std::vector<std::int64_t>{4}), std::invalid_argument);
    C45Forest other = forest;
    other.classes = 4;
    CHECK_THROWS(other.append(forest), std::invalid_argument);
    const std::vector<std::int32_t> labels = labels_of(forest, data);
    std::vector<double> votes(data.rows * 3);
    vote_counts(forest, {data.x.data(), data.rows, data.columns}, votes.data(), 2);
    for (std::size_t row = 0; row < data.rows; ++row)
        for (std::int32_t k = 0; k < 3; ++k) {
            double expected = 0;
            for (std::size_t t = 0; t < 4; ++t) expected += labels[t * data.rows + row] == k;
            CHECK(votes[row * 3 + static_cast<std::size_t>(k)] == expected);
        }
}

TEST(damaged_trees_are_refused) {
    const Data data = make_data(200, 6, {.classes = 3, .missing = true, .category = true}, 7);
    C45Options options = full(3);
    options.min_objects = 3;
    const C45Forest sound = grow_c45_trees(data, options, 2, bootstrap(2, data.rows, 8));
    using Damage = std::function<void(C45Forest&)>;
    const std::vector<Damage> all{
        [](C45Forest& f) { f.child[0] = 0; },
        [](C45Forest& f) { f.child[0] = f.child[1]; },
        [](C45Forest& f) { f.child[0] = std::numeric_limits<std::int32_t>::min(); },
        [](C45Forest& f) { f.child[0] = std::numeric_limits<std::int32_t>::max(); },
        [](C45Forest& f) { f.nodes[0].column = 6; },
        [](C45Forest& f) { f.nodes[1].first = 0; },
        [](C45Forest& f) { f.nodes[0].branches = 0; },
        [](C45Forest& f) { f.nodes[0].branches = ~0U; },
        [](C45Forest& f) { f.nodes[0].gain = -1; },
        [](C45Forest& f) { f.nodes[0].threshold = std::nan(""); },
        [](C45Forest& f) { f.nodes.pop_back(); },
        [](C45Forest& f) { f.share[0] = 2; },
        [](C45Forest& f) { f.share.pop_back(); },
        [](C45Forest& f) { f.route[0] = 40; },
        [](C45Forest& f) { f.route.pop_back(); },
        [](C45Forest& f) { f.categories[2] = 257; },
        [](C45Forest& f) { f.categories[2] = 0; },
        [](C45Forest& f) { f.leaf_label[0] = 3; },
        [](C45Forest& f) { f.leaf_label[0] = std::numeric_limits<std::int32_t>::min(); },
        [](C45Forest& f) { f.share_label[0] = -1; },
        [](C45Forest& f) { f.shares[0] = INFINITY; },
        [](C45Forest& f) { f.shares.pop_back(); },
        [](C45Forest& f) { f.classes = 0; },
        [](C45Forest& f) { f.columns = ~0U; },
        [](C45Forest& f) { f.node_start.clear(); },
        [](C45Forest& f) { f.leaf_start.clear(); },
        [](C45Forest& f) { f.node_start[1] = ~std::uint64_t{0}; },
        [](C45Forest& f) { ++f.node_start[1]; },
        [](C45Forest& f) { ++f.child_start[1]; },
        [](C45Forest& f) { ++f.route_start[1]; },
        [](C45Forest& f) { ++f.leaf_start[1]; },
        [](C45Forest& f) { f.share_start[1] = 0; },
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        C45Forest damaged = sound;
        all[i](damaged);
        bool refused = false;
        try {
            damaged.validate();
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        if (!refused) std::printf("damage %zu is not noticed\n", i);
        CHECK(refused);
    }
}

// The book's example, page 42: U_25%(0, 6) = 0.206, U_25%(0, 9) = 0.143, U_25%(0, 1) = 0.75.
TEST(expected_errors) {
    CHECK(std::fabs(c45_extra_errors(6, 0, 0.25) / 6 - 0.206) < 1e-3);
    CHECK(std::fabs(c45_extra_errors(9, 0, 0.25) / 9 - 0.143) < 1e-3);
    CHECK(std::fabs(c45_extra_errors(1, 0, 0.25) - 0.75) < 1e-12);
    CHECK(c45_extra_errors(0, 0, 0.25) == 0);
    CHECK(c45_extra_errors(5, 5, 0.25) == 0);
}

}  // namespace conjunto
