#include "rng.hpp"

namespace conjunto {

namespace {

__extension__ typedef unsigned __int128 u128;

void multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& high, std::uint64_t& low) {
    const u128 product = static_cast<u128>(a) * b;
    high = static_cast<std::uint64_t>(product >> 64);
    low = static_cast<std::uint64_t>(product);
}

}  // namespace

Philox::Philox(Key key, std::uint64_t member, Purpose purpose)
    : key_(key), counter_{0, 0, static_cast<std::uint64_t>(purpose), member}, block_{} {}

void Philox::refill() {
    ++counter_[0];
    std::uint64_t c0 = counter_[0], c1 = counter_[1], c2 = counter_[2], c3 = counter_[3];
    std::uint64_t k0 = key_.lo, k1 = key_.hi;
    for (int round = 0; round < 10; ++round) {
        std::uint64_t high0, low0, high1, low1;
        multiply(0xD2E7470EE14C6C93ULL, c0, high0, low0);
        multiply(0xCA5A826395121157ULL, c2, high1, low1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B97F4A7C15ULL;
        k1 += 0xBB67AE8584CAA73BULL;
    }
    block_[0] = c0;
    block_[1] = c1;
    block_[2] = c2;
    block_[3] = c3;
    used_ = 0;
}

std::uint32_t Philox::next32() {
    if (half_left_) {
        half_left_ = false;
        return half_;
    }
    const std::uint64_t word = next();
    half_ = static_cast<std::uint32_t>(word >> 32);
    half_left_ = true;
    return static_cast<std::uint32_t>(word);
}

std::uint64_t Philox::below(std::uint64_t bound) {
    if (bound <= 0xFFFFFFFFULL) {
        const auto small = static_cast<std::uint32_t>(bound);
        std::uint64_t product = static_cast<std::uint64_t>(next32()) * small;
        if (static_cast<std::uint32_t>(product) < small) {
            const std::uint32_t reject = static_cast<std::uint32_t>(-small) % small;
            while (static_cast<std::uint32_t>(product) < reject)
                product = static_cast<std::uint64_t>(next32()) * small;
        }
        return product >> 32;
    }
    std::uint64_t high, low;
    multiply(next(), bound, high, low);
    if (low < bound) {
        const std::uint64_t reject = (0 - bound) % bound;
        while (low < reject) multiply(next(), bound, high, low);
    }
    return high;
}

}  // namespace conjunto
