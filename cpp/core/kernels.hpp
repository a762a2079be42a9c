// The vector kernels: compiled twice from kernels.inl, once for the baseline of the platform and once
// for AVX2, and chosen at run time. Both give the same bits: counts are integers, every score is
// computed by the same operations in the same order, and contraction to fused operations is off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace conjunto {

// Rows of a node small enough to be sorted by the lane network; a local row number then fits 9 bits.
inline constexpr int kLaneRows = 512;
// Sorted lists are carried down a tree up to so many classes.
inline constexpr int kMaxLaneClasses = 8;
// The square of a node's weight must fit a 32-bit integer.
inline constexpr double kMaxLaneWeight = 46340;

// How a sorted element is packed: rank << shift | row << row_shift | payload, where the payload, if it is
// there, is weight << 8 | class.
struct Packing {
    int shift;
    int row_shift;
    std::uint32_t payload_mask;  // 0: look the payload up by row
};
// Node by node: the payload goes with the rank where ranks are short, else the row.
inline constexpr Packing kShortRanks{16, 0, 0xFFFFU};
inline constexpr Packing kLongRanks{9, 0, 0};
// Lists carried down the tree have both: ranks are local to at most 512 rows, weights below 64.
inline constexpr Packing kLists{23, 14, 0x3FFFU};
inline constexpr std::uint32_t kListWeight = 63;

// Up to eight sorted columns of one node, scanned together: element i of column l is keys[i * lanes + l],
// lanes = 4 or 8. Finds the best cut of all; of equal ones the lowest column's, of those the first.
struct LaneScan {
    const std::uint32_t* keys;
    int n;
    int columns;  // of the lanes; the others are padding
    Packing packing;
    const std::uint32_t* payload;  // by row, integer weights
    const double* weight;          // by row, real weights
    const double* moment;          // weight * target by row
    int classes;
    const double* class_total;
    double total;
    double total_moment;
    int min_rows;       // on each side
    double min_weight;  // on each side
    double score;       // in: cuts must beat this; out: best score
    int column;         // out: -1 if no cut does
    int place;          // out: the cut is between element place and place + 1
};

// Four columns whose rows were sorted beforehand, scanned in step: element i of column l is keys[l][i], a row and, in the
// highest bit, whether the next element has another value. Scores are compared without dividing, against `needed`, which
// must be a little below the best so far; candidates are then scored exactly. Scores that differ by rounding alone count
// as equal, and the first cut wins.
struct PresortedScan {
    static constexpr std::uint32_t kApart = 1U << 31;
    const std::uint32_t* keys[4];
    std::size_t first, end;  // cuts behind elements first .. end - 1
    const double* weight;
    const double* moment;
    double total, total_moment;
    double lightest, heaviest;  // weights of the left side
    double needed;
    double score[4];            // out: -infinity if no cut of the column reaches what was needed
    std::size_t place[4];       // out: the first of the best cuts is behind this element

    // Of a score; sums of weights in another order differ by less.
    static constexpr double kTolerance = 1e-12;
    // What a score has to reach so that none as good as `score` is lost.
    static double bar(double score) { return score > 0 ? score * (1 - 2 * kTolerance) : -1.0; }
};

// What the bins of a column promise: the best cut between bins, and a bound for cuts inside one.
struct BinOutlook {
    double edge_score = -std::numeric_limits<double>::infinity();
    double reach = -std::numeric_limits<double>::infinity();
    std::size_t edge = 256;  // the cut is behind this bin; kBins (256) if there is none
};

// The bins of one column in one node: counts is (bins, stride), the weight of rows by class. With two classes the
// stride is 2; with more it is a multiple of 4, and what lies behind the last class is 0, as in class_total.
template <class Count>
struct BinScanOf {
    const Count* counts;
    int bins;
    int stride;
    const std::uint8_t* present;   // (256): 1 where there are rows; null: not known
    const Count* start;            // (stride): what lies left of the first bin; null: nothing
    const double* class_total;     // (stride)
    double total;
    double min_weight;             // on each side; more than two classes only
    double* bound;                 // out, unless null: (256) at least what a cut inside a bin can score
};
using BinScan = BinScanOf<std::int32_t>;
using RealBinScan = BinScanOf<double>;

inline constexpr std::size_t kBlockRows = 64;

// A tree whose thresholds are codes: node i asks codes[feature * 64 + row] > code and takes the result
// row `right`, else `left`; results of leaves are stored behind those of the nodes.
struct CodedNode {
    std::uint16_t code;
    std::uint16_t pad;
    std::uint32_t feature;
    std::uint32_t left;
    std::uint32_t right;
};

