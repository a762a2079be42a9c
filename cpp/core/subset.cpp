// Equal votes, equal examples. For every example and every rival of its true class we keep a byte: votes for the truth
// less votes for the rival, less 1 where the rival wins ties. The example is right where none of its bytes is negative.
//
// What the 2^low subsets of the first `low` members add to these bytes is tabulated, sorted by size. The subsets of
// the other members are walked in Gray code, one member joining or leaving at a step, and the kernel adds the table to
// each.
// Examples come in the order of their margins, the hardest first: most subsets have more errors than the best one of
// their size after the first block of 32 examples or two, and nobody looks at the rest.
#include "subset.hpp"

#include <algorithm>
#include <numeric>

#include "parallel.hpp"

namespace conjunto {

namespace {

// The table should stay in the second level of the cache.
constexpr std::size_t kTableBytes = std::size_t{1} << 20;
constexpr std::size_t kLanes = sizeof(ByteLanes);

struct Example {
    std::size_t number;
    int margin;
    std::vector<std::int32_t> rivals;  // classes other than the true one that anybody votes for
};

class SubsetSearch {
public:
    SubsetSearch(const SubsetRequest& request, const Kernels& kernels) : request_(request), kernels_(kernels) {
        wanted_.assign(request.members + 1, 0);
        for (const std::uint32_t size : request.sizes) wanted_[size] = 1;
        const std::vector<Example> examples = changing_examples();
        fill_blocks(examples);
        choose_low();
        fill_table();
        if (abstentions_) fill_silence(examples);
    }

    void run(SubsetRecord& record) const {
        const std::size_t high = request_.members - low_, bits = std::min(high, request_.task_members);
        const std::size_t tasks = std::size_t{1} << (high - bits), threads = std::max<std::size_t>(1, request_.threads);
        std::vector<SubsetRecord> records(std::min(threads, tasks), record);
        parallel_for(tasks, threads, [&](std::size_t task, std::size_t worker) {
            if (worker == 0 && request_.pause) request_.pause();
            walk(task << bits, bits, records[worker]);
        });
        // Errors are exact here, so that the order in which workers found them is forgotten.
        for (const SubsetRecord& found : records) record.merge(found);
    }

private:
    const SubsetRequest& request_;
    const Kernels& kernels_;
    std::vector<std::uint8_t> wanted_;  // by size
    bool abstentions_ = false;
    std::uint32_t always_ = 0;          // examples that every subset gets wrong
    std::vector<std::uint32_t> layers_;  // by block
    std::size_t width_ = 0;              // vectors of a state
    std::vector<ByteLanes> start_;       // the state without members
    std::vector<ByteLanes> change_;      // (members, width): what each member adds
    std::size_t low_ = 0;
    std::vector<std::uint32_t> entry_members_, entry_start_;  // the low subsets, and by size the first of them
    std::vector<ByteLanes> sums_;
    // Bit sets of examples, where members abstain.
    std::size_t words_ = 0;
    std::vector<std::uint64_t> spoken_;  // (members, words): those the member votes on
    std::vector<std::uint64_t> counted_; // those that count as wrong while nobody votes on them

    std::int32_t label(std::size_t member, std::size_t example) const {
        return request_.labels[member * request_.examples + example];
    }

    // Without those that no subset gets wrong, or every one; the hardest first.
    std::vector<Example> changing_examples() {
        std::vector<Example> out;
        std::vector<int> votes(request_.classes);
        for (std::size_t i = 0; i < request_.examples; ++i) {
            std::fill(votes.begin(), votes.end(), 0);
            bool silence = false;
            for (std::size_t t = 0; t < request_.members; ++t) {
                if (label(t, i) >= 0) ++votes[static_cast<std::size_t>(label(t, i))];
                else silence = true;
            }
            abstentions_ |= silence;
            const std::int32_t truth = request_.truth[i];
            Example example{i, 0, {}};
            int most = 0;
            for (std::size_t k = 0; k < request_.classes; ++k)
                if (votes[k] > 0 && static_cast<std::int32_t>(k) != truth) {
                    example.rivals.push_back(static_cast<std::int32_t>(k));
                    most = std::max(most, votes[k]);
                }
            example.margin = votes[static_cast<std::size_t>(truth)] - most;
            if (example.rivals.empty()) continue;
            if (!silence && votes[static_cast<std::size_t>(truth)] == 0) ++always_;
            else out.push_back(std::move(example));
        }
        std::stable_sort(out.begin(), out.end(),
                         [](const Example& a, const Example& b) { return a.margin < b.margin; });
        return out;
    }

