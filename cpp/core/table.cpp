#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "kernels.hpp"
#include "parallel.hpp"
#include "radix.hpp"

namespace conjunto {

namespace {

// Columns are prepared together, so that a row is read and written in long pieces: so many, but no more memory than this.
constexpr std::size_t kBlock = 64;
constexpr std::size_t kBlockBytes = std::size_t{1} << 25;
// Whole numbers in a range of at most so many times the rows are counted, not sorted.
constexpr double kCountedRange = 4;

// 1 / standard deviation of the values that are there, without those of rows that nobody learns from.
double inverse_deviation(const Table& table, std::size_t c) {
    const std::vector<bool>& ignored = table.scales->ignored;
    auto each = [&](auto&& body) {
        for (std::size_t row = 0; row < table.rows; ++row)
            if (const double value = table.value(row, c); !std::isnan(value) && !(row < ignored.size() && ignored[row])) body(value);
    };
    double n = 0, mean = 0, squares = 0;
    each([&](double) { n += 1; });
    const double share = 1 / n;
    each([&](double value) { mean += value * share; });
    each([&](double value) { squares += (value - mean) * share * (value - mean); });
    const double inverse = 1 / std::sqrt(squares);
    return std::isfinite(inverse) && inverse > 0 ? inverse : 1.0;
}

// Whether a finite value is a whole number that counting may reach; std::floor is a function call on old processors.
bool is_whole(double value) {
    return std::fabs(value) < 0x1.0p31 && static_cast<double>(static_cast<std::int64_t>(value)) == value;
}

// Calls body(row, column) for all of a block, a few rows at a time: both a row and a column are then read, or written, in
// whole cache lines.
template <class Body>
void each_tile(std::size_t rows, std::size_t columns, const Body body) {
    constexpr std::size_t kTile = 16;
    for (std::size_t first = 0; first < rows; first += kTile)
        for (std::size_t column = 0; column < columns; ++column)
            for (std::size_t row = first; row < std::min(rows, first + kTile); ++row) body(row, column);
}

// Prepares one column after another and keeps its memory.
class ColumnMaker {
public:
    ColumnMaker(Table& table, std::uint32_t max_bins) : table_(table), max_bins_(max_bins) {}

    // Columns first .. end, read and written row by row.
    void make(std::size_t first, std::size_t end) {
        const std::size_t rows = table_.rows, columns = table_.columns, width = end - first;
        values_.resize(width * rows);
        ranks_.resize(width * rows);
        double* values = values_.data();
        each_tile(rows, width, [=, from = table_.data + static_cast<std::ptrdiff_t>(first) * table_.column_stride,
                                row_stride = table_.row_stride, column_stride = table_.column_stride](std::size_t row, std::size_t j) {
            values[j * rows + row] = from[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(j) * column_stride];
        });
        for (std::size_t j = 0; j < width; ++j) {
            const std::span<const double> column(values + j * rows, rows);
            if (table_.column[first + j].categorical())
                rank_categories(first + j, column, ranks_.data() + j * rows);
            else
                rank_numbers(first + j, column, ranks_.data() + j * rows);
        }
        each_tile(rows, width, [=, ranks = ranks_.data(), rank = table_.rank.data() + first](std::size_t row, std::size_t j) {
            rank[row * columns + j] = ranks[j * rows + row];
        });
        each_tile(rows, width, [=, bins = table_.bin.data() + first * rows, bin = table_.row_bin.data() + first](std::size_t row, std::size_t j) {
            bin[row * columns + j] = bins[j * rows + row];
        });
    }

private:
    void rank_categories(std::size_t c, std::span<const double> values, std::uint32_t* ranks) {
        Column& column = table_.column[c];
        for (std::size_t row = 0; row < values.size(); ++row) {
            const double value = values[row];
            if (std::isnan(value)) {
                column.missing = true;
                ranks[row] = kMissing;
                continue;
            }
            if (!(value >= 0 && value < column.categories) || !is_whole(value))
                throw std::invalid_argument("column " + std::to_string(c) + " has a category code outside 0 .. " +
                                            std::to_string(column.categories - 1));
            ranks[row] = static_cast<std::uint32_t>(value);
        }
        column.counted = column.categories + column.missing <= kBins;
        column.bins = column.categories + column.missing;
        for (std::size_t row = 0; column.counted && row < values.size(); ++row)
            table_.bin[c * values.size() + row] = static_cast<std::uint8_t>(std::min(ranks[row], column.categories));
    }

