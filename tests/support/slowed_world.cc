// SPDX-License-Identifier: Apache-2.0
#include "tests/support/slowed_world.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/transport/spans.h"

namespace brigade::testing {
namespace {

using collective::Communicator;
using collective::ConstSpans;
using collective::Keep;
using collective::ReduceOp;
using collective::Spans;
using collective::Tag;
using collective::Work;
using collective::World;

constexpr std::chrono::seconds kMost{1};

/// What members agree on: a group's name and members, the route of a message, and how many there
/// were before.
using Name = std::tuple<std::string, std::vector<int64_t>, std::string, int64_t>;

const std::string& group_of(const Name& name) {
  return std::get<0>(name);
}

/// When the operations of all ranks were posted.
class Board {
 public:
  explicit Board(const LinkSpeed& speed) : speed_(speed) {}

  const LinkSpeed& speed() const { return speed_; }
  void post(const Name& name, int64_t now_ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    int64_t& last_ns = posted_.emplace(name, now_ns).first->second;
    last_ns = std::max(last_ns, now_ns);
  }
  /// Of an operation that somebody has posted.
  int64_t last_posting_ns(const Name& name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return posted_.at(name);
  }

 private:
  const LinkSpeed speed_;
  mutable std::mutex mutex_;
  std::map<Name, int64_t> posted_;
};

/// A rank's end and what all share.
struct Ends {
  std::shared_ptr<Board> board;
  RankLink& link;
};

class SlowedWork final : public Work::Pending {
 public:
  SlowedWork(Work beneath, Ends ends, Name name, int64_t bytes)
      : beneath_(std::move(beneath)),
        ends_(std::move(ends)),
        name_(std::move(name)),
        time_(std::min<std::chrono::nanoseconds>(ends_.board->speed().time_of(bytes), kMost)) {}

  bool poll() override {
    return beneath_.done() &&
           ends_.link.now_ns() >= ends_.board->last_posting_ns(name_) + time_.count();
  }
  Result<void> wait() override {
    const int64_t begin_ns = ends_.link.now_ns();
    Result<void> result = beneath_.wait();
    if (result) {
      const int64_t posted_ns = ends_.board->last_posting_ns(name_);
      ends_.link.pass_until(posted_ns + time_.count());
      ends_.link.add_exposed(group_of(name_), ends_.link.now_ns() - std::max(begin_ns, posted_ns));
    }
    return result;
  }

 private:
  Work beneath_;
  const Ends ends_;
  const Name name_;
  const std::chrono::nanoseconds time_;
};

template <class Parts>
int64_t length_of_all(const std::vector<Parts>& members) {
  int64_t bytes = 0;
  for (const Parts& part : members) {
    bytes += transport::length_of(part);
  }
  return bytes;
}

class SlowedCommunicator final : public Communicator {
 public:
  SlowedCommunicator(std::unique_ptr<Communicator> beneath, Ends ends)
      : beneath_(std::move(beneath)), ends_(std::move(ends)) {}

  int rank() const override { return beneath_->rank(); }
  int size() const override { return beneath_->size(); }
  const std::string& name() const override { return beneath_->name(); }
  const std::vector<int64_t>& members() const override { return beneath_->members(); }
  void set_timeout(std::chrono::milliseconds timeout) override { beneath_->set_timeout(timeout); }
  int64_t bytes_sent() const override { return beneath_->bytes_sent(); }

  Work all_reduce(Spans buffer, DType dtype, ReduceOp op, Keep keep) override {
    const int64_t bytes = transport::length_of(buffer);
    return collective(bytes, [&] { return beneath_->all_reduce(buffer, dtype, op, keep); });
  }
  Work reduce_scatter(
      std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op, Keep keep) override {
    const int64_t bytes = length_of_all(terms);
    return collective(bytes,
                      [&] { return beneath_->reduce_scatter(terms, result, dtype, op, keep); });
  }
  Work all_gather(ConstSpans mine, std::vector<Spans> parts, Keep keep) override {
    const int64_t bytes = length_of_all(parts);
    return collective(bytes, [&] { return beneath_->all_gather(mine, parts, keep); });
  }
  Work broadcast(Spans buffer, int root, Keep keep) override {
    const int64_t bytes = transport::length_of(buffer);
    return collective(bytes, [&] { return beneath_->broadcast(buffer, root, keep); });
  }
  Work all_to_all(std::vector<ConstSpans> to, std::vector<Spans> from, Keep keep) override {
    const int64_t bytes = length_of_all(to);
    return collective(bytes, [&] { return beneath_->all_to_all(to, from, keep); });
  }
  Work barrier() override {
    return collective(0, [&] { return beneath_->barrier(); });
  }
  Work send(ConstSpans buffer, int peer, Tag tag, Keep keep) override {
    const Name name = message(rank(), peer, tag, sent_[{peer, tag}]++);
    ends_.board->post(name, ends_.link.now_ns());
    return timed([&] { return beneath_->send(buffer, peer, tag, keep); });
  }
  Work receive(Spans buffer, int peer, Tag tag, Keep keep) override {
    const int64_t bytes = transport::length_of(buffer);
    Name name = message(peer, rank(), tag, received_[{peer, tag}]++);
    Work work = timed([&] { return beneath_->receive(buffer, peer, tag, keep); });
    return slowed(std::move(work), std::move(name), bytes);
  }

