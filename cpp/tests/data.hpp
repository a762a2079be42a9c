// Tables and forests for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "session.hpp"

namespace conjunto {

// Rows with their labels and targets, and the table made of them.
struct Data {
    std::size_t rows, columns;
    std::vector<double> x;
    std::vector<std::uint32_t> categories;
    std::vector<std::int32_t> labels;
    std::vector<double> targets;

    Data(std::size_t rows, std::size_t columns)
        : rows(rows), columns(columns), x(rows * columns), categories(columns), labels(rows), targets(rows) {}

    double& at(std::size_t row, std::size_t column) { return x[row * columns + column]; }
    double at_const(std::size_t row, std::size_t column) const { return x[row * columns + column]; }
    const double* row(std::size_t i) const { return x.data() + i * columns; }
    Table table() const {
        return prepare(x.data(), rows, columns, static_cast<std::ptrdiff_t>(columns), 1, categories.data(), 1);
    }
};

struct Kind {
    std::uint32_t classes = 2;
    unsigned values = 0;    // distinct values of a numeric column; 0: as many as rows
    bool missing = false;   // every fourth column lacks values
    bool category = false;  // every third column is categorical
};

// Labels and targets depend on some columns and on chance.
inline Data make_data(std::size_t rows, std::size_t columns, const Kind& kind, unsigned seed) {
    std::mt19937_64 random(seed);
    auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
    Data data(rows, columns);
    for (std::size_t c = 0; c < columns; ++c)
        if (kind.category && c % 3 == 2) data.categories[c] = c % 2 ? 5 : 40;
    for (std::size_t row = 0; row < rows; ++row) {
        double signal = 0;
        for (std::size_t c = 0; c < columns; ++c) {
            double value = kind.values ? std::floor(uniform() * kind.values) / kind.values : uniform();
            signal += c < 3 ? value : 0;
            if (data.categories[c]) value = std::floor(uniform() * data.categories[c]);
            if (kind.missing && c % 4 == 1 && random() % 5 == 0) value = std::numeric_limits<double>::quiet_NaN();
            data.at(row, c) = value;
        }
        signal += uniform() / 2;
        // Eighths: sums of targets are exact in any order.
        data.targets[row] = std::floor(signal * 8) / 8;
        const std::uint32_t classes = kind.classes ? kind.classes : 1;
        data.labels[row] = static_cast<std::int32_t>(std::min<double>(signal / 3.5 * classes, classes - 1));
    }
    return data;
}

// Draws with replacement, as small weights.
inline std::vector<std::uint8_t> bootstrap(std::size_t members, std::size_t rows, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> weights(members * rows, 0);
    for (std::size_t member = 0; member < members; ++member)
        for (std::size_t i = 0; i < rows; ++i) ++weights[member * rows + random() % rows];
    return weights;
}

// `members` trees on all rows, or on the rows that the weights name.
inline Forest grow_trees(const Data& data, GrowOptions options, std::size_t members = 1,
                         const std::vector<std::uint8_t>& small = {}, const std::vector<double>& real = {}) {
    Views views;
    views.members = members;
    if (options.classes)
        views.labels = data.labels.data();
    else
        views.targets = data.targets.data();
    if (!small.empty()) views.small_weights = small.data();
    if (!real.empty()) views.weights = real.data();
    views.key = {11, 12};
    std::vector<std::uint64_t> number(members);
    for (std::size_t i = 0; i < members; ++i) number[i] = i;
    views.number = number.data();
    if (!options.classes) options.criterion = Criterion::variance;
    return grow(data.table(), views, options);
}

// The leaf of a row by the definition, numbered within its tree.
inline std::size_t leaf_of(const Forest& forest, std::size_t tree, const double* x) {
    if (forest.node_start[tree] == forest.node_start[tree + 1]) return 0;
    std::int32_t at = 0;
    while (at >= 0) {
        const Node& node = forest.nodes[forest.node_start[tree] + static_cast<std::size_t>(at)];
        at = goes_left(forest, node, x) ? node.left : node.right;
    }
    return static_cast<std::size_t>(~at);
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool same_forest(const Forest& a, const Forest& b) {
    return a.columns == b.columns && a.classes == b.classes && a.categories == b.categories &&
           same_bytes(a.nodes, b.nodes) && a.node_start == b.node_start && a.leaf_start == b.leaf_start &&
           a.leaf_label == b.leaf_label && same_bytes(a.leaf_value, b.leaf_value) && same_bytes(a.shares, b.shares) &&
           a.share_label == b.share_label && same_bytes(a.leaf_size, b.leaf_size) && a.leaf_impurity == b.leaf_impurity &&
           same_bytes(a.units, b.units) && a.sets == b.sets && same_bytes(a.terms, b.terms) &&
           a.term_start == b.term_start && a.outputs == b.outputs && a.output_label == b.output_label &&
           same_bytes(a.inner_value, b.inner_value);
}

}  // namespace conjunto
