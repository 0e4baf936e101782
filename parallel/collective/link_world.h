// SPDX-License-Identifier: Apache-2.0
/// LinkWorld: the World of our own engine, over any Endpoint.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/base/mutex.h"
#include "parallel/collective/engine.h"
#include "parallel/collective/world.h"

namespace brigade::collective {

class LinkWorld final : public World {
 public:
  LinkWorld(std::unique_ptr<transport::Endpoint> endpoint, std::chrono::milliseconds timeout);
  ~LinkWorld() override;

  int64_t rank() const override { return engine_->endpoint().rank(); }
  int64_t size() const override { return engine_->endpoint().size(); }
  std::unique_ptr<Communicator> group(std::vector<int64_t> members, std::string name) override;
  void set_timeout(std::chrono::milliseconds timeout) override;
  void abort(const Error& error) override;
  std::optional<Error> failure() const override;
  void close() override;
  transport::BufferBytes buffer_bytes() const override {
    return engine_->endpoint().buffers().bytes();
  }
  /// Leaves at once, without a goodbye unless close() said it: what destruction does.
  void vanish() { engine_->endpoint().vanish(); }

 private:
  const std::shared_ptr<Engine> engine_;
  Mutex mutex_;
  std::chrono::milliseconds timeout_ BRIGADE_GUARDED_BY(mutex_);
  // How often a group of this name and these members was made: makes ids of equal ones differ.
  std::map<std::pair<std::string, std::vector<int64_t>>, uint64_t> made_ BRIGADE_GUARDED_BY(mutex_);
};

}  // namespace brigade::collective
