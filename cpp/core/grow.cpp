#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <queue>
#include <stdexcept>

#include "combinations.hpp"
#include "grower.hpp"
#include "oblique.hpp"
#include "row_store.hpp"
#include "sides.hpp"
#include "sorted_lists.hpp"
#include "split_category.hpp"
#include "split_histogram.hpp"
#include "split_lanes.hpp"
#include "split_presorted.hpp"
#include "split_random.hpp"
#include "split_sorted.hpp"

namespace conjunto {

namespace {

struct OpenNode {
    std::size_t begin, end;
    std::uint32_t depth;
    std::int32_t parent;  // node number, -1 for the root
    bool left;
    std::uint32_t parent_label;
    std::shared_ptr<std::vector<std::int32_t>> bins;  // its histograms, where they are known already
};

struct PendingSplit {
    OpenNode node;
    Split split;
    std::vector<Term> terms;
    double decrease;
    double weight;
    std::uint32_t label;
    std::size_t serial;
    bool operator<(const PendingSplit& other) const {
        return decrease != other.decrease ? decrease < other.decrease : serial > other.serial;
    }
};

// Grows one tree at a time; keeps its memory from tree to tree.
template <class Tally>
class Grower : public TreeGrower {
public:
    Grower(const Table& table, const GrowOptions& options, const PresortedColumns* presorted)
        : table_(table),
          options_(options),
          presorted_(presorted),
          kernels_(options.search == Search::automatic ? best_kernels() : plain_kernels()),
          choice_(options.k_best) {
        blank_.columns = static_cast<std::uint32_t>(table.columns);
        blank_.classes = options.classes;
        for (const Column& column : table.column) blank_.categories.push_back(column.categories);
    }

    Forest grow(const Views& views, std::size_t member, const GrowRequest& request) override {
        views_ = &views;
        member_ = member;
        leaves_ = request.leaves;
        notes_ = request.notes;
        root_label_ = request.root_label;
        forest_ = blank_;
        forest_.nodes.reserve(last_nodes_);
        forest_.leaf_label.reserve(regression() ? 0 : last_nodes_ + 1);
        combinations_.clear();
        Philox random(views.key, views.number[member], Purpose::tree);
        random_ = request.random ? request.random : &random;
        store_.load(table_, views, member, options_.classes, request.rows);
        if (notes_) start_notes();
        forest_.open_tree(store_.tree_weight, store_.scale);
        seen_ = store_.row.size();
        limits_.min_rows = std::max(options_.min_rows_leaf, 1U);
        load_columns();
        const OpenNode root{0, store_.row.size(), 0, -1, false, 0, nullptr};
        if (options_.max_leaves > 0)
            grow_best_first(root);
        else
            grow_depth_first(root);
        forest_.close_tree();
        last_nodes_ = forest_.nodes.size();
        if (leaves_ && request.rows.empty() && seen_ < table_.rows) find_leaves_of_unseen();
        return std::move(forest_);
    }

private:
    bool regression() const { return options_.classes == 0; }

    // The member's columns in random order: the order decides between equal scores.
    void load_columns() {
        if (views_->columns) {
            const std::uint32_t* first = views_->columns + member_ * views_->columns_seen;
            columns_.assign(first, first + views_->columns_seen);
            std::sort(columns_.begin(), columns_.end());
            columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
        } else {
            columns_.resize(table_.columns);
            std::iota(columns_.begin(), columns_.end(), 0U);
        }
        for (std::size_t i = 0; i + 1 < columns_.size(); ++i)
            std::swap(columns_[i], columns_[i + random_->below(columns_.size() - i)]);
        all_columns_ = options_.max_features >= columns_.size();
        plain_columns_.clear();
        for (const std::uint32_t column : columns_)
            if (!table_.column[column].categorical() && !table_.column[column].missing) plain_columns_.push_back(column);
        choice_.set_out_of_order(plain_columns_.size() < columns_.size());
        // Lists pay where most columns are tried; best-first growth leaves a subtree before it is done.
        lists_worth_it_ = all_columns_ && options_.max_leaves == 0 && (!store_.integer || store_.most_weight <= kListWeight) &&
                          options_.classes <= kMaxLaneClasses;
        lists_.close();
        // With integer counts the histograms of one child are the parent's less the other child's.
        histogram_.counts.clear();
        keeps_bins_ = all_columns_ && store_.integer && !plain_columns_.empty() && options_.max_leaves == 0 && options_.k_best == 1 &&
                      options_.combination == 0 && options_.search != Search::sorted && !options_.random_cuts &&
                      plain_columns_.size() <= kHistogramColumns;
    }

