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
#include "tally_error.hpp"
#include "tally_median.hpp"
#include "tally_outputs.hpp"
#include "tally_poisson.hpp"
#include "unfold.hpp"

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
    double low = -INFINITY, high = INFINITY;  // what its values have to stay between (monotone constraints)
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
        blank_.outputs = options.outputs;
        if (!options_.monotone.empty()) limits_.monotone = options_.monotone.data();
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
        store_.load(table_, views, member, options_, request.rows);
        forest_.open_tree(store_.tree_weight, store_.scale);
        if (notes_) start_notes();
        seen_ = store_.row.size();
        limits_.min_rows = std::max(options_.min_rows_leaf, 1U);
        const OpenNode root{0, store_.row.size(), 0, -1, false, 0, load_columns(), nullptr};
        search_.start(root.columns, store_.integer, store_.most_weight);
        if (options_.max_leaves > 0)
            grow_best_first(root);
        else
            grow_depth_first(root);
        forest_.close_tree();
        if (notes_ && notes_->as_leaves) notes_->inner.close_tree();
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
            if (notes_ || keeps_inner_values()) read(next.node);
            apply(next, left, right);
            consider(left);
            consider(right);
        }
    }

    void read(const OpenNode& open) {
        store_.read(open.begin, open.end, node_);
        limits_.low = open.low;
        limits_.high = open.high;
    }

    bool pure() const {
        if (regression()) return store_.one_target(begin(), node_.n);
        const auto one_class = [](const NodeRows& node) {
            return std::count_if(node.class_total.begin(), node.class_total.end(), [](double w) { return w > 0; }) < 2;
        };
        return node_.outputs.empty() ? one_class(node_) : std::ranges::all_of(node_.outputs, one_class);
    }
    // Where the rows of the node that was read last begin in the store.
    std::size_t begin() const { return static_cast<std::size_t>(node_.row - store_.row.data()); }

    // The weighted majority; on a tie the parent's class if it takes part, else the lowest.
    std::uint32_t majority(std::uint32_t parent_label, bool root) const {
        if (regression() || !node_.outputs.empty()) return 0;
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
                const double absolute = pending.decrease / store_.tree_weight * unit_of_impurity();
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
        if constexpr (!Tally::kOrdered) {
            if (!options_.oblique) return choice;
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

    // By what impurities in the store's own unit are multiplied.
    double unit_of_impurity() const {
        return options_.criterion == Criterion::variance ? store_.scale * store_.scale : store_.scale;
    }

    void start_notes() {
        notes_->clear();
        notes_->as_leaves = !options_.outputs.empty() || options_.criterion == Criterion::absolute_error ||
                            options_.criterion == Criterion::poisson || !options_.monotone.empty();
        if (notes_->as_leaves) {
            notes_->inner = blank_;
            notes_->inner.open_tree(store_.tree_weight, store_.scale);
        }
        notes_->width = regression() ? 3 : options_.classes;
        notes_->center = store_.center();
        notes_->scale = store_.scale;
        notes_->weight = store_.tree_weight;
    }

    // Notes what was last read of a node.
    void note(std::vector<double>& totals, std::vector<std::uint32_t>& rows, std::vector<std::int32_t>& labels, std::uint32_t label) {
        rows.push_back(static_cast<std::uint32_t>(node_.n));
        if (notes_->as_leaves) return;
        if (regression()) {
            totals.insert(totals.end(), {node_.total, node_.total_moment, squares()});
            return;
        }
        totals.insert(totals.end(), node_.class_total.begin(), node_.class_total.end());
        labels.push_back(static_cast<std::int32_t>(label));
    }

    // The weighted sum of squared targets of the node.
    double squares() const { return store_.squares(begin(), node_.n); }

    // What a leaf of these rows answers for a target, in the store's unit.
    double value_of(const NodeRows& node) {
        if (options_.criterion != Criterion::absolute_error) return node.total_moment / node.total;
        middle_.clear();
        for (std::size_t i = 0; i < node.n; ++i) middle_.emplace_back(node.target[i], node.weight[i]);
        return median_of(middle_);
    }

    // The impurity of the node for one target, in the unit of impurities.
    double impurity_of(const NodeRows& node, std::size_t output, double value) const {
        double sum = 0;
        if (options_.criterion == Criterion::variance)
            return std::fmax(0.0, store_.squares(begin(), node.n, output) / node.total - value * value);
        for (std::size_t i = 0; i < node.n; ++i) {
            const double y = node.target[i];
            if (options_.criterion == Criterion::absolute_error)
                sum += node.weight[i] * std::fabs(y - value);
            else if (y > 0)
                sum += node.weight[i] * y * std::log(y / value);
        }
        return std::fmax(0.0, sum / node.total);
    }

    // The rows of the node by each target.
    std::span<const NodeRows> outputs() const {
        return node_.outputs.empty() ? std::span<const NodeRows>(&node_, 1) : std::span<const NodeRows>(node_.outputs);
    }

    // Adds the node that was read last to a forest as a leaf.
    std::int32_t add_leaf(Forest& forest, std::uint32_t label) {
        if (regression()) return add_leaf_of_values(forest);
        if (limits_.monotone) return add_bounded_leaf(forest);
        if (node_.outputs.empty()) return forest.add_leaf(node_.class_total.data(), static_cast<std::int32_t>(label), node_.n);
        values_.clear();
        for (const NodeRows& output : outputs()) values_.insert(values_.end(), output.class_total.begin(), output.class_total.end());
        return forest.add_leaf_of_outputs(values_.data(), node_.n);
    }

    std::int32_t add_leaf_of_values(Forest& forest) {
        const bool one_value = pure();
        impurity_ = 0;
        values_.clear();
        for (std::size_t o = 0; o < store_.outputs(); ++o) {
            const NodeRows& node = outputs()[o];
            const double value = value_of(node);
            if (!one_value) impurity_ += impurity_of(node, o, value) / static_cast<double>(store_.outputs());
            values_.push_back(bounded_value(o, value));
        }
        return forest.add_leaf_of_values(values_.data(), node_.n, node_.total, impurity_);
    }

    // A share outside of the bounds goes back to them, and the class follows from the share.
    std::int32_t add_bounded_leaf(Forest& forest) {
        const double total = node_.class_total[0] + node_.class_total[1];
        const double second = total * std::clamp(node_.class_total[1] / total, limits_.low, limits_.high);
        const std::array<double, 2> weight{total - second, second};
        return forest.add_leaf(weight.data(), 2 * second > total, node_.n);
    }

    // What the node, whose leaf was added last, gets wrong by the criterion of growth, in units of weight.
    double risk() const {
        if (regression()) return impurity_ * node_.total * unit_of_impurity();
        double sum = 0;
        for (const NodeRows& output : outputs())
            sum += class_impurity(output.class_total.data(), output.class_total.size(), output.total, options_.criterion);
        return sum / static_cast<double>(outputs().size()) * node_.total;
    }

    void make_leaf(const OpenNode& open, std::uint32_t label) {
        const std::int32_t number = add_leaf(forest_, label);
        if (notes_) {
            note(notes_->leaf_totals, notes_->leaf_rows, notes_->leaf_label, label);
            if (notes_->as_leaves) notes_->leaf_risk.push_back(risk());
        }
        if (leaves_)
            for (std::size_t i = open.begin; i < open.end; ++i) leaves_[store_.row[i]] = number;
        link(open, ~number);
    }

    // Notes what an inner node, which was read last, would be as a leaf.
    void note_as_leaf(std::uint32_t label) {
        add_leaf(notes_->inner, label);
        notes_->risk.push_back(risk());
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
        if (notes_) {
            note(notes_->totals, notes_->rows, notes_->label, pending.label);
            if (notes_->as_leaves) note_as_leaf(pending.label);
        }
        if (keeps_inner_values()) keep_inner_values();

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
        left.low = right.low = open.low;
        left.high = right.high = open.high;
        if (limits_.monotone) bound(split, left, right);
        if (open.bins) pass_bins_on(open.bins, left, right);
        pending.node.bins = nullptr;
    }

    // Medians, and values that are kept in bounds, do not follow from those of the leaves.
    bool keeps_inner_values() const {
        return options_.criterion == Criterion::absolute_error || (regression() && limits_.monotone);
    }

    void keep_inner_values() {
        for (std::size_t o = 0; o < store_.outputs(); ++o)
            forest_.inner_value.push_back(bounded_value(o, value_of(outputs()[o])));
    }

    // A value of a target in the store's unit, kept in bounds, as users have it.
    double bounded_value(std::size_t output, double value) const {
        return store_.center(output) + store_.scale * std::clamp(value, limits_.low, limits_.high);
    }

    // A constrained column parts the values that are allowed, half-way between those of the two sides.
    void bound(const Split& split, OpenNode& left, OpenNode& right) {
        const int sign = split.kind == TestKind::numeric ? limits_.monotone[split.column] : 0;
        if (sign == 0) return;
        const auto value = [&](const OpenNode& open) {
            store_.read(open.begin, open.end, node_);
            return value_of(node_);
        };
        const double l = value(left), r = value(right);
        // Values inside of the bounds were seen as sums in another order: rounding must not lead out of them.
        const double middle = std::clamp(l / 2 + r / 2, left.low, left.high);
        (sign > 0 ? left.high : left.low) = middle;
        (sign > 0 ? right.low : right.high) = middle;
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
        if (table_.column[split.column].counted) {
            const BinValues& values = table_.bin_values[split.column];
            return midpoint(values.most[split.low], (values.least.empty() ? values.most : values.least)[split.high]);
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
    std::vector<std::pair<double, double>> middle_;
    double impurity_ = 0;  // of the leaf of values that was added last
    Sides sides_{table_, store_, combinations_};
};

template <class Tally>
std::unique_ptr<TreeGrower> grower_of(const Table& table, const GrowOptions& options, const PresortedColumns* presorted) {
    if (options.outputs.empty()) return std::make_unique<Grower<Tally>>(table, options, presorted);
    return std::make_unique<Grower<OutputsTally<Tally>>>(table, options, presorted);
}

}  // namespace

std::unique_ptr<TreeGrower> make_grower(const Table& table, const GrowOptions& options, const PresortedColumns* presorted) {
    switch (options.criterion) {
        case Criterion::variance: return grower_of<MomentTally>(table, options, presorted);
        case Criterion::poisson: return grower_of<PoissonTally>(table, options, presorted);
        case Criterion::absolute_error: return grower_of<MedianTally>(table, options, presorted);
        case Criterion::entropy: return grower_of<EntropyTally>(table, options, presorted);
        case Criterion::misclassification: return grower_of<ErrorTally>(table, options, presorted);
        case Criterion::gini: break;
    }
    if (options.outputs.empty() && options.classes == 2) return std::make_unique<Grower<MomentTally>>(table, options, presorted);
    return grower_of<GiniTally>(table, options, presorted);
}

}  // namespace conjunto
