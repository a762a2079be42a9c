#include "c45_search.hpp"

#include <algorithm>
#include <limits>

namespace conjunto {

namespace {

// Quinlan's margin for gains and for split information.
constexpr double kEpsilon = 1e-3;
// Gains and ratios closer than this are equal: they differ by rounding alone.
constexpr double kSame = 1e-9;

}  // namespace

void C45Search::start(const std::vector<std::uint32_t>& columns, const std::vector<const std::uint64_t*>& sorted,
                      const std::vector<std::vector<std::uint32_t>>& seen) {
    columns_ = columns;
    sorted_ = sorted;
    numeric_.clear();
    for (const std::uint32_t c : columns)
        if (!table_.column[c].categorical()) numeric_.push_back(c);
    seen_ = &seen;
    many_values_.assign(table_.columns, 0);
    if (options_.group_values) return;
    auto many = [&](std::uint32_t c) {
        return table_.column[c].categorical() && static_cast<double>(seen[c].size()) >= 0.3 * rows_.total;
    };
    if (std::all_of(columns.begin(), columns.end(), many)) return;
    for (const std::uint32_t c : columns) many_values_[c] = many(c);
}

bool C45Search::find(C45Rows::Range range, const std::vector<double>& counts, double weight, bool whole,
                     const std::vector<std::uint32_t>& tested, GrownTree& tree, GrownNode& node) {
    weight_ = weight;
    offers_.clear();
    std::size_t list = 0;
    for (const std::uint32_t c : columns_) {
        C45Offer offer;
        if (!table_.column[c].categorical()) {
            ++list;
            offer = whole ? scan_cuts<std::uint32_t>(list, range, counts) : scan_cuts<double>(list, range, counts);
        } else if (options_.group_values || tested[c] == 0) {
            count_categories(c, range);
            if (options_.group_values) merge_groups();
            offer = offer_of_groups(c);
        }
        offer.column = c;
        if (offer.gain >= 0) offers_.push_back(offer);
    }
    const C45Offer* chosen = choose();
    if (!chosen) return false;
    node.column = chosen->column;
    node.gain = chosen->gain;
    if (table_.column[node.column].categorical()) {
        count_categories(node.column, range);
        if (options_.group_values) merge_groups();
        write_route(node.column, tree, node);
    } else {
        node.branches = 2;
        node.threshold = threshold_between(*chosen, node.cut);
    }
    return true;
}

const C45Offer* C45Search::choose() const {
    double sum = 0;
    std::size_t counted = 0;
    for (const C45Offer& offer : offers_) {
        if (many_values_[offer.column]) continue;
        sum += offer.gain;
        ++counted;
    }
    // Where only columns of very many values gain anything, none is good enough for the gain ratio.
    const double average = counted ? sum / static_cast<double>(counted) : std::numeric_limits<double>::infinity();
    const C45Offer* best = nullptr;
    double best_worth = 0;
    for (const C45Offer& offer : offers_) {
        double worth = offer.gain;
        if (options_.gain_ratio) {
            if (offer.gain < average - kEpsilon || offer.split_info <= kEpsilon) continue;
            worth /= offer.split_info;
        }
        if (best && worth <= best_worth + kSame) continue;
        best = &offer;
        best_worth = worth;
    }
    return best;
}

template <>
std::pair<std::vector<double>&, std::vector<double>&> C45Search::sides<double>() {
    return {real_low_, real_high_};
}

template <>
std::pair<std::vector<std::uint32_t>&, std::vector<std::uint32_t>&> C45Search::sides<std::uint32_t>() {
    return {whole_low_, whole_high_};
}

double C45Search::least_side(double known) const {
    return std::max(options_.min_objects, std::min(25.0, 0.1 * known / options_.classes));
}

template <class Count>
C45Offer C45Search::scan_cuts(std::size_t list, C45Rows::Range range, const std::vector<double>& node_counts) {
    const std::uint64_t* keys = rows_.list[list].data();
    const C45Rows::Item* items = rows_.item.data();
    std::size_t end = range.end;
    while (end > range.begin && C45Rows::rank_of(keys[end - 1]) == kMissing) --end;
    auto [low, high] = sides<Count>();
    high.assign(node_counts.size(), 0);
    double known = weight_;
    if (end == range.end) {
        for (std::size_t k = 0; k < high.size(); ++k) high[k] = static_cast<Count>(node_counts[k]);
    } else {
        for (std::size_t i = range.begin; i < end; ++i) {
            const C45Rows::Item& at = items[C45Rows::row_of(keys[i])];
            high[at.label] += static_cast<Count>(at.weight);
        }
        known = 0;
        for (const Count count : high) known += static_cast<double>(count);
    }
    const double least = least_side(known) - slack();
    C45Offer offer;
    if (end == range.begin || known < 2 * options_.min_objects - slack()) return offer;
    // No cut has enough weight on both sides, or there is only one value.
    if (known < 2 * least || C45Rows::rank_of(keys[range.begin]) == C45Rows::rank_of(keys[end - 1])) return offer;
    low.assign(high.size(), 0);
    low_logs_.assign(high.size(), 0);
    high_logs_.resize(high.size());
    Count low_weight = 0, high_weight = static_cast<Count>(known);
    std::size_t i = range.begin;
    auto move = [&](std::size_t at) {
        const C45Rows::Item& moved = items[C45Rows::row_of(keys[at])];
        const auto weight = static_cast<Count>(moved.weight);
        low[moved.label] += weight;
        high[moved.label] -= weight;
        low_weight += weight;
        high_weight -= weight;
        return moved.label;
    };
    // Up to the first row after which the lower side has enough, nothing but the counts is needed.
    while (i + 1 < end) {
        const auto next = static_cast<double>(items[C45Rows::row_of(keys[i])].weight);
        if (static_cast<double>(low_weight) + next >= least) break;
        move(i++);
    }
    double base = 0, low_sum = 0, high_sum = 0;
    for (std::size_t k = 0; k < high.size(); ++k) {
        low_sum += low_logs_[k] = logs_(low[k]);
        high_sum += high_logs_[k] = logs_(high[k]);
        base += logs_(static_cast<Count>(low[k] + high[k]));
    }
    double best = -std::numeric_limits<double>::infinity(), best_low = 0;
    std::size_t best_at = 0, tried = 0;
    const double same = kSame * known;
    for (; i + 1 < end; ++i) {
        const std::uint32_t k = move(i);
        const double new_low = logs_(low[k]), new_high = logs_(high[k]);
        low_sum += new_low - low_logs_[k];
        high_sum += new_high - high_logs_[k];
        low_logs_[k] = new_low;
        high_logs_[k] = new_high;
        if (C45Rows::rank_of(keys[i]) == C45Rows::rank_of(keys[i + 1])) continue;
        if (static_cast<double>(high_weight) < least) break;
        ++tried;
        const double score = low_sum + high_sum - logs_(low_weight) - logs_(high_weight);
        if (score <= best + same) continue;
        best = score;
        best_low = static_cast<double>(low_weight);
        best_at = i;
    }
    if (tried == 0) return offer;
    // Over the weight of the node: the share of known rows times the gain among them.
    offer.gain = (x_log_x(known) - base + best) / weight_;
    if (options_.mdl) offer.gain -= std::log2(static_cast<double>(tried)) / weight_;
    // A threshold must gain; a category that gains nothing may still divide the rows for tests below it (XOR).
    if (offer.gain <= kSame) offer.gain = -1;
    offer.split_info =
        (x_log_x(weight_) - x_log_x(best_low) - x_log_x(known - best_low) - x_log_x(weight_ - known)) / weight_;
    offer.low = keys[best_at];
    offer.high = keys[best_at + 1];
    return offer;
}

double C45Search::threshold_between(const C45Offer& offer, std::uint32_t& cut) const {
    const double low = table_.value(C45Rows::row_of(offer.low), offer.column);
    const double high = table_.value(C45Rows::row_of(offer.high), offer.column);
    const double middle = low / 2 + high / 2;
    cut = C45Rows::rank_of(offer.low);
    const std::uint64_t* keys = sorted_[static_cast<std::size_t>(
        std::lower_bound(numeric_.begin(), numeric_.end(), offer.column) - numeric_.begin())];
    const std::uint64_t* first = std::upper_bound(keys, keys + table_.rows, std::uint64_t{cut} << 32 | 0xFFFFFFFFU);
    const std::uint64_t* last = std::lower_bound(first, keys + table_.rows, offer.high >> 32 << 32);
    last = std::partition_point(first, last, [&](std::uint64_t key) {
        return table_.value(C45Rows::row_of(key), offer.column) <= middle;
    });
    while (last > first) {
        const std::uint64_t key = *--last;
        if (!(rows_.item[C45Rows::row_of(key)].weight > 0)) continue;
        cut = C45Rows::rank_of(key);
        return table_.value(C45Rows::row_of(key), offer.column);
    }
    return low;
}

void C45Search::count_categories(std::uint32_t column, C45Rows::Range range) {
    const std::uint32_t codes = table_.column[column].categories;
    const std::size_t classes = options_.classes;
    group_weight_.assign(codes, 0.0);
    group_entropy_.resize(codes);
    group_counts_.resize(std::max(group_counts_.size(), codes * classes));
    group_of_.assign(codes, kMissing);
    groups_.clear();
    known_counts_.assign(classes, 0.0);
    unknown_ = known_ = base_ = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::uint32_t row = C45Rows::row_of(rows_.list[0][i]);
        const C45Rows::Item& at = rows_.item[row];
        const std::uint32_t code = table_.ranks_of(row)[column];
        if (code == kMissing) {
            unknown_ += at.weight;
            continue;
        }
        if (group_of_[code] == kMissing) {
            group_of_[code] = code;
            groups_.push_back(code);
            std::fill_n(group_counts_.data() + code * classes, classes, 0.0);
        }
        group_weight_[code] += at.weight;
        group_counts_[code * classes + at.label] += at.weight;
        known_counts_[at.label] += at.weight;
    }
    std::sort(groups_.begin(), groups_.end());
    for (const double count : known_counts_) {
        known_ += count;
        base_ -= x_log_x(count);
    }
    base_ += x_log_x(known_);
    for (const std::uint32_t code : groups_) {
        group_entropy_[code] = x_log_x(group_weight_[code]);
        for (std::size_t k = 0; k < classes; ++k) group_entropy_[code] -= x_log_x(group_counts_[code * classes + k]);
    }
}

