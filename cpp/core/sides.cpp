#include "sides.hpp"

#include <array>
#include <cmath>

#include "kernels.hpp"

namespace conjunto {

namespace {

// Where training has nothing missing, a missing value follows the heavier side, the right one if they weigh the same.
bool heavier_left(double left, double weight) { return 2 * left > weight; }

}  // namespace

std::size_t Sides::find(std::size_t begin, std::size_t n, double weight, const std::vector<Term>& terms, Split& split) {
    const std::uint32_t* rows = store_.row.data() + begin;
    side_.resize(n);
    if (split.kind == TestKind::numeric && !table_.column[split.column].missing)
        return find_by_rank(rows, begin, n, weight, split);
    // 2 for a row that the test has no answer for.
    auto answer = [&](std::uint32_t row) -> std::uint8_t {
        if (split.kind == TestKind::combination) {
            const double value = combinations_.value(terms, row);
            return std::isnan(value) ? 2 : value <= split.threshold;
        }
        const std::uint32_t rank = table_.ranks_of(row)[split.column];
        if (rank == kMissing) return 2;
        return split.kind == TestKind::category ? (split.set[rank / 32] >> (rank % 32)) & 1U : rank <= split.low;
    };
    bool missing = false;
    double left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        side_[i] = answer(rows[i]);
        missing |= side_[i] == 2;
        left += side_[i] == 1 ? store_.weight(begin + i) : 0.0;
    }
    if (!missing) split.missing_left = heavier_left(left, weight);
    std::size_t to_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (side_[i] == 2) side_[i] = split.missing_left;
        to_left += side_[i];
    }
    return to_left;
}

std::size_t Sides::find_by_rank(const std::uint32_t* rows, std::size_t begin, std::size_t n, double weight, Split& split) {
    // Bytes may be anything to the compiler: what it is told here it need not read again after each of them.
    std::uint8_t* side = side_.data();
    const bool integer = store_.integer;
    const std::uint32_t* payload = integer ? store_.payload() + begin : nullptr;
    auto take = [&](auto&& goes_left) {
        std::size_t to_left = 0;
        std::uint64_t whole = 0;
        double real = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto left = static_cast<std::uint8_t>(goes_left(rows[i]));
            side[i] = left;
            to_left += left;
            if (integer)
                whole += (payload[i] >> 8) * left;
            else
                real += left ? store_.weight(begin + i) : 0.0;
        }
        split.missing_left = heavier_left(real + static_cast<double>(whole), weight);
        return to_left;
    };
    auto by_rank = [&](std::uint32_t row) { return table_.ranks_of(row)[split.column] <= split.low; };
    if (split.low_row == kMissing)
        return take([&](std::uint32_t row) {
            const std::uint32_t rank = table_.ranks_of(row)[split.column];
            if (rank == split.low) split.low_row = row;
            if (rank == split.high) split.high_row = row;
            return rank <= split.low;
        });
    if (n <= kLaneRows || table_.bin.empty()) return take(by_rank);
    // In a large node the bin, one byte in a column of its own, decides for nearly all rows.
    const std::uint8_t* bins = table_.bins_of(split.column);
    const std::uint8_t cut = bins[split.low_row];
    return take([&](std::uint32_t row) { return bins[row] != cut ? bins[row] < cut : by_rank(row); });
}

void Sides::store_set(const Split& split, std::size_t begin, std::size_t n, Forest& forest) const {
    const std::uint32_t categories = table_.column[split.column].categories;
    auto set = split.set;
    if (split.missing_left) {
        std::array<bool, kMaxCategories> seen{};
        for (std::size_t i = 0; i < n; ++i)
            if (const std::uint32_t code = table_.ranks_of(store_.row[begin + i])[split.column]; code != kMissing)
                seen[code] = true;
        for (std::uint32_t code = 0; code < categories; ++code)
            if (!seen[code]) set[code / 32] |= 1U << (code % 32);
    }
    forest.sets.insert(forest.sets.end(), set.begin(), set.begin() + (categories + 31) / 32);
}

}  // namespace conjunto
