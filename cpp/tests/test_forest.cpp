#include "forest.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"

using namespace conjunto;

namespace {

// One forest of each kind: with shares, sets and combinations of both.
std::vector<Forest> forests() {
    std::vector<Forest> out;
    const Data data = make_data(200, 6, {.classes = 3, .missing = true, .category = true}, 1);
    GrowOptions options{.classes = 3, .max_features = 2, .min_rows_leaf = 3};
    out.push_back(grow_trees(data, options, 5, bootstrap(5, data.rows, 1)));
    options.combination = 3;
    out.push_back(grow_trees(data, options, 5, bootstrap(5, data.rows, 2)));
    options.classes = 0;
    out.push_back(grow_trees(data, options, 5));
    options.combination = 0;
    out.push_back(grow_trees(data, options, 5));
    return out;
}

// The first node that has this flag.
Node& find_node(Forest& forest, std::uint32_t flag) {
    for (Node& node : forest.nodes)
        if (node.test & flag) return node;
    throw std::logic_error("no such node");
}

using Damage = std::function<void(Forest&)>;

void check_damage(const Forest& sound, const std::vector<Damage>& damages) {
    sound.validate();
    for (std::size_t i = 0; i < damages.size(); ++i) {
        Forest broken = sound;
        damages[i](broken);
        bool refused = false;
        try {
            broken.validate();
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        if (!refused) std::printf("damage %zu is not noticed\n", i);
        CHECK(refused);
    }
}

}  // namespace

TEST(grown_forests_are_valid) {
    for (const Forest& forest : forests()) {
        forest.validate();
        CHECK(forest.trees() == 5 && forest.leaves() == forest.nodes.size() + 5);
        CHECK(forest.bytes() > forest.nodes.size() * sizeof(Node));
    }
    CHECK(!forests()[0].sets.empty() && !forests()[0].shares.empty());
    CHECK(!forests()[1].terms.empty() && !forests()[1].sets.empty());
    Forest().validate();
}

TEST(take_then_append_is_the_original) {
    for (const Forest& forest : forests()) {
        CHECK(same_forest(forest.take(std::vector<std::int64_t>{0, 1, 2, 3, 4}), forest));
        Forest joined = forest.take(std::vector<std::int64_t>{});
        CHECK(joined.trees() == 0);
        joined.validate();
        for (const std::int64_t member : {0, 1}) joined.append(forest.take(std::vector<std::int64_t>{member}));
        joined.append(forest.take(std::vector<std::int64_t>{2, 3, 4}));
        joined.validate();
        CHECK(same_forest(joined, forest));
    }
}

TEST(drop_forgets_the_last_trees) {
    for (const Forest& forest : forests()) {
        for (std::size_t count = 0; count <= forest.trees(); ++count) {
            std::vector<std::int64_t> kept(forest.trees() - count), lost(count);
            std::iota(kept.begin(), kept.end(), 0);
            std::iota(lost.begin(), lost.end(), static_cast<std::int64_t>(kept.size()));
            Forest rest = forest;
            rest.drop(count);
            rest.validate();
            CHECK(rest.trees() == kept.size() && same_forest(rest, forest.take(kept)));
            rest.append(forest.take(lost));
            CHECK(same_forest(rest, forest));
        }
    }
}

TEST(shares_of_pure_and_mixed_leaves) {
    const Forest forest = forests()[0];
    std::size_t pure = 0;
    for (std::size_t leaf = 0; leaf < forest.leaves(); ++leaf) {
        std::vector<double> shares(3, -1.0);
        forest.shares_of(leaf, shares.data());
        const std::int32_t label = forest.leaf_label[leaf];
        if (label >= 0) {
            std::vector<double> expected(3, 0.0);
            expected[static_cast<std::size_t>(label)] = 1;
            CHECK(shares == expected);
            ++pure;
        } else {
            const auto first = forest.shares.begin() + 3 * static_cast<std::ptrdiff_t>(~label);
            CHECK(std::equal(shares.begin(), shares.end(), first));
            CHECK(shares[static_cast<std::size_t>(forest.label(leaf))] == *std::max_element(shares.begin(), shares.end()));
        }
    }
    CHECK(pure > 0 && pure < forest.leaves());
}

TEST(members_can_be_taken_in_any_order_and_twice) {
    const Data data = make_data(50, 6, {.missing = true, .category = true}, 2);
    for (const Forest& forest : forests()) {
        const std::vector<std::int64_t> members{3, 0, 3};
        const Forest taken = forest.take(members);
        taken.validate();
        for (std::size_t t = 0; t < members.size(); ++t)
            for (std::size_t row = 0; row < data.rows; ++row)
                CHECK(leaf_of(taken, t, data.row(row)) ==
                      leaf_of(forest, static_cast<std::size_t>(members[t]), data.row(row)));
    }
}

TEST(members_out_of_range_are_refused) {
    const Forest forest = forests()[0];
    for (const std::int64_t member : {std::int64_t{-1}, std::int64_t{5}, std::numeric_limits<std::int64_t>::max()})
        CHECK_THROWS(forest.take(std::vector<std::int64_t>{member}), std::invalid_argument);
}

TEST(forests_of_different_problems_are_not_joined) {
    const std::vector<Forest> all = forests();
    for (const Damage& change : std::vector<Damage>{[](Forest& f) { f.columns = 5; }, [](Forest& f) { f.classes = 4; },
                                                    [](Forest& f) { f.categories[0] = 2; }}) {
        Forest other = all[0];
        change(other);
        CHECK_THROWS(other.append(all[0]), std::invalid_argument);
    }
}

TEST(depths_and_importances) {
    for (const Forest& forest : forests()) {
        const std::vector<std::int32_t> depths = forest.depths();
        const std::vector<double> importances = forest.importances();
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            std::function<std::int32_t(std::int32_t)> depth = [&](std::int32_t at) -> std::int32_t {
                if (at < 0) return 0;
                const Node& node = forest.nodes[forest.node_start[tree] + static_cast<std::size_t>(at)];
                return 1 + std::max(depth(node.left), depth(node.right));
            };
            CHECK(depths[tree] == depth(0));
            const auto first = importances.begin() + static_cast<std::ptrdiff_t>(tree * forest.columns);
            CHECK(std::fabs(std::accumulate(first, first + forest.columns, 0.0) - 1) < 1e-6);
            CHECK(std::all_of(first, first + forest.columns, [](double share) { return share >= 0; }));
        }
    }
    Data data(3, 2);
    const Forest stump = grow_trees(data, {.classes = 2});
    CHECK(stump.depths() == std::vector<std::int32_t>{0});
    CHECK(stump.importances() == std::vector<double>{0, 0});
}

