#include "../core/c45.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "trees.hpp"
#include "views.hpp"

namespace conjunto::bind {

namespace {

// Raised whenever the meaning of the arrays changes.
constexpr int kFormat = 1;

void build(C45Forest* self, int format, std::uint32_t columns, std::uint32_t classes, In1<std::uint32_t> categories,
           In1<double> threshold, In1<std::uint32_t> column, In1<std::uint32_t> first, In1<std::uint32_t> branches,
           In1<float> gain, In1<std::int32_t> child, In1<double> share, In1<std::uint16_t> route,
           In1<std::int32_t> leaf_label, In1<std::int32_t> share_label, In1<double> shares, In1<std::uint64_t> node_start,
           In1<std::uint64_t> child_start, In1<std::uint64_t> route_start, In1<std::uint64_t> leaf_start,
           In1<std::uint64_t> share_start) {
    if (format != kFormat)
        throw std::invalid_argument("this C4.5 forest was stored in format " + std::to_string(format) +
                                    "; this version of conjunto reads format " + std::to_string(kFormat));
    require_aligned(threshold);
    require_aligned(column);
    require_aligned(first);
    require_aligned(branches);
    require_aligned(gain);
    const std::size_t n = threshold.shape(0);
    if (column.shape(0) != n || first.shape(0) != n || branches.shape(0) != n || gain.shape(0) != n)
        throw std::invalid_argument("corrupt C4.5 forest: node arrays differ in length");
    C45Forest forest;
    forest.columns = columns;
    forest.classes = classes;
    forest.categories = to_vector(categories);
    for (std::size_t i = 0; i < n; ++i)
        forest.nodes.push_back(
            {threshold.data()[i], column.data()[i], first.data()[i], branches.data()[i], gain.data()[i]});
    forest.child = to_vector(child);
    forest.share = to_vector(share);
    forest.route = to_vector(route);
    forest.leaf_label = to_vector(leaf_label);
    forest.share_label = to_vector(share_label);
    forest.shares = to_vector(shares);
    forest.node_start = to_vector(node_start);
    forest.child_start = to_vector(child_start);
    forest.route_start = to_vector(route_start);
    forest.leaf_start = to_vector(leaf_start);
    forest.share_start = to_vector(share_start);
    forest.validate();
    new (self) C45Forest(std::move(forest));
}

template <class T>
Out<T> field(const std::vector<C45Node>& nodes, T C45Node::* member) {
    Out<T> out = new_array<T>({nodes.size()});
    for (std::size_t i = 0; i < nodes.size(); ++i) out.data()[i] = nodes[i].*member;
    return out;
}

nb::tuple arrays(const C45Forest& f) {
    return nb::make_tuple(
        kFormat, f.columns, f.classes, copy_array(f.categories), field(f.nodes, &C45Node::threshold),
        field(f.nodes, &C45Node::column), field(f.nodes, &C45Node::first), field(f.nodes, &C45Node::branches),
        field(f.nodes, &C45Node::gain), copy_array(f.child), copy_array(f.share), copy_array(f.route),
        copy_array(f.leaf_label), copy_array(f.share_label), copy_array(f.shares), copy_array(f.node_start),
        copy_array(f.child_start), copy_array(f.route_start), copy_array(f.leaf_start), copy_array(f.share_start));
}

C45Forest grow_forest(const Table& table, const C45Options& options, In1<std::uint64_t> members,
                      In2<std::int32_t> labels, std::optional<In2<std::uint8_t>> small_weights,
                      std::optional<In2<double>> weights, std::optional<In2<std::uint32_t>> columns) {
    require(options.classes > 0, "classes must be positive");
    require(std::isfinite(options.min_objects) && options.min_objects > 0, "min_objects must be positive and finite");
    require(options.confidence > 0 && options.confidence <= 1, "confidence must be in (0, 1]");
    const ViewArrays arrays{members, labels, std::nullopt, small_weights, weights, columns};
    const Views views = checked_views(table, options.classes, {}, arrays);
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
        .def_rw("raise_branches", &C45Options::raise)
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
    bind_trees(type, arrays);
    type.def("__init__", &build, "format"_a, "columns"_a, "classes"_a, "categories"_a, "threshold"_a, "column"_a, "first"_a,
             "branches"_a, "gain"_a, "child"_a, "share"_a, "route"_a, "leaf_label"_a, "share_label"_a, "shares"_a,
             "node_start"_a, "child_start"_a, "route_start"_a, "leaf_start"_a, "share_start"_a);
    m.def("grow_c45", &grow_forest, "table"_a, "options"_a, "members"_a.noconvert(), "labels"_a.noconvert(),
          "small_weights"_a.noconvert() = nb::none(), "weights"_a.noconvert() = nb::none(),
          "columns"_a.noconvert() = nb::none(), "Grows one C4.5 tree per member.");
    m.def("c45_extra_errors", &c45_extra_errors, "rows"_a, "errors"_a, "confidence"_a,
          "What pruning adds to the training errors of a leaf.");
}

}  // namespace conjunto::bind
