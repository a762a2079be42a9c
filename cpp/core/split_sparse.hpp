// The search of tables of which most values are 0: a column costs its entries in the node, not the rows of the node.
//
// Rows whose value is 0 are one group, which is what is left of the node when all others are counted. Where weights are
// whole numbers, and in small nodes, the answer is that of search_sorted, or of search_random, on the same table written
// out; in large nodes with real weights sums round in another order, and exact ties may fall otherwise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rng.hpp"
#include "split.hpp"
#include "split_random.hpp"
#include "tally.hpp"

namespace conjunto {

template <class Tally>
class SparseSearch {
public:
    SparseSearch(const Table& table, const NodeRows& node, const Limits& limits, Tally& tally)
        : table_(table), node_(node), limits_(limits), tally_(tally) {
        if (!table.sparse) return;
        local_.assign(table.rows, 0);
        count_.assign(table.columns, 0);
        behind_.assign(table.columns, 0);
        here_.assign(table.columns / 64 + 1, 0);
    }

    // Begins a tree on these columns.
    void start(std::span<const std::uint32_t> columns) {
        mine_.assign(table_.columns / 64 + 1, 0);
        for (const std::uint32_t c : columns) flip(mine_, c);
    }

    // Begins a node in which about so many columns will be tried; of each the best cut is wanted, or every cut.
    void enter(std::size_t tried, bool every_cut) {
        every_cut_ = every_cut;
        // As many as rows and columns have on average: counting them would take as long as what it decides.
        const auto entries = static_cast<double>(table_.sparse->rank.size());
        const double in_rows = entries / static_cast<double>(table_.rows) * static_cast<double>(node_.n);
        const double by_column = entries / static_cast<double>(table_.columns) + 1;
        // A node of most rows has most entries of every column, and gathered they would take as much memory again.
        by_rows_ = in_rows <= kWorthOfGathering * by_column * static_cast<double>(std::min(tried, table_.columns)) &&
                   node_.n <= table_.rows / kMostGathered;
        if (by_rows_)
            gather();
        else
            number_rows();
    }

    // Whether a column has an entry in the node, where that is known at a glance.
    bool may_vary(std::uint32_t column) const { return !by_rows_ || is_set(here_, column); }

    bool varies(std::uint32_t column) { return read(column); }

    // Whether all columns with an entry in the node are known.
    bool knows_all() const { return by_rows_; }
    // Those of them that vary and are among the tree's columns, but for the ones already drawn.
    void append_varying(std::span<const std::uint32_t> drawn, std::vector<std::uint32_t>& list) {
        for (const std::uint32_t c : drawn) flip(mine_, c);
        for (const std::uint32_t c : touched_)
            if (is_set(mine_, c) && read(c)) list.push_back(c);
        for (const std::uint32_t c : drawn) flip(mine_, c);
    }

    // Tries every cut of a column; false if it is constant in the node.
    bool search(std::uint32_t column, std::uint32_t order, Choice& choice) {
        if (!read(column)) return false;
        const bool all = every_cut_ || one_by_one();
        for (const bool missing_left : {false, true})
            if (!missing_left || !missing_.empty())
                all ? offer_cuts(column, order, missing_left, choice) : offer_best(column, order, missing_left, choice);
        return true;
    }

    // Tries one random cut, drawn as search_random draws it.
    bool search_random(std::uint32_t column, std::uint32_t order, Philox& random, Choice& choice) {
        if (!read(column)) return false;
        const std::size_t last = items_ - 1;
        Split split;
        split.order = order;
        split.column = column;
        if (rank_at(0) == rank_at(last)) {
            split.low = rank_at(0);
            split.high = kMissing;
            offer_side(split, items_, choice);
            return true;
        }
        split.drawn = true;
        split.threshold = draw_between(value_at(0, column), value_at(last, column), random);
        split.missing_left = !missing_.empty() && random.below(2) == 1;
        std::size_t left = 0;
        while (value_at(left, column) <= split.threshold) ++left;
        split.low = rank_at(left - 1);
        split.high = rank_at(left);
        offer_side(split, left, choice);
        return true;
    }

private:
    // Entries are gathered by rows where there are at most so many times those of the columns that will be tried.
    static constexpr double kWorthOfGathering = 4;
    static constexpr std::size_t kMostGathered = 3;  // of so many rows one may be gathered

    static bool is_set(const std::vector<std::uint64_t>& bits, std::uint32_t c) { return ((bits[c / 64] >> (c % 64)) & 1U) != 0; }
    static void flip(std::vector<std::uint64_t>& bits, std::uint32_t c) { bits[c / 64] ^= std::uint64_t{1} << (c % 64); }

