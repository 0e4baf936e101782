// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/recorded_world.h"

#include <map>
#include <tuple>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/transport/spans.h"

namespace brigade::collective {
namespace {

template <class Parts>
int64_t length_of_all(const std::vector<Parts>& members) {
  int64_t bytes = 0;
  for (const Parts& part : members) {
    bytes += transport::length_of(part);
  }
  return bytes;
}

class RecordedWork final : public Work::Pending {
 public:
  RecordedWork(Work beneath, std::shared_ptr<Timeline> timeline, const TimedSpan& posted)
      : beneath_(std::move(beneath)), timeline_(std::move(timeline)), span_(posted) {}
  ~RecordedWork() override {
    if (!recorded_) {
      record(span_.posted_ns, span_.posted_ns);
    }
  }

  bool poll() override { return beneath_.done(); }

  Result<void> wait() override {
    if (recorded_) {
      return beneath_.wait();
    }
    const int64_t begin_ns = timeline_->now();
    Result<void> result = beneath_.wait();
    record(begin_ns, timeline_->now());
    return result;
  }

 private:
  void record(int64_t wait_ns, int64_t end_ns) {
    recorded_ = true;
    span_.wait_ns = wait_ns;
    span_.end_ns = end_ns;
    if (timeline_->on_own_thread()) {
      timeline_->add(span_);
    }
  }

  Work beneath_;
  const std::shared_ptr<Timeline> timeline_;
  TimedSpan span_;
  bool recorded_ = false;
};

class RecordedCommunicator final : public Communicator {
 public:
  RecordedCommunicator(std::unique_ptr<Communicator> beneath,
                       std::shared_ptr<Timeline> timeline,
                       int16_t index)
      : beneath_(std::move(beneath)), timeline_(std::move(timeline)), index_(index) {}

  int rank() const override { return beneath_->rank(); }
  int size() const override { return beneath_->size(); }
  const std::string& name() const override { return beneath_->name(); }
  const std::vector<int64_t>& members() const override { return beneath_->members(); }
  void set_timeout(std::chrono::milliseconds timeout) override { beneath_->set_timeout(timeout); }
  int64_t bytes_sent() const override { return beneath_->bytes_sent(); }

  Work all_reduce(Spans buffer, DType dtype, ReduceOp op, Keep keep) override {
    return collective(Activity::kAllReduce, transport::length_of(buffer), [&] {
      return beneath_->all_reduce(std::move(buffer), dtype, op, std::move(keep));
    });
  }
  Work reduce_scatter(
      std::vector<ConstSpans> terms, Spans result, DType dtype, ReduceOp op, Keep keep) override {
    return collective(Activity::kReduceScatter, length_of_all(terms), [&] {
      return beneath_->reduce_scatter(
          std::move(terms), std::move(result), dtype, op, std::move(keep));
    });
  }
  Work all_gather(ConstSpans mine, std::vector<Spans> parts, Keep keep) override {
    return collective(Activity::kAllGather, length_of_all(parts), [&] {
      return beneath_->all_gather(std::move(mine), std::move(parts), std::move(keep));
    });
  }
  Work broadcast(Spans buffer, int root, Keep keep) override {
    return collective(Activity::kBroadcast, transport::length_of(buffer), [&] {
      return beneath_->broadcast(std::move(buffer), root, std::move(keep));
    });
  }
  Work all_to_all(std::vector<ConstSpans> to, std::vector<Spans> from, Keep keep) override {
    return collective(Activity::kAllToAll, length_of_all(to), [&] {
      return beneath_->all_to_all(std::move(to), std::move(from), std::move(keep));
    });
  }
  Work barrier() override {
    return collective(Activity::kBarrier, 0, [&] { return beneath_->barrier(); });
  }
  Work send(ConstSpans buffer, int peer, Tag tag, Keep keep) override {
    return message({Activity::kSend, peer, tag}, transport::length_of(buffer), [&] {
      return beneath_->send(std::move(buffer), peer, tag, std::move(keep));
    });
  }
  Work receive(Spans buffer, int peer, Tag tag, Keep keep) override {
    return message({Activity::kReceive, peer, tag}, transport::length_of(buffer), [&] {
      return beneath_->receive(std::move(buffer), peer, tag, std::move(keep));
    });
  }

 private:
  using MessageKind = std::tuple<Activity, int, Tag>;

  template <class Post>
  Work collective(Activity activity, int64_t bytes, const Post& post) {
    TimedSpan span = span_of(activity, bytes);
    span.sequence = collectives_;
    Work work = timed(span, post);
    ++collectives_;  // not of a call that was refused: it threw
    return recorded(std::move(work), span);
  }

  template <class Post>
  Work message(const MessageKind& kind, int64_t bytes, const Post& post) {
    TimedSpan span = span_of(std::get<Activity>(kind), bytes);
    Work work = timed(span, post);
    span.peer = static_cast<int32_t>(beneath_->members()[static_cast<size_t>(std::get<int>(kind))]);
    span.tag = std::get<Tag>(kind);
    span.sequence = messages_[kind]++;
    return recorded(std::move(work), span);
  }

  TimedSpan span_of(Activity activity, int64_t bytes) const {
    TimedSpan span;
    span.activity = activity;
    span.group = index_;
    span.bytes = bytes;
    return span;
  }

  template <class Post>
  Work timed(TimedSpan& span, const Post& post) const {
    span.begin_ns = timeline_->now();
    Work work = post();
    span.posted_ns = timeline_->now();
    return work;
  }

  Work recorded(Work work, TimedSpan& span) const {
    if (!timeline_->on_own_thread()) {
      return work;
    }
    stamp(span, timeline_->place());
    return Work(std::make_unique<RecordedWork>(std::move(work), timeline_, span));
  }

  const std::unique_ptr<Communicator> beneath_;
  const std::shared_ptr<Timeline> timeline_;
  const int16_t index_;
  uint32_t collectives_ = 0;
  std::map<MessageKind, uint32_t> messages_;  // tags come again in each step: it stays small
};

World& existing(const std::unique_ptr<World>& world) {
  BRIGADE_CHECK(world != nullptr);
  return *world;
}

}  // namespace

RecordedWorld::RecordedWorld(World& beneath, std::shared_ptr<Timeline> timeline)
    : beneath_(beneath), timeline_(std::move(timeline)) {
  BRIGADE_CHECK(timeline_ != nullptr);
}

RecordedWorld::RecordedWorld(std::unique_ptr<World> beneath, std::shared_ptr<Timeline> timeline)
    : owned_(std::move(beneath)), beneath_(existing(owned_)), timeline_(std::move(timeline)) {
  BRIGADE_CHECK(timeline_ != nullptr);
}

std::unique_ptr<Communicator> RecordedWorld::group(std::vector<int64_t> members, std::string name) {
  std::unique_ptr<Communicator> made = beneath_.group(std::move(members), std::move(name));
  if (!timeline_->on_own_thread()) {
    return made;
  }
  const int16_t index = timeline_->add_group(made->name(), made->members());
  return std::make_unique<RecordedCommunicator>(std::move(made), timeline_, index);
}

}  // namespace brigade::collective
