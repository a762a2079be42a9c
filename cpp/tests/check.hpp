// A test program: TEST(name) { CHECK(...); } and nothing else; main is here.
#pragma once

#include <cstdio>
#include <exception>
#include <vector>

namespace check {

struct Test {
    const char* name;
    void (*body)();
};

inline std::vector<Test> tests;
inline int failures = 0;  // of the running test

inline bool add(const char* name, void (*body)()) {
    tests.push_back({name, body});
    return true;
}

// A loop that goes wrong goes wrong often: the first failures of a test are enough.
inline void fail(const char* file, int line, const char* what) {
    if (++failures <= 5) std::printf("%s:%d: %s\n", file, line, what);
}

}  // namespace check

#define TEST(name)                                            \
    static void name();                                       \
    static const bool added_##name = check::add(#name, name); \
    static void name()

#define CHECK(...) ((__VA_ARGS__) ? void() : check::fail(__FILE__, __LINE__, #__VA_ARGS__))

#define CHECK_THROWS(expr, type)                                                   \
    try {                                                                          \
        (void)(expr);                                                              \
        check::fail(__FILE__, __LINE__, #expr " throws nothing, not " #type);      \
    } catch (const type&) {                                                        \
    }

int main() {
    int failed = 0;
    for (const check::Test& test : check::tests) {
        check::failures = 0;
        try {
            test.body();
        } catch (const std::exception& error) {
            check::fail(__FILE__, __LINE__, error.what());
        }
        if (check::failures) std::printf("FAILED %s: %d checks\n", test.name, check::failures);
        failed += check::failures > 0;
    }
    std::printf("%d passed, %d failed\n", static_cast<int>(check::tests.size()) - failed, failed);
    return failed > 0;
}
