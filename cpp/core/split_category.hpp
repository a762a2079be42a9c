// The search over subsets of categories, x in V.
//
// With two classes, or a variance, the best subset is a prefix of the categories ordered by class share or mean
// (Breiman et al. 1984, theorem 4.5), unless leaves have a least size. With more classes, or such a limit, all
// subsets are tried up to kExhaustive present categories; above that, the prefixes of one such order per class.
// Missing values take part as a category of their own.
//
// One order moves every pair of a category and a class that occurs in it to the left. Where that, times the number of
// classes in the node, is more than kMostMoves, only the classes that weigh most there have an order: 64 classes on
// 256 categories all have theirs, of 300 classes that occur in each of them 26 do.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>

#include "split.hpp"
#include "split_sorted.hpp"
#include "tally.hpp"

namespace conjunto {

inline constexpr std::size_t kExhaustive = 10;
inline constexpr std::size_t kMostMoves = std::size_t{1} << 21;
// What it takes to sort a category into an order, in moves.
inline constexpr std::size_t kMovesOfSorting = 8;

// Rows of one class in a category.
struct ClassWeight {
    std::uint32_t label;
    double weight;
};

// Memory that searches share. Between two of them groups and rows are 0: a small node clears what it has touched, not
// the cells of all categories and classes.
struct CategorySpace {
    std::vector<double> groups;     // [code][class], or [code][weight, moment]
    std::vector<std::size_t> rows;  // [code]
    std::vector<std::uint32_t> present, order, classes;
    std::vector<std::uint32_t> code, sorted;                 // by row of the node; its rows by category
    std::vector<ClassWeight> pairs;                          // by category, then by class
    std::array<std::uint32_t, kMaxCategories + 1> from, to;  // [code]: its pairs
    std::array<double, kMaxCategories + 1> total, value;     // [code]
    std::array<bool, kMaxCategories + 1> left;               // [code]

    // Two classes.
    struct Share {
        double value;
        std::uint32_t code;
        bool operator<(const Share& other) const { return value != other.value ? value < other.value : code < other.code; }
    };
    std::array<std::uint64_t, kBins> cells{};  // [code]: weight, and that of class 1 above; 0 between two searches
    std::array<Share, kBins + 1> shares;
};

template <class Tally>
class CategorySearch {
public:
    CategorySearch(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                   std::uint32_t order, CategorySpace& space, Choice& choice)
        : tally_(tally), node_(node), limits_(limits), column_(column), order_(order), space_(space), choice_(choice),
          categories_(table.column[column].categories), width_(tally.width()) {
        gather(table);
    }
    ~CategorySearch() {
        for (const std::uint32_t code : space_.present) {
            std::fill_n(group_of(code), width_, 0.0);
            space_.rows[code] = 0;
        }
    }
    CategorySearch(const CategorySearch&) = delete;
    CategorySearch& operator=(const CategorySearch&) = delete;

    // False if the column is constant in the node.
    bool run() {
        const std::size_t present = space_.present.size();
        if (present < 2) return false;
        if constexpr (Tally::kClasses) list_pairs();
        const bool limited = limits_.min_rows > 1 || limits_.min_weight > 1e-9 * node_.total || limits_.monotone;
        if ((Tally::kClasses || limited) && present <= kExhaustive)
            try_subsets();
        else if constexpr (Tally::kClasses)
            try_orders_of_classes();
        else
            try_prefixes([&](std::uint32_t code) { return group_of(code)[1] / group_of(code)[0]; });
        return true;
    }

private:
    double* group_of(std::uint32_t code) { return space_.groups.data() + code * width_; }

