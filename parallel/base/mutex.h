// SPDX-License-Identifier: Apache-2.0
/// A mutex that clang's thread-safety analysis understands: state says GUARDED_BY, functions say
/// REQUIRES.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define BRIGADE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define BRIGADE_THREAD_ATTRIBUTE(x)
#endif
#define BRIGADE_CAPABILITY(name) BRIGADE_THREAD_ATTRIBUTE(capability(name))
#define BRIGADE_SCOPED_CAPABILITY BRIGADE_THREAD_ATTRIBUTE(scoped_lockable)
#define BRIGADE_GUARDED_BY(mutex) BRIGADE_THREAD_ATTRIBUTE(guarded_by(mutex))
#define BRIGADE_REQUIRES(...) BRIGADE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define BRIGADE_ACQUIRE(...) BRIGADE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define BRIGADE_RELEASE(...) BRIGADE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace brigade {

class BRIGADE_CAPABILITY("mutex") Mutex {
 public:
  void lock() BRIGADE_ACQUIRE() { mutex_.lock(); }
  void unlock() BRIGADE_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class BRIGADE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BRIGADE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() BRIGADE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits on a Mutex that is held; like std::condition_variable otherwise.
using ConditionVariable = std::condition_variable_any;

}  // namespace brigade
