// SPDX-License-Identifier: Apache-2.0
/// In-process links: ranks that are threads of one process. A message is one copy, straight from
/// the sender's memory to the receiver's, made by whichever of the two posted last.
///
///   std::vector<std::unique_ptr<Endpoint>> endpoints = in_process_endpoints(4);
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/transport/endpoint.h"

namespace brigade::transport {

/// Element r is rank r's.
std::vector<std::unique_ptr<Endpoint>> in_process_endpoints(int64_t size);

}  // namespace brigade::transport
