#include "predict.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "coded_trees.hpp"
#include "parallel.hpp"

namespace conjunto {

namespace {

// Rows, or trees, walked in step: enough to hide the latency of a load.
constexpr std::size_t kInStep = 8;
// Rows that pass through a tree before the next tree is taken.
constexpr std::size_t kChunkRows = 2048;

// x[column] <= threshold, or the full test, of values side by side, where nodes may be special or values missing.
template <bool kFull>
std::int32_t step(const Forest& forest, const Node& node, const double* x, std::ptrdiff_t stride = 1) {
    const bool left = kFull ? goes_left(forest, node, x) : x[static_cast<std::ptrdiff_t>(node.index()) * stride] <= node.threshold;
    return left ? node.left : node.right;
}

// Leaf (numbered over the forest) of each row of a block in one tree.
template <bool kFull>
void walk_rows(const Forest& forest, std::size_t tree, Rows x, std::uint32_t* leaf) {
    const std::size_t n = x.n;
    const Node* nodes = forest.nodes.data() + forest.node_start[tree];
    const auto base = static_cast<std::uint32_t>(forest.leaf_start[tree]);
    if (forest.node_start[tree + 1] == forest.node_start[tree]) {
        std::fill_n(leaf, n, base);
        return;
    }
    const std::ptrdiff_t stride = x.column_stride;
    std::size_t row = 0;
    for (; row + kInStep <= n; row += kInStep) {
        std::array<std::int32_t, kInStep> at{};
        std::array<const double*, kInStep> values;
        for (std::size_t j = 0; j < kInStep; ++j) values[j] = x.at(row + j, 0);
        std::int32_t open;
        do {
            open = -1;
            for (std::size_t j = 0; j < kInStep; ++j) {
                const std::int32_t here = at[j];
                const std::int32_t next = step<kFull>(forest, nodes[here < 0 ? 0 : here], values[j], stride);
                at[j] = here < 0 ? here : next;
                open &= at[j];
            }
        } while (open >= 0);
        for (std::size_t j = 0; j < kInStep; ++j) leaf[row + j] = base + static_cast<std::uint32_t>(~at[j]);
    }
    for (; row < n; ++row) {
        std::int32_t at = 0;
        while (at >= 0) at = step<kFull>(forest, nodes[at], x.at(row, 0), stride);
        leaf[row] = base + static_cast<std::uint32_t>(~at);
    }
}

// Leaf of one row in several trees.
template <bool kFull>
void walk_trees(const Forest& forest, std::size_t first, std::size_t count, const double* x, std::uint32_t* leaf) {
    std::array<const Node*, kInStep> nodes;
    std::array<std::int32_t, kInStep> at{};
    for (std::size_t j = 0; j < kInStep; ++j) {
        const std::size_t tree = first + std::min(j, count - 1);
        nodes[j] = forest.nodes.data() + forest.node_start[tree];
        if (forest.node_start[tree + 1] == forest.node_start[tree]) at[j] = ~0;
    }
    std::int32_t open;
    do {
        open = -1;
        for (std::size_t j = 0; j < kInStep; ++j) {
            if (at[j] >= 0) at[j] = step<kFull>(forest, nodes[j][at[j]], x);
            open &= at[j];
        }
    } while (open >= 0);
    for (std::size_t j = 0; j < count; ++j)
        leaf[j] = static_cast<std::uint32_t>(forest.leaf_start[first + j]) + static_cast<std::uint32_t>(~at[j]);
}

// Whether a number is missing somewhere; a category may be.
bool number_missing(const Forest& forest, Rows x) {
    // In the order in which they lie, many at a time: NaN is not equal to itself.
    auto missing = [](const double* value, std::ptrdiff_t step, std::size_t n) {
        bool any = false;
        for (std::size_t i = 0; i < n; ++i, value += step) any |= *value != *value;
        return any;
    };
    if (x.column_stride == 1) {
        const bool numbers = std::ranges::all_of(forest.categories, [](std::uint32_t categories) { return categories == 0; });
        for (std::size_t row = 0; row < x.n; ++row) {
            if (!missing(x.at(row, 0), 1, x.columns)) continue;
            for (std::size_t c = 0; c < x.columns; ++c)
                if (numbers || (!forest.categories[c] && std::isnan(*x.at(row, c)))) return true;
        }
        return false;
    }
    for (std::size_t c = 0; c < x.columns; ++c)
        if (!forest.categories[c] && missing(x.at(0, c), x.row_stride, x.n)) return true;
    return false;
}

template <class Sink>
void visit_small(const Forest& forest, const SmallTrees& trees, Rows x, std::size_t threads, const Sink& sink) {
    trees.run(
        x, threads, [](std::size_t, std::size_t leaf) { return static_cast<std::uint16_t>(leaf); },
        [&](std::size_t, std::size_t, std::size_t tree, std::size_t row, std::size_t n, const std::uint16_t* out) {
            std::array<std::uint32_t, kBlockRows> leaf;
            const auto base = static_cast<std::uint32_t>(forest.leaf_start[tree]);
            for (std::size_t i = 0; i < kBlockRows; ++i) leaf[i] = base + out[i];
            sink(tree, row, n, leaf.data());
        },
        [](std::size_t, std::size_t, std::size_t) {});
}

// Leaf of one row in all trees, some at a time.
template <class Sink>
void visit_row(const Forest& forest, const double* values, bool full, std::size_t row, const Sink& sink) {
    std::array<std::uint32_t, kInStep> leaf;
    for (std::size_t tree = 0; tree < forest.trees(); tree += kInStep) {
        const std::size_t count = std::min(kInStep, forest.trees() - tree);
        full ? walk_trees<true>(forest, tree, count, values, leaf.data())
             : walk_trees<false>(forest, tree, count, values, leaf.data());
        for (std::size_t j = 0; j < count; ++j) sink(tree + j, row, std::size_t{1}, leaf.data() + j);
    }
}

// A row at a time is written out, walks through all trees, and is wiped out again.
template <class Sink>
void visit_sparse(const Forest& forest, Rows x, std::size_t threads, const Sink& sink) {
    constexpr std::size_t kRows = 64;
    const SparseRows& rows = *x.sparse;
    const bool special = !forest.sets.empty() || !forest.terms.empty();
    std::vector<std::vector<double>> space(std::max<std::size_t>(threads, 1));
    parallel_for((x.n + kRows - 1) / kRows, threads, [&](std::size_t chunk, std::size_t worker) {
        std::vector<double>& values = space[worker];
        values.resize(x.columns, 0.0);
        for (std::size_t row = chunk * kRows; row < std::min(x.n, (chunk + 1) * kRows); ++row) {
            bool missing = false;
            for (std::size_t entry = rows.first(row); entry < rows.end(row); ++entry) {
                values[static_cast<std::size_t>(rows.column[entry])] = rows.value[entry];
                missing |= std::isnan(rows.value[entry]);
            }
            visit_row(forest, values.data(), special || missing, row, sink);
            for (std::size_t entry = rows.first(row); entry < rows.end(row); ++entry) values[static_cast<std::size_t>(rows.column[entry])] = 0;
        }
    });
}

// Calls sink(tree, first_row, rows, leaves) for all trees and rows; for one row always in order of trees.
template <class Sink>
void visit(const Forest& forest, Rows x, std::size_t threads, const Sink& sink) {
    if (x.sparse) return visit_sparse(forest, x, threads, sink);
    const bool missing = number_missing(forest, x);
    if (const auto coded = forest.coded.of(forest, x.n)) {
        if (coded->small && !missing) return visit_small(forest, *coded->small, x, threads, sink);
        for (const auto& trees : coded->of_numbers) trees.run(x, missing, nullptr, threads, sink);
        for (const auto& trees : coded->mixed) trees.run(x, missing, forest.sets.data(), threads, sink);
        if (!coded->small) return;
    }
    const bool full = missing || !forest.sets.empty() || !forest.terms.empty();
    if (x.n < kInStep) {
        std::vector<double> space;
        for (std::size_t row = 0; row < x.n; ++row) visit_row(forest, x.part(row, 1).by_rows(space).data, full, row, sink);
        return;
    }
    std::size_t rows_per_chunk = kChunkRows;
    if (threads > 1) rows_per_chunk = std::clamp<std::size_t>(x.n / threads + 1, 256, kChunkRows);
    const std::size_t chunks = (x.n + rows_per_chunk - 1) / rows_per_chunk;
    parallel_for(chunks, threads, [&](std::size_t chunk, std::size_t) {
        const std::size_t first = chunk * rows_per_chunk, n = std::min(rows_per_chunk, x.n - first);
        std::vector<std::uint32_t> leaf(n);
        std::vector<double> space;
        Rows rows = x.part(first, n);
        if (full) rows = rows.by_rows(space);
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            full ? walk_rows<true>(forest, tree, rows, leaf.data()) : walk_rows<false>(forest, tree, rows, leaf.data());
            sink(tree, first, n, leaf.data());
        }
    });
}

}  // namespace

