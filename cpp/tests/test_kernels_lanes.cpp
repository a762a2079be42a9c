// Small nodes: columns side by side, sorted and scanned.
#include "both_kernels.hpp"

using namespace conjunto;

namespace {

// The columns of a node as the searches hand them over, sorted.
struct Case {
    int n, lanes, columns;
    Packing packing;
    std::unique_ptr<Keys> keys = std::make_unique<Keys>();
    std::vector<std::uint32_t> payload;
    std::vector<double> weight, moment, class_total;
    double total = 0, total_moment = 0;

    std::uint32_t& key(int i, int l) const { return keys->data[static_cast<std::size_t>(i * lanes + l)]; }
    std::uint32_t rank(int i, int l) const { return key(i, l) >> packing.shift; }

    LaneScan scan(int min_rows, double min_weight) const {
        LaneScan job{};
        job.keys = keys->data.data();
        job.n = n;
        job.columns = columns;
        job.packing = packing;
        job.payload = payload.data();
        job.weight = weight.data();
        job.moment = moment.data();
        job.classes = static_cast<int>(class_total.size());
        job.class_total = class_total.data();
        job.total = total;
        job.total_moment = total_moment;
        job.min_rows = min_rows;
        job.min_weight = min_weight;
        job.score = -INFINITY;
        return job;
    }
};


// classes = 0: real weights and moments.
Case random_case(std::mt19937_64& random, int n, int columns, int classes, const Packing& packing, unsigned values,
                 std::uint32_t most_weight) {
    Case out{n, columns <= 4 ? 4 : 8, columns, packing, std::make_unique<Keys>(), {}, {}, {}, {}, 0, 0};
    out.class_total.assign(static_cast<std::size_t>(classes), 0.0);
    for (int i = 0; i < n; ++i) {
        if (classes) {
            const std::uint32_t weight = 1 + static_cast<std::uint32_t>(random() % most_weight);
            const auto label = static_cast<std::uint32_t>(random() % static_cast<unsigned>(classes));
            out.payload.push_back(weight << 8 | label);
            out.class_total[label] += weight;
            out.total += weight;
        } else {
            // Quarters: sums are exact in any order.
            const double weight = 0.25 * static_cast<double>(1 + random() % 16);
            out.weight.push_back(weight);
            out.moment.push_back(weight * (static_cast<double>(random() % 65) - 32));
            out.total += weight;
            out.total_moment += out.moment.back();
        }
    }
    if (classes > 1) out.total_moment = out.class_total[1];
    for (int l = 0; l < out.lanes; ++l) {
        // Lanes without a column repeat the last one.
        if (l >= columns) {
            for (int i = 0; i < n; ++i) out.key(i, l) = out.key(i, columns - 1);
            continue;
        }
        std::vector<std::uint32_t> column;
        for (int i = 0; i < n; ++i) {
            const auto row = static_cast<std::uint32_t>(i), rank = static_cast<std::uint32_t>(random() % values);
            std::uint32_t key = rank << packing.shift;
            if (packing.row_shift > 0 || packing.payload_mask == 0) key |= row << packing.row_shift;
            if (packing.payload_mask && classes) key |= out.payload[static_cast<std::size_t>(i)];
            column.push_back(key);
        }
        std::sort(column.begin(), column.end());
        for (int i = 0; i < n; ++i) out.key(i, l) = column[static_cast<std::size_t>(i)];
    }
    return out;
}

// Every allowed cut, scored by the functions that all searches use.
LaneScan brute_force(const Case& node, LaneScan job) {
    job.column = -1;
    for (int l = 0; l < node.columns; ++l) {
        double left = 0, moment = 0;
        std::vector<double> counts(node.class_total.size(), 0.0);
        for (int i = 0; i + 1 < node.n; ++i) {
            const std::uint32_t key = node.key(i, l);
            const std::size_t row = (key >> node.packing.row_shift) & (kLaneRows - 1);
            if (counts.empty()) {
                left += node.weight[row];
                moment += node.moment[row];
            } else {
                const std::uint32_t payload =
                    node.packing.payload_mask ? key & node.packing.payload_mask : node.payload[row];
                left += payload >> 8;
                counts[payload & 255U] += payload >> 8;
            }
            if (node.rank(i, l) == node.rank(i + 1, l)) continue;
            if (i + 1 < job.min_rows || node.n - i - 1 < job.min_rows) continue;
            if (left < job.min_weight || node.total - left < job.min_weight) continue;
            double score;
            if (counts.size() > 2) {
                double left_squares = 0, right_squares = 0;
                for (std::size_t k = 0; k < counts.size(); ++k) {
                    const double right = node.class_total[k] - counts[k];
                    left_squares += counts[k] * counts[k];
                    right_squares += right * right;
                }
                score = gini_score(left_squares, right_squares, left, node.total - left);
            } else {
                score = moment_score(left, counts.empty() ? moment : counts[1], node.total, node.total_moment);
            }
            if (score > job.score) {
                job.score = score;
                job.column = l;
                job.place = i;
            }
        }
    }
    return job;
}

bool same(const LaneScan& a, const LaneScan& b) {
    return a.column == b.column && (a.column < 0 || (a.place == b.place && a.score == b.score));
}

void run(const Kernels& kernels, const Case& node, LaneScan& job) {
    const int width = node.lanes == 4 ? 0 : 1;
    const auto& scan = node.class_total.empty()       ? kernels.scan_moments
                       : node.class_total.size() == 2 ? kernels.scan_two_classes
                                                      : kernels.scan_classes;
    scan[width](job);
}

void check_scan(const Case& node, int min_rows, double min_weight) {
    const LaneScan start = node.scan(min_rows, min_weight);
    const LaneScan expected = brute_force(node, start);
    for (const Kernels* kernels : both()) {
        LaneScan job = start;
        run(*kernels, node, job);
        CHECK(same(job, expected));
        // The best score is not beaten; the next double below it is.
        if (expected.column < 0) continue;
        job = start;
        job.score = expected.score;
        run(*kernels, node, job);
        CHECK(job.column == -1 && job.score == expected.score);
        job = start;
        job.score = std::nextafter(expected.score, -INFINITY);
        run(*kernels, node, job);
        CHECK(same(job, expected));
    }
}

}  // namespace

