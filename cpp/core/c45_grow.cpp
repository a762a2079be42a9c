#include <algorithm>
#include <memory>
#include <numeric>

#include "c45_rows.hpp"
#include "c45_search.hpp"
#include "parallel.hpp"

namespace conjunto {

namespace {

// A subtree must save this many training errors, or it becomes a leaf.
constexpr double kCollapse = 1e-3;
// Larger sums of weights compute their logarithms.
constexpr double kMostLogs = 1 << 20;

// What all members share: the rows sorted by each numeric column, the codes that each categorical column has.
struct Shared {
    std::vector<std::vector<std::uint64_t>> sorted;
    std::vector<std::vector<std::uint32_t>> seen;
};

Shared sort_columns(const Table& table, std::size_t threads) {
    Shared shared;
    shared.sorted.resize(table.columns);
    shared.seen.resize(table.columns);
    parallel_for(table.columns, threads, [&](std::size_t c, std::size_t) {
        const Column& column = table.column[c];
        const std::size_t values = column.categorical() ? column.categories : column.values;
        // Places by rank; missing values come last.
        std::vector<std::size_t> place(values + 2, 0);
        auto rank_of = [&](std::size_t row) { return table.ranks_of(row)[c]; };
        for (std::size_t row = 0; row < table.rows; ++row) ++place[std::min<std::size_t>(rank_of(row), values) + 1];
        if (column.categorical()) {
            for (std::uint32_t code = 0; code < values; ++code)
                if (place[code + 1] > 0) shared.seen[c].push_back(code);
            return;
        }
        std::partial_sum(place.begin(), place.end(), place.begin());
        shared.sorted[c].resize(table.rows);
        for (std::size_t row = 0; row < table.rows; ++row)
            shared.sorted[c][place[std::min<std::size_t>(rank_of(row), values)]++] = std::uint64_t{rank_of(row)} << 32 | row;
    });
    return shared;
}

class C45Grower {
public:
    C45Grower(const Table& table, const Shared& shared, const LogTable& logs, const C45Options& options)
        : table_(table), shared_(shared), logs_(logs), options_(options), search_(table, options, logs, rows_) {}

    C45Forest grow(const Views& views, std::size_t member) {
        std::vector<std::uint32_t> columns(views.columns ? views.columns_seen : table_.columns);
        if (views.columns)
            std::copy_n(views.columns + member * views.columns_seen, columns.size(), columns.begin());
        else
            std::iota(columns.begin(), columns.end(), 0U);
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        std::vector<const std::uint64_t*> sorted;
        for (const std::uint32_t c : columns)
            if (!table_.column[c].categorical()) sorted.push_back(shared_.sorted[c].data());
        rows_.load(table_, views, member, sorted);
        search_.start(columns, sorted, shared_.seen);
        tested_.assign(table_.columns, 0);
        tree_.nodes.assign(1, {});
        tree_.routes.clear();
        tree_.counts.clear();
        counts_.assign(options_.classes, 0.0);
        grow_tree();
        if (options_.prune) prune_c45(tree_, rows_, table_, options_);
        return pack();
    }

private:
    // A node whose children are being grown. The stack is explicit: the gain ratio likes to cut off ends, and trees can
    // be as deep as there are rows.
    struct Open {
        std::uint32_t node, depth, next;
        C45Rows::Range range;
        C45Rows::Division division;
        bool whole;
        double errors;       // of the leaves below, so far
        double leaf_errors;  // if it were a leaf
    };

    void grow_tree() {
        const bool whole = rows_.whole && rows_.total < static_cast<double>(logs_.size());
        visit(0, 0, GrownNode::kLeaf, rows_.all(), whole);
        while (!open_.empty()) {
            Open& open = open_.back();
            const GrownNode& node = tree_.nodes[open.node];
            if (open.next == node.branches) {
                close();
                continue;
            }
            const std::uint32_t branch = open.next++, child = node.first + branch;
            const C45Rows::Range range = rows_.enter(open.division, branch, rows_.list.size());
            if (range.empty()) {
                make_empty_leaf(tree_.nodes[child], node.label);
                continue;
            }
            tree_.nodes[child].share = rows_.branch_share(open.division, branch);
            visit(child, open.depth + 1, node.label, range, open.whole && open.division.unknown == 0);
        }
    }

    // Makes a leaf of the node, or finds its test and opens it.
    void visit(std::uint32_t number, std::uint32_t depth, std::uint32_t parent_label, C45Rows::Range range, bool whole) {
        const double weight = rows_.count(range, counts_);
        GrownNode node = tree_.nodes[number];
        node.weight = weight;
        node.label = majority(counts_, weight, parent_label);
        const double errors = weight - counts_[node.label];
        const auto classes = std::count_if(counts_.begin(), counts_.end(), [](double count) { return count > 0; });
        const bool stop = classes < 2 || depth >= options_.max_depth || too_light(weight);
        if (stop || !search_.find(range, counts_, weight, whole, tested_, tree_, node)) {
            make_leaf(tree_, node, counts_);
            tree_.nodes[number] = node;
            if (!open_.empty()) open_.back().errors += errors;
            return;
        }
        ++tested_[node.column];
        node.first = static_cast<std::uint32_t>(tree_.nodes.size());
        tree_.nodes[number] = node;
        tree_.nodes.resize(tree_.nodes.size() + node.branches);
        const C45Rows::Division division = rows_.divide(table_, tree_, node, range);
        if (needs_sorted_lists(division, depth + 1)) rows_.partition_sorted(division);
        open_.push_back({number, depth, 0, range, division, whole, 0.0, errors});
    }

