// SPDX-License-Identifier: Apache-2.0
// What ends a process is tried on children.
#include "trainer/launch/stop_signals.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace brigade::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kAfterTheEcho = kSignalEcho + 50ms;

/// A child that runs `body`, and what a waiting parent learns of it.
class Child {
 public:
  explicit Child(const std::function<int(const std::function<void(int)>& tell)>& body) {
    EXPECT_EQ(pipe(pipe_.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      _exit(body([this](int number) {
        const char byte = static_cast<char>(number);
        [[maybe_unused]] const ssize_t written = write(pipe_[1], &byte, 1);
      }));
    }
    close(pipe_[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    close(pipe_[0]);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  void kill(int number) const {
    ASSERT_GT(pid_, 0);
    ::kill(pid_, number);
  }
  pid_t pid() const { return pid_; }

  /// The next number that it tells; -1: none within a limit, or it is gone.
  int told() const {
    pollfd ready = {pipe_[0], POLLIN, 0};
    char byte = 0;
    return poll(&ready, 1, 20'000) == 1 && read(pipe_[0], &byte, 1) == 1 ? byte : -1;
  }

  /// Its exit code, or 128 + the signal that ended it.
  int code() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  std::array<int, 2> pipe_ = {};
  pid_t pid_ = -1;
};

int wait_for_a_signal(const StopSignals& signals) {
  for (int i = 0; i < 4000 && signals.requested() == 0; ++i) {
    std::this_thread::sleep_for(5ms);
  }
  return signals.requested();
}

/// Tells 1 when it listens, then the signal that it noted, then works on for long.
int listen_and_work(const std::function<void(int)>& tell) {
  const StopSignals signals;
  tell(1);
  tell(wait_for_a_signal(signals));
  std::this_thread::sleep_for(20s);
  return 9;
}

TEST(StopSignals, NoteTheFirstAndGoOn) {
  for (const int number : {SIGTERM, SIGUSR1}) {
    Child child([](const auto& tell) {
      const StopSignals signals;
      tell(signals.requested() + 1);
      tell(wait_for_a_signal(signals));
      return 75;
    });
    EXPECT_EQ(child.told(), 1);
    child.kill(number);
    EXPECT_EQ(child.told(), number);
    EXPECT_EQ(child.code(), 75);
  }
}

TEST(StopSignals, ASecondOneEndsTheProcessAsIfNobodyHadListened) {
  Child child(listen_and_work);
  EXPECT_EQ(child.told(), 1);
  child.kill(SIGUSR1);
  EXPECT_EQ(child.told(), SIGUSR1);
  std::this_thread::sleep_for(kAfterTheEcho);
  child.kill(SIGTERM);
  EXPECT_EQ(child.code(), 143);
}

TEST(StopSignals, EndTheProcessAlsoWhenItsMainThreadIsBusy) {
  Child child([](const auto& tell) {
    const StopSignals signals;
    tell(1);
    std::thread waiting([&] { tell(wait_for_a_signal(signals)); });
    volatile uint64_t counted = 0;
    constexpr uint64_t kBetweenCalls = 1 << 20;
    while (true) {
      counted = counted + 1;
      if (counted % kBetweenCalls == 0) {
        std::this_thread::sleep_for(1us);  // ThreadSanitizer hands signals on at calls alone
      }
    }
    return 9;
  });
  EXPECT_EQ(child.told(), 1);
  child.kill(SIGTERM);
  EXPECT_EQ(child.told(), SIGTERM);
  std::this_thread::sleep_for(kAfterTheEcho);
  child.kill(SIGTERM);
  EXPECT_EQ(child.code(), 143);
}

TEST(StopSignals, R052OneWishMayComeTwiceFromOneHand) {
  Child child([](const auto& tell) {
    const StopSignals signals;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGUSR1);
    sigprocmask(SIG_BLOCK, &both, nullptr);
    raise(SIGTERM);
    raise(SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &both, nullptr);  // now they come, one after the other
    tell(signals.requested() != 0 ? 1 : 0);
    return 75;
  });
  EXPECT_EQ(child.told(), 1);
  EXPECT_EQ(child.code(), 75);
}

TEST(StopSignals, R052OneWishMayComeFromTheParentAndFromElsewhere) {
  Child child(listen_and_work);
  EXPECT_EQ(child.told(), 1);
  child.kill(SIGTERM);
  EXPECT_EQ(child.told(), SIGTERM);
  std::this_thread::sleep_for(kAfterTheEcho);
  const auto from_elsewhere = [&child] {
    Child other([&child](const auto& /*tell*/) {
      child.kill(SIGTERM);
      return 0;
    });
    EXPECT_EQ(other.code(), 0);
  };
  from_elsewhere();
  std::this_thread::sleep_for(kAfterTheEcho);
  EXPECT_EQ(waitpid(child.pid(), nullptr, WNOHANG), 0);  // still there
  from_elsewhere();
  EXPECT_EQ(child.code(), 143);
}

TEST(StopSignals, DoNotInterruptWhatBlocks) {
  Child child([](const auto& tell) {
    const StopSignals signals;
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) {
      return 1;
    }
    tell(1);
    std::thread later([&] {
      wait_for_a_signal(signals);
      [[maybe_unused]] const ssize_t sent = write(ends[1], "x", 1);
    });
    char byte = 0;
    const ssize_t count = read(ends[0], &byte, 1);  // the signal comes here
    later.join();
    return count == 1 && signals.requested() == SIGTERM ? 75 : 1;
  });
  EXPECT_EQ(child.told(), 1);
  std::this_thread::sleep_for(20ms);
  child.kill(SIGTERM);
  EXPECT_EQ(child.code(), 75);
}

TEST(StopSignals, AreForgottenWithTheLastObject) {
  Child child([](const auto& tell) {
    auto first = std::make_unique<StopSignals>();
    auto second = std::make_unique<StopSignals>();
    raise(SIGTERM);
    first.reset();
    tell(second->requested());
    second.reset();
    const StopSignals again;
    tell(again.requested() + 1);
    return 0;
  });
  EXPECT_EQ(child.told(), SIGTERM);
  EXPECT_EQ(child.told(), 1);
  EXPECT_EQ(child.code(), 0);
}

TEST(StopSignals, AreAsBeforeWhenNobodyListensAnyMore) {
  Child child([](const auto& /*tell*/) {
    { const StopSignals signals; }
    raise(SIGTERM);
    return 0;
  });
  EXPECT_EQ(child.code(), 143);
}

TEST(StopSignals, R052StayWhenTheProcessIsLeaving) {
  Child child([](const auto& tell) {
    {
      const StopSignals signals;  // another rank was asked
      signals.stay();
    }
    raise(SIGTERM);
    tell(1);
    const StopSignals again;
    tell(again.requested() + 1);
    raise(SIGUSR1);
    tell(again.requested());
    return 75;
  });
  EXPECT_EQ(child.told(), 1);
  EXPECT_EQ(child.told(), 1);
  EXPECT_EQ(child.told(), SIGUSR1);
  EXPECT_EQ(child.code(), 75);
}

TEST(StopSignals, HaveNames) {
  EXPECT_EQ(signal_name(SIGTERM), "SIGTERM");
  EXPECT_EQ(signal_name(SIGUSR1), "SIGUSR1");
  EXPECT_EQ(signal_name(77), "signal 77");
}

}  // namespace
}  // namespace brigade::launch
