#include <stdexcept>

#include "check.hpp"
#include "data.hpp"
#include "split_presorted.hpp"

using namespace conjunto;

namespace {

// What the members of one call see.
struct Call {
    std::size_t members = 1;
    std::vector<std::uint8_t> small;
    std::vector<double> real;
    std::vector<std::uint32_t> columns;
};

GrowOptions fitting(GrowOptions options) {
    if (!options.classes) options.criterion = Criterion::variance;
    return options;
}

// A session whose members are numbered from 0, over all calls.
struct Rounds {
    const Data& data;
    Table table;
    GrowSession session;
    std::uint64_t next = 0;

    Rounds(const Data& data, GrowOptions options) : data(data), table(data.table()), session(table, fitting(options)) {}

    std::vector<std::int32_t> grow(const Call& call) {
        std::vector<std::uint64_t> number(call.members);
        for (std::uint64_t& n : number) n = next++;
        std::vector<std::int32_t> leaves(call.members * data.rows, -1);
        session.grow(views(call, number), leaves.data());
        return leaves;
    }

    // The same members by the search of the options, each call for itself.
    Forest grow_apart(const std::vector<Call>& calls, GrowOptions options) const {
        Forest out = session.forest.take({});
        std::uint64_t first = 0;
        for (const Call& call : calls) {
            std::vector<std::uint64_t> number(call.members);
            for (std::uint64_t& n : number) n = first++;
            out.append(conjunto::grow(table, views(call, number), fitting(options)));
        }
        return out;
    }

private:
    Views views(const Call& call, const std::vector<std::uint64_t>& number) const {
        Views out;
        out.members = call.members;
        if (session.forest.classes)
            out.labels = data.labels.data();
        else
            out.targets = data.targets.data();
        if (!call.small.empty()) out.small_weights = call.small.data();
        if (!call.real.empty()) out.weights = call.real.data();
        if (!call.columns.empty()) {
            out.columns = call.columns.data();
            out.columns_seen = call.columns.size() / call.members;
        }
        out.key = {11, 12};
        out.number = number.data();
        return out;
    }
};

// Real weights in quarters: sums are exact in any order. Of eight rows about `unseen` have none.
std::vector<double> quarters(std::size_t members, std::size_t rows, unsigned unseen, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<double> out(members * rows);
    for (double& weight : out) weight = random() % 8 < unseen ? 0.0 : 0.25 * static_cast<double>(1 + random() % 16);
    for (std::size_t member = 0; member < members; ++member) out[member * rows] = 1;
    return out;
}

std::vector<Call> quarter_calls(std::size_t rows, unsigned seed) {
    std::vector<Call> calls;
    for (unsigned i = 0; i < 5; ++i) calls.push_back({1 + i % 3, {}, quarters(1 + i % 3, rows, i % 4, seed + i), {}});
    return calls;
}

// Whether a session grows what the plain search grows, and tells the right leaves.
bool session_agrees(const Data& data, GrowOptions options, const std::vector<Call>& calls) {
    Rounds rounds(data, options);
    bool agrees = true;
    for (const Call& call : calls) {
        const std::vector<std::int32_t> leaves = rounds.grow(call);
        const Forest& forest = rounds.session.forest;
        for (std::size_t member = 0; member < call.members; ++member)
            for (std::size_t row = 0; row < data.rows; ++row)
                agrees &= static_cast<std::size_t>(leaves[member * data.rows + row]) ==
                          leaf_of(forest, forest.trees() - call.members + member, data.row(row));
    }
    rounds.session.forest.validate();
    options.search = Search::sorted;
    return agrees && same_forest(rounds.session.forest, rounds.grow_apart(calls, options));
}

}  // namespace

TEST(presorted_columns_are_in_order) {
    Data data = make_data(300, 6, {.values = 20, .missing = true, .category = true}, 1);
    for (std::size_t row = 0; row < data.rows; ++row) data.at(row, 3) = 7;
    for (std::size_t row = 0; row < data.rows; ++row) data.at(row, 4) = std::nan("");
    const Table table = data.table();
    const PresortedColumns presorted(table);
    for (const std::size_t c : {0, 1, 3, 4}) {
        std::vector<std::uint32_t> present, missing, sorted;
        for (std::uint32_t row = 0; row < data.rows; ++row)
            (std::isnan(data.at(row, c)) ? missing : present).push_back(row);
        std::stable_sort(present.begin(), present.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return data.at(a, c) < data.at(b, c); });
        for (const std::uint32_t key : presorted.sorted(c)) sorted.push_back(key & PresortedColumns::kRow);
        CHECK(sorted == present);
        CHECK(std::ranges::equal(presorted.missing(c), missing));
        for (std::size_t i = 0; i < sorted.size(); ++i)
            CHECK(((presorted.sorted(c)[i] & PresortedColumns::kApart) != 0) ==
                  (i + 1 < sorted.size() && data.at(sorted[i], c) < data.at(sorted[i + 1], c)));
    }
    CHECK(presorted.missing(1).size() > 20 && presorted.missing(4).size() == data.rows);
}