    // All entries of the node, by column.
    void gather() {
        const SparseTable& sparse = *table_.sparse;
        const SparseRows& rows = sparse.by_row;
        for (const std::uint32_t c : touched_) {
            count_[c] = 0;
            here_[c / 64] = 0;
        }
        touched_.clear();
        auto each = [&](auto&& body) {
            for (std::size_t i = 0; i < node_.n; ++i)
                for (std::size_t entry = rows.first(node_.row[i]); entry < rows.end(node_.row[i]); ++entry)
                    body(static_cast<std::uint32_t>(rows.column[entry]), entry, i);
        };
        each([&](std::uint32_t c, std::size_t, std::size_t) {
            if (count_[c]++ > 0) return;
            touched_.push_back(c);
            flip(here_, c);
        });
        std::uint32_t at = 0;
        for (const std::uint32_t c : touched_) {
            behind_[c] = at;
            at += count_[c];
        }
        entry_.resize(at);
        each([&](std::uint32_t c, std::size_t entry, std::size_t i) { entry_[behind_[c]++] = key(sparse.rank[entry], i); });
    }

    // The place of every row in the node, with a number of the node: rows of other nodes have another one.
    void number_rows() {
        ++visit_;
        for (std::size_t i = 0; i < node_.n; ++i) local_[node_.row[i]] = visit_ << 32 | i;
    }

    static std::uint64_t key(std::uint32_t rank, std::size_t i) { return static_cast<std::uint64_t>(rank) << 32 | i; }