    // Lanes without an example, and layers without a rival, stay 0 and are right.
    void fill_blocks(const std::vector<Example>& examples) {
        layers_.assign(std::max<std::size_t>(1, (examples.size() + kLanes - 1) / kLanes), 1);
        for (std::size_t e = 0; e < examples.size(); ++e) {
            std::uint32_t& layers = layers_[e / kLanes];
            layers = std::max(layers, static_cast<std::uint32_t>(examples[e].rivals.size()));
        }
        width_ = std::accumulate(layers_.begin(), layers_.end(), std::size_t{0});
        start_.assign(width_, ByteLanes{});
        change_.assign(width_ * request_.members, ByteLanes{});
        std::size_t at = 0;
        for (std::size_t e = 0; e < examples.size(); ++e) {
            if (e > 0 && e % kLanes == 0) at += layers_[e / kLanes - 1];
            const std::size_t i = examples[e].number;
            const std::int32_t truth = request_.truth[i];
            for (std::size_t l = 0; l < examples[e].rivals.size(); ++l) {
                const std::int32_t rival = examples[e].rivals[l];
                start_[at + l].lane[e % kLanes] = rival < truth ? -1 : 0;
                for (std::size_t t = 0; t < request_.members; ++t)
                    change_[t * width_ + at + l].lane[e % kLanes] =
                        static_cast<std::int8_t>((label(t, i) == truth) - (label(t, i) == rival));
            }
        }
    }

    void choose_low() {
        low_ = std::min(request_.members, request_.low_members);
        while (low_ > 4 && (width_ * kLanes << low_) > kTableBytes) --low_;
    }

    void fill_table() {
        const std::size_t entries = std::size_t{1} << low_;
        entry_members_.resize(entries);
        std::iota(entry_members_.begin(), entry_members_.end(), 0U);
        std::stable_sort(entry_members_.begin(), entry_members_.end(),
                         [](std::uint32_t a, std::uint32_t b) { return std::popcount(a) < std::popcount(b); });
        entry_start_.assign(low_ + 2, 0);
        for (const std::uint32_t members : entry_members_)
            ++entry_start_[static_cast<std::size_t>(std::popcount(members)) + 1];
        std::partial_sum(entry_start_.begin(), entry_start_.end(), entry_start_.begin());
        sums_.assign(entries * width_, ByteLanes{});
        std::size_t first = 0;
        for (const std::uint32_t layers : layers_) {
            for (std::size_t entry = 0; entry < entries; ++entry)
                for (std::uint32_t rest = entry_members_[entry]; rest != 0; rest &= rest - 1)
                    add(&sums_[entries * first + entry * layers],
                        &change_[static_cast<std::size_t>(std::countr_zero(rest)) * width_ + first], layers, 1);
            first += layers;
        }
    }

    void fill_silence(const std::vector<Example>& examples) {
        words_ = (request_.examples + 63) / 64;
        spoken_.assign(words_ * request_.members, 0);
        counted_.assign(words_, 0);
        for (std::size_t t = 0; t < request_.members; ++t)
            for (std::size_t i = 0; i < request_.examples; ++i)
                spoken_[t * words_ + i / 64] |= static_cast<std::uint64_t>(label(t, i) >= 0) << (i % 64);
        for (const Example& example : examples)
            if (example.rivals[0] < request_.truth[example.number])
                counted_[example.number / 64] |= std::uint64_t{1} << (example.number % 64);
    }

