// Numbers that criteria square, multiply and add up must leave room for it.
#pragma once

#include <cmath>
#include <cstddef>

#include "arrays.hpp"

namespace conjunto::bind {

// Products of three numbers up to this one, added up over any number of votes, are finite.
inline constexpr double kMostMagnitude = 0x1p256;

// NaN passes: it abstains.
inline void require_moderate(const double* numbers, std::size_t count, const char* message) {
    for (std::size_t i = 0; i < count; ++i) require(!(std::abs(numbers[i]) > kMostMagnitude), message);
}

inline void require_weights(const double* weights, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        require(weights[i] >= 0 && weights[i] <= kMostMagnitude, "a weight is negative, not finite or too large: scale them");
}

}  // namespace conjunto::bind
