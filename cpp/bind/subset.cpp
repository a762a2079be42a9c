#include "../core/subset.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"
#include "magnitudes.hpp"

namespace conjunto::bind {

namespace {

void require_optional_weights(const std::optional<In1<double>>& weights, std::size_t n, const char* shape) {
    if (!weights) return;
    require_aligned(*weights);
    require(weights->shape(0) == n, shape);
    require_weights(weights->data(), n);
}

// Different numbers of first .. end - 1.
std::vector<std::uint32_t> require_choice(const In1<std::uint32_t>& numbers, std::size_t first, std::size_t end,
                                          const char* message) {
    require_aligned(numbers);
    std::vector<bool> seen(end, false);
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const std::uint32_t number = numbers.data()[i];
        require(number >= first && number < end && !seen[number], message);
        seen[number] = true;
    }
    return {numbers.data(), numbers.data() + numbers.shape(0)};
}

void require_codes(const std::int32_t* codes, std::size_t n, std::int32_t least, std::size_t classes,
                   const char* message) {
    for (std::size_t i = 0; i < n; ++i)
        require(codes[i] >= least && codes[i] < static_cast<std::int64_t>(classes), message);
}

// A search may take minutes: the user can interrupt it.
void let_python_interrupt() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::tuple<Out<double>, Out<std::int64_t>, Out<std::uint64_t>> search(
    In1<std::int32_t> truth, std::size_t classes, In1<std::uint32_t> sizes, std::optional<In2<std::int32_t>> labels,
    std::optional<In3<double>> scores, std::optional<In1<double>> weights, std::optional<In1<double>> sample_weight,
    std::optional<In1<std::uint32_t>> prefer, std::size_t threads) {
    require(labels.has_value() != scores.has_value(), "give labels or scores");
    SubsetRequest request;
    request.members = labels ? labels->shape(0) : scores->shape(0);
    request.examples = labels ? labels->shape(1) : scores->shape(1);
    request.classes = classes;
    request.threads = threads;
    request.pause = let_python_interrupt;
    require(request.members >= 1 && request.members <= kMaxSubsetMembers, "there must be 1 to 40 members");
    require(request.examples >= 1 && request.examples < std::size_t{1} << 31, "there must be 1 to 2^31 - 1 examples");
    require(classes >= 1 && classes < std::size_t{1} << 31, "there must be 1 to 2^31 - 1 classes");
    require_aligned(truth);
    require(truth.shape(0) == request.examples, "truth needs one entry per example");
    require_codes(truth.data(), request.examples, 0, classes, "a true class is outside 0 .. classes - 1");
    request.truth = truth.data();
    if (labels) {
        require_aligned(*labels);
        require_codes(labels->data(), labels->size(), -1, classes, "a label is outside -1 .. classes - 1");
        request.labels = labels->data();
    } else {
        require_aligned(*scores);
        require(scores->shape(2) == classes, "scores must be (members, examples, classes)");
        require_moderate(scores->data(), scores->size(), "a score is infinite or too large: scale them");
        request.scores = scores->data();
    }
    require_optional_weights(weights, request.members, "weights needs one entry per member");
    require_optional_weights(sample_weight, request.examples, "sample_weight needs one entry per example");
    request.weights = weights ? weights->data() : nullptr;
    request.sample_weight = sample_weight ? sample_weight->data() : nullptr;
    require(sizes.shape(0) > 0, "sizes is empty");
    request.sizes = require_choice(sizes, 1, request.members + 1, "sizes must be different numbers of 1 .. members");
    if (prefer) {
        require(prefer->shape(0) == request.members, "prefer needs one entry per member");
        request.prefer = require_choice(*prefer, 0, request.members, "prefer must be a permutation of the members");
    }
    std::vector<BestSubset> best;
    {
        nb::gil_scoped_release release;
        best = best_subsets(request);
    }
    auto errors = new_array<double>({best.size()});
    auto counts = new_array<std::int64_t>({best.size()});
    auto members = new_array<std::uint64_t>({best.size()});
    for (std::size_t s = 0; s < best.size(); ++s) {
        errors.data()[s] = best[s].error;
        counts.data()[s] = best[s].count;
        members.data()[s] = best[s].members;
    }
    return {errors, counts, members};
}

}  // namespace

void init_subset(nb::module_& m) {
    using namespace nb::literals;
    m.def("best_subsets", &search, "truth"_a.noconvert(), "classes"_a, "sizes"_a.noconvert(),
          "labels"_a.noconvert() = nb::none(), "scores"_a.noconvert() = nb::none(),
          "weights"_a.noconvert() = nb::none(), "sample_weight"_a.noconvert() = nb::none(),
          "prefer"_a.noconvert() = nb::none(), "threads"_a = 1,
          "The least error of a subset of each size, how many attain it, and one of them as bits.");
}

}  // namespace conjunto::bind
