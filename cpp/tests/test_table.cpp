#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "kernels.hpp"

using namespace conjunto;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A table of one column.
Table column_of(const std::vector<double>& values, std::uint32_t categories = 0) {
    return prepare(values.data(), values.size(), 1, 1, 0, &categories, 1);
}

std::vector<double> distinct(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// Everything that is promised of a numeric column.
void check_numeric(const Table& table, std::size_t c, const std::vector<double>& values) {
    const Column& column = table.column[c];
    const std::vector<double> expected = distinct(values);
    CHECK(column.values == expected.size());
    std::vector<int> bin_of(expected.size(), -1);
    bool missing = false;
    for (std::size_t row = 0; row < values.size(); ++row) {
        const std::uint32_t rank = table.ranks_of(row)[c];
        if (std::isnan(values[row])) {
            missing = true;
            CHECK(rank == kMissing);
        } else {
            CHECK(rank < expected.size() && expected[rank] == values[row]);
            const int bin = table.bins_of(c)[row];
            CHECK(bin_of[rank] < 0 || bin_of[rank] == bin);
            bin_of[rank] = bin;
        }
        CHECK(table.row_bin[row * table.columns + c] == table.bins_of(c)[row]);
        CHECK((table.bins_of(c)[row] + 1U == column.bins || !std::isnan(values[row])) && table.bins_of(c)[row] < column.bins);
    }
    CHECK(column.missing == missing);
    CHECK(column.counted == (expected.size() + missing <= kBins));
    CHECK(table.most_values >= expected.size());
    CHECK(std::is_sorted(bin_of.begin(), bin_of.end()));
    // The last bin is for missing values alone.
    if (missing && !bin_of.empty()) CHECK(bin_of.back() + 1U < column.bins);
    if (!column.counted) return;
    CHECK(column.bins == expected.size() + missing && table.bin_values[c].most == expected);
    for (std::size_t rank = 0; rank < expected.size(); ++rank) CHECK(bin_of[rank] == static_cast<int>(rank));
}

std::vector<double> random_values(std::size_t n, unsigned seed, bool missing) {
    std::mt19937_64 random(seed);
    std::vector<double> values(n);
    for (double& value : values) {
        switch (random() % 8) {
            case 0: value = 0.0; break;
            case 1: value = -0.0; break;
            case 2: value = static_cast<double>(random() % 10) - 5; break;
            case 3: value = missing ? kNan : 0.5; break;
            case 4: value = std::ldexp(static_cast<double>(random() % 999) - 499, int(random() % 2000) - 1000); break;
            default: value = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1.0p-60;
        }
    }
    return values;
}

}  // namespace

TEST(ranks_are_places_among_the_distinct_values) {
    for (const std::size_t n : {1, 2, 17, 256, 257, 511, 512, 513, 3000})
        for (const bool missing : {false, true}) {
            const std::vector<double> values = random_values(n, static_cast<unsigned>(n), missing);
            check_numeric(column_of(values), 0, values);
        }
}

// Below 512 values std::sort is used, above it the radix sort.
TEST(both_sorts_agree) {
    const std::vector<double> values = random_values(511, 1, false);
    std::vector<double> twice = values;
    twice.insert(twice.end(), values.begin(), values.end());
    const Table small = column_of(values), large = column_of(twice);
    CHECK(small.column[0].values == large.column[0].values);
    for (std::size_t row = 0; row < values.size(); ++row) {
        CHECK(small.rank[row] == large.rank[row]);
        CHECK(small.rank[row] == large.rank[row + values.size()]);
    }
}

TEST(the_radix_sort_skips_digits) {
    std::vector<double> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7 % 1000);
    check_numeric(column_of(values), 0, values);
    std::fill(values.begin(), values.end(), 2.5);
    check_numeric(column_of(values), 0, values);
}

TEST(neighbouring_doubles_stay_apart) {
    for (const double value : {1.0, -1.0, 1e300, 5e-324, 0.0}) {
        const std::vector<double> values{std::nextafter(value, kInfinity), value, std::nextafter(value, -kInfinity)};
        const Table table = column_of(values);
        CHECK(table.rank == std::vector<std::uint32_t>{2, 1, 0});
    }
}

TEST(zeros_of_both_signs_are_one_value) {
    for (const std::size_t n : {4, 1000}) {
        std::vector<double> values(n, 0.0);
        for (std::size_t i = 0; i < n; i += 2) values[i] = -0.0;
        const Table table = column_of(values);
        CHECK(table.column[0].values == 1);
        CHECK(std::all_of(table.rank.begin(), table.rank.end(), [](std::uint32_t rank) { return rank == 0; }));
    }
}

TEST(infinities_are_refused) {
    for (const double bad : {kInfinity, -kInfinity})
        for (const std::size_t threads : {1, 2}) {
            std::vector<double> values(40, 1.0);
            values[33] = bad;
            const std::vector<std::uint32_t> categories(4, 0);
            CHECK_THROWS(prepare(values.data(), 10, 4, 4, 1, categories.data(), threads), std::invalid_argument);
        }
}

