// Tables of mostly 0: the same trees and the same answers as of the same table written out.
#include "sparse.hpp"

#include "check.hpp"
#include "data.hpp"
#include "predict.hpp"
#include "table.hpp"

using namespace conjunto;

namespace {

// A dense table of which most values are 0, and its entries; some zeros are among them.
struct Both {
    Data data;
    std::vector<double> value;
    std::vector<std::int32_t> column;
    std::vector<std::int64_t> start{0};

    Both(std::size_t rows, std::size_t columns, std::uint32_t classes, unsigned share, bool missing, unsigned seed)
        : data(rows, columns) {
        std::mt19937_64 random(seed);
        for (std::size_t row = 0; row < rows; ++row) {
            double signal = static_cast<double>(random() % 4);
            for (std::size_t c = 0; c < columns; ++c) {
                double& cell = data.at(row, c);
                const bool empty = c % 7 == 6 || random() % 100 >= share;
                if (!empty) cell = static_cast<double>(static_cast<int>(random() % (c % 2 ? 7 : 1000)) - (c % 3 ? 0 : 3)) / 8;
                if (!empty && missing && random() % 5 == 0) cell = std::numeric_limits<double>::quiet_NaN();
                if (c < 5 && cell == cell) signal += cell > 0 ? 3 : cell < 0 ? -2 : 0;
                if (!empty || random() % 50 == 0) {
                    value.push_back(cell);
                    column.push_back(static_cast<std::int32_t>(c));
                }
            }
            start.push_back(static_cast<std::int64_t>(value.size()));
            data.labels[row] = static_cast<std::int32_t>(std::clamp(signal + 2, 0.0, double(std::max(classes, 1U) - 1)));
            data.targets[row] = std::floor(signal * 8) / 8;
        }
    }
    SparseRows rows() const { return {value.data(), column.data(), start.data()}; }
    Table sparse() const { return prepare_sparse(rows(), data.rows, data.columns); }
};

Forest grow_on(const Table& table, const Data& data, GrowOptions options, std::size_t members, const std::vector<std::uint8_t>& weights,
               const std::vector<double>& real, std::vector<std::int32_t>& leaves) {
    std::vector<std::uint64_t> number(members);
    for (std::size_t i = 0; i < members; ++i) number[i] = i;
    Views views;
    views.members = members;
    if (options.classes)
        views.labels = data.labels.data();
    else
        views.targets = data.targets.data();
    views.small_weights = weights.empty() ? nullptr : weights.data();
    views.weights = real.empty() ? nullptr : real.data();
    views.number = number.data();
    options.criterion = options.classes ? options.criterion : Criterion::variance;
    GrowSession session(table, options);
    leaves.assign(members * table.rows, -1);
    session.grow(views, leaves.data());
    return std::move(session.forest);
}

bool same(const Forest& a, const Forest& b) {
    const bool shape = a.nodes.size() == b.nodes.size() && a.node_start == b.node_start && a.leaf_label == b.leaf_label &&
                       a.leaf_value == b.leaf_value && a.shares == b.shares;
    return shape && std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), [](const Node& x, const Node& y) {
               return x.threshold == y.threshold && x.left == y.left && x.right == y.right && x.test == y.test && x.gain == y.gain;
           });
}

}  // namespace

TEST(trees_are_those_of_the_table_written_out) {
    for (unsigned seed = 0; seed < 36; ++seed) {
        const std::uint32_t classes = seed % 4 == 3 ? 0 : seed % 3 == 0 ? 2 : 5;
        const Both both(seed % 2 ? 300 : 40, seed % 5 ? 21 : 3, classes, seed % 3 ? 10 : 60, seed % 2, seed);
        const Table dense = both.data.table(), sparse = both.sparse();
        GrowOptions options{.classes = classes};
        options.max_features = seed % 3 == 1 ? 2 : std::numeric_limits<std::uint32_t>::max();
        options.k_best = seed % 7 == 5 ? 3 : 1;
        options.random_cuts = seed % 6 == 4;
        options.min_rows_leaf = seed % 5 == 2 ? 4 : 1;
        options.max_leaves = seed % 8 == 6 ? 9 : 0;
        if (classes && seed % 9 == 1) options.criterion = Criterion::entropy;
        const std::vector<std::uint8_t> weights = seed % 2 ? bootstrap(3, both.data.rows, seed) : std::vector<std::uint8_t>{};
        std::vector<std::int32_t> leaves, other;
        const Forest expected = grow_on(dense, both.data, options, 3, weights, {}, leaves);
        CHECK(same(expected, grow_on(sparse, both.data, options, 3, weights, {}, other)));
        CHECK(leaves == other);
        if (!options.random_cuts) {
            options.search = Search::sorted;
            CHECK(same(expected, grow_on(sparse, both.data, options, 3, weights, {}, other)));
            options.search = Search::automatic;
        }
        // Weights of quarters: sums are exact in any order, but for logarithms of them.
        if (options.criterion == Criterion::entropy) continue;
        std::vector<double> real(3 * both.data.rows);
        for (std::size_t i = 0; i < real.size(); ++i) real[i] = static_cast<double>(i * 7 % 5) / 4;
        CHECK(same(grow_on(dense, both.data, options, 3, {}, real, leaves), grow_on(sparse, both.data, options, 3, {}, real, other)));
        CHECK(leaves == other);
    }
}

