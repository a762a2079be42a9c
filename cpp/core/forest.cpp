#include "forest.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace conjunto {

namespace {

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string("corrupt forest: ") + what);
}

template <class T>
void check_starts(const std::vector<T>& starts, std::size_t end, const char* what) {
    require(!starts.empty() && starts.front() == 0 && starts.back() == end, what);
    require(std::is_sorted(starts.begin(), starts.end()), what);
}

std::size_t words(std::uint32_t categories) { return (categories + 31) / 32; }

void check_set(const Forest& forest, std::uint32_t column, double offset) {
    require(forest.categories[column] > 0, "a category test on a numeric column");
    const std::size_t needed = words(forest.categories[column]);
    require(offset >= 0 && offset == std::floor(offset) && offset <= 4e9, "offset of a category set");
    require(forest.sets.size() >= needed && offset <= static_cast<double>(forest.sets.size() - needed),
            "offset of a category set");
}

void check_tree(const Forest& forest, std::size_t tree, std::vector<char>& seen_node, std::vector<char>& seen_leaf) {
    const std::size_t first = forest.node_start[tree], n = forest.node_start[tree + 1] - first;
    const std::size_t n_leaves = forest.leaf_start[tree + 1] - forest.leaf_start[tree];
    require(n_leaves == n + 1, "a tree needs one leaf more than inner nodes");
    seen_node.assign(n, 0);
    seen_leaf.assign(n_leaves, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const Node& node = forest.nodes[first + i];
        require(std::isfinite(node.threshold), "a threshold");
        for (const std::int32_t child : {node.left, node.right}) {
            if (child >= 0) {
                const auto number = static_cast<std::size_t>(child);
                require(number > i && number < n && !seen_node[number], "a child node");
                seen_node[number] = 1;
            } else {
                const auto number = static_cast<std::size_t>(~child);
                require(number < n_leaves && !seen_leaf[number], "a leaf");
                seen_leaf[number] = 1;
            }
        }
        require(!((node.test & Node::kCategory) && (node.test & Node::kCombination)), "a test");
        if (node.test & Node::kCombination) {
            require(node.index() + 1 < forest.term_start.size(), "a combination");
            continue;
        }
        require(node.index() < forest.columns, "a column");
        if (node.test & Node::kCategory)
            check_set(forest, node.index(), node.threshold);
    }
}

void check_labels(const Forest& forest) {
    require(forest.shares.size() == forest.share_label.size() * forest.classes && forest.output_label.empty(), "shares");
    const auto known = static_cast<std::int32_t>(forest.classes);
    const auto rows = static_cast<std::int64_t>(forest.share_label.size());
    for (const std::int32_t label : forest.leaf_label)
        require(label >= 0 ? label < known : ~static_cast<std::int64_t>(label) < rows, "a leaf label");
    for (const std::int32_t label : forest.share_label) require(label >= 0 && label < known, "a leaf label");
}

// Several targets: leaves have a label for each, and shares are numbered in the order of the impure leaves.
void check_outputs(const Forest& forest) {
    std::uint64_t classes = 0;
    for (const std::uint32_t count : forest.outputs) {
        require(forest.classes == 0 ? count == 0 : count > 0, "outputs");
        classes += count;
    }
    require(classes == forest.classes && forest.outputs.size() > 1 && forest.share_label.empty(), "outputs");
    require(forest.output_label.size() == forest.leaf_label.size() * forest.outputs.size(), "leaf labels");
    std::int64_t impure = 0;
    for (const std::int32_t label : forest.leaf_label) {
        require(label == 0 || ~static_cast<std::int64_t>(label) == impure, "a leaf label");
        impure += label < 0;
    }
    require(forest.shares.size() == static_cast<std::uint64_t>(impure) * forest.classes, "shares");
    for (std::size_t i = 0; i < forest.output_label.size(); ++i)
        require(forest.output_label[i] >= 0 &&
                    static_cast<std::uint32_t>(forest.output_label[i]) < forest.outputs[i % forest.outputs.size()],
                "a leaf label");
}

}  // namespace

std::size_t Forest::bytes() const {
    return nodes.size() * sizeof(Node) + (node_start.size() + leaf_start.size()) * sizeof(std::uint64_t) +
           (leaf_label.size() + share_label.size() + output_label.size() + sets.size() + term_start.size()) * 4 +
           (leaf_value.size() + shares.size() + inner_value.size()) * 8 + terms.size() * sizeof(Term) + leaf_size.size() * sizeof(LeafSize) +
           leaf_impurity.size() * sizeof(double) + units.size() * sizeof(TreeUnits);
}

