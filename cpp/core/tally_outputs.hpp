// Several targets at once: the mean of a criterion over them.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tally.hpp"

namespace conjunto {

template <class Tally>
class OutputsTally {
public:
    static constexpr bool kClasses = Tally::kClasses, kPlain = true, kGroups = false, kOrdered = Tally::kOrdered;

    explicit OutputsTally(const NodeRows& node) : node_(node) {}

    void reset() {
        // The outputs of a node stay where they are from the first node of a grower on.
        while (each_.size() < node_.outputs.size()) each_.emplace_back(node_.outputs[each_.size()]);
        for (Tally& tally : each_) tally.reset();
    }
    void clear() {
        for (Tally& tally : each_) tally.clear();
    }
    void fill() {
        for (Tally& tally : each_) tally.fill();
    }
    void add(std::size_t i) {
        for (Tally& tally : each_) tally.add(i);
    }
    void remove(std::size_t i) {
        for (Tally& tally : each_) tally.remove(i);
    }
    void follow(std::span<const std::uint32_t> first, std::span<const std::uint32_t> second) {
        for (Tally& tally : each_) tally.follow(first, second);
    }
    double left() const { return each_[0].left(); }
    bool possible() const {
        for (const Tally& tally : each_)
            if (!tally.possible()) return false;
        return true;
    }
    // Constraints on values are for one target.
    double left_value() const { return 0; }
    double right_value() const { return 0; }
    double score() const {
        double sum = 0;
        for (const Tally& tally : each_) sum += tally.decrease(tally.score());
        return sum;
    }
    double decrease(double score) const { return score / static_cast<double>(each_.size()); }
    double perfect() const { return INFINITY; }

private:
    const NodeRows& node_;
    std::vector<Tally> each_;
};

}  // namespace conjunto
