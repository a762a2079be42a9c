// The search of large nodes: exact cuts at the speed of a histogram.
//
// Cuts between bins are scored from the bin totals. Inside a bin the score is convex in what has moved
// left, so it is bounded by its value at the corners of the reachable region; only bins whose bound
// reaches the best score so far are sorted and searched cut by cut. The answer is the one of
// search_sorted.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "histogram.hpp"
#include "split.hpp"
#include "split_lanes.hpp"
#include "tally.hpp"

namespace conjunto {

namespace detail {

// How far the left moment can stray inside a bin, and the bound of a bin at an end of the column (real weights).
struct BinSpread {
    double inside = 0, end = 0;
};

// The totals of one bin in the tally's own terms; false if the bin is empty. `spread` bounds how far
// the left moment can stray inside the bin; `mixed` tells whether a cut inside can be the best at all.
template <class Tally>
bool bin_group(const NodeRows& node, const HistogramSpace& space, std::size_t slot,
               std::size_t bin, double* group, BinSpread& spread, bool& mixed) {
    const std::size_t classes = node.class_total.size();
    if constexpr (Tally::kClasses) {
        double sum = 0;
        int present = 0;
        const std::size_t cell = space.first[slot] + bin;
        for (std::size_t k = 0; k < classes; ++k) {
            const std::size_t at = cell * count_stride(classes) + k;
            group[k] = node.integer ? space.counts[at] : space.sums[at];
            sum += group[k];
            present += group[k] > 0;
        }
        mixed = present > 1;
        return sum > 0;
    } else if (node.integer) {
        const std::int32_t* count = space.counts.data() + (space.first[slot] + bin) * 2;
        group[0] = count[0] + count[1];
        group[1] = count[1];
        mixed = count[0] > 0 && count[1] > 0;
        return group[0] > 0;
    } else {
        const double* sum = space.sums.data() + (space.first[slot] + bin) * 3;
        group[0] = sum[0];
        group[1] = sum[1];
        // Half the absolute deviations, by Cauchy-Schwarz; the slack covers the rounding of the difference.
        const double squares = sum[0] * sum[2] - sum[1] * sum[1];
        spread.inside = 0.5 * std::sqrt(std::fmax(0.0, squares) + 1e-12 * sum[0] * sum[2]);
        spread.end = end_bound(sum, node.total, node.total_moment / node.total);
        mixed = sum[0] > 0;
        return sum[0] > 0;
    }
}

template <class Tally>
double bound_inside(const Tally& tally, const NodeRows& node, const double* group, const BinSpread& spread) {
    if constexpr (Tally::kClasses) {
        return tally.bound(group);
    } else {
        auto at = [&](double left, double moment) {
            return left > 0 && left < node.total ? moment_score(left, moment, node.total, node.total_moment) : -INFINITY;
        };
        const double left = tally.left(), moment = tally.moment(), size = group[0], part = group[1];
        if (node.integer) return std::fmax(at(left + size - part, moment), at(left + part, moment + part));
        if (!(left > 0) && !(left + size < node.total)) return INFINITY;
        if (!(left > 0)) return spread.end / (node.total - size);
        if (!(left + size < node.total)) return spread.end / left;
        const double stray = spread.inside;
        return std::fmax(std::fmax(at(left, moment - stray), at(left, moment + stray)),
                         std::fmax(at(left + size, moment + part - stray), at(left + size, moment + part + stray)));
    }
}

}  // namespace detail

// What the bins of one column tell. Where rows lack a value they are tried on both sides: right of all others, which is
// their place among the bins, and left of them (`missing_first`).
template <class Tally>
class BinnedColumn {
public:
    BinnedColumn(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, LaneColumn column,
                 HistogramSpace& space, std::size_t slot, bool missing_first)
        : tally_(tally), node_(node), limits_(limits), table_(table), kind_(table.column[column.column]), column_(column.column),
          order_(column.order), space_(space), bins_for_(table.bins_for(column.column, node.n)), missing_first_(missing_first),
          end_(kind_.bins - missing_first) {
        count_rows_ = limits.min_rows > 1;
        if (count_rows_) {
            space.rows.assign(kBins, 0);
            for (std::size_t i = 0; i < node.n; ++i) ++space.rows[bin_of(i)];
        }
        space.groups.resize(kBins * tally.width());
        for (std::size_t bin = 0; bin < kind_.bins; ++bin) {
            present_[bin] = detail::bin_group<Tally>(node, space, slot, bin, group(bin), spread_[bin], mixed_[bin]);
            if (!present_[bin]) continue;
            // In a bin of one class the edges are best, unless a limit forbids them.
            mixed_[bin] |= limits.min_rows > 1 || limits.min_weight > 0;
            if (kind_.counted || (kind_.missing && bin + 1 == kind_.bins)) mixed_[bin] = false;
            if (bin < end_) last_ = bin;
            ++bins_;
        }
    }

