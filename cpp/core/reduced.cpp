#include "reduced.hpp"

#include <vector>

#include "grower.hpp"
#include "prune.hpp"

namespace conjunto {

Forest grow_reduced(const Table& table, const Views& views, const GrowOptions& options, const HeldOut& held_out) {
    TreeNotes notes;
    GrowRequest request;
    request.notes = &notes;
    const Forest tree = make_grower(table, options, nullptr)->grow(views, 0, request);
    std::vector<double> error(tree.nodes.size()), leaf_error(tree.leaves());
    for (std::size_t row = 0; row < held_out.rows; ++row) {
        const double* x = held_out.x + row * table.columns;
        const double weight = held_out.weights ? held_out.weights[row] : 1.0;
        auto loss = [&](std::int32_t child) {
            if (options.classes) return weight * (notes.label_of(child) != held_out.labels[row]);
            const double off = (held_out.targets[row] - notes.value_of(child)) / notes.scale;
            return weight * off * off;
        };
        std::int32_t at = tree.nodes.empty() ? ~0 : 0;
        for (; at >= 0; at = goes_left(tree, tree.nodes[at], x) ? tree.nodes[at].left : tree.nodes[at].right)
            error[at] += loss(at);
        leaf_error[~at] += loss(at);
    }
    return collapsed(tree, notes, reduced_errors(tree, error, leaf_error), nullptr);
}

}  // namespace conjunto
