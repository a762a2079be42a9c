// The search for the split of a node: which columns are tried, and by which of the searches.
//
// All searches give the same answer; which one is used is a matter of speed:
//   categories                          search_category, at once
//   random cuts                         search_random, at once
//   the k best, asked for, constraints on values, or a criterion that other searches do not know
//                                       search_sorted, at once
//   most values are 0                   SparseSearch, at once
//   only the root is split              search_presorted (real weights)
//   small nodes                         search_lanes, or lists carried down the subtree where all columns are tried
//   large nodes, or few values          HistogramSearch
#pragma once

#include <memory>
#include <vector>

#include "grow.hpp"
#include "rng.hpp"
#include "sorted_lists.hpp"
#include "split_category.hpp"
#include "split_histogram.hpp"
#include "split_lanes.hpp"
#include "split_presorted.hpp"
#include "split_random.hpp"
#include "split_sorted.hpp"
#include "split_sparse.hpp"

namespace conjunto {

// Columns that a node may try: the first `size` of a list. Those that are constant in a node are so below it.
struct LiveColumns {
    std::shared_ptr<std::vector<std::uint32_t>> list;
    std::size_t size = 0;

    std::span<std::uint32_t> span() const { return {list->data(), size}; }
};

// The histograms of a node, of all numeric columns.
using KeptBins = std::shared_ptr<std::vector<std::int32_t>>;

template <class Tally>
class SplitSearch {
public:
    SplitSearch(const Table& table, const GrowOptions& options, const PresortedColumns* presorted, const Kernels& kernels,
                const NodeRows& node, const Limits& limits)
        : table_(table), options_(options), presorted_(presorted), kernels_(kernels), node_(node), limits_(limits), tally_(node),
          choice_(options.k_best), first_cell_(table.columns), kind_(table.columns), sparse_(table, node, limits, tally_) {
        for (std::size_t c = 0; c < table.columns; ++c)
            kind_[c] = {table.column[c].counted, table.column[c].categorical()};
    }

    // Begins a tree on these columns, whose rows weigh at most `most_weight` where weights are integers.
    void start(const LiveColumns& columns, bool integer, double most_weight) {
        all_columns_ = options_.max_features >= columns.size;
        plain_columns_.clear();
        binned_columns_.clear();
        cells_ = 0;
        for (const std::uint32_t column : columns.span()) {
            const Column& kind = table_.column[column];
            if (!kind.categorical() && binned_columns_.size() <= kHistogramColumns) {
                first_cell_[column] = cells_;
                cells_ += cells_of(kind);
                binned_columns_.push_back({column, 0});
            }
            if (!kind.categorical() && !kind.missing) plain_columns_.push_back(column);
        }
        // Columns of one kind are searched in the order in which they were drawn.
        const auto alike = [&](std::uint32_t c) {
            return !table_.column[c].categorical() && !table_.column[c].missing && !table_.column[c].counted;
        };
        choice_.set_out_of_order(!std::ranges::all_of(columns.span(), alike));
        // Lists pay where most columns are tried; best-first growth leaves a subtree before it is done.
        lists_worth_it_ = all_columns_ && options_.max_leaves == 0 && (!integer || most_weight <= kListWeight) &&
                          (Tally::kPlain || options_.classes <= kMaxLaneClasses);
        lists_.close();
        if (table_.sparse) sparse_.start(columns.span());
        // With integer counts the histograms of one child are the parent's less the other child's.
        keeps_bins_ = !Tally::kPlain && !limits_.monotone && all_columns_ && integer && options_.max_leaves == 0 &&
                      options_.k_best == 1 && options_.combination == 0 && options_.search != Search::sorted &&
                      !options_.random_cuts && !table_.sparse && !binned_columns_.empty() &&
                      binned_columns_.size() <= kHistogramColumns;
    }

    Tally& tally() { return tally_; }
    SortedLists& lists() { return lists_; }

