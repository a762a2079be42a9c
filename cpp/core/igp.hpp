// Iterative growing and pruning (Gelfand, Ravishankar and Delp 1991): one half of the rows grows the tree, the other
// prunes it, in turns, until the size of the pruned tree stays.
#pragma once

#include <cstdint>

#include "grower.hpp"

namespace conjunto {

// Grows the tree of one member (a view of its own) and tells after how many passes it came to rest.
//
// A node's class is decided when the node is made, by the half that grew it (a tie by its parent's class), and stays:
// then every pruned tree contains the one before it, and the sequence ends. Leaves give the class shares of all rows.
Forest grow_igp(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options, std::int32_t* leaves,
                std::uint32_t& passes);

}  // namespace conjunto
