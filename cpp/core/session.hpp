// Growing members one call after another, as boosting does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "grower.hpp"
#include "prune.hpp"

namespace conjunto {

// What is made once for a table (memory, sorted columns) is kept from call to call. The table must outlive the session.
class GrowSession {
public:
    // `lasts`: there will be many calls, so that preparing for them is worth it.
    GrowSession(const Table& table, const GrowOptions& options, bool lasts = true);
    ~GrowSession();

    // Adds the members of `views` to the forest. `leaves`, unless null, receives (members, rows): the leaf of every row
    // of the table, numbered within its tree, also of rows that the member does not see.
    void grow(const Views& views, std::int32_t* leaves);

    Forest forest;
    // Of the members of the last call: how their trees were pruned, and how often they were grown and pruned (IGP).
    std::vector<PruningPath> paths;
    std::vector<std::uint32_t> passes;

private:
    const Table& table_;
    GrowOptions options_;
    bool presorts_;
    std::unique_ptr<PresortedColumns> presorted_;  // made when it is first of use
    std::vector<std::unique_ptr<TreeGrower>> growers_;
};

}  // namespace conjunto
