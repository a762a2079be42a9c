#include "cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "draw.hpp"

namespace conjunto {

namespace {

constexpr double kTie = 1e-12;

// Sums over held-out rows of each candidate tree, kept as differences between neighbouring candidates: a row says the
// same for a range of them.
class Losses {
public:
    explicit Losses(std::size_t candidates) : first_(candidates + 1), second_(first_) {}

    // An item of this weight loses `loss` in candidates from .. to - 1.
    void add(std::size_t from, std::size_t to, double weight, double loss) {
        first_[from] += weight * loss;
        first_[to] -= weight * loss;
        second_[from] += weight * loss * loss;
        second_[to] -= weight * loss * loss;
    }
    // `items` is how many items of weight 1 an item stands for.
    void count(double weight, double items) {
        weight_ += weight;
        items_ += items;
    }

    // Mean losses, and their standard errors: sqrt(p (1 - p) / N) in classification. False where no row was judged.
    bool finish(double unit, PruningPath& path) const {
        if (weight_ == 0) return false;
        double first = 0, second = 0;
        for (std::size_t k = 0; k + 1 < first_.size(); ++k) {
            first += first_[k];
            second += second_[k];
            const double mean = std::max(0.0, first / weight_);
            path.error.push_back(mean * unit);
            path.standard_error.push_back(std::sqrt(std::max(0.0, second / weight_ - mean * mean) / items_) * unit);
        }
        return true;
    }

private:
    double weight_ = 0, items_ = 0;
    std::vector<double> first_, second_;
};

// How much of each row's weight every fold holds out.
struct Folds {
    std::size_t count = 0;
    std::vector<std::uint32_t> row, fold;  // one entry per item: a row, or a copy of one
    bool copies = false;                   // an item weighs 1, else what its row weighs
};

Folds draw_folds(const Table& table, const Views& one, const GrowOptions& options) {
    Folds folds;
    folds.copies = options.prune.copies && options.prune.copies_apart && !one.weights && !one.folds;
    for (std::size_t r = 0; r < table.rows; ++r) {
        const double weight = weight_of(one, r);
        if (weight > 0) folds.row.insert(folds.row.end(), folds.copies ? static_cast<std::size_t>(weight) : 1, static_cast<std::uint32_t>(r));
    }
    if (one.folds) {
        for (const std::uint32_t row : folds.row) {
            folds.fold.push_back(one.folds[row]);
            folds.count = std::max<std::size_t>(folds.count, one.folds[row] + 1UL);
        }
        return folds;
    }
    folds.count = std::min<std::size_t>(options.prune.folds, folds.row.size());
    Philox random(one.key, *one.number, Purpose::folds);
    stratify(random, folds.row, one.labels, options.classes);
    const std::size_t first = random.below(std::max<std::size_t>(1, folds.count));
    for (std::size_t i = 0; i < folds.row.size(); ++i)
        folds.fold.push_back(static_cast<std::uint32_t>((first + i) % std::max<std::size_t>(1, folds.count)));
    return folds;
}

class CrossValidation {
public:
    CrossValidation(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options, double scale)
        : grower_(grower), table_(table), one_(one), options_(options), scale_(scale), x_(table.columns) {}

    // Fills the path's errors and chooses among its trees.
    void choose(PruningPath& path) {
        const Folds folds = draw_folds(table_, one_, options_);
        if (folds.count < 2) return;
        candidates_.clear();
        // Squares of tiny or huge alphas would leave the range of doubles; powers of two change no other digit.
        const int unit = path.alpha.back() > 0 ? std::ilogb(path.alpha.back()) : 0;
        for (std::size_t k = 0; k + 1 < path.alpha.size(); ++k)
            candidates_.push_back(
                std::ldexp(std::sqrt(std::ldexp(path.alpha[k], -unit) * std::ldexp(path.alpha[k + 1], -unit)), unit));
        candidates_.push_back(INFINITY);
        Losses losses(candidates_.size());
        for (std::size_t fold = 0; fold < folds.count; ++fold) judge(folds, fold, losses);
        if (!losses.finish(options_.classes ? 1.0 : scale_ * scale_, path)) return;
        const std::size_t offered = path.error.size() - (!options_.prune.to_root && path.error.size() > 1);
        const auto best = std::min_element(path.error.begin(), path.error.begin() + static_cast<std::ptrdiff_t>(offered));
        double enough = *best * (1 + kTie);
        if (options_.prune.one_standard_error) enough += path.standard_error[best - path.error.begin()];
        // The smallest of the trees that are good enough.
        for (std::size_t k = offered; k-- > 0;)
            if (path.error[k] <= enough) {
                path.chosen = k;
                return;
            }
    }

private:
    void judge(const Folds& folds, std::size_t fold, Losses& losses) {
        Views seen = one_;
        hold_out(folds, fold, seen);
        if (nothing_left(folds, fold)) return;
        GrowRequest request;
        request.notes = &notes_;
        const Forest tree = grower_.grow(seen, 0, request);
        PruningPath unused;
        const std::vector<double> at = weakest_links(tree, notes_, options_.prune.risk, options_.criterion, unused);
        // From which candidate on a node is a leaf.
        from_.resize(at.size());
        for (std::size_t i = 0; i < at.size(); ++i)
            from_[i] = static_cast<std::size_t>(std::lower_bound(candidates_.begin(), candidates_.end(), at[i]) - candidates_.begin());
        for (std::size_t i = 0; i < folds.row.size(); ++i)
            if (folds.fold[i] == fold) judge_row(tree, folds.row[i], folds.copies ? 1.0 : weight_of(one_, folds.row[i]), losses);
    }

