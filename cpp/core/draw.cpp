#include "draw.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace conjunto {

namespace {

// The first `size` places of a Fisher-Yates shuffle of 0 .. n-1.
std::vector<std::uint32_t> choose(Philox& random, std::size_t n, std::size_t size) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = 0; i < size; ++i) std::swap(order[i], order[i + random.below(n - i)]);
    order.resize(size);
    return order;
}

}  // namespace

void draw_bootstrap(Philox& random, std::size_t n, std::size_t size, std::int32_t* counts) {
    std::fill_n(counts, n, 0);
    for (std::size_t i = 0; i < size; ++i) ++counts[random.below(n)];
}

void draw_subset(Philox& random, std::size_t n, std::size_t size, std::int32_t* counts) {
    std::fill_n(counts, n, 0);
    for (std::uint32_t row : choose(random, n, size)) counts[row] = 1;
}

void draw_switched(Philox& random, const std::int32_t* labels, std::size_t n, std::size_t switched,
                   std::int32_t classes, std::int32_t* out) {
    std::copy_n(labels, n, out);
    for (std::uint32_t row : choose(random, n, switched)) {
        const auto other = static_cast<std::int32_t>(random.below(classes - 1));
        out[row] = other + (other >= labels[row]);
    }
}

}  // namespace conjunto
