#include "../core/grow.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <stdexcept>

#include "../core/reduced.hpp"
#include "../core/session.hpp"
#include "arrays.hpp"
#include "views.hpp"

namespace conjunto::bind {

namespace {

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

void make_table(Table* self, Strided x, In1<std::uint32_t> categories, std::size_t threads) {
    if (categories.shape(0) != x.shape(1)) throw std::invalid_argument("categories needs one entry per column");
    require_aligned(x);
    require_aligned(categories);
    nb::gil_scoped_release release;
    new (self) Table(prepare(x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1), categories.data(), threads));
}

Criterion criterion_of(const std::string& name) {
    if (name == "gini") return Criterion::gini;
    if (name == "entropy") return Criterion::entropy;
    if (name == "variance") return Criterion::variance;
    throw std::invalid_argument("unknown criterion " + name);
}

Search search_of(const std::string& name) {
    if (name == "auto") return Search::automatic;
    if (name == "sorted") return Search::sorted;
    if (name == "plain") return Search::no_vectors;
    throw std::invalid_argument("unknown search " + name);
}

Pruning pruning_of(const std::string& name) {
    if (name == "none") return Pruning::none;
    if (name == "alpha") return Pruning::alpha;
    if (name == "cv") return Pruning::cross_validation;
    throw std::invalid_argument("unknown pruning " + name);
}

Risk risk_of(const std::string& name) {
    if (name == "error") return Risk::error;
    if (name == "impurity") return Risk::impurity;
    throw std::invalid_argument("unknown risk " + name);
}

// Checks every option and array before the core follows a pointer.
Views checked_grow_views(const Table& table, const GrowOptions& options, Key key, const ViewArrays& arrays) {
    require(arrays.labels.has_value() != arrays.targets.has_value(), "give labels or targets");
    require((options.criterion == Criterion::variance) == arrays.targets.has_value(), "the criterion does not fit the task");
    require(options.k_best >= 1 && options.max_features >= 1, "k_best and max_features must be positive");
    require(options.combination == 0 || options.max_features < (1U << 20), "max_features is too large for combinations");
    require(!options.oblique || (options.combination == 0 && options.k_best == 1),
            "oblique goes neither with combination nor with k_best > 1");
    require(!options.igp || options.classes > 0, "IGP needs classes");
    require(!options.igp || options.prune.by == Pruning::none, "IGP prunes by itself");
    require(options.prune.by != Pruning::cross_validation || options.prune.folds >= 2, "there must be two folds or more");
    require(options.prune.alpha >= 0, "alpha must not be negative");
    return checked_views(table, options.classes, key, arrays);
}

Forest grow_forest(const Table& table, const GrowOptions& options, std::uint64_t low, std::uint64_t high,
                   In1<std::uint64_t> members, std::optional<In2<std::int32_t>> labels,
                   std::optional<In2<double>> targets, std::optional<In2<std::uint8_t>> small_weights,
                   std::optional<In2<double>> weights, std::optional<In2<std::uint32_t>> columns,
                   std::optional<In2<std::uint8_t>> halves, std::optional<In1<std::uint32_t>> folds) {
    const ViewArrays arrays{members, labels, targets, small_weights, weights, columns, halves, folds};
    const Views views = checked_grow_views(table, options, {low, high}, arrays);
    nb::gil_scoped_release release;
    return grow(table, views, options);
}

// One tree, pruned by rows that it was not grown on.
Forest grow_judged(const Table& table, const GrowOptions& options, std::uint64_t low, std::uint64_t high, In2<double> x_val,
                   std::optional<In1<std::int32_t>> labels_val, std::optional<In1<double>> targets_val,
                   std::optional<In1<double>> weights_val, std::optional<In2<std::int32_t>> labels,
                   std::optional<In2<double>> targets, std::optional<In2<std::uint8_t>> small_weights,
                   std::optional<In2<double>> weights) {
    const std::uint64_t number = 0;
    const In1<std::uint64_t> members(&number, {1}, nb::handle());
    const Views views = checked_grow_views(table, options, {low, high},
                                      {members, labels, targets, small_weights, weights, std::nullopt, std::nullopt, std::nullopt});
    require_aligned(x_val);
    require(x_val.shape(1) == table.columns, "X_val has another number of columns than the table");
    require(labels_val.has_value() == labels.has_value() && targets_val.has_value() == targets.has_value(),
            "held-out answers must be of the kind of the others");
    HeldOut held_out{x_val.data(), x_val.shape(0)};
    auto one_per_row = [&](const auto& array) {
        require_aligned(array);
        require(array.shape(0) == held_out.rows, "held-out arrays need one entry per row");
        return array.data();
    };
    if (labels_val) {
        held_out.labels = one_per_row(*labels_val);
    } else {
        held_out.targets = one_per_row(*targets_val);
        for (std::size_t i = 0; i < held_out.rows; ++i) require(std::isfinite(held_out.targets[i]), "a target is not finite");
    }
    if (weights_val) {
        held_out.weights = one_per_row(*weights_val);
        for (std::size_t i = 0; i < held_out.rows; ++i)
            require(std::isfinite(held_out.weights[i]) && held_out.weights[i] >= 0, "a weight is negative or not finite");
    }
    nb::gil_scoped_release release;
    return grow_reduced(table, views, options, held_out);
}

// A session with what it needs to check the arrays of each call.
struct Session {
    const Table* table;
    GrowOptions options;
    Key key;
    GrowSession session;
    std::vector<std::int32_t> leaves;
    bool busy = false;  // read and written with the GIL held