    void gather(const Table& table) {
        if (space_.groups.size() < (categories_ + 1) * width_) space_.groups.resize((categories_ + 1) * width_, 0.0);
        if (space_.rows.size() < categories_ + 1) space_.rows.resize(categories_ + 1, 0);
        const Table::Bins bins = table.bins_for(column_, node_.n);
        const bool counted = table.column[column_].counted;
        for (std::size_t i = 0; i < node_.n; ++i) {
            const std::uint32_t row = node_.row[i];
            const std::uint32_t code = counted ? bins[row] : std::min(table.ranks_of(row)[column_], categories_);
            double* group = group_of(code);
            if constexpr (Tally::kClasses) {
                group[node_.label_of(i)] += node_.weight_of(i);
            } else {
                group[0] += node_.weight_of(i);
                group[1] += node_.moment_of(i);
            }
            ++space_.rows[code];
        }
        space_.present.clear();
        for (std::uint32_t code = 0; code <= categories_; ++code)
            if (space_.rows[code]) space_.present.push_back(code);
    }

    // A category moves in as many steps as it has classes, however many the problem has.
    void list_pairs() {
        space_.classes.clear();
        for (std::uint32_t k = 0; k < width_; ++k)
            if (node_.class_total[k] > 0) space_.classes.push_back(k);
        space_.pairs.clear();
        for (const std::uint32_t code : space_.present) {
            const double* group = group_of(code);
            space_.from[code] = static_cast<std::uint32_t>(space_.pairs.size());
            space_.total[code] = 0;
            for (const std::uint32_t k : space_.classes) {
                if (group[k] == 0) continue;
                space_.pairs.push_back({k, group[k]});
                space_.total[code] += group[k];
            }
            space_.to[code] = static_cast<std::uint32_t>(space_.pairs.size());
        }
    }

    void begin() {
        tally_.clear();
        rows_left_ = 0;
        for (const std::uint32_t code : space_.present) space_.left[code] = false;
    }

    void move_left(std::uint32_t code) {
        if constexpr (Tally::kClasses) {
            for (std::uint32_t p = space_.from[code]; p < space_.to[code]; ++p)
                tally_.add_class(space_.pairs[p].label, space_.pairs[p].weight);
        } else {
            tally_.add_group(group_of(code));
        }
        rows_left_ += space_.rows[code];
        space_.left[code] = true;
    }

    void move_back(std::uint32_t code) {
        if constexpr (Tally::kClasses) {
            for (std::uint32_t p = space_.from[code]; p < space_.to[code]; ++p)
                tally_.add_class(space_.pairs[p].label, -space_.pairs[p].weight);
        } else {
            const std::array<double, 2> taken{-group_of(code)[0], -group_of(code)[1]};
            tally_.add_group(taken.data());
        }
        rows_left_ -= space_.rows[code];
        space_.left[code] = false;
    }

    void offer() {
        if (!limits_.admit(tally_, rows_left_, node_.n, node_.total, column_)) return;
        const double score = tally_.score();
        if (!choice_.wants(score, order_)) return;
        Split split;
        split.score = score;
        split.order = order_;
        split.kind = TestKind::category;
        split.column = column_;
        for (const std::uint32_t code : space_.present) {
            if (space_.left[code]) send_left(split, code, categories_);
        }
        choice_.offer(split);
    }

    // The last category stays on the right: a subset and its complement are one cut. From one subset to the next a single
    // category changes sides (Gray's order) where sums are exact; real weights would gather rounding on the way.
    void try_subsets() {
        const std::uint32_t subsets = 1U << (space_.present.size() - 1);
        begin();
        for (std::uint32_t number = 1; number < subsets; ++number) {
            const std::uint32_t subset = number ^ (number >> 1);
            if (node_.integer) {
                const std::uint32_t code = space_.present[static_cast<std::size_t>(std::countr_zero(number))];
                space_.left[code] ? move_back(code) : move_left(code);
            } else {
                begin();
                for (std::size_t i = 0; i + 1 < space_.present.size(); ++i)
                    if ((subset >> i) & 1U) move_left(space_.present[i]);
            }
            offer();
        }
    }

