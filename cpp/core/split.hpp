// A cut of a node in two, and the choice among cuts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "table.hpp"

namespace conjunto {

enum class TestKind : std::uint8_t { numeric, category, combination };

struct Split {
    double score = -INFINITY;
    std::uint32_t order = 0;  // place of the column (or combination) among those tried
    TestKind kind = TestKind::numeric;
    bool missing_left = false;
    std::uint32_t column = 0;  // or the number of the combination
    std::uint32_t low = 0;     // numeric: largest rank on the left
    std::uint32_t high = 0;    // numeric: smallest rank on the right, kMissing if only missing values are there
    std::uint32_t low_row = kMissing;   // rows that have these ranks, where the search knows them
    std::uint32_t high_row = kMissing;
    double threshold = 0;      // combination, or a cut that is drawn
    bool drawn = false;        // numeric: the threshold is given here, and not the midpoint of the values of two rows
    std::array<std::uint32_t, kMaxCategories / 32> set{};  // category
};

// Sends a category to the left; the code behind the last of them stands for what is missing.
inline void send_left(Split& split, std::uint32_t code, std::uint32_t categories) {
    if (code == categories)
        split.missing_left = true;
    else
        split.set[code / 32] |= 1U << (code % 32);
}

// Keeps the best split, or the k best. Equal scores: the column tried first wins, then the cut offered
// first, which is the lowest threshold. The result does not depend on which search found it.
class Choice {
public:
    explicit Choice(std::size_t k = 1) : k_(k) {}

    void clear() { splits_.clear(); }
    bool found() const { return !splits_.empty(); }
    // A score that a later column has to beat.
    double least() const { return splits_.size() < k_ ? -INFINITY : splits_.back().score; }
    // The same for a search that returns only what is strictly better. Where columns are not searched in the order in
    // which they were drawn, equal scores must still come through.
    double floor() const { return out_of_order_ ? std::nextafter(least(), -INFINITY) : least(); }
    void set_out_of_order(bool value) { out_of_order_ = value; }
    // Scores that differ by no more than this share of them count as equal.
    void set_tolerance(double share) { tolerance_ = share; }
    bool wants(double score, std::uint32_t order) const {
        if (splits_.size() < k_) return true;
        const Split& last = splits_.back();
        const double margin = tolerance_ * std::fabs(last.score);
        return score > last.score + margin || (score >= last.score - margin && order < last.order);
    }
    void offer(const Split& split) {
        if (!wants(split.score, split.order)) return;
        if (k_ == 1) {
            splits_.assign(1, split);
            return;
        }
        auto behind = [](const Split& a, const Split& b) {
            return a.score > b.score || (a.score == b.score && a.order < b.order);
        };
        splits_.insert(std::upper_bound(splits_.begin(), splits_.end(), split, behind), split);
        if (splits_.size() > k_) splits_.pop_back();
    }
    std::size_t size() const { return splits_.size(); }
    const Split& operator[](std::size_t i) const { return splits_[i]; }

private:
    std::size_t k_;
    bool out_of_order_ = false;
    double tolerance_ = 0;
    std::vector<Split> splits_;
};

// The threshold between two neighbouring values; never the upper one, to which the sum may round.
inline double midpoint(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle < high && middle >= low ? middle : low;
}

// What a cut must leave on each side.
struct Limits {
    std::size_t min_rows = 1;
    double min_weight = 0;
    // Monotone constraints: by column 1, -1 or 0 (null: none), and between what the values of this node have to stay.
    const std::int8_t* monotone = nullptr;
    double low = -INFINITY, high = INFINITY;

    bool allow(std::size_t rows_left, std::size_t rows, double left, double total) const {
        return rows_left >= min_rows && rows - rows_left >= min_rows && left >= min_weight && total - left >= min_weight;
    }
    // The same for the cut of a column that a tally has reached, with all that its values have to meet.
    template <class Tally>
    bool admit(const Tally& tally, std::size_t rows_left, std::size_t rows, double total, std::uint32_t column) const {
        if (!allow(rows_left, rows, tally.left(), total) || !tally.possible()) return false;
        if (!monotone || monotone[column] == 0) return true;
        const double l = tally.left_value(), r = tally.right_value();
        return l >= low && l <= high && r >= low && r <= high && (l - r) * monotone[column] <= 0;
    }
};

}  // namespace conjunto
