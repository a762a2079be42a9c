#include "prune.hpp"

#include "check.hpp"
#include "data.hpp"
#include "grower.hpp"
#include "session.hpp"

using namespace conjunto;

namespace {

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); }

bool near(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return near(x, y); });
}

// A tree and what growing would have noted; classes of the weights given, labels their majorities.
//
//                       0 (9, 11)
//              1 (6, 2)            2 (3, 9)
//        (6, 0)      (0, 2)   (2, 6)      3 (1, 3)
//                                     (0, 3)    (1, 0)
struct HandMade {
    Forest tree;
    TreeNotes notes;

    HandMade() {
        tree.columns = 1;
        tree.classes = 2;
        tree.categories = {0};
        const std::vector<std::pair<int, int>> children{{1, 2}, {~0, ~1}, {~2, 3}, {~3, ~4}};
        for (const auto& [left, right] : children) tree.nodes.push_back({0.0, left, right, 0, 1.0F});
        notes.width = 2;
        notes.totals = {9, 11, 6, 2, 3, 9, 1, 3};
        notes.leaf_totals = {6, 0, 0, 2, 2, 6, 0, 3, 1, 0};
        notes.label = {1, 0, 1, 1};
        notes.leaf_label = {0, 1, 1, 1, 0};
        notes.weight = 20;
        notes.rows = {20, 8, 12, 4};
        notes.leaf_rows = {6, 2, 8, 3, 1};
        tree.open_tree(20);
        for (std::size_t leaf = 0; leaf < 5; ++leaf)
            tree.add_leaf(notes.leaf_totals.data() + 2 * leaf, notes.leaf_label[leaf], notes.leaf_rows[leaf]);
        tree.close_tree();
    }
};

struct Member {
    const std::uint64_t number = 0;
    Views views;

    explicit Member(const Data& data, bool regression = false) {
        views.members = 1;
        views.number = &number;
        views.key = {5, 6};
        if (regression)
            views.targets = data.targets.data();
        else
            views.labels = data.labels.data();
    }
};

// One pruned tree: the forest, its path and the leaf of every row.
struct Pruned {
    Forest forest;
    PruningPath path;
    std::vector<std::int32_t> leaves;

    Pruned(const Table& table, const Views& views, GrowOptions options) {
        if (!options.classes) options.criterion = Criterion::variance;
        GrowSession session(table, options, false);
        leaves.assign(table.rows, -1);
        session.grow(views, leaves.data());
        path = session.paths[0];
        forest = session.forest;
    }
};

bool same_path(const PruningPath& a, const PruningPath& b) {
    return a.alpha == b.alpha && a.risk == b.risk && a.leaves == b.leaves && a.error == b.error &&
           a.standard_error == b.standard_error && a.chosen == b.chosen;
}

const PruneOptions kByFolds{.by = Pruning::cross_validation};

}  // namespace

// Node 2 saves (3 - 2) / 2 errors per leaf, node 3 one, node 1 two; without node 2 the root saves 6 / 2, then 4.
TEST(weakest_links_by_hand) {
    const HandMade made;
    PruningPath path;
    const std::vector<double> at = weakest_links(made.tree, made.notes, Risk::error, Criterion::gini, path);
    CHECK(near(path.alpha, {0, 0.5 / 20, 2.0 / 20, 4.0 / 20}));
    CHECK(path.leaves == std::vector<std::int32_t>{5, 3, 2, 1});
    CHECK(near(path.risk, {2.0 / 20, 3.0 / 20, 5.0 / 20, 9.0 / 20}));
    CHECK(near(at, {4.0 / 20, 2.0 / 20, 0.5 / 20, 0.5 / 20}));
}

// Gini, times the weight: 2 ab / (a + b) in a node of weights a and b.
TEST(weakest_links_of_impurity_by_hand) {
    const HandMade made;
    CHECK(near(node_risk(made.notes, 0, Risk::impurity, Criterion::gini), 2.0 * 9 * 11 / 20));
    CHECK(near(node_risk(made.notes, ~2, Risk::impurity, Criterion::gini), 2.0 * 2 * 6 / 8));
    CHECK(node_risk(made.notes, ~0, Risk::impurity, Criterion::gini) == 0);
    const double entropy = -6 * std::log2(6.0 / 8) - 2 * std::log2(2.0 / 8);
    CHECK(near(node_risk(made.notes, 1, Risk::impurity, Criterion::entropy), entropy));
    CHECK(node_risk(made.notes, ~3, Risk::impurity, Criterion::entropy) == 0);
    PruningPath path;
    weakest_links(made.tree, made.notes, Risk::impurity, Criterion::gini, path);
    // Node 2 saves (4.5 - 3) / 2 per leaf, node 3 1.5, node 1 3; without node 2 the root (9.9 - 4.5) / 2, less than node 1.
    CHECK(near(path.alpha, {0, 0.75 / 20, 2.7 / 20}));
    CHECK((path.leaves == std::vector<std::int32_t>{5, 3, 1}));
    CHECK(near(path.risk, {3.0 / 20, 4.5 / 20, 9.9 / 20}));
}

