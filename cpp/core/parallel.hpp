// Run task(i, worker) for i in 0 .. count-1 on up to `threads` threads; each worker takes the next i.
// The first exception is carried out of the threads and thrown here.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace conjunto {

template <class Task>
void parallel_for(std::size_t count, std::size_t threads, Task&& task) {
    if (threads > count) threads = count;
    if (threads <= 1) {
        for (std::size_t i = 0; i < count; ++i) task(i, std::size_t{0});
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto work = [&](std::size_t worker) {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < count;) task(i, worker);
        } catch (...) {
            next.store(count);
            std::lock_guard<std::mutex> lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> pool;
    try {
        for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(work, t);
    } catch (...) {
        // The system refuses more threads: those that started do the work.
    }
    work(0);
    for (std::thread& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace conjunto
