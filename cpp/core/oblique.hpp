// Splits on linear combinations of columns, found one coefficient at a time (CART-LC: Breiman, Friedman, Olshen and
// Stone 1984, section 5.2).
//
// Columns are centred at their median in the node and divided by their interquartile range there. From the best
// axis-parallel cut on, the test v <= c is improved column by column: the best v - delta * (x + gamma) <= c is found by
// one sort, because a row changes sides at delta = (v - c) / (x + gamma) and nowhere else. At the end columns that
// contribute little are dropped, and what is left is improved once more. Nothing is drawn at random.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "combinations.hpp"
#include "radix.hpp"
#include "split.hpp"
#include "split_sorted.hpp"
#include "tally.hpp"

namespace conjunto {

// Rows in ascending order of a value. A key is the value's bits with the row's number in place of the lowest ones: one
// word to sort. Values that agree in all other bits (43 of the fraction for 500 rows) count as equal, as values that
// differ by rounding should.
class ValueOrder {
public:
    void start(std::size_t rows) {
        keys_.clear();
        low_ = std::bit_ceil(rows) - 1;
    }
    void add(double value, std::size_t row) { keys_.push_back((sortable(value) & ~low_) | row); }
    void sort() {
        if (keys_.size() < kRadixRows)
            std::sort(keys_.begin(), keys_.end());
        else
            sort_by_digits();
    }
    std::size_t size() const { return keys_.size(); }
    std::size_t row(std::size_t i) const { return keys_[i] & low_; }
    // Whether there is room for a cut behind element i, and the cut.
    bool apart(std::size_t i) const { return i + 1 < keys_.size() && (keys_[i] | low_) != (keys_[i + 1] | low_); }
    double between(std::size_t i) const {
        return midpoint(from_sortable(keys_[i] | low_), from_sortable(keys_[i + 1] & ~low_));
    }

private:
    static constexpr std::size_t kRadixRows = 300;  // from here on it is faster than std::sort
    static constexpr unsigned kDigitBits = 11, kDigits = 3;
    static constexpr unsigned kLowest = 64 - kDigits * kDigitBits;  // the lowest bit of the last digit

    // The first three digits divide real data so finely that hardly anything is left to sort among equal ones.
    void sort_by_digits() {
        constexpr std::size_t values = std::size_t{1} << kDigitBits;
        counts_.assign(kDigits * values, 0);
        auto digit_of = [](std::uint64_t key, unsigned digit) {
            return (key >> (kLowest + digit * kDigitBits)) & (values - 1);
        };
        for (const std::uint64_t key : keys_)
            for (unsigned digit = 0; digit < kDigits; ++digit) ++counts_[digit * values + digit_of(key, digit)];
        spare_.resize(keys_.size());
        for (unsigned digit = 0; digit < kDigits; ++digit) {
            std::uint32_t* count = counts_.data() + digit * values;
            std::uint32_t begin = 0;
            for (std::size_t value = 0; value < values; ++value) begin += std::exchange(count[value], begin);
            for (const std::uint64_t key : keys_) spare_[count[digit_of(key, digit)]++] = key;
            keys_.swap(spare_);
        }
        for (std::size_t begin = 0, end; begin < keys_.size(); begin = end) {
            end = begin + 1;
            while (end < keys_.size() && (keys_[end] ^ keys_[begin]) >> kLowest == 0) ++end;
            std::sort(keys_.data() + begin, keys_.data() + end);
        }
    }

    std::uint64_t low_ = 0;
    std::vector<std::uint64_t> keys_, spare_;
    std::vector<std::uint32_t> counts_;
};

// A cut of the node's rows at a place, or none.
struct Cut {
    double score = -INFINITY;
    double place = 0;
};

// Beyond this a standardised value or a step is cut off: products of two of them are still finite.
inline constexpr double kFarAway = 1e100;

// The best delta for the test above - delta * along <= 0.
template <class Tally>
Cut best_step(Tally& tally, const NodeRows& node, const Limits& limits, std::span<const double> above,
              std::span<const double> along, ValueOrder& order) {
    tally.clear();
    order.start(node.n);
    std::size_t rows_left = 0;
    for (std::size_t i = 0; i < node.n; ++i) {
        const double turn = along[i] != 0 ? above[i] / along[i] : INFINITY;
        const bool turns = std::fabs(turn) < kFarAway;
        if (turns) order.add(turn, i);
        // A row that delta moves left starts on the right, and the reverse; one that never turns stays where it is.
        if (turns ? along[i] > 0 : above[i] > 0) continue;
        tally.add(i);
        ++rows_left;
    }
    order.sort();
    Cut best;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t row = order.row(i);
        if (along[row] > 0) {
            tally.add(row);
            ++rows_left;
        } else {
            tally.remove(row);
            --rows_left;
        }
        if (!order.apart(i) || !limits.allow(rows_left, node.n, tally.left(), node.total)) continue;
        if (const double score = tally.score(); score > best.score) best = {score, order.between(i)};
    }
    return best;
}

