// Forests with thresholds replaced by their place among all thresholds of their column.
//
// A value becomes a code of 16 bits, the number of thresholds below it, and x <= threshold becomes
// code(x) <= code(threshold): the same answer from a quarter of the memory, on a row that is encoded once for
// all trees. Small trees are evaluated whole, 16 rows per vector; large ones are walked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "predict.hpp"
#include "radix.hpp"

namespace conjunto {

// Rows that pass through a tree before the next tree is taken.
inline constexpr std::size_t kCodedChunk = 4096;
// Trees up to this size are evaluated whole, without branches; above it a walk visits fewer nodes.
inline constexpr std::size_t kCodedNodes = 160;
inline constexpr std::size_t kMostCodes = 0xFFFE;

struct AlignedDelete {
    void operator()(std::uint16_t* data) const { ::operator delete[](data, std::align_val_t{64}); }
};
using HalfBuffer = std::unique_ptr<std::uint16_t[], AlignedDelete>;

inline HalfBuffer half_buffer(std::size_t n) {
    auto* data = static_cast<std::uint16_t*>(::operator new[](n * sizeof(std::uint16_t), std::align_val_t{64}));
    std::memset(data, 0, n * sizeof(std::uint16_t));
    return HalfBuffer(data);
}

// The thresholds of some trees, sorted by column.
class Codes {
public:
    Codes(const Forest& forest, std::size_t first_tree, std::size_t end_tree)
        : lists_(forest.columns), first_node_(forest.node_start[first_tree]) {
        const std::size_t end_node = forest.node_start[end_tree];
        std::vector<std::vector<Entry>> entries(forest.columns);
        std::vector<Entry> spare;
        for (std::size_t i = first_node_; i < end_node; ++i)
            entries[forest.nodes[i].index()].push_back(
                {sortable(forest.nodes[i].threshold), static_cast<std::uint32_t>(i - first_node_)});
        code_.resize(end_node - first_node_);
        for (std::size_t c = 0; c < forest.columns; ++c) {
            sort_entries(entries[c], spare);
            for (std::size_t i = 0; i < entries[c].size(); ++i) {
                if (i == 0 || entries[c][i].key != entries[c][i - 1].key) lists_[c].push_back(from_sortable(entries[c][i].key));
                code_[entries[c][i].row] = static_cast<std::uint16_t>(lists_[c].size() - 1);
            }
            most_ = std::max(most_, lists_[c].size());
        }
    }

    std::size_t most() const { return most_; }
    // The code of a node's threshold.
    std::uint16_t of_node(std::size_t node) const { return code_[node - first_node_]; }

    // Codes of n <= 64 rows in one column. The rows search in step, which hides the latency of each.
    void encode(const double* x, std::size_t columns, std::size_t column, std::size_t n, std::uint16_t* out) const {
        const auto& list = lists_[column];
        if (list.empty()) {
            std::fill_n(out, n, std::uint16_t{0});
            return;
        }
        std::array<double, kBlockRows> value;
        std::array<const double*, kBlockRows> base;
        for (std::size_t row = 0; row < n; ++row) {
            value[row] = x[row * columns + column];
            base[row] = list.data();
        }
        for (std::size_t length = list.size(); length > 1;) {
            const std::size_t half = length / 2;
            for (std::size_t row = 0; row < n; ++row) base[row] += base[row][half - 1] < value[row] ? half : 0;
            length -= half;
        }
        for (std::size_t row = 0; row < n; ++row)
            out[row] = static_cast<std::uint16_t>((base[row] - list.data()) + (*base[row] < value[row]));
    }

private:
    std::vector<std::vector<double>> lists_;
    std::size_t first_node_;
    std::vector<std::uint16_t> code_;
    std::size_t most_ = 0;
};

// Small trees, for the kernel that evaluates them whole.
class SmallTrees {
public:
    static bool suit(const Forest& forest, std::size_t rows) {
        if (rows < 4 * kBlockRows || forest.trees() == 0 || forest.trees() > 0xFFFF || forest.classes > 0xFFFF)
            return false;
        if (forest.nodes.size() > kCodedNodes * forest.trees()) return false;
        for (std::size_t t = 0; t < forest.trees(); ++t)
            if (forest.leaf_start[t + 1] - forest.leaf_start[t] > 0xFFFF) return false;
        return true;
    }