    void grow_depth_first(const OpenNode& root) {
        std::vector<OpenNode> stack{root};
        PendingSplit pending;
        while (!stack.empty()) {
            const OpenNode open = stack.back();
            stack.pop_back();
            if (!examine(open, pending)) continue;
            OpenNode left, right;
            apply(pending, left, right);
            stack.push_back(right);
            stack.push_back(left);
        }
    }

    void grow_best_first(const OpenNode& root) {
        std::priority_queue<PendingSplit> queue;
        std::size_t leaves = 1;
        PendingSplit pending;
        auto consider = [&](const OpenNode& open) {
            if (!examine(open, pending)) return;
            pending.serial = serial_++;
            queue.push(pending);
        };
        serial_ = 0;
        consider(root);
        while (!queue.empty()) {
            PendingSplit next = queue.top();
            queue.pop();
            if (leaves >= options_.max_leaves) {
                read(next.node);
                make_leaf(next.node, next.label);
                continue;
            }
            ++leaves;
            OpenNode left, right;
            if (notes_) read(next.node);
            apply(next, left, right);
            consider(left);
            consider(right);
        }
    }

    void read(const OpenNode& open) { store_.read(open.begin, open.end, options_.classes, node_); }

    bool pure() const {
        if (!regression())
            return std::count_if(node_.class_total.begin(), node_.class_total.end(), [](double w) { return w > 0; }) < 2;
        return store_.one_target(static_cast<std::size_t>(node_.row - store_.row.data()), node_.n);
    }

    // The weighted majority; on a tie the parent's class if it takes part, else the lowest.
    std::uint32_t majority(std::uint32_t parent_label, bool root) const {
        if (regression()) return 0;
        const auto& total = node_.class_total;
        const auto top = std::max_element(total.begin(), total.end());
        if (!root && total[parent_label] == *top) return parent_label;
        return static_cast<std::uint32_t>(top - total.begin());
    }

    // Makes a leaf of the node, or finds its split.
    bool examine(const OpenNode& open, PendingSplit& pending) {
        read(open);
        // Real weights are summed with rounding: a side lighter than that cannot be told from an empty one.
        limits_.min_weight = std::max(options_.min_weight_share_leaf * store_.tree_weight, node_.integer ? 0.0 : 1e-12 * node_.total);
        const bool decided = open.parent < 0 && root_label_ >= 0;
        const std::uint32_t label =
            decided ? static_cast<std::uint32_t>(root_label_) : majority(open.parent_label, open.parent < 0);
        const bool stop = node_.n < options_.min_rows_split || node_.n < 2 * limits_.min_rows ||
                          open.depth >= options_.max_depth || node_.total < 2 * limits_.min_weight || pure();
        if (!stop) {
            tally_.reset();
            choice_.clear();
            histogram_.filled = open.bins != nullptr;
            if (open.bins) histogram_.counts.swap(*open.bins);
            find(open.begin);
            if (choice_.found()) {
                const std::size_t chosen = options_.k_best > 1 ? random_->below(choice_.size()) : 0;
                pending.split = choice_[chosen];
                pending.decrease = std::max(0.0, tally_.decrease(pending.split.score));
                const double absolute = pending.decrease / store_.tree_weight * store_.scale * store_.scale;
                if (absolute + std::numeric_limits<double>::epsilon() >= options_.min_decrease) {
                    pending.node = open;
                    pending.label = label;
                    pending.weight = node_.total;
                    pending.node.bins = nullptr;
                    if (keeps_bins_ && by_bins(node_.n)) {
                        pending.node.bins = open.bins ? open.bins : std::make_shared<std::vector<std::int32_t>>();
                        pending.node.bins->swap(histogram_.counts);
                    }
                    if (pending.split.kind == TestKind::combination) pending.terms = drawn_[pending.split.column];
                    return true;
                }
            }
        }
        make_leaf(open, label);
        return false;
    }