void Forest::validate() const {
    require(columns < Node::kIndex, "number of columns");
    require(categories.size() == columns, "categories");
    for (const std::uint32_t count : categories) require(count <= 256, "categories");
    check_starts(node_start, nodes.size(), "node_start");
    require(leaf_start.size() == node_start.size(), "leaf_start");
    check_starts(leaf_start, classes ? leaf_label.size() : leaf_value.size() / targets(), "leaf_start");
    require(classes || leaf_value.size() % targets() == 0, "leaf values");
    require(inner_value.empty() || inner_value.size() == nodes.size() * targets(), "inner values");
    check_starts(term_start, terms.size(), "term_start");
    for (std::size_t c = 1; c < term_start.size(); ++c) require(term_start[c - 1] < term_start[c], "an empty combination");
    require(classes ? leaf_value.empty() : leaf_label.empty() && share_label.empty(), "leaves");
    require(classes <= kMaxClasses, "shares");
    several() ? check_outputs(*this) : check_labels(*this);
    require(leaf_size.size() == leaves() && leaf_impurity.size() <= (classes ? 0 : leaves()), "leaf sizes");
    require(units.size() == trees(), "units");
    for (const Term& term : terms) {
        require(term.column < columns, "a term");
        if (term.set >= 0) check_set(*this, term.column, term.set);
    }
    std::vector<char> seen_node, seen_leaf;
    for (std::size_t tree = 0; tree < trees(); ++tree) check_tree(*this, tree, seen_node, seen_leaf);
}

void Forest::append(const Forest& other) {
    if (&other == this) return append(Forest(other));
    if (other.columns != columns || other.classes != classes || other.categories != categories || other.outputs != outputs)
        throw std::invalid_argument("forests of different problems cannot be joined");
    const auto first_node = nodes.size();
    const auto first_set = static_cast<std::uint32_t>(sets.size());
    const auto first_share = static_cast<std::int32_t>(classes ? shares.size() / classes : 0);
    const std::size_t first_leaf = leaves();
    const auto first_combination = static_cast<std::uint32_t>(term_start.size() - 1);
    const auto first_term = terms.size();
    nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
    for (std::size_t i = first_node; i < nodes.size(); ++i) {
        if (nodes[i].test & Node::kCategory) nodes[i].threshold += first_set;
        if (nodes[i].test & Node::kCombination) nodes[i].test += first_combination;
    }
    for (std::size_t t = 1; t < other.node_start.size(); ++t) {
        node_start.push_back(first_node + other.node_start[t]);
        leaf_start.push_back(first_leaf + other.leaf_start[t]);
    }
    for (const std::int32_t label : other.leaf_label) leaf_label.push_back(label >= 0 ? label : label - first_share);
    leaf_value.insert(leaf_value.end(), other.leaf_value.begin(), other.leaf_value.end());
    shares.insert(shares.end(), other.shares.begin(), other.shares.end());
    share_label.insert(share_label.end(), other.share_label.begin(), other.share_label.end());
    output_label.insert(output_label.end(), other.output_label.begin(), other.output_label.end());
    inner_value.insert(inner_value.end(), other.inner_value.begin(), other.inner_value.end());
    if (!other.leaf_impurity.empty()) leaf_impurity.resize(leaf_size.size());
    leaf_impurity.insert(leaf_impurity.end(), other.leaf_impurity.begin(), other.leaf_impurity.end());
    leaf_size.insert(leaf_size.end(), other.leaf_size.begin(), other.leaf_size.end());
    units.insert(units.end(), other.units.begin(), other.units.end());
    sets.insert(sets.end(), other.sets.begin(), other.sets.end());
    for (Term term : other.terms) {
        if (term.set >= 0) term.set += static_cast<std::int32_t>(first_set);
        terms.push_back(term);
    }
    for (std::size_t c = 1; c < other.term_start.size(); ++c)
        term_start.push_back(static_cast<std::uint32_t>(first_term + other.term_start[c]));
}

void Forest::drop(std::size_t count) {
    std::vector<std::int64_t> kept(trees() - count);
    std::iota(kept.begin(), kept.end(), std::int64_t{0});
    *this = take(kept);
}

void Forest::reserve(double factor) {
    if (!(factor > 1 && factor < 1e6)) return;
    auto grow = [&](auto& values) { values.reserve(static_cast<std::size_t>(static_cast<double>(values.size()) * factor * 1.05)); };
    grow(nodes);
    grow(leaf_label);
    grow(leaf_value);
    grow(leaf_size);
    grow(shares);
    grow(share_label);
    grow(output_label);
    grow(inner_value);
}