    explicit SmallTrees(const Forest& forest)
        : forest_(forest), codes_(forest, 0, forest.trees()), nodes_(forest.nodes.size()) {
        if (!usable()) return;
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            const std::size_t first = forest.node_start[tree], n = forest.node_start[tree + 1] - first;
            largest_ = std::max(largest_, 2 * n + 1);
            auto place = [&](std::int32_t child) {
                return static_cast<std::uint32_t>(child >= 0 ? child : n + static_cast<std::size_t>(~child));
            };
            for (std::size_t i = 0; i < n; ++i) {
                const Node& node = forest.nodes[first + i];
                nodes_[first + i] = {codes_.of_node(first + i), 0, node.index(), place(node.left), place(node.right)};
            }
        }
    }

    bool usable() const { return codes_.most() <= kMostCodes; }

    // Sends chunks of rows through all trees. body(chunk, block, tree, first_row, rows, results) receives the 64
    // results of a block; leaf_result(tree, leaf) is what a leaf answers; finish(chunk, first_row, rows) ends a
    // chunk.
    template <class LeafResult, class Body, class Finish>
    void run(Rows x, std::size_t threads, LeafResult&& leaf_result, Body&& body, Finish&& finish) const {
        const Kernels& kernels = best_kernels();
        const std::size_t m = forest_.columns, chunks = (x.n + kCodedChunk - 1) / kCodedChunk;
        parallel_for(chunks, threads, [&](std::size_t chunk, std::size_t) {
            const std::size_t first = chunk * kCodedChunk, n = std::min(kCodedChunk, x.n - first);
            const std::size_t blocks = (n + kBlockRows - 1) / kBlockRows;
            const HalfBuffer codes = half_buffer(blocks * m * kBlockRows);
            const HalfBuffer results = half_buffer(largest_ * kBlockRows);
            for (std::size_t row = 0; row < n; row += kBlockRows)
                for (std::size_t c = 0; c < m; ++c)
                    codes_.encode(x.data + (first + row) * m, m, c, std::min(kBlockRows, n - row),
                                  codes.get() + row * m + c * kBlockRows);
            for (std::size_t tree = 0; tree < forest_.trees(); ++tree) {
                const std::size_t start = forest_.node_start[tree], nodes = forest_.node_start[tree + 1] - start;
                for (std::size_t leaf = 0; leaf <= nodes; ++leaf)
                    std::fill_n(results.get() + (nodes + leaf) * kBlockRows, kBlockRows, leaf_result(tree, leaf));
                for (std::size_t block = 0; block < blocks; ++block) {
                    kernels.evaluate(nodes_.data() + start, nodes, codes.get() + block * m * kBlockRows, results.get());
                    const std::size_t row = block * kBlockRows;
                    body(chunk, block, tree, first + row, std::min(kBlockRows, n - row), results.get());
                }
            }
            finish(chunk, first, n);
        });
    }

private:
    const Forest& forest_;
    Codes codes_;
    std::vector<CodedNode> nodes_;
    std::size_t largest_ = 0;
};

