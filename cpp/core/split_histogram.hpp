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

#include "split.hpp"
#include "split_lanes.hpp"
#include "tally.hpp"

namespace conjunto {

struct HistogramSpace {
    std::vector<std::int32_t> counts;  // integer weights: (column, bin, class)
    bool filled = false;               // counts are there already
    std::vector<double> sums;          // real weights: (column, bin, width)
    std::vector<std::uint32_t> rows;   // (bin), only where rows must be counted
    std::vector<double> squares;       // by row: weight * target^2
    std::vector<double> groups;        // one column: (bin, tally width)
    std::vector<std::uint64_t> keys;
};

inline constexpr std::size_t kHistogramColumns = 32;

namespace detail {

// Calls body(i, slot, bin) for the node's rows, N columns in one pass.
template <std::size_t N, class Body>
void each_bin_of(const NodeRows& node, const Table& table, const LaneColumn* columns, std::size_t slot, Body&& body) {
    std::array<const std::uint8_t*, N> bins;
    for (std::size_t j = 0; j < N; ++j) bins[j] = table.bins_of(columns[j].column);
    const std::uint32_t* rows = node.row;
    for (std::size_t i = 0; i < node.n; ++i)
        for (std::size_t j = 0; j < N; ++j) body(i, slot + j, bins[j][rows[i]]);
}

template <class Body>
void each_bin(const NodeRows& node, const Table& table, std::span<const LaneColumn> columns, Body&& body) {
    std::size_t slot = 0;
    for (; slot + 4 <= columns.size(); slot += 4) each_bin_of<4>(node, table, columns.data() + slot, slot, body);
    for (; slot < columns.size(); ++slot) each_bin_of<1>(node, table, columns.data() + slot, slot, body);
}

// Adds up the node's rows by bin, for every column.
template <class Tally>
void fill_histograms(const Tally& tally, const NodeRows& node, const Table& table,
                     std::span<const LaneColumn> columns, HistogramSpace& space) {
    const std::size_t classes = node.class_total.size();
    if (node.integer) {
        space.counts.assign(columns.size() * kBins * classes, 0);
        auto fill = [&, counts = space.counts.data(), payloads = node.payload](auto width) {
            each_bin(node, table, columns, [=](std::size_t i, std::size_t j, std::size_t bin) {
                const std::uint32_t payload = payloads[i];
                counts[(j * kBins + bin) * width + (payload & 255U)] += static_cast<std::int32_t>(payload >> 8);
            });
        };
        if constexpr (Tally::kClasses)
            fill(classes);
        else
            fill(std::integral_constant<std::size_t, 2>{});
    } else if constexpr (Tally::kClasses) {
        space.sums.assign(columns.size() * kBins * tally.width(), 0.0);
        each_bin(node, table, columns, [&](std::size_t i, std::size_t j, std::size_t bin) {
            space.sums[(j * kBins + bin) * tally.width() + node.label[i]] += node.weight[i];
        });
    } else {
        space.sums.assign(columns.size() * kBins * 3, 0.0);
        space.squares.resize(node.n);
        for (std::size_t i = 0; i < node.n; ++i) space.squares[i] = node.moment[i] * (node.moment[i] / node.weight[i]);
        each_bin(node, table, columns, [&, sums = space.sums.data()](std::size_t i, std::size_t j, std::size_t bin) {
            double* sum = sums + (j * kBins + bin) * 3;
            sum[0] += node.weight[i];
            sum[1] += node.moment[i];
            sum[2] += space.squares[i];
        });
    }
}

// How far the left moment can stray inside a bin, and the bound of a bin at an end of the column (real weights).
struct BinSpread {
    double inside = 0, end = 0;
};

// The totals of one bin in the tally's own terms; false if the bin is empty. `spread` bounds how far
// the left moment can stray inside the bin; `mixed` tells whether a cut inside can be the best at all.
template <class Tally>
bool bin_group(const NodeRows& node, const HistogramSpace& space, std::size_t column,
               std::size_t bin, double* group, BinSpread& spread, bool& mixed) {
    const std::size_t classes = node.class_total.size();
    if constexpr (Tally::kClasses) {
        double sum = 0;
        int present = 0;
        for (std::size_t k = 0; k < classes; ++k) {
            const std::size_t at = (column * kBins + bin) * classes + k;
            group[k] = node.integer ? space.counts[at] : space.sums[at];
            sum += group[k];
            present += group[k] > 0;
        }
        mixed = present > 1;
        return sum > 0;
    } else if (node.integer) {
        const std::int32_t* count = space.counts.data() + (column * kBins + bin) * classes;
        group[0] = count[0] + count[1];
        group[1] = count[1];
        mixed = count[0] > 0 && count[1] > 0;
        return group[0] > 0;
    } else {
        const double* sum = space.sums.data() + (column * kBins + bin) * 3;
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

// What the bins of one column tell.
template <class Tally>
class BinnedColumn {
public:
    BinnedColumn(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table, LaneColumn column,
                 HistogramSpace& space, std::size_t slot)
        : tally_(tally), node_(node), limits_(limits), table_(table), column_(column.column), order_(column.order), space_(space) {
        count_rows_ = limits.min_rows > 1;
        if (count_rows_) {
            space.rows.assign(kBins, 0);
            for (std::size_t i = 0; i < node.n; ++i) ++space.rows[bin_of(i)];
        }
        space.groups.resize(kBins * tally.width());
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            present_[bin] = detail::bin_group<Tally>(node, space, slot, bin, group(bin), spread_[bin], mixed_[bin]);
            if (!present_[bin]) continue;
            // In a bin of one class the edges are best, unless a limit forbids them.
            mixed_[bin] |= limits.min_rows > 1 || limits.min_weight > 0;
            last_ = bin;
            ++bins_;
        }
    }

    // Finds the best cut between bins, and how good one inside a bin may be.
    BinOutlook search_edges() {
        BinOutlook outlook{-INFINITY, -INFINITY, kBins};
        const bool exact = table_.column[column_].one_value_per_bin;
        tally_.clear();
        std::size_t rows_left = 0;
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (!exact && mixed_[bin])
                outlook.reach = std::fmax(outlook.reach, detail::bound_inside(tally_, node_, group(bin), spread_[bin]));
            tally_.add_group(group(bin));
            if (count_rows_) rows_left += space_.rows[bin];
            if (bin == last_ || !allowed(rows_left)) continue;
            if (const double score = tally_.score(); score > outlook.edge_score) {
                outlook.edge_score = score;
                outlook.edge = bin;
            }
        }
        return outlook;
    }

    // Offers the best cut of the column, given that cuts below `floor` do not matter. True if it varies.
    bool finish(double floor, const BinOutlook& outlook, Choice& choice) {
        edge_score_ = outlook.edge_score;
        edge_ = outlook.edge;
        const bool exact = table_.column[column_].one_value_per_bin;
        const bool refined = !exact && mark_bins(floor);
        bool varies = bins_ > 1;
        if (refined || (!exact && bins_ == 1)) varies |= search_inside();
        Split split;
        const bool inner = inner_score_ > edge_score_ || (inner_score_ == edge_score_ && inner_bin_ <= edge_);
        split.score = inner ? inner_score_ : edge_score_;
        split.order = order_;
        split.column = column_;
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
    std::uint8_t bin_of(std::size_t i) const { return table_.bins_of(column_)[node_.row[i]]; }
    std::uint32_t rank_of(std::size_t i) const { return table_.ranks_of(node_.row[i])[column_]; }
    bool allowed(std::size_t rows_left) const {
        if (count_rows_ && (rows_left < limits_.min_rows || node_.n - rows_left < limits_.min_rows)) return false;
        return tally_.left() >= limits_.min_weight && node_.total - tally_.left() >= limits_.min_weight;
    }

    // Marks the bins that may hide a cut at least as good as `floor` and the best edge.
    bool mark_bins(double floor) {
        const double best = std::fmax(edge_score_, floor);
        bool any = false;
        tally_.clear();
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (mixed_[bin]) {
                const double bound = detail::bound_inside(tally_, node_, group(bin), spread_[bin]);
                refine_[bin] = bound + 1e-9 * std::fabs(bound) >= best;
                any |= refine_[bin];
            }
            tally_.add_group(group(bin));
        }
        return any;
    }

    // Searches the marked bins cut by cut. True if more than one value was seen.
    bool search_inside() {
        space_.keys.resize(node_.n);
        std::size_t found = 0;
        const std::uint8_t* bins = table_.bins_of(column_);
        for (std::size_t i = 0; i < node_.n; ++i) {
            space_.keys[found] = i;
            found += refine_[bins[node_.row[i]]] || bins_ == 1;
        }
        space_.keys.resize(found);
        for (std::uint64_t& key : space_.keys) key |= static_cast<std::uint64_t>(rank_of(key)) << 32;
        std::sort(space_.keys.begin(), space_.keys.end());
        auto rank_at = [&](std::size_t i) { return static_cast<std::uint32_t>(space_.keys[i] >> 32); };
        auto bin_at = [&](std::size_t i) { return bin_of(static_cast<std::uint32_t>(space_.keys[i])); };
        tally_.clear();
        std::size_t rows_left = 0, at = 0;
        for (std::size_t bin = 0; bin <= last_; ++bin) {
            if (!present_[bin]) continue;
            if (!refine_[bin]) {
                tally_.add_group(group(bin));
                if (count_rows_) rows_left += space_.rows[bin];
                continue;
            }
            for (; at < space_.keys.size() && bin_at(at) == bin; ++at) {
                tally_.add(static_cast<std::uint32_t>(space_.keys[at]));
                ++rows_left;
                const bool last = at + 1 == space_.keys.size();
                if (last || rank_at(at + 1) == rank_at(at) || bin_at(at + 1) != bin || !allowed(rows_left)) continue;
                if (const double score = tally_.score(); score > inner_score_) {
                    inner_score_ = score;
                    inner_bin_ = bin;
                    inner_low_ = node_.row[static_cast<std::uint32_t>(space_.keys[at])];
                    inner_high_ = node_.row[static_cast<std::uint32_t>(space_.keys[at + 1])];
                }
            }
        }
        return rank_at(0) != rank_at(space_.keys.size() - 1);
    }

    // The rows on both sides of the cut behind bin edge_.
    void find_edge(Split& split) const {
        std::uint32_t low = 0, high = kMissing, low_row = kMissing, high_row = kMissing;
        for (std::size_t i = 0; i < node_.n; ++i) {
            const std::uint32_t rank = rank_of(i);
            if (bin_of(i) <= edge_) {
                if (rank >= low) low_row = node_.row[i];
                low = std::max(low, rank);
            } else {
                if (rank <= high) high_row = node_.row[i];
                high = std::min(high, rank);
            }
        }
        use_rows(low_row, high_row, split);
    }

    void use_rows(std::uint32_t low_row, std::uint32_t high_row, Split& split) const {
        split.low_row = low_row;
        split.high_row = high_row;
        split.low = table_.ranks_of(low_row)[column_];
        split.high = table_.ranks_of(high_row)[column_];
    }

    Tally& tally_;
    const NodeRows& node_;
    const Limits& limits_;
    const Table& table_;
    std::uint32_t column_, order_;
    HistogramSpace& space_;
    bool count_rows_ = false;
    std::array<bool, kBins> present_{}, mixed_{}, refine_{};
    std::array<detail::BinSpread, kBins> spread_{};
    std::size_t last_ = 0, bins_ = 0, edge_ = kBins, inner_bin_ = kBins;
    double edge_score_ = -INFINITY, inner_score_ = -INFINITY;
    std::uint32_t inner_low_ = 0, inner_high_ = 0;
};

// Tries every cut of up to kHistogramColumns numeric columns without missing values. Returns how many vary.
// The edges of all columns are scored before any bin is refined: the better the best edge, the fewer bins.
template <class Tally>
std::size_t search_histogram(Tally& tally, const NodeRows& node, const Limits& limits, const Table& table,
                             std::span<const LaneColumn> columns, const Kernels& kernels, HistogramSpace& space,
                             Choice& choice) {
    if (!space.filled) detail::fill_histograms(tally, node, table, columns, space);
    std::array<BinOutlook, kHistogramColumns> outlook;
    double best = choice.least();
    const bool two_classes = !Tally::kClasses && node.integer && limits.min_rows <= 1 && limits.min_weight <= 0;
    const bool moments = !Tally::kClasses && !node.integer && limits.min_rows <= 1;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (two_classes)
            outlook[j] = kernels.scan_bins(space.counts.data() + j * kBins * 2, node.total, node.total_moment);
        else if (moments)
            outlook[j] = kernels.scan_moment_bins(space.sums.data() + j * kBins * 3, node.total, node.total_moment,
                                                  limits.min_weight);
        else
            outlook[j] = BinnedColumn<Tally>(tally, node, limits, table, columns[j], space, j).search_edges();
        best = std::fmax(best, outlook[j].edge_score);
    }
    std::size_t vary = 0;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        // A cut between bins shows that the column varies; one with no hope is not looked at again.
        const double reach = outlook[j].reach + 1e-9 * std::fabs(outlook[j].reach);
        if (outlook[j].edge < kBins && outlook[j].edge_score < best && reach < best) {
            ++vary;
            continue;
        }
        BinnedColumn<Tally> binned(tally, node, limits, table, columns[j], space, j);
        vary += binned.finish(best, outlook[j], choice);
        best = std::fmax(best, choice.least());
    }
    return vary;
}

}  // namespace conjunto