TEST(links_of_no_cost_are_cut_at_zero) {
    HandMade made;
    // Both leaves of node 3 say 1: it has one error either way, and so node 2 three.
    made.notes.leaf_label[4] = 1;
    PruningPath path;
    const std::vector<double> at = weakest_links(made.tree, made.notes, Risk::error, Criterion::gini, path);
    CHECK(near(path.alpha, {0, 2.0 / 20, 4.0 / 20}));
    CHECK((path.leaves == std::vector<std::int32_t>{3, 2, 1}));
    CHECK(at[3] == 0 && at[2] == 0);
}

TEST(links_of_equal_cost_are_one_step) {
    HandMade made;
    // Node 3 has two errors as a leaf, like node 1, and node 2 none of its own.
    made.notes.totals = {8, 9, 6, 2, 2, 7, 2, 3};
    made.notes.leaf_totals = {6, 0, 0, 2, 0, 4, 0, 3, 2, 0};
    made.notes.weight = 17;
    PruningPath path;
    weakest_links(made.tree, made.notes, Risk::error, Criterion::gini, path);
    // Node 2: 2 errors less for two leaves; node 3: 2 for one; node 1: 2 for one; then the root: 8 - 4 for one.
    CHECK(near(path.alpha, {0, 1.0 / 17, 2.0 / 17, 4.0 / 17}));
    CHECK(path.leaves == std::vector<std::int32_t>{5, 3, 2, 1});
}

TEST(a_tree_of_one_leaf) {
    Forest tree;
    tree.columns = 1;
    tree.classes = 2;
    tree.categories = {0};
    TreeNotes notes;
    notes.width = 2;
    notes.leaf_totals = {3, 1};
    notes.leaf_label = {0};
    notes.weight = 4;
    notes.leaf_rows = {4};
    tree.open_tree(4);
    tree.add_leaf(notes.leaf_totals.data(), 0, 4);
    tree.close_tree();
    PruningPath path;
    CHECK(weakest_links(tree, notes, Risk::error, Criterion::gini, path).empty());
    CHECK(path.alpha == std::vector<double>{0} && path.leaves == std::vector<std::int32_t>{1} && near(path.risk, {0.25}));
    std::vector<std::int32_t> leaf_of;
    CHECK(same_forest(collapsed(tree, notes, {}, &leaf_of), tree));
    CHECK(leaf_of == std::vector<std::int32_t>{0});
}

TEST(collapsed_trees_say_where_leaves_went) {
    const HandMade made;
    std::vector<std::int32_t> leaf_of;
    const Forest none = collapsed(made.tree, made.notes, {0, 0, 0, 0}, &leaf_of);
    CHECK(same_forest(none, made.tree));
    CHECK((leaf_of == std::vector<std::int32_t>{0, 1, 2, 3, 4}));
    const Forest some = collapsed(made.tree, made.notes, {0, 0, 1, 1}, &leaf_of);
    some.validate();
    CHECK(some.nodes.size() == 2 && some.leaves() == 3);
    CHECK((leaf_of == std::vector<std::int32_t>{0, 1, 2, 2, 2}));
    std::vector<double> shares(2);
    some.shares_of(2, shares.data());
    CHECK(near(shares, {0.25, 0.75}) && some.label(2) == 1);
    const Forest other = collapsed(made.tree, made.notes, {0, 1, 0, 0}, &leaf_of);
    CHECK(other.leaves() == 4 && leaf_of[0] == leaf_of[1]);
    CHECK(other.label(static_cast<std::size_t>(leaf_of[0])) == 0);
    // What lies below a node that is gone is gone, marked or not.
    CHECK(same_forest(collapsed(made.tree, made.notes, {0, 0, 1, 0}, nullptr), some));
    const Forest root = collapsed(made.tree, made.notes, {1, 0, 0, 0}, &leaf_of);
    CHECK(root.nodes.empty() && root.leaves() == 1 && root.label(0) == 1);
    CHECK(leaf_of == std::vector<std::int32_t>(5, 0));
}

