// Growing trees: one call grows a batch of members from one prepared table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "forest.hpp"
#include "rng.hpp"
#include "table.hpp"

namespace conjunto {

enum class Criterion { gini, entropy, variance };
// sorted: the plain search everywhere, the reference for the others; no_vectors: the portable kernels.
enum class Search { automatic, sorted, no_vectors };

struct GrowOptions {
    Criterion criterion = Criterion::gini;
    std::uint32_t classes = 0;  // 0: regression
    // Columns, or combinations, tried at each node; those constant in the node do not count.
    std::uint32_t max_features = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t combination = 0;  // > 0: tests on linear combinations of so many columns (Forest-RC)
    bool oblique = false;           // also tests on linear combinations, found by search (CART-LC)
    std::uint32_t k_best = 1;       // > 1: one of the k best splits, at random
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t max_leaves = 0;  // > 0: best-first growth up to so many leaves
    std::uint32_t min_rows_split = 2;
    std::uint32_t min_rows_leaf = 1;
    double min_weight_share_leaf = 0;  // of the weight of the tree
    double min_decrease = 0;           // of impurity, as a share of the weight of the tree
    Search search = Search::automatic;
    std::size_t threads = 1;
};

// What the members of a batch see. Row-major; a pointer that is null means "all ones" (weights) or
// "all columns"; exactly one of labels and targets is given.
struct Views {
    std::size_t members = 0;
    const std::uint8_t* small_weights = nullptr;  // (members, rows), 0 = out of bag
    const double* weights = nullptr;              // (members, rows)
    const std::int32_t* labels = nullptr;         // (members, rows), or (rows) if shared
    const double* targets = nullptr;              // likewise
    bool shared_labels = true;
    const std::uint32_t* columns = nullptr;  // (members, columns_seen)
    std::size_t columns_seen = 0;
    Key key;
    const std::uint64_t* number = nullptr;  // (members): the number of the member's random stream
};

Forest grow(const Table& table, const Views& views, const GrowOptions& options);

class PresortedColumns;

class TreeGrower {
public:
    virtual ~TreeGrower() = default;
    virtual Forest grow(const Views& views, std::size_t member, std::int32_t* leaves) = 0;
};

// Grows members one call after another, as boosting does: what is made once for a table (memory, sorted columns) is
// kept from call to call. The table must outlive the session.
class GrowSession {
public:
    // `lasts`: there will be many calls, so that preparing for them is worth it.
    GrowSession(const Table& table, const GrowOptions& options, bool lasts = true);
    ~GrowSession();

    // Adds the members of `views` to the forest. `leaves`, unless null, receives (members, rows): the leaf of every row
    // of the table, numbered within its tree, also of rows that the member does not see.
    void grow(const Views& views, std::int32_t* leaves);

    Forest forest;

private:
    const Table& table_;
    GrowOptions options_;
    bool presorts_;
    std::unique_ptr<PresortedColumns> presorted_;  // made when it is first of use
    std::vector<std::unique_ptr<TreeGrower>> growers_;
};

}  // namespace conjunto