// Elements are apart wherever an unseen row between them says so; behind the last one there is nothing.
TEST(what_a_node_sees_of_a_presorted_column) {
    Data data(6, 1);
    for (std::size_t row = 0; row < 6; ++row) data.at(row, 0) = std::array{0, 1, 1, 2, 3, 3}[row];
    const Table table = data.table();
    const PresortedColumns presorted(table);
    PresortedSpace space;
    auto sees = [&](const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& expected) {
        NodeRows node;
        node.row = rows.data();
        node.n = rows.size();
        space.number(node, table.rows);
        return std::ranges::equal(space.seen(node, table.rows, presorted.sorted(0), 0), expected);
    };
    constexpr std::uint32_t kApart = PresortedColumns::kApart;
    CHECK(sees({0, 2, 4}, {0 | kApart, 1 | kApart, 2}));
    CHECK(sees({1, 4, 5}, {0 | kApart, 1, 2}));
    CHECK(sees({0, 1}, {0 | kApart, 1}));
    CHECK(sees({1, 2}, {0, 1}));
    CHECK(sees({3}, {0}));
}

TEST(one_call_is_a_batch) {
    for (const std::uint32_t classes : {0U, 2U, 3U})
        for (const GrowOptions& options :
             {GrowOptions{.max_depth = 1}, GrowOptions{.max_features = 2}, GrowOptions{.max_leaves = 5},
              GrowOptions{.max_features = 2, .combination = 2, .max_depth = 3}, GrowOptions{.k_best = 3, .max_depth = 2}}) {
            GrowOptions chosen = options;
            chosen.classes = classes;
            const Data data = make_data(200, 6, {.classes = classes, .missing = true, .category = true}, classes);
            const std::vector<std::uint8_t> small = bootstrap(3, data.rows, 2);
            Rounds rounds(data, chosen);
            rounds.grow({3, small, {}, {}});
            CHECK(same_forest(rounds.session.forest, grow_trees(data, chosen, 3, small)));
        }
}

TEST(calls_add_up) {
    for (const std::uint32_t classes : {0U, 3U}) {
        const Data data = make_data(200, 6, {.classes = classes, .missing = true, .category = true}, 3);
        const std::vector<std::uint8_t> small = bootstrap(6, data.rows, 3);
        const GrowOptions options{.classes = classes, .max_features = 2};
        Rounds rounds(data, options);
        auto part = [&](std::size_t first, std::size_t end) {
            const auto at = [&](std::size_t i) { return small.begin() + static_cast<std::ptrdiff_t>(i * data.rows); };
            return Call{end - first, {at(first), at(end)}, {}, {}};
        };
        rounds.grow(part(0, 1));
        rounds.grow(part(1, 5));
        rounds.grow({0, {}, {}, {}});
        rounds.grow(part(5, 6));
        CHECK(rounds.session.forest.trees() == 6);
        CHECK(same_forest(rounds.session.forest, grow_trees(data, options, 6, small)));
    }
}

// With weights in quarters and targets in eighths every sum is exact, so that ties fall alike in all searches.
TEST(stumps_are_those_of_the_plain_search) {
    for (const std::size_t n : {2, 3, 9, 40, 300, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U, 26U})
            for (const unsigned values : {0U, 3U})
                for (const std::uint32_t features : {1U, 3U, 100U}) {
                    const Data data = make_data(n, 11, {.classes = classes, .values = values}, static_cast<unsigned>(n));
                    const GrowOptions options{.classes = classes, .max_features = features, .max_depth = 1};
                    CHECK(session_agrees(data, options, quarter_calls(n, classes)));
                }
}

TEST(stumps_on_missing_values_categories_and_constants) {
    for (const std::size_t n : {9, 60, 900})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const std::uint32_t features : {1U, 3U, 100U}) {
                const Kind kind{.classes = classes, .values = 8, .missing = true, .category = true};
                Data data = make_data(n, 12, kind, static_cast<unsigned>(n));
                for (std::size_t row = 0; row < n; ++row) {
                    data.at(row, 3) = 1;
                    data.at(row, 7) = std::nan("");
                    data.at(row, 9) = row % 3 ? std::nan("") : 4;
                    // Constant in what a member sees wherever it does not see the first rows.
                    data.at(row, 10) = row == 1;
                }
                const GrowOptions options{.classes = classes, .max_features = features, .max_depth = 1};
                CHECK(session_agrees(data, options, quarter_calls(n, classes)));
            }
}

