// SPDX-License-Identifier: Apache-2.0
/// Program: one rank's view of a tensor program - mesh, communicators, ledger, memoised plans.
///
///   Program program(mesh, rank, [&](const auto& members, const auto& name) {
///     return world.group(members, name);
///   });
///   const sharding::TensorType type{DType::kFloat32, {8, 4}, PartitionSpec({{"data"}, {}})};
///   ShardedTensor x(program, type, local_rows);
///
/// No globals: tests run many worlds in one process.
///
/// Lifetime:      everything that holds a Program& - tensors, autograd nodes - must die before it.
/// Thread safety: belongs to one thread, its rank's; CPU backward runs on the thread that called
/// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "parallel/collective/communicator.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"
#include "parallel/tensor/ledger.h"
#include "parallel/tensor/matmul.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/planned.h"
#include "parallel/tensor/trace.h"
#include "parallel/tensor/type_record.h"

namespace brigade::tensor {

class ProductScope;

class Program {
 public:
  /// Makes the communicator of some ranks of the mesh, given in group order; called once per set of
  /// axes.
  using GroupMaker = std::function<std::unique_ptr<collective::Communicator>(
      const std::vector<int64_t>& mesh_ranks, const std::string& name)>;

  Program(mesh::Mesh mesh, int64_t rank, GroupMaker make_group, MatmulTable matmul = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const mesh::Mesh& mesh() const { return mesh_; }
  int64_t rank() const { return rank_; }
  const MatmulTable& matmul() const { return matmul_; }
  Ledger& ledger() { return ledger_; }
  Trace& trace() { return trace_; }
  const Ledger& ledger() const { return ledger_; }
  /// Where products are kept or reused now (kept_products.h); null outside of such a scope.
  ProductScope* products() const { return products_; }
  void set_products(ProductScope* scope) { products_ = scope; }

  /// This rank's group along `axes`, members ordered by their flattened index, first axis major.
  /// Made at first use, which every member reaches at the same point of the program.
  collective::Communicator& group(const mesh::AxisNames& axes);

  /// The deadline of operations from now on, in all groups, also those made later.
  void set_timeout(std::chrono::milliseconds timeout);

  /// The one record of a type, made at its first use.
  const TypeRecord& record(const sharding::TensorType& type);

  /// The plan under `key`, made by `make` the first time; a step after the first plans nothing. A
  /// failed plan is thrown as an Exception and not kept. `make`: () -> Result<sharding::OpPlan>.
  template <class Make>
  const Planned& plan(const PlanKey& key, const Make& make) {
    const auto known = plans_.find(key);
    const Planned& planned =
        known != plans_.end() ? *known->second : keep(key, value_or_throw(make()));
    trace_.note(planned.traced);  // every op passes here
    return planned;
  }
  int64_t plans_made() const { return static_cast<int64_t>(plans_.size()); }

 private:
  template <class Value>
  struct Hash {
    size_t operator()(const Value& value) const { return value.hash(); }
  };

  const Planned& keep(const PlanKey& key, const sharding::OpPlan& plan);

  mesh::Mesh mesh_;
  int64_t rank_;
  GroupMaker make_group_;
  MatmulTable matmul_;
  Ledger ledger_;
  Trace trace_;
  ProductScope* products_ = nullptr;
  std::optional<std::chrono::milliseconds> timeout_;
  std::map<mesh::AxisNames, std::unique_ptr<collective::Communicator>> groups_;
  std::unordered_map<sharding::TensorType, TypeRecord, Hash<sharding::TensorType>> records_;
  std::unordered_map<PlanKey, std::unique_ptr<Planned>, Hash<PlanKey>> plans_;
};

}  // namespace brigade::tensor
