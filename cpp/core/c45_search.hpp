// The best test of a node by Quinlan's criteria.
//
// With f(x) = x log2 x and class weights c_k that add up to W, W times the entropy is f(W) - sum f(c_k): scans keep
// these sums and never divide. Whole numbers find f in a table.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "c45_rows.hpp"

namespace conjunto {

inline double x_log_x(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// x log2 x of the whole numbers below its size.
class LogTable {
public:
    explicit LogTable(std::size_t size) : values_(size) {
        for (std::size_t x = 0; x < size; ++x) values_[x] = x_log_x(static_cast<double>(x));
    }
    std::size_t size() const { return values_.size(); }
    double operator()(std::uint32_t x) const { return values_[x]; }
    double operator()(double x) const { return x_log_x(x); }

private:
    std::vector<double> values_;
};

// What a column offers to a node.
struct C45Offer {
    double gain = -1;  // below 0: no usable test
    double split_info = 0;
    std::uint32_t column = 0;
    std::uint64_t low = 0, high = 0;  // number: the keys on both sides of the cut
};

class C45Search {
public:
    C45Search(const Table& table, const C45Options& options, const LogTable& logs, const C45Rows& rows)
        : table_(table), options_(options), logs_(logs), rows_(rows) {}

    // Starts a tree on these columns, ascending; the numeric ones are lists 1, 2, ... of the rows, in this order, and
    // `sorted` are these lists for all rows of the table. `seen`: by column of the table, which of its codes it has.
    void start(const std::vector<std::uint32_t>& columns, const std::vector<const std::uint64_t*>& sorted,
               const std::vector<std::vector<std::uint32_t>>& seen);

    // Finds the test of a node with these class weights and writes it into `node`; false if there is none. Columns with
    // `tested` above zero are left out. `whole`: the weights of the rows are whole numbers.
    bool find(C45Rows::Range range, const std::vector<double>& counts, double weight, bool whole,
              const std::vector<std::uint32_t>& tested, GrownTree& tree, GrownNode& node);

private:
    template <class Count>
    C45Offer scan_cuts(std::size_t list, C45Rows::Range range, const std::vector<double>& node_counts);
    template <class Count>
    std::pair<std::vector<Count>&, std::vector<Count>&> sides();
    double least_side(double known) const;
    double slack() const { return kRounding * weight_; }
    double threshold_between(const C45Offer& offer, std::uint32_t& cut) const;

    void count_categories(std::uint32_t column, C45Rows::Range range);
    C45Offer offer_of_groups(std::uint32_t column) const;
    void merge_groups();
    // W times the entropy of two groups taken together.
    double joint_entropy(std::uint32_t one, std::uint32_t other) const;
    void write_route(std::uint32_t column, GrownTree& tree, GrownNode& node);

    const C45Offer* choose() const;

    const Table& table_;
    const C45Options& options_;
    const LogTable& logs_;
    const C45Rows& rows_;
    std::vector<std::uint32_t> columns_, numeric_;
    std::vector<const std::uint64_t*> sorted_;
    const std::vector<std::vector<std::uint32_t>>* seen_ = nullptr;
    std::vector<char> many_values_;  // by column of the table: its gain stays out of the average
    double weight_ = 0;              // of the node
    std::vector<C45Offer> offers_;
    // Scans of cuts, by class.
    std::vector<double> real_low_, real_high_, low_logs_, high_logs_;
    std::vector<std::uint32_t> whole_low_, whole_high_;
    // Groups of the categories of the column at hand; a group is known by one of its codes.
    std::vector<std::uint32_t> groups_;
    std::vector<std::uint32_t> group_of_;                  // by code
    std::vector<double> group_weight_, group_entropy_;     // by code
    std::vector<double> group_counts_;                     // (codes, classes)
    std::vector<double> merged_entropy_;                   // (codes, codes), for pairs of groups
    double known_ = 0, unknown_ = 0, base_ = 0;            // weights, and the known weight times its entropy
    std::vector<double> known_counts_;
};

}  // namespace conjunto