void member_labels(const Forest& forest, Rows x, std::int32_t* out, std::size_t threads) {
    visit(forest, x, threads, [&](std::size_t tree, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) out[tree * x.n + row + i] = forest.label(leaf[i]);
    });
}

void member_values(const Forest& forest, Rows x, double* out, std::size_t threads) {
    visit(forest, x, threads, [&](std::size_t tree, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) out[tree * x.n + row + i] = forest.leaf_value[leaf[i]];
    });
}

void member_leaves(const Forest& forest, Rows x, std::int32_t* out, std::size_t threads) {
    visit(forest, x, threads, [&](std::size_t tree, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i)
            out[(row + i) * forest.trees() + tree] = static_cast<std::int32_t>(leaf[i] - forest.leaf_start[tree]);
    });
}

void vote_counts(const Forest& forest, Rows x, double* out, std::size_t threads) {
    const std::size_t classes = forest.classes;
    std::fill_n(out, x.n * classes, 0.0);
    if (forest.several())
        return visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
            for (std::size_t i = 0; i < n; ++i) forest.add_votes(leaf[i], out + (row + i) * classes);
        });
    if (classes <= 16 && !x.sparse) {
        const auto coded = forest.coded.of(forest, x.n);
        if (coded && coded->small && !number_missing(forest, x)) {
            const SmallTrees& trees = *coded->small;
            std::vector<HalfBuffer> counts((x.n + kCodedChunk - 1) / kCodedChunk);
            trees.run(
                x, threads,
                [&](std::size_t tree, std::size_t leaf) {
                    return static_cast<std::uint16_t>(forest.label(forest.leaf_start[tree] + leaf));
                },
                [&](std::size_t chunk, std::size_t block, std::size_t, std::size_t, std::size_t, const std::uint16_t* labels) {
                    if (!counts[chunk]) counts[chunk] = half_buffer(kCodedChunk * classes);
                    best_kernels().count(labels, classes, counts[chunk].get() + block * classes * kBlockRows);
                },
                [&](std::size_t chunk, std::size_t first, std::size_t n) {
                    for (std::size_t i = 0; i < n; ++i)
                        for (std::size_t k = 0; k < classes; ++k)
                            out[(first + i) * classes + k] =
                                counts[chunk][((i / kBlockRows) * classes + k) * kBlockRows + i % kBlockRows];
                    counts[chunk].reset();
                });
            return;
        }
    }
    visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) out[(row + i) * classes + static_cast<std::size_t>(forest.label(leaf[i]))] += 1;
    });
}

