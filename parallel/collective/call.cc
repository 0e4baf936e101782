// SPDX-License-Identifier: Apache-2.0
#include "parallel/collective/call.h"

#include <string_view>

#include "parallel/base/text.h"

namespace brigade::collective {
namespace {

std::string_view name_of(uint8_t call) {
  switch (static_cast<Call>(call)) {
    case Call::kBarrier: return "barrier";
    case Call::kAllReduce: return "all_reduce";
    case Call::kReduceScatter: return "reduce_scatter";
    case Call::kAllGather: return "all_gather";
    case Call::kBroadcast: return "broadcast";
    case Call::kAllToAll: return "all_to_all";
    case Call::kMessage: return "message";
  }
  return "an unknown call";  // it came from a peer
}

std::string_view suffix_of(uint8_t reduction) {
  switch (static_cast<ReduceOp>(reduction)) {
    case ReduceOp::kSum: return "";
    case ReduceOp::kMax: return " (max)";
    case ReduceOp::kMin: return " (min)";
  }
  return " (an unknown reduction)";
}

}  // namespace

transport::Fingerprint reduction_print(
    Call call, DType dtype, ReduceOp op, int64_t bytes, uint64_t layout) {
  return {static_cast<uint8_t>(call),
          static_cast<uint8_t>(op),
          static_cast<uint8_t>(dtype),
          -1,
          static_cast<uint64_t>(bytes),
          layout};
}

transport::Fingerprint copy_print(Call call, int64_t bytes, uint64_t layout, int root) {
  return {static_cast<uint8_t>(call), 0, 0, root, static_cast<uint64_t>(bytes), layout};
}

uint64_t layout_of(const std::vector<int64_t>& lengths) {
  uint64_t hash = 14695981039346656037ULL;
  for (const int64_t length : lengths) {
    hash = (hash ^ static_cast<uint64_t>(length)) * 1099511628211ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

std::string describe(const transport::Fingerprint& print) {
  const std::string_view name = name_of(print.operation);
  switch (static_cast<Call>(print.operation)) {
    case Call::kBarrier: return std::string(name);
    case Call::kAllReduce:
    case Call::kReduceScatter:
      if (print.dtype <= static_cast<uint8_t>(DType::kBool)) {
        const DType dtype = static_cast<DType>(print.dtype);
        return concat(name,
                      ' ',
                      dtype,
                      '[',
                      print.bytes / static_cast<uint64_t>(size_of(dtype)),
                      ']',
                      suffix_of(print.reduction));
      }
      break;
    case Call::kBroadcast: return concat(name, " of ", print.bytes, " B from member ", print.root);
    case Call::kAllGather:
    case Call::kAllToAll:
    case Call::kMessage: break;
  }
  return concat(name, " of ", print.bytes, " B");
}

}  // namespace brigade::collective