    // Which search suits a node of n rows.
    bool by_lanes(std::size_t n) const { return n <= kLaneRows && table_.most_values <= (1U << 23); }
    bool by_bins(std::size_t n) const {
        return !by_lanes(n) && !table_.bin.empty() && options_.classes * 64 <= n && options_.classes <= 256;
    }

    void find(std::size_t begin) {
        if (options_.combination > 0) {
            find_combination();
            return;
        }
        const std::size_t n_columns = columns_.size();
        // With all columns tried anyway, the first perfect cut ends the search. With a random subset it must not: how many
        // columns are drawn would depend on the search.
        const double perfect = options_.k_best > 1 || !all_columns_ ? INFINITY : tally_.perfect();
        const bool sorted = options_.search == Search::sorted || options_.k_best > 1 || options_.random_cuts;
        const bool presorted = !sorted && presorted_ && !node_.integer;
        const bool by_lanes = !sorted && !presorted && this->by_lanes(node_.n);
        const bool by_bins = !sorted && !presorted && this->by_bins(node_.n);
        const bool by_lists = by_lanes && lists_worth_it_ && has_kernel<Tally>(node_);
        if (by_lists && !lists_.holds(begin, begin + node_.n))
            lists_.open(node_, begin, table_, plain_columns_, kernels_, lanes_);
        if (presorted) presorted_space_.number(node_, table_.rows);
        choice_.set_tolerance(presorted ? PresortedScan::kTolerance : 0.0);
        constexpr bool in_step = !std::is_same_v<Tally, EntropyTally>;
        const std::size_t group_size = by_lanes ? 8 : presorted ? kPresortedColumns : by_bins ? kHistogramColumns : 1;
        std::size_t tried = 0, order = 0;
        std::array<LaneColumn, kHistogramColumns> group;
        while (order < n_columns && (tried < options_.max_features || !choice_.found())) {
            const std::size_t wanted = tried < options_.max_features ? options_.max_features - tried : 1;
            std::size_t grouped = 0, varied = 0;
            while (order < n_columns && grouped + varied < wanted && grouped < group_size) {
                if (!all_columns_) std::swap(columns_[order], columns_[order + random_->below(n_columns - order)]);
                const std::uint32_t column = columns_[order];
                const auto place = static_cast<std::uint32_t>(order++);
                const Column& kind = table_.column[column];
                if (options_.random_cuts)
                    varied += search_random(tally_, node_, limits_, table_, column, place, *random_, random_space_, choice_);
                else if (kind.categorical())
                    varied += search_category(tally_, node_, limits_, table_, column, place, category_, choice_);
                else if (presorted && (kind.missing || !in_step))
                    varied += search_presorted_column(tally_, node_, limits_, table_, {column, place}, *presorted_,
                                                      presorted_space_, choice_);
                else if (kind.missing || !(by_lanes || by_bins || presorted))
                    varied += search_sorted(tally_, node_, limits_, table_, column, place, sorted_, choice_);
                else
                    group[grouped++] = {column, place};
            }
            const std::span<const LaneColumn> columns(group.data(), grouped);
            if (grouped && presorted)
                varied += search_presorted<Tally>(node_, limits_, table_, columns, *presorted_, kernels_, presorted_space_, choice_);
            else if (grouped && by_lists)
                varied += lists_.search<Tally>(node_, begin, limits_, table_, columns, kernels_, lanes_, choice_);
            else if (grouped && by_lanes)
                varied += search_lanes(tally_, node_, limits_, table_, columns, kernels_, lanes_, choice_);
            else if (grouped)
                varied += search_histogram(tally_, node_, limits_, table_, columns, kernels_, histogram_, choice_);
            tried += varied;
            if (choice_.found() && choice_.least() >= perfect) return;
        }
        if (options_.oblique) {
            drawn_.resize(1);
            oblique_.search({columns_.data(), order}, combinations_, drawn_[0], choice_);
        }
    }

