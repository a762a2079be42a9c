// Included by kernels_plain.cpp and kernels_avx2.cpp inside a namespace of their own: small trees on blocks of rows.

// Children have higher numbers than their parent, so walking down the numbers folds the tree up to its
// root without a branch: each node's result is one of its children's.
void evaluate(const CodedNode* nodes, std::size_t n_nodes, const std::uint16_t* codes, std::uint16_t* results) {
    typedef std::uint16_t Half __attribute__((vector_size(32)));
    constexpr std::size_t parts = kBlockRows / 16;
    auto* out = reinterpret_cast<Half*>(results);
    const auto* in = reinterpret_cast<const Half*>(codes);
    for (std::size_t i = n_nodes; i-- > 0;) {
        const CodedNode node = nodes[i];
        const Half code = Half{} + node.code;
        const Half* x = in + node.feature * parts;
        const Half* left = out + node.left * parts;
        const Half* right = out + node.right * parts;
        for (std::size_t p = 0; p < parts; ++p) out[i * parts + p] = x[p] <= code ? left[p] : right[p];
    }
}

void count(const std::uint16_t* labels, std::size_t classes, std::uint16_t* counts) {
    typedef std::uint16_t Half __attribute__((vector_size(32)));
    constexpr std::size_t parts = kBlockRows / 16;
    const auto* in = reinterpret_cast<const Half*>(labels);
    auto* out = reinterpret_cast<Half*>(counts);
    for (std::size_t k = 0; k < classes; ++k)
        for (std::size_t p = 0; p < parts; ++p)
            out[k * parts + p] -= (Half)(in[p] == static_cast<std::uint16_t>(k));
}

