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
inline constexpr std::uint16_t kMissingFirst = 1U << 15;
// The set of a node is too large for one word.
inline constexpr std::uint16_t kWideSet = 1U << 14;
inline constexpr std::size_t kMostWalkedColumns = kWideSet - 1;

// The test of a number: right if its code is larger.
struct NumberStep {
    std::uint32_t next;  // of the left child; the right one follows
    std::uint16_t code;
    std::uint16_t column;  // and kMissingFirst

    static constexpr bool kSets = false;
    std::uint32_t after(std::uint16_t x, const std::uint32_t*) const { return next + (x > code); }
};
static_assert(sizeof(NumberStep) == 8);

// The same, or that of a category: right if its bit is not set. Both at once, without a branch: the set of a number has
// all bits, the code of a category is the largest there is.
struct MixedStep {
    std::uint64_t set;  // or where a wide set begins
    std::uint32_t next;
    std::uint16_t code;
    std::uint16_t column;  // kMissingFirst, kWideSet

    static constexpr bool kSets = true;
    std::uint32_t after(std::uint16_t x, const std::uint32_t* sets) const {
        if (__builtin_expect((column & kWideSet) != 0, 0)) {
            const bool left = x == kMissingCode ? (column & kMissingFirst) != 0 : (sets[set + x / 32] >> (x % 32)) & 1U;
            return next + !left;
        }
        return next + ((x > code) | (~(set >> (x & 63U)) & 1U));
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
            encode({x.data + first * columns_, n}, missing, codes.get());
            std::vector<std::uint32_t> leaf(n);
            for (std::size_t tree = first_; tree < end_; ++tree) {
                if (missing)
                    walk<true>(tree, codes.get(), sets, n, leaf.data());
                else
                    walk<false>(tree, codes.get(), sets, n, leaf.data());
                sink(tree, first, n, leaf.data());
            }
        });
    }