 private:
  Name message(int from, int to, Tag tag, int64_t number) const {
    return {name(), members(), concat(from, " to ", to, " tag ", tag), number};
  }

  template <class Post>
  Work collective(int64_t bytes, const Post& post) {
    Name name = {this->name(), members(), "", collectives_++};
    ends_.board->post(name, ends_.link.now_ns());
    Work work = timed(post);
    return size() == 1 ? std::move(work) : slowed(std::move(work), std::move(name), bytes);
  }

  template <class Post>
  Work timed(const Post& post) const {
    const int64_t begin_ns = ends_.link.now_ns();
    Work work = post();
    ends_.link.add_exposed(name(), ends_.link.now_ns() - begin_ns);
    return work;
  }

  Work slowed(Work work, Name name, int64_t bytes) const {
    return Work(std::make_unique<SlowedWork>(std::move(work), ends_, std::move(name), bytes));
  }

  const std::unique_ptr<Communicator> beneath_;
  const Ends ends_;
  int64_t collectives_ = 0;
  std::map<std::pair<int, Tag>, int64_t> sent_;
  std::map<std::pair<int, Tag>, int64_t> received_;
};

class SlowedWorld final : public World {
 public:
  SlowedWorld(std::unique_ptr<World> beneath, Ends ends)
      : beneath_(std::move(beneath)), ends_(std::move(ends)) {}

  int64_t rank() const override { return beneath_->rank(); }
  int64_t size() const override { return beneath_->size(); }
  std::unique_ptr<Communicator> group(std::vector<int64_t> members, std::string name) override {
    return std::make_unique<SlowedCommunicator>(
        beneath_->group(std::move(members), std::move(name)), ends_);
  }
  void set_timeout(std::chrono::milliseconds timeout) override { beneath_->set_timeout(timeout); }
  void abort(const Error& error) override { beneath_->abort(error); }
  std::optional<Error> failure() const override { return beneath_->failure(); }
  void close() override { beneath_->close(); }
  transport::BufferBytes buffer_bytes() const override { return beneath_->buffer_bytes(); }

 private:
  const std::unique_ptr<World> beneath_;
  const Ends ends_;
};

}  // namespace

std::chrono::nanoseconds LinkSpeed::time_of(int64_t bytes) const {
  const std::chrono::duration<double> transfer(static_cast<double>(bytes) / bytes_per_s);
  return latency + std::chrono::duration_cast<std::chrono::nanoseconds>(transfer);
}

int64_t RankLink::now_ns() const {
  const std::chrono::nanoseconds real = std::chrono::steady_clock::now().time_since_epoch();
  return clock_ == LinkClock::kVirtual ? virtual_ns_ : real.count();
}

void RankLink::pass_until(int64_t ns) {
  if (clock_ == LinkClock::kVirtual) {
    virtual_ns_ = std::max(virtual_ns_, ns);
  } else {
    std::this_thread::sleep_until(
        std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns)));
  }
}

int64_t RankLink::exposed_ns(const std::string& group) const {
  const auto found = exposed_ns_.find(group);
  return found == exposed_ns_.end() ? 0 : found->second;
}

void run_ranks_slowed(int64_t size,
                      const LinkSpeed& speed,
                      LinkClock clock,
                      const std::function<void(World& world, RankLink& link)>& function) {
  std::vector<std::unique_ptr<World>> worlds = collective::in_process_worlds(size, kDefaultTimeout);
  std::vector<RankLink> links(static_cast<size_t>(size), RankLink(clock));
  const auto board = std::make_shared<Board>(speed);
  run_ranks_over(
      size,
      [&](int64_t rank) {
        const auto index = static_cast<size_t>(rank);
        return std::make_unique<SlowedWorld>(std::move(worlds[index]), Ends{board, links[index]});
      },
      [&](World& world) { function(world, links[static_cast<size_t>(world.rank())]); });
}

}  // namespace brigade::testing
