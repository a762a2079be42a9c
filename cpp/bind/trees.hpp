// What every kind of packed trees offers to Python: ensembles ask `Forest` and `C45Forest` the same questions.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../core/named_arrays.hpp"
#include "../core/predict.hpp"
#include "arrays.hpp"
#include "rows.hpp"

namespace conjunto::bind {

template <class Trees>
void require_format(std::int64_t format) {
    if (format != Trees::kFormat)
        throw std::invalid_argument(std::string("this ") + Trees::kName + " was stored in format " + std::to_string(format) +
                                    "; this version of conjunto reads format " + std::to_string(Trees::kFormat));
}

// Fills trees from a dictionary of their arrays, which may be damaged or hostile: types and lengths are checked here,
// what the numbers refer to by `validate`.
template <class Trees>
class TreesReader {
public:
    explicit TreesReader(const nb::dict& given) : given_(given) {}

    Trees read() {
        require_format<Trees>(number<std::int64_t>("format"));
        Trees trees;
        trees.columns = number<std::uint32_t>("columns");
        trees.classes = number<std::uint32_t>("classes");
        Trees::visit_arrays(trees, *this);
        if (static_cast<std::size_t>(PyDict_Size(given_.ptr())) != known_.size()) refuse_unknown();
        trees.validate();
        return trees;
    }

    template <class T>
    void array(const char* name, std::vector<T>& values) {
        const In1<T> given = take<T>(name);
        values.assign(given.data(), given.data() + given.shape(0));
    }

    template <class Entry, class... T>
    void entries(const char* what, std::vector<Entry>& values, Field<Entry, T>... fields) {
        bool first = true;
        (fill(what, values, fields, std::exchange(first, false)), ...);
    }

private:
    static std::string corrupt(const std::string& what) { return std::string("corrupt ") + Trees::kName + ": " + what; }

    nb::object look_up(const char* name) {
        known_.push_back(name);
        const nb::str key(name);
        PyObject* found = PyDict_GetItemWithError(given_.ptr(), key.ptr());
        if (found) return nb::borrow(found);
        if (PyErr_Occurred()) throw nb::python_error();
        throw std::invalid_argument(corrupt(std::string(name) + " is missing"));
    }

    template <class T>
    T number(const char* name) {
        T value;
        if (!nb::try_cast(look_up(name), value, false))
            throw nb::type_error(corrupt(std::string(name) + " is no whole number of its range").c_str());
        return value;
    }

    template <class T>
    In1<T> take(const char* name) {
        In1<T> given;
        if (!nb::try_cast(look_up(name), given, false))
            throw nb::type_error(corrupt(std::string(name) + " is no contiguous array of one dimension and its type").c_str());
        require_aligned(given);
        return given;
    }

    template <class Entry, class T>
    void fill(const char* what, std::vector<Entry>& values, Field<Entry, T> field, bool first) {
        const In1<T> given = take<T>(field.name);
        if (first) values.resize(given.shape(0));
        if (given.shape(0) != values.size())
            throw std::invalid_argument(corrupt(std::string(what) + " arrays differ in length"));
        for (std::size_t i = 0; i < values.size(); ++i) values[i].*field.member = given.data()[i];
    }

    // Names that are no text, or text that no encoding knows, come from damaged files: they are told in ASCII.
    void refuse_unknown() const {
        for (const auto [key, value] : given_) {
            const bool known = PyUnicode_Check(key.ptr()) && std::any_of(known_.begin(), known_.end(), [&](const char* name) {
                return PyUnicode_CompareWithASCIIString(key.ptr(), name) == 0;
            });
            if (known) continue;
            const nb::object text = nb::steal(PyObject_ASCII(key.ptr()));
            if (!text.is_valid()) throw nb::python_error();
            throw std::invalid_argument(corrupt(std::string("there is no array ") + nb::borrow<nb::str>(text).c_str()));
        }
        throw std::invalid_argument(corrupt("a name is given twice"));
    }

    const nb::dict& given_;
    std::vector<const char*> known_;
};

// Copies the arrays of trees into a dictionary.
struct TreesWriter {
    nb::dict& out;