TEST(answers_are_those_of_the_rows_written_out) {
    for (const bool missing : {false, true})
        for (const std::uint32_t classes : {0U, 2U, 20U}) {
            const Both both(500, 30, classes, 15, missing, classes);
            std::vector<std::int32_t> leaves;
            const Forest forest = grow_on(both.sparse(), both.data, {.classes = classes, .max_features = 3}, 13, bootstrap(13, 500, 1), {}, leaves);
            const SparseRows given = both.rows();
            for (const std::size_t n : {0, 1, 63, 64, 500})
                for (const std::size_t threads : {1, 3}) {
                    const Rows dense{both.data.x.data(), n, 30}, sparse{given, n, 30};
                    std::vector<std::int32_t> a(n * 13), b(n * 13);
                    member_leaves(forest, dense, a.data(), threads);
                    member_leaves(forest, sparse, b.data(), threads);
                    CHECK(a == b);
                    std::vector<double> sums(n * std::max(classes, 1U), -1.0), other(sums);
                    if (classes) {
                        share_sums(forest, dense, sums.data(), threads);
                        share_sums(forest, sparse, other.data(), threads);
                        CHECK(sums == other);
                        vote_counts(forest, dense, sums.data(), threads);
                        vote_counts(forest, sparse, other.data(), threads);
                    } else {
                        value_sums(forest, dense, sums.data(), threads);
                        value_sums(forest, sparse, other.data(), threads);
                    }
                    CHECK(sums == other);
                }
        }
}

TEST(values_and_ranks_are_those_of_the_table_written_out) {
    const Both both(60, 9, 2, 40, true, 3);
    const Table dense = both.data.table(), sparse = both.sparse();
    std::vector<double> space(9);
    for (std::size_t row = 0; row < 60; ++row) {
        const double* values = sparse.values_of(row, space.data());
        for (std::size_t c = 0; c < 9; ++c) {
            const double value = dense.value(row, c);
            CHECK(values[c] == value || (std::isnan(value) && std::isnan(values[c])));
            CHECK(sparse.value(row, c) == value || std::isnan(value));
            CHECK((sparse.rank_of(row, c) == kMissing) == std::isnan(value));
            for (std::size_t other = 0; other < 60 && !std::isnan(value); ++other)
                if (const double there = dense.value(other, c); !std::isnan(there))
                    CHECK((sparse.rank_of(row, c) < sparse.rank_of(other, c)) == (value < there));
        }
    }
    for (std::size_t c = 0; c < 9; ++c) CHECK(sparse.scale(c) == dense.scale(c));
}

TEST(damaged_rows_are_refused) {
    const std::vector<double> value{1, 2, 3};
    const auto refuses = [&](std::vector<std::int32_t> column, std::vector<std::int64_t> start, double first) {
        std::vector<double> values = value;
        values[0] = first;
        CHECK_THROWS(prepare_sparse({values.data(), column.data(), start.data()}, 2, 4), std::invalid_argument);
    };
    refuses({0, 4, 1}, {0, 2, 3}, 1);
    refuses({0, -1, 1}, {0, 2, 3}, 1);
    refuses({2, 1, 1}, {0, 2, 3}, 1);
    refuses({1, 1, 1}, {0, 2, 3}, 1);
    refuses({0, 1, 1}, {0, 2, 1}, 1);
    refuses({0, 1, 1}, {1, 2, 3}, 1);
    refuses({0, 1, 1}, {0, 2, 3}, std::numeric_limits<double>::infinity());
}
