// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/saver.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/collective/gather_texts.h"
#include "trainer/checkpoint/commit.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/checkpoint/folder_lock.h"

namespace brigade::checkpoint {
namespace {

using Clock = std::chrono::steady_clock;

/// What a manifest takes beside its boxes' checksums, and what file systems round up.
constexpr uint64_t kSlackBytes = 256 * 1024;

template <class T>
bool is_ready(const std::future<T>& work) {
  // What is deferred runs when it is asked for: nothing to wait for.
  return work.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

}  // namespace

struct Saver::Impl {
  enum class Phase : uint8_t { kIdle, kWriting, kPublishing };

  SaverOptions options;
  std::unique_ptr<collective::Communicator> ranks;
  std::unique_ptr<FolderLock> lock;  // of rank 0
  std::vector<std::string> remarks;
  std::unique_ptr<std::byte[]> copy;  // of the boxes, kept for the next save
  size_t copy_bytes = 0;

  Phase phase = Phase::kIdle;
  Manifest head;
  std::vector<StateBox> boxes;
  std::future<Result<Manifest>> writing;
  std::optional<Manifest> record;             // of what was written
  std::future<Result<Committed>> publishing;  // of rank 0
  Clock::time_point begin;
  Saved saved;

  bool leads() const { return ranks->rank() == 0; }
  std::launch policy() const {
    return options.in_background ? std::launch::async : std::launch::deferred;
  }

