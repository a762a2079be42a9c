#include "ballot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "kernels.hpp"
#include "rng.hpp"

using namespace conjunto;

namespace {

// Random votes; one label in eight is an abstention.
struct Random {
    std::size_t members, n, classes;
    std::vector<std::int32_t> labels, truth;

    Random(std::size_t members, std::size_t n, std::size_t classes, std::uint64_t seed)
        : members(members), n(n), classes(classes), labels(members * n), truth(n) {
        Philox random({seed, 1}, 0, Purpose::rows);
        for (std::int32_t& label : labels)
            label = random.next() % 8 == 0 ? -1 : static_cast<std::int32_t>(random.next() % classes);
        for (std::int32_t& label : truth) label = static_cast<std::int32_t>(random.next() % classes);
    }
    Ballots ballots() const { return {labels.data(), nullptr, truth.data(), nullptr, nullptr, members, n, classes}; }
};

}  // namespace

TEST(planes_hold_every_vote) {
    for (const std::size_t n : {1, 63, 64, 65, 200}) {
        const Random votes(5, n, 3, n);
        const Planes planes(votes.ballots(), true);
        for (std::size_t t = 0; t < 5; ++t)
            for (std::size_t i = 0; i < 64 * planes.voted.words(); ++i) {
                const auto bit = [&](const Bits& bits, std::size_t row) { return (bits.row(row)[i / 64] >> (i % 64)) & 1; };
                const std::int32_t label = i < n ? votes.labels[t * n + i] : -1;
                CHECK(bit(planes.voted, t) == (label >= 0));
                CHECK(bit(planes.right, t) == (label >= 0 && label == votes.truth[i]));
                for (std::int32_t c = 0; c < 3; ++c) CHECK(bit(planes.votes, t * 3 + static_cast<std::size_t>(c)) == (label == c));
            }
    }
}

TEST(bits_are_weighed_one_by_one) {
    const std::size_t n = 150;
    const Random votes(2, n, 2, 3);
    const Planes planes(votes.ballots(), false);
    std::vector<double> worth(n);
    for (std::size_t i = 0; i < n; ++i) worth[i] = 0.5 + static_cast<double>(i % 7);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (votes.labels[i] >= 0 && votes.labels[n + i] >= 0) {
            sum += worth[i];
            count += 1;
        }
    const std::size_t words = planes.voted.words();
    CHECK(weigh(planes.voted.row(0), planes.voted.row(1), words, worth.data()) == sum);
    CHECK(weigh(planes.voted.row(0), planes.voted.row(1), words, nullptr) == count);
}

TEST(sums_of_bits_do_not_depend_on_threads) {
    for (const std::size_t n : {1, 7, 8, 9, 127, 128, 129, 1000}) {
        const Random votes(40, n, 2, n);
        const Planes planes(votes.ballots(), false);
        std::vector<std::uint32_t> rows{0, 3, 39, 17};
        std::vector<double> values(n), one(rows.size()), three(rows.size());
        for (std::size_t i = 0; i < n; ++i) values[i] = std::sin(static_cast<double>(i));
        bit_sums(planes.right, rows, values, 1, one.data());
        bit_sums(planes.right, rows, values, 3, three.data());
        CHECK(one == three);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i)
                if (votes.labels[rows[r] * n + i] == votes.truth[i]) sum += values[i];
            CHECK(std::abs(one[r] - sum) < 1e-12 * static_cast<double>(n));
        }
    }
}

TEST(ties_go_to_the_lowest_class) {
    const std::vector<std::int32_t> labels{0, 1, 1, 0}, truth{0, 1};
    const Ballots ballots{labels.data(), nullptr, truth.data(), nullptr, nullptr, 2, 2, 2};
    VoteCount count(ballots);
    CHECK(count.silent(0) && !count.right(0));
    count.add(0);
    CHECK(count.right(0) && count.right(1));
    CHECK(count.right_with(0, 1) && !count.right_with(1, 1));
    count.add(1);
    CHECK(count.right(0) && !count.right(1));
    count.recount({1});
    CHECK(!count.right(0) && !count.right(1));
}

TEST(weights_that_differ_by_rounding_tie) {
    const std::vector<std::int32_t> labels{1, 1, 0}, truth{1};
    const std::vector<double> weights{0.1, 0.2, 0.3};  // 0.1 + 0.2 > 0.3 in doubles
    const Ballots ballots{labels.data(), nullptr, truth.data(), weights.data(), nullptr, 3, 1, 2};
    VoteCount count(ballots);
    for (std::size_t t = 0; t < 3; ++t) count.add(t);
    CHECK(!count.right(0));
}

