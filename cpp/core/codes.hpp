// Values of rows as codes: their place among all thresholds of their column, or their category.
//
// A value becomes a code of 16 bits, the number of thresholds below it, and x <= threshold becomes
// code(x) <= code(threshold): the same answer from a quarter of the memory, on a row that is encoded once for all trees.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "forest.hpp"
#include "kernels.hpp"
#include "radix.hpp"

namespace conjunto {

// Rows that pass through a tree before the next tree is taken.
inline constexpr std::size_t kCodedChunk = 4096;
inline constexpr std::size_t kMostCodes = 0xFFFE;
// Categories up to here are bits of one word, whose last stands for what is missing or unknown.
inline constexpr std::uint32_t kWordCategories = 63;
inline constexpr std::uint16_t kMissingCode = 0xFFFF;

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
        : categories_(forest.categories), lists_(forest.columns), used_(forest.columns), first_node_(forest.node_start[first_tree]) {
        const std::size_t end_node = forest.node_start[end_tree];
        std::vector<std::vector<Entry>> entries(forest.columns);
        std::vector<Entry> spare;
        for (std::size_t i = first_node_; i < end_node; ++i) {
            const Node& node = forest.nodes[i];
            used_[node.index()] = true;
            if (!(node.test & Node::kCategory))
                entries[node.index()].push_back({sortable(node.threshold), static_cast<std::uint32_t>(i - first_node_)});
        }
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
    // Whether a node asks for the column.
    bool used(std::size_t column) const { return used_[column]; }
    bool numeric(std::size_t column) const { return categories_[column] == 0; }
    // The code of a node's threshold.
    std::uint16_t of_node(std::size_t node) const { return code_[node - first_node_]; }
    // When the trees are made, the codes of their nodes are no longer needed.
    void forget_nodes() { std::vector<std::uint16_t>().swap(code_); }
    std::size_t bytes() const {
        std::size_t bytes = code_.capacity() * sizeof(std::uint16_t);
        for (const auto& list : lists_) bytes += list.capacity() * sizeof(double);
        return bytes;
    }

    // Codes of n <= 64 rows in one column; a number that is missing has code 0. The rows search in step, which hides the
    // latency of each.
    void encode(const double* x, std::size_t columns, std::size_t column, std::size_t n, std::uint16_t* out) const {
        if (categories_[column]) return encode_categories(x + column, columns, categories_[column], n, out);
        const auto& list = lists_[column];
        if (list.empty()) {
            std::fill_n(out, n, std::uint16_t{0});
            return;
        }
        std::array<double, kBlockRows> value;
        std::array<std::uint32_t, kBlockRows> base;
        for (std::size_t row = 0; row < n; ++row) {
            value[row] = x[row * columns + column];
            base[row] = 0;
        }
        const double* thresholds = list.data();
        for (auto length = static_cast<std::uint32_t>(list.size()); length > 1;) {
            const std::uint32_t half = length / 2;
            for (std::size_t row = 0; row < n; ++row) base[row] += thresholds[base[row] + half - 1] < value[row] ? half : 0;
            length -= half;
        }
        for (std::size_t row = 0; row < n; ++row)
            out[row] = static_cast<std::uint16_t>(base[row] + (thresholds[base[row]] < value[row]));
    }

private:
    static void encode_categories(const double* x, std::size_t columns, std::uint32_t categories, std::size_t n, std::uint16_t* out) {
        const std::uint16_t unknown = categories <= kWordCategories ? kWordCategories : kMissingCode;
        for (std::size_t row = 0; row < n; ++row) {
            const double value = x[row * columns];
            out[row] = value >= 0 && value < categories ? static_cast<std::uint16_t>(value) : unknown;
        }
    }

    std::vector<std::uint32_t> categories_;
    std::vector<std::vector<double>> lists_;
    std::vector<bool> used_;
    std::size_t first_node_;
    std::vector<std::uint16_t> code_;
    std::size_t most_ = 0;
};

}  // namespace conjunto
