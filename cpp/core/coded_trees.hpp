// The coded form of a forest: its trees small or walked.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "coded_forest.hpp"
#include "small_trees.hpp"
#include "walked_trees.hpp"

namespace conjunto {

class CodedForest {
public:
    // Null where no coded form suits the forest.
    static std::shared_ptr<const CodedForest> make(const Forest& forest);

    // Whether it was made of the forest as it is now.
    bool of(const Forest& forest) const { return forest.nodes.size() == nodes_ && forest.trees() == trees_; }
    std::size_t bytes() const;

    std::optional<SmallTrees> small;
    std::vector<WalkedTrees<NumberStep>> of_numbers;
    std::vector<WalkedTrees<MixedStep>> mixed;

private:
    std::size_t nodes_ = 0, trees_ = 0;
};

}  // namespace conjunto