TEST(sort_sorts_every_lane) {
    std::mt19937_64 random(1);
    for (const int n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65, 100, 127, 129, 255, 256, 257, 500, 511, 512})
        for (const int width : {0, 1}) {
            const int lanes = width ? 8 : 4;
            Keys start;
            start.data.fill(kCanary);
            for (int i = 0; i < n * lanes; ++i)
                start.data[static_cast<std::size_t>(i)] =
                    static_cast<std::uint32_t>(random()) >> (random() % 2 ? 0 : 29);
            Keys expected = start;
            for (int l = 0; l < lanes; ++l) {
                std::vector<std::uint32_t> lane;
                for (int i = 0; i < n; ++i) lane.push_back(start.data[static_cast<std::size_t>(i * lanes + l)]);
                std::sort(lane.begin(), lane.end());
                for (int i = 0; i < n; ++i)
                    expected.data[static_cast<std::size_t>(i * lanes + l)] = lane[static_cast<std::size_t>(i)];
            }
            for (const Kernels* kernels : both()) {
                Keys keys = start;
                kernels->sort[width](keys.data.data(), n);
                CHECK(keys.data == expected.data);
            }
        }
}

TEST(scans_find_the_best_cut_of_all) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 1000; ++round) {
        const int n = round < 500 ? 2 + static_cast<int>(random() % 20) : 2 + static_cast<int>(random() % 511);
        const int columns = 1 + static_cast<int>(random() % 8);
        constexpr std::array<int, 12> all_classes{0, 2, 3, 4, 5, 6, 7, 8, 9, 26, 100, 255};
        const int classes = all_classes[random() % all_classes.size()];
        const Packing packing = std::array{kShortRanks, kLongRanks, kLists}[random() % 3];
        if (classes == 0 && packing.shift == kShortRanks.shift) continue;
        const std::uint32_t most_weight = random() % 2 ? 1 : packing.shift == kLists.shift ? kListWeight : 90;
        const unsigned values = random() % 2 ? 4 : 500;
        const Case node = random_case(random, n, columns, classes, packing, values, most_weight);
        const int min_rows = random() % 2 ? 1 : 1 + static_cast<int>(random() % static_cast<unsigned>(n / 2));
        const double min_weight = random() % 2 ? 0 : node.total * static_cast<double>(random() % 10) / 20;
        check_scan(node, min_rows, min_weight);
    }
}

// The single-precision scores of the scan are least exact where the weight is largest.
TEST(scans_are_exact_at_the_largest_weight) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 100; ++round) {
        const int classes = round % 3 ? 2 + static_cast<int>(random() % 7) : 9 + static_cast<int>(random() % 246);
        const Case node = random_case(random, 512, 8, classes, kShortRanks, 60000, 150);
        CHECK(node.total <= kMaxLaneWeight);
        check_scan(node, 1, 0);
    }
}

TEST(equal_cuts_go_to_the_lowest_column_and_the_first_place) {
    std::mt19937_64 random(4);
    for (const int classes : {0, 2, 3}) {
        Case node = random_case(random, 100, 8, classes, kLongRanks, 30, 5);
        for (int i = 0; i < node.n; ++i)
            for (int l = 0; l < 8; ++l) node.key(i, l) = node.key(i, 5);
        for (const Kernels* kernels : both()) {
            LaneScan job = node.scan(1, 0);
            run(*kernels, node, job);
            CHECK(job.column == 0 && same(job, brute_force(node, node.scan(1, 0))));
        }
    }
    // Classes 0 1 0 1 by rank: the cuts behind the first and the third row are equal.
    Case node = random_case(random, 4, 1, 2, kLongRanks, 1, 1);
    for (int i = 0; i < 4; ++i) {
        node.payload[static_cast<std::size_t>(i)] = 1U << 8 | static_cast<std::uint32_t>(i % 2);
        for (int l = 0; l < 4; ++l) node.key(i, l) = static_cast<std::uint32_t>(i << kLongRanks.shift | i);
    }
    node.class_total = {2, 2};
    node.total_moment = 2;
    for (const Kernels* kernels : both()) {
        LaneScan job = node.scan(1, 0);
        run(*kernels, node, job);
        CHECK(job.column == 0 && job.place == 0);
    }
}

TEST(a_constant_column_has_no_cut) {
    std::mt19937_64 random(5);
    for (const int classes : {0, 2, 4}) {
        const Case node = random_case(random, 50, 3, classes, kLongRanks, 1, 3);
        for (const Kernels* kernels : both()) {
            LaneScan job = node.scan(1, 0);
            run(*kernels, node, job);
            CHECK(job.column == -1 && job.score == -INFINITY);
        }
    }
}
