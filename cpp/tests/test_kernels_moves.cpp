// Rows and lists on their way down a tree.
#include "both_kernels.hpp"

using namespace conjunto;

TEST(interleave_puts_lists_side_by_side) {
    std::mt19937_64 random(7);
    for (const int n : {1, 2, 7, 8, 9, 16, 100, 511, 512}) {
        // As in a list carried down a tree: the node starts anywhere, and behind it there is room for 7 more.
        std::vector<std::vector<std::uint32_t>> lists(8, std::vector<std::uint32_t>(static_cast<std::size_t>(n) + 10));
        std::array<const std::uint32_t*, 8> starts;
        for (std::size_t l = 0; l < 8; ++l) {
            for (std::uint32_t& element : lists[l]) element = static_cast<std::uint32_t>(random());
            starts[l] = lists[l].data() + 3;
        }
        for (const Kernels* kernels : both()) {
            Keys keys;
            keys.data.fill(kCanary);
            kernels->interleave(starts.data(), n, keys.data.data());
            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                for (std::size_t l = 0; l < 8; ++l) CHECK(keys.data[i * 8 + l] == starts[l][i]);
            for (std::size_t i = static_cast<std::size_t>(n + 7) * 8; i < keys.data.size(); ++i)
                CHECK(keys.data[i] == kCanary);
        }
    }
}

TEST(partition_is_stable_and_stays_inside) {
    std::mt19937_64 random(8);
    for (int n = 0; n <= kLaneRows; n += n < 70 ? 1 : 13)
        for (const unsigned share : {0U, 1U, 4U, 7U, 8U}) {
            std::vector<std::uint32_t> rows(kLaneRows), side(kLaneRows / 32, 0U);
            for (std::uint32_t row = 0; row < kLaneRows; ++row) rows[row] = row;
            std::shuffle(rows.begin(), rows.end(), random);
            for (std::uint32_t row = 0; row < kLaneRows; ++row)
                side[row / 32] |= (random() % 8 < share ? 1U : 0U) << (row % 32);
            // Neighbours before and behind the segment belong to other nodes.
            const std::size_t before = 5, behind = 16, size = static_cast<std::size_t>(n);
            std::vector<std::uint32_t> start(before + size + behind, kCanary);
            for (std::size_t i = 0; i < size; ++i)
                start[before + i] = static_cast<std::uint32_t>(random() % 512) << kLists.shift |
                                    rows[i] << kLists.row_shift | static_cast<std::uint32_t>(random() % 0x4000);
            std::vector<std::uint32_t> expected = start;
            const auto first = expected.begin() + static_cast<std::ptrdiff_t>(before);
            std::stable_partition(first, first + n, [&](std::uint32_t element) {
                const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
                return ((side[row / 32] >> (row % 32)) & 1U) != 0;
            });
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> list = start, spare(size + 7 + 9, kCanary);
                list.insert(list.end(), start.begin(), start.end());
                kernels->partition(list.data() + before, 2, start.size(), n, side.data(), spare.data());
                CHECK(std::equal(expected.begin(), expected.end(), list.begin()));
                CHECK(std::equal(expected.begin(), expected.end(), list.begin() + start.size()));
                for (std::size_t i = size + 7; i < spare.size(); ++i) CHECK(spare[i] == kCanary);
            }
        }
}

TEST(divide_is_stable_and_stays_inside) {
    std::mt19937_64 random(11);
    for (std::size_t n = 0; n < 200; ++n)
        for (const unsigned share : {0U, 1U, 4U, 8U}) {
            std::vector<std::uint8_t> side(n);
            std::vector<std::uint32_t> start(n + 16, kCanary), left, right;
            for (std::size_t i = 0; i < n; ++i) {
                side[i] = random() % 8 < share;
                start[i] = static_cast<std::uint32_t>(random());
                (side[i] ? left : right).push_back(start[i]);
            }
            std::vector<std::uint32_t> expected = left;
            expected.insert(expected.end(), right.begin(), right.end());
            expected.insert(expected.end(), 16, kCanary);
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> words = start, spare(n + 7 + 9, kCanary);
                kernels->divide(words.data(), n, side.data(), spare.data());
                CHECK(words == expected);
                for (std::size_t i = n + 7; i < spare.size(); ++i) CHECK(spare[i] == kCanary);
            }
        }
}

TEST(select_keeps_rows_with_a_payload) {
    std::mt19937_64 random(12);
    for (std::size_t n = 0; n <= kLaneRows; n += n < 40 ? 1 : 59)
        for (const unsigned share : {0U, 1U, 4U, 8U}) {
            std::vector<std::uint32_t> payload(n), sorted(n), expected;
            for (std::size_t row = 0; row < n; ++row)
                payload[row] = random() % 8 < share ? static_cast<std::uint32_t>(1 + random() % ((1U << kLists.row_shift) - 1)) : 0U;
            for (std::size_t i = 0; i < n; ++i) {
                const auto row = static_cast<std::uint32_t>(random() % n);
                sorted[i] = static_cast<std::uint32_t>(i) << kLists.shift | row << kLists.row_shift;
                if (payload[row]) expected.push_back(sorted[i] | payload[row]);
            }
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> list(n + 7 + 9, kCanary);
                kernels->select(sorted.data(), n, payload.data(), list.data());
                CHECK(std::equal(expected.begin(), expected.end(), list.begin()));
                for (std::size_t i = expected.size() + 8; i < list.size(); ++i) CHECK(list[i] == kCanary);
            }
        }
}
