// SPDX-License-Identifier: Apache-2.0
#include "tests/support/rank_threads.h"

#include <arpa/inet.h>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::testing {
namespace {

using collective::World;

constexpr std::chrono::seconds kLimit{60};
constexpr std::chrono::seconds kGrace{10};

class RankThreads {
 public:
  RankThreads(int64_t size, const RankFunction& function)
      : function_(function), worlds_(static_cast<size_t>(size)) {}

  void run(const std::function<std::unique_ptr<World>(int64_t)>& make) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < worlds_.size(); ++rank) {
      threads.emplace_back([this, &make, rank] { run_rank(make, rank); });
    }
    await(threads.size());
    for (std::thread& thread : threads) {
      thread.join();
    }
    worlds_.clear();
    if (first_) {
      std::rethrow_exception(first_);
    }
  }

 private:
  void run_rank(const std::function<std::unique_ptr<World>(int64_t)>& make, size_t rank) {
    World* world = nullptr;
    try {
      std::unique_ptr<World> made = make(static_cast<int64_t>(rank));
      world = made.get();
      {
        std::lock_guard<std::mutex> lock(mutex_);
        worlds_[rank] = std::move(made);
      }
      function_(*world);
      if (!failed_before_ && ::testing::Test::HasFailure()) {
        world->abort({ErrorCode::kAborted, concat("an expectation failed on rank ", rank)});
      } else {
        world->close();
      }
    } catch (const Exception& exception) {
      note(std::current_exception(), world, exception.error());
    } catch (const std::exception& exception) {
      note(std::current_exception(), world, {ErrorCode::kInternal, exception.what()});
    }
    std::lock_guard<std::mutex> lock(mutex_);
    ++finished_;
    all_finished_.notify_all();
  }

  void note(std::exception_ptr exception, World* world, const Error& error) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!first_) {
        first_ = std::move(exception);
      }
    }
    if (world != nullptr) {
      world->abort(error);
    }
  }

  void await(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto all = [&] { return finished_ == count; };
    if (all_finished_.wait_for(lock, kLimit, all)) {
      return;
    }
    ADD_FAILURE() << finished_ << " of " << count << " ranks finished within 60 s";
    for (const std::unique_ptr<World>& world : worlds_) {
      if (world != nullptr) {
        world->abort({ErrorCode::kTimeout, "the test's limit of 60 s passed"});
      }
    }
    if (!all_finished_.wait_for(lock, kGrace, all)) {
      std::cerr << "ranks hang although their world was aborted" << std::endl;
      std::abort();
    }
  }

  const RankFunction& function_;
  const bool failed_before_ = ::testing::Test::HasFailure();
  std::mutex mutex_;
  std::condition_variable all_finished_;
  std::vector<std::unique_ptr<World>> worlds_;
  size_t finished_ = 0;
  std::exception_ptr first_;
};

}  // namespace

void run_ranks_over(int64_t size,
                    const std::function<std::unique_ptr<World>(int64_t)>& make,
                    const RankFunction& function) {
  RankThreads(size, function).run(make);
}

void run_ranks(int64_t size, const RankFunction& function, std::chrono::milliseconds timeout) {
  std::vector<std::unique_ptr<World>> worlds = collective::in_process_worlds(size, timeout);
  run_ranks_over(
      size, [&](int64_t rank) { return std::move(worlds[static_cast<size_t>(rank)]); }, function);
}

uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  sockaddr* const any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(listener, any, length) == 0 && getsockname(listener, any, &length) == 0;
  ::close(listener);
  BRIGADE_CHECK(bound, "no free port on loopback");
  return ntohs(address.sin_port);
}

void run_ranks_tcp(int64_t size, const RankFunction& function, std::chrono::milliseconds timeout) {
  collective::ConnectOptions options;
  options.size = size;
  options.master_port = free_port();
  options.init_timeout = std::chrono::seconds(20);
  options.timeout = timeout;
  run_ranks_over(
      size,
      [&](int64_t rank) {
        collective::ConnectOptions mine = options;
        mine.rank = rank;
        return value_or_throw(collective::connect(mine));
      },
      function);
}

}  // namespace brigade::testing
