// Growing one tree: the interface between the search for splits and what is made of trees.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "grow.hpp"
#include "notes.hpp"

namespace conjunto {

class PresortedColumns;

// What is wanted of one tree besides the tree.
struct GrowRequest {
    // (rows of the table): the leaf of every row, also of those that the member does not see; with `rows` given, of
    // these only.
    std::int32_t* leaves = nullptr;
    TreeNotes* notes = nullptr;
    // The rows to grow on, ascending, of positive weight; empty: all rows of positive weight.
    std::span<const std::uint32_t> rows;
    // The class of the root where it is decided already, which decides ties below it.
    std::int32_t root_label = -1;
    // Where randomness comes from; null: the member's own stream from its start.
    Philox* random = nullptr;
};

class TreeGrower {
public:
    virtual ~TreeGrower() = default;
    virtual Forest grow(const Views& views, std::size_t member, const GrowRequest& request) = 0;
};

// Grows one tree after another and keeps its memory; the table and the presorted columns must outlive it.
std::unique_ptr<TreeGrower> make_grower(const Table& table, const GrowOptions& options, const PresortedColumns* presorted);

// The weight of a row, in the view of one member.
inline double weight_of(const Views& one, std::size_t row) {
    return one.weights ? one.weights[row] : one.small_weights ? double(one.small_weights[row]) : 1.0;
}

}  // namespace conjunto
