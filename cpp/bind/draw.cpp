#include "../core/draw.hpp"

#include <stdexcept>

#include "arrays.hpp"

namespace conjunto::bind {

namespace {

Out<std::int32_t> bootstrap(std::uint64_t low, std::uint64_t high, std::uint64_t member, std::size_t n, std::size_t size) {
    if (n == 0 && size > 0) throw std::invalid_argument("cannot draw from no rows");
    Out<std::int32_t> counts = new_array<std::int32_t>({n});
    Philox random({low, high}, member, Purpose::rows);
    draw_bootstrap(random, n, size, counts.data());
    return counts;
}

Out<std::int32_t> subset(std::uint64_t low, std::uint64_t high, std::uint64_t member, std::size_t n, std::size_t size) {
    if (size > n) throw std::invalid_argument("cannot draw more different rows than there are");
    Out<std::int32_t> counts = new_array<std::int32_t>({n});
    Philox random({low, high}, member, Purpose::rows);
    draw_subset(random, n, size, counts.data());
    return counts;
}

Out<std::int32_t> switched(std::uint64_t low, std::uint64_t high, std::uint64_t member, In1<std::int32_t> labels,
                           std::size_t count, std::int32_t classes) {
    require_aligned(labels);
    const std::size_t n = labels.shape(0);
    if (count > n) throw std::invalid_argument("cannot switch more labels than there are");
    if (count > 0 && classes < 2) throw std::invalid_argument("switching labels needs at least two classes");
    Out<std::int32_t> out = new_array<std::int32_t>({n});
    Philox random({low, high}, member, Purpose::labels);
    draw_switched(random, labels.data(), n, count, classes, out.data());
    return out;
}

Out<std::uint8_t> halves(std::uint64_t low, std::uint64_t high, std::uint64_t member, In1<std::int32_t> labels,
                         In1<std::uint8_t> present, std::int32_t classes) {
    require_aligned(labels);
    const std::size_t n = labels.shape(0);
    if (present.shape(0) != n) throw std::invalid_argument("present needs one entry per label");
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < n; ++i) {
        if (labels.data()[i] < 0 || labels.data()[i] >= classes) throw std::invalid_argument("a label is outside 0 .. classes - 1");
        if (present.data()[i]) rows.push_back(static_cast<std::uint32_t>(i));
    }
    Out<std::uint8_t> out = new_array<std::uint8_t>({n});
    Philox random({low, high}, member, Purpose::halves);
    draw_halves(random, rows, labels.data(), static_cast<std::size_t>(classes), n, out.data());
    return out;
}

Out<std::uint64_t> words(std::uint64_t low, std::uint64_t high, std::uint64_t member, std::uint64_t purpose,
                         std::size_t count) {
    Out<std::uint64_t> out = new_array<std::uint64_t>({count});
    Philox random({low, high}, member, static_cast<Purpose>(purpose));
    for (std::size_t i = 0; i < count; ++i) out.data()[i] = random.next();
    return out;
}

}  // namespace

void init_draw(nb::module_& m) {
    using namespace nb::literals;
    m.def("bootstrap", &bootstrap, "low"_a, "high"_a, "member"_a, "n"_a, "size"_a,
          "How often each of n rows appears in a sample of `size` with replacement.");
    m.def("subset", &subset, "low"_a, "high"_a, "member"_a, "n"_a, "size"_a,
          "1 for each of `size` different rows drawn out of n, 0 for the others.");
    m.def("switched", &switched, "low"_a, "high"_a, "member"_a, "labels"_a, "count"_a, "classes"_a,
          "The labels with exactly `count` of them changed to another class.");
    m.def("halves", &halves, "low"_a, "high"_a, "member"_a, "labels"_a, "present"_a, "classes"_a,
          "1 for the rows of one of two stratified halves of those present, 0 for the others.");
    m.def("words", &words, "low"_a, "high"_a, "member"_a, "purpose"_a, "count"_a, "Raw words of a random stream.");
}

}  // namespace conjunto::bind