    // Whether the rows with a value are to be parted from those without one.
    bool anything_missing() const { return kind_.missing && present_[kind_.bins - 1]; }

    // Finds the best cut between bins, and how good one inside a bin may be.
    BinOutlook search_edges() {
        BinOutlook outlook;
        start();
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (mixed_[bin]) outlook.reach = std::max(outlook.reach, detail::bound_inside(tally_, node_, group(bin), spread_[bin]));
            pass(bin);
            if (bin == last_ || !allowed(rows_left_)) continue;
            if (const double score = tally_.score(); score > outlook.edge_score) {
                outlook.edge_score = score;
                outlook.edge = bin;
            }
        }
        return outlook;
    }

    // Offers the best cut of the column, given that cuts below `floor` do not matter. `bounds`, unless null, are bounds
    // by bin that are known already. True if the column varies.
    bool finish(double floor, const BinOutlook& outlook, const double* bounds, Choice& choice) {
        edge_score_ = outlook.edge_score;
        edge_ = outlook.edge;
        const bool refined = !kind_.counted && mark_bins(floor, bounds);
        bool varies = bins_ > 1;
        if (refined || (!kind_.counted && bins_ == 1 && !anything_missing())) varies |= search_inside();
        Split split;
        const bool inner = inner_score_ > edge_score_ || (inner_score_ == edge_score_ && inner_bin_ <= edge_);
        split.score = inner ? inner_score_ : edge_score_;
        split.order = order_;
        split.column = column_;
        split.missing_left = missing_first_;
        if (split.score == -INFINITY || split.score < floor || !choice.wants(split.score, order_)) return varies;
        if (inner)
            use_rows(inner_low_, inner_high_, split);
        else
            find_edge(split);
        choice.offer(split);
        return varies;
    }

private:
    double* group(std::size_t bin) { return space_.groups.data() + bin * tally_.width(); }
    std::uint8_t bin_of(std::size_t i) const { return bins_for_[node_.row[i]]; }
    std::uint32_t rank_of(std::size_t i) const { return table_.ranks_of(node_.row[i])[column_]; }
    bool allowed(std::size_t rows_left) const {
        if (count_rows_ && (rows_left < limits_.min_rows || node_.n - rows_left < limits_.min_rows)) return false;
        return tally_.left() >= limits_.min_weight && node_.total - tally_.left() >= limits_.min_weight;
    }

    // To the left of the first bin.
    void start() {
        tally_.clear();
        rows_left_ = 0;
        if (missing_first_) pass(kind_.bins - 1);
    }
    void pass(std::size_t bin) {
        tally_.add_group(group(bin));
        if (count_rows_) rows_left_ += space_.rows[bin];
    }