// The best c for the test values <= c.
template <class Tally>
Cut best_cut(Tally& tally, const NodeRows& node, const Limits& limits, std::span<const double> values,
             ValueOrder& order) {
    tally.clear();
    order.start(node.n);
    for (std::size_t i = 0; i < node.n; ++i) order.add(values[i], i);
    order.sort();
    Cut best;
    for (std::size_t i = 0; i < node.n; ++i) {
        tally.add(order.row(i));
        if (!order.apart(i) || !limits.allow(i + 1, node.n, tally.left(), node.total)) continue;
        if (const double score = tally.score(); score > best.score) best = {score, order.between(i)};
    }
    return best;
}

// Keeps its memory from node to node.
template <class Tally>
class ObliqueSearch {
public:
    ObliqueSearch(const Table& table, const NodeRows& node, const Limits& limits, Tally& tally)
        : table_(table), node_(node), limits_(limits), tally_(tally) {}

    // Offers the best combination of the given columns if it is better than the choice so far, as combination 0 behind
    // all columns; `terms` receives it.
    void search(std::span<const std::uint32_t> columns, const Combinations& combinations, std::vector<Term>& terms,
                Choice& choice) {
        if (!start(columns)) return;
        improve();
        if (drop()) improve();
        terms.clear();
        for (const Variable& variable : variables_)
            if (const double coefficient = variable.coefficient * (variable.inverse / 2); coefficient != 0)
                terms.push_back({coefficient, variable.column, -1});
        if (terms.size() < 2) return;
        values_.resize(node_.n);
        for (std::size_t i = 0; i < node_.n; ++i) values_[i] = combinations.value(terms, node_.row[i]);
        // The same division of the rows, added up in another order, is no better.
        choice.set_tolerance(kEqual);
        const auto order = static_cast<std::uint32_t>(table_.columns);
        search_values(tally_, node_, limits_, std::span<const double>(values_), 0, order, sorted_, choice);
    }

private:
    static constexpr std::array<double, 3> kOffsets{0.0, -0.25, 0.25};  // gamma; equal scores: the first
    static constexpr std::size_t kCycles = 20;
    static constexpr double kLeastGain = 1e-3;   // a cycle that improves the split by a smaller share is the last
    static constexpr double kDropShare = 0.2;    // the book's beta
    static constexpr double kEqual = 1e-12;

    struct Variable {
        std::uint32_t column;
        double center;   // half the median: differences of halves do not overflow
        double inverse;  // 1 / half the spread
        double coefficient;
    };

    // 0 where no cut is allowed, too.
    double gain(double score) const { return std::max(0.0, tally_.decrease(score)); }

    // Finds the columns that can take part, and the best axis-parallel cut as the first combination. False if there is
    // nothing to search.
    bool start(std::span<const std::uint32_t> columns) {
        variables_.clear();
        // In the order of the table: which column was drawn first must not matter.
        columns_.assign(columns.begin(), columns.end());
        std::sort(columns_.begin(), columns_.end());
        first_.clear();
        for (const std::uint32_t column : columns_) {
            if (table_.column[column].categorical() || lacks_values(column)) continue;
            const auto number = static_cast<std::uint32_t>(variables_.size());
            if (search_sorted(tally_, node_, limits_, table_, column, number, sorted_, first_)) add_variable(column);
        }
        if (variables_.size() < 2 || !first_.found() || first_[0].score >= tally_.perfect()) return false;
        const Split& split = first_[0];
        for (std::size_t m = 0; m < variables_.size(); ++m) {
            if (variables_[m].column != split.column) continue;
            variables_[m].coefficient = 1;
            load(m);
            value_ = x_;
            cut_ = {split.score, midpoint(standardised(m, split.low_row), standardised(m, split.high_row))};
            return true;
        }
        return false;
    }

    bool lacks_values(std::uint32_t column) const {
        if (!table_.column[column].missing) return false;
        for (std::size_t i = 0; i < node_.n; ++i)
            if (table_.rank_of(node_.row[i], column) == kMissing) return true;
        return false;
    }

    // Quantiles by weight, from the order that search_sorted has just made. They are values of the column, so that a
    // row of weight 2 is two rows to the last bit. A column of mostly one value is measured by its range.
    void add_variable(std::uint32_t column) {
        auto value_at = [&](std::size_t i) { return table_.value(node_.row[sorted_.sorted[i]], column); };
        constexpr std::array<double, 3> shares{0.25, 0.5, 0.75};
        std::array<double, 3> quantile;
        quantile.fill(value_at(node_.n - 1));
        double weight = 0;
        for (std::size_t i = 0, next = 0; i < node_.n && next < 3; ++i) {
            weight += node_.weight_of(sorted_.sorted[i]);
            while (next < 3 && weight >= shares[next] * node_.total) quantile[next++] = value_at(i);
        }
        double spread = quantile[2] / 2 - quantile[0] / 2;
        if (!(spread > 0)) spread = value_at(node_.n - 1) / 2 - value_at(0) / 2;
        const double inverse = 1 / spread;
        // Coefficients of values so near to or so far from each other could not be stored.
        if (std::isnormal(inverse / 2)) variables_.push_back({column, quantile[1] / 2, inverse, 0});
    }

