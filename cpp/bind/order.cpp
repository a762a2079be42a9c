#include "../core/order.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cmath>
#include <optional>

#include "arrays.hpp"
#include "magnitudes.hpp"

namespace conjunto::bind {

namespace {

using Scores = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Weights = std::optional<In1<double>>;

const double* checked_weights(const Weights& weights, std::size_t count, const char* message) {
    if (!weights) return nullptr;
    require_aligned(*weights);
    require(weights->shape(0) == count, message);
    require_weights(weights->data(), count);
    return weights->data();
}

Ballots read(const In2<std::int32_t>& labels, const In1<std::int32_t>& truth, std::size_t classes, const Weights& weights,
             const Weights& examples, const std::optional<Scores>& scores) {
    require_aligned(labels);
    require_aligned(truth);
    const std::size_t members = labels.shape(0), n = labels.shape(1);
    if (members > UINT32_MAX || n > UINT32_MAX) throw std::invalid_argument("too many members or examples");
    if (truth.shape(0) != n) throw std::invalid_argument("truth needs one code per example");
    const auto top = static_cast<std::int64_t>(classes);
    for (std::size_t i = 0; i < n; ++i)
        if (truth.data()[i] < 0 || truth.data()[i] >= top) throw std::invalid_argument("truth must hold codes below classes");
    for (std::size_t i = 0; i < members * n; ++i)
        if (labels.data()[i] < -1 || labels.data()[i] >= top)
            throw std::invalid_argument("labels must be -1 or codes below classes");
    const double* added = nullptr;
    if (scores) {
        require_aligned(*scores);
        if (scores->shape(0) != members || scores->shape(1) != n || scores->shape(2) != classes)
            throw std::invalid_argument("scores must be (members, examples, classes)");
        require_moderate(scores->data(), scores->size(), "a score is infinite or too large: scale them");
        added = scores->data();
    }
    return {labels.data(), added, truth.data(), checked_weights(weights, members, "weights needs one entry per member"),
            checked_weights(examples, n, "examples needs one entry per example"), members, n, classes};
}

Out<std::int64_t> as_array(const Order& order) {
    Out<std::int64_t> out = new_array<std::int64_t>({order.size()});
    std::copy(order.begin(), order.end(), out.data());
    return out;
}

template <class Run>
Out<std::int64_t> ordered(const Run& run) {
    Order order;
    {
        nb::gil_scoped_release release;
        order = run();
    }
    return as_array(order);
}

Predictions read_values(const In2<double>& values, const In1<double>& truth, bool median, const Weights& weights,
                        const Weights& examples) {
    require_aligned(values);
    require_aligned(truth);
    const std::size_t members = values.shape(0), n = values.shape(1);
    if (members > UINT32_MAX) throw std::invalid_argument("too many members");
    if (truth.shape(0) != n) throw std::invalid_argument("truth needs one value per example");
    require_moderate(values.data(), values.size(), "a value is infinite or too large: scale them");
    require_moderate(truth.data(), n, "a true value is infinite or too large: scale them");
    for (std::size_t i = 0; i < n; ++i) require(!std::isnan(truth.data()[i]), "a true value is missing");
    return {values.data(), truth.data(), checked_weights(weights, members, "weights needs one entry per member"),
            checked_weights(examples, n, "examples needs one entry per example"), members, n, median};
}

Out<std::int64_t> find_leaders(const In2<double>& counts) {
    require_aligned(counts);
    const std::size_t rows = counts.shape(0), classes = counts.shape(1);
    require(classes > 0, "counts needs a column per class");
    Out<std::int64_t> out = new_array<std::int64_t>({rows});
    // A single row takes less time than giving the lock away.
    std::optional<nb::gil_scoped_release> release;
    if (counts.size() > 10'000) release.emplace();
    leaders(counts.data(), rows, classes, out.data());
    return out;
}

}  // namespace

void init_order(nb::module_& m) {
    using namespace nb::literals;
    m.def("leaders", &find_leaders, "counts"_a,
          "(rows,): the class of the largest count; ties, and differences by rounding alone, go to the lowest.");
    m.def(
        "order_reduce_error",
        [](In2<std::int32_t> labels, In1<std::int32_t> truth, std::size_t classes, Weights weights, Weights examples,
           std::optional<Scores> scores, std::size_t backfit, std::size_t threads) {
            const Ballots ballots = read(labels, truth, classes, weights, examples, scores);
            return ordered([&] { return reduce_error(ballots, backfit, threads); });
        },
        "labels"_a, "truth"_a, "classes"_a, "weights"_a.none(), "examples"_a.none(), "scores"_a.none(), "backfit"_a,
        "threads"_a, "Members in the order of reduce-error.");
    m.def(
        "order_complementarity",
        [](In2<std::int32_t> labels, In1<std::int32_t> truth, std::size_t classes, Weights weights, Weights examples,
           std::optional<Scores> scores, std::size_t threads) {
            const Ballots ballots = read(labels, truth, classes, weights, examples, scores);
            return ordered([&] { return complementarity(ballots, threads); });
        },
        "labels"_a, "truth"_a, "classes"_a, "weights"_a.none(), "examples"_a.none(), "scores"_a.none(), "threads"_a,
        "Members in the order of complementarity.");
    m.def(
        "order_margin_distance",
        [](In2<std::int32_t> labels, In1<std::int32_t> truth, std::size_t classes, Weights weights, Weights examples,
           double p, std::size_t threads) {
            const Ballots ballots = read(labels, truth, classes, weights, examples, std::nullopt);
            return ordered([&] { return margin_distance(ballots, p, threads); });
        },
        "labels"_a, "truth"_a, "classes"_a, "weights"_a.none(), "examples"_a.none(), "p"_a, "threads"_a,
        "Members in the order of margin distance.");
    m.def(
        "order_boosting_based",
        [](In2<std::int32_t> labels, In1<std::int32_t> truth, std::size_t classes, Weights examples, std::size_t threads) {
            const Ballots ballots = read(labels, truth, classes, std::nullopt, examples, std::nullopt);
            BoostedOrder found;
            {
                nb::gil_scoped_release release;
                found = boosting_based(ballots, threads);
            }
            return std::pair(as_array(found.order), found.good);
        },
        "labels"_a, "truth"_a, "classes"_a, "examples"_a.none(), "threads"_a,
        "Members in the order of boosting-based ordering, and how many come before the first bad one.");
    m.def(
        "kappa_statistics",
        [](In2<std::int32_t> labels, std::size_t classes, std::size_t threads) {
            const std::vector<std::int32_t> none(labels.shape(1), 0);
            const In1<std::int32_t> truth(none.data(), {none.size()});
            const Ballots ballots = read(labels, truth, classes, std::nullopt, std::nullopt, std::nullopt);
            Out<double> out = new_array<double>({ballots.members, ballots.members});
            nb::gil_scoped_release release;
            kappa_statistics(ballots, threads, out.data());
            return out;
        },
        "labels"_a, "classes"_a, "threads"_a, "(members, members): the kappa statistic of every pair.");
    m.def(
        "order_reduce_squared_error",
        [](In2<double> values, In1<double> truth, bool median, Weights weights, Weights examples, std::size_t threads) {
            const Predictions predictions = read_values(values, truth, median, weights, examples);
            return ordered([&] { return reduce_squared_error(predictions, threads); });
        },
        "values"_a, "truth"_a, "median"_a, "weights"_a.none(), "examples"_a.none(), "threads"_a,
        "Members of a regression in the order of reduce-error.");
    m.def(
        "order_complementarity_of_values",
        [](In2<double> values, In1<double> truth, bool median, Weights weights, Weights examples, std::size_t threads) {
            const Predictions predictions = read_values(values, truth, median, weights, examples);
            return ordered([&] { return complementarity_of_values(predictions, threads); });
        },
        "values"_a, "truth"_a, "median"_a, "weights"_a.none(), "examples"_a.none(), "threads"_a,
        "Members of a regression in the order of complementarity.");
}

}  // namespace conjunto::bind
