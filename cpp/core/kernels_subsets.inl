// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: votes of subsets, bits and bytes.

#ifndef CONJUNTO_INTRINSICS
typedef std::int8_t Bytes __attribute__((vector_size(32)));
std::uint32_t count_negative(const Bytes& bytes) {
    std::uint64_t words[4], sum = 0;
    std::memcpy(words, &bytes, sizeof words);
    for (const std::uint64_t word : words) sum += (word >> 7) & 0x0101010101010101U;
    return static_cast<std::uint32_t>(sum * 0x0101010101010101U >> 56);
}
#endif

std::size_t count_and(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::size_t bits = 0;
    for (std::size_t w = 0; w < words; ++w) bits += static_cast<std::size_t>(__builtin_popcountll(a[w] & b[w]));
    return bits;
}

std::size_t count_xor(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    std::size_t bits = 0;
    for (std::size_t w = 0; w < words; ++w) bits += static_cast<std::size_t>(__builtin_popcountll(a[w] ^ b[w]));
    return bits;
}

// One block of a scan, for the entries that are still in it; L = 0: any number of layers. Whether an entry stays is added
// up, not branched on: what comes next is as good as random.
template <int L, bool kFirst>
std::size_t scan_block(const SubsetScan& job, const ByteLanes* block, const ByteLanes* block_sums, std::size_t layers,
                       std::size_t n) {
    const std::size_t width = L ? L : layers;
    const auto* state = reinterpret_cast<const Bytes*>(block);
    const auto* sums = reinterpret_cast<const Bytes*>(block_sums);
    std::uint32_t* const entries = job.entry;
    std::uint32_t* const wrong = job.wrong;
    const std::uint32_t limit = job.limit, first = static_cast<std::uint32_t>(job.first);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t entry = kFirst ? first + static_cast<std::uint32_t>(i) : entries[i];
        const Bytes* sum = sums + entry * width;
        Bytes lowest = state[0] + sum[0];
        for (std::size_t l = 1; l < width; ++l) lowest |= state[l] + sum[l];
        const std::uint32_t count = (kFirst ? 0 : wrong[i]) + count_negative(lowest);
        entries[kept] = entry;
        wrong[kept] = count;
        kept += count <= limit;
    }
    return kept;
}

template <bool kFirst>
std::size_t scan_any_block(const SubsetScan& job, const ByteLanes* state, const ByteLanes* sums, std::size_t layers,
                           std::size_t n) {
    if (layers == 1) return scan_block<1, kFirst>(job, state, sums, layers, n);
    if (layers == 2) return scan_block<2, kFirst>(job, state, sums, layers, n);
    return scan_block<0, kFirst>(job, state, sums, layers, n);
}

std::size_t scan_subsets(const SubsetScan& job) {
    const ByteLanes* state = job.state;
    const ByteLanes* sums = job.sums;
    std::size_t n = scan_any_block<true>(job, state, sums, job.layers[0], job.end - job.first);
    for (std::size_t b = 1; b < job.blocks && n > 0; ++b) {
        state += job.layers[b - 1];
        sums += job.layers[b - 1] * job.entries;
        n = scan_any_block<false>(job, state, sums, job.layers[b], n);
    }
    return n;
}