    Session(const Table& t, const GrowOptions& o, std::uint64_t low, std::uint64_t high, bool lasts)
        : table(&t), options(o), key{low, high}, session(t, o, lasts) {}

    // Number over the forest of a leaf of one of the members of the last call.
    std::size_t first_leaf(std::size_t members, std::size_t member) const {
        const Forest& forest = session.forest;
        return forest.leaf_start[forest.trees() - members + member];
    }
};

// Grows members and tells what they say about the rows of the table.
nb::object grow_more(Session& self, In1<std::uint64_t> members, const std::string& answer,
                     std::optional<In2<std::int32_t>> labels, std::optional<In2<double>> targets,
                     std::optional<In2<std::uint8_t>> small_weights, std::optional<In2<double>> weights,
                     std::optional<In2<std::uint32_t>> columns, std::optional<In2<std::uint8_t>> halves,
                     std::optional<In1<std::uint32_t>> folds) {
    const ViewArrays arrays{members, labels, targets, small_weights, weights, columns, halves, folds};
    const Views views = checked_grow_views(*self.table, self.options, self.key, arrays);
    const bool classes = self.options.classes > 0;
    require(answer == "leaves" || (classes ? answer == "labels" || answer == "shares" : answer == "values"),
            "the answer does not fit the task");
    const std::size_t count = views.members, n = self.table->rows, k = self.options.classes;
    require(!self.busy, "another thread is growing trees in this session");
    struct Busy {
        bool& flag;
        explicit Busy(bool& f) : flag(f) { flag = true; }
        ~Busy() { flag = false; }
    } busy(self.busy);
    {
        nb::gil_scoped_release release;
        self.leaves.resize(count * n);
        self.session.grow(views, self.leaves.data());
    }
    const Forest& forest = self.session.forest;
    const std::int32_t* leaf = self.leaves.data();
    if (answer == "leaves") {
        Out<std::int32_t> out = new_array<std::int32_t>({count, n});
        std::copy(self.leaves.begin(), self.leaves.end(), out.data());
        return nb::cast(out);
    }
    if (answer == "labels") {
        Out<std::int32_t> out = new_array<std::int32_t>({count, n});
        for (std::size_t member = 0, at = 0; member < count; ++member)
            for (std::size_t row = 0, first = self.first_leaf(count, member); row < n; ++row, ++at)
                out.data()[at] = forest.label(first + static_cast<std::size_t>(leaf[at]));
        return nb::cast(out);
    }
    if (answer == "values") {
        Out<double> out = new_array<double>({count, n});
        for (std::size_t member = 0, at = 0; member < count; ++member)
            for (std::size_t row = 0, first = self.first_leaf(count, member); row < n; ++row, ++at)
                out.data()[at] = forest.leaf_value[first + static_cast<std::size_t>(leaf[at])];
        return nb::cast(out);
    }
    Out<double> out = new_array<double>({count, n, k});
    for (std::size_t member = 0, at = 0; member < count; ++member)
        for (std::size_t row = 0, first = self.first_leaf(count, member); row < n; ++row, ++at)
            forest.shares_of(first + static_cast<std::size_t>(leaf[at]), out.data() + at * k);
    return nb::cast(out);
}

// The nested trees of one member of the last call, as a dictionary of arrays.
nb::dict path_of(const Session& self, std::size_t member) {
    require(member < self.session.paths.size(), "there is no path of this member");
    const PruningPath& path = self.session.paths[member];
    nb::dict out;
    out["ccp_alphas"] = copy_array(path.alpha);
    out["risks"] = copy_array(path.risk);
    out["leaves"] = copy_array(path.leaves);
    if (!path.error.empty()) {
        out["cv_errors"] = copy_array(path.error);
        out["cv_standard_errors"] = copy_array(path.standard_error);
    }
    out["chosen"] = path.chosen;
    return out;
}

}  // namespace

