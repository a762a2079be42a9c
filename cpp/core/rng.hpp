// Counter-based randomness: Philox4x64-10 (Salmon et al. 2011).
//
// A stream is addressed by (key, member, purpose): no state is shared between members, so the
// order in which threads take them cannot matter. The words are those of
// numpy.random.Philox(key=[lo, hi], counter=[0, 0, purpose, member]).
#pragma once

#include <cstdint>

namespace conjunto {

struct Key {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;
};

// What a stream is for; streams of one member with different purposes are independent. 5, 6 and 9 are Python's.
enum class Purpose : std::uint64_t { python = 0, rows = 1, labels = 2, columns = 3, tree = 4, folds = 7, halves = 8 };

class Philox {
public:
    Philox(Key key, std::uint64_t member, Purpose purpose);

    std::uint64_t next() {
        if (used_ == 4) refill();
        return block_[used_++];
    }

    // Uniform in 0 .. bound-1 without bias (Lemire's multiplication with rejection).
    std::uint64_t below(std::uint64_t bound);

    // Uniform in [0, 1) with 53 random bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    void refill();
    std::uint32_t next32();

    Key key_;
    std::uint64_t counter_[4];
    std::uint64_t block_[4];
    int used_ = 4;
    std::uint32_t half_ = 0;
    bool half_left_ = false;
};

}  // namespace conjunto
