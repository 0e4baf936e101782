// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/link_world.h"

#include <algorithm>

#include "parallel/base/check.h"
#include "parallel/collective/call.h"
#include "parallel/collective/link_communicator.h"
#include "parallel/transport/in_process.h"
#include "parallel/transport/rendezvous.h"

namespace brigade::collective {
namespace {

/// The same on all members, and another for every group: no message is needed to agree on it.
uint64_t group_id(const std::string& name, const std::vector<int64_t>& members, uint64_t ordinal) {
  std::vector<int64_t> words(members);
  for (const char letter : name) {
    words.push_back(letter);
  }
  words.push_back(static_cast<int64_t>(members.size()));
  words.push_back(static_cast<int64_t>(ordinal));
  return layout_of(words);
}

}  // namespace

LinkWorld::LinkWorld(std::unique_ptr<transport::Endpoint> endpoint,
                     std::chrono::milliseconds timeout)
    : engine_(std::make_shared<Engine>(std::move(endpoint))), timeout_(timeout) {}

LinkWorld::~LinkWorld() {
  vanish();
}

std::unique_ptr<Communicator> LinkWorld::group(std::vector<int64_t> members, std::string name) {
  const auto self = std::find(members.begin(), members.end(), rank());
  BRIGADE_CHECK(self != members.end(), "a rank makes only groups that it is in", rank(), name);
  for (const int64_t member : members) {
    BRIGADE_CHECK(member >= 0 && member < size(), member, size(), name);
    BRIGADE_CHECK(std::count(members.begin(), members.end(), member) == 1, member, name);
  }
  MutexLock lock(mutex_);
  Group group;
  group.id = group_id(name, members, made_[{name, members}]++);
  group.rank = static_cast<int>(self - members.begin());
  group.name = std::move(name);
  group.members = std::move(members);
  return std::make_unique<LinkCommunicator>(engine_, std::move(group), timeout_);
}

void LinkWorld::set_timeout(std::chrono::milliseconds timeout) {
  MutexLock lock(mutex_);
  timeout_ = timeout;
}

void LinkWorld::abort(const Error& error) {
  Error told = error;
  if (told.origin_rank < 0) {
    told.origin_rank = static_cast<int>(rank());
  }
  engine_->endpoint().abort(std::move(told));
}

std::optional<Error> LinkWorld::failure() const {
  return engine_->endpoint().failure();
}

void LinkWorld::close() {
  engine_->endpoint().close();
}

std::vector<std::unique_ptr<World>> in_process_worlds(int64_t size,
                                                      std::chrono::milliseconds timeout) {
  std::vector<std::unique_ptr<World>> worlds;
  for (std::unique_ptr<transport::Endpoint>& endpoint : transport::in_process_endpoints(size)) {
    worlds.push_back(std::make_unique<LinkWorld>(std::move(endpoint), timeout));
  }
  return worlds;
}

Result<std::unique_ptr<World>> connect(const ConnectOptions& options) {
  Result<std::unique_ptr<transport::Endpoint>> endpoint = transport::meet({options.rank,
                                                                           options.size,
                                                                           options.master_address,
                                                                           options.master_port,
                                                                           options.init_timeout});
  if (!endpoint) {
    return fail(std::move(endpoint.error()));
  }
  return std::make_unique<LinkWorld>(std::move(*endpoint), options.timeout);
}

}  // namespace brigade::collective