    double standardised(std::size_t m, std::uint32_t row) const {
        const Variable& variable = variables_[m];
        const double value = (table_.value(row, variable.column) / 2 - variable.center) * variable.inverse;
        return std::clamp(value, -kFarAway, kFarAway);
    }

    void load(std::size_t m) {
        x_.resize(node_.n);
        for (std::size_t i = 0; i < node_.n; ++i) x_[i] = standardised(m, node_.row[i]);
    }

    // Changes one coefficient after the other, in cycles, as long as that helps.
    void improve() {
        for (std::size_t cycle = 0; cycle < kCycles && cut_.score < tally_.perfect(); ++cycle) {
            const std::vector<Variable> variables = variables_;
            const Cut cut = cut_;
            for (std::size_t m = 0; m < variables_.size(); ++m) step(m);
            scale();
            combine();
            cut_ = best_cut(tally_, node_, limits_, value_, order_);
            const double before = gain(cut.score), after = gain(cut_.score);
            if (after > before * (1 + kLeastGain)) continue;
            if (after > before) return;
            variables_ = variables;
            combine();
            cut_ = cut;
            return;
        }
    }

    void step(std::size_t m) {
        load(m);
        above_.resize(node_.n);
        along_.resize(node_.n);
        for (std::size_t i = 0; i < node_.n; ++i) above_[i] = value_[i] - cut_.place;
        Cut best;
        double offset = 0;
        for (const double gamma : kOffsets) {
            for (std::size_t i = 0; i < node_.n; ++i) along_[i] = x_[i] + gamma;
            const Cut found = best_step(tally_, node_, limits_, above_, along_, order_);
            if (found.score <= best.score) continue;
            best = found;
            offset = gamma;
        }
        if (!(gain(best.score) > gain(cut_.score) * (1 + kEqual))) return;
        variables_[m].coefficient -= best.place;
        for (std::size_t i = 0; i < node_.n; ++i) value_[i] -= best.place * x_[i];
        cut_ = {best.score, cut_.place + best.place * offset};
    }

    // Drops columns, the least useful first, as long as that costs little next to dropping the most useful one. True if
    // what is left may be improved on.
    bool drop() {
        const std::size_t all = variables_.size();
        std::erase_if(variables_, [](const Variable& variable) { return variable.coefficient == 0; });
        while (variables_.size() > 1) {
            std::size_t least = 0;
            Cut without_least;
            double worst = INFINITY;
            for (std::size_t m = 0; m < variables_.size(); ++m) {
                load(m);
                for (std::size_t i = 0; i < node_.n; ++i) x_[i] = value_[i] - variables_[m].coefficient * x_[i];
                const Cut cut = best_cut(tally_, node_, limits_, x_, order_);
                worst = std::min(worst, cut.score);
                if (cut.score <= without_least.score) continue;
                without_least = cut;
                least = m;
            }
            const double whole = gain(cut_.score);
            if (without_least.score == -INFINITY) break;
            if (whole - gain(without_least.score) > kDropShare * (whole - gain(worst))) break;
            variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(least));
            combine();
            cut_ = without_least;
        }
        return variables_.size() > 1 && variables_.size() < all;
    }

    // A combination times a number is the same test; a power of two changes no digit.
    void scale() {
        double most = 0;
        for (const Variable& variable : variables_) most = std::max(most, std::fabs(variable.coefficient));
        if (!(most > 0)) return;
        const int exponent = std::ilogb(most);
        for (Variable& variable : variables_) variable.coefficient = std::scalbn(variable.coefficient, -exponent);
    }

    void combine() {
        value_.assign(node_.n, 0.0);
        for (std::size_t m = 0; m < variables_.size(); ++m) {
            if (variables_[m].coefficient == 0) continue;
            load(m);
            for (std::size_t i = 0; i < node_.n; ++i) value_[i] += variables_[m].coefficient * x_[i];
        }
    }

    const Table& table_;
    const NodeRows& node_;
    const Limits& limits_;
    Tally& tally_;

    std::vector<Variable> variables_;
    Cut cut_;                    // of the combination, whose values are value_
    std::vector<double> value_;
    std::vector<double> x_;      // the standardised column at hand
    std::vector<double> above_, along_, values_;
    std::vector<std::uint32_t> columns_;
    Choice first_;
    SortedSpace sorted_;
    ValueOrder order_;
};

}  // namespace conjunto
