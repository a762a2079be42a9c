// Large trees, walked over codes: a node is 8 bytes (16 where categories are tested), its children are neighbours, and a
// leaf is its own child.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "parallel.hpp"
#include "predict.hpp"

namespace conjunto {

// Rows are encoded once, or twice where numbers are missing: missing values come last in the one encoding and first in
// the other, and a node asks the one that sends them to its side.
inline constexpr std::uint16_t kMissingFirst = 2;
// The set of a node is too large for one word.
inline constexpr std::uint16_t kWideSet = 1;
// A column is a multiple of four: below it are the two flags, and codes are found without a shift.
inline constexpr unsigned kColumnUnit = 4;
inline constexpr std::size_t kMostWalkedColumns = 0xFFFF / kColumnUnit;

// The test of a number: right if its code is larger.
struct NumberStep {
    std::uint16_t code;
    std::uint16_t column;  // in units of kColumnUnit, and kMissingFirst
    std::uint32_t next;    // of the left child; the right one follows

    static constexpr bool kSets = false;
    template <bool kWide>
    std::uint32_t after(std::uint16_t x, const std::uint32_t*) const {
        return next + (x > code);
    }
};
static_assert(sizeof(NumberStep) == 8);

// The same, or that of a category: right if its bit is set. Both at once, without a branch: the set of a number is empty,
// the code of a category is the largest there is.
struct MixedStep {
    std::uint64_t right;  // or where a wide set, of those that go left, begins
    std::uint32_t next;
    std::uint16_t code;
    std::uint16_t column;  // in units of kColumnUnit, kMissingFirst, kWideSet

    static constexpr bool kSets = true;
    template <bool kWide>
    std::uint32_t after(std::uint16_t x, const std::uint32_t* sets) const {
        if (kWide && (column & kWideSet)) {
            const bool left = x == kMissingCode ? (column & kMissingFirst) != 0 : (sets[right + x / 32] >> (x % 32)) & 1U;
            return next + !left;
        }
        return next + ((x > code) | ((right >> (x & 63U)) & 1U));
    }
};
static_assert(sizeof(MixedStep) == 16);

template <class Step>
class WalkedTrees {
public:
    // Whether no tree has more thresholds in a column than there are codes.
    static bool suit(const Forest& forest) {
        if (forest.columns > kMostWalkedColumns || forest.nodes.empty()) return false;
        std::vector<std::size_t> used(forest.columns);
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            if (forest.node_start[tree + 1] - forest.node_start[tree] <= kMostCodes) continue;
            std::fill(used.begin(), used.end(), 0);
            for (std::size_t i = forest.node_start[tree]; i < forest.node_start[tree + 1]; ++i)
                if (++used[forest.nodes[i].index()] > kMostCodes) return false;
        }
        return true;
    }

    // Takes trees first .. end(), as many as the codes hold.
    WalkedTrees(const Forest& forest, std::size_t first)
        : columns_(forest.columns), first_(first), end_(last_tree(forest, first)), codes_(forest, first, end_) {
        const std::size_t nodes = forest.node_start[end_] - forest.node_start[first];
        steps_.reserve(2 * nodes + end_ - first);
        leaf_.reserve(2 * nodes + end_ - first);
        for (std::size_t tree = first_; tree < end_; ++tree) add(forest, tree);
        codes_.forget_nodes();
        wide_ = std::ranges::any_of(forest.categories, [](std::uint32_t categories) { return categories > kWordCategories; });
    }

    std::size_t end() const { return end_; }
    std::size_t bytes() const { return codes_.bytes() + steps_.capacity() * sizeof(Step) + leaf_.capacity() * 4; }