    // Marks the bins that may hide a cut at least as good as `floor` and the best edge.
    bool mark_bins(double floor, const double* bounds) {
        const double best = std::max(edge_score_, floor);
        bool any = false;
        start();
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (mixed_[bin] && !(bounds && bounds[bin] + 1e-9 * std::fabs(bounds[bin]) < best)) {
                const double bound = detail::bound_inside(tally_, node_, group(bin), spread_[bin]);
                refine_[bin] = bound + 1e-9 * std::fabs(bound) >= best;
                any |= refine_[bin];
            }
            pass(bin);
        }
        return any;
    }

    // Searches the marked bins cut by cut. True if more than one value was seen.
    bool search_inside() {
        if (space_.keys.size() < node_.n) space_.keys.resize(node_.n);
        std::size_t found = 0;
        if (bins_ == 1) refine_[last_] = true;
        for (std::size_t i = 0; i < node_.n; ++i) {
            space_.keys[found] = i;
            found += refine_[bin_of(i)];
        }
        const std::span<std::uint64_t> keys(space_.keys.data(), found);
        for (std::uint64_t& key : keys) key |= static_cast<std::uint64_t>(rank_of(key)) << 32;
        std::sort(keys.begin(), keys.end());
        auto rank_at = [&](std::size_t i) { return static_cast<std::uint32_t>(keys[i] >> 32); };
        auto bin_at = [&](std::size_t i) { return bin_of(static_cast<std::uint32_t>(keys[i])); };
        start();
        std::size_t at = 0;
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (!refine_[bin]) {
                pass(bin);
                continue;
            }
            std::size_t rows_left = rows_left_;
            for (; at < keys.size() && bin_at(at) == bin; ++at) {
                tally_.add(static_cast<std::uint32_t>(keys[at]));
                ++rows_left;
                const bool last = at + 1 == keys.size();
                if (last || rank_at(at + 1) == rank_at(at) || bin_at(at + 1) != bin || !allowed(rows_left)) continue;
                if (const double score = tally_.score(); score > inner_score_) {
                    inner_score_ = score;
                    inner_bin_ = bin;
                    inner_low_ = node_.row[static_cast<std::uint32_t>(keys[at])];
                    inner_high_ = node_.row[static_cast<std::uint32_t>(keys[at + 1])];
                }
            }
            rows_left_ = rows_left;
        }
        return rank_at(0) != rank_at(keys.size() - 1);
    }

    // The cut behind bin edge_: between its largest value and the smallest of the next bin that has rows.
    void find_edge(Split& split) const {
        std::size_t next = edge_ + 1;
        while (next < end_ && !present_[next]) ++next;
        const bool only_missing_right = kind_.missing && next + 1 == kind_.bins;
        if (kind_.counted) {
            split.low = static_cast<std::uint32_t>(edge_);
            split.high = only_missing_right ? kMissing : static_cast<std::uint32_t>(next);
            return;
        }
        std::uint32_t low = 0, high = kMissing, low_row = kMissing, high_row = kMissing;
        for (std::size_t i = 0; i < node_.n; ++i) {
            const std::size_t bin = bin_of(i);
            if (bin != edge_ && bin != next) continue;
            const std::uint32_t rank = rank_of(i);
            if (bin == edge_) {
                if (rank >= low) low_row = node_.row[i];
                low = std::max(low, rank);
            } else {
                if (rank <= high) high_row = node_.row[i];
                high = std::min(high, rank);
            }
        }
        use_rows(low_row, only_missing_right ? kMissing : high_row, split);
    }

    void use_rows(std::uint32_t low_row, std::uint32_t high_row, Split& split) const {
        split.low_row = low_row;
        split.high_row = high_row;
        split.low = table_.ranks_of(low_row)[column_];
        split.high = high_row == kMissing ? kMissing : table_.ranks_of(high_row)[column_];
    }

    Tally& tally_;
    const NodeRows& node_;
    const Limits& limits_;
    const Table& table_;
    const Column& kind_;
    std::uint32_t column_, order_;
    HistogramSpace& space_;
    const Table::Bins bins_for_;
    const bool missing_first_;
    const std::size_t end_;  // of the bins that are passed one after the other
    bool count_rows_ = false;
    std::array<bool, kBins> present_{}, mixed_{}, refine_{};
    std::array<detail::BinSpread, kBins> spread_{};
    std::size_t last_ = 0, bins_ = 0, edge_ = kBins, inner_bin_ = kBins, rows_left_ = 0;
    double edge_score_ = -INFINITY, inner_score_ = -INFINITY;
    std::uint32_t inner_low_ = 0, inner_high_ = 0;
};

// Tries every cut of up to kHistogramColumns numeric columns; `varies` receives which of them vary in the node. The edges
// of all columns are scored before any bin is refined: the better the best edge, the fewer bins.
template <class Tally>
class HistogramSearch {
public:
    HistogramSearch(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                    std::span<const LaneColumn> columns, const Kernels& kernels, HistogramSpace& space)
        : tally_(tally), node_(node), limits_(limits), table_(table), columns_(columns), kernels_(kernels), space_(space),
          stride_(count_stride(node.class_total.size())) {
        if (!space.kept) detail::fill_histograms(tally, node, table, columns, space);
        space.totals.assign(node.class_total.begin(), node.class_total.end());
        space.totals.resize(stride_, 0.0);
        if (space.bounds.size() < columns.size() * kBins) space.bounds.resize(columns.size() * kBins);
    }
    ~HistogramSearch() {
        if (space_.kept || !node_.integer) return;
        for (std::size_t j = 0; j < columns_.size(); ++j)
            detail::clear_counts(kind(j), j, stride_, !Tally::kClasses, space_);
    }
    HistogramSearch(const HistogramSearch&) = delete;
    HistogramSearch& operator=(const HistogramSearch&) = delete;

    void run(bool* varies, Choice& choice) {
        std::array<BinOutlook, kHistogramColumns> outlook, missing_first;
        double best = choice.least();
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            outlook[j] = look(j, false);
            best = std::max(best, outlook[j].edge_score);
            if (kind(j).missing) {
                missing_first[j] = look(j, true);
                best = std::max(best, missing_first[j].edge_score);
            }
        }
        for (std::size_t j = 0; j < columns_.size(); ++j) {
            varies[j] = finish(j, false, outlook[j], best, choice);
            if (kind(j).missing) varies[j] |= finish(j, true, missing_first[j], best, choice);
        }
    }

