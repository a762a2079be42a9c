// The target is switched on by a pragma behind the includes, not by a compiler flag: functions of the
// standard library that this file instantiates must stay runnable on any processor, because the
// linker may keep this file's copy for everybody.
#include "kernels.hpp"

#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CONJUNTO_AVX2 1
#include <immintrin.h>

#include <array>
#endif

namespace conjunto {

#ifdef CONJUNTO_AVX2

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,popcnt")
#endif

namespace {
namespace avx2 {
#define CONJUNTO_INTRINSICS
typedef std::int32_t Int4 __attribute__((vector_size(16)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));
typedef float Single4 __attribute__((vector_size(16)));
typedef float Single8 __attribute__((vector_size(32)));
// The processor's estimate and one Newton step: within 2^-21, at half the time of a division.
Single4 reciprocal(Single4 x) {
    const Single4 r = (Single4)_mm_rcp_ps((__m128)x);
    return r * (2.0F - x * r);
}
Single8 reciprocal(Single8 x) {
    const Single8 r = (Single8)_mm256_rcp_ps((__m256)x);
    return r * (2.0F - x * r);
}
unsigned set_lanes(Int4 mask) { return static_cast<unsigned>(_mm_movemask_ps((__m128)mask)); }
unsigned set_lanes(Int8 mask) { return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask)); }
typedef std::int8_t Bytes __attribute__((vector_size(32)));
std::uint32_t count_negative(const Bytes& bytes) {
    return static_cast<std::uint32_t>(__builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8((__m256i)bytes))));
}

#include "kernels.inl"

// Eight times eight elements per step, turned over in registers.
void interleave(const std::uint32_t* const* lists, int n, std::uint32_t* keys) {
    for (int i = 0; i < n; i += 8) {
        __m256 a[8], b[8];
        for (int l = 0; l < 8; ++l)
            a[l] = _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(lists[l] + i)));
        for (int l = 0; l < 8; l += 2) {
            b[l] = _mm256_unpacklo_ps(a[l], a[l + 1]);
            b[l + 1] = _mm256_unpackhi_ps(a[l], a[l + 1]);
        }
        for (int l = 0; l < 8; l += 4)
            for (int k = 0; k < 2; ++k) {
                a[l + 2 * k] = _mm256_shuffle_ps(b[l + k], b[l + k + 2], 0x44);
                a[l + 2 * k + 1] = _mm256_shuffle_ps(b[l + k], b[l + k + 2], 0xEE);
            }
        for (int k = 0; k < 4; ++k) {
            _mm256_store_ps(reinterpret_cast<float*>(keys + (i + k) * 8), _mm256_permute2f128_ps(a[k], a[k + 4], 0x20));
            _mm256_store_ps(reinterpret_cast<float*>(keys + (i + k + 4) * 8), _mm256_permute2f128_ps(a[k], a[k + 4], 0x31));
        }
    }
}

// For each mask of 8 bits the positions of its set bits, one byte each.
constexpr std::array<std::uint64_t, 256> compress_table() {
    std::array<std::uint64_t, 256> table{};
    for (int mask = 0; mask < 256; ++mask) {
        int at = 0;
        for (std::uint64_t bit = 0; bit < 8; ++bit)
            if ((mask >> bit) & 1) table[mask] |= bit << (8 * at++);
    }
    return table;
}
constexpr std::array<std::uint64_t, 256> kCompress = compress_table();

__m256i compress(__m256i values, int mask) {
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(kCompress[mask])));
    return _mm256_permutevar8x32_epi32(values, order);
}

// Moves the right part back behind the left one. The last 8 may overlap the 8 before: never a store behind the end.
void copy_back(std::uint32_t* to, const std::uint32_t* from, std::size_t n) {
    if (n < 8) {
        for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
        return;
    }
    for (std::size_t i = 0; i < n; i += 8) {
        const std::size_t at = i + 8 <= n ? i : n - 8;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + at), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at)));
    }
}