    static void add(ByteLanes* to, const ByteLanes* what, std::size_t width, int sign) {
        std::int8_t* bytes = to->lane;
        const std::int8_t* others = what->lane;
        const std::size_t n = width * kLanes;
        if (sign > 0)
            for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::int8_t>(bytes[i] + others[i]);
        else
            for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::int8_t>(bytes[i] - others[i]);
    }

    // All subsets whose high members are those of `high` but for the lowest `bits`, which are walked.
    void walk(std::uint64_t high, std::size_t bits, SubsetRecord& record) const {
        std::vector<ByteLanes> state = start_;
        for (std::uint64_t rest = high; rest != 0; rest &= rest - 1) toggle(state, std::countr_zero(rest), 1);
        std::vector<std::uint32_t> entry(entry_members_.size()), wrong(entry_members_.size());
        SubsetScan scan{state.data(), sums_.data(), layers_.data(), layers_.size(), entry_members_.size(), 0, 0, 0,
                        entry.data(), wrong.data()};
        for (std::uint64_t step = 0;;) {
            visit(high, scan, record);
            if (++step == std::uint64_t{1} << bits) break;
            const int bit = std::countr_zero(step);
            high ^= std::uint64_t{1} << bit;
            toggle(state, bit, high >> bit & 1 ? 1 : -1);
        }
    }

    void toggle(std::vector<ByteLanes>& state, int bit, int sign) const {
        add(state.data(), &change_[(low_ + static_cast<std::size_t>(bit)) * width_], width_, sign);
    }

    void visit(std::uint64_t high, SubsetScan& scan, SubsetRecord& record) const {
        const auto before = static_cast<std::size_t>(std::popcount(high));
        std::size_t silent = 0;
        if (abstentions_)
            for (std::size_t word = 0; word < words_; ++word)
                silent += static_cast<std::size_t>(std::popcount(counted_[word] & ~heard(high << low_, word)));
        for (std::size_t more = 0; more <= low_; ++more) {
            const std::size_t size = before + more;
            if (!wanted_[size]) continue;
            // No subset covers more than all examples, and none hears less than its high members.
            const double n = static_cast<double>(request_.examples), best = record[size].error;
            const double limit = std::min(best, 1.0) * n * (1 + 1e-12) + static_cast<double>(silent) - always_;
            if (limit < 0) continue;
            scan.limit = static_cast<std::uint32_t>(limit);
            scan.first = entry_start_[more];
            scan.end = entry_start_[more + 1];
            const std::size_t found = kernels_.scan_subsets(scan);
            for (std::size_t f = 0; f < found; ++f) {
                const std::uint64_t members = high << low_ | entry_members_[scan.entry[f]];
                record.offer(size, error(members, scan.wrong[f]), members);
            }
        }
    }

    // Which examples of a word any of the members votes on.
    std::uint64_t heard(std::uint64_t members, std::size_t word) const {
        std::uint64_t out = 0;
        for (; members != 0; members &= members - 1)
            out |= spoken_[static_cast<std::size_t>(std::countr_zero(members)) * words_ + word];
        return out;
    }

    double error(std::uint64_t members, std::uint32_t negative) const {
        std::size_t wrong = negative + always_, covered = request_.examples;
        if (abstentions_) {
            covered = 0;
            for (std::size_t word = 0; word < words_; ++word) {
                const std::uint64_t here = heard(members, word);
                covered += static_cast<std::size_t>(std::popcount(here));
                wrong -= static_cast<std::size_t>(std::popcount(counted_[word] & ~here));
            }
        }
        return covered ? static_cast<double>(wrong) / static_cast<double>(covered)
                       : std::numeric_limits<double>::infinity();
    }
};

}  // namespace

std::vector<BestSubset> best_subsets(const SubsetRequest& request, const Kernels& kernels) {
    const bool counts = !request.scores && !request.weights && !request.sample_weight;
    // Sums of real weights in another order differ by less than this share of them.
    SubsetRecord record(request, counts ? 0.0 : 1e-10);
    if (counts) SubsetSearch(request, kernels).run(record);
    else search_subset_sums(request, record);
    std::vector<BestSubset> out;
    for (const std::uint32_t size : request.sizes) out.push_back(record[size]);
    return out;
}

}  // namespace conjunto
