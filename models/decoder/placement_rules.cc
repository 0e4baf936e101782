// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/placement_rules.h"

namespace brigade::decoder {

zero::AxisRules tensor_parallel_rules() {
  return {{"vocab", {"tp"}}, {"heads", {"tp"}}, {"kv_heads", {"tp"}}, {"mlp", {"tp"}}};
}

zero::AxisRules sequence_parallel_rules() {
  return {{"norm", {"tp"}}, {"positions", {"tp"}}};
}

}  // namespace brigade::decoder