    void rank_numbers(std::size_t c, std::span<const double> values, std::uint32_t* ranks) {
        Column& column = table_.column[c];
        BinValues& of_bins = table_.bin_values[c];
        double least = INFINITY, most = -INFINITY;
        bool whole = true;
        present_ = 0;
        for (const double value : values) {
            if (std::isnan(value)) continue;
            if (std::isinf(value)) throw std::invalid_argument("X contains infinity in column " + std::to_string(c));
            ++present_;
            least = std::min(least, value);
            most = std::max(most, value);
            whole = whole && is_whole(value);
        }
        column.missing = present_ < values.size();
        first_.clear();
        of_bins.most.clear();
        if (present_ && whole && most - least <= kCountedRange * static_cast<double>(values.size()))
            rank_by_counting(of_bins, values, least, static_cast<std::size_t>(most - least) + 1, ranks);
        else
            rank_by_sorting(of_bins, values, ranks);
        if (max_bins_ > 0 && first_.size() > max_bins_) group_ranks(of_bins, ranks);
        fill_bins(column, of_bins, ranks, table_.bin.data() + c * values.size());
    }

    void rank_by_counting(BinValues& of_bins, std::span<const double> values, double least, std::size_t range, std::uint32_t* ranks) {
        counts_.assign(range, 0U);
        // Signed: the conversion of a double to an unsigned number takes a branch.
        auto place = [&](double value) { return static_cast<std::size_t>(static_cast<std::int64_t>(value - least)); };
        for (const double value : values)
            if (!std::isnan(value)) ++counts_[place(value)];
        std::uint32_t before = 0;
        for (std::size_t i = 0; i < range; ++i) {
            if (!counts_[i]) continue;
            first_.push_back(before);
            if (keeps_value()) of_bins.most.push_back(least + static_cast<double>(i));
            before += counts_[i];
            counts_[i] = static_cast<std::uint32_t>(first_.size() - 1);
        }
        for (std::size_t row = 0; row < values.size(); ++row)
            ranks[row] = std::isnan(values[row]) ? kMissing : counts_[place(values[row])];
    }

    void rank_by_sorting(BinValues& of_bins, std::span<const double> values, std::uint32_t* ranks) {
        entries_.clear();
        for (std::size_t row = 0; row < values.size(); ++row) {
            if (std::isnan(values[row]))
                ranks[row] = kMissing;
            else
                entries_.push_back({sortable(values[row]), static_cast<std::uint32_t>(row)});
        }
        sort_entries(entries_, spare_);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (i == 0 || entries_[i].key != entries_[i - 1].key) {
                first_.push_back(static_cast<std::uint32_t>(i));
                if (keeps_value()) of_bins.most.push_back(from_sortable(entries_[i].key));
            }
            ranks[entries_[i].row] = static_cast<std::uint32_t>(first_.size() - 1);
        }
    }

    // The value of a rank is needed where there are few of them, or where ranks will stand for several.
    bool keeps_value() const { return max_bins_ > 0 || first_.size() <= kBins; }

    // The group of a rank, before which there are so many rows, among `groups` of about the same number of rows.
    std::size_t group_of(std::size_t before, std::size_t groups) const { return before * groups / present_; }

    // Neighbouring values share a rank, so that there are at most max_bins_ of them.
    void group_ranks(BinValues& of_bins, std::uint32_t* ranks) {
        const std::vector<std::uint32_t> first = std::move(first_);
        const std::vector<double> value = std::move(of_bins.most);
        std::vector<std::uint32_t> group(first.size());
        first_.clear();
        of_bins.most.clear();
        of_bins.least.clear();
        std::size_t last = 0;
        for (std::size_t rank = 0; rank < first.size(); ++rank) {
            const std::size_t here = group_of(first[rank], max_bins_);
            if (rank == 0 || here != last) {
                first_.push_back(first[rank]);
                of_bins.least.push_back(value[rank]);
                of_bins.most.push_back(value[rank]);
            }
            last = here;
            of_bins.most.back() = value[rank];
            group[rank] = static_cast<std::uint32_t>(first_.size() - 1);
        }
        for (std::size_t row = 0; row < table_.rows; ++row)
            if (ranks[row] != kMissing) ranks[row] = group[ranks[row]];
    }

