// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/result.h"

#include "parallel/base/check.h"

namespace brigade {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage: return "Usage";
    case ErrorCode::kIo: return "Io";
    case ErrorCode::kData: return "Data";
    case ErrorCode::kType: return "Type";
    case ErrorCode::kMismatch: return "Mismatch";
    case ErrorCode::kPeerLost: return "PeerLost";
    case ErrorCode::kTimeout: return "Timeout";
    case ErrorCode::kAborted: return "Aborted";
    case ErrorCode::kNonFinite: return "NonFinite";
    case ErrorCode::kInterrupted: return "Interrupted";
    case ErrorCode::kInternal: return "Internal";
  }
  BRIGADE_CHECK(false, "unknown error code", static_cast<int>(code));
}

}  // namespace brigade
