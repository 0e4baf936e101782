// SPDX-License-Identifier: Apache-2.0
// Tables of torchtitan v0.2.2 of which nothing works yet: known, so that a stock recipe is told
// what it asks for.
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

using Strings = std::vector<std::string>;

/// Makes later() rows of one table.
class LaterTable {
 public:
  LaterTable(std::string table, std::string reason, std::string switch_name)
      : table_(std::move(table)), reason_(std::move(reason)), switch_(std::move(switch_name)) {}

  Key flag(std::string name, bool value, std::string help) const {
    return row(std::move(name), Kind::kBool, value, std::move(help));
  }
  Key integer(std::string name, int64_t value, std::string help) const {
    return row(std::move(name), Kind::kInteger, value, std::move(help));
  }
  Key number(std::string name, double value, std::string help) const {
    return row(std::move(name), Kind::kNumber, value, std::move(help));
  }
  Key text(std::string name, std::string value, std::string help) const {
    return row(std::move(name), Kind::kString, std::move(value), std::move(help));
  }
  Key optional_text(std::string name, std::string help) const {
    return row(std::move(name), Kind::kString, std::nullopt, std::move(help));
  }
  Key list(std::string name, Strings value, std::string help) const {
    return row(std::move(name), Kind::kStringList, std::move(value), std::move(help));
  }

 private:
  Key row(std::string name, Kind kind, std::optional<Value> value, std::string help) const {
    const bool is_switch = table_ + '.' + name == switch_;
    Key key =
        later(table_, std::move(name), kind, std::move(value), "torchtitan: " + help, reason_);
    return is_switch ? std::move(key) : std::move(key).when(switch_);
  }

  std::string table_;
  std::string reason_;
  std::string switch_;
};

std::vector<Key> more_profiling_keys() {
  const LaterTable trace(
      "profiling", "recording is always on and needs no warm-up", "profiling.enable_profiling");
  const LaterTable memory(
      "profiling", "there are no memory snapshots", "profiling.enable_memory_snapshot");
  return {
      trace.integer("profiler_warmup", 3, "steps not yet recorded"),
      memory.flag("enable_memory_snapshot", false, "dumps of the allocator"),
      memory.text("save_memory_snapshot_folder", "memory_snapshot", "their folder"),
  };
}

std::vector<Key> compile_keys() {
  const LaterTable table("compile", "there is no graph compiler here", "compile.enable");
  return {
      table.flag("enable", false, "torch.compile"),
      table.list("components", {"model", "loss"}, "what to compile"),
      table.text("backend", "inductor", "by what"),
  };
}

std::vector<Key> quantize_keys() {
  const std::string why = "products are float32";
  const LaterTable float8("quantize.linear.float8", why, "model.converters");
  const LaterTable mx("quantize.linear.mx", why, "model.converters");
  const LaterTable grouped_float8("quantize.grouped_mm.float8", why, "model.converters");
  const LaterTable grouped_mx("quantize.grouped_mm.mx", why, "model.converters");
  return {
      float8.flag("enable_fsdp_float8_all_gather", false, "gather in float8"),
      float8.flag("precompute_float8_dynamic_scale_for_fsdp", false, "scales at once"),
      float8.optional_text("recipe_name", "named recipe"),
      float8.list("filter_fqns", {}, "modules to leave alone"),
      float8.flag("emulate", false, "without hardware"),
      mx.text("mxfp8_dim1_cast_kernel_choice", "triton", "cast kernel"),
      mx.text("recipe_name", "mxfp8_cublas", "named recipe"),
      mx.list("filter_fqns", {"output"}, "modules to leave alone"),
      grouped_float8.list("fqns", {}, "modules"),
      grouped_mx.text("recipe_name", "mxfp8", "named recipe"),
      grouped_mx.list("fqns", {}, "modules"),
  };
}

std::vector<Key> remaining_keys() {
  const LaterTable memory(
      "memory_estimation", "memory is not estimated", "memory_estimation.enable");
  const LaterTable faults(
      "fault_tolerance", "a failed rank ends the run in this version", "fault_tolerance.enable");
  const LaterTable import("experimental", "there is no Python here", "experimental.custom_import");
  const LaterTable arguments(
      "experimental", "there is no Python here", "experimental.custom_args_module");
  return {
      memory.flag("enable", false, "estimate memory without running"),
      memory.flag("disable_fake_mode", false, "with real tensors"),
      faults.flag("enable", false, "torchft"),
      faults.integer("replica_id", 0, "which replica"),
      faults.integer("group_size", 0, "how many replicas"),
      faults.integer("min_replica_size", 1, "how many at least"),
      faults.text("process_group", "gloo", "between replicas"),
      faults.integer("process_group_timeout_ms", 10000, "between replicas"),
      faults.optional_text("semi_sync_method", "local_sgd or diloco"),
      import.text("custom_import", "", "a Python module to import"),
      arguments.text("custom_args_module", "", "a Python module with further keys"),
  };
}

}  // namespace

std::vector<Key> later_keys() {
  std::vector<Key> rows = more_profiling_keys();
  for (auto part : {compile_keys, quantize_keys, remaining_keys}) {
    std::vector<Key> more = part();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace brigade::config
