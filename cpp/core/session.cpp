#include "session.hpp"

#include <algorithm>
#include <mutex>

#include "cross_validation.hpp"
#include "igp.hpp"
#include "parallel.hpp"
#include "split_presorted.hpp"

namespace conjunto {

namespace {

constexpr std::size_t kFirstTrees = 8;

}  // namespace

GrowSession::GrowSession(const Table& table, const GrowOptions& options, bool lasts)
    : table_(table),
      options_(options),
      // A stump needs the order of all columns, and nothing else that could be kept.
      presorts_(lasts && options.max_depth == 1 && options.k_best == 1 && options.combination == 0 && !options.igp && !options.random_cuts &&
                options.monotone.empty() && options.search != Search::sorted && table.rows <= PresortedColumns::kRow) {
    options_.rounding_ties = presorts_;
    if (table.sparse) presorts_ = false;
    forest.columns = static_cast<std::uint32_t>(table.columns);
    forest.classes = options.classes;
    forest.outputs = options.outputs;
    for (const Column& column : table.column) forest.categories.push_back(column.categories);
}

GrowSession::~GrowSession() = default;

void GrowSession::grow(const Views& views, std::int32_t* leaves) {
    const std::size_t threads = std::max<std::size_t>(1, std::min(options_.threads, views.members));
    // Whole-number weights have faster searches of their own.
    if (presorts_ && !presorted_ && (views.weights || options_.classes == 0)) {
        presorted_ = std::make_unique<PresortedColumns>(table_);
        growers_.clear();
    }
    growers_.resize(std::max(growers_.size(), threads));
    const bool prunes = options_.prune.by != Pruning::none;
    paths.assign(prunes ? views.members : 0, PruningPath{});
    passes.assign(options_.igp ? views.members : 0, 0);
    // Trees are packed in their order as soon as those before them are there, so that few stand beside the forest.
    std::vector<Forest> trees(views.members);
    std::vector<char> done(views.members, 0);
    std::size_t packed = 0;
    std::mutex packing;
    const auto pack = [&](std::size_t member) {
        const std::lock_guard<std::mutex> lock(packing);
        for (done[member] = 1; packed < views.members && done[packed]; ++packed) {
            forest.append(trees[packed]);
            trees[packed] = Forest{};
            // By then it is known how large trees are.
            if (packed + 1 == kFirstTrees && forest.trees() == kFirstTrees)
                forest.reserve(static_cast<double>(views.members) / static_cast<double>(kFirstTrees));
        }
    };
    try {
        parallel_for(views.members, threads, [&](std::size_t member, std::size_t worker) {
            if (!growers_[worker]) growers_[worker] = make_grower(table_, options_, presorted_.get());
            TreeGrower& grower = *growers_[worker];
            std::int32_t* leaf = leaves ? leaves + member * table_.rows : nullptr;
            if (options_.igp) {
                trees[member] = grow_igp(grower, table_, views.of(member, table_.rows), options_, leaf, passes[member]);
            } else if (prunes) {
                trees[member] = grow_pruned(grower, table_, views.of(member, table_.rows), options_, leaf, paths[member]);
            } else {
                GrowRequest request;
                request.leaves = leaf;
                trees[member] = grower.grow(views, member, request);
            }
            pack(member);
        });
    } catch (...) {
        forest.drop(packed);
        throw;
    }
}

Forest grow(const Table& table, const Views& views, const GrowOptions& options) {
    GrowSession session(table, options, false);
    session.grow(views, nullptr);
    return std::move(session.forest);
}

}  // namespace conjunto
