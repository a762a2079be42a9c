// A forest as prediction of many rows wants it, made once and kept with the forest.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace conjunto {

struct Forest;
class CodedForest;

// What a forest keeps of its coded form. It is made when enough rows have been asked for to pay for it, and is no part of
// the forest: copies begin without it.
class CodedCache {
public:
    CodedCache() = default;
    CodedCache(const CodedCache&) {}
    CodedCache(CodedCache&&) noexcept {}
    CodedCache& operator=(const CodedCache&) { return forget(); }
    CodedCache& operator=(CodedCache&&) noexcept { return forget(); }

    // The coded form, or null where it does not pay, for a prediction of so many rows. Any number of threads may ask.
    std::shared_ptr<const CodedForest> of(const Forest& forest, std::size_t rows) const;
    // Bytes that it takes now.
    std::size_t bytes() const;

private:
    CodedCache& forget() {
        coded_.reset();
        asked_ = 0;
        return *this;
    }

    mutable std::mutex mutex_;
    mutable std::shared_ptr<const CodedForest> coded_;
    mutable std::size_t asked_ = 0;  // rows times trees
};

}  // namespace conjunto
