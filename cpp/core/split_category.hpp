// The search over subsets of categories, x in V.
//
// With two classes, or a variance, the best subset is a prefix of the categories ordered by class share or mean
// (Breiman et al. 1984, theorem 4.5), unless leaves have a least size. With more classes, or such a limit, all
// subsets are tried up to kExhaustive present categories; above that, the prefixes of one such order per class.
// Missing values take part as a category of their own.
#pragma once

#include <cstdint>
#include <numeric>

#include "split.hpp"
#include "tally.hpp"

namespace conjunto {

inline constexpr std::size_t kExhaustive = 10;

struct CategorySpace {
    std::vector<double> groups;
    std::vector<std::size_t> rows;
    std::vector<std::uint32_t> present, order;
};

// False if the column is constant in the node.
template <class Tally>
bool search_category(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                     std::uint32_t column, std::uint32_t order, CategorySpace& space, Choice& choice) {
    const std::uint32_t categories = table.column[column].categories;
    const std::size_t width = tally.width();
    space.groups.assign((categories + 1) * width, 0.0);
    space.rows.assign(categories + 1, 0);
    for (std::size_t i = 0; i < node.n; ++i) {
        const std::uint32_t code = std::min(table.ranks_of(node.row[i])[column], categories);
        double* group = space.groups.data() + code * width;
        if constexpr (Tally::kClasses) {
            group[node.label_of(i)] += node.weight_of(i);
        } else {
            group[0] += node.weight_of(i);
            group[1] += node.moment_of(i);
        }
        ++space.rows[code];
    }
    space.present.clear();
    for (std::uint32_t code = 0; code <= categories; ++code)
        if (space.rows[code]) space.present.push_back(code);
    if (space.present.size() < 2) return false;

    auto group_of = [&](std::uint32_t code) { return space.groups.data() + code * width; };
    auto offer = [&](double score, auto&& on_left) {
        if (!choice.wants(score, order)) return;
        Split split;
        split.score = score;
        split.order = order;
        split.kind = TestKind::category;
        split.column = column;
        for (const std::uint32_t code : space.present) {
            if (!on_left(code)) continue;
            if (code == categories)
                split.missing_left = true;
            else
                split.set[code / 32] |= 1U << (code % 32);
        }
        choice.offer(split);
    };
    auto allowed = [&](std::size_t rows_left) { return limits.allow(rows_left, node.n, tally.left(), node.total); };
    // Cuts of the present categories in the order of `value`.
    auto try_prefixes = [&](auto&& value) {
        space.order = space.present;
        std::stable_sort(space.order.begin(), space.order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return value(a) < value(b); });
        tally.clear();
        std::size_t rows_left = 0;
        for (std::size_t i = 0; i + 1 < space.order.size(); ++i) {
            tally.add_group(group_of(space.order[i]));
            rows_left += space.rows[space.order[i]];
            if (!allowed(rows_left)) continue;
            offer(tally.score(), [&](std::uint32_t code) {
                return std::find(space.order.begin(), space.order.begin() + i + 1, code) != space.order.begin() + i + 1;
            });
        }
    };

    const bool limited = limits.min_rows > 1 || limits.min_weight > 1e-9 * node.total;
    if ((Tally::kClasses || limited) && space.present.size() <= kExhaustive) {
        // The last category stays on the right: a subset and its complement are one cut.
        const std::uint32_t subsets = 1U << (space.present.size() - 1);
        for (std::uint32_t subset = 1; subset < subsets; ++subset) {
            tally.clear();
            std::size_t rows_left = 0;
            std::array<bool, kMaxCategories + 1> left{};
            for (std::size_t i = 0; i + 1 < space.present.size(); ++i) {
                if (!((subset >> i) & 1U)) continue;
                left[space.present[i]] = true;
                tally.add_group(group_of(space.present[i]));
                rows_left += space.rows[space.present[i]];
            }
            if (allowed(rows_left)) offer(tally.score(), [&](std::uint32_t code) { return left[code]; });
        }
    } else if constexpr (!Tally::kClasses) {
        try_prefixes([&](std::uint32_t code) { return group_of(code)[1] / group_of(code)[0]; });
    } else {
        for (std::size_t k = 0; k < width; ++k) {
            if (!(node.class_total[k] > 0)) continue;
            try_prefixes([&](std::uint32_t code) {
                const double* group = group_of(code);
                return group[k] / std::accumulate(group, group + width, 0.0);
            });
        }
    }
    return true;
}

}  // namespace conjunto