private:
    static constexpr std::size_t kWalkRows = 512;
    static constexpr std::size_t kInStep = 16;
    static constexpr std::uint32_t kLevels = 8;
    static constexpr std::size_t kCodeBytes = std::size_t{1} << 22;
    static constexpr std::size_t kChunkRows = 16384;

    // (group of rows, slot, row of the group): near the root the rows of a group ask for the same column.
    void encode(Rows x, bool missing, std::uint16_t* codes) const {
        const std::size_t width = missing ? 2 : 1, slots = columns_ * width;
        std::array<std::uint16_t, kBlockRows> block;
        auto encode_block = [&](std::size_t row, std::uint32_t c) {
            const std::size_t count = std::min(kBlockRows, x.n - row);
            codes_.encode(x.data + row * columns_, columns_, c, count, block.data());
            for (std::size_t i = 0; i < count; ++i) {
                std::uint16_t* code = codes + place_of(row + i, slots) + c * width * kInStep;
                code[0] = block[i];
                if (!missing) continue;
                code[kInStep] = block[i];
                if (codes_.numeric(c) && std::isnan(x.data[(row + i) * columns_ + c])) code[0] = kMissingCode;
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
        step.column = static_cast<std::uint16_t>(node.index() | (node.missing_left() ? kMissingFirst : 0U));
        if constexpr (Step::kSets) {
            step.set = ~std::uint64_t{0};
            if (!(node.test & Node::kCategory)) return step;
            const auto offset = static_cast<std::size_t>(node.threshold);
            const std::uint32_t categories = forest.categories[node.index()];
            step.code = kMissingCode;
            if (categories > kWordCategories) {
                step.column |= kWideSet;
                step.set = offset;
                return step;
            }
            step.set = forest.sets[offset];
            if (categories > 32) step.set |= static_cast<std::uint64_t>(forest.sets[offset + 1]) << 32;
            const std::uint64_t last = std::uint64_t{1} << kWordCategories;
            step.set = (step.set & (last - 1)) | (node.missing_left() ? last : 0);
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
        };
        std::vector<Open> stack{{static_cast<std::uint32_t>(steps_.size()), single ? ~0 : 0}};
        start_.push_back(stack.back().at);
        steps_.resize(steps_.size() + 1);
        leaf_.resize(steps_.size());
        const auto first_leaf = static_cast<std::uint32_t>(forest.leaf_start[tree]);
        while (!stack.empty()) {
            const auto [at, number] = stack.back();
            stack.pop_back();
            if (number < 0) {
                Step leaf{};
                leaf.next = at;
                leaf.code = kMissingCode;
                if constexpr (Step::kSets) leaf.set = ~std::uint64_t{0};
                steps_[at] = leaf;
                leaf_[at] = first_leaf + static_cast<std::uint32_t>(~number);
                continue;
            }
            const std::size_t i = first_node + static_cast<std::size_t>(number);
            const auto children = static_cast<std::uint32_t>(steps_.size());
            steps_[at] = step_of(forest, i, children);
            steps_.resize(steps_.size() + 2);
            leaf_.resize(steps_.size());
            stack.push_back({children + 1, forest.nodes[i].right});
            stack.push_back({children, forest.nodes[i].left});
        }
    }

    template <bool kMissing>
    static std::uint32_t next(const Step& step, const std::uint16_t* codes, const std::uint32_t* sets) {
        const std::size_t column = step.column & kMostWalkedColumns;
        return step.after(codes[kInStep * (kMissing ? 2 * column + (step.column >= kMissingFirst) : column)], sets);
    }

    // Several rows take some steps together, without a branch, which hides the latency of each; those that have arrived,
    // where a step leads nowhere, are then left out, and the others close ranks.
    template <bool kMissing>
    void walk(std::size_t tree, const std::uint16_t* codes, const std::uint32_t* sets, std::size_t n, std::uint32_t* leaf) const {
        const std::size_t slots = columns_ * (kMissing ? 2 : 1);
        const std::uint32_t root = start_[tree - first_];
        const Step* const steps = steps_.data();
        std::array<std::uint32_t, kWalkRows + kInStep> at, row, place;
        for (std::size_t first = 0; first < n; first += kWalkRows) {
            const std::size_t count = std::min(kWalkRows, n - first);
            const std::uint16_t* const block = codes + first * slots;
            for (std::uint32_t i = 0; i < count; ++i) {
                at[i] = root;
                row[i] = i;
            }
            for (std::size_t walking = count; walking > 0;) {
                for (std::size_t i = 0; i < kInStep; ++i) {
                    at[walking + i] = at[walking - 1];
                    row[walking + i] = row[walking - 1];
                }
                for (std::size_t i = 0; i < walking; i += kInStep) {
                    std::array<const std::uint16_t*, kInStep> mine;
                    std::array<std::uint32_t, kInStep> here;
                    for (std::size_t j = 0; j < kInStep; ++j) {
                        mine[j] = block + place_of(row[i + j], slots);
                        here[j] = at[i + j];
                    }
                    for (std::uint32_t level = 0; level < kLevels; ++level)
#pragma GCC unroll 16
                        for (std::size_t j = 0; j < kInStep; ++j) here[j] = next<kMissing>(steps[here[j]], mine[j], sets);
                    for (std::size_t j = 0; j < kInStep; ++j) at[i + j] = here[j];
                }
                std::size_t kept = 0;
                for (std::size_t i = 0; i < walking; ++i) {
                    const std::uint32_t here = at[i], number = row[i];
                    place[number] = here;
                    at[kept] = here;
                    row[kept] = number;
                    kept += steps[here].next != here;
                }
                walking = kept;
            }
            for (std::size_t i = 0; i < count; ++i) leaf[first + i] = leaf_[place[i]];
        }
    }

    std::size_t columns_, first_, end_;
    Codes codes_;
    std::vector<Step> steps_;
    std::vector<std::uint32_t> leaf_, start_;
};

}  // namespace conjunto
