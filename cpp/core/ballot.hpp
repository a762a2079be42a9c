// Votes as bits: who votes for what, one bit per example, and what is counted on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conjunto {

// What members say about examples. The caller has checked that labels are -1 (abstains) or codes below `classes`, that
// truth holds codes, and that weights are finite and not negative.
struct Ballots {
    const std::int32_t* labels;  // [member][example]: the class that the member is for, by itself
    const double* scores;        // [member][example][class]: what it adds to the classes; null: 1 to its label
    const std::int32_t* truth;
    const double* weights;   // of members; null: all equal
    const double* examples;  // weights of examples; null: all equal
    std::size_t members, n, classes;

    const std::int32_t* said(std::size_t member) const { return labels + member * n; }
    double weight(std::size_t member) const { return weights ? weights[member] : 1.0; }
    double worth(std::size_t i) const { return examples ? examples[i] : 1.0; }
};

// Values that differ by less than this share of their scale tie.
inline constexpr double kTie = 1e-10;

// Rows of bits, padded with zeros to whole words.
class Bits {
public:
    Bits(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_, 0) {}
    std::size_t words() const { return words_; }
    std::uint64_t* row(std::size_t r) { return bits_.data() + r * words_; }
    const std::uint64_t* row(std::size_t r) const { return bits_.data() + r * words_; }
    void set(std::size_t r, std::size_t i) { row(r)[i / 64] |= std::uint64_t{1} << (i % 64); }
    void clear() { bits_.assign(bits_.size(), 0); }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

// The votes of all members, by class, and what follows from them.
struct Planes {
    explicit Planes(const Ballots& ballots, bool by_class);

    Bits right, voted;  // [member]
    Bits votes;         // [member * classes + class]; empty unless asked for
    bool abstentions = false;
};

// The weight of the examples in both sets of bits; `examples` null: their number.
double weigh(const std::uint64_t* a, const std::uint64_t* b, std::size_t words, const double* examples);

// For each of the given rows the sum of values over its set bits. Eight bits at a time are looked up in a table of the 256
// possible sums, which is made once for all rows. The order of additions does not depend on the number of threads.
void bit_sums(const Bits& bits, const std::vector<std::uint32_t>& rows, const std::vector<double>& values,
              std::size_t threads, double* sums);

// The votes of a sub-ensemble, counted as members come and go.
class VoteCount {
public:
    explicit VoteCount(const Ballots& ballots);

    void add(std::size_t member);
    // Counts again what is left: taking sums of real weights apart would leave a rest.
    void recount(const std::vector<std::uint32_t>& members);

    bool silent(std::size_t i) const { return voters_[i] == 0; }
    const double* counts(std::size_t i) const { return counts_.data() + i * ballots_.classes; }
    // Whether the truth has most votes; a tie goes to the lowest class.
    bool right(std::size_t i) const { return !silent(i) && truth_wins(i, counts(i)); }
    // The same with one more member.
    bool right_with(std::size_t i, std::size_t member) const;

private:
    bool truth_wins(std::size_t i, const double* counts) const;

    const Ballots& ballots_;
    std::vector<double> counts_;
    std::vector<std::uint32_t> voters_;
};

// [row]: of `classes` counts each, the class of the largest one; ties, and differences of at most kTie times the largest
// absolute count of the row, go to the lowest class. NaN is no count: where there is nothing else, the class is 0.
void leaders(const double* counts, std::size_t rows, std::size_t classes, std::int64_t* out);

// [a * members + b]: the kappa statistic of two members over the examples on which both vote; 1 where chance alone would
// make them agree always, infinity where they have no example in common.
void kappa_statistics(const Ballots& ballots, std::size_t threads, double* kappas);

}  // namespace conjunto