    bool too_light(double weight) const { return weight < (2 * options_.min_objects) * (1 - kRounding); }

    // Whether any branch can be divided again.
    bool needs_sorted_lists(const C45Rows::Division& division, std::uint32_t depth) const {
        if (division.unknown > 0) return true;
        if (depth >= options_.max_depth) return false;
        for (std::uint32_t branch = 0; branch < division.branches; ++branch) {
            if (too_light(rows_.branch_weight(division, branch))) continue;
            const auto [begin, end] = rows_.known_rows(division, branch);
            auto label = [&](std::size_t i) { return rows_.item[C45Rows::row_of(rows_.list[0][i])].label; };
            for (std::size_t i = begin + 1; i < end; ++i)
                if (label(i) != label(begin)) return true;
        }
        return false;
    }

    void close() {
        const Open open = open_.back();
        open_.pop_back();
        rows_.leave(open.division);
        GrownNode& node = tree_.nodes[open.node];
        --tested_[node.column];
        double errors = open.errors;
        if (options_.collapse && errors >= open.leaf_errors - kCollapse) {
            rows_.count(open.range, counts_);
            make_leaf(tree_, node, counts_);
            errors = open.leaf_errors;
        }
        if (!open_.empty()) open_.back().errors += errors;
    }

    C45Forest pack() const;

    const Table& table_;
    const Shared& shared_;
    const LogTable& logs_;
    const C45Options& options_;
    C45Rows rows_;
    C45Search search_;
    GrownTree tree_;
    std::vector<Open> open_;
    std::vector<std::uint32_t> tested_;  // by column: how many open nodes test it
    std::vector<double> counts_;
};

C45Forest empty_forest(const Table& table, const C45Options& options) {
    C45Forest forest;
    forest.columns = static_cast<std::uint32_t>(table.columns);
    forest.classes = options.classes;
    for (const Column& column : table.column) forest.categories.push_back(column.categories);
    return forest;
}

// Nodes and leaves in the order of a walk that goes down the first branch first.
C45Forest C45Grower::pack() const {
    C45Forest out = empty_forest(table_, options_);
    struct Place {
        std::uint32_t node;
        std::size_t entry;  // of the parent's list of children
    };
    constexpr std::size_t root = std::numeric_limits<std::size_t>::max();
    std::vector<Place> todo{{0, root}};
    while (!todo.empty()) {
        const auto [number, entry] = todo.back();
        todo.pop_back();
        const GrownNode& node = tree_.nodes[number];
        const std::size_t place = node.leaf() ? out.leaf_label.size() : out.nodes.size();
        if (entry != root) out.child[entry] = node.leaf() ? ~static_cast<std::int32_t>(place) : static_cast<std::int32_t>(place);
        if (!node.leaf()) {
            C45Node packed{node.threshold, node.column, static_cast<std::uint32_t>(out.child.size()), node.branches,
                           static_cast<float>(node.gain * (node.weight / rows_.total))};
            if (table_.column[node.column].categorical()) {
                packed.threshold = static_cast<double>(out.route.size());
                const auto first = tree_.routes.begin() + static_cast<std::ptrdiff_t>(node.route);
                out.route.insert(out.route.end(), first, first + table_.column[node.column].categories);
            }
            out.nodes.push_back(packed);
            for (std::uint32_t branch = 0; branch < node.branches; ++branch) {
                out.child.push_back(0);
                out.share.push_back(tree_.nodes[node.first + branch].share);
            }
            for (std::uint32_t branch = node.branches; branch-- > 0;)
                todo.push_back({node.first + branch, packed.first + branch});
        } else if (node.counts == GrownNode::kOneClass) {
            out.leaf_label.push_back(static_cast<std::int32_t>(node.label));
        } else {
            out.leaf_label.push_back(~static_cast<std::int32_t>(out.share_label.size()));
            out.share_label.push_back(static_cast<std::int32_t>(node.label));
            for (std::size_t k = 0; k < options_.classes; ++k)
                out.shares.push_back(tree_.counts[node.counts + k] / node.weight);
        }
    }
    out.node_start.push_back(out.nodes.size());
    out.child_start.push_back(out.child.size());
    out.route_start.push_back(out.route.size());
    out.leaf_start.push_back(out.leaf_label.size());
    out.share_start.push_back(out.share_label.size());
    return out;
}

// As many logarithms as the heaviest member needs.
LogTable make_logs(const Table& table, const Views& views) {
    double most = static_cast<double>(table.rows);
    for (std::size_t member = 0; member < views.members; ++member) {
        double total = 0;
        for (std::size_t row = 0; row < table.rows && (views.small_weights || views.weights); ++row)
            total += views.weights ? views.weights[member * table.rows + row] : views.small_weights[member * table.rows + row];
        most = std::max(most, total);
    }
    return LogTable(static_cast<std::size_t>(std::min(most, kMostLogs)) + 1);
}

}  // namespace

C45Forest grow_c45(const Table& table, const Views& views, const C45Options& options) {
    const Shared shared = sort_columns(table, options.threads);
    const LogTable logs = make_logs(table, views);
    std::vector<std::unique_ptr<C45Grower>> growers(std::max<std::size_t>(options.threads, 1));
    std::vector<C45Forest> grown(views.members);
    parallel_for(views.members, options.threads, [&](std::size_t member, std::size_t worker) {
        if (!growers[worker]) growers[worker] = std::make_unique<C45Grower>(table, shared, logs, options);
        grown[member] = growers[worker]->grow(views, member);
    });
    C45Forest forest = empty_forest(table, options);
    for (C45Forest& tree : grown) {
        forest.append(tree);
        tree = C45Forest();
    }
    return forest;
}

}  // namespace conjunto