    // Folds that are given may hold out everything.
    bool nothing_left(const Folds& folds, std::size_t fold) const {
        return std::all_of(folds.fold.begin(), folds.fold.end(), [&](std::uint32_t f) { return f == fold; });
    }

    void hold_out(const Folds& folds, std::size_t fold, Views& seen) {
        if (one_.weights) {
            real_.assign(one_.weights, one_.weights + table_.rows);
            for (std::size_t i = 0; i < folds.row.size(); ++i)
                if (folds.fold[i] == fold) real_[folds.row[i]] = 0;
            seen.weights = real_.data();
            return;
        }
        if (one_.small_weights)
            small_.assign(one_.small_weights, one_.small_weights + table_.rows);
        else
            small_.assign(table_.rows, 1);
        for (std::size_t i = 0; i < folds.row.size(); ++i)
            if (folds.fold[i] == fold) small_[folds.row[i]] = folds.copies ? static_cast<std::uint8_t>(small_[folds.row[i]] - 1) : 0;
        seen.small_weights = small_.data();
    }

    void judge_row(const Forest& tree, std::uint32_t row, double weight, Losses& losses) {
        const double* x = table_.values_of(row, x_.data());
        losses.count(weight, options_.prune.copies && !one_.weights ? weight : 1.0);
        std::size_t end = candidates_.size();
        std::int32_t at = tree.nodes.empty() ? ~0 : 0;
        while (at >= 0 && end > 0) {
            if (from_[at] < end) {
                losses.add(from_[at], end, weight, loss(at, row));
                end = from_[at];
            }
            const Node& node = tree.nodes[at];
            at = goes_left(tree, node, x) ? node.left : node.right;
        }
        if (end > 0) losses.add(0, end, weight, loss(at, row));
    }

    double loss(std::int32_t child, std::uint32_t row) const {
        if (options_.classes) return notes_.label_of(child) != one_.labels[row];
        const double off = (one_.targets[row] - notes_.value_of(child)) / scale_;
        return off * off;
    }

    TreeGrower& grower_;
    const Table& table_;
    const Views& one_;
    const GrowOptions& options_;
    const double scale_;  // of the targets
    std::vector<double> candidates_, real_, x_;
    std::vector<std::uint8_t> small_;
    std::vector<std::size_t> from_;
    TreeNotes notes_;
};

}  // namespace

Forest grow_pruned(TreeGrower& grower, const Table& table, const Views& one, const GrowOptions& options, std::int32_t* leaves,
                   PruningPath& path) {
    TreeNotes notes;
    GrowRequest request;
    request.leaves = leaves;
    request.notes = &notes;
    const Forest tree = grower.grow(one, 0, request);
    const std::vector<double> at = weakest_links(tree, notes, options.prune.risk, options.criterion, path);
    if (options.prune.by == Pruning::cross_validation) {
        CrossValidation(grower, table, one, options, notes.scale).choose(path);
    } else {
        while (path.chosen + 1 < path.alpha.size() && path.alpha[path.chosen + 1] <= options.prune.alpha) ++path.chosen;
    }
    std::vector<char> gone(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) gone[i] = at[i] <= path.alpha[path.chosen];
    std::vector<std::int32_t> leaf_of;
    Forest pruned = collapsed(tree, notes, gone, leaves ? &leaf_of : nullptr);
    if (leaves)
        for (std::size_t row = 0; row < table.rows; ++row) leaves[row] = leaf_of[leaves[row]];
    return pruned;
}

}  // namespace conjunto