TEST(kappa_by_its_formula) {
    const Random votes(6, 90, 3, 11);
    std::vector<double> kappas(36), again(36);
    kappa_statistics(votes.ballots(), 1, kappas.data());
    kappa_statistics(votes.ballots(), 4, again.data());
    CHECK(kappas == again);
    for (std::size_t a = 0; a < 6; ++a)
        for (std::size_t b = 0; b < 6; ++b) {
            double both = 0, agree = 0, of_a[3] = {}, of_b[3] = {};
            for (std::size_t i = 0; i < 90; ++i) {
                const std::int32_t one = votes.labels[a * 90 + i], other = votes.labels[b * 90 + i];
                if (one < 0 || other < 0) continue;
                both += 1;
                agree += one == other;
                of_a[one] += 1;
                of_b[other] += 1;
            }
            double chance = 0;
            for (int c = 0; c < 3; ++c) chance += of_a[c] / both * of_b[c] / both;
            const double kappa = a == b ? 1.0 : (agree / both - chance) / (1 - chance);
            CHECK(std::abs(kappas[a * 6 + b] - kappa) < 1e-12);
        }
}

TEST(kappa_where_there_is_nothing_to_compare) {
    const std::vector<std::int32_t> labels{0, -1, -1, 0, 0, 0}, truth{0, 0};
    std::vector<double> kappas(9);
    kappa_statistics({labels.data(), nullptr, truth.data(), nullptr, nullptr, 3, 2, 1}, 1, kappas.data());
    CHECK(std::isinf(kappas[1]));
    CHECK(kappas[2] == 1.0);
}

TEST(both_sets_of_kernels_count_alike) {
    std::vector<std::uint64_t> a(77), b(77);
    Philox random({1, 2}, 3, Purpose::rows);
    for (std::size_t w = 0; w < 77; ++w) {
        a[w] = random.next();
        b[w] = random.next();
    }
    for (const std::size_t words : {0, 1, 5, 77}) {
        CHECK(best_kernels().count_and(a.data(), b.data(), words) == plain_kernels().count_and(a.data(), b.data(), words));
        CHECK(best_kernels().count_xor(a.data(), b.data(), words) == plain_kernels().count_xor(a.data(), b.data(), words));
    }
    const std::vector<std::uint64_t> ones(2, ~std::uint64_t{0}), none(2, 0);
    CHECK(best_kernels().count_and(ones.data(), ones.data(), 2) == 128);
    CHECK(best_kernels().count_xor(ones.data(), none.data(), 2) == 128);
}

TEST(leaders_by_the_definition) {
    Philox random({4, 2}, 1, Purpose::rows);
    for (const std::size_t classes : {1, 2, 3, 7, 8, 9, 12, 26, 33, 300}) {
        const std::size_t rows = 200;
        std::vector<double> counts(rows * classes);
        for (std::size_t i = 0; i < counts.size(); ++i) {
            // Few values, so that there are ties; some off by rounding, some by more than that, some negative.
            const double value = static_cast<double>(random.next() % 5) - (i / classes % 3 ? 2.0 : 6.0);
            const double off[] = {0.0, 1e-11, -1e-11, 1e-8, -1e-8};
            counts[i] = value * (1 + off[random.next() % 5]);
        }
        std::vector<std::int64_t> found(rows, -1);
        leaders(counts.data(), rows, classes, found.data());
        for (std::size_t row = 0; row < rows; ++row) {
            const double* count = counts.data() + row * classes;
            double most = count[0], scale = 0;
            for (std::size_t c = 0; c < classes; ++c) {
                most = std::max(most, count[c]);
                scale = std::max(scale, std::abs(count[c]));
            }
            std::int64_t leader = 0;
            while (count[leader] < most - 1e-10 * scale) ++leader;
            CHECK(found[row] == leader);
        }
    }
}

TEST(leaders_of_counts_that_are_no_numbers) {
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> counts{nan, 1, 2, 3, infinity, infinity, nan, nan, nan, nan, infinity, nan};
    std::vector<std::int64_t> found(4);
    leaders(counts.data(), 4, 3, found.data());
    CHECK((found == std::vector<std::int64_t>{2, 1, 0, 1}));
    leaders(counts.data(), 0, 3, nullptr);
}