TEST(damaged_trees_are_refused) {
    const Forest sound = forests()[0];
    check_damage(sound, {
        [](Forest& f) { f.nodes[0].left = 0; },                                      // a circle
        [](Forest& f) { f.nodes[1].left = 0; },                                      // upwards
        [](Forest& f) { f.nodes[0].left = 1 << 20; },                                // out of the tree
        [](Forest& f) { f.nodes[0].left = static_cast<std::int32_t>(f.node_start[1]); },
        [](Forest& f) { f.nodes[0].right = std::numeric_limits<std::int32_t>::min(); },
        [](Forest& f) { f.nodes[0].left = f.nodes[0].right; },                       // one child twice
        [](Forest& f) { f.nodes[0].right = ~0; },                                    // one leaf twice
        [](Forest& f) { f.nodes[0].threshold = std::nan(""); },
        [](Forest& f) { f.nodes[0].threshold = INFINITY; },
        [](Forest& f) { f.nodes[0].test = 6; },                                      // no such column
        [](Forest& f) { f.nodes[0].test = Node::kIndex; },
        [](Forest& f) { f.nodes[0].test = Node::kCategory | Node::kCombination; },
        [](Forest& f) { f.nodes[0].test = Node::kCombination; },                     // no such combination
        [](Forest& f) { f.nodes.pop_back(); },
        [](Forest& f) { f.nodes.push_back(f.nodes[0]); },
    });
}

TEST(damaged_starts_are_refused) {
    const Forest sound = forests()[0];
    check_damage(sound, {
        [](Forest& f) { f.node_start.clear(); },
        [](Forest& f) { f.leaf_start.clear(); },
        [](Forest& f) { f.term_start.clear(); },
        [](Forest& f) { f.node_start[0] = 1; },
        [](Forest& f) { f.leaf_start[0] = 1; },
        [](Forest& f) { f.node_start.pop_back(); },
        [](Forest& f) { f.leaf_start.pop_back(); },
        [](Forest& f) { f.node_start.back() += 1; },
        [](Forest& f) { f.leaf_start.back() += 1; },
        [](Forest& f) { f.node_start[1] = ~std::uint64_t{0}; },
        [](Forest& f) { std::swap(f.node_start[1], f.node_start[2]); },
        [](Forest& f) { std::swap(f.leaf_start[1], f.leaf_start[2]); },
        [](Forest& f) { ++f.node_start[1]; },
        [](Forest& f) { f.term_start.push_back(1); },
    });
}

