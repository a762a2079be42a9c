#include "rng.hpp"

#include <array>
#include <vector>

#include "check.hpp"

using namespace conjunto;

// numpy.random.Philox(key=[lo, hi], counter=[0, 0, purpose, member]).random_raw(9)
TEST(words_are_those_of_numpy) {
    Philox tree({1, 2}, 7, Purpose::tree);
    for (const std::uint64_t word :
         {0x39ecc3496cb95c64ULL, 0xa8e18d58ea7fde19ULL, 0xfa498f521708e7eeULL, 0xb32adafba7e049faULL,
          0xac5304c5801ee81fULL, 0x2eddfa2a7503922aULL, 0x5875bc72362c18aeULL, 0xa73cfc63516c6d1eULL,
          0x800a1fe81f4304e0ULL})
        CHECK(tree.next() == word);
    Philox zero({0, 0}, 0, Purpose::python);
    for (const std::uint64_t word :
         {0x02f4ba6408e4d89bULL, 0x3dd62b0b9ca8c5b2ULL, 0x1c8667a55d902e79ULL, 0x907d7a052fd5b4dcULL,
          0x809bf322883987c3ULL, 0x471128b9e807f7ddULL, 0xf250ba0dbec065b7ULL, 0xfc6ed66767a457bcULL,
          0x40fa86f0f781945dULL})
        CHECK(zero.next() == word);
    Philox labels({0xdeadbeefcafef00dULL, 0x0123456789abcdefULL}, 0x8000000000000005ULL, Purpose::labels);
    for (const std::uint64_t word :
         {0x62a94e5aaa71b0b2ULL, 0x01292473cf241589ULL, 0x7ed8bafc36416d19ULL, 0x11e4db395c96f894ULL,
          0x7691e3afde6f3ad9ULL, 0xdc33f1b3ba5a4443ULL, 0x2514d3bfd78b79afULL, 0x9a17302b956b9038ULL,
          0xb6ee87cfabaef26cULL})
        CHECK(labels.next() == word);
}

TEST(streams_differ_by_key_member_and_purpose) {
    std::vector<std::uint64_t> first;
    for (const std::uint64_t lo : {1, 2})
        for (const std::uint64_t hi : {1, 2})
            for (const std::uint64_t member : {1, 2})
                for (const Purpose purpose : {Purpose::rows, Purpose::labels, Purpose::columns, Purpose::tree})
                    first.push_back(Philox({lo, hi}, member, purpose).next());
    for (std::size_t i = 0; i < first.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) CHECK(first[i] != first[j]);
}

TEST(below_stays_below) {
    Philox random({3, 4}, 0, Purpose::tree);
    for (int i = 0; i < 100; ++i) CHECK(random.below(1) == 0);
    for (const std::uint64_t bound : {2ULL, 3ULL, 255ULL, 0x80000001ULL, 0xFFFFFFFFULL, 0x100000000ULL, 0x100000001ULL,
                                      0x8000000000000001ULL, 0xFFFFFFFFFFFFFFFFULL}) {
        std::uint64_t most = 0;
        for (int i = 0; i < 2000; ++i) {
            const std::uint64_t value = random.below(bound);
            CHECK(value < bound);
            most = value > most ? value : most;
        }
        CHECK(most >= bound / 4 * 3);
    }
}

// Chi-square statistics of 6 and of 2 degrees of freedom: above 27.9 and 18.4 once in 10,000 seeds.
TEST(below_is_unbiased) {
    Philox random({5, 6}, 0, Purpose::tree);
    auto chi_square = [&](std::uint64_t bound, std::size_t cells, auto cell) {
        const int draws = 70000;
        std::vector<int> counts(cells, 0);
        for (int i = 0; i < draws; ++i) ++counts[cell(random.below(bound))];
        double sum = 0;
        const double expected = static_cast<double>(draws) / static_cast<double>(cells);
        for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
        return sum;
    };
    CHECK(chi_square(7, 7, [](std::uint64_t value) { return value; }) < 27.9);
    // Without rejection a third of the values of these bounds would come twice as often as the others.
    CHECK(chi_square(0xC0000000ULL, 3, [](std::uint64_t value) { return value % 3; }) < 18.4);
    CHECK(chi_square(0xC000000000000000ULL, 3, [](std::uint64_t value) { return value % 3; }) < 18.4);
}

TEST(uniform_lies_in_the_unit_interval) {
    Philox random({7, 8}, 0, Purpose::tree), words({7, 8}, 0, Purpose::tree);
    std::array<int, 10> counts{};
    for (int i = 0; i < 100000; ++i) {
        const double value = random.uniform();
        CHECK(value >= 0 && value < 1);
        CHECK(value == static_cast<double>(words.next() >> 11) / 9007199254740992.0);
        ++counts[static_cast<std::size_t>(value * 10)];
    }
    for (const int count : counts) CHECK(count > 9500 && count < 10500);
}
