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
#include "split_search.hpp"
#include "split_sorted.hpp"

namespace conjunto {

namespace {

struct OpenNode {
    std::size_t begin, end;
    std::uint32_t depth;
    std::int32_t parent;  // node number, -1 for the root
    bool left;
    std::uint32_t parent_label;
    LiveColumns columns;
    KeptBins bins;
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
          kernels_(options.search == Search::automatic ? best_kernels() : plain_kernels()),
          search_(table, options_, presorted, kernels_, node_, limits_) {
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
        const OpenNode root{0, store_.row.size(), 0, -1, false, 0, load_columns(), nullptr};
        search_.start(root.columns, store_.integer, store_.most_weight);
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
    LiveColumns load_columns() {
        const auto list = std::make_shared<std::vector<std::uint32_t>>();
        std::vector<std::uint32_t>& columns = *list;
        if (views_->columns) {
            const std::uint32_t* first = views_->columns + member_ * views_->columns_seen;
            columns.assign(first, first + views_->columns_seen);
            std::sort(columns.begin(), columns.end());
            columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        } else {
            columns.resize(table_.columns);
            std::iota(columns.begin(), columns.end(), 0U);
        }
        for (std::size_t i = 0; i + 1 < columns.size(); ++i)
            std::swap(columns[i], columns[i + random_->below(columns.size() - i)]);
        return {list, columns.size()};
    }

    void grow_depth_first(const OpenNode& root) {
        std::vector<OpenNode> stack{root};
        PendingSplit pending;
        while (!stack.empty()) {
            OpenNode open = std::move(stack.back());
            stack.pop_back();
            if (!examine(open, pending)) continue;
            OpenNode left, right;
            apply(pending, left, right);
            stack.push_back(std::move(right));
            stack.push_back(std::move(left));
        }
    }

    void grow_best_first(const OpenNode& root) {
        std::priority_queue<PendingSplit> queue;
        std::size_t leaves = 1;
        PendingSplit pending;
        auto consider = [&](OpenNode& open) {
            if (!examine(open, pending)) return;
            pending.serial = serial_++;
            queue.push(pending);
        };
        serial_ = 0;
        OpenNode first = root;
        consider(first);
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

    // Makes a leaf of the node, or finds its split, which takes the node over.
    bool examine(OpenNode& open, PendingSplit& pending) {
        read(open);
        // Real weights are summed with rounding: a side lighter than that cannot be told from an empty one.
        limits_.min_weight = std::max(options_.min_weight_share_leaf * store_.tree_weight, node_.integer ? 0.0 : 1e-12 * node_.total);
        const bool decided = open.parent < 0 && root_label_ >= 0;
        const std::uint32_t label =
            decided ? static_cast<std::uint32_t>(root_label_) : majority(open.parent_label, open.parent < 0);
        const bool stop = node_.n < options_.min_rows_split || node_.n < 2 * limits_.min_rows ||
                          open.depth >= options_.max_depth || node_.total < 2 * limits_.min_weight || pure();
        if (!stop) {
            const Choice& choice = find(open);
            if (choice.found()) {
                const std::size_t chosen = options_.k_best > 1 ? random_->below(choice.size()) : 0;
                pending.split = choice[chosen];
                pending.decrease = std::max(0.0, search_.tally().decrease(pending.split.score));
                const double absolute = pending.decrease / store_.tree_weight * store_.scale * store_.scale;
                if (absolute + std::numeric_limits<double>::epsilon() >= options_.min_decrease) {
                    open.columns = search_.left_of(open.columns);
                    pending.node = std::move(open);
                    pending.label = label;
                    pending.weight = node_.total;
                    if (pending.split.kind == TestKind::combination) pending.terms = drawn_[pending.split.column];
                    return true;
                }
            }
        }
        make_leaf(open, label);
        return false;
    }

    const Choice& find(OpenNode& open) {
        if (options_.combination > 0) return find_combination(*open.columns.list);
        Choice& choice = search_.find(open.begin, open.columns, *random_, open.bins);
        if (options_.oblique) {
            drawn_.resize(1);
            oblique_.search(open.columns.span().first(search_.drawn()), combinations_, drawn_[0], choice);
        }
        return choice;
    }

    const Choice& find_combination(std::vector<std::uint32_t>& columns) {
        Choice& choice = search_.begin();
        drawn_.clear();
        const std::size_t length = std::min<std::size_t>(options_.combination, columns.size());
        // Combinations constant in the node do not count, but there is an end to drawing others.
        const std::size_t attempts = 10UL * options_.max_features + 100;
        std::size_t tried = 0;
        for (std::uint32_t number = 0; number < attempts; ++number) {
            if (tried >= options_.max_features && choice.found()) break;
            drawn_.push_back(combinations_.draw(*random_, columns, length));
            values_.resize(node_.n);
            for (std::size_t i = 0; i < node_.n; ++i) values_[i] = combinations_.value(drawn_.back(), node_.row[i]);
            tried += search_values(search_.tally(), node_, limits_, std::span<const double>(values_), number, number, sorted_, choice);
        }
        return choice;
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
        for (std::size_t row = 0; row < table_.rows; ++row) {
            if (seen[row]) continue;
            const auto x = [&](std::size_t column) { return table_.value(row, column); };
            std::int32_t at = forest_.nodes.empty() ? ~0 : 0;
            while (at >= 0) at = goes_left_by(forest_, forest_.nodes[at], x) ? forest_.nodes[at].left : forest_.nodes[at].right;
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
        OpenNode& open = pending.node;
        Split& split = pending.split;
        const auto number = static_cast<std::int32_t>(forest_.nodes.size());
        if (number == std::numeric_limits<std::int32_t>::max()) throw std::length_error("a tree has too many nodes");
        link(open, number);
        if (notes_) note(notes_->totals, notes_->rows, notes_->label, pending.label);

        const std::size_t n = open.end - open.begin;
        const std::size_t to_left = sides_.find(open.begin, n, pending.weight, pending.terms, split);
        store_.partition(open.begin, n, sides_.data(), kernels_);
        if (SortedLists& lists = search_.lists(); lists.holds(open.begin, open.end)) {
            const bool needed = !store_.one_class(open.begin, to_left) || !store_.one_class(open.begin + to_left, n - to_left);
            lists.partition(open.begin, n, sides_.data(), needed, kernels_);
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
            node.threshold = threshold_of(split);
        }
        forest_.nodes.push_back(node);
        const std::size_t middle = open.begin + to_left;
        left = {open.begin, middle, open.depth + 1, number, true, pending.label, open.columns, nullptr};
        right = {middle, open.end, open.depth + 1, number, false, pending.label, std::move(open.columns), nullptr};
        if (open.bins) pass_bins_on(open.bins, left, right);
        pending.node.bins = nullptr;
    }

    void pass_bins_on(const KeptBins& bins, OpenNode& left, OpenNode& right) {
        const bool left_is_smaller = left.end - left.begin < right.end - right.begin;
        OpenNode& smaller = left_is_smaller ? left : right;
        OpenNode& larger = left_is_smaller ? right : left;
        NodeRows rows;
        rows.integer = true;
        rows.row = store_.row.data() + smaller.begin;
        rows.payload = store_.payload() + smaller.begin;
        rows.n = smaller.end - smaller.begin;
        rows.class_total.resize(options_.classes);
        search_.pass_on(bins, rows, larger.end - larger.begin, smaller.bins, larger.bins);
    }

    double threshold_of(const Split& split) const {
        if (split.high == kMissing) return std::numeric_limits<double>::max();
        if (split.drawn) return split.threshold;
        const Column& column = table_.column[split.column];
        if (column.counted) {
            const std::vector<double>& above = column.least_of.empty() ? column.value_of : column.least_of;
            return midpoint(column.value_of[split.low], above[split.high]);
        }
        return midpoint(table_.value(split.low_row, split.column), table_.value(split.high_row, split.column));
    }

    const Table& table_;
    const GrowOptions options_;
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
    Limits limits_;
    std::size_t serial_ = 0;

    SplitSearch<Tally> search_;
    SortedSpace sorted_;
    Combinations combinations_{table_};
    std::vector<std::vector<Term>> drawn_;
    ObliqueSearch<Tally> oblique_{table_, node_, limits_, search_.tally()};
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
