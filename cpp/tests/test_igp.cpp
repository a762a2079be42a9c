#include "igp.hpp"

#include "check.hpp"
#include "data.hpp"
#include "draw.hpp"
#include "session.hpp"

using namespace conjunto;

namespace {

struct Grown {
    Forest forest;
    std::vector<std::int32_t> leaves;
    std::vector<std::uint32_t> passes;
};

struct Seen {
    std::vector<std::uint8_t> halves;
    std::vector<std::uint8_t> small;
    std::vector<double> real;
};

Grown grow_igp_trees(const Data& data, const Table& table, const Seen& seen, std::size_t members = 1, std::size_t threads = 1) {
    GrowOptions options{.classes = 4, .igp = true, .threads = threads};
    std::vector<std::uint64_t> number(members);
    for (std::size_t i = 0; i < members; ++i) number[i] = i;
    Views views;
    views.members = members;
    views.labels = data.labels.data();
    views.halves = seen.halves.empty() ? nullptr : seen.halves.data();
    views.small_weights = seen.small.empty() ? nullptr : seen.small.data();
    views.weights = seen.real.empty() ? nullptr : seen.real.data();
    views.key = {5, 6};
    views.number = number.data();
    GrowSession session(table, options);
    Grown out;
    out.leaves.assign(members * data.rows, -1);
    session.grow(views, out.leaves.data());
    out.forest = session.forest;
    out.passes = session.passes;
    return out;
}

std::vector<std::uint8_t> alternating(std::size_t rows) {
    std::vector<std::uint8_t> halves(rows);
    for (std::size_t row = 0; row < rows; ++row) halves[row] = row % 2;
    return halves;
}

}  // namespace

// Half 1 finds three classes, half 0 agrees, and finds nothing more.
TEST(a_tree_by_hand) {
    Data data(12, 1);
    for (std::size_t row = 0; row < 12; ++row) {
        data.at(row, 0) = static_cast<double>(row);
        data.labels[row] = row < 4 ? 0 : row < 8 ? 1 : 2;
    }
    const Grown grown = grow_igp_trees(data, data.table(), {alternating(12), {}, {}});
    CHECK(grown.forest.leaves() == 3);
    // The odd rows grew it: cuts lie between 3 and 5, 7 and 9, and even rows 4 and 8 fall on them.
    std::vector<double> cuts;
    for (const Node& node : grown.forest.nodes) cuts.push_back(node.threshold);
    std::sort(cuts.begin(), cuts.end());
    CHECK((cuts == std::vector<double>{4, 8}));
    CHECK(grown.passes[0] == 2);
}

// What half 1 learns by heart half 0 does not confirm: the root stays, with the class of half 1.
TEST(what_the_other_half_does_not_confirm_goes) {
    Data data(8, 1);
    for (std::size_t row = 0; row < 8; ++row) {
        data.at(row, 0) = static_cast<double>(row / 2);
        data.labels[row] = row % 2 ? (row / 2 == 2) : (row / 2 != 2);
    }
    const Grown grown = grow_igp_trees(data, data.table(), {alternating(8), {}, {}});
    CHECK(grown.forest.nodes.empty() && grown.forest.label(0) == 0);
    CHECK(grown.passes[0] == 2);
    CHECK(grown.leaves == std::vector<std::int32_t>(8, 0));
}

TEST(leaves_are_where_rows_end) {
    for (const std::size_t rows : {1, 2, 3, 4, 30, 700})
        for (const bool odd : {false, true}) {
            const Data data = make_data(rows, 7, {.classes = 4, .values = odd ? 6U : 0U, .missing = odd, .category = odd}, 9);
            Seen seen{alternating(rows), {}, std::vector<double>(rows, 0.5)};
            for (std::size_t row = 2; row < rows; row += 5) seen.real[row] = 0;
            const Grown grown = grow_igp_trees(data, data.table(), seen);
            grown.forest.validate();
            for (std::size_t row = 0; row < rows; ++row)
                CHECK(static_cast<std::size_t>(grown.leaves[row]) == leaf_of(grown.forest, 0, data.row(row)));
            CHECK(grown.passes[0] >= 2 && grown.passes[0] < 20);
        }
}

