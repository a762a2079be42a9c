#include "order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"
#include "greedy.hpp"
#include "rng.hpp"

using namespace conjunto;

namespace {

struct Case {
    std::size_t members, n, classes;
    std::vector<std::int32_t> labels, truth;
    std::vector<double> weights, examples;

    Case(std::uint64_t seed, bool abstain, bool weigh) {
        Philox random({seed, 7}, 0, Purpose::rows);
        members = 1 + random.next() % 9;
        n = 1 + random.next() % 90;
        classes = 2 + random.next() % 3;
        for (std::size_t i = 0; i < members * n; ++i)
            labels.push_back(abstain && random.next() % 3 == 0 ? -1 : static_cast<std::int32_t>(random.next() % classes));
        for (std::size_t i = 0; i < n; ++i) truth.push_back(static_cast<std::int32_t>(random.next() % classes));
        if (!weigh) return;
        for (std::size_t t = 0; t < members; ++t) weights.push_back(1.0 + static_cast<double>(random.next() % 3));
        for (std::size_t i = 0; i < n; ++i) examples.push_back(1.0 + static_cast<double>(random.next() % 2));
    }
    Ballots ballots() const {
        return {labels.data(), nullptr, truth.data(), weights.empty() ? nullptr : weights.data(),
                examples.empty() ? nullptr : examples.data(), members, n, classes};
    }
    // Share of wrong answers of some members among the examples on which one of them votes.
    double error(const Order& chosen) const {
        VoteCount count(ballots_ = ballots());
        for (const std::uint32_t member : chosen) count.add(member);
        double wrong = 0, judged = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (count.silent(i)) continue;
            judged += ballots_.worth(i);
            wrong += count.right(i) ? 0 : ballots_.worth(i);
        }
        return judged > 0 ? wrong / judged : 1.0;
    }
    mutable Ballots ballots_{};
};

bool is_permutation_of(Order order, std::size_t members) {
    std::sort(order.begin(), order.end());
    Order all(members);
    std::iota(all.begin(), all.end(), 0U);
    return order == all;
}

}  // namespace

TEST(every_order_is_a_permutation_on_any_number_of_threads) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Case c(seed, seed % 2, seed % 3 == 0);
        const Ballots ballots = c.ballots();
        for (const std::size_t threads : {1, 3}) {
            CHECK(is_permutation_of(reduce_error(ballots, 0, threads), c.members));
            CHECK(is_permutation_of(reduce_error(ballots, c.members, threads), c.members));
            CHECK(is_permutation_of(complementarity(ballots, threads), c.members));
            CHECK(is_permutation_of(margin_distance(ballots, 0.1, threads), c.members));
            CHECK(is_permutation_of(boosting_based(ballots, threads).order, c.members));
        }
        CHECK(reduce_error(ballots, 0, 1) == reduce_error(ballots, 0, 3));
        CHECK(margin_distance(ballots, 0.1, 1) == margin_distance(ballots, 0.1, 3));
        CHECK(boosting_based(ballots, 1).order == boosting_based(ballots, 3).order);
    }
}

TEST(reduce_error_takes_the_least_error_at_every_step) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const Case c(seed, seed % 2, seed % 3 == 0);
        const Order order = reduce_error(c.ballots(), 0, 1);
        Order chosen;
        for (const std::uint32_t taken : order) {
            double least = std::numeric_limits<double>::infinity();
            std::uint32_t best = 0;
            for (std::uint32_t member = 0; member < c.members; ++member) {
                if (std::find(chosen.begin(), chosen.end(), member) != chosen.end()) continue;
                Order with = chosen;
                with.push_back(member);
                const double error = c.error(with);
                if (error < least - 1e-12) {
                    least = error;
                    best = member;
                }
            }
            CHECK(taken == best);
            chosen.push_back(taken);
        }
    }
}

TEST(packed_and_weighed_errors_are_one_rule) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Case c(seed, seed % 2, false);
        Ballots weighed = c.ballots();
        const std::vector<double> equal(c.members, 2.0);
        weighed.weights = equal.data();
        CHECK(reduce_error(c.ballots(), 0, 1) == reduce_error(weighed, 0, 1));
        CHECK(margin_distance(c.ballots(), 0.075, 1) == margin_distance(weighed, 0.075, 1));
    }
}

TEST(weight_two_is_twice_the_example) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Case c(seed, seed % 2, true);
        Case twice = c;
        twice.labels.clear();
        twice.truth.clear();
        for (std::size_t t = 0; t < c.members; ++t)
            for (std::size_t i = 0; i < c.n; ++i)
                for (int copy = 0; copy < static_cast<int>(c.examples[i]); ++copy) twice.labels.push_back(c.labels[t * c.n + i]);
        for (std::size_t i = 0; i < c.n; ++i)
            for (int copy = 0; copy < static_cast<int>(c.examples[i]); ++copy) twice.truth.push_back(c.truth[i]);
        twice.n = twice.truth.size();
        twice.examples.clear();
        CHECK(reduce_error(c.ballots(), 0, 1) == reduce_error(twice.ballots(), 0, 1));
        CHECK(complementarity(c.ballots(), 1) == complementarity(twice.ballots(), 1));
        CHECK(margin_distance(c.ballots(), 0.3, 1) == margin_distance(twice.ballots(), 0.3, 1));
    }
}

TEST(backfitting_never_errs_more) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Case c(seed, false, false);
        for (std::size_t size = 1; size <= c.members; ++size) {
            const Order plain = reduce_error(c.ballots(), 0, 1), fitted = reduce_error(c.ballots(), size, 1);
            // Each single replacement lowers the error of the subset at hand; up to two members that is all there is.
            if (size > 2) continue;
            const auto end = static_cast<std::ptrdiff_t>(size);
            CHECK(c.error({fitted.begin(), fitted.begin() + end}) <= c.error({plain.begin(), plain.begin() + end}));
        }
    }
}

TEST(a_median_is_that_of_the_sorted_values) {
    const std::vector<double> values{3, 1, 2, 10, -1, -1}, truth{2.1, 0.4};
    const std::vector<double> weights{1, 2, 1};
    // By weight: example 0 has 3 (1), 2 (2), -1 (1); of all three the median is 2.
    const Predictions predictions{values.data(), truth.data(), weights.data(), nullptr, 3, 2, true};
    CHECK(is_permutation_of(reduce_squared_error(predictions, 1), 3));
    CHECK(reduce_squared_error(predictions, 1).front() == 0);
}

TEST(there_is_always_a_member_to_take) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    const std::vector<std::pair<std::vector<double>, std::uint32_t>> cases{
        {{nan, nan, nan}, 0}, {{nan, 2, 1}, 2},           {{infinity, infinity, nan}, 0}, {{nan, infinity, infinity}, 1},
        {{1, -infinity, nan}, 1}, {{-infinity, -infinity, 0}, 0}};
    for (const auto& [costs, expected] : cases)
        for (const double tie : {0.0, 1e-10, infinity, nan}) {
            Remaining remaining(3);
            const std::uint32_t taken = remaining.take_least(costs, tie);
            CHECK(taken < 3);
            if (tie == 0) CHECK(taken == expected);
            CHECK(remaining.size() == 2);
        }
}
