#include "../core/grow.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "../core/reduced.hpp"
#include "../core/session.hpp"
#include "arrays.hpp"
#include "rows.hpp"
#include "views.hpp"

namespace conjunto::bind {

namespace {

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

// The table of a CSR matrix. It points into the arrays of the matrix, and owns what was copied of them.
void make_sparse_table(Table* self, const nb::object& X, const bool* ignored) {
    const auto given = std::make_shared<GivenRows>(X);
    Table table = prepare_sparse(given->entries(), given->n, given->columns, ignored);
    // The rows are freed with the table.
    table.sparse = std::shared_ptr<const SparseTable>(table.sparse.get(), [kept = table.sparse, given](const SparseTable*) {});
    new (self) Table(std::move(table));
}

void make_table(Table* self, const nb::object& X, In1<std::uint32_t> categories, std::size_t threads,
                const std::optional<In1<bool>>& ignored, std::uint32_t max_bins) {
    const auto shape = nb::cast<nb::tuple>(X.attr("shape"));
    if (shape.size() != 2 || categories.shape(0) != nb::cast<std::size_t>(shape[1]))
        throw std::invalid_argument("categories needs one entry per column");
    require_aligned(categories);
    require(!ignored || ignored->shape(0) == nb::cast<std::size_t>(shape[0]), "ignored needs one entry per row");
    const bool* left_out = ignored ? ignored->data() : nullptr;
    Strided x;
    if (!nb::try_cast(X, x, false)) {
        require(max_bins == 0, "max_bins needs dense X");
        require(std::all_of(categories.data(), categories.data() + categories.shape(0), [](std::uint32_t k) { return k == 0; }),
                "sparse X has no categories");
        return make_sparse_table(self, X, left_out);
    }
    require_aligned(x);
    nb::gil_scoped_release release;
    new (self) Table(prepare(x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1), categories.data(), threads, left_out, max_bins));
}

void require_outputs(const GrowOptions& options) {
    if (options.outputs.empty()) return;
    require(options.outputs.size() > 1, "one target is not several");
    std::uint64_t classes = 0;
    for (const std::uint32_t count : options.outputs) {
        require((options.classes == 0) == (count == 0), "outputs are all of classes or all of values");
        classes += count;
    }
    require(classes == options.classes, "classes must be those of all outputs");
}

void require_monotone(const Table& table, const GrowOptions& options) {
    if (options.monotone.empty()) return;
    require(options.monotone.size() == table.columns, "monotone needs one entry per column");
    for (std::size_t c = 0; c < table.columns; ++c) {
        const int sign = options.monotone[c];
        require(sign >= -1 && sign <= 1, "constraints are -1, 0 or 1");
        require(sign == 0 || !table.column[c].categorical(), "a category cannot be constrained");
    }
    require(options.outputs.empty() && (options.classes == 0 || options.classes == 2), "constraints are for one target, or two classes");
    require(options.combination == 0 && !options.oblique, "constraints are for tests on one column");
}

// Checks every option and array before the core follows a pointer.
Views checked_views(const Table& table, const GrowOptions& options, Key key, const ViewArrays& arrays) {
    require(arrays.labels.has_value() != arrays.targets.has_value(), "give labels or targets");
    require(for_classes(options.criterion) != arrays.targets.has_value(), "the criterion does not fit the task");
    require_outputs(options);
    require_monotone(table, options);
    const bool medians = options.criterion == Criterion::absolute_error, counts = options.criterion == Criterion::poisson;
    require(!medians || !options.oblique, "oblique does not go with absolute errors");
    const bool general = medians || counts || !options.outputs.empty() || !options.monotone.empty();
    require(!general || options.prune.by == Pruning::none ||
                (options.prune.by == Pruning::alpha && options.prune.risk == Risk::impurity),
            "such trees are pruned by impurity and a given alpha only");
    require(!general || !options.igp, "IGP is for one target of classes, without constraints");
    if (counts)
        for (std::size_t i = 0; i < arrays.targets->size(); ++i)
            require(arrays.targets->data()[i] >= 0, "targets of a Poisson criterion must not be negative");
    require(options.k_best >= 1 && options.max_features >= 1, "k_best and max_features must be positive");
    require(options.combination == 0 || options.max_features < (1U << 20), "max_features is too large for combinations");
    require(!options.oblique || (options.combination == 0 && options.k_best == 1),
            "oblique goes neither with combination nor with k_best > 1");
    require(!options.random_cuts || (options.combination == 0 && !options.oblique),
            "random cuts are of one column each");
    require(!options.igp || options.classes > 0, "IGP needs classes");
    require(!options.igp || options.prune.by == Pruning::none, "IGP prunes by itself");
    require(options.prune.by != Pruning::cross_validation || options.prune.folds >= 2, "there must be two folds or more");
    require(options.prune.alpha >= 0, "alpha must not be negative");
    return arrays.checked(table, options.classes, key, options.outputs);
}

Forest grow_forest(const Table& table, const GrowOptions& options, std::uint64_t low, std::uint64_t high,
                   const ViewArrays& arrays) {
    const Views views = checked_views(table, options, {low, high}, arrays);
    nb::gil_scoped_release release;
    return grow(table, views, options);
}

// One tree, pruned by rows that it was not grown on.
Forest grow_judged(const Table& table, const GrowOptions& options, std::uint64_t low, std::uint64_t high,
                   const ViewArrays& arrays, const HeldOutArrays& judges) {
    const Views views = checked_views(table, options, {low, high}, arrays);
    require(views.members == 1, "held-out rows judge one tree");
    require(options.outputs.empty() && options.monotone.empty() && options.criterion != Criterion::absolute_error &&
                options.criterion != Criterion::poisson,
            "held-out rows judge trees of classes or means, without constraints");
    const HeldOut held_out = judges.checked(table, options.classes);
    nb::gil_scoped_release release;
    return grow_reduced(table, views, options, held_out);
}

// What the members of a session tell of the rows of the table.
enum class Answer { labels, shares, values, leaves };

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
nb::object grow_more(Session& self, const ViewArrays& arrays, Answer answer) {
    const Views views = checked_views(*self.table, self.options, self.key, arrays);
    const bool classes = self.options.classes > 0;
    require(answer == Answer::leaves || (classes == (answer != Answer::values) && self.options.outputs.empty()),
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
    if (answer == Answer::leaves) {
        Out<std::int32_t> out = new_array<std::int32_t>({count, n});
        std::copy(self.leaves.begin(), self.leaves.end(), out.data());
        return nb::cast(out);
    }
    if (answer == Answer::labels) {
        Out<std::int32_t> out = new_array<std::int32_t>({count, n});
        for (std::size_t member = 0, at = 0; member < count; ++member)
            for (std::size_t row = 0, first = self.first_leaf(count, member); row < n; ++row, ++at)
                out.data()[at] = forest.label(first + static_cast<std::size_t>(leaf[at]));
        return nb::cast(out);
    }
    if (answer == Answer::values) {
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

void init_enums(nb::module_& m) {
    nb::enum_<Criterion>(m, "Criterion", "The impurity that a split decreases.")
        .value("gini", Criterion::gini)
        .value("entropy", Criterion::entropy)
        .value("misclassification", Criterion::misclassification)
        .value("variance", Criterion::variance)
        .value("absolute_error", Criterion::absolute_error)
        .value("poisson", Criterion::poisson);
    nb::enum_<Search>(m, "Search", "How splits are searched: the reference, or what gives the same trees faster.")
        .value("automatic", Search::automatic)
        .value("sorted", Search::sorted)
        .value("no_vectors", Search::no_vectors);
    nb::enum_<Pruning>(m, "Pruning", "What decides how far a tree is pruned.")
        .value("none", Pruning::none)
        .value("alpha", Pruning::alpha)
        .value("cross_validation", Pruning::cross_validation);
    nb::enum_<Risk>(m, "Risk", "What pruning weighs against the number of leaves.")
        .value("error", Risk::error)
        .value("impurity", Risk::impurity);
    nb::enum_<Answer>(m, "Answer", "What the members of a session tell of the rows.")
        .value("labels", Answer::labels)
        .value("shares", Answer::shares)
        .value("values", Answer::values)
        .value("leaves", Answer::leaves);
}

void init_options(nb::module_& m) {
    nb::class_<PruneOptions>(m, "PruneOptions", "How trees are pruned.")
        .def(nb::init<>())
        .def_rw("by", &PruneOptions::by)
        .def_rw("risk", &PruneOptions::risk)
        .def_rw("alpha", &PruneOptions::alpha)
        .def_rw("folds", &PruneOptions::folds)
        .def_rw("one_standard_error", &PruneOptions::one_standard_error)
        .def_rw("to_root", &PruneOptions::to_root)
        .def_rw("copies", &PruneOptions::copies)
        .def_rw("copies_apart", &PruneOptions::copies_apart);
    nb::class_<GrowOptions>(m, "GrowOptions", "How trees are grown.")
        .def(nb::init<>())
        .def_rw("criterion", &GrowOptions::criterion)
        .def_rw("classes", &GrowOptions::classes)
        .def_rw("outputs", &GrowOptions::outputs)
        .def_rw("monotone", &GrowOptions::monotone)
        .def_rw("max_features", &GrowOptions::max_features)
        .def_rw("combination", &GrowOptions::combination)
        .def_rw("oblique", &GrowOptions::oblique)
        .def_rw("k_best", &GrowOptions::k_best)
        .def_rw("random_cuts", &GrowOptions::random_cuts)
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("max_leaves", &GrowOptions::max_leaves)
        .def_rw("min_rows_split", &GrowOptions::min_rows_split)
        .def_rw("min_rows_leaf", &GrowOptions::min_rows_leaf)
        .def_rw("min_weight_share_leaf", &GrowOptions::min_weight_share_leaf)
        .def_rw("min_decrease", &GrowOptions::min_decrease)
        .def_rw("prune", &GrowOptions::prune)
        .def_rw("igp", &GrowOptions::igp)
        .def_rw("search", &GrowOptions::search)
        .def_rw("threads", &GrowOptions::threads);
}

}  // namespace

void init_grow(nb::module_& m) {
    using namespace nb::literals;
    init_enums(m);
    init_options(m);
    nb::class_<Table>(m, "Table", "Data prepared once for all members of an ensemble.")
        .def("__init__", &make_table, "X"_a, "categories"_a, "threads"_a = 1, "ignored"_a = nb::none(),
             "max_bins"_a = 0, nb::keep_alive<1, 2>())
        .def_ro("rows", &Table::rows)
        .def_ro("columns", &Table::columns);
    m.def("grow", &grow_forest, "table"_a, "options"_a, "low"_a, "high"_a, "views"_a, "Grows one tree per member.");
    m.def("grow_reduced", &grow_judged, "table"_a, "options"_a, "low"_a, "high"_a, "views"_a, "held_out"_a,
          "Grows one tree and cuts it back where held-out rows say that it is no better than a leaf.");
    nb::class_<Session>(m, "GrowSession", "Grows trees one call after another on one table.")
        .def(nb::init<const Table&, const GrowOptions&, std::uint64_t, std::uint64_t, bool>(), "table"_a, "options"_a,
             "low"_a, "high"_a, "lasts"_a = true, nb::keep_alive<1, 2>())
        .def("grow", &grow_more, "views"_a, "answer"_a.noconvert(),
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
