#include <algorithm>
#include <cmath>
#include <limits>

#include "greedy.hpp"
#include "order.hpp"

namespace conjunto {

namespace {

// What a sub-ensemble of a regression answers, and would answer with one more member.
class Answers {
public:
    explicit Answers(const Predictions& predictions)
        : p_(predictions), sums_(p_.n, 0.0), totals_(p_.n, 0.0), sorted_(p_.median ? p_.n : 0) {}

    double value(std::size_t member, std::size_t i) const { return p_.values[member * p_.n + i]; }
    double weight(std::size_t member) const { return p_.weights ? p_.weights[member] : 1.0; }
    double worth(std::size_t i) const { return p_.examples ? p_.examples[i] : 1.0; }

    void add(std::size_t member) {
        for (std::size_t i = 0; i < p_.n; ++i) {
            const double said = value(member, i);
            if (std::isnan(said)) continue;
            sums_[i] += weight(member) * said;
            totals_[i] += weight(member);
            if (p_.median) insert(sorted_[i], said, weight(member));
        }
    }

    // NaN where nobody has voted.
    double now(std::size_t i) const {
        if (p_.median) return sorted_[i].empty() ? std::nan("") : median(sorted_[i], 0.0, 0.0);
        return sums_[i] / totals_[i];
    }
    double with(std::size_t i, double said, double weight) const {
        return p_.median ? median(sorted_[i], said, weight) : (sums_[i] + weight * said) / (totals_[i] + weight);
    }

private:
    struct Said {
        double value, below;  // weight of all values up to this one
    };

    static void insert(std::vector<Said>& sorted, double said, double weight) {
        auto place = std::upper_bound(sorted.begin(), sorted.end(), said, [](double v, const Said& s) { return v < s.value; });
        const double before = place == sorted.begin() ? 0.0 : (place - 1)->below;
        place = sorted.insert(place, {said, before});
        for (; place != sorted.end(); ++place) place->below += weight;
    }

    // The least value that at least half of the weight lies at or below, with one more value of this weight.
    static double median(const std::vector<Said>& sorted, double said, double weight) {
        if (sorted.empty()) return said;
        const double half = 0.5 * (sorted.back().below + weight);
        if (half == 0) return std::min(said, sorted.front().value);
        const double slack = 1e-14 * half;
        const auto reaches = [&](const Said& s) { return s.below + (said <= s.value ? weight : 0.0) >= half - slack; };
        const auto place = std::partition_point(sorted.begin(), sorted.end(), [&](const Said& s) { return !reaches(s); });
        if (weight == 0) return place->value;
        const auto mine = std::upper_bound(sorted.begin(), sorted.end(), said, [](double v, const Said& s) { return v < s.value; });
        const double before = mine == sorted.begin() ? 0.0 : (mine - 1)->below;
        const bool reached = before + weight >= half - slack;
        if (place == sorted.end()) return said;
        return reached ? std::min(said, place->value) : place->value;
    }

    const Predictions& p_;
    std::vector<double> sums_, totals_;
    std::vector<std::vector<Said>> sorted_;
};

// The error with one more member. Where nobody in the sub-ensemble votes, `silent` counts, if it is a number: without it
// members would be chosen for staying silent on the worst examples.
double mean_error(const Predictions& p, const Answers& answers, const std::vector<double>& now,
                  const std::vector<double>& silent, std::size_t member) {
    double sum = 0, judged = 0;
    const double weight = answers.weight(member);
    for (std::size_t i = 0; i < p.n; ++i) {
        const double said = answers.value(member, i);
        const double answer = std::isnan(said) ? now[i] : answers.with(i, said, weight);
        const double loss = std::isnan(answer) ? silent[i] : (answer - p.truth[i]) * (answer - p.truth[i]);
        if (std::isnan(loss)) continue;
        sum += answers.worth(i) * loss;
        judged += answers.worth(i);
    }
    return judged > 0 ? sum / judged : std::numeric_limits<double>::infinity();
}

template <class Cost>
Order greedy(const Predictions& p, std::size_t threads, const Cost& cost) {
    Answers answers(p);
    Remaining remaining(p.members);
    Order order;
    std::vector<double> now(p.n, std::nan(""));
    while (remaining.size() > 0) {
        const bool first = order.empty();
        const auto costs = remaining.costs(4 * p.n, threads, [&](std::size_t m) { return cost(answers, now, m, first); });
        order.push_back(remaining.take_least(costs));
        answers.add(order.back());
        for (std::size_t i = 0; i < p.n; ++i) now[i] = answers.now(i);
    }
    return order;
}

}  // namespace

Order reduce_squared_error(const Predictions& p, std::size_t threads) {
    Answers whole(p);
    for (std::size_t t = 0; t < p.members; ++t) whole.add(t);
    std::vector<double> silent(p.n);
    for (std::size_t i = 0; i < p.n; ++i) silent[i] = (whole.now(i) - p.truth[i]) * (whole.now(i) - p.truth[i]);
    return greedy(p, threads, [&](const Answers& answers, const std::vector<double>& now, std::size_t member, bool) {
        return mean_error(p, answers, now, silent, member);
    });
}

Order complementarity_of_values(const Predictions& p, std::size_t threads) {
    const std::vector<double> silent(p.n, std::nan(""));
    return greedy(p, threads, [&](const Answers& answers, const std::vector<double>& now, std::size_t member, bool first) {
        if (first) return mean_error(p, answers, now, silent, member);
        double improved = 0;
        const double weight = answers.weight(member);
        for (std::size_t i = 0; i < p.n; ++i) {
            const double said = answers.value(member, i);
            if (std::isnan(said)) continue;
            const double before = std::abs(now[i] - p.truth[i]), answer = answers.with(i, said, weight);
            // What rounding leaves of a difference depends on the size of the numbers.
            const double rounding = 1e-12 * std::max({std::abs(now[i]), std::abs(answer), std::abs(p.truth[i])});
            if (std::isnan(before) || std::abs(answer - p.truth[i]) < before - rounding) improved += answers.worth(i);
        }
        return -improved;
    });
}

}  // namespace conjunto
