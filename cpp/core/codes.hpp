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
        : categories_(forest.categories), lists_(forest.columns), first_node_(forest.node_start[first_tree]) {
        const std::size_t end_node = forest.node_start[end_tree];
        std::vector<std::vector<Entry>> entries(forest.columns);
        std::vector<Entry> spare;
        std::vector<bool> used(forest.columns);
        for (std::size_t i = first_node_; i < end_node; ++i) {
            const Node& node = forest.nodes[i];
            used[node.index()] = true;
            if (!(node.test & Node::kCategory))
                entries[node.index()].push_back({sortable(node.threshold), static_cast<std::uint32_t>(i - first_node_)});
        }
        code_.resize(end_node - first_node_);
        for (std::size_t c = 0; c < forest.columns; ++c) {
            if (used[c]) used_.push_back(static_cast<std::uint32_t>(c));
            sort_entries(entries[c], spare);
            for (std::size_t i = 0; i < entries[c].size(); ++i) {
                if (i == 0 || entries[c][i].key != entries[c][i - 1].key) lists_[c].push_back(from_sortable(entries[c][i].key));
                code_[entries[c][i].row] = static_cast<std::uint16_t>(lists_[c].size() - 1);
            }
            most_ = std::max(most_, lists_[c].size());
            grids_.push_back(Grid(lists_[c]));
            // A search may look behind the end.
            if (lists_[c].size() > kFewThresholds) lists_[c].resize(lists_[c].size() + grids_[c].most(), INFINITY);
        }
    }

    std::size_t most() const { return most_; }
    // Calls body(row, column) for blocks of 64 of n rows and the columns that some node asks for. A few columns at a time:
    // their values lie in one cache line of a row, and their thresholds stay in the cache.
    template <class Body>
    void each_column_of_rows(std::size_t n, const Body& body) const {
        constexpr std::size_t kColumns = 2;
        for (std::size_t first = 0; first < used_.size(); first += kColumns)
            for (std::size_t row = 0; row < n; row += kBlockRows)
                for (std::size_t i = first; i < std::min(used_.size(), first + kColumns); ++i) body(row, used_[i]);
    }
    bool numeric(std::size_t column) const { return categories_[column] == 0; }
    // The code of a node's threshold.
    std::uint16_t of_node(std::size_t node) const { return code_[node - first_node_]; }
    // When the trees are made, the codes of their nodes are no longer needed.
    void forget_nodes() { std::vector<std::uint16_t>().swap(code_); }
    std::size_t bytes() const {
        std::size_t bytes = code_.capacity() * sizeof(std::uint16_t);
        for (const auto& list : lists_) bytes += list.capacity() * sizeof(double);
        for (const Grid& grid : grids_) bytes += grid.bytes();
        return bytes;
    }

    // Codes of n <= 64 values of one column, `step` apart; a number that is missing has code 0. The rows search in step,
    // which hides the latency of each.
    void encode(const double* x, std::ptrdiff_t step, std::size_t column, std::size_t n, std::uint16_t* out) const {
        if (categories_[column]) return encode_categories(x, step, categories_[column], n, out);
        const auto& list = lists_[column];
        const Grid& grid = grids_[column];
        if (list.empty()) {
            std::fill_n(out, n, std::uint16_t{0});
            return;
        }
        std::array<double, kBlockRows> value{};
        for (std::size_t row = 0; row < n; ++row) value[row] = x[static_cast<std::ptrdiff_t>(row) * step];
        if (list.size() <= kFewThresholds) {
            std::array<std::int64_t, kBlockRows> below{};
            for (const double threshold : list)
                for (std::size_t row = 0; row < kBlockRows; ++row) below[row] += threshold < value[row];
            for (std::size_t row = 0; row < n; ++row) out[row] = static_cast<std::uint16_t>(below[row]);
            return;
        }
        std::array<std::uint32_t, kBlockRows> at;
        for (std::size_t row = 0; row < n; ++row) at[row] = grid.first_of(value[row]);
        const double* thresholds = list.data();
        for (std::uint32_t length = grid.most(); length > 0; length /= 2) {
            const std::uint32_t half = (length + 1) / 2;
            for (std::size_t row = 0; row < n; ++row)
                at[row] += half & (0U - static_cast<std::uint32_t>(thresholds[at[row] + half - 1] < value[row]));
        }
        for (std::size_t row = 0; row < n; ++row) out[row] = static_cast<std::uint16_t>(at[row]);
    }

private:
    static constexpr std::size_t kFewThresholds = 6;

    // A first guess at the place of a value among thresholds: the number of those in lower cells of an even grid. Cells are
    // monotone in the value whatever rounding does, so that the place is among the thresholds of its own cell.
    class Grid {
    public:
        explicit Grid(const std::vector<double>& list) {
            if (list.empty()) return;
            cells_ = 4;
            while (cells_ < 4 * list.size() && cells_ < kMostCells) cells_ *= 2;
            low_ = list.front();
            top_ = static_cast<double>(cells_ - 1);
            const double scale = top_ / (list.back() - low_);
            scale_ = std::isfinite(scale) ? scale : 0.0;
            first_.assign(cells_ + 1, 0);
            for (const double threshold : list) ++first_[cell(threshold) + 1];
            for (std::size_t i = 0; i < cells_; ++i) {
                most_ = std::max<std::uint32_t>(most_, first_[i + 1]);
                first_[i + 1] = static_cast<std::uint16_t>(first_[i + 1] + first_[i]);
            }
        }
        std::uint32_t first_of(double value) const { return first_[cell(value)]; }
        // The largest number of thresholds in a cell.
        std::uint32_t most() const { return most_; }
        std::size_t bytes() const { return first_.capacity() * sizeof(std::uint16_t); }

    private:
        static constexpr std::size_t kMostCells = std::size_t{1} << 14;

        // Also of missing and infinite values.
        std::size_t cell(double value) const {
            // One comparison at a time: so written neither takes a branch.
            double place = (value - low_) * scale_;
            place = place > 0.0 ? place : 0.0;
            place = place < top_ ? place : top_;
            return static_cast<std::size_t>(static_cast<std::int32_t>(place));
        }

        double low_ = 0, scale_ = 0, top_ = 0;
        std::size_t cells_ = 0;
        std::uint32_t most_ = 0;
        std::vector<std::uint16_t> first_;  // thresholds in the cells before
    };

    static void encode_categories(const double* x, std::ptrdiff_t step, std::uint32_t categories, std::size_t n, std::uint16_t* out) {
        const std::uint16_t unknown = categories <= kWordCategories ? kWordCategories : kMissingCode;
        for (std::size_t row = 0; row < n; ++row) {
            const double value = x[static_cast<std::ptrdiff_t>(row) * step];
            out[row] = value >= 0 && value < categories ? static_cast<std::uint16_t>(value) : unknown;
        }
    }

    std::vector<std::uint32_t> categories_;
    std::vector<std::vector<double>> lists_;
    std::vector<Grid> grids_;
    std::vector<std::uint32_t> used_;
    std::size_t first_node_;
    std::vector<std::uint16_t> code_;
    std::size_t most_ = 0;
};

}  // namespace conjunto
