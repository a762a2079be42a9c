// Reduced-error pruning (Quinlan 1987): a tree is cut back where other rows say that it is no better than a leaf.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grow.hpp"

namespace conjunto {

// Rows that judge a tree; labels or targets, weights null: all ones.
struct HeldOut {
    const double* x = nullptr;  // (rows, columns), row-major
    std::size_t rows = 0;
    const std::int32_t* labels = nullptr;
    const double* targets = nullptr;
    const double* weights = nullptr;
};

// Grows the tree of the first member and collapses, bottom-up, each node whose error on the held-out rows as a leaf is at
// most that of the leaves below it.
Forest grow_reduced(const Table& table, const Views& views, const GrowOptions& options, const HeldOut& held_out);

}  // namespace conjunto