  Result<void> take_folder();
  Result<uint64_t> sum(uint64_t mine);
  Result<bool> everyone(bool mine);
  Result<void> make_room(uint64_t bytes);
  void copy_boxes();
  void write();
  void wait_for_own_part() const;
  Result<bool> own_part_is_done();
  Result<void> publish();
  Result<std::optional<Saved>> conclude();
  void drop();
};

Saver::Saver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Saver::~Saver() {
  impl_->wait_for_own_part();
  impl_->drop();
}

Result<std::unique_ptr<Saver>> Saver::open(collective::World& world, SaverOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->ranks = world.everyone("checkpoint");
  impl->ranks->set_timeout(impl->options.timeout);
  if (impl->leads()) {
    if (Result<void> taken = impl->take_folder(); !taken) {
      return fail(taken.error());
    }
  }
  if (Result<void> told = impl->ranks->barrier().wait(); !told) {
    return fail(told.error());
  }
  return std::unique_ptr<Saver>(new Saver(std::move(impl)));
}

Result<void> Saver::Impl::take_folder() {
  if (Result<void> made = make_folder(options.folder); !made) {
    return made;
  }
  Result<std::unique_ptr<FolderLock>> taken = FolderLock::take(options.folder);
  if (!taken) {
    return fail(taken.error());
  }
  lock = std::move(*taken);
  Result<std::vector<std::string>> removed = remove_leftovers(options.folder);
  if (!removed) {
    return fail(removed.error());
  }
  remarks = std::move(*removed);
  return {};
}

const std::vector<std::string>& Saver::remarks() const {
  return impl_->remarks;
}

Result<void> Saver::set_run(const std::string& run) {
  return impl_->lock == nullptr ? Result<void>() : impl_->lock->set_run(run);
}

Result<std::optional<Saved>> Saver::save(Manifest head, std::span<const StateBox> boxes) {
  Impl& impl = *impl_;
  BRIGADE_CHECK(!is_saving(), impl.head.counters.step, head.counters.step);
  impl.begin = Clock::now();
  impl.head = std::move(head);
  impl.boxes.assign(boxes.begin(), boxes.end());
  const Result<uint64_t> bytes = impl.sum(byte_count(boxes));
  if (!bytes) {
    return fail(bytes.error());
  }
  const int64_t step = impl.head.counters.step;
  impl.saved = Saved();
  impl.saved.step = step;
  impl.saved.path = step_path(impl.options.folder, step);
  impl.saved.bytes = *bytes;
  impl.phase = Impl::Phase::kWriting;
  if (impl.leads()) {
    if (Result<void> made = impl.make_room(*bytes); !made) {
      return fail(made.error());
    }
  }
  if (Result<void> told = impl.ranks->barrier().wait(); !told) {
    return fail(told.error());
  }
  if (impl.options.in_background) {
    impl.copy_boxes();
  }
  impl.write();
  if (!impl.options.in_background) {
    return finish();
  }
  impl.saved.stalled = Clock::now() - impl.begin;
  return std::nullopt;
}

Result<uint64_t> Saver::Impl::sum(uint64_t mine) {
  std::array<int64_t, 1> total = {static_cast<int64_t>(mine)};
  collective::Work work = ranks->all_reduce(
      {collective::bytes_of(std::span<int64_t>(total))}, DType::kInt64, collective::ReduceOp::kSum);
  if (Result<void> done = work.wait(); !done) {
    return fail(done.error());
  }
  return static_cast<uint64_t>(total[0]);
}

Result<bool> Saver::Impl::everyone(bool mine) {
  const Result<uint64_t> missing = sum(mine ? 0 : 1);
  return missing ? Result<bool>(*missing == 0) : fail(missing.error());
}

/// On rank 0: nothing is written unless all fits.
Result<void> Saver::Impl::make_room(uint64_t bytes) {
  const Result<uint64_t> free = free_bytes(options.folder);
  if (!free) {
    return fail(free.error());
  }
  const uint64_t needed = bytes + bytes / kBlockBytes * 16 + kSlackBytes;
  if (needed > *free) {
    return fail(ErrorCode::kIo,
                concat("no room for the checkpoint of step ",
                       head.counters.step,
                       ": it needs ",
                       needed,
                       " bytes, and ",
                       *free,
                       " are free in ",
                       options.folder,
                       "; nothing was written, and the checkpoints there are as they were"));
  }
  return make_staging(options.folder, head.counters.step);
}

void Saver::Impl::copy_boxes() {
  if (const size_t bytes = byte_count(boxes); bytes > copy_bytes) {
    copy = std::make_unique_for_overwrite<std::byte[]>(bytes);  // the stall is for one copy
    copy_bytes = bytes;
  }
  std::byte* to = copy.get();
  for (StateBox& box : boxes) {
    std::memcpy(to, box.bytes.data(), box.bytes.size());
    box.bytes = {to, box.bytes.size()};
    to += box.bytes.size();
  }
}

void Saver::Impl::write() {
  writing = std::async(policy(), [this]() -> Result<Manifest> {
    if (boxes.empty()) {
      return Manifest();
    }
    return write_shard(staging_path(options.folder, head.counters.step),
                       shard_name(ranks->rank()),
                       ranks->rank(),
                       boxes);
  });
}

bool Saver::is_saving() const {
  return impl_->phase != Impl::Phase::kIdle;
}

/// Takes the result of a writing that has ended.
Result<bool> Saver::Impl::own_part_is_done() {
  if (phase == Phase::kPublishing) {
    return !publishing.valid() || is_ready(publishing);
  }
  if (!record && is_ready(writing)) {
    Result<Manifest> written = writing.get();
    if (!written) {
      return fail(written.error());
    }
    record = std::move(*written);
  }
  return record.has_value();
}

Result<std::optional<Saved>> Saver::advance() {
  Impl& impl = *impl_;
  if (!is_saving()) {
    return std::nullopt;
  }
  // A failure does not wait for the others: they hear of it when this rank aborts.
  const Result<bool> all =
      impl.own_part_is_done().and_then([&](bool mine) { return impl.everyone(mine); });
  if (!all) {
    return fail(all.error());
  }
  if (!*all) {
    return std::nullopt;
  }
  if (impl.phase == Impl::Phase::kPublishing) {
    return impl.conclude();
  }
  if (Result<void> begun = impl.publish(); !begun) {
    return fail(begun.error());
  }
  return std::nullopt;
}

/// Every file is on the disk: rank 0 hears what they hold, and begins to publish.
Result<void> Saver::Impl::publish() {
  const Result<std::vector<std::string>> records =
      collective::gather_texts(*ranks, record->files.empty() ? std::string() : to_json(*record), 0);
  record.reset();
  if (!records) {
    return fail(records.error());
  }
  phase = Phase::kPublishing;
  if (leads()) {
    publishing = std::async(policy(), [this, texts = *records] {
      return commit(options.folder, head, texts, options.keep_latest_k);
    });
  }
  return {};
}

Result<std::optional<Saved>> Saver::Impl::conclude() {
  if (publishing.valid()) {
    Result<Committed> committed = publishing.get();
    if (!committed) {
      return fail(committed.error());
    }
    saved.purged = std::move(committed->purged);
    saved.remarks = std::move(committed->remarks);
  }
  // Nobody goes on as if it were there before it is.
  if (Result<void> told = ranks->barrier().wait(); !told) {
    return fail(told.error());
  }
  phase = Phase::kIdle;
  saved.took = Clock::now() - begin;
  return std::exchange(saved, {});
}

Result<std::optional<Saved>> Saver::finish() {
  Impl& impl = *impl_;
  while (is_saving()) {
    impl.wait_for_own_part();
    Result<std::optional<Saved>> done = advance();
    if (!done) {
      return done;
    }
    if (*done) {
      if (!impl.options.in_background) {
        (*done)->stalled = (*done)->took;
      }
      return done;
    }
  }
  return std::nullopt;
}

void Saver::Impl::wait_for_own_part() const {
  if (writing.valid()) {
    writing.wait();
  }
  if (publishing.valid()) {
    publishing.wait();
  }
}

void Saver::Impl::drop() {
  if (phase != Phase::kIdle && leads()) {
    drop_staging(options.folder, head.counters.step);
  }
}

}  // namespace brigade::checkpoint
