// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/endpoint.h"

#include <utility>

#include "parallel/base/check.h"

namespace brigade::transport {

Transfer Transfer::send(int64_t peer, Key key, Fingerprint print, ConstSpans from, Completion& to) {
  Transfer transfer;
  transfer.sending = true;
  transfer.peer = peer;
  transfer.key = key;
  transfer.fingerprint = print;
  transfer.bytes = length_of(from);
  transfer.source = std::move(from);
  transfer.completion = &to;
  BRIGADE_CHECK(transfer.bytes <= kMaxMessageBytes, transfer.bytes);
  return transfer;
}

Transfer Transfer::receive(int64_t peer, Key key, Fingerprint print, Spans into, Completion& to) {
  Transfer transfer;
  transfer.peer = peer;
  transfer.key = key;
  transfer.fingerprint = print;
  transfer.bytes = length_of(into);
  transfer.target = std::move(into);
  transfer.completion = &to;
  BRIGADE_CHECK(transfer.bytes <= kMaxMessageBytes, transfer.bytes);
  return transfer;
}

Transfer::Transfer(Transfer&& other) noexcept
    : sending(other.sending),
      peer(other.peer),
      key(other.key),
      fingerprint(other.fingerprint),
      source(std::move(other.source)),
      target(std::move(other.target)),
      bytes(other.bytes),
      completion(other.completion) {}

Error as_seen_by_others(Error error) {
  const bool shared = error.code == ErrorCode::kMismatch || error.code == ErrorCode::kPeerLost ||
                      error.code == ErrorCode::kTimeout;
  if (!shared) {
    error.code = ErrorCode::kAborted;
  }
  return error;
}

}  // namespace brigade::transport
