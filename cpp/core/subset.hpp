// The best subset of members of every size asked for, among all subsets of that size. A subset answers by plurality;
// its error is the share of wrong answers among the examples on which any of its members votes. Two ways to the same
// answer: subset.cpp counts equal votes with vectors of bytes, subset_sums.cpp adds up anything else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels.hpp"

namespace conjunto {

inline constexpr std::size_t kMaxSubsetMembers = 40;

struct SubsetRequest {
    std::size_t members = 0, examples = 0, classes = 0;
    const std::int32_t* labels = nullptr;    // (members, examples); -1 abstains
    const double* scores = nullptr;          // or: (members, examples, classes); NaN abstains
    const double* weights = nullptr;         // of members; null: equal
    const std::int32_t* truth = nullptr;     // (examples)
    const double* sample_weight = nullptr;   // (examples); null: equal
    std::vector<std::uint32_t> sizes;        // different ones, of 1 .. members
    std::vector<std::uint32_t> prefer;       // of subsets as good, one near the first members of this order; or empty
    std::size_t threads = 1;
    std::function<void()> pause;             // called by the calling thread now and then; may throw
    // How the work is cut up; the answer does not depend on it.
    std::size_t low_members = 10;   // their subsets are tabulated
    std::size_t task_members = 14;  // their subsets are walked in one task: some tens of milliseconds
};

struct BestSubset {
    double error = std::numeric_limits<double>::infinity();  // infinity: nobody votes on anything
    std::int64_t count = 0;                                  // subsets as good
    std::uint64_t members = 0;                               // bit t: member t
};

// One for every size of the request, in its order.
std::vector<BestSubset> best_subsets(const SubsetRequest& request, const Kernels& kernels = best_kernels());

// What a search knows of every size so far.
class SubsetRecord {
public:
    // Errors within this share of each other are equal.
    SubsetRecord(const SubsetRequest& request, double rounding)
        : rounding_(rounding), best_(request.members + 1), preferred_(request.members + 1, 0) {
        for (std::size_t size = 1; size <= request.prefer.size(); ++size)
            preferred_[size] = preferred_[size - 1] | std::uint64_t{1} << request.prefer[size - 1];
    }

    void offer(std::size_t size, double error, std::uint64_t members) { merge(size, {error, 1, members}); }

    void merge(const SubsetRecord& other) {
        for (std::size_t size = 1; size < best_.size(); ++size)
            if (other.best_[size].count > 0) merge(size, other.best_[size]);
    }

    const BestSubset& operator[](std::size_t size) const { return best_[size]; }

private:
    double rounding_;
    std::vector<BestSubset> best_;          // by size
    std::vector<std::uint64_t> preferred_;  // by size: the first members of the order

    void merge(std::size_t size, const BestSubset& other) {
        BestSubset& best = best_[size];
        if (best.count == 0 || other.error < best.error * (1 - rounding_)) {
            best = other;
        } else if (other.error <= best.error * (1 + rounding_)) {
            best.count += other.count;
            if (before(other.members, best.members, preferred_[size])) best.members = other.members;
        }
    }

    // More of the preferred members; then the first in lexicographic order: it has the lowest member that only one has.
    static bool before(std::uint64_t a, std::uint64_t b, std::uint64_t preferred) {
        const int more = std::popcount(a & preferred) - std::popcount(b & preferred);
        const std::uint64_t apart = a ^ b;
        return more != 0 ? more > 0 : (a & (apart & -apart)) != 0;
    }
};

// The other way, for weights of members or examples, and for scores.
void search_subset_sums(const SubsetRequest& request, SubsetRecord& record);

}  // namespace conjunto
