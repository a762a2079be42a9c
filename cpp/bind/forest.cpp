#include "../core/forest.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "../core/predict.hpp"
#include "../core/unfold.hpp"
#include "arrays.hpp"
#include "trees.hpp"

namespace conjunto::bind {

namespace {

Out<double> take_values(const Forest& f, const nb::object& X, std::size_t threads) {
    const GivenRows x(X);
    require_task(f, false);
    require_one_target(f);
    return predict<double>(f, x, threads, {f.trees(), x.n}, member_values);
}
Out<std::int32_t> take_leaves(const Forest& f, const nb::object& X, std::size_t threads) {
    const GivenRows x(X);
    return predict<std::int32_t>(f, x, threads, {x.n, f.trees()}, member_leaves);
}
Out<double> take_sums(const Forest& f, const nb::object& X, std::size_t threads) {
    const GivenRows x(X);
    require_task(f, false);
    if (f.several()) return predict<double>(f, x, threads, {x.n, f.targets()}, value_sums);
    return predict<double>(f, x, threads, {x.n}, value_sums);
}

Out<double> take_leaf_sums(const Forest& f, const nb::object& X, In1<double> value, In1<std::int32_t> column, std::size_t width,
                          std::size_t threads) {
    const GivenRows x(X);
    require_aligned(value);
    require_aligned(column);
    if (value.shape(0) != f.leaves() || column.shape(0) != f.leaves())
        throw std::invalid_argument("value and column need one entry per leaf");
    for (std::size_t i = 0; i < column.shape(0); ++i)
        if (column.data()[i] < 0 || static_cast<std::size_t>(column.data()[i]) >= width)
            throw std::invalid_argument("a column is outside 0 .. width - 1");
    return predict<double>(f, x, threads, {x.n, width}, [&](const Forest& forest, Rows rows, double* out, std::size_t t) {
        leaf_sums(forest, rows, value.data(), column.data(), width, out, t);
    });
}
Out<double> take_leaf_row_sums(const Forest& f, const nb::object& X, In2<double> values, std::size_t threads) {
    const GivenRows x(X);
    require_aligned(values);
    if (values.shape(0) != f.leaves()) throw std::invalid_argument("values needs one row per leaf");
    const std::size_t width = values.shape(1);
    return predict<double>(f, x, threads, {x.n, width}, [&](const Forest& forest, Rows rows, double* out, std::size_t t) {
        leaf_row_sums(forest, rows, values.data(), width, out, t);
    });
}

// One tree as a table of its nodes, by name.
nb::dict unfold_tree(const Forest& f, std::size_t tree, Criterion criterion) {
    const NodeTable nodes = unfold(f, tree, criterion);
    nb::dict out;
    out["place"] = copy_array(nodes.place);
    out["left"] = copy_array(nodes.left);
    out["right"] = copy_array(nodes.right);
    out["rows"] = copy_array(nodes.rows);
    out["weight"] = copy_array(nodes.weight);
    out["impurity"] = copy_array(nodes.impurity);
    Out<double> value = new_array<double>({nodes.place.size(), nodes.width});
    std::copy(nodes.value.begin(), nodes.value.end(), value.data());
    out["value"] = value;
    return out;
}

bool has_infinity(InRows x) {
    require_aligned(x);
    constexpr double most = std::numeric_limits<double>::max();
    // In the order in which they lie, many at a time.
    const bool by_rows = std::abs(x.stride(1)) <= std::abs(x.stride(0));
    const std::size_t outer = x.shape(!by_rows), inner = x.shape(by_rows);
    const std::ptrdiff_t jump = x.stride(!by_rows), step = x.stride(by_rows);
    for (std::size_t i = 0; i < outer; ++i) {
        const double* value = x.data() + static_cast<std::ptrdiff_t>(i) * jump;
        bool any = false;
        for (std::size_t j = 0; j < inner; ++j, value += step) any |= std::fabs(*value) > most;
        if (any) return true;
    }
    return false;
}

}  // namespace

void init_forest(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Forest> type(m, "Forest", "Decision trees in flat arrays; made by grow().");
    bind_trees(type);
    type.def("values", &take_values, "X"_a, "threads"_a = 1, "(trees, rows): the value each tree predicts.")
        .def("leaves", &take_leaves, "X"_a, "threads"_a = 1, "(rows, trees): the leaf, numbered within its tree.")
        .def("value_sums", &take_sums, "X"_a, "threads"_a = 1, "(rows,), or (rows, targets): summed values.")
        .def_ro("outputs", &Forest::outputs, "Where there are several targets: the classes of each, 0 in regression.")
        .def("of_output", &Forest::of_output, "output"_a, "The same trees, which answer for one of several targets.")
        .def("leaf_labels", [](const Forest& f) {
            require_task(f, true);
            require_one_target(f);
            Out<std::int32_t> out = new_array<std::int32_t>({f.leaves()});
            for (std::size_t i = 0; i < f.leaves(); ++i) out.data()[i] = f.label(i);
            return out;
        }, "(leaves,): the class that each leaf votes for, tree after tree.")
        .def("leaf_shares", [](const Forest& f) {
            require_task(f, true);
            Out<double> out = new_array<double>({f.leaves(), f.classes});
            for (std::size_t i = 0; i < f.leaves(); ++i) f.shares_of(i, out.data() + i * f.classes);
            return out;
        }, "(leaves, classes): the class shares of each leaf.")
        .def("leaf_values", [](const Forest& f) {
            require_task(f, false);
            Out<double> out = f.several() ? new_array<double>({f.leaves(), f.targets()}) : new_array<double>({f.leaves()});
            std::copy(f.leaf_value.begin(), f.leaf_value.end(), out.data());
            return out;
        }, "(leaves,), or (leaves, targets): the value of each leaf.")
        .def("unfold", &unfold_tree, "tree"_a, "criterion"_a.noconvert(),
             "All nodes of one tree, leaves too, in the order of a walk that takes the left branch first.")
        .def("leaf_numbers", [](const Forest& f) { return copy_array(leaf_numbers(f)); },
             "(leaves,): the number of each leaf in that order, tree after tree.")
        .def("leaf_sums", &take_leaf_sums, "X"_a, "value"_a, "column"_a, "width"_a, "threads"_a = 1,
             "(rows, width): sum over trees of value[leaf] in column[leaf].")
        .def("leaf_row_sums", &take_leaf_row_sums, "X"_a, "values"_a, "threads"_a = 1,
             "(rows, width): sum over trees of the leaf's row of values.");
    m.def("has_infinity", &has_infinity, "X"_a);
}

}  // namespace conjunto::bind
