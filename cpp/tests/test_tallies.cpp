// The criteria that only the plain searches know, against their definitions; several targets; values in bounds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "tally_error.hpp"
#include "tally_median.hpp"
#include "tally_outputs.hpp"
#include "tally_poisson.hpp"

using namespace conjunto;

namespace {

// The rows of one node, as a grower has them.
struct Rows {
    std::vector<std::uint32_t> row, label, rank;
    std::vector<double> weight, moment, target;
    NodeRows node;

    Rows(std::size_t n, unsigned seed, bool few_targets, bool real_weights) {
        std::mt19937_64 random(seed);
        for (std::size_t i = 0; i < n; ++i) {
            row.push_back(static_cast<std::uint32_t>(i));
            weight.push_back(real_weights ? 0.25 * static_cast<double>(1 + random() % 9) : 1.0);
            target.push_back(few_targets ? static_cast<double>(random() % 4) : static_cast<double>(random() % 1000) / 1024);
            label.push_back(static_cast<std::uint32_t>(random() % 3));
            moment.push_back(weight[i] * target[i]);
        }
        std::vector<double> values = target;
        std::sort(values.begin(), values.end());
        for (const double y : target)
            rank.push_back(static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), y) - values.begin()));
        node.row = row.data();
        node.n = n;
        node.regression = true;
        node.weight = weight.data();
        node.moment = moment.data();
        node.target = target.data();
        node.target_rank = rank.data();
        node.label = label.data();
        node.class_total.assign(3, 0);
        for (std::size_t i = 0; i < n; ++i) {
            node.total += weight[i];
            node.total_moment += moment[i];
            node.class_total[label[i]] += weight[i];
        }
    }

    // What rows are away from the target that makes it least: one of them does.
    double absolute_loss(const std::vector<std::uint32_t>& some) const {
        double least = INFINITY;
        for (const std::uint32_t at : some) {
            double loss = 0;
            for (const std::uint32_t i : some) loss += weight[i] * std::fabs(target[i] - target[at]);
            least = std::min(least, loss);
        }
        return some.empty() ? 0.0 : least;
    }
};

bool near(double a, double b) { return std::fabs(a - b) <= 1e-6 * (1 + std::fabs(a)); }

}  // namespace

TEST(medians_of_prefixes_are_those_of_their_rows) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const std::size_t n = 2 + seed % 23;
        const Rows rows(n, seed, seed % 2, seed % 3 == 0);
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
        const std::size_t part = seed % n;
        MedianTally tally(rows.node);
        tally.reset();
        CHECK(near(tally.whole(), rows.absolute_loss(order)));
        tally.follow(std::span(order).first(part), std::span(order).subspan(part));
        tally.clear();
        for (std::size_t i = 0; i + 1 < n; ++i) {
            tally.add(order[i]);
            const std::vector<std::uint32_t> left(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i) + 1),
                right(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end());
            CHECK(near(tally.decrease(tally.score()), rows.absolute_loss(order) - rows.absolute_loss(left) - rows.absolute_loss(right)));
            std::vector<std::pair<double, double>> pairs;
            for (const std::uint32_t j : left) pairs.emplace_back(rows.target[j], rows.weight[j]);
            CHECK(tally.left_value() == median_of(pairs));
        }
    }
}

TEST(poisson_and_misclassification_by_their_definitions) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const std::size_t n = 3 + seed;
        const Rows rows(n, seed, true, true);
        PoissonTally counts(rows.node);
        ErrorTally errors(rows.node);
        counts.reset();
        errors.reset();
        const auto deviance = [&](std::size_t begin, std::size_t end) {
            double weight = 0, moment = 0, sum = 0;
            for (std::size_t i = begin; i < end; ++i) weight += rows.weight[i], moment += rows.moment[i];
            for (std::size_t i = begin; i < end; ++i)
                if (rows.target[i] > 0) sum += rows.moment[i] * std::log(rows.target[i] * weight / moment);
            return sum;
        };
        const auto wrong = [&](std::size_t begin, std::size_t end) {
            std::vector<double> of(3, 0.0);
            for (std::size_t i = begin; i < end; ++i) of[rows.label[i]] += rows.weight[i];
            return std::accumulate(of.begin(), of.end(), 0.0) - *std::max_element(of.begin(), of.end());
        };
        double moment = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) {
            counts.add(i);
            errors.add(i);
            moment += rows.moment[i];
            CHECK(counts.possible() == (moment > 0 && moment < rows.node.total_moment));
            if (counts.possible())
                CHECK(near(counts.decrease(counts.score()), deviance(0, n) - deviance(0, i + 1) - deviance(i + 1, n)));
            CHECK(near(errors.decrease(errors.score()), wrong(0, n) - wrong(0, i + 1) - wrong(i + 1, n)));
        }
    }
}