    // Begins a node: nothing found, nothing tried.
    Choice& begin() {
        tally_.reset();
        choice_.clear();
        constant_places_.clear();
        drawn_ = 0;
        return choice_;
    }

    // Finds the best splits of the node; its rows begin at `begin` in the store. Columns that are drawn come to the front of
    // `live`, which may be another list afterwards. `bins` are the node's histograms if they are known; they are its own
    // afterwards, where such are kept.
    Choice& find(std::size_t begin, LiveColumns& live, Philox& random, KeptBins& bins) {
        this->begin();
        choose_searches(begin);
        if (!keeps(node_.n)) bins = nullptr;
        bins_ = &bins;
        // With all columns tried anyway, the first perfect cut ends the search. With a random subset it must not: how many
        // columns are drawn would depend on the search.
        const double perfect = options_.k_best > 1 || !all_columns_ ? INFINITY : tally_.perfect();
        // Where so many draws were not enough, most columns are constant, and those that are not are looked for. When that
        // is depends on draws alone, and not on the search.
        std::size_t pause = all_columns_ ? live.size : std::min(kPatience * options_.max_features, live.size);
        std::size_t tried = 0;
        while (drawn_ < live.size && (tried < options_.max_features || !choice_.found())) {
            if (drawn_ == pause) {
                live = drawn_and_varying(live);
                pause = live.size;
                continue;
            }
            const std::size_t wanted = tried < options_.max_features ? options_.max_features - tried : 1;
            tried += try_some(begin, live.span(), wanted, pause, random);
            if (choice_.found() && choice_.least() >= perfect) break;
        }
        return choice_;
    }

    // What is known of the histograms of two children: the smaller one is counted, the larger one is the rest.
    void pass_on(const KeptBins& bins, const NodeRows& smaller, std::size_t larger, KeptBins& of_smaller, KeptBins& of_larger) {
        if constexpr (!Tally::kPlain) {
            if (!bins || !keeps(larger)) return;
            KeptBins counted = std::make_shared<std::vector<std::int32_t>>(bins->size(), 0);
            count(smaller, *counted);
            for (std::size_t i = 0; i < bins->size(); ++i) (*bins)[i] -= (*counted)[i];
            of_larger = bins;
            if (keeps(smaller.n)) of_smaller = counted;
        }
    }

    // How many columns the last search tried: so many are in front.
    std::size_t drawn() const { return drawn_; }

    // What is left of the columns for the children of the node that was searched last.
    //
    // Drawn columns have no order to keep, and a subtree is finished before the next one begins: those that were constant
    // go behind the others, and nobody outside the subtree minds, as it has all of them. Where all columns are tried their
    // order decides between equal scores, and where the next node is anywhere lists must stay: there the rest is copied.
    LiveColumns left_of(const LiveColumns& columns) {
        if (constant_places_.empty()) return columns;
        if (!std::ranges::is_sorted(constant_places_)) std::ranges::sort(constant_places_);
        if (!all_columns_ && options_.max_leaves == 0) {
            std::size_t end = columns.size;
            for (std::size_t i = constant_places_.size(); i-- > 0;) std::swap((*columns.list)[constant_places_[i]], (*columns.list)[--end]);
            return {columns.list, end};
        }
        // Open nodes keep their lists: of many columns there must not be many.
        if (constant_places_.size() * (columns.size > kLongList ? kWorthCopyingLong : kWorthCopying) < columns.size) return columns;
        const auto left = std::make_shared<std::vector<std::uint32_t>>();
        left->reserve(columns.size - constant_places_.size());
        std::size_t next = 0;
        for (std::size_t place = 0; place < columns.size; ++place) {
            if (next < constant_places_.size() && constant_places_[next] == place)
                ++next;
            else
                left->push_back((*columns.list)[place]);
        }
        return {left, left->size()};
    }

private:
    // A list is copied for the sake of one column in so many.
    static constexpr std::size_t kWorthCopying = 32, kWorthCopyingLong = 6;
    static constexpr std::size_t kLongList = 4096;
    // Columns of few values are counted in nodes of at least so many rows, of fewer sorted.
    static constexpr std::size_t kCountedRows = 128;
    static constexpr std::size_t kRowsPerBin = 2;
    static constexpr std::size_t kPatience = 8;  // draws for each column that is to be tried
    // Losses that rows leave one by one gather rounding.
    static constexpr double kOrderedTolerance = 1e-10;