TEST(stumps_within_limits) {
    for (const std::size_t n : {40, 600})
        for (const std::uint32_t classes : {0U, 2U, 3U})
            for (const bool missing : {false, true}) {
                const Data data = make_data(n, 5, {.classes = classes, .values = 30, .missing = missing}, 4);
                const auto rows = static_cast<std::uint32_t>(n);
                for (const std::uint32_t least : {2U, rows / 5, rows / 3, rows / 2, rows})
                    CHECK(session_agrees(data, {.classes = classes, .max_depth = 1, .min_rows_leaf = least},
                                         quarter_calls(n, least)));
                // Binary fractions: what a leaf must weigh is exact.
                for (const double share : {0.0625, 0.25, 0.4375, 0.5, 0.75})
                    CHECK(session_agrees(data, {.classes = classes, .max_depth = 1, .min_weight_share_leaf = share},
                                         quarter_calls(n, 5)));
                CHECK(session_agrees(data, {.classes = classes, .max_depth = 1, .min_decrease = 0.05}, quarter_calls(n, 6)));
            }
}

// No categories: a set and its complement are one cut, of scores that round differently.
TEST(stumps_by_entropy) {
    for (const std::uint32_t classes : {2U, 3U, 26U})
        for (const std::uint32_t features : {2U, 100U}) {
            const Data data = make_data(200, 9, {.classes = classes, .values = 40, .missing = true}, 5);
            const GrowOptions options{
                .criterion = Criterion::entropy, .classes = classes, .max_features = features, .max_depth = 1};
            CHECK(session_agrees(data, options, quarter_calls(data.rows, classes)));
        }
}

TEST(stumps_of_the_columns_a_member_sees) {
    const Data data = make_data(100, 8, {.classes = 2}, 6);
    std::vector<Call> calls = quarter_calls(data.rows, 6);
    for (Call& call : calls)
        for (std::size_t member = 0; member < call.members; ++member)
            for (const std::uint32_t column : {7U, 4U, 7U}) call.columns.push_back(column);
    const GrowOptions options{.classes = 2, .max_depth = 1};
    CHECK(session_agrees(data, options, calls));
    Rounds rounds(data, options);
    for (const Call& call : calls) rounds.grow(call);
    for (const Node& node : rounds.session.forest.nodes) CHECK(node.index() == 4 || node.index() == 7);
}

TEST(kinds_of_weights_may_change_from_call_to_call) {
    const Data data = make_data(150, 6, {.classes = 3, .values = 9}, 7);
    std::vector<Call> calls = quarter_calls(data.rows, 7);
    calls.insert(calls.begin() + 2, {2, bootstrap(2, data.rows, 7), {}, {}});
    calls.insert(calls.begin() + 4, {1, {}, {}, {}});
    for (const std::uint32_t depth : {1U, 2U})
        CHECK(session_agrees(data, {.classes = 3, .max_features = 4, .max_depth = depth}, calls));
}

TEST(deeper_trees_know_their_leaves) {
    for (const std::uint32_t classes : {0U, 2U, 3U})
        for (const std::uint32_t leaves : {0U, 6U}) {
            const Data data = make_data(700, 7, {.classes = classes, .missing = true, .category = true}, 8);
            const GrowOptions options{.classes = classes, .max_features = 3, .max_depth = 4, .max_leaves = leaves};
            Rounds rounds(data, options);
            for (unsigned i = 0; i < 3; ++i) {
                const std::vector<std::int32_t> leaf = rounds.grow({2, {}, quarters(2, data.rows, 4, i), {}});
                for (std::size_t at = 0; at < leaf.size(); ++at)
                    CHECK(static_cast<std::size_t>(leaf[at]) ==
                          leaf_of(rounds.session.forest, 2 * i + at / data.rows, data.row(at % data.rows)));
            }
        }
}

// A row of weight 0 has what training has not: a missing value where none was seen, a category that no row had.
TEST(unseen_rows_go_where_new_rows_go) {
    Data data(8, 2);
    data.categories[1] = 3;
    for (std::size_t row = 0; row < 8; ++row) {
        data.at(row, 0) = static_cast<double>(row);
        data.at(row, 1) = static_cast<double>(row < 5);
        data.labels[row] = row < 5;
    }
    data.at(7, 0) = std::nan("");
    data.at(7, 1) = 2;
    for (const std::uint32_t column : {0U, 1U}) {
        Rounds rounds(data, {.classes = 2, .max_depth = 1});
        for (int i = 0; i < 3; ++i) {
            const std::vector<std::int32_t> leaves = rounds.grow({1, {}, {1, 1, 1, 1, 1, 1, 1, 0}, {column}});
            const Forest& forest = rounds.session.forest;
            // Of seven rows five are of class 1.
            CHECK(forest.label(forest.leaf_start[forest.trees() - 1] + static_cast<std::size_t>(leaves[7])) == 1);
            for (std::size_t row = 0; row < 7; ++row) CHECK((leaves[row] == leaves[7]) == (row < 5));
        }
    }
}

