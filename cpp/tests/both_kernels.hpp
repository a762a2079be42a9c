// Tests of kernels: the plain and the vector ones against each other and against the obvious algorithm.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "kernels.hpp"

namespace conjunto {

inline constexpr std::uint32_t kCanary = 0xC0FFEE11U;

struct alignas(64) Keys {
    std::array<std::uint32_t, (kLaneRows + 8) * 8> data;
};

inline const std::array<const Kernels*, 2>& both() {
    static const std::array<const Kernels*, 2> kernels{&plain_kernels(), &best_kernels()};
    return kernels;
}

}  // namespace conjunto