    // Reads the entries of a column in the node, sorted by value; false if the column is constant there.
    bool read(std::uint32_t column) {
        const SparseTable& sparse = *table_.sparse;
        const std::uint32_t zero = sparse.zero[column];
        keys_.clear();
        missing_.clear();
        auto take = [&](std::uint64_t entry) {
            const auto rank = static_cast<std::uint32_t>(entry >> 32);
            if (rank == kMissing)
                missing_.push_back(static_cast<std::uint32_t>(entry));
            else if (rank != zero)
                keys_.push_back(entry);
        };
        if (by_rows_) {
            for (std::uint32_t e = behind_[column] - count_[column]; e < behind_[column]; ++e) take(entry_[e]);
        } else {
            for (std::uint32_t e = sparse.column_start[column]; e < sparse.column_start[column + 1]; ++e)
                if (const std::uint64_t at = local_[sparse.column_row[e]]; at >> 32 == visit_)
                    take(key(sparse.column_rank[e], static_cast<std::uint32_t>(at)));
        }
        zeros_ = node_.n - keys_.size() - missing_.size();
        items_ = keys_.size() + (zeros_ > 0);
        if (items_ == 0 || (keys_.empty() && missing_.empty())) return false;
        std::sort(keys_.begin(), keys_.end());
        block_ = static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key(zero, 0)) - keys_.begin());
        zero_ = zero;
        if (rank_at(0) == rank_at(items_ - 1) && missing_.empty()) return false;
        return true;
    }

    // What the rows of value 0 weigh: what the others leave.
    void weigh_zeros() {
        if (moves_rows()) {
            entered_.assign(node_.n, 0);
            for (const std::uint64_t entry : keys_) entered_[static_cast<std::uint32_t>(entry)] = 1;
            for (const std::uint32_t i : missing_) entered_[i] = 1;
            return;
        }
        if constexpr (Tally::kGroups) weigh_group();
    }
    void weigh_group() {
        group_.resize(tally_.width());
        auto take_away = [&](std::size_t i) {
            if constexpr (Tally::kClasses) {
                group_[node_.label_of(i)] -= node_.weight_of(i);
            } else {
                group_[0] -= node_.weight_of(i);
                group_[1] -= node_.moment_of(i);
            }
        };
        if constexpr (Tally::kClasses) {
            std::copy_n(node_.class_total.begin(), group_.size(), group_.begin());
        } else {
            group_[0] = node_.total;
            group_[1] = node_.total_moment;
        }
        for (const std::uint64_t entry : keys_) take_away(static_cast<std::uint32_t>(entry));
        for (const std::uint32_t i : missing_) take_away(i);
    }

    // Items in ascending order of value: the entries, and the rows of value 0 as one of them.
    bool is_block(std::size_t item) const { return zeros_ > 0 && item == block_; }
    std::uint64_t key_at(std::size_t item) const { return keys_[item - (zeros_ > 0 && item > block_)]; }
    std::uint32_t rank_at(std::size_t item) const { return is_block(item) ? zero_ : static_cast<std::uint32_t>(key_at(item) >> 32); }
    double value_at(std::size_t item, std::uint32_t column) const {
        return is_block(item) ? 0.0 : table_.value(node_.row[static_cast<std::uint32_t>(key_at(item))], column);
    }
    // Moves an item to the left; how many rows it is.
    std::size_t move(std::size_t item) {
        if (!is_block(item)) {
            tally_.add(static_cast<std::uint32_t>(key_at(item)));
            return 1;
        }
        if (moves_rows()) {
            for (std::size_t i = 0; i < node_.n; ++i)
                if (!entered_[i]) tally_.add(i);
        } else if constexpr (Tally::kGroups) {
            tally_.add_group(group_.data());
        }
        return zeros_;
    }
    // Real weights of small nodes are added in the order in which other searches add them: sums that differ by rounding
    // would decide between columns that part the rows alike.
    bool one_by_one() const { return !node_.integer && node_.n <= static_cast<std::size_t>(kLaneRows); }
    // The same where zeros are no group to the tally.
    bool moves_rows() const { return !Tally::kGroups || one_by_one(); }
    std::size_t start(bool missing_left) {
        tally_.clear();
        if (!missing_left) return 0;
        for (const std::uint32_t i : missing_) tally_.add(i);
        return missing_.size();
    }

    void offer_cuts(std::uint32_t column, std::uint32_t order, bool missing_left, Choice& choice) {
        if (zeros_ > 0) weigh_zeros();
        std::size_t rows_left = start(missing_left);
        for (std::size_t item = 0; item < items_; ++item) {
            rows_left += move(item);
            const bool last = item + 1 == items_;
            if (last ? missing_left || missing_.empty() : rank_at(item) == rank_at(item + 1)) continue;
            if (!limits_.admit(tally_, rows_left, node_.n, node_.total, column)) continue;
            const double score = tally_.score();
            if (choice.wants(score, order)) choice.offer(cut_behind(item, column, order, missing_left, score));
        }
    }

    Split cut_behind(std::size_t item, std::uint32_t column, std::uint32_t order, bool missing_left, double score) const {
        const bool last = item + 1 == items_;
        Split split;
        split.score = score;
        split.order = order;
        split.column = column;
        split.missing_left = missing_left;
        split.low = rank_at(item);
        split.high = last ? kMissing : rank_at(item + 1);
        split.drawn = !last;
        if (!last) split.threshold = midpoint(value_at(item, column), value_at(item + 1, column));
        return split;
    }

    // The same, but for the best cut alone, and without touching the rows of value 0: entries above them leave a full left
    // side, from the largest on, and those below come to an empty one. Of equal cuts the lowest wins.
    void offer_best(std::uint32_t column, std::uint32_t order, bool missing_left, Choice& choice) {
        double best = -INFINITY;
        std::size_t place = 0;
        const auto consider = [&](std::size_t item, std::size_t rows_left, bool lower) {
            if (!limits_.admit(tally_, rows_left, node_.n, node_.total, column)) return;
            if (const double score = tally_.score(); score > best || (lower && score == best)) {
                best = score;
                place = item;
            }
        };
        const std::size_t above = zeros_ > 0 ? block_ : 0;
        std::size_t rows_left = node_.n;
        tally_.fill();
        if (!missing_left && !missing_.empty()) {
            for (const std::uint32_t i : missing_) tally_.remove(i);
            rows_left -= missing_.size();
            consider(items_ - 1, rows_left, true);
        }
        for (std::size_t item = items_ - 1; item > above; --item) {
            tally_.remove(static_cast<std::uint32_t>(key_at(item)));
            --rows_left;
            if (rank_at(item - 1) != rank_at(item)) consider(item - 1, rows_left, true);
        }
        if (above > 0) {
            rows_left = start(missing_left);
            const double high = best;
            best = -INFINITY;
            const std::size_t high_place = place;
            for (std::size_t item = 0; item < above; ++item) {
                rows_left += move(item);
                if (rank_at(item) != rank_at(item + 1)) consider(item, rows_left, false);
            }
            if (high > best) {
                best = high;
                place = high_place;
            }
        }
        if (best > -INFINITY && choice.wants(best, order)) choice.offer(cut_behind(place, column, order, missing_left, best));
    }

    // Offers the cut that has the first `left` items on the left.
    void offer_side(Split& split, std::size_t left, Choice& choice) {
        if (zeros_ > 0) weigh_zeros();
        std::size_t rows_left = start(split.missing_left);
        for (std::size_t item = 0; item < left; ++item) rows_left += move(item);
        if (!limits_.admit(tally_, rows_left, node_.n, node_.total, split.column)) return;
        split.score = tally_.score();
        choice.offer(split);
    }

    const Table& table_;
    const NodeRows& node_;
    const Limits& limits_;
    Tally& tally_;

    bool by_rows_ = false, every_cut_ = false;
    std::uint64_t visit_ = 0;
    std::vector<std::uint64_t> local_;               // by row: the number of the visit, and the place in its node
    std::vector<std::uint32_t> count_, behind_;      // by column: its entries in the node, and their end in entry_
    std::vector<std::uint32_t> touched_;             // columns that have any
    std::vector<std::uint64_t> here_, mine_;         // by column: a bit for those, and for the columns of the tree
    std::vector<std::uint64_t> entry_;

    // One column.
    std::vector<std::uint64_t> keys_;                // values other than 0, by rank and then by row
    std::vector<std::uint32_t> missing_;
    std::size_t zeros_ = 0, items_ = 0, block_ = 0;  // rows of value 0; items; the place of the zeros among them
    std::uint32_t zero_ = 0;
    std::vector<double> group_;           // what they weigh
    std::vector<std::uint8_t> entered_;   // by row of the node: whether it has an entry
};

}  // namespace conjunto