TEST(a_member_of_one_leaf_has_all_rows_there) {
    const Data data = make_data(30, 2, {.classes = 2}, 9);
    std::vector<double> one(data.rows, 0.0);
    one[3] = 0.5;
    Rounds rounds(data, {.classes = 2, .max_depth = 1});
    for (int i = 0; i < 3; ++i) CHECK(rounds.grow({1, {}, one, {}}) == std::vector<std::int32_t>(data.rows, 0));
    CHECK(rounds.session.forest.nodes.empty());
    CHECK(rounds.session.forest.leaf_label == std::vector<std::int32_t>(3, data.labels[3]));
}

TEST(threads_and_kernels_do_not_matter_to_a_session) {
    std::mt19937_64 random(10);
    for (const std::uint32_t classes : {0U, 2U, 3U})
        for (const std::uint32_t depth : {1U, 3U}) {
            const Data data = make_data(400, 9, {.classes = classes, .missing = true, .category = true}, 10);
            GrowOptions options{.classes = classes, .max_features = 4, .max_depth = depth};
            Rounds one(data, options);
            options.search = Search::no_vectors;
            Rounds plain(data, options);
            options.search = Search::automatic;
            options.threads = 3;
            Rounds three(data, options);
            for (const std::size_t members : {1, 5, 2, 8}) {
                Call call{members, {}, std::vector<double>(members * data.rows), {}};
                for (double& weight : call.real) weight = random() % 5 ? static_cast<double>(random() >> 11) * 0x1.0p-53 : 0;
                const std::vector<std::int32_t> leaves = one.grow(call);
                CHECK(leaves == three.grow(call));
                CHECK(leaves == plain.grow(call));
            }
            CHECK(same_forest(one.session.forest, three.session.forest));
            CHECK(same_forest(one.session.forest, plain.session.forest));
        }
}

TEST(leaves_need_not_be_asked_for) {
    const Data data = make_data(100, 4, {.classes = 2}, 11);
    Rounds rounds(data, {.classes = 2, .max_depth = 1});
    const std::vector<double> real = quarters(1, data.rows, 2, 11);
    const std::uint64_t number = 0;
    Views views;
    views.members = 1;
    views.labels = data.labels.data();
    views.weights = real.data();
    views.number = &number;
    for (int i = 0; i < 3; ++i) rounds.session.grow(views, nullptr);
    const Forest& forest = rounds.session.forest;
    CHECK(forest.trees() == 3 && forest.nodes.size() == 3);
    CHECK(same_forest(forest.take(std::vector<std::int64_t>{0}), forest.take(std::vector<std::int64_t>{2})));
}

TEST(a_session_survives_a_call_that_fails) {
    const Data data = make_data(60, 5, {.classes = 2}, 12);
    const std::vector<Call> calls = quarter_calls(data.rows, 12);
    for (const std::size_t threads : {1, 3})
        for (std::size_t at = 0; at < calls.size(); ++at) {
            const GrowOptions options{.classes = 2, .max_depth = 1, .threads = threads};
            Rounds sound(data, options), rounds(data, options);
            for (std::size_t i = 0; i < calls.size(); ++i) {
                if (i == at) {
                    Call broken{3, {}, quarters(3, data.rows, 2, 12), {}};
                    std::fill_n(broken.real.begin() + static_cast<std::ptrdiff_t>(data.rows), data.rows, 0.0);
                    CHECK_THROWS(rounds.grow(broken), std::invalid_argument);
                    rounds.next -= 3;
                    CHECK(same_forest(rounds.session.forest, sound.session.forest));
                }
                CHECK(sound.grow(calls[i]) == rounds.grow(calls[i]));
            }
            CHECK(same_forest(rounds.session.forest, sound.session.forest));
        }
}

TEST(dropped_members_leave_no_trace) {
    for (const std::uint32_t classes : {0U, 3U}) {
        const Data data = make_data(80, 6, {.classes = classes, .missing = true, .category = true}, 13);
        const GrowOptions options{.classes = classes, .max_features = 2, .max_depth = 1};
        Rounds rounds(data, options), other(data, options);
        const std::vector<Call> calls = quarter_calls(data.rows, 13);
        for (const Call& call : calls) {
            rounds.grow(call);
            rounds.session.forest.drop(call.members);
            rounds.next -= call.members;
            CHECK(rounds.grow(call) == other.grow(call));
            CHECK(same_forest(rounds.session.forest, other.session.forest));
        }
        rounds.session.forest.validate();
    }
}