// Large trees, walked over codes: a node is 8 bytes, its children are neighbours, and a leaf is its own child.
class WalkedTrees {
public:
    // Encoding pays where rows are many; no tree may have more thresholds in a column than there are codes.
    static bool suit(const Forest& forest, std::size_t rows) {
        if (forest.columns > 0xFFFF || rows < 4 * kBlockRows || forest.nodes.empty()) return false;
        if (rows * forest.trees() < 4 * forest.nodes.size()) return false;
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
        : forest_(forest), first_(first), end_(last_tree(forest, first)), codes_(forest, first, end_) {
        for (std::size_t tree = first_; tree < end_; ++tree) add(tree);
    }

    std::size_t end() const { return end_; }

    // Calls sink(tree, first_row, rows, leaves) for these trees and all rows.
    template <class Sink>
    void run(Rows x, std::size_t threads, Sink&& sink) const {
        const std::size_t m = forest_.columns, chunks = (x.n + kCodedChunk - 1) / kCodedChunk;
        parallel_for(chunks, threads, [&](std::size_t chunk, std::size_t) {
            const std::size_t first = chunk * kCodedChunk, n = std::min(kCodedChunk, x.n - first);
            // (group of kInStep rows, column, row): all rows of a group at fixed offsets from one address.
            const HalfBuffer codes = half_buffer((n + kInStep) * m);
            std::array<std::uint16_t, kBlockRows> block;
            for (std::size_t row = 0; row < n; row += kBlockRows)
                for (std::size_t c = 0; c < m; ++c) {
                    const std::size_t count = std::min(kBlockRows, n - row);
                    codes_.encode(x.data + (first + row) * m, m, c, count, block.data());
                    for (std::size_t i = 0; i < count; ++i)
                        codes[((row + i) / kInStep * m + c) * kInStep + (row + i) % kInStep] = block[i];
                }
            std::vector<std::uint32_t> leaf(n);
            for (std::size_t tree = first_; tree < end_; ++tree) {
                walk(tree, codes.get(), n, leaf.data());
                sink(tree, first, n, leaf.data());
            }
        });
    }

private:
    struct Step {
        std::uint16_t code;
        std::uint16_t column;
        std::uint32_t next;  // of the left child; the right one follows
    };
    static_assert(sizeof(Step) == 8);
    static constexpr std::size_t kInStep = 16;

    static constexpr std::uint32_t kLevels = 3;

    static std::uint32_t next(const Step& step, const std::uint16_t* row) {
        return step.next + (row[step.column * kInStep] > step.code);
    }

    static std::size_t last_tree(const Forest& forest, std::size_t first) {
        std::vector<std::size_t> used(forest.columns, 0);
        for (std::size_t tree = first; tree < forest.trees(); ++tree)
            for (std::size_t i = forest.node_start[tree]; i < forest.node_start[tree + 1]; ++i)
                if (++used[forest.nodes[i].index()] > kMostCodes && tree > first) return tree;
        return forest.trees();
    }

    // Lays a tree out depth first, children side by side: a walk often finds its next node in the same cache line.
    void add(std::size_t tree) {
        const std::size_t first_node = forest_.node_start[tree];
        const bool single = first_node == forest_.node_start[tree + 1];
        struct Open {
            std::uint32_t at, depth;
            std::int32_t node;
        };
        std::vector<Open> stack{{static_cast<std::uint32_t>(steps_.size()), 0, single ? ~0 : 0}};
        std::uint32_t deepest = 0;
        start_.push_back(stack.back().at);
        steps_.resize(steps_.size() + 1);
        leaf_.resize(steps_.size());
        while (!stack.empty()) {
            const auto [at, depth, number] = stack.back();
            stack.pop_back();
            deepest = std::max(deepest, depth);
            if (number < 0) {
                steps_[at] = {0xFFFF, 0, at};
                leaf_[at] = static_cast<std::uint32_t>(~number);
                continue;
            }
            const std::size_t i = first_node + static_cast<std::size_t>(number);
            const Node& node = forest_.nodes[i];
            const auto children = static_cast<std::uint32_t>(steps_.size());
            steps_[at] = {codes_.of_node(i), static_cast<std::uint16_t>(node.index()), children};
            steps_.resize(steps_.size() + 2);
            leaf_.resize(steps_.size());
            stack.push_back({children + 1, depth + 1, node.right});
            stack.push_back({children, depth + 1, node.left});
        }
        depth_.push_back(deepest);
    }

    void walk(std::size_t tree, const std::uint16_t* codes, std::size_t n, std::uint32_t* leaf) const {
        const std::size_t m = forest_.columns;
        const std::uint32_t root = start_[tree - first_], depth = depth_[tree - first_];
        const auto first_leaf = static_cast<std::uint32_t>(forest_.leaf_start[tree]);
        const Step* steps = steps_.data();
        for (std::size_t row = 0; row < n; row += kInStep) {
            std::array<std::uint32_t, kInStep> at;
            at.fill(root);
            const std::uint16_t* block = codes + row * m;
            // Some levels between looks at whether all rows have arrived; arrived rows stay where they are.
            for (std::uint32_t level = 0; level < depth; level += kLevels) {
                for (std::uint32_t i = 1; i < kLevels; ++i)
                    for (std::size_t j = 0; j < kInStep; ++j) at[j] = next(steps[at[j]], block + j);
                std::uint32_t moved = 0;
                for (std::size_t j = 0; j < kInStep; ++j) {
                    const std::uint32_t to = next(steps[at[j]], block + j);
                    moved |= to ^ at[j];
                    at[j] = to;
                }
                if (!moved) break;
            }
            const std::size_t count = std::min(kInStep, n - row);
            for (std::size_t j = 0; j < count; ++j) leaf[row + j] = first_leaf + leaf_[at[j]];
        }
    }

    const Forest& forest_;
    std::size_t first_, end_;
    Codes codes_;
    std::vector<Step> steps_;
    std::vector<std::uint32_t> leaf_, start_, depth_;
};

}  // namespace conjunto
