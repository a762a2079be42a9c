// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: rows and sorted lists on their way down a tree.

#ifndef CONJUNTO_INTRINSICS
void divide(std::uint32_t* words, std::size_t n, const std::uint8_t* side, std::uint32_t* spare) {
    std::size_t left = 0, right = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t word = words[i];
        words[left] = word;
        spare[right] = word;
        left += side[i];
        right += 1 - side[i];
    }
    std::memcpy(words + left, spare, right * sizeof *words);
}

void select(const std::uint32_t* sorted, std::size_t n, const std::uint32_t* payload, std::uint32_t* list) {
    for (std::size_t i = 0, at = 0; i < n; ++i) {
        const std::uint32_t here = payload[(sorted[i] >> kLists.row_shift) & (kLaneRows - 1)];
        list[at] = sorted[i] | here;
        at += here != 0;
    }
}

void interleave(const std::uint32_t* const* lists, int n, std::uint32_t* keys) {
    for (int i = 0; i < n; ++i)
        for (int l = 0; l < 8; ++l) keys[i * 8 + l] = lists[l][i];
}

void partition(std::uint32_t* lists, std::size_t count, std::size_t stride, int n, const std::uint32_t* side,
               std::uint32_t* spare) {
    for (std::uint32_t* list = lists; list != lists + count * stride; list += stride) {
        int left = 0, right = 0;
        for (int i = 0; i < n; ++i) {
            const std::uint32_t element = list[i];
            const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
            const int goes_left = static_cast<int>((side[row / 32] >> (row % 32)) & 1U);
            list[left] = element;
            spare[right] = element;
            left += goes_left;
            right += 1 - goes_left;
        }
        std::memcpy(list + left, spare, static_cast<std::size_t>(right) * sizeof *list);
    }
}
#endif

