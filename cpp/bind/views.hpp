// What the members of a call see: numpy arrays, checked before the core follows a pointer.
#pragma once

#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "../core/grow.hpp"
#include "arrays.hpp"

namespace conjunto::bind {

// What the members of a call see, as numpy holds it.
struct ViewArrays {
    In1<std::uint64_t> members;
    std::optional<In2<std::int32_t>> labels;
    std::optional<In2<double>> targets;
    std::optional<In2<std::uint8_t>> small_weights;
    std::optional<In2<double>> weights;
    std::optional<In2<std::uint32_t>> columns;
    std::optional<In2<std::uint8_t>> halves{};
    std::optional<In1<std::uint32_t>> folds{};
};

// Checks every array before the core follows a pointer.
inline Views checked_views(const Table& table, std::uint32_t classes, Key key, const ViewArrays& arrays) {
    const auto& [members, labels, targets, small_weights, weights, columns, halves, folds] = arrays;
    Views views;
    views.members = members.shape(0);
    views.number = members.data();
    views.key = key;
    auto shaped = [&](const auto& array, bool may_be_shared, const char* message) {
        require((array.shape(0) == views.members || (may_be_shared && array.shape(0) == 1)) && array.shape(1) == table.rows,
                message);
    };
    require(table.rows > 0 && table.columns > 0, "the table is empty");
    require_aligned(members);
    if (labels) require_aligned(*labels);
    if (targets) require_aligned(*targets);
    if (weights) require_aligned(*weights);
    if (columns) require_aligned(*columns);
    require(labels.has_value() != targets.has_value(), "give labels or targets");
    require(labels.has_value() == (classes > 0), "labels go with classes > 0, targets with classes = 0");
    require(!(small_weights && weights), "give one kind of weights");
    require(classes <= kMaxClasses, "too many classes");
    if (labels) {
        shaped(*labels, true, "labels must be (members, rows) or (1, rows)");
        views.labels = labels->data();
        views.shared_labels = labels->shape(0) == 1;
        for (std::size_t i = 0; i < labels->size(); ++i)
            require(labels->data()[i] >= 0 && static_cast<std::uint32_t>(labels->data()[i]) < classes,
                    "a label is outside 0 .. classes - 1");
    } else {
        shaped(*targets, true, "targets must be (members, rows) or (1, rows)");
        views.targets = targets->data();
        views.shared_labels = targets->shape(0) == 1;
        for (std::size_t i = 0; i < targets->size(); ++i) require(std::isfinite(targets->data()[i]), "a target is not finite");
    }
    if (small_weights) {
        shaped(*small_weights, false, "weights must be (members, rows)");
        views.small_weights = small_weights->data();
    }
    if (weights) {
        shaped(*weights, false, "weights must be (members, rows)");
        views.weights = weights->data();
        for (std::size_t i = 0; i < weights->size(); ++i)
            require(std::isfinite(weights->data()[i]) && weights->data()[i] >= 0, "a weight is negative or not finite");
    }
    if (columns) {
        require(columns->shape(0) == views.members && columns->shape(1) > 0, "columns must be (members, columns)");
        views.columns = columns->data();
        views.columns_seen = columns->shape(1);
        for (std::size_t i = 0; i < columns->size(); ++i) require(columns->data()[i] < table.columns, "a column is out of range");
    }
    if (halves) {
        shaped(*halves, false, "halves must be (members, rows)");
        for (std::size_t i = 0; i < halves->size(); ++i) require(halves->data()[i] <= 1, "halves are told by 0 and 1");
        views.halves = halves->data();
    }
    if (folds) {
        require_aligned(*folds);
        require(folds->shape(0) == table.rows, "folds needs one entry per row");
        for (std::size_t i = 0; i < folds->size(); ++i) require(folds->data()[i] < table.rows, "a fold is out of range");
        views.folds = folds->data();
    }
    return views;
}

}  // namespace conjunto::bind
