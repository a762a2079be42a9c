// Subsets of members whose votes weigh differently, or are scores, or are counted on examples of different weight.
// Every subset is its predecessor and one member behind the last: the sums of each level are kept, so that every sum is
// added up in the order of the members and nothing is ever subtracted.
#include <algorithm>
#include <cmath>

#include "parallel.hpp"
#include "subset.hpp"

namespace conjunto {

namespace {

// A task is what follows from one subset of the first members.
constexpr std::size_t kTaskMembers = 8;
constexpr double kRounding = 1e-10;

struct Level {
    std::vector<double> sums;         // (examples, classes)
    std::vector<std::uint8_t> heard;  // (examples): whether anybody votes
};

class Descent {
public:
    Descent(const SubsetRequest& request, SubsetRecord& record)
        : request_(request), record_(record), wanted_(request.members + 1, 0) {
        for (const std::uint32_t size : request.sizes) wanted_[size] = 1;
        smallest_ = *std::min_element(request.sizes.begin(), request.sizes.end());
        largest_ = *std::max_element(request.sizes.begin(), request.sizes.end());
        levels_.push_back({std::vector<double>(request.examples * request.classes, 0.0),
                           std::vector<std::uint8_t>(request.examples, 0)});
        levels_.resize(largest_ + 1, levels_[0]);
    }

    // The subsets that have `members` of the first members, and any of the others.
    void run(std::uint64_t members, std::size_t first) {
        std::size_t size = 0;
        const auto in_all = static_cast<std::size_t>(std::popcount(members));
        if (in_all > largest_ || in_all + request_.members - first < smallest_) return;
        for (std::uint64_t rest = members; rest != 0; rest &= rest - 1)
            add(size++, static_cast<std::size_t>(std::countr_zero(rest)));
        visit(size, members, first);
    }

private:
    const SubsetRequest& request_;
    SubsetRecord& record_;
    std::vector<std::uint8_t> wanted_;  // by size
    std::size_t smallest_, largest_;
    std::vector<Level> levels_;  // by size

    void visit(std::size_t size, std::uint64_t members, std::size_t first) {
        if (wanted_[size]) record_.offer(size, error(levels_[size]), members);
        if (size == largest_) return;
        for (std::size_t t = first; t < request_.members && size + request_.members - t >= smallest_; ++t) {
            add(size, t);
            visit(size + 1, members | std::uint64_t{1} << t, t + 1);
        }
    }

    // The sums of the next level: member t joins.
    void add(std::size_t size, std::size_t t) {
        const Level& from = levels_[size];
        Level& to = levels_[size + 1];
        const std::size_t n = request_.examples, k = request_.classes;
        const double weight = request_.weights ? request_.weights[t] : 1.0;
        if (request_.scores) {
            const double* scores = request_.scores + t * n * k;
            for (std::size_t i = 0; i < n; ++i, scores += k) {
                const bool silent = std::any_of(scores, scores + k, [](double score) { return std::isnan(score); });
                for (std::size_t c = 0; c < k; ++c)
                    to.sums[i * k + c] = silent ? from.sums[i * k + c] : from.sums[i * k + c] + weight * scores[c];
                to.heard[i] = from.heard[i] | !silent;
            }
            return;
        }
        std::copy(from.sums.begin(), from.sums.end(), to.sums.begin());
        const std::int32_t* labels = request_.labels + t * n;
        for (std::size_t i = 0; i < n; ++i) {
            if (labels[i] >= 0) to.sums[i * k + static_cast<std::size_t>(labels[i])] += weight;
            to.heard[i] = from.heard[i] | (labels[i] >= 0);
        }
    }

    double error(const Level& level) const {
        double wrong = 0, covered = 0;
        for (std::size_t i = 0; i < request_.examples; ++i) {
            if (!level.heard[i]) continue;
            const double weight = request_.sample_weight ? request_.sample_weight[i] : 1.0;
            covered += weight;
            const double* sums = level.sums.data() + i * request_.classes;
            if (!right(sums, static_cast<std::size_t>(request_.truth[i]))) wrong += weight;
        }
        return covered > 0 ? wrong / covered : std::numeric_limits<double>::infinity();
    }

    // Whether the true class is the first whose sum is the largest, up to rounding.
    bool right(const double* sums, std::size_t truth) const {
        double most = sums[0], scale = 0;
        for (std::size_t c = 0; c < request_.classes; ++c) {
            most = std::max(most, sums[c]);
            scale = std::max(scale, std::abs(sums[c]));
        }
        const double enough = most - kRounding * scale;
        return sums[truth] >= enough && std::none_of(sums, sums + truth, [&](double sum) { return sum >= enough; });
    }
};

}  // namespace

void search_subset_sums(const SubsetRequest& request, SubsetRecord& record) {
    const std::size_t first = std::min(request.members, kTaskMembers), tasks = std::size_t{1} << first;
    // One record per task, merged in their order: which of two errors that rounding parts is kept does not depend on
    // threads.
    std::vector<SubsetRecord> records(tasks, record);
    parallel_for(tasks, std::max<std::size_t>(1, request.threads), [&](std::size_t task, std::size_t worker) {
        if (worker == 0 && request.pause) request.pause();
        Descent(request, records[task]).run(task, first);
    });
    for (const SubsetRecord& found : records) record.merge(found);
}

}  // namespace conjunto
