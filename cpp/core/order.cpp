#include "order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "greedy.hpp"
#include "kernels.hpp"

namespace conjunto {

namespace {

// What one more vote does to the error of a sub-ensemble.
class ErrorAfter {
public:
    virtual ~ErrorAfter() = default;
    // To be called when the sub-ensemble has changed.
    virtual void update(const VoteCount& count) = 0;
    // The error of the sub-ensemble and this member.
    virtual double with(std::size_t member) const = 0;
    // Operations for one member, about.
    virtual std::size_t work() const = 0;

protected:
    static double share(double wrong, double judged) { return judged > 0 ? wrong / judged : 1.0; }
};

// Members of equal weight: a vote matters only where it mends or breaks the decision, and that depends on the example and
// the class alone. The examples where it does are sets of bits, and so are those a member votes on.
class PackedErrors final : public ErrorAfter {
public:
    PackedErrors(const Ballots& ballots, const Planes& planes)
        : ballots_(ballots), planes_(planes), mends_(1, ballots.n), silent_(1, ballots.n), breaks_(ballots.classes, ballots.n) {}

    void update(const VoteCount& count) override {
        mends_.clear();
        silent_.clear();
        breaks_.clear();
        wrong_ = judged_ = 0;
        breakers_.assign(ballots_.classes, 0);
        for (std::size_t i = 0; i < ballots_.n; ++i) {
            const double* counts = count.counts(i);
            const auto truth = static_cast<std::size_t>(ballots_.truth[i]);
            const bool silent = count.silent(i);
            if (silent) {
                silent_.set(0, i);
            } else {
                judged_ += ballots_.worth(i);
                if (!count.right(i)) {
                    wrong_ += ballots_.worth(i);
                    if (wins(counts, truth, counts[truth] + 1)) mends_.set(0, i);
                    continue;
                }
            }
            for (std::size_t c = 0; c < ballots_.classes; ++c)
                if (c != truth && (c < truth ? counts[c] + 1 >= counts[truth] : counts[c] + 1 > counts[truth])) {
                    breaks_.set(c, i);
                    breakers_[c] = 1;
                }
        }
    }

    double with(std::size_t member) const override {
        const std::size_t words = silent_.words();
        double wrong = wrong_ - weigh(planes_.right.row(member), mends_.row(0), words, ballots_.examples);
        for (std::size_t c = 0; c < ballots_.classes; ++c)
            if (breakers_[c])
                wrong += weigh(planes_.votes.row(member * ballots_.classes + c), breaks_.row(c), words, ballots_.examples);
        return share(wrong, judged_ + weigh(planes_.voted.row(member), silent_.row(0), words, ballots_.examples));
    }

    std::size_t work() const override { return (ballots_.classes + 2) * silent_.words() * (ballots_.examples ? 16 : 1); }

private:
    bool wins(const double* counts, std::size_t truth, double votes) const {
        for (std::size_t c = 0; c < ballots_.classes; ++c)
            if (c != truth && (c < truth ? counts[c] >= votes : counts[c] > votes)) return false;
        return true;
    }

    const Ballots& ballots_;
    const Planes& planes_;
    Bits mends_, silent_, breaks_;
    std::vector<std::uint8_t> breakers_;  // classes that can break a decision
    double wrong_ = 0, judged_ = 0;
};

// Members of different weight, or with scores: the examples that one vote can decide, one by one.
class WeighedErrors final : public ErrorAfter {
public:
    explicit WeighedErrors(const Ballots& ballots) : ballots_(ballots) {
        for (std::size_t t = 0; t < ballots.members; ++t) heaviest_ = std::max(heaviest_, ballots.weight(t));
    }

    void update(const VoteCount& count) override {
        count_ = &count;
        open_.clear();
        wrong_ = judged_ = 0;
        for (std::size_t i = 0; i < ballots_.n; ++i) {
            const double* counts = count.counts(i);
            const auto truth = static_cast<std::size_t>(ballots_.truth[i]);
            Open open{static_cast<std::uint32_t>(i), count.right(i), counts[truth], 0, 0};
            for (std::size_t c = 0; c < ballots_.classes; ++c) {
                if (c < truth) open.lower = std::max(open.lower, counts[c]);
                if (c > truth) open.higher = std::max(open.higher, counts[c]);
            }
            const double margin = std::abs(open.own - std::max(open.lower, open.higher));
            const bool settled = !ballots_.scores && !count.silent(i) && margin > heaviest_ * (1 + kTie) + 2 * kTie * open.own;
            if (!settled) {
                open_.push_back(open);
                continue;
            }
            judged_ += ballots_.worth(i);
            if (!open.right) wrong_ += ballots_.worth(i);
        }
    }

    double with(std::size_t member) const override {
        const std::int32_t* said = ballots_.said(member);
        double wrong = wrong_, judged = judged_;
        for (const Open& open : open_) {
            if (said[open.i] < 0 && count_->silent(open.i)) continue;
            judged += ballots_.worth(open.i);
            if (!right_with(open, member, said[open.i])) wrong += ballots_.worth(open.i);
        }
        return share(wrong, judged);
    }

