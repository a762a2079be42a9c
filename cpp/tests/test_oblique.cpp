#include "oblique.hpp"

#include <algorithm>
#include <span>

#include "check.hpp"
#include "data.hpp"

using namespace conjunto;

namespace {

// The rows of a node, made by chance, with the numbers of one step: above - delta * along <= 0.
struct Rows {
    std::vector<std::uint32_t> row, payload, label;
    std::vector<double> weight, moment, above, along;
    NodeRows node;

    Rows(std::size_t n, std::uint32_t classes, bool integer, bool tied, unsigned seed) {
        std::mt19937_64 random(seed);
        auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
        node.class_total.assign(classes, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const auto k = static_cast<std::uint32_t>(classes ? random() % classes : 0);
            const double w = integer ? static_cast<double>(1 + random() % 3) : uniform() + 0.1;
            row.push_back(static_cast<std::uint32_t>(i));
            label.push_back(k);
            payload.push_back(static_cast<std::uint32_t>(w) << 8 | k);
            weight.push_back(w);
            moment.push_back(w * (classes ? k == 1 : uniform()));
            // Quarters: many rows turn at once, and some never do.
            above.push_back(tied ? static_cast<double>(random() % 9) / 4 - 1 : uniform() - 0.5);
            along.push_back(tied ? static_cast<double>(random() % 9) / 4 - 1 : uniform() - 0.4);
            node.total += w;
            node.total_moment += moment.back();
            if (classes) node.class_total[k] += w;
        }
        node.row = row.data();
        node.n = n;
        node.integer = integer && classes;
        node.regression = !classes;
        node.payload = payload.data();
        node.weight = weight.data();
        node.moment = moment.data();
        node.label = label.data();
    }
};

// The score of a division of the rows, or nothing if the limits forbid it.
template <class Tally, class Side>
double score_of(const NodeRows& node, const Limits& limits, Side&& is_left) {
    Tally tally(node);
    tally.reset();
    std::size_t rows_left = 0;
    for (std::size_t i = 0; i < node.n; ++i) {
        if (!is_left(i)) continue;
        tally.add(i);
        ++rows_left;
    }
    return limits.allow(rows_left, node.n, tally.left(), node.total) ? tally.score() : -INFINITY;
}

// Sums of whole numbers are exact in any order.
bool agree(const NodeRows& node, double a, double b) {
    return a == b || (!node.integer && std::fabs(a - b) <= 1e-12 + 1e-9 * std::fabs(b));
}

// Tries every delta between two turns, dividing the rows anew for each.
template <class Tally>
void check_step(const Rows& rows, const Limits& limits) {
    const NodeRows& node = rows.node;
    auto score_at = [&](double delta) {
        return score_of<Tally>(node, limits, [&](std::size_t i) { return rows.above[i] - delta * rows.along[i] <= 0; });
    };
    std::vector<double> turns;
    for (std::size_t i = 0; i < node.n; ++i)
        if (rows.along[i] != 0) turns.push_back(rows.above[i] / rows.along[i]);
    std::sort(turns.begin(), turns.end());
    double best = -INFINITY;
    for (std::size_t i = 0; i + 1 < turns.size(); ++i)
        if (turns[i] < turns[i + 1]) best = std::max(best, score_at((turns[i] + turns[i + 1]) / 2));
    Tally tally(node);
    tally.reset();
    ValueOrder order;
    const Cut found = best_step(tally, node, limits, rows.above, rows.along, order);
    CHECK(agree(node, found.score, best));
    if (best > -INFINITY) CHECK(agree(node, score_at(found.place), best));

    double best_of_cuts = -INFINITY;
    auto score_below = [&](double cut) {
        return score_of<Tally>(node, limits, [&](std::size_t i) { return rows.above[i] <= cut; });
    };
    for (const double cut : rows.above) best_of_cuts = std::max(best_of_cuts, score_below(cut));
    const Cut cut = best_cut(tally, node, limits, rows.above, order);
    CHECK(agree(node, cut.score, best_of_cuts));
    if (best_of_cuts > -INFINITY) CHECK(agree(node, score_below(cut.place), best_of_cuts));
}

}  // namespace

TEST(a_step_is_the_best_of_all) {
    unsigned seed = 0;
    for (const std::size_t n : {2, 3, 7, 40, 400})
        for (const bool tied : {false, true})
            for (const bool integer : {false, true})
                for (const Limits limits : {Limits{}, Limits{.min_rows = 3, .min_weight = 5}})
                    for (unsigned repeat = 0; repeat < (n < 100 ? 20 : 2); ++repeat) {
                        check_step<MomentTally>(Rows(n, 2, integer, tied, ++seed), limits);
                        check_step<GiniTally>(Rows(n, 3, integer, tied, ++seed), limits);
                        check_step<EntropyTally>(Rows(n, 4, integer, tied, ++seed), limits);
                        check_step<MomentTally>(Rows(n, 0, integer, tied, ++seed), limits);
                    }
}