    bool small(std::size_t n) const { return n <= kLaneRows && table_.most_values < (1U << 23); }
    bool binnable(std::size_t n) const { return options_.classes * 64 <= n && options_.classes <= 256; }
    // Whether all numeric columns of a node of n rows are searched by bins that are worth keeping.
    bool keeps(std::size_t n) const { return keeps_bins_ && !small(n) && binnable(n); }

    void count(const NodeRows& node, std::vector<std::int32_t>& counts) const {
        std::array<std::size_t, kHistogramColumns> first;
        for (std::size_t j = 0; j < binned_columns_.size(); ++j) first[j] = first_cell_[binned_columns_[j].column];
        detail::add_counts<Tally>(node, table_, binned_columns_, first.data(), counts.data(), nullptr);
    }

    void search_bins(std::span<const LaneColumn> columns, bool* varies) {
        if (keeps(node_.n)) {
            if (!*bins_) {
                *bins_ = std::make_shared<std::vector<std::int32_t>>(cells_ * count_stride(node_.class_total.size()), 0);
                count(node_, **bins_);
            }
            for (std::size_t j = 0; j < columns.size(); ++j) kept_.first[j] = first_cell_[columns[j].column];
            kept_.kept = true;
            kept_.counts.swap(**bins_);
            HistogramSearch<Tally>(tally_, node_, limits_, table_, columns, kernels_, kept_).run(varies, choice_);
            kept_.counts.swap(**bins_);
            return;
        }
        HistogramSearch<Tally>(tally_, node_, limits_, table_, columns, kernels_, histogram_).run(varies, choice_);
    }

    void choose_searches(std::size_t begin) {
        // An order of all rows leaves nothing to be gained from most values being 0.
        by_entries_ = table_.sparse && options_.search != Search::sorted && !Tally::kOrdered;
        plainly_ = Tally::kPlain || limits_.monotone || options_.search == Search::sorted || options_.k_best > 1 || by_entries_;
        if (by_entries_) sparse_.enter(options_.max_features, options_.k_best > 1);
        by_presorted_ = !plainly_ && presorted_ && !node_.integer;
        by_lanes_ = !plainly_ && !by_presorted_ && small(node_.n);
        by_lists_ = by_lanes_ && lists_worth_it_ && !plain_columns_.empty() && has_kernel<Tally>(node_);
        // Plain searches take the order of rows from the same lists.
        by_order_ = plainly_ && !table_.sparse && options_.search != Search::sorted && !options_.random_cuts && small(node_.n) &&
                    lists_worth_it_ && !plain_columns_.empty();
        if ((by_lists_ || by_order_) && !lists_.holds(begin, begin + node_.n))
            lists_.open(node_, begin, table_, plain_columns_, kernels_, lanes_);
        if (by_order_) lists_.enter(begin, node_.n);
        if (by_presorted_) presorted_space_.number(node_, table_.rows);
        const bool rounds = by_presorted_ || (by_entries_ && options_.rounding_ties && !node_.integer);
        choice_.set_tolerance(Tally::kOrdered ? kOrderedTolerance : rounds ? PresortedScan::kTolerance : 0.0);
    }

    enum class Way { lanes, lists, bins, presorted };
    static constexpr std::size_t kWays = 4;

