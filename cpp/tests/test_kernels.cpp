// The plain and the vector kernels against each other and against the obvious algorithm.
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"

using namespace conjunto;

namespace {

constexpr std::uint32_t kCanary = 0xC0FFEE11U;

struct alignas(64) Keys {
    std::array<std::uint32_t, (kLaneRows + 8) * 8> data;
};

const std::array<const Kernels*, 2>& both() {
    static const std::array<const Kernels*, 2> kernels{&plain_kernels(), &best_kernels()};
    return kernels;
}

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

// Four columns sorted beforehand. Quarters: sums are exact in any order; otherwise weights and targets are any doubles.
struct SortedColumns {
    std::vector<std::uint32_t> keys[4];
    std::vector<double> weight, moment;
    double total = 0, total_moment = 0;

    SortedColumns(std::mt19937_64& random, std::size_t n, unsigned values, bool quarters) {
        auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
        for (std::size_t i = 0; i < n; ++i) {
            weight.push_back(quarters ? 0.25 * static_cast<double>(1 + random() % 16) : 1e-3 + uniform());
            moment.push_back(weight.back() * (quarters ? static_cast<double>(random() % 65) - 32 : uniform() - 0.5));
            total += weight.back();
            total_moment += moment.back();
        }
        for (std::vector<std::uint32_t>& column : keys) {
            std::vector<std::pair<unsigned, std::uint32_t>> entries;
            for (std::uint32_t row = 0; row < n; ++row) entries.emplace_back(random() % values, row);
            std::sort(entries.begin(), entries.end());
            for (std::size_t i = 0; i < n; ++i) {
                const bool apart = i + 1 < n && entries[i].first != entries[i + 1].first;
                column.push_back(entries[i].second | (apart ? PresortedScan::kApart : 0U));
            }
        }
    }

    PresortedScan scan(std::size_t min_rows, double min_weight) const {
        PresortedScan job{};
        for (std::size_t l = 0; l < 4; ++l) job.keys[l] = keys[l].data();
        job.first = min_rows - 1;
        job.end = weight.size() - min_rows;
        job.weight = weight.data();
        job.moment = moment.data();
        job.total = total;
        job.total_moment = total_moment;
        job.lightest = min_weight;
        job.heaviest = total - min_weight;
        job.needed = PresortedScan::bar(-INFINITY);
        return job;
    }

