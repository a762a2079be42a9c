// The loop of all greedy orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "ballot.hpp"
#include "parallel.hpp"

namespace conjunto {

// Operations on examples below which another thread costs more than it does.
inline constexpr std::size_t kWorthAThread = std::size_t{1} << 18;

// The members that are left, ascending.
class Remaining {
public:
    explicit Remaining(std::size_t members) : left_(members) { std::iota(left_.begin(), left_.end(), 0U); }
    const std::vector<std::uint32_t>& left() const { return left_; }
    std::size_t size() const { return left_.size(); }

    // Takes out the first whose cost, by place, is the least, up to `tie`. NaN is no cost: if there is nothing else, the
    // first member goes. There is always one to take, whatever the costs are.
    std::uint32_t take_least(const std::vector<double>& costs, double tie) {
        const double bar = least(costs) + tie;
        auto place = std::find_if(costs.begin(), costs.end(), [&](double cost) { return cost <= bar; }) - costs.begin();
        if (static_cast<std::size_t>(place) == costs.size()) place = 0;
        const std::uint32_t member = left_[static_cast<std::size_t>(place)];
        left_.erase(left_.begin() + place);
        return member;
    }
    std::uint32_t take_least(const std::vector<double>& costs) { return take_least(costs, kTie * scale(costs)); }

    void put_back(std::uint32_t member) { left_.insert(std::lower_bound(left_.begin(), left_.end(), member), member); }

    // The cost of each, by place; cost(member) may run on any thread.
    template <class Cost>
    std::vector<double> costs(std::size_t work_of_one, std::size_t threads, const Cost& cost) const {
        std::vector<double> found(left_.size());
        constexpr std::size_t kBatch = 16;
        if (work_of_one * left_.size() < kWorthAThread) threads = 1;
        parallel_for((left_.size() + kBatch - 1) / kBatch, threads, [&](std::size_t batch, std::size_t) {
            const std::size_t end = std::min(left_.size(), (batch + 1) * kBatch);
            for (std::size_t place = batch * kBatch; place < end; ++place) found[place] = cost(left_[place]);
        });
        return found;
    }

    // Infinity where nothing is a number.
    static double least(const std::vector<double>& costs) {
        double found = std::numeric_limits<double>::infinity();
        for (const double cost : costs) found = cost < found ? cost : found;
        return found;
    }

    static double scale(const std::vector<double>& costs) {
        double most = 0;
        for (const double cost : costs)
            if (std::isfinite(cost)) most = std::max(most, std::abs(cost));
        return most;
    }

private:
    std::vector<std::uint32_t> left_;
};

}  // namespace conjunto
