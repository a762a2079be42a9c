// Small trees, evaluated whole: 16 rows per vector, no branches.
#pragma once

#include <cstdint>
#include <vector>

#include "codes.hpp"
#include "parallel.hpp"
#include "predict.hpp"

namespace conjunto {

// Trees up to this size are evaluated whole; above it a walk visits fewer nodes.
inline constexpr std::size_t kCodedNodes = 160;

class SmallTrees {
public:
    static bool suit(const Forest& forest) {
        if (!forest.sets.empty() || forest.trees() == 0 || forest.trees() > 0xFFFF || forest.classes > 0xFFFF) return false;
        if (forest.nodes.size() > kCodedNodes * forest.trees()) return false;
        for (std::size_t t = 0; t < forest.trees(); ++t)
            if (forest.leaf_start[t + 1] - forest.leaf_start[t] > 0xFFFF) return false;
        return true;
    }

    explicit SmallTrees(const Forest& forest)
        : columns_(forest.columns), trees_(forest.trees()), node_start_(forest.node_start), codes_(forest, 0, forest.trees()),
          nodes_(forest.nodes.size()) {
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
        codes_.forget_nodes();
    }

    std::size_t bytes() const { return codes_.bytes() + nodes_.capacity() * sizeof(CodedNode) + node_start_.capacity() * 8; }

    bool usable() const { return codes_.most() <= kMostCodes; }

    // Sends chunks of rows through all trees. body(chunk, block, tree, first_row, rows, results) receives the 64
    // results of a block; leaf_result(tree, leaf) is what a leaf answers; finish(chunk, first_row, rows) ends a
    // chunk.
    template <class LeafResult, class Body, class Finish>
    void run(Rows x, std::size_t threads, LeafResult&& leaf_result, Body&& body, Finish&& finish) const {
        const Kernels& kernels = best_kernels();
        const std::size_t m = columns_, chunks = (x.n + kCodedChunk - 1) / kCodedChunk;
        parallel_for(chunks, threads, [&](std::size_t chunk, std::size_t) {
            const std::size_t first = chunk * kCodedChunk, n = std::min(kCodedChunk, x.n - first);
            const std::size_t blocks = (n + kBlockRows - 1) / kBlockRows;
            const HalfBuffer codes = half_buffer(blocks * m * kBlockRows);
            const HalfBuffer results = half_buffer(largest_ * kBlockRows);
            codes_.each_column_of_rows(n, [&](std::size_t row, std::uint32_t c) {
                codes_.encode(x.at(first + row, c), x.row_stride, c, std::min(kBlockRows, n - row), codes.get() + row * m + c * kBlockRows);
            });
            for (std::size_t tree = 0; tree < trees_; ++tree) {
                const std::size_t start = node_start_[tree], nodes = node_start_[tree + 1] - start;
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
    std::size_t columns_, trees_;
    std::vector<std::uint64_t> node_start_;
    Codes codes_;
    std::vector<CodedNode> nodes_;
    std::size_t largest_ = 0;
};

}  // namespace conjunto