    // Cuts of the present categories in the order of `value`.
    template <class Value>
    void try_prefixes(const Value& value) {
        for (const std::uint32_t code : space_.present) space_.value[code] = value(code);
        space_.order = space_.present;
        std::stable_sort(space_.order.begin(), space_.order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return space_.value[a] < space_.value[b]; });
        begin();
        for (std::size_t i = 0; i + 1 < space_.order.size(); ++i) {
            move_left(space_.order[i]);
            offer();
        }
    }

    void try_orders_of_classes() {
        keep_heaviest_classes();
        for (const std::uint32_t k : space_.classes)
            try_prefixes([&](std::uint32_t code) { return group_of(code)[k] / space_.total[code]; });
    }

    // Of equally heavy classes the lowest codes. They are tried by rising code, as all of them are: of equal cuts the
    // first one stays.
    void keep_heaviest_classes() {
        const std::size_t moves = space_.pairs.size() + kMovesOfSorting * space_.present.size();
        const std::size_t orders = std::max<std::size_t>(1, kMostMoves / moves);
        std::vector<std::uint32_t>& classes = space_.classes;
        if (orders >= classes.size()) return;
        const std::vector<double>& weight = node_.class_total;
        std::stable_sort(classes.begin(), classes.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
        classes.resize(orders);
        std::sort(classes.begin(), classes.end());
    }

    Tally& tally_;
    const NodeRows& node_;
    const Limits& limits_;
    const std::uint32_t column_, order_;
    CategorySpace& space_;
    Choice& choice_;
    const std::uint32_t categories_;
    const std::size_t width_;
    std::size_t rows_left_ = 0;
};

// Two classes and integer weights, without limits: the counts of a category are one word, and the best prefix is found
// before a split is made of it.
inline bool search_two_class_category(const NodeRows& node, const Table& table, std::uint32_t column, std::uint32_t order,
                                      CategorySpace& space, Choice& choice) {
    constexpr int kOnes = 32;
    const Table::Bins bins = table.bins_for(column, node.n);
    std::array<std::uint64_t, kBins>& cells = space.cells;
    std::array<CategorySpace::Share, kBins + 1>& shares = space.shares;
    std::size_t present = 0;
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::uint8_t code = bins[node.row[i]];
        const std::uint64_t weight = node.payload[i] >> 8, cell = cells[code];
        shares[present].code = code;
        present += cell == 0;
        cells[code] = cell + (weight | weight * (node.payload[i] & 1U) << kOnes);
    }
    auto weight_of = [&](std::uint32_t code) { return static_cast<double>(cells[code] & 0xFFFFFFFFU); };
    auto ones_of = [&](std::uint32_t code) { return static_cast<double>(cells[code] >> kOnes); };
    double best = -INFINITY;
    std::size_t end = 0;
    if (present > 1) {
        const auto first = shares.begin(), last = first + static_cast<std::ptrdiff_t>(present);
        for (auto share = first; share != last; ++share) share->value = ones_of(share->code) / weight_of(share->code);
        std::sort(first, last);
        double left = 0, ones = 0;
        for (std::size_t i = 0; i + 1 < present; ++i) {
            left += weight_of(shares[i].code);
            ones += ones_of(shares[i].code);
            const double score = moment_score(left, ones, node.total, node.total_moment);
            if (score > best) {
                best = score;
                end = i + 1;
            }
        }
    }
    for (std::size_t i = 0; i < present; ++i) cells[shares[i].code] = 0;
    if (present < 2) return false;
    if (!choice.wants(best, order)) return true;
    Split split;
    split.score = best;
    split.order = order;
    split.kind = TestKind::category;
    split.column = column;
    for (std::size_t i = 0; i < end; ++i) {
        if (shares[i].code == table.column[column].categories)
            split.missing_left = true;
        else
            split.set[shares[i].code / 32] |= 1U << (shares[i].code % 32);
    }
    choice.offer(split);
    return true;
}

