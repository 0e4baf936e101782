// SPDX-License-Identifier: Apache-2.0
// Stands between a program and the C library: see failing_disk.h. A shared object for LD_PRELOAD.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/support/failing_disk_rules.h"

namespace {

using brigade::testing::Attempt;
using brigade::testing::is_watched;
using brigade::testing::judge;
using brigade::testing::log_call;
using brigade::testing::path_of;
using brigade::testing::Verdict;

/// The function of that name that the program would have without us.
template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// `path`, below the folder of a descriptor unless that is the current one.
std::string below(int folder, const char* path) {
  const bool plain = folder == AT_FDCWD || path[0] == '/';
  return plain ? path : path_of(folder) + '/' + path;
}

/// A call that returns 0 or more, or -1 with errno.
template <class Call>
auto guarded(const char* kind, const std::string& path, const Call& call) -> decltype(call()) {
  const Attempt attempt = {kind, path, 0};
  if (const Verdict verdict = judge(attempt); verdict.error != 0) {
    log_call(attempt, -1);
    errno = verdict.error;
    return -1;
  }
  const auto result = call();
  const int saved = errno;
  log_call(attempt, result);
  errno = saved;
  return result;
}

/// The same for writing `bytes`, of which perhaps only a part fits.
template <class Call>
ssize_t guarded_write(int descriptor, size_t bytes, const Call& call) {
  const Attempt attempt = {"write", path_of(descriptor), static_cast<int64_t>(bytes)};
  const Verdict verdict = judge(attempt);
  ssize_t result = -1;
  int saved = verdict.error;
  if (saved == 0) {
    result = call(verdict.bytes ? static_cast<size_t>(*verdict.bytes) : bytes);
    saved = errno;
  }
  log_call(attempt, result);
  errno = saved;
  return result;
}

const char* opening(int flags) {
  return (flags & O_CREAT) != 0 ? "create" : "open";
}

/// The optional third argument of open().
mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

template <class Space>
int guarded_space(const std::string& path, Space* space, int result) {
  const Attempt attempt = {"space", path, 0};
  const Verdict verdict = judge(attempt);
  if (verdict.error != 0) {
    errno = verdict.error;
    return -1;
  }
  if (result == 0 && verdict.free_bytes) {
    space->f_bavail = static_cast<fsblkcnt_t>(*verdict.free_bytes) / space->f_frsize;
    space->f_bfree = space->f_bavail;
  }
  return result;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto next = original<decltype(&write)>("write");
  if (!is_watched("write")) {
    return next(descriptor, bytes, count);
  }
  return guarded_write(
      descriptor, count, [&](size_t fits) { return next(descriptor, bytes, fits); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static const auto next = original<decltype(&pwrite)>("pwrite");
  if (!is_watched("write")) {
    return next(descriptor, bytes, count, offset);
  }
  return guarded_write(
      descriptor, count, [&](size_t fits) { return next(descriptor, bytes, fits, offset); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

/// Of a list of which not all fits, the first piece alone is taken.
ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static const auto next = original<decltype(&writev)>("writev");
  static const auto one = original<decltype(&write)>("write");
  if (!is_watched("write")) {
    return next(descriptor, pieces, count);
  }
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    bytes += pieces[i].iov_len;
  }
  return guarded_write(descriptor, bytes, [&](size_t fits) {
    return fits == bytes ? next(descriptor, pieces, count)
                         : one(descriptor, pieces[0].iov_base, std::min(fits, pieces[0].iov_len));
  });
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  static const auto next = original<decltype(&read)>("read");
  const auto call = [&] { return next(descriptor, bytes, count); };
  return is_watched("read") ? guarded("read", path_of(descriptor), call) : call();
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  static const auto next = original<decltype(&pread)>("pread");
  const auto call = [&] { return next(descriptor, bytes, count, offset); };
  return is_watched("read") ? guarded("read", path_of(descriptor), call) : call();
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off_t offset) {
  return pread(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  static const auto next = original<decltype(&fsync)>("fsync");
  const auto call = [&] { return next(descriptor); };
  return is_watched("sync") ? guarded("sync", path_of(descriptor), call) : call();
}

int fdatasync(int descriptor) {
  static const auto next = original<decltype(&fdatasync)>("fdatasync");
  const auto call = [&] { return next(descriptor); };
  return is_watched("sync") ? guarded("sync", path_of(descriptor), call) : call();
}

int open(const char* path, int flags, ...) {
  static const auto next = original<int (*)(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return guarded(opening(flags), path, [&] { return next(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static const auto next = original<int (*)(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return guarded(
      opening(flags), below(folder, path), [&] { return next(folder, path, flags, mode); });
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return openat(folder, path, flags, mode);
}

int renameat2(
    int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  static const auto next = original<decltype(&renameat2)>("renameat2");
  const std::string path = below(from_folder, from) + " -> " + below(to_folder, to);
  return guarded("rename", path, [&] { return next(from_folder, from, to_folder, to, flags); });
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return renameat2(from_folder, from, to_folder, to, 0);
}

int rename(const char* from, const char* to) noexcept {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = original<decltype(&mkdir)>("mkdir");
  return guarded("mkdir", path, [&] { return next(path, mode); });
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static const auto next = original<decltype(&mkdirat)>("mkdirat");
  return guarded("mkdir", below(folder, path), [&] { return next(folder, path, mode); });
}

int remove(const char* path) noexcept {
  static const auto next = original<decltype(&remove)>("remove");
  return guarded("remove", path, [&] { return next(path); });
}

int unlink(const char* path) noexcept {
  static const auto next = original<decltype(&unlink)>("unlink");
  return guarded("remove", path, [&] { return next(path); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static const auto next = original<decltype(&unlinkat)>("unlinkat");
  return guarded("remove", below(folder, path), [&] { return next(folder, path, flags); });
}

int rmdir(const char* path) noexcept {
  static const auto next = original<decltype(&rmdir)>("rmdir");
  return guarded("remove", path, [&] { return next(path); });
}

int statvfs(const char* path, struct statvfs* space) noexcept {
  static const auto next = original<decltype(&statvfs)>("statvfs");
  return guarded_space(path, space, next(path, space));
}

int statvfs64(const char* path, struct statvfs64* space) noexcept {
  static const auto next = original<decltype(&statvfs64)>("statvfs64");
  return guarded_space(path, space, next(path, space));
}

int fstatvfs(int descriptor, struct statvfs* space) noexcept {
  static const auto next = original<decltype(&fstatvfs)>("fstatvfs");
  return guarded_space(path_of(descriptor), space, next(descriptor, space));
}

int fstatvfs64(int descriptor, struct statvfs64* space) noexcept {
  static const auto next = original<decltype(&fstatvfs64)>("fstatvfs64");
  return guarded_space(path_of(descriptor), space, next(descriptor, space));
}

}  // extern "C"
