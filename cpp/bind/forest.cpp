#include "../core/forest.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "../core/predict.hpp"
#include "arrays.hpp"
#include "trees.hpp"

namespace conjunto::bind {

namespace {

// Raised whenever the meaning of the arrays changes.
constexpr int kFormat = 1;

template <class Member, class... Arrays>
void same_length(const char* what, const Member& first, const Arrays&... others) {
    if (((others.shape(0) != first.shape(0)) || ...))
        throw std::invalid_argument(std::string("corrupt forest: ") + what + " arrays differ in length");
}

void build(Forest* self, int format, std::uint32_t columns, std::uint32_t classes, In1<std::uint32_t> categories,
           In1<double> threshold, In1<std::int32_t> left, In1<std::int32_t> right, In1<std::uint32_t> test,
           In1<float> gain, In1<std::uint64_t> node_start, In1<std::uint64_t> leaf_start,
           In1<std::int32_t> leaf_label, In1<double> leaf_value, In1<double> shares, In1<std::int32_t> share_label,
           In1<std::uint32_t> sets, In1<double> term_coefficient, In1<std::uint32_t> term_column,
           In1<std::int32_t> term_set, In1<std::uint32_t> term_start) {
    if (format != kFormat)
        throw std::invalid_argument("this forest was stored in format " + std::to_string(format) + "; this version of " +
                                    "conjunto reads format " + std::to_string(kFormat));
    require_aligned(threshold);
    require_aligned(left);
    require_aligned(right);
    require_aligned(test);
    require_aligned(gain);
    require_aligned(term_coefficient);
    require_aligned(term_column);
    require_aligned(term_set);
    same_length("node", threshold, left, right, test, gain);
    same_length("term", term_coefficient, term_column, term_set);
    Forest forest;
    forest.columns = columns;
    forest.classes = classes;
    forest.categories = to_vector(categories);
    for (std::size_t i = 0; i < threshold.shape(0); ++i)
        forest.nodes.push_back({threshold.data()[i], left.data()[i], right.data()[i], test.data()[i], gain.data()[i]});
    forest.node_start = to_vector(node_start);
    forest.leaf_start = to_vector(leaf_start);
    forest.leaf_label = to_vector(leaf_label);
    forest.leaf_value = to_vector(leaf_value);
    forest.shares = to_vector(shares);
    forest.share_label = to_vector(share_label);
    forest.sets = to_vector(sets);
    for (std::size_t i = 0; i < term_coefficient.shape(0); ++i)
        forest.terms.push_back({term_coefficient.data()[i], term_column.data()[i], term_set.data()[i]});
    forest.term_start = to_vector(term_start);
    forest.validate();
    new (self) Forest(std::move(forest));
}

template <class T, class Entry, class Get>
Out<T> field(const std::vector<Entry>& entries, Get&& get) {
    Out<T> out = new_array<T>({entries.size()});
    for (std::size_t i = 0; i < entries.size(); ++i) out.data()[i] = get(entries[i]);
    return out;
}

nb::tuple arrays(const Forest& f) {
    return nb::make_tuple(
        kFormat, f.columns, f.classes, copy_array(f.categories),
        field<double>(f.nodes, [](const Node& n) { return n.threshold; }),
        field<std::int32_t>(f.nodes, [](const Node& n) { return n.left; }),
        field<std::int32_t>(f.nodes, [](const Node& n) { return n.right; }),
        field<std::uint32_t>(f.nodes, [](const Node& n) { return n.test; }),
        field<float>(f.nodes, [](const Node& n) { return n.gain; }), copy_array(f.node_start), copy_array(f.leaf_start),
        copy_array(f.leaf_label), copy_array(f.leaf_value), copy_array(f.shares), copy_array(f.share_label),
        copy_array(f.sets), field<double>(f.terms, [](const Term& t) { return t.coefficient; }),
        field<std::uint32_t>(f.terms, [](const Term& t) { return t.column; }),
        field<std::int32_t>(f.terms, [](const Term& t) { return t.set; }), copy_array(f.term_start));
}

Out<double> take_values(const Forest& f, In2<double> x, std::size_t threads) {
    require_task(f, false);
    return predict<double>(f, x, threads, {f.trees(), x.shape(0)}, member_values);
}
Out<std::int32_t> take_leaves(const Forest& f, In2<double> x, std::size_t threads) {
    return predict<std::int32_t>(f, x, threads, {x.shape(0), f.trees()}, member_leaves);
}
Out<double> take_sums(const Forest& f, In2<double> x, std::size_t threads) {
    require_task(f, false);
    return predict<double>(f, x, threads, {x.shape(0)}, value_sums);
}

Out<double> take_leaf_sums(const Forest& f, In2<double> x, In1<double> value, In1<std::int32_t> column, std::size_t width,
                          std::size_t threads) {
    require_aligned(value);
    require_aligned(column);
    if (value.shape(0) != f.leaves() || column.shape(0) != f.leaves())
        throw std::invalid_argument("value and column need one entry per leaf");
    for (std::size_t i = 0; i < column.shape(0); ++i)
        if (column.data()[i] < 0 || static_cast<std::size_t>(column.data()[i]) >= width)
            throw std::invalid_argument("a column is outside 0 .. width - 1");
    return predict<double>(f, x, threads, {x.shape(0), width}, [&](const Forest& forest, Rows rows, double* out, std::size_t t) {
        leaf_sums(forest, rows, value.data(), column.data(), width, out, t);
    });
}
Out<double> take_leaf_row_sums(const Forest& f, In2<double> x, In2<double> values, std::size_t threads) {
    require_aligned(values);
    if (values.shape(0) != f.leaves()) throw std::invalid_argument("values needs one row per leaf");
    const std::size_t width = values.shape(1);
    return predict<double>(f, x, threads, {x.shape(0), width}, [&](const Forest& forest, Rows rows, double* out, std::size_t t) {
        leaf_row_sums(forest, rows, values.data(), width, out, t);
    });
}

bool has_infinity(In2<double> x) {
    require_aligned(x);
    const std::size_t size = x.shape(0) * x.shape(1);
    for (std::size_t i = 0; i < size; ++i)
        if (std::isinf(x.data()[i])) return true;
    return false;
}

}  // namespace

void init_forest(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Forest> type(m, "Forest", "Decision trees in flat arrays; made by grow().");
    bind_trees(type, arrays);
    type.def("__init__", &build, "format"_a, "columns"_a, "classes"_a, "categories"_a, "threshold"_a, "left"_a, "right"_a,
             "test"_a, "gain"_a, "node_start"_a, "leaf_start"_a, "leaf_label"_a, "leaf_value"_a, "shares"_a,
             "share_label"_a, "sets"_a, "term_coefficient"_a, "term_column"_a, "term_set"_a, "term_start"_a)
        .def("values", &take_values, "X"_a, "threads"_a = 1, "(trees, rows): the value each tree predicts.")
        .def("leaves", &take_leaves, "X"_a, "threads"_a = 1, "(rows, trees): the leaf, numbered within its tree.")
        .def("value_sums", &take_sums, "X"_a, "threads"_a = 1, "(rows,): summed values.")
        .def("leaf_labels", [](const Forest& f) {
            require_task(f, true);
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
            return copy_array(f.leaf_value);
        }, "(leaves,): the value of each leaf.")
        .def("leaf_sums", &take_leaf_sums, "X"_a, "value"_a, "column"_a, "width"_a, "threads"_a = 1,
             "(rows, width): sum over trees of value[leaf] in column[leaf].")
        .def("leaf_row_sums", &take_leaf_row_sums, "X"_a, "values"_a, "threads"_a = 1,
             "(rows, width): sum over trees of the leaf's row of values.");
    m.def("has_infinity", &has_infinity, "X"_a);
}

}  // namespace conjunto::bind