    // Calls sink(tree, first_row, rows, leaves) for these trees and all rows. `missing`: some number may be missing.
    template <class Sink>
    void run(Rows x, bool missing, const std::uint32_t* sets, std::size_t threads, const Sink& sink) const {
        const std::size_t slots = columns_ * (missing ? 2 : 1);
        // Large chunks: a tree comes from far away, and the codes of a chunk wait no further off. But every thread has one.
        const std::size_t fits = std::min({kCodeBytes / (slots * sizeof(std::uint16_t)), kChunkRows, x.n / std::max<std::size_t>(threads, 1) + 1});
        const std::size_t rows = (fits + kBlockRows - 1) / kBlockRows * kBlockRows, chunks = (x.n + rows - 1) / rows;
        parallel_for(chunks, threads, [&](std::size_t chunk, std::size_t) {
            const std::size_t first = chunk * rows, n = std::min(rows, x.n - first);
            const HalfBuffer codes = half_buffer((n + kInStep - 1) / kInStep * kInStep * slots);
            encode(x.part(first, n), missing, codes.get());
            std::vector<std::uint32_t> leaf(n);
            for (std::size_t tree = first_; tree < end_; ++tree) {
                if (Step::kSets && wide_)
                    missing ? walk<true, true>(tree, codes.get(), sets, n, leaf.data())
                            : walk<false, true>(tree, codes.get(), sets, n, leaf.data());
                else
                    missing ? walk<true, false>(tree, codes.get(), sets, n, leaf.data())
                            : walk<false, false>(tree, codes.get(), sets, n, leaf.data());
                sink(tree, first, n, leaf.data());
            }
        });
    }

private:
    static constexpr std::size_t kWalkRows = 512;
    static constexpr std::size_t kInStep = 16;
    // So many steps are taken between two looks at who has arrived; first as many as the training rows took on average,
    // and some more.
    static constexpr std::uint32_t kLevels = 4;
    static constexpr double kMoreLevels = 2;
    static constexpr std::size_t kCodeBytes = std::size_t{1} << 22;
    static constexpr std::size_t kChunkRows = 16384;

    // (group of rows, slot, row of the group): near the root the rows of a group ask for the same column.
    void encode(Rows x, bool missing, std::uint16_t* codes) const {
        const std::size_t width = missing ? 2 : 1, slots = columns_ * width;
        std::array<std::uint16_t, kBlockRows> block;
        auto encode_block = [&](std::size_t row, std::uint32_t c) {
            const std::size_t count = std::min(kBlockRows, x.n - row);
            codes_.encode(x.at(row, c), x.row_stride, c, count, block.data());
            for (std::size_t i = 0; i < count; ++i) {
                std::uint16_t* code = codes + place_of(row + i, slots) + c * width * kInStep;
                code[0] = block[i];
                if (!missing) continue;
                code[kInStep] = block[i];
                if (codes_.numeric(c) && std::isnan(*x.at(row + i, c))) code[0] = kMissingCode;
            }
        };
        codes_.each_column_of_rows(x.n, encode_block);
    }

    // Where the codes of a row begin.
    static std::size_t place_of(std::size_t row, std::size_t slots) {
        return row / kInStep * kInStep * slots + row % kInStep;
    }

    static std::size_t last_tree(const Forest& forest, std::size_t first) {
        std::vector<std::size_t> used(forest.columns, 0);
        for (std::size_t tree = first; tree < forest.trees(); ++tree)
            for (std::size_t i = forest.node_start[tree]; i < forest.node_start[tree + 1]; ++i)
                if (++used[forest.nodes[i].index()] > kMostCodes && tree > first) return tree;
        return forest.trees();
    }

    Step step_of(const Forest& forest, std::size_t i, std::uint32_t next) const {
        const Node& node = forest.nodes[i];
        Step step{};
        step.next = next;
        step.code = codes_.of_node(i);
        step.column = static_cast<std::uint16_t>(node.index() * kColumnUnit | (node.missing_left() ? kMissingFirst : 0U));
        if constexpr (Step::kSets) {
            if (!(node.test & Node::kCategory)) return step;
            const auto offset = static_cast<std::size_t>(node.threshold);
            const std::uint32_t categories = forest.categories[node.index()];
            step.code = kMissingCode;
            if (categories > kWordCategories) {
                step.column |= kWideSet;
                step.right = offset;
                return step;
            }
            std::uint64_t left = forest.sets[offset];
            if (categories > 32) left |= static_cast<std::uint64_t>(forest.sets[offset + 1]) << 32;
            const std::uint64_t last = std::uint64_t{1} << kWordCategories;
            step.right = ~((left & (last - 1)) | (node.missing_left() ? last : 0));
        }
        return step;
    }

    // Lays a tree out depth first, children side by side: a walk often finds its next node in the same cache line.
    void add(const Forest& forest, std::size_t tree) {
        const std::size_t first_node = forest.node_start[tree];
        const bool single = first_node == forest.node_start[tree + 1];
        struct Open {
            std::uint32_t at;
            std::int32_t node;
            std::uint32_t depth;
        };
        std::vector<Open> stack{{static_cast<std::uint32_t>(steps_.size()), single ? ~0 : 0, 0}};
        double rows = 0, steps = 0;
        start_.push_back(stack.back().at);
        steps_.resize(steps_.size() + 1);
        leaf_.resize(steps_.size());
        const auto first_leaf = static_cast<std::uint32_t>(forest.leaf_start[tree]);
        while (!stack.empty()) {
            const auto [at, number, depth] = stack.back();
            stack.pop_back();
            if (number < 0) {
                const double rows_here = forest.leaf_size[first_leaf + static_cast<std::size_t>(~number)].rows;
                rows += rows_here;
                steps += rows_here * depth;
                Step leaf{};
                leaf.next = at;
                leaf.code = kMissingCode;
                steps_[at] = leaf;
                leaf_[at] = first_leaf + static_cast<std::uint32_t>(~number);
                continue;
            }
            const std::size_t i = first_node + static_cast<std::size_t>(number);
            const auto children = static_cast<std::uint32_t>(steps_.size());
            steps_[at] = step_of(forest, i, children);
            steps_.resize(steps_.size() + 2);
            leaf_.resize(steps_.size());
            stack.push_back({children + 1, forest.nodes[i].right, depth + 1});
            stack.push_back({children, forest.nodes[i].left, depth + 1});
        }
        const double mean = rows > 0 ? steps / rows : 0.0;
        levels_.push_back(static_cast<std::uint32_t>(std::clamp(mean + kMoreLevels, 4.0, 64.0)));
    }