void share_sums(const Forest& forest, Rows x, double* out, std::size_t threads) {
    if (forest.shares.empty()) return vote_counts(forest, x, out, threads);
    const std::size_t classes = forest.classes;
    std::fill_n(out, x.n * classes, 0.0);
    visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) {
            double* sums = out + (row + i) * classes;
            const std::int32_t label = forest.leaf_label[leaf[i]];
            if (label >= 0 && forest.several()) {
                forest.add_votes(leaf[i], sums);
            } else if (label >= 0) {
                sums[label] += 1;
            } else {
                const double* shares = forest.shares.data() + static_cast<std::size_t>(~label) * classes;
                for (std::size_t k = 0; k < classes; ++k) sums[k] += shares[k];
            }
        }
    });
}

void value_sums(const Forest& forest, Rows x, double* out, std::size_t threads) {
    if (forest.several()) return leaf_row_sums(forest, x, forest.leaf_value.data(), forest.targets(), out, threads);
    std::fill_n(out, x.n, 0.0);
    visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) out[row + i] += forest.leaf_value[leaf[i]];
    });
}

void leaf_sums(const Forest& forest, Rows x, const double* value, const std::int32_t* column, std::size_t width, double* out,
               std::size_t threads) {
    std::fill_n(out, x.n * width, 0.0);
    visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i) out[(row + i) * width + static_cast<std::size_t>(column[leaf[i]])] += value[leaf[i]];
    });
}

void leaf_row_sums(const Forest& forest, Rows x, const double* values, std::size_t width, double* out, std::size_t threads) {
    std::fill_n(out, x.n * width, 0.0);
    visit(forest, x, threads, [&](std::size_t, std::size_t row, std::size_t n, const std::uint32_t* leaf) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < width; ++k) out[(row + i) * width + k] += values[leaf[i] * width + k];
    });
}

}  // namespace conjunto