    // The score behind every element of a column, -infinity where no cut is allowed.
    std::vector<double> scores(const PresortedScan& job, std::size_t l) const {
        std::vector<double> out(weight.size(), -INFINITY);
        double left = 0, left_moment = 0;
        for (std::size_t i = 0; i + 1 < weight.size(); ++i) {
            const std::uint32_t row = keys[l][i] & (PresortedScan::kApart - 1);
            left += weight[row];
            left_moment += moment[row];
            if (!(keys[l][i] & PresortedScan::kApart) || i < job.first || i >= job.end) continue;
            if (left < job.lightest || left > job.heaviest) continue;
            out[i] = moment_score(left, left_moment, total, total_moment);
        }
        return out;
    }
};

// A column whose best cut reaches the best of all is told with the first of its best cuts; the others may be told with
// any cut of theirs, or with none.
void check_presorted(const SortedColumns& columns, const PresortedScan& start) {
    std::array<std::vector<double>, 4> scores;
    double best = -INFINITY;
    for (std::size_t l = 0; l < 4; ++l) {
        scores[l] = columns.scores(start, l);
        best = std::max(best, *std::max_element(scores[l].begin(), scores[l].end()));
    }
    std::array<PresortedScan, 2> jobs{start, start};
    for (std::size_t k = 0; k < 2; ++k) {
        both()[k]->scan_presorted(jobs[k]);
        for (std::size_t l = 0; l < 4; ++l) {
            const auto top = std::max_element(scores[l].begin(), scores[l].end());
            if (*top == best && best >= start.needed) CHECK(jobs[k].score[l] == best);
            if (jobs[k].score[l] == -INFINITY) continue;
            CHECK(jobs[k].score[l] == scores[l][jobs[k].place[l]]);
            if (*top == best) CHECK(jobs[k].place[l] == static_cast<std::size_t>(top - scores[l].begin()));
        }
    }
    for (std::size_t l = 0; l < 4; ++l) {
        CHECK(jobs[0].score[l] == jobs[1].score[l]);
        CHECK(jobs[0].score[l] == -INFINITY || jobs[0].place[l] == jobs[1].place[l]);
    }
    if (best == -INFINITY) return;
    // What ties with a known score is found; what falls short of it is not.
    for (const Kernels* kernels : both()) {
        PresortedScan job = start;
        job.needed = PresortedScan::bar(best);
        kernels->scan_presorted(job);
        for (std::size_t l = 0; l < 4; ++l) {
            const auto top = std::max_element(scores[l].begin(), scores[l].end());
            if (*top == best)
                CHECK(job.score[l] == best && job.place[l] == static_cast<std::size_t>(top - scores[l].begin()));
            else if (*top < best * (1 - 1e-9))
                CHECK(job.score[l] == -INFINITY);
        }
        job = start;
        job.needed = best > 0 ? best * (1 + 1e-9) : 1e-9;
        kernels->scan_presorted(job);
        for (const double score : job.score) CHECK(score == -INFINITY);
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

TEST(presorted_scans_find_the_best_cut_of_all) {
    std::mt19937_64 random(12);
    for (int round = 0; round < 2000; ++round) {
        const std::size_t n = 2 + random() % (round % 2 ? 20 : 600);
        const SortedColumns columns(random, n, random() % 2 ? 4 : 500, round % 4 < 2);
        const std::size_t min_rows = random() % 2 ? 1 : 1 + random() % (n / 2);
        const double min_weight = columns.total * (random() % 2 ? 1e-12 : static_cast<double>(random() % 10) / 20);
        check_presorted(columns, columns.scan(min_rows, min_weight));
    }
}

TEST(presorted_scans_of_one_column_are_exact) {
    std::mt19937_64 random(13);
    for (int round = 0; round < 300; ++round) {
        SortedColumns columns(random, 2 + random() % 100, 30, round % 2);
        for (std::size_t l = 1; l < 4; ++l) columns.keys[l] = columns.keys[0];
        const PresortedScan start = columns.scan(1, 0);
        const std::vector<double> scores = columns.scores(start, 0);
        const auto top = std::max_element(scores.begin(), scores.end());
        for (const Kernels* kernels : both()) {
            PresortedScan job = start;
            kernels->scan_presorted(job);
            for (std::size_t l = 0; l < 4; ++l) {
                CHECK(job.score[l] == *top);
                CHECK(*top == -INFINITY || job.place[l] == static_cast<std::size_t>(top - scores.begin()));
            }
        }
    }
}

TEST(of_equal_presorted_cuts_the_first_is_told) {
    std::mt19937_64 random(14);
    // Targets 0 1 0 1 by row. In row order the cuts behind the first and the third row are equal; in the last column
    // 1 0 1 0 the same.
    SortedColumns columns(random, 4, 1, true);
    columns.weight = {1, 1, 1, 1};
    columns.moment = {0, 1, 0, 1};
    columns.total = 4;
    columns.total_moment = 2;
    constexpr std::uint32_t kApart = PresortedScan::kApart;
    for (std::vector<std::uint32_t>& column : columns.keys) column = {0 | kApart, 1 | kApart, 2 | kApart, 3};
    columns.keys[3] = {3 | kApart, 2 | kApart, 1 | kApart, 0};
    for (const Kernels* kernels : both()) {
        PresortedScan job = columns.scan(1, 0);
        kernels->scan_presorted(job);
        for (std::size_t l = 0; l < 4; ++l) CHECK(job.place[l] == 0 && job.score[l] == moment_score(1, 0, 4, 2));
        // Two rows on each side leave the cut in the middle, which gains nothing and is allowed all the same.
        job = columns.scan(2, 0);
        kernels->scan_presorted(job);
        for (std::size_t l = 0; l < 4; ++l) CHECK(job.place[l] == 1 && job.score[l] == 0);
        // Where the first of the equal cuts is no cut the next one is told.
        SortedColumns joined = columns;
        joined.keys[0][0] = 0;
        job = joined.scan(1, 0);
        kernels->scan_presorted(job);
        CHECK(job.place[0] == 2 && job.place[1] == 0 && job.score[0] == job.score[1]);
    }
}

// The same with weights that no double holds: sums round, and the third cut may score higher by that alone.
TEST(presorted_cuts_that_differ_by_rounding_are_equal) {
    std::mt19937_64 random(16);
    constexpr std::uint32_t kApart = PresortedScan::kApart;
    int misleading = 0;
    for (int round = 0; round < 200; ++round) {
        SortedColumns columns(random, 4, 1, true);
        const double w = 0.1 + static_cast<double>(random() % 1000) / 999;
        columns.weight = {w, w, w, w};
        columns.moment = {0, w, 0, w};
        columns.total = w + w + w + w;
        columns.total_moment = w + w;
        for (std::vector<std::uint32_t>& column : columns.keys) column = {0 | kApart, 1 | kApart, 2 | kApart, 3};
        const std::vector<double> scores = columns.scores(columns.scan(1, 0), 0);
        misleading += scores[2] > scores[0];
        for (const Kernels* kernels : both()) {
            PresortedScan job = columns.scan(1, 0);
            kernels->scan_presorted(job);
            for (std::size_t l = 0; l < 4; ++l) CHECK(job.place[l] == 0 && job.score[l] == scores[0]);
        }
    }
    CHECK(misleading > 10);
}

TEST(constant_presorted_columns_have_no_cut) {
    std::mt19937_64 random(15);
    const SortedColumns columns(random, 50, 1, false);
    for (const Kernels* kernels : both()) {
        PresortedScan job = columns.scan(1, 0);
        kernels->scan_presorted(job);
        for (const double score : job.score) CHECK(score == -INFINITY);
    }
}

TEST(scan_bins_finds_the_best_edge_and_bounds_the_rest) {
    std::mt19937_64 random(6);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int32_t> counts(512, 0);
        const unsigned empty = static_cast<unsigned>(random() % 10), most = 1 + static_cast<unsigned>(random() % 50);
        double total = 0, ones = 0;
        for (std::size_t bin = 0; bin < 256; ++bin) {
            if (random() % 10 < empty) continue;
            for (std::size_t k = 0; k < 2; ++k) {
                counts[2 * bin + k] = static_cast<std::int32_t>(random() % (most + 1));
                total += counts[2 * bin + k];
            }
            ones += counts[2 * bin + 1];
        }
        double score = -INFINITY, left = 0, moment = 0, inside = -INFINITY;
        std::size_t edge = 256;
        for (std::size_t bin = 0; bin < 256; ++bin) {
            const int c0 = counts[2 * bin], c1 = counts[2 * bin + 1];
            if (c0 > 0 && c1 > 0) {
                // Any way from the one end of the bin to the other.
                for (int a = 0; a <= c0; ++a)
                    for (int b = 0; b <= c1; ++b)
                        if (const double l = left + a + b; l > left && l < left + c0 + c1)
                            inside = std::fmax(inside, moment_score(l, moment + b, total, ones));
            }
            left += c0 + c1;
            moment += c1;
            if (left <= 0 || left >= total || c0 + c1 == 0) continue;
            if (const double here = moment_score(left, moment, total, ones); here > score) {
                score = here;
                edge = bin;
            }
        }
        const std::array<double, 2> totals{total - ones, ones};
        const BinScan scan{counts.data(), 256, 2, nullptr, nullptr, totals.data(), total, 0, nullptr};
        const BinOutlook plain = plain_kernels().scan_bins(scan), best = best_kernels().scan_bins(scan);
        CHECK(plain.edge_score == best.edge_score && plain.reach == best.reach && plain.edge == best.edge);
        CHECK(plain.edge == edge && plain.edge_score == score);
        CHECK(plain.reach * (1 + 1e-12) >= inside || inside == -INFINITY);
    }
}

TEST(scan_bins_of_one_bin_has_no_edge) {
    std::vector<std::int32_t> counts(512, 0);
    counts[200] = 3;
    counts[201] = 4;
    for (const Kernels* kernels : both()) {
        const std::array<double, 2> totals{3, 4};
        const BinOutlook outlook = kernels->scan_bins({counts.data(), 256, 2, nullptr, nullptr, totals.data(), 7, 0, nullptr});
        CHECK(outlook.edge == 256 && outlook.edge_score == -INFINITY);
    }
}

// Any number of bins and classes, rows that lie left of all bins, bins without rows: against sums by hand. What a cut
// inside a bin scores is tried by moving its rows one by one in random orders.
TEST(scans_of_bins_agree_with_sums_by_hand) {
    std::mt19937_64 random(16);
    for (int round = 0; round < 400; ++round) {
        const auto bins = static_cast<std::size_t>(1 + random() % (round % 2 ? 12 : 256));
        const std::size_t classes = round % 4 == 0 ? 2 : 3 + random() % (round % 3 ? 7 : 120);
        const std::size_t stride = classes == 2 ? 2 : (classes + 3) / 4 * 4;
        const unsigned empty = static_cast<unsigned>(random() % 10);
        std::vector<std::int32_t> counts((bins + 3) / 4 * 4 * stride, 0), start(stride, 0);
        std::vector<std::uint8_t> present(256, 0);
        std::vector<double> totals(stride, 0.0), left(stride, 0.0), bounds(256, -INFINITY);
        double total = 0;
        auto put = [&](std::int32_t& cell, std::size_t k) {
            cell = random() % 3 ? 0 : static_cast<std::int32_t>(random() % 9);
            totals[k] += cell;
            total += cell;
            return cell > 0;
        };
        const bool starts = random() % 2;
        for (std::size_t k = 0; starts && k < classes; ++k) put(start[k], k);
        for (std::size_t bin = 0; bin < bins; ++bin)
            for (std::size_t k = 0; random() % 10 >= empty && k < classes; ++k) present[bin] |= put(counts[bin * stride + k], k);
        auto score = [&](const std::vector<double>& l) {
            double weight = 0, squares = 0, right_squares = 0;
            for (std::size_t k = 0; k < classes; ++k) {
                weight += l[k];
                squares += l[k] * l[k];
                right_squares += (totals[k] - l[k]) * (totals[k] - l[k]);
            }
            if (weight <= 0 || weight >= total) return -INFINITY + 0.0;
            return classes == 2 ? moment_score(weight, l[1], total, totals[1]) : gini_score(squares, right_squares, weight, total - weight);
        };
        double edge_score = -INFINITY, inside = -INFINITY;
        std::size_t edge = 256;
        std::vector<double> inside_of(256, -INFINITY);
        for (std::size_t k = 0; k < classes; ++k) left[k] = start[k];
        for (std::size_t bin = 0; bin < bins; ++bin) {
            std::vector<std::size_t> moving;
            for (std::size_t k = 0; k < classes; ++k) moving.insert(moving.end(), static_cast<std::size_t>(counts[bin * stride + k]), k);
            for (int order = 0; order < 3; ++order) {
                std::vector<double> here = left;
                if (order) std::shuffle(moving.begin(), moving.end(), random);
                for (std::size_t i = 0; i + 1 < moving.size(); ++i) {
                    ++here[moving[i]];
                    inside_of[bin] = std::fmax(inside_of[bin], score(here));
                }
            }
            inside = std::fmax(inside, inside_of[bin]);
            for (const std::size_t k : moving) ++left[k];
            if (const double at = score(left); !moving.empty() && at > edge_score) {
                edge_score = at;
                edge = bin;
            }
        }
        for (const Kernels* kernels : both())
            for (const bool flags : {false, true}) {
                BinScan scan{counts.data(), static_cast<int>(bins), static_cast<int>(stride), flags ? present.data() : nullptr,
                             starts ? start.data() : nullptr, totals.data(), total, 0, bounds.data()};
                const BinOutlook seen = classes == 2 ? kernels->scan_bins(scan) : kernels->scan_class_bins(scan);
                CHECK(seen.edge == edge && seen.edge_score == edge_score);
                if (classes > 2)
                    for (std::size_t bin = 0; bin < bins; ++bin) CHECK(inside_of[bin] <= bounds[bin] * (1 + 1e-12));
                if (classes > 2) CHECK(inside <= seen.reach * (1 + 1e-12));
                if (classes == 2) continue;
                scan.bound = nullptr;
                const BinOutlook short_of = kernels->scan_class_bins(scan);
                CHECK(short_of.edge == edge && short_of.edge_score == edge_score && short_of.reach == -INFINITY);
                // The same in real weights, which are exact here; and no cut where a side weighs too little.
                const std::vector<double> real(counts.begin(), counts.end()), real_start(start.begin(), start.end());
                RealBinScan weighed{real.data(), scan.bins, scan.stride, scan.present, starts ? real_start.data() : nullptr,
                                    totals.data(), total, 0, bounds.data()};
                const BinOutlook same = kernels->scan_real_class_bins(weighed);
                CHECK(same.edge == edge && same.edge_score == edge_score && same.reach == seen.reach);
                weighed.min_weight = std::floor(total / 3);
                const BinOutlook limited = kernels->scan_real_class_bins(weighed);
                double best = -INFINITY;
                std::vector<double> here(start.begin(), start.end());
                for (std::size_t bin = 0; bin < bins; ++bin) {
                    double weight = 0, moved = 0;
                    for (std::size_t k = 0; k < classes; ++k) {
                        moved += counts[bin * stride + k];
                        weight += here[k] += counts[bin * stride + k];
                    }
                    if (moved > 0 && weight >= weighed.min_weight && total - weight >= weighed.min_weight) best = std::fmax(best, score(here));
                }
                CHECK(limited.edge_score == best);
            }
    }
}

TEST(interleave_puts_lists_side_by_side) {
    std::mt19937_64 random(7);
    for (const int n : {1, 2, 7, 8, 9, 16, 100, 511, 512}) {
        // As in a list carried down a tree: the node starts anywhere, and behind it there is room for 7 more.
        std::vector<std::vector<std::uint32_t>> lists(8, std::vector<std::uint32_t>(static_cast<std::size_t>(n) + 10));
        std::array<const std::uint32_t*, 8> starts;
        for (std::size_t l = 0; l < 8; ++l) {
            for (std::uint32_t& element : lists[l]) element = static_cast<std::uint32_t>(random());
            starts[l] = lists[l].data() + 3;
        }
        for (const Kernels* kernels : both()) {
            Keys keys;
            keys.data.fill(kCanary);
            kernels->interleave(starts.data(), n, keys.data.data());
            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
                for (std::size_t l = 0; l < 8; ++l) CHECK(keys.data[i * 8 + l] == starts[l][i]);
            for (std::size_t i = static_cast<std::size_t>(n + 7) * 8; i < keys.data.size(); ++i)
                CHECK(keys.data[i] == kCanary);
        }
    }
}

TEST(partition_is_stable_and_stays_inside) {
    std::mt19937_64 random(8);
    for (int n = 0; n <= kLaneRows; n += n < 70 ? 1 : 13)
        for (const unsigned share : {0U, 1U, 4U, 7U, 8U}) {
            std::vector<std::uint32_t> rows(kLaneRows), side(kLaneRows / 32, 0U);
            for (std::uint32_t row = 0; row < kLaneRows; ++row) rows[row] = row;
            std::shuffle(rows.begin(), rows.end(), random);
            for (std::uint32_t row = 0; row < kLaneRows; ++row)
                side[row / 32] |= (random() % 8 < share ? 1U : 0U) << (row % 32);
            // Neighbours before and behind the segment belong to other nodes.
            const std::size_t before = 5, behind = 16, size = static_cast<std::size_t>(n);
            std::vector<std::uint32_t> start(before + size + behind, kCanary);
            for (std::size_t i = 0; i < size; ++i)
                start[before + i] = static_cast<std::uint32_t>(random() % 512) << kLists.shift |
                                    rows[i] << kLists.row_shift | static_cast<std::uint32_t>(random() % 0x4000);
            std::vector<std::uint32_t> expected = start;
            const auto first = expected.begin() + static_cast<std::ptrdiff_t>(before);
            std::stable_partition(first, first + n, [&](std::uint32_t element) {
                const std::uint32_t row = (element >> kLists.row_shift) & (kLaneRows - 1);
                return ((side[row / 32] >> (row % 32)) & 1U) != 0;
            });
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> list = start, spare(size + 7 + 9, kCanary);
                list.insert(list.end(), start.begin(), start.end());
                kernels->partition(list.data() + before, 2, start.size(), n, side.data(), spare.data());
                CHECK(std::equal(expected.begin(), expected.end(), list.begin()));
                CHECK(std::equal(expected.begin(), expected.end(), list.begin() + start.size()));
                for (std::size_t i = size + 7; i < spare.size(); ++i) CHECK(spare[i] == kCanary);
            }
        }
}

TEST(divide_is_stable_and_stays_inside) {
    std::mt19937_64 random(11);
    for (std::size_t n = 0; n < 200; ++n)
        for (const unsigned share : {0U, 1U, 4U, 8U}) {
            std::vector<std::uint8_t> side(n);
            std::vector<std::uint32_t> start(n + 16, kCanary), left, right;
            for (std::size_t i = 0; i < n; ++i) {
                side[i] = random() % 8 < share;
                start[i] = static_cast<std::uint32_t>(random());
                (side[i] ? left : right).push_back(start[i]);
            }
            std::vector<std::uint32_t> expected = left;
            expected.insert(expected.end(), right.begin(), right.end());
            expected.insert(expected.end(), 16, kCanary);
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> words = start, spare(n + 7 + 9, kCanary);
                kernels->divide(words.data(), n, side.data(), spare.data());
                CHECK(words == expected);
                for (std::size_t i = n + 7; i < spare.size(); ++i) CHECK(spare[i] == kCanary);
            }
        }
}

