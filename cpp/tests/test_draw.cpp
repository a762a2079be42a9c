#include "draw.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.hpp"

using namespace conjunto;

TEST(bootstrap_counts_add_up) {
    for (const std::size_t n : {1, 2, 10, 1000})
        for (const std::size_t size : {0, 1, 10, 3000}) {
            Philox random({1, 2}, n, Purpose::rows);
            std::vector<std::int32_t> counts(n, -1);
            draw_bootstrap(random, n, size, counts.data());
            CHECK(std::all_of(counts.begin(), counts.end(), [](std::int32_t count) { return count >= 0; }));
            CHECK(std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == size);
        }
}

TEST(bootstrap_leaves_a_share_of_1_over_e_out) {
    const std::size_t n = 20000;
    Philox random({1, 2}, 0, Purpose::rows);
    std::vector<std::int32_t> counts(n);
    draw_bootstrap(random, n, n, counts.data());
    const double out = static_cast<double>(std::count(counts.begin(), counts.end(), 0)) / static_cast<double>(n);
    CHECK(out > 0.355 && out < 0.381);
}

TEST(subset_holds_different_rows) {
    for (const std::size_t n : {1, 2, 10, 1000})
        for (const std::size_t size : {std::size_t{0}, std::size_t{1}, n / 2, n}) {
            Philox random({1, 2}, size, Purpose::rows);
            std::vector<std::int32_t> counts(n, -1);
            draw_subset(random, n, size, counts.data());
            CHECK(static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 1)) == size);
            CHECK(static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0)) == n - size);
        }
}

TEST(every_row_is_as_likely) {
    const std::size_t n = 10, size = 3, draws = 20000;
    Philox random({3, 4}, 0, Purpose::rows);
    std::vector<std::int32_t> counts(n);
    std::vector<std::size_t> drawn(n, 0);
    for (std::size_t i = 0; i < draws; ++i) {
        draw_subset(random, n, size, counts.data());
        for (std::size_t row = 0; row < n; ++row) drawn[row] += static_cast<std::size_t>(counts[row]);
    }
    for (const std::size_t count : drawn) CHECK(count > 5700 && count < 6300);
}

TEST(exactly_so_many_labels_switch_to_another_class) {
    const std::size_t n = 300;
    for (const std::int32_t classes : {2, 3, 10})
        for (const std::size_t switched : {std::size_t{0}, std::size_t{1}, std::size_t{77}, n}) {
            std::vector<std::int32_t> labels(n), out(n, -1);
            for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<std::int32_t>(i * i) % classes;
            Philox random({5, 6}, switched, Purpose::labels);
            draw_switched(random, labels.data(), n, switched, classes, out.data());
            std::size_t changed = 0;
            for (std::size_t i = 0; i < n; ++i) {
                CHECK(out[i] >= 0 && out[i] < classes);
                changed += out[i] != labels[i];
            }
            CHECK(changed == switched);
        }
}

TEST(switched_labels_are_uniform_among_the_others) {
    const std::size_t n = 30000;
    const std::vector<std::int32_t> labels(n, 1);
    std::vector<std::int32_t> out(n);
    Philox random({7, 8}, 0, Purpose::labels);
    draw_switched(random, labels.data(), n, n, 4, out.data());
    for (const std::int32_t label : {0, 2, 3}) {
        const auto count = std::count(out.begin(), out.end(), label);
        CHECK(count > 9600 && count < 10400);
    }
}
