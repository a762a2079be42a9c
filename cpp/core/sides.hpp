// Which rows of a node go to which side of its split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "combinations.hpp"
#include "row_store.hpp"
#include "split.hpp"

namespace conjunto {

// The rows of a node begin at `begin` in the store; there are `n` of them.
class Sides {
public:
    Sides(const Table& table, const RowStore& store, const Combinations& combinations)
        : table_(table), store_(store), combinations_(combinations) {}

    // Finds the side of every row, the rows next to the cut if the search did not, and where missing values go; returns
    // how many rows go left. `terms` are those of a combination, `weight` is that of the node.
    std::size_t find(std::size_t begin, std::size_t n, double weight, const std::vector<Term>& terms, Split& split);
    // By row: 1 left, 0 right.
    const std::uint8_t* data() const { return side_.data(); }

    // Adds the categories that go left to a forest; those that the node has not seen go where missing values go.
    void store_set(const Split& split, std::size_t begin, std::size_t n, Forest& forest) const;

private:
    // The side of a row for which the test has no answer, until it is known where missing values go.
    static constexpr std::uint8_t kNoAnswer = 2;

    void read_entries(const std::uint32_t* rows, std::size_t n, std::uint32_t column);
    template <class Answer>
    std::size_t finish(std::size_t begin, std::size_t n, double weight, Split& split, Answer&& answer);

    const Table& table_;
    const RowStore& store_;
    const Combinations& combinations_;
    std::vector<std::uint8_t> side_;
    std::vector<std::uint32_t> ranks_;  // by row of the node, where the table is sparse
};

}  // namespace conjunto
