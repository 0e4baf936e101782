// SPDX-License-Identifier: Apache-2.0
/// Study: what is to be measured, as a TOML file says it: a base recipe, a grid, peers.
///
///   Result<Study> study = load_study("configs/studies/two_ranks.toml");
///
///   [study]   name, base (a recipe, relative to this file), scaling = "strong", "weak" or
///             "memory_constrained", output_folder, repeats, steps (kept), warmup_steps (run before
///             them), seed, oversubscribe, timeout_seconds (of one run), batch_per_data_rank
///             (weak), memory_per_rank (memory_constrained; bytes or "2 GiB"), settings
///   [grid]    ranks, threads, mesh, zero_stage, schedule, microbatch_size, model_flavor: lists, of
///             which every combination is a point. What is left out is the base's. mesh: see
///             mesh_choice.h; rules hold for each number of ranks, sizes for their own; or a table
///             by number of ranks: mesh = { 2 = ["dp"], 4 = ["dp2 x tp2"] }
///   [[peer]]  name, command (peer_command.h), series: the meshes ("dp") or series ("tiny dp zero
///             0") beside which it is measured; left out: all
///
/// Plain values; thread safety: that of any value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/scaling/results.h"
#include "trainer/study/mesh_choice.h"

namespace brigade::study {

/// An empty list: the base recipe's own.
struct Axes {
  std::vector<int64_t> ranks = {1};
  std::vector<int64_t> threads = {1};
  std::map<int64_t, std::vector<MeshChoice>> meshes = {};  ///< by each of `ranks`
  std::vector<int64_t> zero_stages = {};
  std::vector<std::string> schedules = {};
  std::vector<int64_t> microbatch_sizes = {};
  std::vector<std::string> flavors = {};
};

struct Peer {
  std::string name = "";
  std::string command = "";
  std::vector<std::string> series = {};
};

struct Study {
  std::string path = "";
  std::string name = "";
  std::string base = "";  ///< path of the recipe, as this process can open it
  scaling::Scaling scaling = scaling::Scaling::kStrong;
  std::string output_folder = "";  ///< "./outputs/scale_<name>" when left out
  int64_t repeats = 3;
  int64_t steps = 10;
  int64_t warmup_steps = 2;
  int64_t seed = 42;
  bool oversubscribe = false;
  int64_t timeout_seconds = 300;
  int64_t batch_per_data_rank = 0;         ///< of weak scaling; 0: the base's global batch
  int64_t memory_per_rank = 0;             ///< bytes, of memory-constrained scaling
  std::vector<std::string> settings = {};  ///< "section.key=value", of every point
  Axes grid = {};
  std::vector<Peer> peers = {};
};

/// Errors: kIo when the file cannot be read; kUsage with every problem at once, each with its line,
///         what was found, what is accepted and the nearest name: unknown keys, wrong types, and
///         keys that contradict one another.
Result<Study> load_study(const std::string& path);

/// The same from a text in memory; `path` stands for the file in messages, and `base` is relative
/// to its folder.
Result<Study> read_study(std::string_view text, const std::string& path);

/// "2 GiB", "512 MiB", "1048576" -> bytes.
/// Errors: kUsage saying what is accepted.
Result<int64_t> parse_bytes(std::string_view text);

}  // namespace brigade::study