TEST(values_come_in_order) {
    std::mt19937_64 random(1);
    for (const std::size_t n : {2, 299, 300, 5000})
        for (const double base : {0.0, 1.0, -1e6}) {
            // Around a large base only the last digits differ.
            std::vector<double> values(n);
            for (double& value : values) value = base + static_cast<double>(random() % n) / 64 - 1;
            ValueOrder order;
            order.start(n);
            for (std::size_t i = 0; i < n; ++i) order.add(values[i], i);
            order.sort();
            CHECK(order.size() == n && !order.apart(n - 1));
            for (std::size_t i = 0; i + 1 < n; ++i) {
                const double here = values[order.row(i)], next = values[order.row(i + 1)];
                CHECK(here <= next && order.apart(i) == (here < next));
                if (here < next) CHECK(here <= order.between(i) && order.between(i) < next);
            }
        }
}

TEST(no_split_is_worse_than_the_best_of_one_column) {
    unsigned seed = 0;
    for (const std::uint32_t classes : {0U, 2U, 3U, 7U})
        for (const Criterion criterion : {Criterion::gini, Criterion::entropy})
            for (const std::size_t n : {5, 60, 700})
                for (const Kind kind : {Kind{classes}, Kind{classes, 4}, Kind{classes, 0, true, true}}) {
                    const Data data = make_data(n, 7, kind, ++seed);
                    GrowOptions options{.criterion = criterion, .classes = classes, .max_depth = 1};
                    std::vector<double> weights(n);
                    for (std::size_t i = 0; i < n; ++i) weights[i] = 0.25 + static_cast<double>(i * i % 7);
                    for (const bool weighted : {false, true}) {
                        const std::vector<double> real = weighted ? weights : std::vector<double>{};
                        const Forest axis = grow_trees(data, options, 1, {}, real);
                        options.oblique = true;
                        const Forest oblique = grow_trees(data, options, 1, {}, real);
                        options.oblique = false;
                        oblique.validate();
                        CHECK(axis.nodes.size() == oblique.nodes.size());
                        if (axis.nodes.empty()) continue;
                        CHECK(oblique.nodes[0].gain >= axis.nodes[0].gain);
                        if (!(oblique.nodes[0].test & Node::kCombination)) CHECK(same_bytes(axis.nodes, oblique.nodes));
                    }
                }
}

TEST(a_diagonal_is_one_split) {
    Data data(500, 4);
    std::mt19937_64 random(3);
    for (std::size_t row = 0; row < data.rows; ++row) {
        for (std::size_t c = 0; c < 4; ++c)
            data.at(row, c) = static_cast<double>(random() % 100000) / (c % 2 ? 10 : 1e6);
        data.labels[row] = data.at(row, 0) / 0.1 + data.at(row, 1) / 1e4 > 1;
    }
    GrowOptions options{.classes = 2};
    const Forest axis = grow_trees(data, options);
    options.oblique = true;
    const Forest oblique = grow_trees(data, options);
    CHECK(oblique.leaves() * 4 < axis.leaves());
    for (std::size_t row = 0; row < data.rows; ++row)
        CHECK(oblique.label(leaf_of(oblique, 0, data.row(row))) == data.labels[row]);
}

TEST(huge_and_tiny_values_give_finite_tests) {
    for (const double unit : {1e300, 1.7e308, 1e-300, 5e-324, 1.0})
        for (const double other : {1e300, 1e-310, 1.0}) {
            Data data(80, 3);
            std::mt19937_64 random(4);
            for (std::size_t row = 0; row < data.rows; ++row) {
                for (std::size_t c = 0; c < 3; ++c)
                    data.at(row, c) = (static_cast<double>(random() % 2001) / 1000 - 1) * (c == 1 ? other : unit);
                data.targets[row] = static_cast<double>(random() % 50);
            }
            for (const std::uint32_t classes : {0U, 2U, 3U}) {
                for (std::int32_t& label : data.labels)
                    label = static_cast<std::int32_t>(classes ? random() % classes : 0);
                const Forest forest = grow_trees(data, {.classes = classes, .oblique = true});
                forest.validate();
                for (const Term& term : forest.terms) CHECK(std::isfinite(term.coefficient) && term.coefficient != 0);
                for (const Node& node : forest.nodes) {
                    if (!(node.test & Node::kCombination)) continue;
                    for (std::size_t row = 0; row < data.rows; ++row)
                        CHECK(!std::isinf(combine(forest, node.index(), [&](std::size_t c) { return data.row(row)[c]; })));
                }
            }
        }
}

TEST(every_search_gives_the_same_oblique_tree) {
    for (const std::size_t n : {100, 900}) {
        const Data data = make_data(n, 6, {.classes = 3, .missing = true, .category = true}, 5);
        for (const std::uint32_t features : {2U, 6U}) {
            GrowOptions options{.classes = 3, .max_features = features, .oblique = true};
            const std::vector<std::uint8_t> weights = bootstrap(3, n, 6);
            const Forest automatic = grow_trees(data, options, 3, weights);
            CHECK(!automatic.terms.empty());
            for (const Search search : {Search::sorted, Search::no_vectors}) {
                options.search = search;
                CHECK(same_forest(grow_trees(data, options, 3, weights), automatic));
            }
            options.threads = 2;
            CHECK(same_forest(grow_trees(data, options, 3, weights), automatic));
        }
    }
}