// Where rows have to be moved one by one: the cuts of categories in the order of their mean target, and of their shares of
// each class, for every target. That is exact for one mean or share, and else a heuristic.
template <class Tally>
class CategoryRowsSearch {
public:
    CategoryRowsSearch(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, std::uint32_t column,
                       std::uint32_t order, CategorySpace& space, Choice& choice)
        : tally_(tally), node_(node), limits_(limits), column_(column), order_(order), space_(space), choice_(choice),
          categories_(table.column[column].categories) {
        space_.code.resize(node.n);
        space_.rows.assign(categories_ + 1, 0);
        space_.present.clear();
        for (std::size_t i = 0; i < node.n; ++i) ++space_.rows[space_.code[i] = std::min(table.rank_of(node.row[i], column), categories_)];
        for (std::uint32_t code = 0; code <= categories_; ++code)
            if (space_.rows[code]) space_.present.push_back(code);
    }

    // False if the column is constant in the node.
    bool run() {
        if (space_.present.size() < 2) return false;
        if (node_.outputs.empty()) try_orders(node_);
        for (const NodeRows& output : node_.outputs) try_orders(output);
        space_.rows.clear();  // other searches expect zeros
        return true;
    }

private:
    void try_orders(const NodeRows& output) {
        if (output.regression) return try_order([&](std::size_t i) { return output.target[i]; });
        for (std::uint32_t k = output.class_total.size() == 2; k < output.class_total.size(); ++k)
            if (output.class_total[k] > 0) try_order([&](std::size_t i) { return double(output.label_of(i) == k); });
    }

    template <class Value>
    void try_order(const Value& value) {
        space_.total.fill(0);
        space_.value.fill(0);
        for (std::size_t i = 0; i < node_.n; ++i) {
            space_.total[space_.code[i]] += node_.weight_of(i);
            space_.value[space_.code[i]] += node_.weight_of(i) * value(i);
        }
        space_.order = space_.present;
        const auto mean = [&](std::uint32_t code) { return space_.value[code] / space_.total[code]; };
        std::stable_sort(space_.order.begin(), space_.order.end(), [&](std::uint32_t a, std::uint32_t b) { return mean(a) < mean(b); });
        std::uint32_t end = 0;
        for (const std::uint32_t code : space_.order) {
            space_.from[code] = end;
            end += static_cast<std::uint32_t>(space_.rows[code]);
        }
        space_.sorted.resize(node_.n);
        for (std::uint32_t i = 0; i < node_.n; ++i) space_.sorted[space_.from[space_.code[i]]++] = i;
        const auto code_at = [&](std::size_t i) { return space_.code[space_.sorted[i]]; };
        scan_sorted(
            tally_, node_, limits_, column_, space_.sorted, {}, [&](std::size_t i) { return code_at(i) != code_at(i + 1); },
            [&](double score, std::size_t i, bool) {
                if (!choice_.wants(score, order_)) return;
                Split split;
                split.score = score;
                split.order = order_;
                split.kind = TestKind::category;
                split.column = column_;
                for (const std::uint32_t code : space_.order) {
                    send_left(split, code, categories_);
                    if (code == code_at(i)) break;
                }
                choice_.offer(split);
            });
    }

    Tally& tally_;
    const NodeRows& node_;
    const Limits& limits_;
    const std::uint32_t column_, order_;
    CategorySpace& space_;
    Choice& choice_;
    const std::uint32_t categories_;
};

// False if the column is constant in the node.
template <class Tally>
bool search_category(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                     std::uint32_t column, std::uint32_t order, CategorySpace& space, Choice& choice) {
    const bool limited = limits.min_rows > 1 || limits.min_weight > 0 || limits.monotone;
    if (!Tally::kPlain && !Tally::kClasses && node.integer && !limited && table.column[column].counted)
        return search_two_class_category(node, table, column, order, space, choice);
    if constexpr (!Tally::kGroups)
        return CategoryRowsSearch(tally, node, limits, table, column, order, space, choice).run();
    else
        return CategorySearch(tally, node, limits, table, column, order, space, choice).run();
}

}  // namespace conjunto
