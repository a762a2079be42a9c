#include "c45_rows.hpp"

#include <cmath>
#include <stdexcept>

namespace conjunto {

void C45Rows::load(const Table& table, const Views& views, std::size_t member,
                   const std::vector<const std::uint64_t*>& sorted) {
    const std::size_t n = table.rows;
    const std::uint8_t* small = views.small_weights ? views.small_weights + member * n : nullptr;
    const double* real = views.weights ? views.weights + member * n : nullptr;
    const std::int32_t* labels = views.labels + (views.shared_labels ? 0 : member * n);
    item.resize(n);
    branch_.resize(n);
    list.resize(sorted.size() + 1);
    for (auto& keys : list) keys.resize(std::max(keys.size(), n));
    total = 0;
    whole = true;
    size_ = 0;
    for (std::size_t row = 0; row < n; ++row) {
        const double weight = real ? real[row] : small ? small[row] : 1.0;
        item[row] = {weight, static_cast<std::uint32_t>(labels[row])};
        list[0][size_] = row;
        size_ += weight > 0;
        total += weight;
        whole = whole && weight == std::floor(weight);
    }
    if (size_ == 0) throw std::invalid_argument("a member has no row with positive weight");
    if (!std::isfinite(total)) throw std::invalid_argument("the weights of a member add up to infinity");
    top_ = size_;
    for (std::size_t l = 0; l < sorted.size(); ++l) {
        std::uint64_t* out = list[l + 1].data();
        if (size_ == n) {
            std::copy_n(sorted[l], n, out);
            continue;
        }
        // One place more than needed is written, and list[l + 1] has room for all rows.
        for (std::size_t i = 0, seen = 0; i < n && seen < size_; ++i) {
            out[seen] = sorted[l][i];
            seen += item[row_of(sorted[l][i])].weight > 0;
        }
    }
}

double C45Rows::count(Range range, std::vector<double>& counts) const {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const Item& at = item[row_of(list[0][i])];
        counts[at.label] += at.weight;
    }
    double sum = 0;
    for (const double count : counts) sum += count;
    return sum;
}

C45Rows::Division C45Rows::divide(const Table& table, const GrownTree& tree, const GrownNode& node, Range range) {
    Division division{0, bounds_.size(), saved_.size(), top_, node.branches, range, 0};
    bounds_.resize(division.base + node.branches + 1, 0);
    weights_.resize(bounds_.size(), 0.0);
    std::size_t* bounds = bounds_.data() + division.base;
    double* weights = weights_.data() + division.base;
    std::fill_n(bounds, node.branches + 1, 0);
    std::fill_n(weights, node.branches + 1, 0.0);
    const std::uint32_t* ranks = table.rank.data() + node.column;
    const bool category = table.column[node.column].categorical();
    const std::uint16_t* route = tree.routes.data() + node.route;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::uint32_t row = row_of(list[0][i]);
        const std::uint32_t rank = ranks[row * table.columns];
        std::uint16_t branch = C45Forest::kNoBranch;
        if (rank != kMissing) branch = category ? route[rank] : rank > node.cut;
        branch_[row] = branch;
        if (branch == C45Forest::kNoBranch) {
            ++division.unknown;
            saved_.push_back(0);
        } else {
            ++bounds[branch];
            weights[branch] += item[row].weight;
        }
    }
    // From numbers of rows to where they begin; rows without a branch come first.
    std::size_t begin = range.begin + division.unknown;
    for (std::uint32_t branch = 0; branch <= node.branches; ++branch) {
        const std::size_t rows = bounds[branch];
        bounds[branch] = begin;
        begin += rows;
        division.known += weights[branch];
    }
    partition(list[0], division);
    for (std::size_t i = 0; i < division.unknown; ++i)
        saved_[division.saved + i] = item[row_of(list[0][range.begin + i])].weight;
    return division;
}

void C45Rows::partition(std::vector<std::uint64_t>& keys, const Division& division) {
    const auto [begin, end] = division.range;
    std::uint64_t* data = keys.data();
    spare_.resize(std::max(spare_.size(), end - begin + 1));
    if (division.branches == 2 && division.unknown == 0) {
        std::size_t left = begin, right = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint64_t key = data[i];
            const std::uint16_t side = branch_[row_of(key)];
            data[left] = key;
            spare_[right] = key;
            left += 1U - side;
            right += side;
        }
        std::copy_n(spare_.data(), right, data + left);
        return;
    }
    place_.assign(bounds_.begin() + static_cast<std::ptrdiff_t>(division.base), bounds_.end());
    std::size_t unknown = begin;
    std::copy(data + begin, data + end, spare_.data());
    for (std::size_t i = 0; i < end - begin; ++i) {
        const std::uint16_t branch = branch_[row_of(spare_[i])];
        data[branch == C45Forest::kNoBranch ? unknown++ : place_[branch]++] = spare_[i];
    }
}

C45Rows::Range C45Rows::enter(const Division& division, std::uint32_t branch, std::size_t lists) {
    const Range known = known_rows(division, branch);
    if (division.unknown == 0 || known.empty()) return known;
    const std::size_t top = division.top, rows = division.unknown + (known.end - known.begin);
    const std::size_t first = division.range.begin, last = first + division.unknown;
    for (std::size_t l = 0; l < lists; ++l) {
        auto& keys = list[l];
        if (keys.size() < top + rows) keys.resize(std::max(top + rows, keys.size() * 3 / 2));
        std::uint64_t* data = keys.data();
        if (l == 0)
            std::copy(data + known.begin, data + known.end, std::copy(data + first, data + last, data + top));
        else
            std::merge(data + first, data + last, data + known.begin, data + known.end, data + top);
    }
    const double share = branch_share(division, branch);
    for (std::size_t i = 0; i < division.unknown; ++i)
        item[row_of(list[0][first + i])].weight = saved_[division.saved + i] * share;
    top_ = top + rows;
    return {top, top_};
}

void C45Rows::leave(const Division& division) {
    for (std::size_t i = 0; i < division.unknown; ++i)
        item[row_of(list[0][division.range.begin + i])].weight = saved_[division.saved + i];
    top_ = division.top;
    bounds_.resize(division.base);
    weights_.resize(division.base);
    saved_.resize(division.saved);
}

}  // namespace conjunto
