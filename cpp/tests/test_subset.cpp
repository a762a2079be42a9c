// The best subsets against plain enumeration. Weights are quarters: sums are exact in any order.
#include "subset.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"

using namespace conjunto;

namespace {

struct Case {
    std::size_t members, examples, classes;
    std::vector<std::int32_t> labels, truth;
    std::vector<double> scores, weights, sample_weight;
    std::vector<std::uint32_t> prefer;

    SubsetRequest request(bool odd) const {
        SubsetRequest out;
        out.members = members;
        out.examples = examples;
        out.classes = classes;
        if (scores.empty()) out.labels = labels.data();
        else out.scores = scores.data();
        out.truth = truth.data();
        out.weights = weights.empty() ? nullptr : weights.data();
        out.sample_weight = sample_weight.empty() ? nullptr : sample_weight.data();
        out.prefer = prefer;
        for (std::uint32_t size = 1; size <= members; size += odd ? 2 : 1) out.sizes.push_back(size);
        return out;
    }
};

double quarters(std::mt19937_64& random, unsigned most) {
    return 0.25 * static_cast<double>(random() % (4 * most + 1));
}

// Members are right with a chance of 5 in 8; abstentions in eighths.
Case random_case(std::mt19937_64& random, std::size_t members, std::size_t examples, std::size_t classes,
                 unsigned silence) {
    Case out{members, examples, classes, {}, {}, {}, {}, {}, {}};
    for (std::size_t i = 0; i < examples; ++i) out.truth.push_back(static_cast<std::int32_t>(random() % classes));
    for (std::size_t t = 0; t < members; ++t)
        for (std::size_t i = 0; i < examples; ++i) {
            const auto other = static_cast<std::int32_t>(random() % classes);
            out.labels.push_back(random() % 8 < silence ? -1 : random() % 8 < 5 ? out.truth[i] : other);
        }
    if (random() % 2) {
        for (std::uint32_t t = 0; t < members; ++t) out.prefer.push_back(t);
        std::shuffle(out.prefer.begin(), out.prefer.end(), random);
    }
    return out;
}

std::vector<std::size_t> list(std::uint64_t members) {
    std::vector<std::size_t> out;
    for (std::size_t t = 0; t < 64; ++t)
        if (members >> t & 1) out.push_back(t);
    return out;
}

double brute_error(const Case& c, const std::vector<std::size_t>& members) {
    double wrong = 0, covered = 0;
    for (std::size_t i = 0; i < c.examples; ++i) {
        std::vector<double> sums(c.classes, 0.0);
        bool heard = false;
        for (const std::size_t t : members) {
            const double weight = c.weights.empty() ? 1.0 : c.weights[t];
            if (!c.scores.empty()) {
                const double* scores = &c.scores[(t * c.examples + i) * c.classes];
                if (std::any_of(scores, scores + c.classes, [](double x) { return std::isnan(x); })) continue;
                for (std::size_t k = 0; k < c.classes; ++k) sums[k] += weight * scores[k];
            } else {
                if (c.labels[t * c.examples + i] < 0) continue;
                sums[static_cast<std::size_t>(c.labels[t * c.examples + i])] += weight;
            }
            heard = true;
        }
        if (!heard) continue;
        const double weight = c.sample_weight.empty() ? 1.0 : c.sample_weight[i];
        covered += weight;
        if (std::max_element(sums.begin(), sums.end()) - sums.begin() != c.truth[i]) wrong += weight;
    }
    return covered > 0 ? wrong / covered : std::numeric_limits<double>::infinity();
}

std::size_t shared(const Case& c, const std::vector<std::size_t>& members) {
    std::size_t out = 0;
    for (std::size_t p = 0; p < std::min(members.size(), c.prefer.size()); ++p)
        out += static_cast<std::size_t>(std::count(members.begin(), members.end(), c.prefer[p]));
    return out;
}

std::vector<BestSubset> brute(const Case& c) {
    std::vector<BestSubset> best(c.members + 1);
    for (std::uint64_t bits = 1; bits < std::uint64_t{1} << c.members; ++bits) {
        const std::vector<std::size_t> members = list(bits);
        BestSubset& here = best[members.size()];
        const double error = brute_error(c, members);
        const std::vector<std::size_t> known = list(here.members);
        if (here.count == 0 || error < here.error) {
            here = {error, 1, bits};
        } else if (error == here.error) {
            ++here.count;
            const std::size_t mine = shared(c, members), theirs = shared(c, known);
            if (mine > theirs || (mine == theirs && members < known)) here.members = bits;
        }
    }
    return best;
}

void compare(const Case& c, std::size_t low, std::size_t task) {
    const std::vector<BestSubset> truth = brute(c);
    for (const bool odd : {false, true})
        for (const std::size_t threads : {1, 2})
            for (const Kernels* kernels : {&plain_kernels(), &best_kernels()}) {
                SubsetRequest request = c.request(odd);
                request.threads = threads;
                request.low_members = low;
                request.task_members = task;
                const std::vector<BestSubset> best = best_subsets(request, *kernels);
                CHECK(best.size() == request.sizes.size());
                for (std::size_t s = 0; s < best.size(); ++s) {
                    const BestSubset& expected = truth[request.sizes[s]];
                    CHECK(best[s].error == expected.error);
                    CHECK(best[s].count == expected.count);
                    CHECK(best[s].members == expected.members);
                }
            }
}

}  // namespace