TEST(several_targets_are_told_apart_and_stored) {
    const Data data = make_data(120, 5, {.classes = 3, .missing = true, .category = true}, 4);
    std::vector<std::int32_t> labels(2 * data.rows);
    std::vector<double> targets(2 * data.rows);
    for (std::size_t row = 0; row < data.rows; ++row) {
        labels[2 * row] = data.labels[row];
        labels[2 * row + 1] = static_cast<std::int32_t>(data.at_const(row, 0) > 0.5);
        targets[2 * row] = data.targets[row];
        targets[2 * row + 1] = -data.targets[row];
    }
    Views views;
    const std::vector<std::uint64_t> number{0, 1, 2};
    views.members = 3;
    views.key = {3, 4};
    views.number = number.data();
    for (const bool classes : {true, false}) {
        GrowOptions options{.criterion = classes ? Criterion::gini : Criterion::variance, .classes = classes ? 5U : 0U};
        options.outputs = classes ? std::vector<std::uint32_t>{3, 2} : std::vector<std::uint32_t>{0, 0};
        views.labels = classes ? labels.data() : nullptr;
        views.targets = classes ? nullptr : targets.data();
        const Table table = data.table();
        options.max_features = 5;
        const Forest listed = grow(table, views, options);
        options.search = Search::sorted;
        CHECK(same_forest(listed, grow(table, views, options)));
        options.search = Search::automatic;
        options.max_features = 3;
        const Forest forest = grow(table, views, options);
        forest.validate();
        Forest again = forest.take(std::vector<std::int64_t>{2, 0});
        again.append(forest);
        again.validate();
        CHECK(again.trees() == 5 && again.targets() == 2);
        for (std::size_t output = 0; output < 2; ++output) {
            const Forest one = forest.of_output(output);
            one.validate();
            CHECK(!one.several() && one.classes == options.outputs[output]);
            for (std::size_t row = 0; row < data.rows; ++row)
                for (std::size_t tree = 0; tree < 3; ++tree) {
                    const std::size_t leaf = forest.leaf_start[tree] + leaf_of(forest, tree, data.row(row));
                    // Trees are fully grown, and rows with the same values have the same answers.
                    if (classes)
                        CHECK(one.label(leaf) == labels[2 * row + output] && forest.output_label[2 * leaf + output] == one.label(leaf));
                    else
                        CHECK(near(one.leaf_value[leaf], targets[2 * row + output]));
                }
        }
        Forest damaged = forest;
        if (classes)
            damaged.output_label[1] = 2;
        else
            damaged.leaf_value.pop_back();
        CHECK_THROWS(damaged.validate(), std::invalid_argument);
    }
}

TEST(values_stay_in_their_bounds) {
    const Data data = make_data(400, 4, {.classes = 2}, 9);
    Views views;
    const std::uint64_t number = 0;
    views.members = 1;
    views.key = {1, 2};
    views.number = &number;
    for (const Criterion criterion : {Criterion::variance, Criterion::absolute_error, Criterion::gini}) {
        const bool classes = for_classes(criterion);
        GrowOptions options{.criterion = criterion, .classes = classes ? 2U : 0U};
        options.monotone = {-1, 1, 0, 0};
        views.labels = classes ? data.labels.data() : nullptr;
        views.targets = classes ? nullptr : data.targets.data();
        const Forest forest = grow(data.table(), views, options);
        forest.validate();
        std::vector<double> share(2);
        const auto said = [&](const double* x) {
            const std::size_t leaf = leaf_of(forest, 0, x);
            if (!classes) return forest.leaf_value[leaf];
            forest.shares_of(leaf, share.data());
            return share[1];
        };
        std::vector<double> x(4);
        for (std::size_t row = 0; row < data.rows; ++row)
            for (const std::size_t column : {std::size_t{0}, std::size_t{1}}) {
                std::copy_n(data.row(row), 4, x.begin());
                double before = said(x.data());
                for (int step = 0; step < 8; ++step) {
                    x[column] += 0.1;
                    const double now = said(x.data());
                    CHECK(column == 1 ? now >= before : now <= before);
                    before = now;
                }
            }
        CHECK(classes || forest.inner_value.size() == forest.nodes.size());
    }
}

TEST(the_order_of_lists_is_that_of_sorting) {
    for (const unsigned values : {0U, 7U})
        for (const Criterion criterion : {Criterion::misclassification, Criterion::absolute_error, Criterion::poisson, Criterion::variance,
                                          Criterion::gini})
            for (const std::size_t rows : {std::size_t{90}, std::size_t{900}}) {
                const bool classes = for_classes(criterion);
                const Data data = make_data(rows, 6, {.classes = 2, .values = values, .missing = true, .category = true}, 21);
                Views views;
                const std::vector<std::uint64_t> number{0, 1};
                const std::vector<std::uint8_t> drawn = bootstrap(2, rows, 5);
                views.members = 2;
                views.key = {5, 6};
                views.number = number.data();
                views.labels = classes ? data.labels.data() : nullptr;
                views.targets = classes ? nullptr : data.targets.data();
                views.small_weights = drawn.data();
                GrowOptions options{.criterion = criterion, .classes = classes ? 2U : 0U};
                if (criterion == Criterion::variance || criterion == Criterion::gini) options.monotone = {1, 0, 0, -1, 0, 0};
                const Table table = data.table();
                const Forest quick = grow(table, views, options);
                options.search = Search::sorted;
                CHECK(same_forest(quick, grow(table, views, options)));
            }
}