    // With more distinct values than bins, a bin holds about the same number of rows.
    void fill_bins(Column& column, BinValues& of_bins, const std::uint32_t* ranks, std::uint8_t* bins) {
        column.values = first_.size();
        column.counted = column.values + column.missing <= kBins;
        const std::size_t of_values = column.counted ? column.values : kBins - column.missing;
        column.bins = static_cast<std::uint32_t>(of_values + column.missing);
        if (!column.counted) of_bins.most.clear();
        bin_of_rank_.resize(column.values);
        for (std::size_t rank = 0; rank < column.values; ++rank)
            bin_of_rank_[rank] = static_cast<std::uint8_t>(column.counted ? rank : group_of(first_[rank], of_values));
        const auto last = static_cast<std::uint8_t>(column.bins - 1);
        for (std::size_t row = 0; row < table_.rows; ++row) bins[row] = ranks[row] == kMissing ? last : bin_of_rank_[ranks[row]];
    }

    Table& table_;
    std::uint32_t max_bins_;
    std::size_t present_ = 0;
    std::vector<double> values_;                  // (columns of the block, rows)
    std::vector<std::uint32_t> ranks_;            // likewise
    std::vector<std::uint32_t> counts_, first_;   // by whole number; by rank: rows with lower ones
    std::vector<std::uint8_t> bin_of_rank_;
    std::vector<Entry> entries_, spare_;
};

}  // namespace

double Table::scale(std::size_t c) const {
    std::call_once(scales->made, [&] {
        scales->of_column.assign(columns, 1.0);
        for (std::size_t i = 0; i < columns; ++i)
            if (!column[i].categorical()) scales->of_column[i] = inverse_deviation(*this, i);
    });
    return scales->of_column[c];
}

Table prepare(const double* data, std::size_t rows, std::size_t columns, std::ptrdiff_t row_stride,
              std::ptrdiff_t column_stride, const std::uint32_t* categories, std::size_t threads, const bool* ignored,
              std::uint32_t max_bins) {
    if (max_bins == 1 || max_bins >= kBins) throw std::invalid_argument("max_bins must be 0 or 2 .. 255");
    if (rows >= kMissing || columns >= (1U << 28)) throw std::invalid_argument("X has too many rows or columns");
    Table table;
    table.rows = rows;
    table.columns = columns;
    table.data = data;
    table.row_stride = row_stride;
    table.column_stride = column_stride;
    table.column.resize(columns);
    table.bin_values.resize(columns);
    if (ignored) table.scales->ignored.assign(ignored, ignored + rows);
    table.rank.resize(rows * columns);
    table.bin.resize(rows * columns);
    table.row_bin.resize(rows * columns);
    for (std::size_t c = 0; c < columns; ++c) {
        if (categories[c] > kMaxCategories)
            throw std::invalid_argument("column " + std::to_string(c) + " has more than 256 categories");
        table.column[c].categories = categories[c];
    }
    std::vector<ColumnMaker> makers(std::max<std::size_t>(threads, 1), ColumnMaker(table, max_bins));
    const std::size_t most = std::clamp<std::size_t>(kBlockBytes / (rows * (sizeof(double) + sizeof(std::uint32_t)) + 1), 1, kBlock);
    const std::size_t width = threads > 1 ? std::clamp<std::size_t>(columns / (4 * threads), 1, most) : most;
    parallel_for((columns + width - 1) / width, threads, [&](std::size_t block, std::size_t worker) {
        makers[worker].make(block * width, std::min(columns, (block + 1) * width));
    });
    if (rows <= kLaneRows) {
        table.presorted.resize(rows * columns);
        for (std::size_t c = 0; c < columns; ++c) {
            if (table.column[c].categorical() || table.column[c].missing) continue;
            std::uint32_t* list = table.presorted.data() + c * rows;
            for (std::size_t row = 0; row < rows; ++row)
                list[row] = table.ranks_of(row)[c] << kLists.shift | static_cast<std::uint32_t>(row) << kLists.row_shift;
            std::sort(list, list + rows);
        }
    }
    for (const Column& column : table.column) table.most_values = std::max(table.most_values, column.values);
    return table;
}

}  // namespace conjunto
