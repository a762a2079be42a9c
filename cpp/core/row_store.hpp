// The rows of the tree that is being grown, and what the member knows of them.
//
// A node is a range of the store. Splitting a node partitions its range stably, so that the rows of a child are again
// a range, in ascending order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "grow.hpp"
#include "kernels.hpp"
#include "tally.hpp"

namespace conjunto {

class RowStore {
public:
    std::vector<std::uint32_t> row;
    bool integer = false;     // weights are small whole numbers: rows are packed as weight << 8 | class
    bool regression = false;
    double tree_weight = 0;
    double most_weight = 0;   // of a row, where weights are integers
    // A target is center + scale * what the store holds.
    double center = 0, scale = 1;

    // Takes the member's rows of positive weight, or of these the ones that are given.
    void load(const Table& table, const Views& views, std::size_t member, std::uint32_t classes,
              std::span<const std::uint32_t> given = {}) {
        const std::size_t n = table.rows;
        const std::uint8_t* small = views.small_weights ? views.small_weights + member * n : nullptr;
        const double* real = views.weights ? views.weights + member * n : nullptr;
        const std::size_t labels = views.shared_labels ? 0 : member * n;
        regression = classes == 0;
        integer = !real && !regression && classes <= 255;
        tree_weight = most_weight = 0;
        auto weight_of = [&](std::size_t r) { return real ? real[r] : small ? double(small[r]) : 1.0; };
        const std::size_t offered = given.empty() ? n : given.size();
        row.resize(offered);
        std::size_t seen = 0;
        for (std::size_t i = 0; i < offered; ++i) {
            const std::size_t r = given.empty() ? i : given[i];
            const double weight = weight_of(r);
            row[seen] = static_cast<std::uint32_t>(r);
            seen += weight > 0;
            tree_weight += weight > 0 ? weight : 0.0;
            most_weight = std::max(most_weight, weight);
        }
        // Counts are added up in 32 bits.
        integer &= tree_weight < 0x1.0p31;
        if (seen == 0) throw std::invalid_argument("a member has no row with positive weight");
        each_column([&](auto& column) { column.resize(seen); });
        if (regression) {
            choose_unit(views.targets + labels, weight_of);
            for (std::size_t i = 0; i < seen; ++i) {
                target_[i] = views.targets[labels + row[i]] / scale - center / scale;
                weight_[i] = weight_of(row[i]);
                moment_[i] = weight_[i] * target_[i];
            }
            return;
        }
        for (std::size_t i = 0; i < seen; ++i) {
            const std::uint32_t r = row[i];
            const auto label = static_cast<std::uint32_t>(views.labels[labels + r]);
            if (integer) {
                payload_[i] = (small ? small[r] : 1U) << 8 | label;
            } else {
                label_[i] = label;
                weight_[i] = weight_of(r);
                moment_[i] = label == 1 ? weight_[i] : 0.0;
            }
        }
    }

    // Points a node at rows begin .. end and adds up its totals.
    void read(std::size_t begin, std::size_t end, std::uint32_t classes, NodeRows& node) {
        node.row = row.data() + begin;
        node.n = end - begin;
        node.integer = integer;
        node.regression = regression;
        node.total = node.total_moment = 0;
        if (integer) {
            node.payload = payload_.data() + begin;
            counts_.assign(classes, 0);
            for (std::size_t i = 0; i < node.n; ++i) counts_[node.payload[i] & 255U] += node.payload[i] >> 8;
            node.class_total.assign(counts_.begin(), counts_.end());
            for (const double count : node.class_total) node.total += count;
            if (classes > 1) node.total_moment = node.class_total[1];
            return;
        }
        node.weight = weight_.data() + begin;
        node.moment = moment_.data() + begin;
        for (std::size_t i = 0; i < node.n; ++i) {
            node.total += node.weight[i];
            node.total_moment += node.moment[i];
        }
        if (regression) return;
        node.label = label_.data() + begin;
        node.class_total.assign(classes, 0.0);
        for (std::size_t i = 0; i < node.n; ++i) node.class_total[node.label[i]] += node.weight[i];
    }

    // The weighted sum of squared targets (regression).
    double squares(std::size_t begin, std::size_t n) const {
        double sum = 0;
        for (std::size_t i = begin; i < begin + n; ++i) sum += moment_[i] * target_[i];
        return sum;
    }

    // Whether all targets of the range are equal (regression).
    bool one_target(std::size_t begin, std::size_t n) const {
        const double* target = target_.data() + begin;
        return std::all_of(target, target + n, [&](double y) { return y == target[0]; });
    }

    // Whether the range will be a pure leaf (integer weights; elsewhere the answer is no).
    bool one_class(std::size_t begin, std::size_t n) const {
        if (!integer) return false;
        const std::uint32_t* payload = payload_.data() + begin;
        return std::all_of(payload, payload + n, [&](std::uint32_t p) { return ((p ^ payload[0]) & 255U) == 0; });
    }

    double weight(std::size_t i) const { return integer ? double(payload_[i] >> 8) : weight_[i]; }
    const std::uint32_t* payload() const { return payload_.data(); }

    // Moves the rows of side 1 of the range to its front, those of side 0 behind them.
    void partition(std::size_t begin, std::size_t n, const std::uint8_t* side, const Kernels& kernels) {
        each_column([&](auto& column) { partition_column(column, begin, n, side, kernels); });
    }

private:
    template <class Body>
    void each_column(Body&& body) {
        body(row);
        if (integer) {
            body(payload_);
            return;
        }
        body(weight_);
        body(moment_);
        if (regression)
            body(target_);
        else
            body(label_);
    }

    // Sums of values far from zero lose digits, so targets are taken from near their mean: from a round number, because
    // differences from it are then exact, and a row of weight 2 counts as two rows. Their unit is a power of two near
    // their spread: squares of targets neither overflow nor vanish.
    template <class WeightOf>
    void choose_unit(const double* targets, WeightOf&& weight_of) {
        double mean = 0, low = INFINITY, high = -INFINITY;
        for (const std::uint32_t r : row) {
            mean += weight_of(r) / tree_weight * targets[r];
            low = std::min(low, targets[r]);
            high = std::max(high, targets[r]);
        }
        int exponent = 0;
        std::frexp(high / 2 - low / 2, &exponent);
        scale = high > low ? std::ldexp(1.0, std::clamp(exponent, -1021, 1022) + 1) : 1.0;
        center = high > low ? scale * std::round(mean / scale) : low;
    }

    void partition_column(std::vector<std::uint32_t>& column, std::size_t begin, std::size_t n, const std::uint8_t* side,
                          const Kernels& kernels) {
        spare_word_.resize(n + 8);
        kernels.divide(column.data() + begin, n, side, spare_word_.data());
    }

    void partition_column(std::vector<double>& column, std::size_t begin, std::size_t n, const std::uint8_t* side,
                          const Kernels&) {
        spare_real_.resize(n);
        double* data = column.data() + begin;
        std::size_t left = 0, right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = data[i];
            data[left] = value;
            spare_real_[right] = value;
            left += side[i];
            right += 1 - side[i];
        }
        std::copy_n(spare_real_.data(), right, data + left);
    }

    std::vector<std::uint32_t> payload_, label_, counts_, spare_word_;
    std::vector<double> weight_, moment_, target_, spare_real_;
};

}  // namespace conjunto
