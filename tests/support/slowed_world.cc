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
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMost{1};

/// What members agree on: a group, and which of its collectives or messages.
using Name = std::tuple<std::string, std::vector<int64_t>, int64_t>;

/// When the operations of all ranks were posted.
class Board {
 public:
  explicit Board(const LinkSpeed& speed) : speed_(speed) {}

  const LinkSpeed& speed() const { return speed_; }
  void post(const Name& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    posted_[name] = Clock::now();  // the clock never goes back: the last one stays
  }
  Clock::time_point last_posting(const Name& name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = posted_.find(name);
    return found == posted_.end() ? Clock::time_point::min() : found->second;
  }

 private:
  const LinkSpeed speed_;
  mutable std::mutex mutex_;
  std::map<Name, Clock::time_point> posted_;
};

class SlowedWork final : public Work::Pending {
 public:
  SlowedWork(Work beneath, std::shared_ptr<Board> board, Name name, int64_t bytes)
      : beneath_(std::move(beneath)),
        board_(std::move(board)),
        name_(std::move(name)),
        time_(std::min<std::chrono::nanoseconds>(board_->speed().time_of(bytes), kMost)) {}

  bool poll() override { return beneath_.done() && Clock::now() >= arrival(); }
  Result<void> wait() override {
    Result<void> result = beneath_.wait();
    if (result) {
      std::this_thread::sleep_until(arrival());
    }
    return result;
  }

 private:
  Clock::time_point arrival() const { return board_->last_posting(name_) + time_; }

  Work beneath_;
  std::shared_ptr<Board> board_;
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
  SlowedCommunicator(std::unique_ptr<Communicator> beneath, std::shared_ptr<Board> board)
      : beneath_(std::move(beneath)), board_(std::move(board)) {}

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
    board_->post(message(rank(), peer, tag, sent_[{peer, tag}]++));
    return beneath_->send(std::move(buffer), peer, tag, std::move(keep));
  }
  Work receive(Spans buffer, int peer, Tag tag, Keep keep) override {
    const int64_t bytes = transport::length_of(buffer);
    Name name = message(peer, rank(), tag, received_[{peer, tag}]++);
    return slowed(
        beneath_->receive(std::move(buffer), peer, tag, std::move(keep)), std::move(name), bytes);
  }

 private:
  Name message(int from, int to, Tag tag, int64_t number) const {
    return {route(from, to, tag), members(), number};
  }
  std::string route(int from, int to, Tag tag) const {
    return name() + ":" + std::to_string(from) + ":" + std::to_string(to) + ":" +
           std::to_string(tag);
  }

  template <class Post>
  Work collective(int64_t bytes, const Post& post) {
    Name name = {this->name(), members(), collectives_++};
    board_->post(name);
    return slowed(post(), std::move(name), bytes);
  }

  Work slowed(Work work, Name name, int64_t bytes) const {
    if (size() == 1) {
      return work;
    }
    return Work(std::make_unique<SlowedWork>(std::move(work), board_, std::move(name), bytes));
  }

  const std::unique_ptr<Communicator> beneath_;
  const std::shared_ptr<Board> board_;
  int64_t collectives_ = 0;
  std::map<std::pair<int, Tag>, int64_t> sent_;
  std::map<std::pair<int, Tag>, int64_t> received_;
};

class SlowedWorld final : public World {
 public:
  SlowedWorld(std::unique_ptr<World> beneath, std::shared_ptr<Board> board)
      : beneath_(std::move(beneath)), board_(std::move(board)) {}

  int64_t rank() const override { return beneath_->rank(); }
  int64_t size() const override { return beneath_->size(); }
  std::unique_ptr<Communicator> group(std::vector<int64_t> members, std::string name) override {
    return std::make_unique<SlowedCommunicator>(
        beneath_->group(std::move(members), std::move(name)), board_);
  }
  void set_timeout(std::chrono::milliseconds timeout) override { beneath_->set_timeout(timeout); }
  void abort(const Error& error) override { beneath_->abort(error); }
  std::optional<Error> failure() const override { return beneath_->failure(); }
  void close() override { beneath_->close(); }
  transport::BufferBytes buffer_bytes() const override { return beneath_->buffer_bytes(); }

 private:
  const std::unique_ptr<World> beneath_;
  const std::shared_ptr<Board> board_;
};

}  // namespace

std::chrono::nanoseconds LinkSpeed::time_of(int64_t bytes) const {
  const std::chrono::duration<double> transfer(static_cast<double>(bytes) / bytes_per_s);
  return latency + std::chrono::duration_cast<std::chrono::nanoseconds>(transfer);
}

void run_ranks_slowed(int64_t size, const LinkSpeed& speed, const RankFunction& function) {
  std::vector<std::unique_ptr<World>> worlds = collective::in_process_worlds(size, kDefaultTimeout);
  const auto board = std::make_shared<Board>(speed);
  run_ranks_over(
      size,
      [&](int64_t rank) {
        return std::make_unique<SlowedWorld>(std::move(worlds[static_cast<size_t>(rank)]), board);
      },
      function);
}

}  // namespace brigade::testing
