// SPDX-License-Identifier: Apache-2.0
/// Saver: makes checkpoints, each a transaction of all ranks. docs/CHECKPOINT_FORMAT.md says in
/// which order.
///
///   auto saver = value_or_throw(Saver::open(world, {.folder = "out/checkpoint"}));
///   value_or_throw(saver->save(head, boxes_that_this_rank_writes));
///   ... at the end of every step, while saver->is_saving():
///   std::optional<Saved> done = value_or_throw(saver->advance());
///   ... before the world is closed:
///   value_or_throw(saver->finish());
///
/// In the background (SaverOptions::in_background) save() copies the boxes and returns; a thread
/// writes them. Threads of ours touch files alone: what ranks have to agree on happens in
/// advance(), on the caller's thread. So a checkpoint appears at the end of a later step, or in
/// finish().
///
/// Collective:    open, save, advance, finish, on all ranks of the world in the same order.
/// Errors:        kIo on the rank whose file failed, at once or at the next call; the others are
///                told when that rank aborts the world. After one the checkpoint that was being
///                saved is gone, and those before it are as they were. The communicator's.
/// Memory:        the header of one file; in the background a copy of the boxes as well.
/// Thread safety: belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/shard_writer.h"

namespace brigade::checkpoint {

struct SaverOptions {
  std::string folder;         ///< of all checkpoints of the run
  int64_t keep_latest_k = 0;  ///< of this run; 0: all
  bool in_background = false;
  /// For files of other ranks; the world's timeout is for messages.
  std::chrono::seconds timeout{3600};
};

struct Saved {
  int64_t step = 0;
  std::string path;
  uint64_t bytes = 0;                       ///< of all files
  std::chrono::duration<double> stalled{};  ///< how long save() kept its caller
  std::chrono::duration<double> took{};     ///< from save() until the checkpoint was there
  std::vector<int64_t> purged;              ///< steps; known to rank 0
  std::vector<std::string> remarks;         ///< what could not be removed; known to rank 0
};

class Saver {
 public:
  /// Takes the folder for this run (folder_lock.h) and clears what runs that died left there.
  /// Errors: kIo where it cannot be made, written or is another run's.
  static Result<std::unique_ptr<Saver>> open(collective::World& world, SaverOptions options);
  /// Waits for the thread. A save that is not finished never happened.
  ~Saver();

  /// What open() removed, a line each; known to rank 0.
  const std::vector<std::string>& remarks() const;

  /// Writes the run that saves here from now on into the lock file. Local.
  Result<void> set_run(const std::string& run);

  /// Saves what `head` says, with files and tensors of all ranks' `boxes`. Needs !is_saving(). In
  /// the background it returns nothing, else what was saved.
  Result<std::optional<Saved>> save(Manifest head, std::span<const StateBox> boxes);

  bool is_saving() const;
  /// Goes on with a save as far as that needs no waiting; what it saved, when that is done.
  Result<std::optional<Saved>> advance();
  /// Waits until it is.
  Result<std::optional<Saved>> finish();

 private:
  struct Impl;
  explicit Saver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::checkpoint
