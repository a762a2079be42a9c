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

void stratify(Philox& random, std::vector<std::uint32_t>& rows, const std::int32_t* labels, std::size_t classes) {
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    if (!labels) return;
    std::vector<std::size_t> place(classes + 1, 0);
    for (const std::uint32_t row : rows) ++place[labels[row] + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<std::uint32_t> dealt(rows.size());
    for (const std::uint32_t row : rows) dealt[place[labels[row]]++] = row;
    rows.swap(dealt);
}

void draw_halves(Philox& random, const std::vector<std::uint32_t>& rows, const std::int32_t* labels, std::size_t classes,
                 std::size_t n, std::uint8_t* first) {
    std::vector<std::uint32_t> order = rows;
    stratify(random, order, labels, classes);
    std::fill_n(first, n, std::uint8_t{0});
    // Which half gets the odd row is left to chance.
    const std::size_t start = random.below(2);
    for (std::size_t i = 0; i < order.size(); ++i) first[order[i]] = (i + start) % 2 == 0;
}

}  // namespace conjunto