TEST(select_keeps_rows_with_a_payload) {
    std::mt19937_64 random(12);
    for (std::size_t n = 0; n <= kLaneRows; n += n < 40 ? 1 : 59)
        for (const unsigned share : {0U, 1U, 4U, 8U}) {
            std::vector<std::uint32_t> payload(n), sorted(n), expected;
            for (std::size_t row = 0; row < n; ++row)
                payload[row] = random() % 8 < share ? static_cast<std::uint32_t>(1 + random() % ((1U << kLists.row_shift) - 1)) : 0U;
            for (std::size_t i = 0; i < n; ++i) {
                const auto row = static_cast<std::uint32_t>(random() % n);
                sorted[i] = static_cast<std::uint32_t>(i) << kLists.shift | row << kLists.row_shift;
                if (payload[row]) expected.push_back(sorted[i] | payload[row]);
            }
            for (const Kernels* kernels : both()) {
                std::vector<std::uint32_t> list(n + 7 + 9, kCanary);
                kernels->select(sorted.data(), n, payload.data(), list.data());
                CHECK(std::equal(expected.begin(), expected.end(), list.begin()));
                for (std::size_t i = expected.size() + 8; i < list.size(); ++i) CHECK(list[i] == kCanary);
            }
        }
}

TEST(scan_subsets_lists_those_with_few_errors) {
    std::mt19937_64 random(10);
    for (int round = 0; round < 100; ++round) {
        SubsetScan scan{};
        std::vector<std::uint32_t> layers(1 + random() % 4);
        std::size_t width = 0;
        for (std::uint32_t& here : layers) width += here = static_cast<std::uint32_t>(1 + random() % 4);
        scan.entries = 1 + random() % 40;
        std::vector<ByteLanes> state(width), sums(width * scan.entries);
        // Sums of state and table stay within a byte; its extremes do occur.
        for (ByteLanes& vector : state)
            for (std::int8_t& byte : vector.lane) byte = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
        for (ByteLanes& vector : sums)
            for (std::int8_t& byte : vector.lane) byte = static_cast<std::int8_t>(static_cast<int>(random() % 128) - 64);
        scan.state = state.data();
        scan.sums = sums.data();
        scan.layers = layers.data();
        scan.blocks = layers.size();
        scan.first = random() % scan.entries;
        scan.end = scan.first + random() % (scan.entries - scan.first + 1);
        scan.limit = static_cast<std::uint32_t>(random() % (32 * layers.size()));
        std::vector<std::uint32_t> entries, counts;
        for (std::size_t entry = scan.first; entry < scan.end; ++entry) {
            std::uint32_t wrong = 0;
            std::size_t first = 0;
            for (const std::uint32_t here : layers) {
                for (std::size_t lane = 0; lane < 32; ++lane) {
                    bool negative = false;
                    for (std::size_t l = 0; l < here; ++l)
                        negative |= state[first + l].lane[lane] + sums[first * scan.entries + entry * here + l].lane[lane] < 0;
                    wrong += negative;
                }
                first += here;
            }
            if (wrong > scan.limit) continue;
            entries.push_back(static_cast<std::uint32_t>(entry));
            counts.push_back(wrong);
        }
        for (const Kernels* kernels : both()) {
            const std::size_t room = scan.end - scan.first;
            std::vector<std::uint32_t> entry(room + 1, kCanary), wrong(room + 1, kCanary);
            scan.entry = entry.data();
            scan.wrong = wrong.data();
            CHECK(kernels->scan_subsets(scan) == entries.size());
            CHECK(std::equal(entries.begin(), entries.end(), entry.begin()));
            CHECK(std::equal(counts.begin(), counts.end(), wrong.begin()));
            CHECK(entry[room] == kCanary && wrong[room] == kCanary);
        }
    }
}