    // How a numeric column is searched; false where it is searched at once.
    bool way_of(const Column& column, Way& way) const {
        if (plainly_) return false;
        if (by_presorted_) {
            way = Way::presorted;
            return !column.missing && !std::is_same_v<Tally, EntropyTally>;
        }
        if (by_lists_ && !column.missing) {
            way = Way::lists;
            return true;
        }
        const bool counted = column.counted && node_.integer && !std::is_same_v<Tally, EntropyTally> && node_.n >= kCountedRows &&
                             node_.n >= kRowsPerBin * column.bins;
        if (by_lanes_ && !counted) {
            way = Way::lanes;
            return true;
        }
        way = Way::bins;
        return counted || binnable(node_.n);
    }

    struct Group {
        std::array<LaneColumn, kHistogramColumns> columns;
        std::size_t size = 0, lanes = 0;
    };

    // Draws and searches columns, no more than `wanted` that may vary and no more than `pause` in all; returns how many vary.
    std::size_t try_some(std::size_t begin, std::span<std::uint32_t> columns, std::size_t wanted, std::size_t pause, Philox& random) {
        std::size_t grouped = 0, varied = 0;
        for (Group& group : groups_) group.size = group.lanes = 0;
        bool full = false;
        while (drawn_ < pause && grouped + varied < wanted && !full) {
            if (!all_columns_) std::swap(columns[drawn_], columns[drawn_ + random.below(columns.size() - drawn_)]);
            const std::uint32_t column = columns[drawn_];
            const auto place = static_cast<std::uint32_t>(drawn_++);
            // Most of many columns have no entry in a small node: nothing else of them is looked at.
            if (by_entries_ && !sparse_.may_vary(column)) {
                note(place, false);
                continue;
            }
            const Kind kind = kind_[column];
            Way way;
            if (kind.counted && plainly_constant(column))
                note(place, false);
            else if (by_entries_)
                varied += note(place, search_entries(column, place, random));
            else if (options_.random_cuts)
                varied += note(place, search_random(tally_, node_, limits_, table_, column, place, random, random_space_, choice_));
            else if (kind.categorical)
                varied += note(place, search_category(tally_, node_, limits_, table_, column, place, category_, choice_));
            else if (way_of(table_.column[column], way)) {
                Group& group = groups_[static_cast<std::size_t>(way)];
                group.columns[group.size++] = {column, place};
                group.lanes += lanes_of(table_.column[column]);
                ++grouped;
                // The next column may take two lanes.
                full = way == Way::bins        ? group.size == kHistogramColumns
                       : way == Way::presorted ? group.size == kPresortedColumns
                                               : group.lanes > 6 + (way == Way::lists);
            } else if (by_presorted_)
                varied += note(place, search_presorted_column(tally_, node_, limits_, table_, {column, place}, *presorted_,
                                                               presorted_space_, choice_));
            else if (by_order_ && !table_.column[column].missing)
                varied += note(place, search_order(begin, column, place));
            else
                varied += note(place, search_sorted(tally_, node_, limits_, table_, column, place, sorted_, choice_));
        }
        if constexpr (!Tally::kPlain)
            for (std::size_t way = 0; way < kWays; ++way)
                if (groups_[way].size) varied += search(static_cast<Way>(way), begin, groups_[way]);
        return varied;
    }

    bool search_order(std::size_t begin, std::uint32_t column, std::uint32_t place) {
        sorted_.sorted.resize(node_.n);
        sorted_.step.resize(node_.n);
        if (!lists_.order(column, begin, node_.n, sorted_.sorted.data(), sorted_.step.data())) return false;
        search_ordered(tally_, node_, limits_, table_, column, place, sorted_, choice_);
        return true;
    }

    bool search_entries(std::uint32_t column, std::uint32_t place, Philox& random) {
        if constexpr (Tally::kOrdered) return false;
        else return options_.random_cuts ? sparse_.search_random(column, place, random, choice_) : sparse_.search(column, place, choice_);
    }