Forest Forest::take(std::span<const std::int64_t> members) const {
    Forest out = empty();
    for (const std::int64_t member : members) {
        if (member < 0 || static_cast<std::size_t>(member) >= trees())
            throw std::invalid_argument("there is no member " + std::to_string(member));
        const auto tree = static_cast<std::size_t>(member);
        for (std::size_t i = node_start[tree]; i < node_start[tree + 1]; ++i) {
            const Node node = out.adopt(*this, nodes[i]);
            out.nodes.push_back(node);
        }
        if (!inner_value.empty())
            out.inner_value.insert(out.inner_value.end(), inner_value.begin() + static_cast<std::ptrdiff_t>(node_start[tree] * targets()),
                                   inner_value.begin() + static_cast<std::ptrdiff_t>(node_start[tree + 1] * targets()));
        out.units.push_back(units[tree]);
        for (std::size_t leaf = leaf_start[tree]; leaf < leaf_start[tree + 1]; ++leaf) out.adopt_leaf(*this, leaf);
        out.close_tree();
    }
    return out;
}

Forest Forest::empty() const {
    Forest out;
    out.columns = columns;
    out.classes = classes;
    out.categories = categories;
    out.outputs = outputs;
    return out;
}

Forest Forest::of_output(std::size_t output) const {
    if (output >= targets()) throw std::invalid_argument("there is no target " + std::to_string(output));
    if (!several()) return *this;
    Forest out;
    out.columns = columns;
    out.classes = outputs[output];
    out.categories = categories;
    out.nodes = nodes;
    out.node_start = node_start;
    out.leaf_start = leaf_start;
    out.leaf_size = leaf_size;
    out.units = units;
    out.sets = sets;
    out.terms = terms;
    out.term_start = term_start;
    for (std::size_t i = output; i < inner_value.size(); i += targets()) out.inner_value.push_back(inner_value[i]);
    const std::size_t first = std::accumulate(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(output), std::size_t{0});
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
        if (!classes) {
            out.leaf_value.push_back(leaf_value[leaf * targets() + output]);
            continue;
        }
        const std::int32_t label = output_label[leaf * targets() + output];
        const double* share = leaf_label[leaf] >= 0 ? nullptr : shares.data() + static_cast<std::size_t>(~leaf_label[leaf]) * classes + first;
        if (!share || share[label] == 1) {
            out.leaf_label.push_back(label);
            continue;
        }
        out.leaf_label.push_back(~static_cast<std::int32_t>(out.share_label.size()));
        out.share_label.push_back(label);
        out.shares.insert(out.shares.end(), share, share + outputs[output]);
    }
    return out;
}

std::int32_t Forest::adopt_leaf(const Forest& other, std::size_t leaf) {
    if (other.impurity_of(leaf) != 0) {
        leaf_impurity.resize(leaf_size.size());
        leaf_impurity.push_back(other.leaf_impurity[leaf]);
    }
    leaf_size.push_back(other.leaf_size[leaf]);
    const auto slice = [&](auto& to, const auto& from, std::size_t place, std::size_t width) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(place * width);
        to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
    };
    if (!classes) {
        slice(leaf_value, other.leaf_value, leaf, targets());
    } else {
        const std::int32_t label = other.leaf_label[leaf];
        leaf_label.push_back(label >= 0 ? label : ~static_cast<std::int32_t>(shares.size() / classes));
        if (several()) slice(output_label, other.output_label, leaf, targets());
        if (label < 0) {
            if (!several()) share_label.push_back(other.share_label[static_cast<std::size_t>(~label)]);
            slice(shares, other.shares, static_cast<std::size_t>(~label), classes);
        }
    }
    return static_cast<std::int32_t>(leaves_now() - leaf_start.back()) - 1;
}