private:
    const Column& kind(std::size_t j) const { return table_.column[columns_[j].column]; }
    bool unlimited() const { return limits_.min_rows <= 1 && limits_.min_weight <= 0; }
    // Bounds by bin come from the scan of several classes alone.
    bool has_bounds(std::size_t j) const { return is_gini() && !kind(j).counted; }
    bool is_gini() const {
        return std::is_same_v<Tally, GiniTally> && node_.class_total.size() <= 256 && (node_.integer ? unlimited() : limits_.min_rows <= 1);
    }

    BinnedColumn<Tally> column(std::size_t j, bool missing_first) {
        return BinnedColumn<Tally>(tally_, node_, limits_, table_, columns_[j], space_, j, missing_first);
    }

    BinOutlook look(std::size_t j, bool missing_first) {
        const Column& kind = this->kind(j);
        const bool two_classes = !Tally::kClasses && node_.integer && unlimited();
        const bool moments = !Tally::kClasses && !node_.integer && limits_.min_rows <= 1;
        if (moments) return look_at_moments(kind, space_.first[j], missing_first);
        if (!two_classes && !is_gini()) {
            BinnedColumn<Tally> binned = column(j, missing_first);
            return missing_first && !binned.anything_missing() ? BinOutlook{} : binned.search_edges();
        }
        if (!node_.integer) return scan_classes(space_.sums.data(), kernels_.scan_real_class_bins, j, missing_first);
        return scan_classes(space_.counts.data(), two_classes ? kernels_.scan_bins : kernels_.scan_class_bins, j, missing_first);
    }

    template <class Count>
    BinOutlook scan_classes(const Count* cells, BinOutlook (*kernel)(const BinScanOf<Count>&), std::size_t j, bool missing_first) {
        const Column& kind = this->kind(j);
        const std::size_t cell = space_.first[j], missing = cell + kind.bins - 1, end = kind.bins - missing_first;
        BinScanOf<Count> scan{};
        scan.counts = cells + cell * stride_;
        scan.bins = static_cast<int>(end);
        scan.stride = static_cast<int>(stride_);
        scan.present = Tally::kClasses && node_.integer && !space_.kept ? space_.present.data() + j * kBins : nullptr;
        scan.start = missing_first ? cells + missing * stride_ : nullptr;
        scan.class_total = space_.totals.data();
        scan.total = node_.total;
        scan.min_weight = limits_.min_weight;
        scan.bound = has_bounds(j) ? space_.bounds.data() + j * kBins : nullptr;
        if (missing_first && std::all_of(scan.start, scan.start + stride_, [](Count count) { return count == 0; }))
            return {};
        return kernel(scan);
    }

    BinOutlook look_at_moments(const Column& kind, std::size_t cell, bool missing_first) {
        double* sums = space_.sums.data() + cell * 3;
        double* missing = sums + (kind.bins - 1) * 3;
        std::array<double, 3> start{};
        if (missing_first) {
            if (!(missing[0] > 0)) return {};
            std::copy_n(missing, 3, start.data());
            std::fill_n(missing, 3, 0.0);
        }
        const BinOutlook outlook = kernels_.scan_moment_bins(sums, static_cast<int>(cells_of(kind)), start.data(), node_.total,
                                                             node_.total_moment, limits_.min_weight);
        if (missing_first) std::copy_n(start.data(), 3, missing);
        return outlook;
    }

    bool finish(std::size_t j, bool missing_first, const BinOutlook& outlook, double& best, Choice& choice) {
        const bool counted = kind(j).counted, edge = outlook.edge < kBins;
        const double reach = counted ? -INFINITY : outlook.reach + 1e-9 * std::fabs(outlook.reach);
        // A cut between bins shows that the column varies; one with no hope is not looked at again.
        if (edge && outlook.edge_score < best && reach < best) return true;
        if (edge && counted && !choice.wants(outlook.edge_score, columns_[j].order)) return true;
        if (!edge && ((counted && unlimited()) || (missing_first && reach == -INFINITY))) return false;
        // The bounds of the other order were overwritten.
        const bool bounds = has_bounds(j) && (missing_first || !kind(j).missing);
        BinnedColumn<Tally> binned = column(j, missing_first);
        const bool varies = binned.finish(best, outlook, bounds ? space_.bounds.data() + j * kBins : nullptr, choice);
        best = std::max(best, choice.least());
        return varies;
    }

    Tally& tally_;
    const NodeRows& node_;
    const Limits& limits_;
    const Table& table_;
    std::span<const LaneColumn> columns_;
    const Kernels& kernels_;
    HistogramSpace& space_;
    const std::size_t stride_;
};

}  // namespace conjunto