    std::size_t search(Way way, std::size_t begin, const Group& group) {
        const std::span<const LaneColumn> columns(group.columns.data(), group.size);
        std::array<bool, kHistogramColumns> varies;
        switch (way) {
            case Way::presorted:
                search_presorted<Tally>(node_, limits_, table_, columns, *presorted_, kernels_, presorted_space_, varies.data(),
                                        choice_);
                break;
            case Way::lists:
                lists_.template search<Tally>(node_, begin, limits_, table_, columns, kernels_, lanes_, varies.data(), choice_);
                break;
            case Way::lanes:
                search_lanes(tally_, node_, limits_, table_, columns, kernels_, lanes_, varies.data(), choice_);
                break;
            case Way::bins:
                search_bins(columns, varies.data());
                break;
        }
        std::size_t varied = 0;
        for (std::size_t j = 0; j < group.size; ++j) varied += note(columns[j].order, varies[j]);
        return varied;
    }

    // A list of the columns drawn so far, in their places, and of those others that vary, in ascending order.
    LiveColumns drawn_and_varying(const LiveColumns& columns) {
        const auto drawn = columns.span().first(drawn_);
        const auto list = std::make_shared<std::vector<std::uint32_t>>(drawn.begin(), drawn.end());
        if (by_entries_ && sparse_.knows_all())
            sparse_.append_varying(drawn, *list);
        else
            for (const std::uint32_t column : columns.span().subspan(drawn_))
                if (varies(column)) list->push_back(column);
        std::sort(list->begin() + static_cast<std::ptrdiff_t>(drawn_), list->end());
        return {list, list->size()};
    }

    bool varies(std::uint32_t column) {
        if (by_entries_) return sparse_.may_vary(column) && sparse_.varies(column);
        if (kind_[column].counted) return !plainly_constant(column);
        const std::uint32_t first = table_.rank_of(node_.row[0], column);
        for (std::size_t i = 1; i < node_.n; ++i)
            if (table_.rank_of(node_.row[i], column) != first) return true;
        return false;
    }

    // Whether all rows of the node have one value of a column whose bins are values.
    bool plainly_constant(std::uint32_t column) const {
        const Table::Bins bins = table_.bins_for(column, node_.n);
        const std::uint8_t first = bins[node_.row[0]];
        for (std::size_t i = 1; i < node_.n; ++i)
            if (bins[node_.row[i]] != first) return false;
        return true;
    }

    bool note(std::uint32_t place, bool varies) {
        if (!varies) constant_places_.push_back(place);
        return varies;
    }

    const Table& table_;
    const GrowOptions& options_;
    const PresortedColumns* presorted_;  // where the root is the only node to be split
    const Kernels& kernels_;
    const NodeRows& node_;
    const Limits& limits_;
    Tally tally_;
    Choice choice_;

    std::vector<std::uint32_t> plain_columns_;
    std::vector<LaneColumn> binned_columns_;  // numeric ones, as far as histograms are kept
    std::vector<std::size_t> first_cell_;     // by column, in histograms that are kept
    // By column, what a draw asks: in a small node looking further away takes longer than the search.
    struct Kind {
        bool counted, categorical;
    };
    std::vector<Kind> kind_;
    std::size_t cells_ = 0;
    bool all_columns_ = true, lists_worth_it_ = false, keeps_bins_ = false;
    KeptBins* bins_ = nullptr;

    bool plainly_ = false, by_entries_ = false, by_presorted_ = false, by_lanes_ = false, by_lists_ = false, by_order_ = false;
    std::array<Group, kWays> groups_;
    std::size_t drawn_ = 0;
    std::vector<std::uint32_t> constant_places_;  // among the columns drawn, of those that did not vary

    SortedSpace sorted_;
    RandomSpace random_space_;
    CategorySpace category_;
    PresortedSpace presorted_space_;
    LaneSpace lanes_;
    SortedLists lists_;
    HistogramSpace histogram_, kept_;
    SparseSearch<Tally> sparse_;
};

}  // namespace conjunto
