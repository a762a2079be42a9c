#include "coded_trees.hpp"

namespace conjunto {

namespace {

// Fewer rows than this are walked through the forest as it is.
constexpr std::size_t kFewRows = 4 * kBlockRows;
// Making the coded form takes about as long as so many walks through a tree, per node.
constexpr std::size_t kWalksPerNode = 1;
// Encoding a row takes as long as a tree, per so many columns.
constexpr std::size_t kColumnsPerTree = 20;
// A larger form is not kept: it is made for each prediction that is large enough.
constexpr std::size_t kMostKept = std::size_t{1} << 29;
constexpr std::size_t kWalksPerNodeUnkept = 4;

template <class Step>
void add_walked(const Forest& forest, std::vector<WalkedTrees<Step>>& parts) {
    for (std::size_t tree = 0; tree < forest.trees(); tree = parts.back().end()) parts.emplace_back(forest, tree);
}

}  // namespace

std::shared_ptr<const CodedForest> CodedForest::make(const Forest& forest) {
    if (!forest.terms.empty()) return nullptr;
    const auto coded = std::make_shared<CodedForest>();
    coded->nodes_ = forest.nodes.size();
    coded->trees_ = forest.trees();
    if (SmallTrees::suit(forest)) {
        coded->small.emplace(forest);
        if (!coded->small->usable()) coded->small.reset();
    }
    // Small trees do not answer where something is missing.
    if (coded->small || !WalkedTrees<NumberStep>::suit(forest)) return coded->small ? coded : nullptr;
    if (forest.sets.empty())
        add_walked(forest, coded->of_numbers);
    else
        add_walked(forest, coded->mixed);
    return coded;
}

std::size_t CodedForest::bytes() const {
    std::size_t bytes = small ? small->bytes() : 0;
    for (const auto& part : of_numbers) bytes += part.bytes();
    for (const auto& part : mixed) bytes += part.bytes();
    return bytes;
}

std::shared_ptr<const CodedForest> CodedCache::of(const Forest& forest, std::size_t rows) const {
    if (rows < kFewRows || forest.nodes.empty() || forest.columns > kColumnsPerTree * forest.trees()) return nullptr;
    // Others that ask meanwhile wait: they would make the same.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (coded_ && coded_->of(forest)) return coded_;
    const std::size_t asked = rows * forest.trees(), nodes = forest.nodes.size();
    asked_ += asked;
    const bool kept = nodes * 2 * (sizeof(MixedStep) + sizeof(std::uint32_t)) <= kMostKept;
    if (kept ? asked_ < kWalksPerNode * nodes : asked < kWalksPerNodeUnkept * nodes) return nullptr;
    std::shared_ptr<const CodedForest> coded = CodedForest::make(forest);
    if (kept) coded_ = coded;
    return coded;
}

std::size_t CodedCache::bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return coded_ ? coded_->bytes() : 0;
}

}  // namespace conjunto
