#include "../core/c45.hpp"

#include <cmath>

#include "arrays.hpp"
#include "trees.hpp"
#include "views.hpp"

namespace conjunto::bind {

namespace {

C45Forest grow_forest(const Table& table, const C45Options& options, const ViewArrays& arrays) {
    require(options.classes > 0, "classes must be positive");
    require(std::isfinite(options.min_objects) && options.min_objects > 0, "min_objects must be positive and finite");
    require(options.confidence > 0 && options.confidence <= 1, "confidence must be in (0, 1]");
    const Views views = arrays.checked(table, options.classes, {});
    nb::gil_scoped_release release;
    return grow_c45(table, views, options);
}

void init_options(nb::module_& m) {
    nb::class_<C45Options>(m, "C45Options", "How C4.5 trees are grown and pruned.")
        .def(nb::init<>())
        .def_rw("classes", &C45Options::classes)
        .def_rw("gain_ratio", &C45Options::gain_ratio)
        .def_rw("mdl", &C45Options::mdl)
        .def_rw("group_values", &C45Options::group_values)
        .def_rw("min_objects", &C45Options::min_objects)
        .def_rw("prune", &C45Options::prune)
        .def_rw("raise_branches", &C45Options::raise_branches)
        .def_rw("collapse", &C45Options::collapse)
        .def_rw("confidence", &C45Options::confidence)
        .def_rw("max_depth", &C45Options::max_depth)
        .def_rw("threads", &C45Options::threads);
}

}  // namespace

void init_c45(nb::module_& m) {
    using namespace nb::literals;
    init_options(m);
    nb::class_<C45Forest> type(m, "C45Forest", "C4.5 trees in flat arrays; made by grow_c45().");
    bind_trees(type);
    m.def("grow_c45", &grow_forest, "table"_a, "options"_a, "views"_a, "Grows one C4.5 tree per member.");
    m.def("c45_extra_errors", &c45_extra_errors, "rows"_a, "errors"_a, "confidence"_a,
          "What pruning adds to the training errors of a leaf.");
}

}  // namespace conjunto::bind
