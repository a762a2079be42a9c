// The random draws that make a member's view: rows, labels, columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rng.hpp"

namespace conjunto {

// `size` rows with replacement out of n: how often each row was drawn.
void draw_bootstrap(Philox& random, std::size_t n, std::size_t size, std::int32_t* counts);

// `size` different rows out of n: 1 for the rows drawn, 0 for the others.
void draw_subset(Philox& random, std::size_t n, std::size_t size, std::int32_t* counts);

// Class-switching (eq. 4.4): exactly `switched` of the n labels, chosen regardless of class, become
// another class, uniformly among the other classes - 1.
void draw_switched(Philox& random, const std::int32_t* labels, std::size_t n, std::size_t switched,
                   std::int32_t classes, std::int32_t* out);

// Puts rows in random order, those of one class together (labels null: one class): dealt out in this order, every class
// is shared out evenly.
void stratify(Philox& random, std::vector<std::uint32_t>& rows, const std::int32_t* labels, std::size_t classes);

// Two halves of the given rows, of equal size and class shares up to one row: 1 for rows of the first, 0 elsewhere.
void draw_halves(Philox& random, const std::vector<std::uint32_t>& rows, const std::int32_t* labels, std::size_t classes,
                 std::size_t n, std::uint8_t* first);

}  // namespace conjunto
