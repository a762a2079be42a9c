// What the members of a call see, and the rows that judge a tree: numpy arrays, kept alive by the object that holds
// them, and checked in each call before the core follows a pointer. Numpy lets anybody change them in between.
#pragma once

#include <optional>
#include <span>

#include "../core/grow.hpp"
#include "../core/reduced.hpp"
#include "arrays.hpp"

namespace conjunto::bind {

struct ViewArrays {
    In1<std::uint64_t> members;
    std::optional<In2<std::int32_t>> labels;
    std::optional<In2<double>> targets;
    std::optional<In2<std::uint8_t>> small_weights;
    std::optional<In2<double>> weights;
    std::optional<In2<std::uint32_t>> columns;
    std::optional<In2<std::uint8_t>> halves;
    std::optional<In1<std::uint32_t>> folds;

    // As the core reads them; throws unless they fit the table and the number of classes (0: regression), or those of each
    // of several targets.
    Views checked(const Table& table, std::uint32_t classes, Key key, std::span<const std::uint32_t> outputs = {}) const;
};

struct HeldOutArrays {
    In2<double> x;
    std::optional<In1<std::int32_t>> labels;
    std::optional<In1<double>> targets;
    std::optional<In1<double>> weights;

    HeldOut checked(const Table& table, std::uint32_t classes) const;
};

}  // namespace conjunto::bind
