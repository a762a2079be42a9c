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
    double scale = 1;  // a target is center + scale * what the store holds

    // Takes the member's rows of positive weight, or of these the ones that are given.
    void load(const Table& table, const Views& views, std::size_t member, const GrowOptions& options,
              std::span<const std::uint32_t> given = {}) {
        const std::size_t n = table.rows;
        const std::uint8_t* small = views.small_weights ? views.small_weights + member * n : nullptr;
        const double* real = views.weights ? views.weights + member * n : nullptr;
        facets_.resize(std::max<std::size_t>(1, options.outputs.size()));
        const std::size_t width = facets_.size(), answers = views.shared_labels ? 0 : member * n * width;
        for (std::size_t o = 0; o < width; ++o) facets_[o].classes = options.outputs.empty() ? options.classes : options.outputs[o];
        regression = options.classes == 0;
        ranked_ = options.criterion == Criterion::absolute_error;
        integer = !real && !regression && std::ranges::all_of(facets_, [](const Facet& facet) { return facet.classes <= 255; });
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
        if (!integer)
            for (std::size_t i = 0; i < seen; ++i) weight_[i] = weight_of(row[i]);
        if (regression) {
            choose_units(views.targets + answers, options.criterion);
            for (std::size_t o = 0; o < width; ++o) take_targets(views.targets + answers + o, facets_[o]);
            return;
        }
        for (std::size_t o = 0; o < width; ++o) take_labels(views.labels + answers + o, small, facets_[o]);
    }

    // Points a node at rows begin .. end and adds up its totals, for each of several targets too.
    void read(std::size_t begin, std::size_t end, NodeRows& node) {
        read(facets_[0], begin, end, node);
        if (facets_.size() == 1) return;
        node.outputs.resize(facets_.size());
        for (std::size_t o = 0; o < facets_.size(); ++o) read(facets_[o], begin, end, node.outputs[o]);
    }

    std::size_t outputs() const { return facets_.size(); }
    double center(std::size_t output = 0) const { return facets_[output].center; }

    // The weighted sum of squared targets (regression).
    double squares(std::size_t begin, std::size_t n, std::size_t output = 0) const {
        const Facet& facet = facets_[output];
        double sum = 0;
        for (std::size_t i = begin; i < begin + n; ++i) sum += facet.moment[i] * facet.target[i];
        return sum;
    }

    // Whether all targets of the range are equal (regression).
    bool one_target(std::size_t begin, std::size_t n) const {
        return std::ranges::all_of(facets_, [&](const Facet& facet) {
            const double* target = facet.target.data() + begin;
            return std::all_of(target, target + n, [&](double y) { return y == target[0]; });
        });
    }

    // Whether the range will be a pure leaf (integer weights; elsewhere the answer is no).
    bool one_class(std::size_t begin, std::size_t n) const {
        return integer && std::ranges::all_of(facets_, [&](const Facet& facet) {
            const std::uint32_t* payload = facet.payload.data() + begin;
            return std::all_of(payload, payload + n, [&](std::uint32_t p) { return ((p ^ payload[0]) & 255U) == 0; });
        });
    }

    double weight(std::size_t i) const { return integer ? double(facets_[0].payload[i] >> 8) : weight_[i]; }
    const std::uint32_t* payload() const { return facets_[0].payload.data(); }

    // Moves the rows of side 1 of the range to its front, those of side 0 behind them.
    void partition(std::size_t begin, std::size_t n, const std::uint8_t* side, const Kernels& kernels) {
        each_column([&](auto& column) { partition_column(column, begin, n, side, kernels); });
    }