TEST(whole_weights_are_real_weights) {
    const Data data = make_data(150, 3, {.classes = 4, .values = 9}, 10);
    const std::vector<std::uint8_t> small = bootstrap(1, data.rows, 4);
    const Grown whole = grow_igp_trees(data, data.table(), {alternating(data.rows), small, {}});
    const Grown real = grow_igp_trees(data, data.table(), {alternating(data.rows), {}, {small.begin(), small.end()}});
    CHECK(whole.leaves == real.leaves && whole.passes == real.passes);
}

TEST(columns_may_lie_side_by_side) {
    const Data data = make_data(120, 5, {.classes = 4, .missing = true, .category = true}, 11);
    std::vector<double> turned(data.x.size());
    for (std::size_t row = 0; row < data.rows; ++row)
        for (std::size_t c = 0; c < data.columns; ++c) turned[c * data.rows + row] = data.x[row * data.columns + c];
    const auto stride = static_cast<std::ptrdiff_t>(data.rows);
    const Table table = prepare(turned.data(), data.rows, data.columns, 1, stride, data.categories.data(), 1);
    const Grown by_rows = grow_igp_trees(data, data.table(), {}, 5), by_columns = grow_igp_trees(data, table, {}, 5);
    CHECK(same_forest(by_rows.forest, by_columns.forest));
    CHECK(by_rows.leaves == by_columns.leaves && by_rows.passes == by_columns.passes);
}

TEST(halves_are_drawn_from_the_member_s_stream) {
    const Data data = make_data(90, 4, {.classes = 4}, 12);
    std::vector<std::uint32_t> rows(data.rows);
    for (std::size_t row = 0; row < data.rows; ++row) rows[row] = static_cast<std::uint32_t>(row);
    Seen seen;
    for (std::uint64_t member = 0; member < 6; ++member) {
        std::vector<std::uint8_t> half(data.rows);
        Philox random({5, 6}, member, Purpose::halves);
        draw_halves(random, rows, data.labels.data(), 4, data.rows, half.data());
        seen.halves.insert(seen.halves.end(), half.begin(), half.end());
    }
    const Grown drawn = grow_igp_trees(data, data.table(), {}, 6), given = grow_igp_trees(data, data.table(), seen, 6);
    CHECK(same_forest(drawn.forest, given.forest));
    CHECK(drawn.leaves == given.leaves);
}

TEST(threads_do_not_matter) {
    const Data data = make_data(200, 5, {.classes = 4, .missing = true, .category = true}, 13);
    const Grown one = grow_igp_trees(data, data.table(), {}, 9, 1), three = grow_igp_trees(data, data.table(), {}, 9, 3);
    CHECK(same_forest(one.forest, three.forest));
    CHECK(one.leaves == three.leaves && one.passes == three.passes);
}

TEST(halves_share_out_classes) {
    for (const std::size_t n : {0, 1, 2, 3, 10, 57})
        for (std::uint64_t member = 0; member < 20; ++member) {
            std::vector<std::int32_t> labels(2 * n);
            std::vector<std::uint32_t> rows;
            for (std::size_t row = 0; row < 2 * n; ++row) {
                labels[row] = static_cast<std::int32_t>(row * row % 5 % 3);
                if (row % 2 == 0) rows.push_back(static_cast<std::uint32_t>(row));
            }
            std::vector<std::uint8_t> half(2 * n, 7);
            Philox random({1, 2}, member, Purpose::halves);
            draw_halves(random, rows, labels.data(), 3, 2 * n, half.data());
            std::vector<int> surplus(4, 0);
            for (const std::uint32_t row : rows) {
                CHECK(half[row] <= 1);
                surplus[static_cast<std::size_t>(labels[row])] += half[row] ? 1 : -1;
                surplus[3] += half[row] ? 1 : -1;
            }
            for (const int more : surplus) CHECK(more >= -1 && more <= 1);
            for (std::size_t row = 1; row < 2 * n; row += 2) CHECK(half[row] == 0);
        }
}