TEST(reduced_errors_by_hand) {
    const HandMade made;
    // Node 3: 1 < 2 stays; node 2: 3 >= 3 goes; node 1: 2 < 3 stays; the root: 2 + 3 < 6 stays.
    CHECK((reduced_errors(made.tree, {6, 3, 3, 2}, {1, 1, 2, 1, 0}) == std::vector<char>{0, 0, 1, 0}));
    // Nothing arrives: every node is as good as a leaf.
    CHECK((reduced_errors(made.tree, {0, 0, 0, 0}, {0, 0, 0, 0, 0}) == std::vector<char>{1, 1, 1, 1}));
    // A node that went counts with its own error above.
    CHECK((reduced_errors(made.tree, {4, 1, 3, 1}, {1, 1, 2, 1, 1}) == std::vector<char>{1, 1, 1, 1}));
}

// Notes against a recount of the rows of every node, in trees grown best first and depth first.
TEST(notes_are_the_totals_of_the_nodes) {
    for (const std::uint32_t most : {0U, 7U})
        for (const std::uint32_t classes : {0U, 3U}) {
            const Data data = make_data(150, 4, {.classes = classes, .values = 12, .missing = true, .category = true}, 3);
            GrowOptions options{.classes = classes, .max_leaves = most};
            if (!classes) options.criterion = Criterion::variance;
            const Member member(data, !classes);
            const Table table = data.table();
            TreeNotes notes;
            GrowRequest request;
            request.notes = &notes;
            const Forest tree = make_grower(table, options, nullptr)->grow(member.views, 0, request);
            CHECK(tree.leaves() > 4 && (!most || tree.leaves() == most));
            std::vector<double> totals(notes.totals.size()), leaf_totals(notes.leaf_totals.size());
            CHECK(totals.size() == tree.nodes.size() * notes.width && leaf_totals.size() == tree.leaves() * notes.width);
            CHECK(near(notes.weight, 150));
            for (std::size_t row = 0; row < data.rows; ++row) {
                auto add = [&](double* sums) {
                    if (classes) {
                        sums[data.labels[row]] += 1;
                        return;
                    }
                    const double target = (data.targets[row] - notes.center) / notes.scale;
                    sums[0] += 1;
                    sums[1] += target;
                    sums[2] += target * target;
                };
                std::int32_t at = 0;
                while (at >= 0) {
                    add(totals.data() + static_cast<std::size_t>(at) * notes.width);
                    at = goes_left(tree, tree.nodes[at], data.row(row)) ? tree.nodes[at].left : tree.nodes[at].right;
                }
                add(leaf_totals.data() + static_cast<std::size_t>(~at) * notes.width);
            }
            const auto close = [](const std::vector<double>& a, const std::vector<double>& b) {
                return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::abs(x - y) < 1e-9; });
            };
            CHECK(close(totals, notes.totals) && close(leaf_totals, notes.leaf_totals));
            for (std::size_t leaf = 0; leaf < tree.leaves(); ++leaf) {
                if (classes)
                    CHECK(tree.label(leaf) == notes.leaf_label[leaf]);
                else
                    CHECK(std::abs(tree.leaf_value[leaf] - notes.value_of(~static_cast<std::int32_t>(leaf))) < 1e-9);
            }
        }
}

TEST(leaves_of_pruned_trees_are_where_rows_end) {
    for (const std::uint32_t classes : {0U, 2U, 4U})
        for (const std::uint32_t most : {0U, 9U})
            for (const double alpha : {0.0, 0.01, 0.1, 10.0}) {
                const Data data = make_data(200, 5, {.classes = classes, .missing = true, .category = true}, 4);
                const PruneOptions prune{.by = Pruning::alpha, .alpha = alpha};
                const Member member(data, !classes);
                const Pruned pruned(data.table(), member.views, {.classes = classes, .max_leaves = most, .prune = prune});
                pruned.forest.validate();
                CHECK(static_cast<std::int32_t>(pruned.forest.leaves()) == pruned.path.leaves[pruned.path.chosen]);
                for (std::size_t row = 0; row < data.rows; ++row)
                    CHECK(static_cast<std::size_t>(pruned.leaves[row]) == leaf_of(pruned.forest, 0, data.row(row)));
            }
}