TEST(evaluate_walks_the_tree) {
    std::mt19937_64 random(9);
    for (const std::size_t n_nodes : {0, 1, 2, 10, 200}) {
        const std::size_t features = 5;
        // A random tree: every new node takes the place of a leaf.
        std::vector<CodedNode> nodes(n_nodes);
        std::vector<std::uint32_t*> open;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            nodes[i].code = static_cast<std::uint16_t>(random() % 4 ? random() % 65535 : random() % 3);
            nodes[i].feature = static_cast<std::uint32_t>(random() % features);
            if (i > 0) {
                std::swap(open[random() % open.size()], open.back());
                *open.back() = static_cast<std::uint32_t>(i);
                open.pop_back();
            }
            open.push_back(&nodes[i].left);
            open.push_back(&nodes[i].right);
        }
        for (std::size_t leaf = 0; leaf < open.size(); ++leaf) *open[leaf] = static_cast<std::uint32_t>(n_nodes + leaf);
        struct alignas(64) Block {
            std::array<std::uint16_t, kBlockRows> data;
        };
        std::vector<Block> codes(features), start(2 * n_nodes + 1);
        for (Block& block : codes)
            for (std::uint16_t& code : block.data) code = static_cast<std::uint16_t>(random() >> (random() % 60));
        for (std::size_t leaf = n_nodes; leaf <= 2 * n_nodes; ++leaf)
            start[leaf].data.fill(static_cast<std::uint16_t>(random()));
        for (const Kernels* kernels : both()) {
            std::vector<Block> results = start;
            kernels->evaluate(nodes.data(), n_nodes, codes[0].data.data(), results[0].data.data());
            for (std::size_t row = 0; row < kBlockRows; ++row) {
                std::size_t at = 0;
                while (at < n_nodes)
                    at = codes[nodes[at].feature].data[row] > nodes[at].code ? nodes[at].right : nodes[at].left;
                CHECK(results[0].data[row] == start[at].data[row]);
            }
        }
    }
}

TEST(count_counts_labels) {
    std::mt19937_64 random(10);
    struct alignas(64) Block {
        std::array<std::uint16_t, kBlockRows> data{};
    };
    for (const std::size_t classes : {1, 2, 7, 16})
        for (const Kernels* kernels : both()) {
            std::vector<Block> counts(classes), expected(classes);
            for (int tree = 0; tree < 300; ++tree) {
                Block labels;
                for (std::size_t row = 0; row < kBlockRows; ++row) {
                    labels.data[row] = static_cast<std::uint16_t>(random() % classes);
                    ++expected[labels.data[row]].data[row];
                }
                kernels->count(labels.data.data(), classes, counts[0].data.data());
            }
            for (std::size_t k = 0; k < classes; ++k) CHECK(counts[k].data == expected[k].data);
        }
}