    std::size_t work() const override { return 4 * open_.size() * (ballots_.scores ? ballots_.classes : 1); }

private:
    struct Open {
        std::uint32_t i;
        bool right;
        double own, lower, higher;  // votes for the truth, and the most for a class of lower and of higher code
    };

    bool right_with(const Open& open, std::size_t member, std::int32_t label) const {
        if (label < 0) return open.right;
        if (ballots_.scores) return count_->right_with(open.i, member);
        double own = open.own, lower = open.lower, higher = open.higher;
        const double weight = ballots_.weight(member);
        if (label == ballots_.truth[open.i])
            own += weight;
        else if (label < ballots_.truth[open.i])
            lower = std::max(lower, count_->counts(open.i)[label] + weight);
        else
            higher = std::max(higher, count_->counts(open.i)[label] + weight);
        const double tie = kTie * std::max({own, lower, higher});
        return (ballots_.truth[open.i] == 0 || lower < own - tie) && higher <= own + tie;
    }

    const Ballots& ballots_;
    const VoteCount* count_ = nullptr;
    std::vector<Open> open_;
    double wrong_ = 0, judged_ = 0, heaviest_ = 0;
};

// Puts in each one's place the member that makes the error least, until nothing changes.
void put_right(Order& order, Remaining& remaining, VoteCount& count, ErrorAfter& errors, std::size_t threads) {
    constexpr int kMostPasses = 100;
    bool changed = true;
    for (int pass = 0; changed && pass < kMostPasses; ++pass) {
        changed = false;
        for (std::uint32_t& place : order) {
            Order others;
            for (const std::uint32_t member : order)
                if (member != place) others.push_back(member);
            count.recount(others);
            errors.update(count);
            const double now = errors.with(place);
            std::vector<double> costs = remaining.costs(errors.work(), threads, [&](std::size_t m) { return errors.with(m); });
            if (costs.empty()) continue;
            const double tie = kTie * std::max(Remaining::scale(costs), now);
            if (now <= Remaining::least(costs) + tie) continue;
            const std::uint32_t old = place;
            place = remaining.take_least(costs, tie);
            remaining.put_back(old);
            changed = true;
        }
    }
    count.recount(order);
}

// The weights of the examples, as given or one each.
std::vector<double> example_weights(const Ballots& ballots) {
    std::vector<double> weights(ballots.n);
    for (std::size_t i = 0; i < ballots.n; ++i) weights[i] = ballots.worth(i);
    return weights;
}

}  // namespace

Order reduce_error(const Ballots& ballots, std::size_t backfit, std::size_t threads) {
    const bool packed = !ballots.weights && !ballots.scores;
    const Planes planes(packed ? ballots : Ballots{}, packed);
    PackedErrors by_bits(ballots, planes);
    WeighedErrors one_by_one(ballots);
    ErrorAfter& errors = packed ? static_cast<ErrorAfter&>(by_bits) : one_by_one;
    VoteCount count(ballots);
    Remaining remaining(ballots.members);
    Order order;
    while (remaining.size() > 0) {
        errors.update(count);
        const auto costs = remaining.costs(errors.work(), threads, [&](std::size_t m) { return errors.with(m); });
        order.push_back(remaining.take_least(costs));
        count.add(order.back());
        if (order.size() > 1 && order.size() <= backfit) put_right(order, remaining, count, errors, threads);
    }
    return order;
}

Order complementarity(const Ballots& ballots, std::size_t threads) {
    const Planes planes(ballots, false);
    const std::size_t words = planes.right.words();
    VoteCount count(ballots);
    Remaining remaining(ballots.members);
    Order order;
    Bits failed(1, ballots.n);
    for (std::size_t i = 0; i < ballots.n; ++i) failed.set(0, i);
    while (remaining.size() > 0) {
        const auto costs = remaining.costs(words * (ballots.examples ? 16 : 1), threads, [&](std::size_t member) {
            const double right = weigh(planes.right.row(member), failed.row(0), words, ballots.examples);
            if (!order.empty()) return -right;
            const double judged = weigh(planes.voted.row(member), failed.row(0), words, ballots.examples);
            return judged > 0 ? 1 - right / judged : 1.0;
        });
        order.push_back(remaining.take_least(costs));
        count.add(order.back());
        failed.clear();
        for (std::size_t i = 0; i < ballots.n; ++i)
            if (!count.right(i)) failed.set(0, i);
    }
    return order;
}

Order margin_distance(const Ballots& ballots, double p, std::size_t threads) {
    const Planes planes(ballots, false);
    const std::size_t words = planes.right.words(), n = ballots.n;
    Remaining remaining(ballots.members);
    Order order;
    if (!ballots.weights && !ballots.examples && !planes.abstentions) {
        // Times T^2, without what all members share: -2 c_k . (p T o - sum of the chosen c), and c_k . c_m follows from how
        // many examples only one of the two gets right.
        const auto apart = best_kernels().count_xor;
        std::vector<double> pull(ballots.members);
        const std::vector<std::uint64_t> all(words, ~std::uint64_t{0});
        for (std::size_t t = 0; t < ballots.members; ++t) {
            const auto right = static_cast<double>(best_kernels().count_and(planes.right.row(t), all.data(), words));
            pull[t] = p * static_cast<double>(ballots.members) * (2 * right - static_cast<double>(n));
        }
        while (remaining.size() > 0) {
            const auto costs = remaining.costs(words, threads, [&](std::size_t member) {
                if (order.empty()) return -pull[member];
                const auto differ = static_cast<double>(apart(planes.right.row(member), planes.right.row(order.back()), words));
                return -(pull[member] -= static_cast<double>(n) - 2 * differ);
            });
            order.push_back(remaining.take_least(costs));
        }
        return order;
    }
    // The same one step at a time: each example has its own scale, the weight of all who vote on it.
    std::vector<double> voters(n, 0.0), distance(n, p), pull(n), squares(n, 0.0);
    for (std::size_t t = 0; t < ballots.members; ++t)
        for (std::size_t i = 0; i < n; ++i)
            if (ballots.said(t)[i] >= 0) voters[i] += ballots.weight(t);
    for (std::size_t i = 0; i < n; ++i)
        if (voters[i] > 0) squares[i] = ballots.worth(i) / (voters[i] * voters[i]);
    std::vector<double> right(ballots.members), voted(ballots.members), square(ballots.members);
    bit_sums(planes.voted, remaining.left(), squares, threads, square.data());
    double fixed = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (voters[i] > 0) fixed += ballots.worth(i) * p * p;
    while (remaining.size() > 0) {
        for (std::size_t i = 0; i < n; ++i) pull[i] = voters[i] > 0 ? ballots.worth(i) * distance[i] / voters[i] : 0.0;
        const std::size_t helpers = remaining.size() * words < kWorthAThread / 8 ? 1 : threads;
        bit_sums(planes.right, remaining.left(), pull, helpers, right.data());
        if (planes.abstentions)
            bit_sums(planes.voted, remaining.left(), pull, helpers, voted.data());
        else
            std::fill(voted.begin(), voted.end(), std::accumulate(pull.begin(), pull.end(), 0.0));
        std::vector<double> costs(remaining.size());
        for (std::size_t place = 0; place < costs.size(); ++place) {
            const std::size_t member = remaining.left()[place];
            const double weight = ballots.weight(member);
            costs[place] = weight * (weight * square[member] - 2 * (2 * right[place] - voted[place]));
        }
        order.push_back(remaining.take_least(costs, kTie * (fixed + Remaining::scale(costs))));
        const std::int32_t* said = ballots.said(order.back());
        for (std::size_t i = 0; i < n; ++i)
            if (said[i] >= 0 && voters[i] > 0)
                distance[i] -= (said[i] == ballots.truth[i] ? 1 : -1) * ballots.weight(order.back()) / voters[i];
    }
    return order;
}

BoostedOrder boosting_based(const Ballots& ballots, std::size_t threads) {
    const Planes planes(ballots, false);
    const std::size_t n = ballots.n;
    std::vector<double> start = example_weights(ballots);
    double total = 0;
    for (const double weight : start) total += weight;
    for (double& weight : start) weight /= total;
    std::vector<double> weights = start, right(ballots.members), voted(ballots.members);
    Remaining remaining(ballots.members);
    BoostedOrder found{{}, ballots.members};
    const auto errors = [&] {
        const std::size_t helpers = remaining.size() * planes.right.words() < kWorthAThread / 8 ? 1 : threads;
        bit_sums(planes.right, remaining.left(), weights, helpers, right.data());
        if (planes.abstentions)
            bit_sums(planes.voted, remaining.left(), weights, helpers, voted.data());
        else
            std::fill(voted.begin(), voted.end(), std::accumulate(weights.begin(), weights.end(), 0.0));
        std::vector<double> costs(remaining.size());
        for (std::size_t place = 0; place < costs.size(); ++place)
            costs[place] = voted[place] > 0 ? 1 - right[place] / voted[place] : 0.5;
        return costs;
    };
    while (remaining.size() > 0) {
        std::vector<double> costs = errors();
        double least = Remaining::least(costs);
        if (least >= 0.5 - kTie) {
            found.good = std::min(found.good, found.order.size());
            weights = start;
            costs = errors();
            least = Remaining::least(costs);
        }
        const std::uint32_t member = remaining.take_least(costs, kTie);
        found.order.push_back(member);
        if (least >= 0.5 - kTie || least <= kTie) continue;
        const std::int32_t* said = ballots.said(member);
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (said[i] >= 0) weights[i] /= 2 * (said[i] == ballots.truth[i] ? 1 - least : least);
            sum += weights[i];
        }
        for (double& weight : weights) weight /= sum;
    }
    return found;
}

}  // namespace conjunto