void init_grow(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Table>(m, "Table", "Data prepared once for all members of an ensemble.")
        .def("__init__", &make_table, "X"_a, "categories"_a, "threads"_a = 1, nb::keep_alive<1, 2>())
        .def_ro("rows", &Table::rows)
        .def_ro("columns", &Table::columns);
    nb::class_<GrowOptions>(m, "GrowOptions", "How trees are grown.")
        .def(nb::init<>())
        .def_rw("classes", &GrowOptions::classes)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("combination", &GrowOptions::combination)
        .def_rw("oblique", &GrowOptions::oblique)
        .def_rw("k_best", &GrowOptions::k_best)
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("max_leaves", &GrowOptions::max_leaves)
        .def_rw("min_rows_split", &GrowOptions::min_rows_split)
        .def_rw("min_rows_leaf", &GrowOptions::min_rows_leaf)
        .def_rw("min_weight_share_leaf", &GrowOptions::min_weight_share_leaf)
        .def_rw("min_decrease", &GrowOptions::min_decrease)
        .def_rw("igp", &GrowOptions::igp)
        .def_rw("threads", &GrowOptions::threads)
        .def_prop_rw("alpha", [](const GrowOptions& o) { return o.prune.alpha; },
                     [](GrowOptions& o, double alpha) { o.prune.alpha = alpha; })
        .def_prop_rw("folds", [](const GrowOptions& o) { return o.prune.folds; },
                     [](GrowOptions& o, std::uint32_t folds) { o.prune.folds = folds; })
        .def_prop_rw("one_standard_error", [](const GrowOptions& o) { return o.prune.one_standard_error; },
                     [](GrowOptions& o, bool one) { o.prune.one_standard_error = one; })
        .def_prop_rw("to_root", [](const GrowOptions& o) { return o.prune.to_root; },
                     [](GrowOptions& o, bool allowed) { o.prune.to_root = allowed; })
        .def_prop_rw("copies", [](const GrowOptions& o) { return o.prune.copies; },
                     [](GrowOptions& o, bool copies) { o.prune.copies = copies; })
        .def_prop_rw("copies_apart", [](const GrowOptions& o) { return o.prune.copies_apart; },
                     [](GrowOptions& o, bool apart) { o.prune.copies_apart = apart; })
        .def_prop_rw("pruning", [](const GrowOptions& o) { return static_cast<int>(o.prune.by); },
                     [](GrowOptions& o, const std::string& name) { o.prune.by = pruning_of(name); })
        .def_prop_rw("risk", [](const GrowOptions& o) { return static_cast<int>(o.prune.risk); },
                     [](GrowOptions& o, const std::string& name) { o.prune.risk = risk_of(name); })
        .def_prop_rw("criterion", [](const GrowOptions& o) { return static_cast<int>(o.criterion); },
                     [](GrowOptions& o, const std::string& name) { o.criterion = criterion_of(name); })
        .def_prop_rw("search", [](const GrowOptions& o) { return static_cast<int>(o.search); },
                     [](GrowOptions& o, const std::string& name) { o.search = search_of(name); });
    // Converting would wrap or cut off values that do not fit.
    m.def("grow", &grow_forest, "table"_a, "options"_a, "low"_a, "high"_a, "members"_a.noconvert(),
          "labels"_a.noconvert() = nb::none(), "targets"_a.noconvert() = nb::none(),
          "small_weights"_a.noconvert() = nb::none(), "weights"_a.noconvert() = nb::none(),
          "columns"_a.noconvert() = nb::none(), "halves"_a.noconvert() = nb::none(), "folds"_a.noconvert() = nb::none(),
          "Grows one tree per member.");
    m.def("grow_reduced", &grow_judged, "table"_a, "options"_a, "low"_a, "high"_a, "X_val"_a.noconvert(),
          "labels_val"_a.noconvert() = nb::none(), "targets_val"_a.noconvert() = nb::none(),
          "weights_val"_a.noconvert() = nb::none(), "labels"_a.noconvert() = nb::none(), "targets"_a.noconvert() = nb::none(),
          "small_weights"_a.noconvert() = nb::none(), "weights"_a.noconvert() = nb::none(),
          "Grows one tree and cuts it back where held-out rows say that it is no better than a leaf.");
    nb::class_<Session>(m, "GrowSession", "Grows trees one call after another on one table.")
        .def(nb::init<const Table&, const GrowOptions&, std::uint64_t, std::uint64_t, bool>(), "table"_a, "options"_a,
             "low"_a, "high"_a, "lasts"_a = true, nb::keep_alive<1, 2>())
        .def("grow", &grow_more, "members"_a.noconvert(), "answer"_a, "labels"_a.noconvert() = nb::none(),
             "targets"_a.noconvert() = nb::none(), "small_weights"_a.noconvert() = nb::none(),
             "weights"_a.noconvert() = nb::none(), "columns"_a.noconvert() = nb::none(),
             "halves"_a.noconvert() = nb::none(), "folds"_a.noconvert() = nb::none(),
             "Grows one tree per member; what they say about the rows: labels, values or leaves (members, rows), or shares "
             "(members, rows, classes).")
        .def("drop", [](Session& s, std::size_t count) {
            require(count <= s.session.forest.trees(), "there are not so many trees");
            s.session.forest.drop(count);
        }, "count"_a, "Forgets the last trees.")
        .def("path", &path_of, "member"_a, "The nested trees of a member of the last call.")
        .def("passes", [](const Session& s) { return copy_array(s.session.passes); },
             "How often each member of the last call was grown and pruned.")
        .def("__len__", [](const Session& s) { return s.session.forest.trees(); })
        .def("forest", [](const Session& s) { return s.session.forest; }, "A copy of the trees so far.");
}

}  // namespace conjunto::bind