TEST(columns_may_lie_side_by_side) {
    for (const std::uint32_t classes : {0U, 3U}) {
        const Data data = make_data(120, 5, {.classes = classes, .missing = true, .category = true}, 5);
        std::vector<double> turned(data.x.size());
        for (std::size_t row = 0; row < data.rows; ++row)
            for (std::size_t c = 0; c < data.columns; ++c) turned[c * data.rows + row] = data.x[row * data.columns + c];
        const auto stride = static_cast<std::ptrdiff_t>(data.rows);
        const Table table = prepare(turned.data(), data.rows, data.columns, 1, stride, data.categories.data(), 1);
        const Member member(data, !classes);
        const Pruned by_rows(data.table(), member.views, {.classes = classes, .prune = kByFolds});
        const Pruned by_columns(table, member.views, {.classes = classes, .prune = kByFolds});
        CHECK(same_path(by_rows.path, by_columns.path));
        CHECK(same_forest(by_rows.forest, by_columns.forest));
        CHECK(by_rows.leaves == by_columns.leaves);
    }
}

TEST(folds_at_the_edges) {
    for (const std::uint32_t classes : {0U, 2U})
        for (const std::size_t rows : {1, 2, 3, 12}) {
            const Data data = make_data(rows, 2, {.classes = classes}, 6);
            const Member member(data, !classes);
            PruneOptions prune = kByFolds;
            prune.folds = static_cast<std::uint32_t>(rows);
            const Pruned drawn(data.table(), member.views, {.classes = classes, .prune = prune});
            CHECK(drawn.path.error.size() == (rows > 1 ? drawn.path.alpha.size() : 0));
            // As many folds as rows, and more, leave out one row at a time, however they are drawn.
            prune.folds = 1U << 31;
            const Pruned more(data.table(), member.views, {.classes = classes, .prune = prune});
            for (std::size_t k = 0; k < drawn.path.error.size(); ++k)
                CHECK(std::abs(drawn.path.error[k] - more.path.error[k]) < 1e-12);
        }
}

TEST(given_folds_may_be_empty_or_hold_everything) {
    const Data data = make_data(40, 3, {.classes = 2}, 7);
    Member member(data);
    std::vector<std::uint32_t> folds(data.rows), gaps(data.rows), same(data.rows, 3);
    for (std::size_t row = 0; row < data.rows; ++row) {
        folds[row] = static_cast<std::uint32_t>(row % 4);
        gaps[row] = 2 + 3 * folds[row];
    }
    const GrowOptions options{.classes = 2, .prune = kByFolds};
    member.views.folds = folds.data();
    const Pruned plain(data.table(), member.views, options);
    CHECK(plain.path.error.size() == plain.path.alpha.size());
    member.views.folds = gaps.data();
    CHECK(same_path(plain.path, Pruned(data.table(), member.views, options).path));
    // Without any auxiliary tree the tree stays as it is.
    member.views.folds = same.data();
    for (const bool one : {false, true}) {
        GrowOptions chosen = options;
        chosen.prune.one_standard_error = one;
        const Pruned whole(data.table(), member.views, chosen);
        CHECK(whole.path.chosen == 0 && whole.path.error.empty());
    }
}

TEST(copies_apart_need_whole_weights) {
    const Data data = make_data(60, 3, {.classes = 2}, 8);
    const std::vector<std::uint8_t> small(data.rows, 2);
    const std::vector<double> real(data.rows, 2.0);
    PruneOptions prune = kByFolds;
    Member member(data);
    member.views.small_weights = small.data();
    // Weights that are not copies: every row counts once, whatever it weighs.
    const Pruned weighed(data.table(), member.views, {.classes = 2, .prune = prune});
    prune.copies = true;
    const Pruned apart(data.table(), member.views, {.classes = 2, .prune = prune});
    prune.copies_apart = false;
    const Pruned together(data.table(), member.views, {.classes = 2, .prune = prune});
    member.views.small_weights = nullptr;
    const Pruned once(data.table(), member.views, {.classes = 2, .prune = prune});
    // Every row twice, and its copies together, is every row once; its standard error is that of twice as many.
    CHECK(together.path.error == once.path.error && together.path.alpha == once.path.alpha);
    for (std::size_t k = 0; k < once.path.error.size(); ++k)
        CHECK(near(together.path.standard_error[k] * std::sqrt(2.0), once.path.standard_error[k]));
    CHECK(apart.path.error.front() < together.path.error.front());
    CHECK(weighed.path.error == once.path.error && weighed.path.standard_error == once.path.standard_error);
    member.views.weights = real.data();
    prune.copies_apart = true;
    CHECK(near(Pruned(data.table(), member.views, {.classes = 2, .prune = prune}).path.error, once.path.error));
}