TEST(damaged_leaves_are_refused) {
    const std::vector<Forest> all = forests();
    check_damage(all[0], {
        [](Forest& f) { f.leaf_label.pop_back(); },
        [](Forest& f) { f.leaf_label[0] = 3; },
        [](Forest& f) { f.leaf_label[0] = ~static_cast<std::int32_t>(f.share_label.size()); },
        [](Forest& f) { f.leaf_label[0] = std::numeric_limits<std::int32_t>::min(); },
        [](Forest& f) { f.share_label[0] = 3; },
        [](Forest& f) { f.share_label[0] = -1; },
        [](Forest& f) { f.share_label.pop_back(); },
        [](Forest& f) { f.shares.pop_back(); },
        [](Forest& f) { f.leaf_value.push_back(0); },
        [](Forest& f) { f.classes = 0; },
        [](Forest& f) { f.classes = 2; },
        [](Forest& f) { f.classes = ~0U; },
    });
    check_damage(all[3], {
        [](Forest& f) { f.leaf_value.pop_back(); },
        [](Forest& f) { f.leaf_label.push_back(0); },
        [](Forest& f) { f.share_label.push_back(0); },
        [](Forest& f) { f.leaf_size.pop_back(); },
        [](Forest& f) { f.leaf_size.push_back({1, 1.0F}); },
        [](Forest& f) { f.leaf_impurity.resize(f.leaves() + 1); },
        [](Forest& f) { f.units.pop_back(); },
        [](Forest& f) { f.shares.push_back(0); },
        [](Forest& f) { f.classes = 1; },
    });
}

TEST(damaged_categories_are_refused) {
    const Forest sound = forests()[0];
    check_damage(sound, {
        [](Forest& f) { f.columns = 5; },
        [](Forest& f) { f.columns = ~0U; },
        [](Forest& f) { f.categories.pop_back(); },
        [](Forest& f) { f.categories[2] = 257; },
        [](Forest& f) { f.categories[2] = f.categories[5] = 0; },
        [](Forest& f) { f.sets.clear(); },
        [](Forest& f) { f.sets.pop_back(); },
        [](Forest& f) { find_node(f, Node::kCategory).threshold = -1; },
        [](Forest& f) { find_node(f, Node::kCategory).threshold = 0.5; },
        [](Forest& f) { find_node(f, Node::kCategory).threshold = static_cast<double>(f.sets.size()); },
        [](Forest& f) { find_node(f, Node::kCategory).threshold = 1e300; },
        [](Forest& f) { find_node(f, Node::kCategory).test = Node::kCategory; },  // column 0 is numeric
    });
}

TEST(damaged_combinations_are_refused) {
    const Forest sound = forests()[1];
    check_damage(sound, {
        [](Forest& f) { f.terms.pop_back(); },
        [](Forest& f) { f.terms[0].column = 6; },
        [](Forest& f) { f.terms[0].set = std::numeric_limits<std::int32_t>::max(); },
        [](Forest& f) { f.terms[0].column = 0, f.terms[0].set = 0; },  // column 0 is numeric
        [](Forest& f) { f.term_start[0] = 1; },
        [](Forest& f) { f.term_start[1] = ~0U; },
        [](Forest& f) { f.term_start.pop_back(); },
        [](Forest& f) { f.nodes[0].test = Node::kCombination | static_cast<std::uint32_t>(f.term_start.size() - 1); },
        [](Forest& f) { f.nodes[0].test |= Node::kIndex; },
    });
}

// Prediction takes a forest without sets and terms for one of plain tests: its combinations would be read as columns.
TEST(combinations_without_terms_are_refused) {
    Forest forest;
    forest.columns = 1;
    forest.classes = 2;
    forest.categories = {0};
    forest.nodes = {{0.0, ~0, ~1, Node::kCombination | 7, 0}};
    forest.node_start = {0, 1};
    forest.leaf_start = {0, 2};
    forest.leaf_label = {0, 1};
    forest.term_start.assign(9, 0);
    CHECK_THROWS(forest.validate(), std::invalid_argument);
}
