// What every kind of packed trees offers to Python: ensembles ask `Forest` and `C45Forest` the same questions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "../core/predict.hpp"
#include "arrays.hpp"

namespace conjunto::bind {

template <class T>
std::vector<T> to_vector(const In1<T>& array) {
    require_aligned(array);
    return {array.data(), array.data() + array.shape(0)};
}

template <class Trees>
void require_task(const Trees& trees, bool classification) {
    if ((trees.classes > 0) != classification)
        throw std::invalid_argument(classification ? "a regression forest has no classes" : "a classification forest has no values");
}

// Runs a prediction into a new array of this shape, without the GIL.
template <class T, class Trees, class Predict>
Out<T> predict(const Trees& trees, const In2<double>& x, std::size_t threads, std::initializer_list<std::size_t> shape,
               Predict&& body) {
    require_aligned(x);
    if (x.shape(1) != trees.columns)
        throw std::invalid_argument("X has " + std::to_string(x.shape(1)) + " columns, the forest was grown on " +
                                    std::to_string(trees.columns));
    const Rows rows{x.data(), x.shape(0)};
    Out<T> out = new_array<T>(shape);
    nb::gil_scoped_release release;
    body(trees, rows, out.data(), threads);
    return out;
}

// `arrays` returns the arguments that rebuild the trees.
template <class Trees, class Arrays>
void bind_trees(nb::class_<Trees>& type, Arrays arrays) {
    using namespace nb::literals;
    type.def("arrays", arrays, "The arguments that rebuild this forest.")
        .def("__reduce__", [arrays](nb::handle self) { return nb::make_tuple(self.type(), arrays(nb::cast<const Trees&>(self))); })
        .def("__len__", &Trees::trees)
        .def_ro("columns", &Trees::columns)
        .def_ro("classes", &Trees::classes)
        .def_prop_ro("nbytes", &Trees::bytes, "Bytes that the arrays take.")
        .def_prop_ro("n_nodes", [](const Trees& t) { return t.nodes.size() + t.leaves(); }, "Inner nodes and leaves.")
        .def("leaf_counts", [](const Trees& t) {
            Out<std::int32_t> out = new_array<std::int32_t>({t.trees()});
            for (std::size_t i = 0; i < t.trees(); ++i)
                out.data()[i] = static_cast<std::int32_t>(t.leaf_start[i + 1] - t.leaf_start[i]);
            return out;
        }, "Number of leaves of each tree.")
        .def("depths", [](const Trees& t) { return copy_array(t.depths()); }, "Depth of each tree.")
        .def("importances", [](const Trees& t) {
            const std::vector<double> values = t.importances();
            Out<double> out = new_array<double>({t.trees(), t.columns});
            std::copy(values.begin(), values.end(), out.data());
            return out;
        }, "(trees, columns): share of the gain by column.")
        .def("append", &Trees::append, "other"_a, "Adds the trees of another forest of the same problem.")
        .def("reserve", &Trees::reserve, "factor"_a, "Makes room for `factor` times as many trees.")
        .def("take", [](const Trees& t, In1<std::int64_t> members) {
            require_aligned(members);
            return t.take({members.data(), members.shape(0)});
        }, "members"_a, "A forest of these members.")
        .def("labels", [](const Trees& t, In2<double> x, std::size_t threads) {
            require_task(t, true);
            return predict<std::int32_t>(t, x, threads, {t.trees(), x.shape(0)}, [](const Trees& f, Rows rows, std::int32_t* out, std::size_t n) {
                member_labels(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(trees, rows): the class each tree votes for.")
        .def("vote_counts", [](const Trees& t, In2<double> x, std::size_t threads) {
            require_task(t, true);
            return predict<double>(t, x, threads, {x.shape(0), t.classes}, [](const Trees& f, Rows rows, double* out, std::size_t n) {
                vote_counts(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(rows, classes): votes by class.")
        .def("share_sums", [](const Trees& t, In2<double> x, std::size_t threads) {
            require_task(t, true);
            return predict<double>(t, x, threads, {x.shape(0), t.classes}, [](const Trees& f, Rows rows, double* out, std::size_t n) {
                share_sums(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(rows, classes): summed class shares.");
}

}  // namespace conjunto::bind