struct alignas(32) ByteLanes {
    std::int8_t lane[32];
};

// Subsets of members that differ in their low members alone, `sums` being what each low subset adds to `state`. A block is
// 32 examples in one or more layers; an example is wrong where any of its layers is negative. Behind block b there are
// layers[b] vectors of the state, and entries * layers[b] vectors of the sums.
struct SubsetScan {
    const ByteLanes* state;
    const ByteLanes* sums;
    const std::uint32_t* layers;
    std::size_t blocks;       // at least one
    std::size_t entries;      // low subsets
    std::size_t first, end;   // those to look at
    std::uint32_t limit;
    std::uint32_t* entry;     // out: those wrong on at most `limit` examples, ascending; room for end - first
    std::uint32_t* wrong;     // out: on how many
};

struct Kernels {
    const char* name;
    // Index 0: 4 lanes, index 1: 8 lanes.
    void (*sort[2])(std::uint32_t* keys, int n);
    void (*scan_two_classes[2])(LaneScan&);  // integer weights, K = 2
    void (*scan_classes[2])(LaneScan&);      // integer weights, Gini, 3 <= K <= 255
    void (*scan_moments[2])(LaneScan&);      // real weights: variance, or Gini with K = 2
    void (*scan_presorted)(PresortedScan&);  // real weights: variance, or Gini with K = 2
    BinOutlook (*scan_bins)(const BinScan&);        // two classes
    BinOutlook (*scan_class_bins)(const BinScan&);  // Gini, 3 <= K <= 255
    BinOutlook (*scan_real_class_bins)(const RealBinScan&);  // the same, real weights, K <= 256
    // Real weights: (bins, 3), weight, moment, weight * target^2; bins is a multiple of 4, start (2) what lies left of them.
    BinOutlook (*scan_moment_bins)(const double* sums, int bins, const double* start, double total, double moment,
                                   double min_weight);
    // Stable partition of n words by side[i] (1 left, 0 right). Writes up to 7 words behind the n of `spare`.
    void (*divide)(std::uint32_t* words, std::size_t n, const std::uint8_t* side, std::uint32_t* spare);
    // The elements of a presorted column, in the packing kLists, whose row has a payload other than 0, with that payload
    // in their low bits. Writes up to 7 elements behind those of `list`.
    void (*select)(const std::uint32_t* sorted, std::size_t n, const std::uint32_t* payload, std::uint32_t* list);
    // Eight lists side by side: keys[i * 8 + l] = lists[l][i]. Reads and writes up to 7 elements more.
    void (*interleave)(const std::uint32_t* const* lists, int n, std::uint32_t* keys);
    // Stable partition of the first n elements of each list, in the packing kLists: a row goes left if its bit in `side`
    // (kLaneRows bits) is set. Writes up to 7 elements behind the n of `spare`.
    void (*partition)(std::uint32_t* lists, std::size_t count, std::size_t stride, int n, const std::uint32_t* side,
                      std::uint32_t* spare);
    void (*evaluate)(const CodedNode* nodes, std::size_t n_nodes, const std::uint16_t* codes, std::uint16_t* results);
    void (*count)(const std::uint16_t* labels, std::size_t classes, std::uint16_t* counts);
    // Bits set in both, and in one of both.
    std::size_t (*count_and)(const std::uint64_t* a, const std::uint64_t* b, std::size_t words);
    std::size_t (*count_xor)(const std::uint64_t* a, const std::uint64_t* b, std::size_t words);
    std::size_t (*scan_subsets)(const SubsetScan&);  // how many are listed
};

const Kernels& plain_kernels();
// The fastest set this processor runs.
const Kernels& best_kernels();

// The cut score of two classes or of a variance: n_left * mean_left^2 + n_right * mean_right^2 up to a
// constant and a factor, in closed form. Every search uses this one function.
inline double moment_score(double left, double left_moment, double total, double total_moment) {
    const double d = left_moment * total - left * total_moment;
    return d * d / (left * (total - left));
}

// (n - n_left) times a bound of moment_score over all cuts that move part of a first bin left (or right of a last one),
// by Cauchy-Schwarz from the bin's (weight, moment, weight * target^2).
inline double end_bound(const double* sum, double total, double mean) {
    const double squares = sum[2] - 2 * mean * sum[1] + mean * mean * sum[0];
    return total * total * ((squares > 0 ? squares : 0.0) + 1e-12 * (sum[2] + mean * mean * sum[0]));
}

// Gini: sum_k l_k^2 / n_left + sum_k r_k^2 / n_right.
inline double gini_score(double left_squares, double right_squares, double left, double right) {
    return (left_squares * right + right_squares * left) / (left * right);
}

}  // namespace conjunto
