#include "../core/grow.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

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

// Checks every option and array before the core follows a pointer.
Views checked_grow_views(const Table& table, const GrowOptions& options, Key key, const ViewArrays& arrays) {
    require(arrays.labels.has_value() != arrays.targets.has_value(), "give labels or targets");
    require((options.criterion == Criterion::variance) == arrays.targets.has_value(), "the criterion does not fit the task");
    require(options.k_best >= 1 && options.max_features >= 1, "k_best and max_features must be positive");
    require(options.combination == 0 || options.max_features < (1U << 20), "max_features is too large for combinations");
    return checked_views(table, options.classes, key, arrays);
}

Forest grow_forest(const Table& table, const GrowOptions& options, std::uint64_t low, std::uint64_t high,
                   In1<std::uint64_t> members, std::optional<In2<std::int32_t>> labels,
                   std::optional<In2<double>> targets, std::optional<In2<std::uint8_t>> small_weights,
                   std::optional<In2<double>> weights, std::optional<In2<std::uint32_t>> columns) {
    const ViewArrays arrays{members, labels, targets, small_weights, weights, columns};
    const Views views = checked_grow_views(table, options, {low, high}, arrays);
    nb::gil_scoped_release release;
    return grow(table, views, options);
}

// A session with what it needs to check the arrays of each call.
struct Session {
    const Table* table;
    GrowOptions options;
    Key key;
    GrowSession session;
    std::vector<std::int32_t> leaves;
    bool busy = false;  // read and written with the GIL held

    Session(const Table& t, const GrowOptions& o, std::uint64_t low, std::uint64_t high)
        : table(&t), options(o), key{low, high}, session(t, o) {}

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
                     std::optional<In2<std::uint32_t>> columns) {
    const ViewArrays arrays{members, labels, targets, small_weights, weights, columns};
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
        .def_rw("k_best", &GrowOptions::k_best)
        .def_rw("max_depth", &GrowOptions::max_depth)
        .def_rw("max_leaves", &GrowOptions::max_leaves)
        .def_rw("min_rows_split", &GrowOptions::min_rows_split)
        .def_rw("min_rows_leaf", &GrowOptions::min_rows_leaf)
        .def_rw("min_weight_share_leaf", &GrowOptions::min_weight_share_leaf)
        .def_rw("min_decrease", &GrowOptions::min_decrease)
        .def_rw("threads", &GrowOptions::threads)
        .def_prop_rw("criterion", [](const GrowOptions& o) { return static_cast<int>(o.criterion); },
                     [](GrowOptions& o, const std::string& name) { o.criterion = criterion_of(name); })
        .def_prop_rw("search", [](const GrowOptions& o) { return static_cast<int>(o.search); },
                     [](GrowOptions& o, const std::string& name) { o.search = search_of(name); });
    // Converting would wrap or cut off values that do not fit.
    m.def("grow", &grow_forest, "table"_a, "options"_a, "low"_a, "high"_a, "members"_a.noconvert(),
          "labels"_a.noconvert() = nb::none(), "targets"_a.noconvert() = nb::none(),
          "small_weights"_a.noconvert() = nb::none(), "weights"_a.noconvert() = nb::none(),
          "columns"_a.noconvert() = nb::none(), "Grows one tree per member.");
    nb::class_<Session>(m, "GrowSession", "Grows trees one call after another on one table.")
        .def(nb::init<const Table&, const GrowOptions&, std::uint64_t, std::uint64_t>(), "table"_a, "options"_a, "low"_a,
             "high"_a, nb::keep_alive<1, 2>())
        .def("grow", &grow_more, "members"_a.noconvert(), "answer"_a, "labels"_a.noconvert() = nb::none(),
             "targets"_a.noconvert() = nb::none(), "small_weights"_a.noconvert() = nb::none(),
             "weights"_a.noconvert() = nb::none(), "columns"_a.noconvert() = nb::none(),
             "Grows one tree per member; what they say about the rows: labels, values or leaves (members, rows), or shares "
             "(members, rows, classes).")
        .def("drop", [](Session& s, std::size_t count) {
            require(count <= s.session.forest.trees(), "there are not so many trees");
            s.session.forest.drop(count);
        }, "count"_a, "Forgets the last trees.")
        .def("__len__", [](const Session& s) { return s.session.forest.trees(); })
        .def("forest", [](const Session& s) { return s.session.forest; }, "A copy of the trees so far.");
}

}  // namespace conjunto::bind