C45Offer C45Search::offer_of_groups(std::uint32_t column) const {
    C45Offer offer;
    offer.column = column;
    const auto enough = std::count_if(groups_.begin(), groups_.end(), [&](std::uint32_t group) {
        return group_weight_[group] >= options_.min_objects - slack();
    });
    if (enough < 2) return offer;
    double entropy = 0, info = x_log_x(weight_) - x_log_x(unknown_);
    for (const std::uint32_t group : groups_) {
        entropy += group_entropy_[group];
        info -= x_log_x(group_weight_[group]);
    }
    offer.gain = std::max(0.0, (base_ - entropy) / weight_);
    offer.split_info = info / weight_;
    return offer;
}

double C45Search::joint_entropy(std::uint32_t one, std::uint32_t other) const {
    const std::size_t classes = options_.classes;
    double entropy = x_log_x(group_weight_[one] + group_weight_[other]);
    for (std::size_t k = 0; k < classes; ++k)
        entropy -= x_log_x(group_counts_[one * classes + k] + group_counts_[other * classes + k]);
    return entropy;
}

void C45Search::merge_groups() {
    const std::size_t codes = group_of_.size(), classes = options_.classes;
    merged_entropy_.resize(std::max(merged_entropy_.size(), codes * codes));
    auto merged = [&](std::uint32_t one, std::uint32_t other) -> double& {
        return merged_entropy_[std::min(one, other) * codes + std::max(one, other)];
    };
    double entropy = 0, info = x_log_x(weight_) - x_log_x(unknown_);
    for (const std::uint32_t group : groups_) {
        entropy += group_entropy_[group];
        info -= x_log_x(group_weight_[group]);
        for (const std::uint32_t other : groups_)
            if (other > group) merged(group, other) = joint_entropy(group, other);
    }
    auto ratio = [](double gain, double split) { return split > 0 ? gain / split : 0.0; };
    double best = ratio(base_ - entropy, info);
    while (groups_.size() > 2) {
        std::size_t first = 0, second = 0;
        double best_entropy = 0, best_info = 0;
        for (std::size_t a = 0; a < groups_.size(); ++a) {
            for (std::size_t b = a + 1; b < groups_.size(); ++b) {
                const std::uint32_t one = groups_[a], other = groups_[b];
                const double new_entropy = entropy + merged(one, other) - group_entropy_[one] - group_entropy_[other];
                const double new_info = info + x_log_x(group_weight_[one]) + x_log_x(group_weight_[other]) -
                                        x_log_x(group_weight_[one] + group_weight_[other]);
                const double worth = ratio(base_ - new_entropy, new_info);
                if (worth <= best + kSame) continue;
                best = worth;
                best_entropy = new_entropy;
                best_info = new_info;
                first = a;
                second = b;
            }
        }
        if (second == 0) return;
        entropy = best_entropy;
        info = best_info;
        const std::uint32_t kept = groups_[first], gone = groups_[second];
        group_entropy_[kept] = merged(kept, gone);
        group_weight_[kept] += group_weight_[gone];
        for (std::size_t k = 0; k < classes; ++k) group_counts_[kept * classes + k] += group_counts_[gone * classes + k];
        std::replace(group_of_.begin(), group_of_.end(), gone, kept);
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(second));
        for (const std::uint32_t group : groups_)
            if (group != kept) merged(kept, group) = joint_entropy(kept, group);
    }
}

void C45Search::write_route(std::uint32_t column, GrownTree& tree, GrownNode& node) {
    const std::vector<std::uint32_t>& branches = options_.group_values ? groups_ : (*seen_)[column];
    node.branches = static_cast<std::uint32_t>(branches.size());
    node.route = tree.routes.size();
    tree.routes.resize(node.route + table_.column[column].categories, C45Forest::kNoBranch);
    std::uint16_t* route = tree.routes.data() + node.route;
    for (std::size_t branch = 0; branch < branches.size(); ++branch) {
        if (!options_.group_values) {
            route[branches[branch]] = static_cast<std::uint16_t>(branch);
            continue;
        }
        for (std::size_t code = 0; code < group_of_.size(); ++code)
            if (group_of_[code] == branches[branch]) route[code] = static_cast<std::uint16_t>(branch);
    }
}

}  // namespace conjunto