void divide(std::uint32_t* words, std::size_t n, const std::uint8_t* side, std::uint32_t* spare) {
    std::size_t left = 0, right = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i));
        const __m128i sides = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(side + i));
        const int mask = _mm_movemask_epi8(_mm_slli_epi64(sides, 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + left), compress(values, mask));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(spare + right), compress(values, ~mask & 255));
        const auto count = static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(mask)));
        left += count;
        right += 8 - count;
    }
    for (; i < n; ++i) {
        const std::uint32_t word = words[i];
        words[left] = word;
        spare[right] = word;
        left += side[i];
        right += 1 - side[i];
    }
    copy_back(words + left, spare, right);
}

void select(const std::uint32_t* sorted, std::size_t n, const std::uint32_t* payload, std::uint32_t* list) {
    const auto* payloads = reinterpret_cast<const int*>(payload);
    std::size_t at = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sorted + i));
        const __m256i row = _mm256_and_si256(_mm256_srli_epi32(values, kLists.row_shift), _mm256_set1_epi32(kLaneRows - 1));
        const __m256i here = _mm256_i32gather_epi32(payloads, row, 4);
        const __m256i none = _mm256_cmpeq_epi32(here, _mm256_setzero_si256());
        const int mask = ~_mm256_movemask_ps(_mm256_castsi256_ps(none)) & 255;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(list + at), compress(_mm256_or_si256(values, here), mask));
        at += static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(mask)));
    }
    for (; i < n; ++i) {
        const std::uint32_t here = payload[(sorted[i] >> kLists.row_shift) & (kLaneRows - 1)];
        list[at] = sorted[i] | here;
        at += here != 0;
    }
}

void partition(std::uint32_t* lists, std::size_t count, std::size_t stride, int n, const std::uint32_t* side,
               std::uint32_t* spare) {
    const auto* words = reinterpret_cast<const __m256i*>(side);
    const __m256i low = _mm256_loadu_si256(words), high = _mm256_loadu_si256(words + 1);
    for (std::uint32_t* list = lists; list != lists + count * stride; list += stride) {
        int left = 0, right = 0, i = 0;
        // A store of 8 ends at most where the 8 elements just read end, so it destroys nothing unread; the last
        // elements go one by one, because a store there would reach into the next node.
        for (; i + 8 <= n; i += 8) {
            const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(list + i));
            const __m256i row = _mm256_srli_epi32(values, kLists.row_shift);
            // The word of 32 bits by permutation of registers, which is faster than a gather.
            const __m256i index = _mm256_srli_epi32(row, 5);
            const __m256 word = _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
                                                 _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)),
                                                 _mm256_castsi256_ps(_mm256_slli_epi32(row, 31 - 8)));
            const __m256i bit = _mm256_andnot_si256(row, _mm256_set1_epi32(31));
            const int mask = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(_mm256_castps_si256(word), bit)));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(list + left), compress(values, mask));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(spare + right), compress(values, ~mask & 255));
            const int moved = __builtin_popcount(static_cast<unsigned>(mask));
            left += moved;
            right += 8 - moved;
        }
        for (; i < n; ++i) {
            const std::uint32_t element = list[i];
            const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
            const int goes_left = static_cast<int>((side[row / 32] >> (row % 32)) & 1U);
            list[left] = element;
            spare[right] = element;
            left += goes_left;
            right += 1 - goes_left;
        }
        copy_back(list + left, spare, static_cast<std::size_t>(right));
    }
}
}  // namespace avx2
}  // namespace

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const Kernels& best_kernels() {
    static const Kernels kernels{"avx2",
                                 {avx2::sort_lanes<4>, avx2::sort_lanes<8>},
                                 {avx2::scan_two_classes<4>, avx2::scan_two_classes<8>},
                                 {avx2::scan_classes<4>, avx2::scan_classes<8>},
                                 {avx2::scan_moments<4>, avx2::scan_moments<8>},
                                 avx2::scan_presorted,
                                 avx2::scan_bins,
                                 avx2::scan_class_bins<std::int32_t>,
                                 avx2::scan_class_bins<double>,
                                 avx2::scan_moment_bins,
                                 avx2::divide,
                                 avx2::select,
                                 avx2::interleave,
                                 avx2::partition,
                                 avx2::evaluate,
                                 avx2::count,
                                 avx2::count_and,
                                 avx2::count_xor,
                                 avx2::scan_subsets};
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? kernels : plain_kernels();
}

#else

const Kernels& best_kernels() { return plain_kernels(); }

#endif

}  // namespace conjunto
