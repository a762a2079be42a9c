// Rows that Python hands over: an array in any order of its values, or a CSR matrix of scipy.
#pragma once

#include <optional>
#include <stdexcept>
#include <vector>

#include "../core/predict.hpp"
#include "arrays.hpp"

namespace conjunto::bind {

// Keeps the arrays alive, and checks what the core will follow.
class GivenRows {
public:
    explicit GivenRows(const nb::object& x) {
        if (nb::try_cast(x, dense_)) {
            require_aligned(dense_);
            n = dense_.shape(0);
            columns = dense_.shape(1);
            return;
        }
        if (!nb::hasattr(x, "indptr") || !nb::hasattr(x, "indices") || !nb::hasattr(x, "data"))
            throw nb::type_error("X must be an array of doubles of two dimensions, or a CSR matrix");
        const auto shape = nb::cast<nb::tuple>(x.attr("shape"));
        if (shape.size() != 2) throw nb::type_error("X must have two dimensions");
        n = nb::cast<std::size_t>(shape[0]);
        columns = nb::cast<std::size_t>(shape[1]);
        value_ = nb::cast<In1<double>>(x.attr("data"), false);
        column_ = nb::cast<In1<std::int32_t>>(x.attr("indices"), false);
        copy_starts(x.attr("indptr"));
        require_aligned(value_);
        require_aligned(column_);
        check();
        rows_ = {value_.data(), column_.data(), start_.data()};
    }
    GivenRows(const GivenRows&) = delete;
    GivenRows& operator=(const GivenRows&) = delete;

    std::size_t n = 0, columns = 0;

    bool sparse() const { return !start_.empty(); }
    const SparseRows& entries() const { return rows_; }
    Rows rows() const {
        if (sparse()) return {rows_, n, columns};
        return {dense_.data(), n, columns, dense_.stride(0), dense_.stride(1)};
    }

private:
    // scipy has them in 32 bits as long as they fit.
    void copy_starts(const nb::object& given) {
        const auto copy = [&](const auto& array) { start_.assign(array.data(), array.data() + array.shape(0)); };
        In1<std::int32_t> narrow;
        if (nb::try_cast(given, narrow, false))
            copy(narrow);
        else
            copy(nb::cast<In1<std::int64_t>>(given, false));
    }

    void check() const {
        require(start_.size() == n + 1 && start_.front() == 0, "the rows of sparse X do not begin and end where they should");
        require(column_.shape(0) == value_.shape(0), "indices and data of sparse X differ in length");
        for (std::size_t row = 0; row < n; ++row) require(start_[row] <= start_[row + 1], "the rows of sparse X overlap");
        require(static_cast<std::size_t>(start_.back()) <= value_.shape(0), "sparse X lacks entries");
        for (std::size_t i = 0; i < column_.shape(0); ++i)
            require(column_.data()[i] >= 0 && static_cast<std::size_t>(column_.data()[i]) < columns, "sparse X has a column out of range");
    }

    InRows dense_;
    In1<double> value_;
    In1<std::int32_t> column_;
    std::vector<std::int64_t> start_;
    SparseRows rows_;
};

}  // namespace conjunto::bind
