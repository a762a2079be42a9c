#include "ballot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.hpp"
#include "parallel.hpp"

namespace conjunto {

namespace {

// Bytes of bits whose tables are in the fastest cache together.
constexpr std::size_t kTableBytes = 16;

}  // namespace

Planes::Planes(const Ballots& ballots, bool by_class)
    : right(ballots.members, ballots.n),
      voted(ballots.members, ballots.n),
      votes(by_class ? ballots.members * ballots.classes : 0, ballots.n) {
    for (std::size_t t = 0; t < ballots.members; ++t)
        for (std::size_t i = 0; i < ballots.n; ++i) {
            const std::int32_t label = ballots.said(t)[i];
            if (label < 0) {
                abstentions = true;
                continue;
            }
            voted.set(t, i);
            if (label == ballots.truth[i]) right.set(t, i);
            if (by_class) votes.set(t * ballots.classes + static_cast<std::size_t>(label), i);
        }
}

double weigh(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, const double* examples) {
    if (!examples) return static_cast<double>(best_kernels().count_and(a, b, words));
    double sum = 0;
    for (std::size_t w = 0; w < words; ++w)
        for (std::uint64_t both = a[w] & b[w]; both; both &= both - 1)
            sum += examples[64 * w + static_cast<std::size_t>(__builtin_ctzll(both))];
    return sum;
}

void bit_sums(const Bits& bits, const std::vector<std::uint32_t>& rows, const std::vector<double>& values,
              std::size_t threads, double* sums) {
    const std::size_t bytes = (values.size() + 7) / 8, blocks = (bytes + kTableBytes - 1) / kTableBytes;
    std::vector<double> parts(blocks * rows.size());
    parallel_for(blocks, threads, [&](std::size_t block, std::size_t) {
        double table[kTableBytes][256];
        const std::size_t first = block * kTableBytes, count = std::min(kTableBytes, bytes - first);
        for (std::size_t b = 0; b < count; ++b) {
            table[b][0] = 0;
            for (std::size_t bit = 0; bit < 8; ++bit) {
                const std::size_t i = 8 * (first + b) + bit, half = std::size_t{1} << bit;
                const double value = i < values.size() ? values[i] : 0.0;
                for (std::size_t low = 0; low < half; ++low) table[b][half + low] = table[b][low] + value;
            }
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const std::uint64_t* words = bits.row(rows[r]) + first / 8;
            double even = 0, odd = 0;
            for (std::size_t b = 0; b < count; ++b) {
                const double part = table[b][(words[b / 8] >> (8 * (b % 8))) & 255];
                (b % 2 ? odd : even) += part;
            }
            parts[block * rows.size() + r] = even + odd;
        }
    });
    std::fill(sums, sums + rows.size(), 0.0);
    for (std::size_t block = 0; block < blocks; ++block)
        for (std::size_t r = 0; r < rows.size(); ++r) sums[r] += parts[block * rows.size() + r];
}

VoteCount::VoteCount(const Ballots& ballots)
    : ballots_(ballots), counts_(ballots.n * ballots.classes, 0.0), voters_(ballots.n, 0) {}

void VoteCount::add(std::size_t member) {
    const std::int32_t* said = ballots_.said(member);
    const double weight = ballots_.weight(member);
    const std::size_t k = ballots_.classes;
    for (std::size_t i = 0; i < ballots_.n; ++i) {
        if (said[i] < 0) continue;
        ++voters_[i];
        if (!ballots_.scores) {
            counts_[i * k + static_cast<std::size_t>(said[i])] += weight;
            continue;
        }
        const double* scores = ballots_.scores + (member * ballots_.n + i) * k;
        for (std::size_t c = 0; c < k; ++c) counts_[i * k + c] += weight * scores[c];
    }
}

void VoteCount::recount(const std::vector<std::uint32_t>& members) {
    counts_.assign(counts_.size(), 0.0);
    voters_.assign(voters_.size(), 0);
    for (const std::uint32_t member : members) add(member);
}

bool VoteCount::truth_wins(std::size_t i, const double* counts) const {
    const auto truth = static_cast<std::size_t>(ballots_.truth[i]);
    double most = 0;
    for (std::size_t c = 0; c < ballots_.classes; ++c) most = std::max(most, std::abs(counts[c]));
    const double tie = kTie * most;
    for (std::size_t c = 0; c < ballots_.classes; ++c)
        if (c < truth ? counts[c] >= counts[truth] - tie : counts[c] > counts[truth] + tie) return false;
    return true;
}

bool VoteCount::right_with(std::size_t i, std::size_t member) const {
    const std::int32_t label = ballots_.said(member)[i];
    if (label < 0) return right(i);
    double with[256];
    std::vector<double> many;
    const std::size_t k = ballots_.classes;
    double* sum = with;
    if (k > 256) {
        many.resize(k);
        sum = many.data();
    }
    std::copy(counts(i), counts(i) + k, sum);
    const double weight = ballots_.weight(member);
    if (ballots_.scores) {
        const double* scores = ballots_.scores + (member * ballots_.n + i) * k;
        for (std::size_t c = 0; c < k; ++c) sum[c] += weight * scores[c];
    } else {
        sum[label] += weight;
    }
    return truth_wins(i, sum);
}

void leaders(const double* counts, std::size_t rows, std::size_t classes, std::int64_t* out) {
    // A maximum waits for the one before it: four side by side do not.
    constexpr std::size_t lanes = 4;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows; ++row, counts += classes) {
        double most = -infinity, least = infinity;
        std::size_t c = 0;
        if (classes >= 2 * lanes) {
            double high[lanes], low[lanes];
            std::fill_n(high, lanes, most);
            std::fill_n(low, lanes, least);
            for (; c + lanes <= classes; c += lanes)
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    high[lane] = counts[c + lane] > high[lane] ? counts[c + lane] : high[lane];
                    low[lane] = counts[c + lane] < low[lane] ? counts[c + lane] : low[lane];
                }
            most = *std::max_element(high, high + lanes);
            least = *std::min_element(low, low + lanes);
        }
        for (; c < classes; ++c) {
            most = counts[c] > most ? counts[c] : most;
            least = counts[c] < least ? counts[c] : least;
        }
        double enough = most - kTie * std::max(std::abs(most), std::abs(least));
        // Infinity less infinity is nothing to compare with.
        if (std::isnan(enough)) enough = most;
        std::size_t first = 0;
        if (classes < 2 * lanes) {
            // From the end, without a branch: where the search would stop cannot be foreseen.
            for (c = classes; c-- > 0;) first = counts[c] >= enough ? c : first;
        } else {
            while (first < classes && !(counts[first] >= enough)) ++first;
            if (first == classes) first = 0;
        }
        out[row] = static_cast<std::int64_t>(first);
    }
}

