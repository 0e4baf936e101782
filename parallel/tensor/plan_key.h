// SPDX-License-Identifier: Apache-2.0
/// PlanKey: what a plan depends on - op, operand types, attributes - as a few words.
///
///   program.plan(PlanKey("einsum", a, b, equation, out), [&] { return plan_einsum(...); });
///
/// Types and specs count by the address of their interned value, so two keys are equal exactly if
/// everything they were made of is; a text or a list counts with its length. Only meaningful
/// within one program.
///
/// Cost: tens of nanoseconds, no allocation for keys of up to kInline words.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <c10/util/SmallVector.h>

#include "parallel/sharding/partition_spec.h"
#include "parallel/tensor/sharded_tensor.h"
#include "parallel/tensor/type_record.h"

namespace brigade::tensor {

class PlanKey {
 public:
  template <class... Fields>
  explicit PlanKey(std::string_view op, const Fields&... fields) : op_(op) {
    add(op);
    (add(fields), ...);
  }

  /// Borrowed from the constructor's argument.
  std::string_view op() const { return op_; }
  /// The operands' types, in the order given: that of the plan's inputs.
  std::span<const TypeRecord* const> operands() const {
    return {operands_.data(), operands_.size()};
  }
  uint64_t hash() const;
  bool operator==(const PlanKey& other) const { return words_ == other.words_; }

 private:
  static constexpr unsigned kInline = 24;
  static constexpr unsigned kInlineOperands = 4;

  void add(const ShardedTensor& operand) {
    words_.push_back(reinterpret_cast<uintptr_t>(&operand.record()));
    operands_.push_back(&operand.record());
  }
  void add(std::span<const ShardedTensor> operands) {
    words_.push_back(operands.size());
    for (const ShardedTensor& operand : operands) {
      add(operand);
    }
  }
  template <std::integral Number>
  void add(Number number) {
    words_.push_back(static_cast<uint64_t>(number));
  }
  void add(double number) { words_.push_back(std::bit_cast<uint64_t>(number)); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void add(Enum value) { words_.push_back(static_cast<uint64_t>(value)); }
  void add(std::span<const int64_t> numbers) {
    words_.push_back(numbers.size());
    words_.append(numbers.begin(), numbers.end());
  }
  void add(const sharding::PartitionSpec& spec) { words_.push_back(spec.hash()); }
  void add(const std::optional<sharding::PartitionSpec>& spec) {
    words_.push_back(spec ? spec->hash() : 0);
  }
  void add(std::string_view text);

  std::string_view op_;
  c10::SmallVector<const TypeRecord*, kInlineOperands> operands_;
  c10::SmallVector<uint64_t, kInline> words_;
};

}  // namespace brigade::tensor