    void find_combination() {
        drawn_.clear();
        const std::size_t length = std::min<std::size_t>(options_.combination, columns_.size());
        // Combinations constant in the node do not count, but there is an end to drawing others.
        const std::size_t attempts = 10UL * options_.max_features + 100;
        std::size_t tried = 0;
        for (std::uint32_t number = 0; number < attempts; ++number) {
            if (tried >= options_.max_features && choice_.found()) break;
            drawn_.push_back(combinations_.draw(*random_, columns_, length));
            values_.resize(node_.n);
            for (std::size_t i = 0; i < node_.n; ++i) values_[i] = combinations_.value(drawn_.back(), node_.row[i]);
            tried += search_values(tally_, node_, limits_, std::span<const double>(values_), number, number, sorted_, choice_);
        }
    }

    void start_notes() {
        notes_->clear();
        notes_->width = regression() ? 3 : options_.classes;
        notes_->center = store_.center;
        notes_->scale = store_.scale;
        notes_->weight = store_.tree_weight;
    }

    // Notes what was last read of a node.
    void note(std::vector<double>& totals, std::vector<std::uint32_t>& rows, std::vector<std::int32_t>& labels, std::uint32_t label) {
        rows.push_back(static_cast<std::uint32_t>(node_.n));
        if (regression()) {
            totals.insert(totals.end(), {node_.total, node_.total_moment, squares()});
            return;
        }
        totals.insert(totals.end(), node_.class_total.begin(), node_.class_total.end());
        labels.push_back(static_cast<std::int32_t>(label));
    }

    // The weighted sum of squared targets of the node.
    double squares() const { return store_.squares(static_cast<std::size_t>(node_.row - store_.row.data()), node_.n); }

    std::int32_t add_leaf_of_values() {
        const double mean = node_.total_moment / node_.total;
        const double variance = pure() ? 0.0 : std::fmax(0.0, squares() / node_.total - mean * mean);
        return forest_.add_leaf(store_.center + store_.scale * mean, node_.n, node_.total, variance);
    }

    void make_leaf(const OpenNode& open, std::uint32_t label) {
        const std::int32_t number =
            regression() ? add_leaf_of_values()
                         : forest_.add_leaf(node_.class_total.data(), static_cast<std::int32_t>(label), node_.n);
        if (notes_) note(notes_->leaf_totals, notes_->leaf_rows, notes_->leaf_label, label);
        if (leaves_)
            for (std::size_t i = open.begin; i < open.end; ++i) leaves_[store_.row[i]] = number;
        link(open, ~number);
    }

    void find_leaves_of_unseen() {
        std::vector<bool> seen(table_.rows);
        for (const std::uint32_t row : store_.row) seen[row] = true;
        std::vector<double> space(table_.columns);
        for (std::size_t row = 0; row < table_.rows; ++row) {
            if (seen[row]) continue;
            const double* x = table_.values_of(row, space.data());
            std::int32_t at = forest_.nodes.empty() ? ~0 : 0;
            while (at >= 0) at = goes_left(forest_, forest_.nodes[at], x) ? forest_.nodes[at].left : forest_.nodes[at].right;
            leaves_[row] = ~at;
        }
    }

    void link(const OpenNode& open, std::int32_t child) {
        if (open.parent < 0) return;
        Node& parent = forest_.nodes[open.parent];
        (open.left ? parent.left : parent.right) = child;
    }

    // Stores the node and moves its rows to their sides.
    void apply(PendingSplit& pending, OpenNode& left, OpenNode& right) {
        const OpenNode& open = pending.node;
        Split& split = pending.split;
        const auto number = static_cast<std::int32_t>(forest_.nodes.size());
        if (number == std::numeric_limits<std::int32_t>::max()) throw std::length_error("a tree has too many nodes");
        link(open, number);
        if (notes_) note(notes_->totals, notes_->rows, notes_->label, pending.label);

        const std::size_t n = open.end - open.begin;
        const std::size_t to_left = sides_.find(open.begin, n, pending.weight, pending.terms, split);
        store_.partition(open.begin, n, sides_.data(), kernels_);
        if (lists_.holds(open.begin, open.end)) {
            const bool needed = !store_.one_class(open.begin, to_left) || !store_.one_class(open.begin + to_left, n - to_left);
            lists_.partition(open.begin, n, sides_.data(), needed, kernels_);
        }

        Node node{};
        node.gain = static_cast<float>(pending.decrease / store_.tree_weight);
        node.test = split.column | (split.missing_left ? Node::kMissingLeft : 0U);
        if (split.kind == TestKind::combination) {
            node.threshold = split.threshold;
            node.test = (node.test & ~Node::kIndex) | Node::kCombination | combinations_.store(pending.terms, forest_);
        } else if (split.kind == TestKind::category) {
            node.test |= Node::kCategory;
            node.threshold = static_cast<double>(forest_.sets.size());
            sides_.store_set(split, open.begin, n, forest_);
        } else {
            node.threshold = split.high == kMissing ? std::numeric_limits<double>::max()
                             : split.drawn          ? split.threshold
                                                    : midpoint(table_.value(split.low_row, split.column),
                                                               table_.value(split.high_row, split.column));
        }
        forest_.nodes.push_back(node);
        const std::size_t middle = open.begin + to_left;
        left = {open.begin, middle, open.depth + 1, number, true, pending.label, nullptr};
        right = {middle, open.end, open.depth + 1, number, false, pending.label, nullptr};
        if (open.bins) pass_bins_on(open.bins, left, right);
    }