TEST(equal_votes_are_those_of_plain_enumeration) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 60; ++round) {
        const std::size_t members = 1 + random() % 9, examples = 1 + random() % 100, classes = 1 + random() % 6;
        compare(random_case(random, members, examples, classes, 0), 1 + random() % 9, random() % 4);
    }
}

TEST(more_members_than_the_table_has) {
    std::mt19937_64 random(2);
    for (const std::size_t members : {10, 12, 13}) {
        compare(random_case(random, members, 40, 3, 0), 9, 14);
        compare(random_case(random, members, 20, 2, 3), 9, 1);
    }
}

TEST(abstentions_leave_examples_out) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 60; ++round) {
        const std::size_t members = 1 + random() % 9, examples = 1 + random() % 100, classes = 1 + random() % 4;
        const auto silence = 1 + static_cast<unsigned>(random() % 8);
        compare(random_case(random, members, examples, classes, silence), 1 + random() % 9, random() % 4);
    }
}

TEST(weights_and_scores_are_added_up) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 80; ++round) {
        const std::size_t members = 1 + random() % 9, examples = 1 + random() % 30, classes = 1 + random() % 4;
        const auto silence = static_cast<unsigned>(random() % 5);
        Case c = random_case(random, members, examples, classes, silence);
        const unsigned kind = 1 + static_cast<unsigned>(random() % 7);
        if (kind & 1U)
            for (std::size_t t = 0; t < members; ++t) c.weights.push_back(quarters(random, 2));
        if (kind & 2U)
            for (std::size_t i = 0; i < examples; ++i) c.sample_weight.push_back(quarters(random, 2));
        if (kind & 4U)
            for (std::size_t cell = 0; cell < members * examples * classes; ++cell)
                c.scores.push_back(random() % 16 < silence ? std::nan("") : quarters(random, 1) - 0.25);
        compare(c, 9, 14);
    }
}

TEST(many_tasks_many_blocks) {
    // Members that agree but for one example each: whoever is out of a subset is known, and so are the errors.
    const std::size_t members = 25, examples = 100;
    Case c{members, examples, 2, {}, {}, {}, {}, {}, {}};
    c.labels.assign(members * examples, 1);
    c.truth.assign(examples, 1);
    for (std::size_t t = 0; t < members; ++t) c.labels[t * examples + 4 * t] = 0;
    // A single member is wrong once, and of two they tie, which class 0 wins; three or more outvote each other's error.
    for (const std::size_t threads : {1, 2}) {
        SubsetRequest request = c.request(false);
        request.threads = threads;
        const std::vector<BestSubset> best = best_subsets(request);
        double choose = 1;
        for (std::size_t s = 0; s < members; ++s) {
            choose *= static_cast<double>(members - s) / static_cast<double>(s + 1);
            CHECK(best[s].error == (s < 2 ? static_cast<double>(s + 1) / 100 : 0.0));
            CHECK(best[s].count == std::llround(choose));
            CHECK(best[s].members == (std::uint64_t{1} << (s + 1)) - 1);
        }
    }
}

TEST(a_pause_may_end_the_search) {
    std::mt19937_64 random(5);
    Case c = random_case(random, 6, 10, 2, 0);
    for (const bool weighted : {false, true}) {
        if (weighted) c.weights.assign(6, 0.25);
        SubsetRequest request = c.request(false);
        request.pause = [] { throw std::runtime_error("enough"); };
        CHECK_THROWS(best_subsets(request), std::runtime_error);
    }
}
