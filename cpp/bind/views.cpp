#include "views.hpp"

#include <nanobind/stl/optional.h>

#include <cmath>

namespace conjunto::bind {

namespace {

void require_weights(const double* weights, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        require(std::isfinite(weights[i]) && weights[i] >= 0, "a weight is negative or not finite");
}

void require_targets(const double* targets, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) require(std::isfinite(targets[i]), "a target is not finite");
}

}  // namespace

Views ViewArrays::checked(const Table& table, std::uint32_t classes, Key key, std::span<const std::uint32_t> outputs) const {
    require(table.rows > 0 && table.columns > 0, "the table is empty");
    require(labels.has_value() != targets.has_value(), "give labels or targets");
    require(labels.has_value() == (classes > 0), "labels go with classes > 0, targets with classes = 0");
    require(!(small_weights && weights), "give one kind of weights");
    require(classes <= kMaxClasses, "too many classes");
    require_aligned(members);
    Views views;
    views.members = members.shape(0);
    views.number = members.data();
    views.key = key;
    auto shaped = [&](const auto& array, bool may_be_shared, const char* message) {
        require_aligned(array);
        const bool own = array.shape(0) == views.members;
        require((own || (may_be_shared && array.shape(0) == 1)) && array.shape(1) == table.rows, message);
        return array.data();
    };
    const auto of_targets = [&](const auto& array) {
        require_aligned(array);
        require(array.shape(0) == table.rows && array.shape(1) == outputs.size(), "several targets must be (rows, targets)");
        return array.data();
    };
    if (labels && !outputs.empty()) {
        views.labels = of_targets(*labels);
        for (std::size_t i = 0; i < labels->size(); ++i)
            require(views.labels[i] >= 0 && static_cast<std::uint32_t>(views.labels[i]) < outputs[i % outputs.size()],
                    "a label is outside 0 .. classes - 1");
    } else if (labels) {
        views.labels = shaped(*labels, true, "labels must be (members, rows) or (1, rows)");
        views.shared_labels = labels->shape(0) == 1;
        for (std::size_t i = 0; i < labels->size(); ++i)
            require(views.labels[i] >= 0 && static_cast<std::uint32_t>(views.labels[i]) < classes,
                    "a label is outside 0 .. classes - 1");
    }
    if (targets) {
        views.targets = outputs.empty() ? shaped(*targets, true, "targets must be (members, rows) or (1, rows)") : of_targets(*targets);
        views.shared_labels = !outputs.empty() || targets->shape(0) == 1;
        require_targets(views.targets, targets->size());
    }
    if (small_weights) views.small_weights = shaped(*small_weights, false, "weights must be (members, rows)");
    if (weights) {
        views.weights = shaped(*weights, false, "weights must be (members, rows)");
        require_weights(views.weights, weights->size());
    }
    if (columns) {
        require_aligned(*columns);
        require(columns->shape(0) == views.members && columns->shape(1) > 0, "columns must be (members, columns)");
        views.columns = columns->data();
        views.columns_seen = columns->shape(1);
        for (std::size_t i = 0; i < columns->size(); ++i)
            require(views.columns[i] < table.columns, "a column is out of range");
    }
    if (halves) {
        views.halves = shaped(*halves, false, "halves must be (members, rows)");
        for (std::size_t i = 0; i < halves->size(); ++i) require(views.halves[i] <= 1, "halves are told by 0 and 1");
    }
    if (folds) {
        require_aligned(*folds);
        require(folds->shape(0) == table.rows, "folds needs one entry per row");
        views.folds = folds->data();
        for (std::size_t i = 0; i < folds->size(); ++i) require(views.folds[i] < table.rows, "a fold is out of range");
    }
    return views;
}

HeldOut HeldOutArrays::checked(const Table& table, std::uint32_t classes) const {
    require_aligned(x);
    require(x.shape(1) == table.columns, "the held-out rows have another number of columns than the table");
    require(labels.has_value() == (classes > 0) && targets.has_value() == (classes == 0),
            "held-out answers must be of the kind of the others");
    HeldOut held_out{x.data(), x.shape(0)};
    auto one_per_row = [&](const auto& array) {
        require_aligned(array);
        require(array.shape(0) == held_out.rows, "held-out arrays need one entry per row");
        return array.data();
    };
    if (labels) held_out.labels = one_per_row(*labels);
    if (targets) {
        held_out.targets = one_per_row(*targets);
        require_targets(held_out.targets, held_out.rows);
    }
    if (weights) {
        held_out.weights = one_per_row(*weights);
        require_weights(held_out.weights, held_out.rows);
    }
    return held_out;
}

void init_views(nb::module_& m) {
    using namespace nb::literals;
    // Converting would wrap or cut off values that do not fit.
    nb::class_<ViewArrays>(m, "Views", "What the members of a call see; arrays that are left out: all rows, all columns.")
        .def(nb::init<In1<std::uint64_t>, std::optional<In2<std::int32_t>>, std::optional<In2<double>>,
                      std::optional<In2<std::uint8_t>>, std::optional<In2<double>>, std::optional<In2<std::uint32_t>>,
                      std::optional<In2<std::uint8_t>>, std::optional<In1<std::uint32_t>>>(),
             "members"_a.noconvert(), nb::kw_only(), "labels"_a.noconvert() = nb::none(),
             "targets"_a.noconvert() = nb::none(), "small_weights"_a.noconvert() = nb::none(),
             "weights"_a.noconvert() = nb::none(), "columns"_a.noconvert() = nb::none(),
             "halves"_a.noconvert() = nb::none(), "folds"_a.noconvert() = nb::none())
        .def("__len__", [](const ViewArrays& self) { return self.members.shape(0); });
    nb::class_<HeldOutArrays>(m, "HeldOut", "Rows that judge a tree.")
        .def(nb::init<In2<double>, std::optional<In1<std::int32_t>>, std::optional<In1<double>>,
                      std::optional<In1<double>>>(),
             "X"_a.noconvert(), nb::kw_only(), "labels"_a.noconvert() = nb::none(), "targets"_a.noconvert() = nb::none(),
             "weights"_a.noconvert() = nb::none());
}

}  // namespace conjunto::bind