    template <class T>
    void array(const char* name, const std::vector<T>& values) {
        out[name] = copy_array(values);
    }

    template <class Entry, class... T>
    void entries(const char*, const std::vector<Entry>& values, Field<Entry, T>... fields) {
        (put(values, fields), ...);
    }

    template <class Entry, class T>
    void put(const std::vector<Entry>& values, Field<Entry, T> field) {
        Out<T> copy = new_array<T>({values.size()});
        for (std::size_t i = 0; i < values.size(); ++i) copy.data()[i] = values[i].*field.member;
        out[field.name] = copy;
    }
};

template <class Trees>
nb::dict named_arrays(const Trees& trees) {
    nb::dict out;
    out["format"] = Trees::kFormat;
    out["columns"] = trees.columns;
    out["classes"] = trees.classes;
    Trees::visit_arrays(trees, TreesWriter{out});
    return out;
}

template <class Trees>
void require_task(const Trees& trees, bool classification) {
    if ((trees.classes > 0) != classification)
        throw std::invalid_argument(classification ? "a regression forest has no classes" : "a classification forest has no values");
}

template <class Trees>
void require_one_target(const Trees& trees) {
    if constexpr (requires { trees.several(); })
        if (trees.several()) throw std::invalid_argument("the forest has several targets: ask of_output");
}

// Runs a prediction into a new array of this shape, without the GIL.
template <class T, class Trees, class Predict>
Out<T> predict(const Trees& trees, const GivenRows& x, std::size_t threads, std::initializer_list<std::size_t> shape,
               Predict&& body) {
    if (x.columns != trees.columns)
        throw std::invalid_argument("X has " + std::to_string(x.columns) + " columns, the forest was grown on " +
                                    std::to_string(trees.columns));
    const Rows rows = x.rows();
    Out<T> out = new_array<T>(shape);
    nb::gil_scoped_release release;
    body(trees, rows, out.data(), threads);
    return out;
}

template <class Trees>
void bind_trees(nb::class_<Trees>& type) {
    using namespace nb::literals;
    type.def("__init__", [](Trees* self, const nb::dict& arrays) { new (self) Trees(TreesReader<Trees>(arrays).read()); },
             "arrays"_a)
        // Up to format 1 the arrays were arguments of their own, the format first.
        .def("__init__", [](Trees*, std::int64_t format, const nb::args&) {
            require_format<Trees>(format);
            throw nb::type_error("the arrays are given as one dictionary");
        }, "format"_a, "arrays"_a)
        .def("arrays", &named_arrays<Trees>, "The numbers and arrays that rebuild these trees, by name.")
        .def("__reduce__", [](nb::handle self) {
            return nb::make_tuple(self.type(), nb::make_tuple(named_arrays(nb::cast<const Trees&>(self))));
        })
        .def_prop_ro_static("FORMAT", [](nb::handle) { return Trees::kFormat; }, "The format of `arrays`.")
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
        .def("labels", [](const Trees& t, const nb::object& X, std::size_t threads) {
            require_task(t, true);
            require_one_target(t);
            const GivenRows x(X);
            return predict<std::int32_t>(t, x, threads, {t.trees(), x.n}, [](const Trees& f, Rows rows, std::int32_t* out, std::size_t n) {
                member_labels(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(trees, rows): the class each tree votes for.")
        .def("vote_counts", [](const Trees& t, const nb::object& X, std::size_t threads) {
            require_task(t, true);
            const GivenRows x(X);
            return predict<double>(t, x, threads, {x.n, t.classes}, [](const Trees& f, Rows rows, double* out, std::size_t n) {
                vote_counts(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(rows, classes): votes by class.")
        .def("share_sums", [](const Trees& t, const nb::object& X, std::size_t threads) {
            require_task(t, true);
            const GivenRows x(X);
            return predict<double>(t, x, threads, {x.n, t.classes}, [](const Trees& f, Rows rows, double* out, std::size_t n) {
                share_sums(f, rows, out, n);
            });
        }, "X"_a, "threads"_a = 1, "(rows, classes): summed class shares.");
}

}  // namespace conjunto::bind