private:
    // What rows answer to one target, by row of the store.
    struct Facet {
        std::uint32_t classes = 0;
        double center = 0;
        bool varies = true;
        std::vector<std::uint32_t> payload, label, rank;
        std::vector<double> moment, target;
    };

    template <class Body>
    void each_column(Body&& body) {
        body(row);
        if (!integer) body(weight_);
        for (Facet& facet : facets_) {
            if (integer) {
                body(facet.payload);
                continue;
            }
            body(facet.moment);
            if (!regression) {
                body(facet.label);
                continue;
            }
            body(facet.target);
            if (ranked_) body(facet.rank);
        }
    }

    void take_labels(const std::int32_t* labels, const std::uint8_t* small, Facet& facet) {
        const std::size_t width = facets_.size();
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::uint32_t r = row[i];
            const auto label = static_cast<std::uint32_t>(labels[r * width]);
            if (integer) {
                facet.payload[i] = (small ? small[r] : 1U) << 8 | label;
            } else {
                facet.label[i] = label;
                facet.moment[i] = label == 1 ? weight_[i] : 0.0;
            }
        }
    }

    void take_targets(const double* targets, Facet& facet) {
        const std::size_t width = facets_.size();
        for (std::size_t i = 0; i < row.size(); ++i) {
            facet.target[i] = targets[row[i] * width] / scale - facet.center / scale;
            facet.moment[i] = weight_[i] * facet.target[i];
        }
        if (!ranked_) return;
        std::vector<double> values = facet.target;
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        for (std::size_t i = 0; i < row.size(); ++i)
            facet.rank[i] = static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), facet.target[i]) - values.begin());
    }

    // Sums of values far from zero lose digits, so targets are taken from near their mean: from a round number, because
    // differences from it are then exact, and a row of weight 2 counts as two rows. Their unit is a power of two near
    // their spread, the largest of several: squares of targets neither overflow nor vanish. Counts stay counts.
    void choose_units(const double* targets, Criterion criterion) {
        const std::size_t width = facets_.size();
        scale = 0;
        for (std::size_t o = 0; o < width; ++o) {
            double mean = 0, low = INFINITY, high = -INFINITY;
            for (std::size_t i = 0; i < row.size(); ++i) {
                const double y = targets[row[i] * width + o];
                mean += weight_[i] / tree_weight * y;
                low = std::min(low, y);
                high = std::max(high, y);
            }
            if (criterion == Criterion::poisson) low = 0;
            int exponent = 0;
            std::frexp(high / 2 - low / 2, &exponent);
            facets_[o].varies = high > low;
            if (high > low) scale = std::max(scale, std::ldexp(1.0, std::clamp(exponent, -1021, 1022) + 1));
            facets_[o].center = high > low ? mean : low;
        }
        if (scale == 0) scale = 1;
        for (Facet& facet : facets_) {
            if (criterion == Criterion::poisson)
                facet.center = 0;
            else if (facet.varies)
                facet.center = scale * std::round(facet.center / scale);
        }
    }

    void read(const Facet& facet, std::size_t begin, std::size_t end, NodeRows& node) {
        node.row = row.data() + begin;
        node.n = end - begin;
        node.integer = integer;
        node.regression = regression;
        node.total = node.total_moment = 0;
        if (integer) {
            node.payload = facet.payload.data() + begin;
            counts_.assign(facet.classes, 0);
            for (std::size_t i = 0; i < node.n; ++i) counts_[node.payload[i] & 255U] += node.payload[i] >> 8;
            node.class_total.assign(counts_.begin(), counts_.end());
            for (const double count : node.class_total) node.total += count;
            if (facet.classes > 1) node.total_moment = node.class_total[1];
            return;
        }
        node.weight = weight_.data() + begin;
        node.moment = facet.moment.data() + begin;
        for (std::size_t i = 0; i < node.n; ++i) {
            node.total += node.weight[i];
            node.total_moment += node.moment[i];
        }
        if (regression) {
            node.target = facet.target.data() + begin;
            node.target_rank = ranked_ ? facet.rank.data() + begin : nullptr;
            return;
        }
        node.label = facet.label.data() + begin;
        node.class_total.assign(facet.classes, 0.0);
        for (std::size_t i = 0; i < node.n; ++i) node.class_total[node.label[i]] += node.weight[i];
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

    bool ranked_ = false;  // targets have ranks
    std::vector<Facet> facets_;  // by target
    std::vector<std::uint32_t> counts_, spare_word_;
    std::vector<double> weight_, spare_real_;
};

}  // namespace conjunto
