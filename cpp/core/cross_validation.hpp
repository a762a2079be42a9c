// Cost-complexity pruning of a member's tree, with alpha given or chosen by cross-validation.
#pragma once

#include <cstdint>

#include "grower.hpp"
#include "prune.hpp"

namespace conjunto {

// Grows and prunes the tree of one member (a view of its own). The auxiliary trees of cross-validation are members of the
// same table that do not see the rows of their fold. `leaves`, unless null: the leaf of every row of the table.
Forest grow_pruned(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options, std::int32_t* leaves,
                   PruningPath& path);

}  // namespace conjunto
