// Large nodes: the bins of a column.
#include "both_kernels.hpp"

using namespace conjunto;

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
