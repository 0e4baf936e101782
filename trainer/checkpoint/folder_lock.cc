// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/checkpoint/utc_time.h"

namespace brigade::checkpoint {
namespace {

constexpr size_t kMostBytes = 4096;

std::string lock_path(const std::string& folder) {
  return folder + "/lock";
}

/// What the file says, as far as it can be read: it may be cut short, by the disk or by a crash.
nlohmann::json read_facts(const std::string& path) {
  std::ifstream in(path);
  std::string text(kMostBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  nlohmann::json facts = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return facts.is_object() ? facts : nlohmann::json::object();
}

std::string text_at(const nlohmann::json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string owner_of(const std::string& path) {
  const nlohmann::json facts = read_facts(path);
  const std::string host = text_at(facts, "host");
  return host.empty() ? std::string("which does not say its name")
                      : concat("process ",
                               text_at(facts, "process"),
                               " on ",
                               host,
                               ", since ",
                               text_at(facts, "since"));
}

}  // namespace

Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::string& folder,
                                                     const LockWords& words) {
  const std::string path = lock_path(folder);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) {
    return fail(ErrorCode::kIo, concat(words.cannot, ' ', folder, ": ", std::strerror(errno)));
  }
  std::unique_ptr<FolderLock> lock(new FolderLock(path, descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kIo,
                concat(words.taken, ' ', folder, " (", owner_of(path), "); ", words.remedy));
  }
  return lock;
}

FolderLock::~FolderLock() {
  ::close(descriptor_);  // unlocks
}

Result<void> FolderLock::set_run(const std::string& run) {
  utsname system = {};
  ::uname(&system);
  const std::string text = nlohmann::json({{"run", run},
                                           {"host", system.nodename},
                                           {"process", concat(::getpid())},
                                           {"since", utc_time()}})
                               .dump() +
                           '\n';
  const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  return written
             ? Result<void>()
             : fail(ErrorCode::kIo, concat(path_, " cannot be written: ", std::strerror(errno)));
}

std::string last_run(const std::string& folder) {
  return text_at(read_facts(lock_path(folder)), "run");
}

}  // namespace brigade::checkpoint
