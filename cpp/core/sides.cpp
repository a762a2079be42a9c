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
    if (split.kind == TestKind::combination)
        return finish(begin, n, weight, split, [&](std::size_t i) -> std::uint8_t {
            const double value = combinations_.value(terms, rows[i]);
            return std::isnan(value) ? kNoAnswer : value <= split.threshold;
        });
    const Column& column = table_.column[split.column];
    if (column.counted) {
        // What each bin says.
        std::array<std::uint8_t, kBins> answer;
        for (std::uint32_t bin = 0; bin < column.bins; ++bin)
            answer[bin] = split.kind == TestKind::category ? (split.set[bin / 32] >> (bin % 32)) & 1U : bin <= split.low;
        if (column.missing) answer[column.bins - 1] = kNoAnswer;
        const Table::Bins bins = table_.bins_for(split.column, n);
        return finish(begin, n, weight, split, [&](std::size_t i) { return answer[bins[rows[i]]]; });
    }
    auto rank_of = [&](std::size_t i) { return table_.rank_of(rows[i], split.column); };
    if (split.kind == TestKind::category)
        return finish(begin, n, weight, split, [&](std::size_t i) -> std::uint8_t {
            const std::uint32_t rank = rank_of(i);
            return rank == kMissing ? kNoAnswer : (split.set[rank / 32] >> (rank % 32)) & 1U;
        });
    auto by_rank = [&](std::uint32_t rank) -> std::uint8_t { return rank == kMissing ? kNoAnswer : rank <= split.low; };
    if (table_.sparse) {
        read_entries(rows, n, split.column);
        return finish(begin, n, weight, split, [&](std::size_t i) { return by_rank(ranks_[i]); });
    }
    if (split.low_row == kMissing)
        return finish(begin, n, weight, split, [&](std::size_t i) {
            const std::uint32_t rank = rank_of(i);
            if (rank == split.low) split.low_row = rows[i];
            if (rank == split.high) split.high_row = rows[i];
            return by_rank(rank);
        });
    if (n <= kLaneRows || column.missing) return finish(begin, n, weight, split, [&](std::size_t i) { return by_rank(rank_of(i)); });
    // In a large node the bin, one byte in a column of its own, decides for nearly all rows.
    const std::uint8_t* bins = table_.bins_of(split.column);
    const std::uint8_t cut = bins[split.low_row];
    return finish(begin, n, weight, split, [&](std::size_t i) -> std::uint8_t {
        return bins[rows[i]] != cut ? bins[rows[i]] < cut : by_rank(rank_of(i));
    });
}

// The ranks of a sparse column in the node: its entries and the rows are both in ascending order.
void Sides::read_entries(const std::uint32_t* rows, std::size_t n, std::uint32_t column) {
    constexpr std::size_t kEntriesPerRow = 16;
    const SparseTable& sparse = *table_.sparse;
    const std::uint32_t first = sparse.column_start[column], end = sparse.column_start[column + 1];
    ranks_.assign(n, sparse.zero[column]);
    if (end - first > kEntriesPerRow * n) {
        for (std::size_t i = 0; i < n; ++i) ranks_[i] = sparse.rank_of(rows[i], column);
        return;
    }
    std::size_t i = 0;
    for (std::uint32_t entry = first; entry < end; ++entry) {
        const std::uint32_t row = sparse.column_row[entry];
        while (i < n && rows[i] < row) ++i;
        if (i == n) return;
        if (rows[i] == row) ranks_[i] = sparse.column_rank[entry];
    }
}

template <class Answer>
std::size_t Sides::finish(std::size_t begin, std::size_t n, double weight, Split& split, Answer&& answer) {
    // Bytes may be anything to the compiler: what it is told here it need not read again after each of them.
    std::uint8_t* side = side_.data();
    std::uint8_t seen = 0;
    std::size_t to_left = 0;
    double left = 0;
    if (store_.integer) {
        const std::uint32_t* payload = store_.payload() + begin;
        std::uint64_t whole = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint8_t here = answer(i), goes = here & 1U;
            side[i] = here;
            seen |= here;
            to_left += goes;
            whole += (payload[i] >> 8) * goes;
        }
        left = static_cast<double>(whole);
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint8_t here = answer(i);
            side[i] = here;
            seen |= here;
            to_left += here & 1U;
            left += here & 1U ? store_.weight(begin + i) : 0.0;
        }
    }
    if (!(seen & kNoAnswer)) {
        split.missing_left = heavier_left(left, weight);
        return to_left;
    }
    to_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (side[i] == kNoAnswer) side[i] = split.missing_left;
        to_left += side[i];
    }
    return to_left;
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