    template <bool kMissing, bool kWide>
    static std::uint32_t next(const Step& step, const std::uint16_t* codes, const std::uint32_t* sets) {
        // (column, encoding) where there are two encodings, else (column).
        const std::size_t slot = kMissing ? kInStep / 2 * (step.column & ~1U) : kInStep / 4 * (step.column & ~3U);
        return step.template after<kWide>(codes[slot], sets);
    }

    // Sixteen rows take some steps together, without a branch, which hides the latency of each.
    template <bool kMissing, bool kWide, class Mine>
    static void take_steps(const Step* steps, const std::uint32_t* sets, std::uint32_t levels, const Mine& mine,
                           std::array<std::uint32_t, kInStep>& here) {
        for (std::uint32_t level = 0; level < levels; ++level)
#pragma GCC unroll 16
            for (std::size_t j = 0; j < kInStep; ++j) here[j] = next<kMissing, kWide>(steps[here[j]], mine(j), sets);
    }

    // Near the root all rows walk, and those of a group lie side by side. Those that have arrived, where a step leads
    // nowhere, are then left out, and the others close ranks.
    template <bool kMissing, bool kWide>
    void walk(std::size_t tree, const std::uint16_t* codes, const std::uint32_t* sets, std::size_t n, std::uint32_t* leaf) const {
        const std::size_t slots = columns_ * (kMissing ? 2 : 1);
        const std::uint32_t root = start_[tree - first_];
        const Step* const steps = steps_.data();
        std::array<std::uint32_t, kWalkRows + kInStep> at, row, place;
        std::array<std::uint32_t, kInStep> here;
        for (std::size_t first = 0; first < n; first += kWalkRows) {
            const std::size_t count = std::min(kWalkRows, n - first);
            const std::uint16_t* const block = codes + first * slots;
            std::size_t walking = 0;
            auto close_ranks = [&](std::size_t i, std::uint32_t now, std::uint32_t number) {
                place[number] = now;
                at[walking] = now;
                row[walking] = number;
                walking += steps[now].next != now && i < count;
            };
            for (std::size_t i = 0; i < count; i += kInStep) {
                here.fill(root);
                const std::uint16_t* const group = block + i * slots;
                take_steps<kMissing, kWide>(steps, sets, levels_[tree - first_], [=](std::size_t j) { return group + j; }, here);
                for (std::size_t j = 0; j < kInStep; ++j) close_ranks(i + j, here[j], static_cast<std::uint32_t>(i + j));
            }
            while (walking > 0) {
                const std::size_t open = walking;
                for (std::size_t i = open; i % kInStep; ++i) {
                    at[i] = at[open - 1];
                    row[i] = row[open - 1];
                }
                walking = 0;
                for (std::size_t i = 0; i < open; i += kInStep) {
                    std::array<const std::uint16_t*, kInStep> mine;
                    std::array<std::uint32_t, kInStep> who;
                    for (std::size_t j = 0; j < kInStep; ++j) {
                        who[j] = row[i + j];
                        mine[j] = block + place_of(who[j], slots);
                        here[j] = at[i + j];
                    }
                    take_steps<kMissing, kWide>(steps, sets, kLevels, [&](std::size_t j) { return mine[j]; }, here);
                    for (std::size_t j = 0; j < std::min(kInStep, open - i); ++j) close_ranks(0, here[j], who[j]);
                }
            }
            for (std::size_t i = 0; i < count; ++i) leaf[first + i] = leaf_[place[i]];
        }
    }

    std::size_t columns_, first_, end_;
    bool wide_ = false;  // some set is too large for one word
    Codes codes_;
    std::vector<Step> steps_;
    std::vector<std::uint32_t> leaf_;
    std::vector<std::uint32_t> start_, levels_;  // by tree
};

}  // namespace conjunto
