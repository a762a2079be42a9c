// Columns sorted once for many stumps.
#include "both_kernels.hpp"

using namespace conjunto;

namespace {

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