Node Forest::adopt(const Forest& other, Node node) {
    auto adopt_set = [&](std::size_t offset, std::uint32_t column) {
        const auto first = other.sets.begin() + static_cast<std::ptrdiff_t>(offset);
        const std::size_t place = sets.size();
        sets.insert(sets.end(), first, first + static_cast<std::ptrdiff_t>(words(categories[column])));
        return place;
    };
    if (node.test & Node::kCategory) {
        node.threshold = static_cast<double>(adopt_set(static_cast<std::size_t>(node.threshold), node.index()));
    } else if (node.test & Node::kCombination) {
        const std::uint32_t combination = node.index();
        node.test = (node.test & ~Node::kIndex) | static_cast<std::uint32_t>(term_start.size() - 1);
        for (std::uint32_t t = other.term_start[combination]; t < other.term_start[combination + 1]; ++t) {
            Term term = other.terms[t];
            if (term.set >= 0)
                term.set = static_cast<std::int32_t>(adopt_set(static_cast<std::size_t>(term.set), term.column));
            terms.push_back(term);
        }
        term_start.push_back(static_cast<std::uint32_t>(terms.size()));
    }
    return node;
}

void Forest::open_tree(double weight, double target) {
    constexpr double most = 1e30;
    units.push_back({weight > most || weight < 1 / most ? weight : 1.0, target});
}

std::int32_t Forest::add_leaf(const double* class_weight, std::int32_t label, std::size_t rows) {
    double total = 0;
    for (std::size_t k = 0; k < classes; ++k) total += class_weight[k];
    leaf_size.push_back({static_cast<std::uint32_t>(rows), static_cast<float>(total / units.back().weight)});
    if (class_weight[label] == total) {
        leaf_label.push_back(label);
    } else {
        leaf_label.push_back(~static_cast<std::int32_t>(share_label.size()));
        share_label.push_back(label);
        for (std::size_t k = 0; k < classes; ++k) shares.push_back(class_weight[k] / total);
    }
    return static_cast<std::int32_t>(leaf_label.size() - leaf_start.back()) - 1;
}

std::int32_t Forest::add_leaf_of_outputs(const double* class_weight, std::size_t rows) {
    const double* first = class_weight;
    bool pure = true;
    double total = 0;
    std::vector<double> share;
    for (const std::uint32_t count : outputs) {
        total = std::accumulate(first, first + count, 0.0);
        const double* most = std::max_element(first, first + count);
        output_label.push_back(static_cast<std::int32_t>(most - first));
        pure &= *most == total;
        for (std::size_t k = 0; k < count; ++k) share.push_back(first[k] / total);
        first += count;
    }
    leaf_label.push_back(pure ? 0 : ~static_cast<std::int32_t>(shares.size() / classes));
    if (!pure) shares.insert(shares.end(), share.begin(), share.end());
    leaf_size.push_back({static_cast<std::uint32_t>(rows), static_cast<float>(total / units.back().weight)});
    return static_cast<std::int32_t>(leaves_now() - leaf_start.back()) - 1;
}

std::int32_t Forest::add_leaf_of_values(const double* value, std::size_t rows, double weight, double impurity) {
    leaf_value.insert(leaf_value.end(), value, value + targets());
    if (impurity != 0) {
        leaf_impurity.resize(leaf_size.size());
        leaf_impurity.push_back(impurity);
    }
    leaf_size.push_back({static_cast<std::uint32_t>(rows), static_cast<float>(weight / units.back().weight)});
    return static_cast<std::int32_t>(leaves_now() - leaf_start.back()) - 1;
}

void Forest::close_tree() {
    node_start.push_back(nodes.size());
    leaf_start.push_back(leaves_now());
}

std::vector<std::int32_t> Forest::depths() const {
    std::vector<std::int32_t> out(trees(), 0), depth;
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        depth.assign(node_start[tree + 1] - node_start[tree], 1);
        for (std::size_t i = 0; i < depth.size(); ++i) {
            const Node& node = nodes[node_start[tree] + i];
            out[tree] = std::max(out[tree], depth[i]);
            for (const std::int32_t child : {node.left, node.right})
                if (child >= 0) depth[child] = depth[i] + 1;
        }
    }
    return out;
}

std::vector<double> Forest::importances() const {
    std::vector<double> out(trees() * columns, 0.0);
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        double* row = out.data() + tree * columns;
        double sum = 0;
        for (std::size_t i = node_start[tree]; i < node_start[tree + 1]; ++i) {
            const Node& node = nodes[i];
            sum += node.gain;
            if (!(node.test & Node::kCombination)) {
                row[node.index()] += node.gain;
                continue;
            }
            const std::uint32_t first = term_start[node.index()], end = term_start[node.index() + 1];
            for (std::uint32_t t = first; t < end; ++t) row[terms[t].column] += static_cast<double>(node.gain) / (end - first);
        }
        if (sum > 0)
            for (std::size_t c = 0; c < columns; ++c) row[c] /= sum;
    }
    return out;
}

}  // namespace conjunto