    // Counts the smaller child; the larger one gets the rest of the parent's histograms.
    void pass_bins_on(const std::shared_ptr<std::vector<std::int32_t>>& bins, OpenNode& left, OpenNode& right) {
        const bool left_is_smaller = left.end - left.begin < right.end - right.begin;
        OpenNode& smaller = left_is_smaller ? left : right;
        OpenNode& larger = left_is_smaller ? right : left;
        if (!by_bins(larger.end - larger.begin)) return;
        NodeRows rows;
        rows.integer = true;
        rows.row = store_.row.data() + smaller.begin;
        rows.payload = store_.payload() + smaller.begin;
        rows.n = smaller.end - smaller.begin;
        rows.class_total.resize(options_.classes);
        std::array<LaneColumn, kHistogramColumns> columns;
        for (std::size_t c = 0; c < plain_columns_.size(); ++c) columns[c] = {plain_columns_[c], 0};
        detail::fill_histograms(tally_, rows, table_, {columns.data(), plain_columns_.size()}, histogram_);
        for (std::size_t i = 0; i < bins->size(); ++i) (*bins)[i] -= histogram_.counts[i];
        larger.bins = bins;
        if (!by_bins(rows.n)) return;
        smaller.bins = std::make_shared<std::vector<std::int32_t>>();
        smaller.bins->swap(histogram_.counts);
    }

    const Table& table_;
    const GrowOptions options_;
    const PresortedColumns* presorted_;  // where the root is the only node to be split
    const Kernels& kernels_;

    const Views* views_ = nullptr;
    std::size_t member_ = 0, seen_ = 0;
    std::int32_t* leaves_ = nullptr;
    TreeNotes* notes_ = nullptr;
    std::int32_t root_label_ = -1;
    Philox* random_ = nullptr;
    Forest blank_, forest_;
    std::size_t last_nodes_ = 0;  // of the tree before: the next one will be about as large
    RowStore store_;
    NodeRows node_;
    Tally tally_{node_};
    Limits limits_;
    std::vector<std::uint32_t> columns_, plain_columns_;
    bool all_columns_ = true, lists_worth_it_ = false, keeps_bins_ = false;
    std::size_t serial_ = 0;

    Choice choice_;
    SortedSpace sorted_;
    RandomSpace random_space_;
    CategorySpace category_;
    PresortedSpace presorted_space_;
    LaneSpace lanes_;
    SortedLists lists_;
    HistogramSpace histogram_;
    Combinations combinations_{table_};
    std::vector<std::vector<Term>> drawn_;
    ObliqueSearch<Tally> oblique_{table_, node_, limits_, tally_};
    std::vector<double> values_;
    Sides sides_{table_, store_, combinations_};
};

}  // namespace

std::unique_ptr<TreeGrower> make_grower(const Table& table, const GrowOptions& options, const PresortedColumns* presorted) {
    if (options.criterion == Criterion::variance || (options.criterion == Criterion::gini && options.classes == 2))
        return std::make_unique<Grower<MomentTally>>(table, options, presorted);
    if (options.criterion == Criterion::gini) return std::make_unique<Grower<GiniTally>>(table, options, presorted);
    return std::make_unique<Grower<EntropyTally>>(table, options, presorted);
}

}  // namespace conjunto