TEST(a_column_may_be_missing_altogether) {
    const std::vector<double> values(600, kNan);
    check_numeric(column_of(values), 0, values);
    CHECK(column_of(values).scale(0) == 1);
}

TEST(categories_keep_their_codes) {
    const Table table = column_of({0, 2, kNan, 255, 0}, 256);
    CHECK(table.rank == std::vector<std::uint32_t>{0, 2, kMissing, 255, 0});
    CHECK(table.column[0].missing && table.column[0].categorical() && table.column[0].values == 0);
    CHECK(!column_of({0, 1}, 2).column[0].missing);
}

TEST(bad_categories_are_refused) {
    for (const double bad : {3.0, -1.0, 0.5, 1e300, kInfinity, -kInfinity})
        CHECK_THROWS(column_of({0, 1, bad}, 3), std::invalid_argument);
    CHECK_THROWS(column_of({0, 1}, 257), std::invalid_argument);
}

TEST(bins_hold_about_as_many_rows) {
    const std::size_t n = 10000;
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::exp(static_cast<double>(i * 7919 % n) / 500);
    const Table table = column_of(values);
    check_numeric(table, 0, values);
    std::vector<std::size_t> rows(kBins, 0);
    for (const std::uint8_t bin : table.bin) ++rows[bin];
    for (const std::size_t count : rows) CHECK(count >= n / kBins && count <= n / kBins + 1);
}

TEST(strides_and_threads_do_not_matter) {
    const std::size_t n = 700, m = 5;
    std::vector<double> by_row(n * m), by_column(n * m), backwards(n * m);
    std::vector<std::vector<double>> columns(m);
    for (std::size_t c = 0; c < m; ++c) {
        columns[c] = random_values(n, static_cast<unsigned>(c), c % 2 == 1);
        for (std::size_t row = 0; row < n; ++row) {
            by_row[row * m + c] = by_column[c * n + row] = columns[c][row];
            backwards[(n - 1 - row) * m + (m - 1 - c)] = columns[c][row];
        }
    }
    const std::vector<std::uint32_t> numeric(m, 0);
    const auto rows = static_cast<std::ptrdiff_t>(n), wide = static_cast<std::ptrdiff_t>(m);
    const Table a = prepare(by_row.data(), n, m, wide, 1, numeric.data(), 1);
    const Table b = prepare(by_column.data(), n, m, 1, rows, numeric.data(), 3);
    const Table c = prepare(backwards.data() + n * m - 1, n, m, -wide, -1, numeric.data(), 2);
    for (std::size_t j = 0; j < m; ++j) check_numeric(a, j, columns[j]);
    CHECK(a.rank == b.rank && a.rank == c.rank);
    CHECK(a.bin == b.bin && a.bin == c.bin);
}

TEST(small_tables_are_presorted) {
    for (const std::size_t n : {1, 300, 512}) {
        const std::vector<double> values = random_values(n, 3, false);
        const Table table = column_of(values);
        CHECK(table.presorted.size() == n);
        CHECK(std::is_sorted(table.presorted.begin(), table.presorted.end()));
        for (const std::uint32_t element : table.presorted) {
            const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
            CHECK(row < n && element >> kLists.shift == table.rank[row]);
        }
    }
    CHECK(column_of(random_values(513, 3, false)).presorted.empty());
}

TEST(scale_is_one_over_the_deviation) {
    const auto near = [](double a, double b) { return std::fabs(a - b) < 1e-12 * std::fabs(b); };
    CHECK(near(column_of({1, 3, 1, 3}).scale(0), 1));
    CHECK(near(column_of({0, 10, 10, kNan, 0}).scale(0), 0.2));
    CHECK(column_of({4, 4, 4}).scale(0) == 1);
    CHECK(column_of({1e300, -1e300}).scale(0) == 1);
}

TEST(an_empty_table_is_a_table) {
    const std::uint32_t numeric = 0;
    CHECK(prepare(nullptr, 0, 1, 1, 1, &numeric, 2).column[0].values == 0);
    CHECK(prepare(nullptr, 5, 0, 0, 0, nullptr, 2).rank.empty());
}

// Whole numbers are counted, others sorted: the limits of both, and of the bins.
TEST(whole_numbers_are_ranked_as_others_are) {
    std::mt19937_64 random(9);
    for (const std::size_t n : {1, 2, 255, 256, 257, 1000})
        for (const double range : {1.0, 2.0, 254.0, 255.0, 256.0, 257.0, 4.0 * 1000, 4.0 * 1000 + 1, 1e9, 1e17})
            for (const bool missing : {false, true}) {
                std::vector<double> values(n), halves(n);
                for (std::size_t i = 0; i < n; ++i) {
                    values[i] = missing && random() % 4 == 0 ? kNan : std::floor(static_cast<double>(random() >> 11) * 0x1.0p-53 * range) - 100;
                    halves[i] = values[i] / 2;
                }
                const Table whole = column_of(values), half = column_of(halves);
                check_numeric(whole, 0, values);
                check_numeric(half, 0, halves);
                CHECK(whole.rank == half.rank && whole.bin == half.bin);
            }
}
