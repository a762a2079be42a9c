// Random linear combinations of columns (Forest-RC, Breiman 2001).
//
// Coefficients are uniform in [-1, 1] on standardised columns; a categorical column enters as the indicator of a random
// subset of its categories.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "forest.hpp"
#include "rng.hpp"
#include "table.hpp"

namespace conjunto {

class Combinations {
public:
    explicit Combinations(const Table& table) : table_(table) {}

    // Forgets everything, for a new tree.
    void clear() { sets_.clear(); }

    // A combination of `length` of the columns, which are shuffled on the way.
    std::vector<Term> draw(Philox& random, std::vector<std::uint32_t>& columns, std::size_t length) {
        std::vector<Term> terms;
        for (std::size_t j = 0; j < length; ++j) {
            std::swap(columns[j], columns[j + random.below(columns.size() - j)]);
            const Column& column = table_.column[columns[j]];
            Term term{(2 * random.uniform() - 1) * table_.scale(columns[j]), columns[j], -1};
            if (column.categorical()) {
                term.set = static_cast<std::int32_t>(sets_.size());
                for (std::size_t word = 0; word < words(columns[j]); ++word)
                    sets_.push_back(static_cast<std::uint32_t>(random.next()));
            }
            terms.push_back(term);
        }
        return terms;
    }

    // NaN where a value is missing.
    double value(const std::vector<Term>& terms, std::uint32_t row) const {
        double sum = 0;
        for (const Term& term : terms) {
            const std::uint32_t rank = table_.rank_of(row, term.column);
            if (rank == kMissing) return std::nan("");
            const double here = term.set < 0 ? table_.value(row, term.column)
                                             : static_cast<double>((sets_[term.set + rank / 32] >> (rank % 32)) & 1U);
            sum += term.coefficient * here;
        }
        return bounded(sum);
    }

    // Adds a combination to a forest; returns its number there.
    std::uint32_t store(const std::vector<Term>& terms, Forest& forest) const {
        for (Term term : terms) {
            if (term.set >= 0) {
                const auto first = sets_.begin() + term.set;
                term.set = static_cast<std::int32_t>(forest.sets.size());
                forest.sets.insert(forest.sets.end(), first, first + static_cast<std::ptrdiff_t>(words(term.column)));
            }
            forest.terms.push_back(term);
        }
        forest.term_start.push_back(static_cast<std::uint32_t>(forest.terms.size()));
        return static_cast<std::uint32_t>(forest.term_start.size() - 2);
    }

private:
    std::size_t words(std::uint32_t column) const { return (table_.column[column].categories + 31) / 32; }

    const Table& table_;
    std::vector<std::uint32_t> sets_;
};

}  // namespace conjunto