void kappa_statistics(const Ballots& ballots, std::size_t threads, double* kappas) {
    const Planes planes(ballots, true);
    const std::size_t k = ballots.classes, words = planes.voted.words();
    const auto count = best_kernels().count_and;
    parallel_for(ballots.members, threads, [&](std::size_t a, std::size_t) {
        kappas[a * ballots.members + a] = 1.0;
        for (std::size_t b = a + 1; b < ballots.members; ++b) {
            const auto both = static_cast<double>(count(planes.voted.row(a), planes.voted.row(b), words));
            double agree = 0, chance = 0;
            for (std::size_t c = 0; c < k; ++c) {
                const std::uint64_t *of_a = planes.votes.row(a * k + c), *of_b = planes.votes.row(b * k + c);
                agree += static_cast<double>(count(of_a, of_b, words));
                chance += static_cast<double>(count(of_a, planes.voted.row(b), words)) *
                          static_cast<double>(count(of_b, planes.voted.row(a), words));
            }
            // Both shares times the square of the number of common examples: whole numbers.
            agree *= both;
            const double rest = both * both - chance;
            const double kappa = both == 0 ? std::numeric_limits<double>::infinity() : rest > 0 ? (agree - chance) / rest : 1.0;
            kappas[a * ballots.members + b] = kappas[b * ballots.members + a] = kappa;
        }
    });
}

}  // namespace conjunto
