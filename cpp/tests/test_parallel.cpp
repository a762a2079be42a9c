#include "parallel.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "check.hpp"

using namespace conjunto;

TEST(every_index_is_visited_once) {
    for (const std::size_t count : {0, 1, 2, 7, 1000})
        for (const std::size_t threads : {0, 1, 2, 4, 16}) {
            std::vector<std::atomic<int>> visits(count);
            std::atomic<bool> worker_known{true};
            parallel_for(count, threads, [&](std::size_t i, std::size_t worker) {
                ++visits[i];
                if (worker >= std::max<std::size_t>(threads, 1)) worker_known = false;
            });
            CHECK(worker_known);
            for (const std::atomic<int>& visit : visits) CHECK(visit == 1);
        }
}

TEST(workers_do_not_share_their_number) {
    std::array<std::atomic<int>, 4> busy{};
    std::atomic<bool> shared{false};
    parallel_for(2000, 4, [&](std::size_t, std::size_t worker) {
        if (busy[worker]++ != 0) shared = true;
        --busy[worker];
    });
    CHECK(!shared);
}

TEST(one_thread_goes_in_order) {
    std::vector<std::size_t> order;
    parallel_for(5, 1, [&](std::size_t i, std::size_t) { order.push_back(i); });
    CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST(exceptions_are_carried_out) {
    for (const std::size_t threads : {1, 2, 4}) {
        std::string message;
        try {
            parallel_for(100, threads, [](std::size_t i, std::size_t) {
                if (i == 37) throw std::out_of_range("task 37");
            });
        } catch (const std::out_of_range& error) {
            message = error.what();
        }
        CHECK(message == "task 37");
    }
}

TEST(one_of_many_exceptions_is_carried_out) {
    for (const std::size_t threads : {1, 4})
        CHECK_THROWS(parallel_for(100, threads, [](std::size_t, std::size_t) { throw std::runtime_error("all fail"); }),
                     std::runtime_error);
}

TEST(work_stops_after_an_exception) {
    std::atomic<int> done{0};
    CHECK_THROWS(parallel_for(1000000, 2,
                              [&](std::size_t i, std::size_t) {
                                  if (i == 0) throw std::runtime_error("at once");
                                  std::this_thread::yield();
                                  ++done;
                              }),
                 std::runtime_error);
    CHECK(done < 1000000 - 1);
}
