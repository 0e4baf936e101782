// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/outbox.h"

#include <algorithm>
#include <utility>

namespace brigade::transport {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kBatchPieces = 60;  // the system calls take 64

}  // namespace

Outbox::Parcel Outbox::parcel_of(Transfer& send) {
  Parcel parcel;
  parcel.header =
      encode({FrameType::kMessage, send.key, send.fingerprint, static_cast<uint64_t>(send.bytes)});
  parcel.payload = send.source;
  parcel.bytes = kHeaderBytes + static_cast<size_t>(send.bytes);
  parcel.transfer = &send;
  return parcel;
}

void Outbox::own(Parcel& parcel) const {
  parcel.owned = CountedBytes(count_, parcel.bytes - kHeaderBytes);
  copy(parcel.payload, {parcel.owned.span()});
  parcel.payload = {parcel.owned.span()};
  parcel.transfer = nullptr;
}

void Outbox::post(Transfer& send) {
  Parcel parcel = parcel_of(send);
  if (send.bytes <= kEagerBytes) {
    urgent_.push_back(std::move(parcel));
    return;
  }
  const auto ready = readiness_.find(send.key);
  if (ready == readiness_.end()) {
    unready_[send.key].push_back(std::move(parcel));
    return;
  }
  if (--ready->second == 0) {
    readiness_.erase(ready);
  }
  bulk_.push_back(std::move(parcel));
}

void Outbox::post(const Frame& control, const std::vector<std::byte>& payload) {
  Parcel parcel;
  Frame frame = control;
  frame.length = payload.size();
  parcel.header = encode(frame);
  parcel.bytes = kHeaderBytes + payload.size();
  if (!payload.empty()) {
    parcel.owned = CountedBytes(count_, payload.size());
    copy({ConstSpan(payload)}, {parcel.owned.span()});
    parcel.payload = {parcel.owned.span()};
  }
  urgent_.push_back(std::move(parcel));
}

void Outbox::ready(const Key& key) {
  const auto waiting = unready_.find(key);
  if (waiting == unready_.end()) {
    ++readiness_[key];
    return;
  }
  bulk_.push_back(std::move(waiting->second.front()));
  waiting->second.pop_front();
  if (waiting->second.empty()) {
    unready_.erase(waiting);
  }
}

void Outbox::load(bool urgent_only) {
  const auto take_from = [&](std::deque<Parcel>& queue) {
    while (!queue.empty() && flying_bytes_ < kBatchBytes && flying_.size() < kBatchPieces) {
      flying_bytes_ += queue.front().bytes;
      flying_.push_back(std::move(queue.front()));
      queue.pop_front();
    }
  };
  take_from(urgent_);
  if (!urgent_only) {
    take_from(bulk_);
  }
}

void Outbox::gather(ConstSpans& pieces, bool urgent_only) {
  pieces.clear();
  load(urgent_only);
  size_t skip = begun_;
  const auto add = [&](ConstSpan piece) {
    const size_t skipped = std::min(skip, piece.size());
    skip -= skipped;
    if (skipped < piece.size() && pieces.size() < kBatchPieces) {
      pieces.push_back(piece.subspan(skipped));
    }
  };
  for (const Parcel& parcel : flying_) {
    add(parcel.header);
    for (const ConstSpan piece : parcel.payload) {
      add(piece);
    }
    if (pieces.size() >= kBatchPieces) {
      return;
    }
  }
}

void Outbox::sent(size_t bytes, std::vector<Transfer*>& done) {
  begun_ += bytes;
  while (!flying_.empty() && begun_ >= flying_.front().bytes) {
    begun_ -= flying_.front().bytes;
    flying_bytes_ -= flying_.front().bytes;
    if (flying_.front().transfer != nullptr) {
      done.push_back(flying_.front().transfer);
    }
    flying_.pop_front();
  }
}

Outbox::Parcel* Outbox::find(const Transfer& send) {
  for (std::deque<Parcel>* queue : {&flying_, &urgent_, &bulk_}) {
    for (Parcel& parcel : *queue) {
      if (parcel.transfer == &send) {
        return &parcel;
      }
    }
  }
  const auto waiting = unready_.find(send.key);
  if (waiting != unready_.end()) {
    for (Parcel& parcel : waiting->second) {
      if (parcel.transfer == &send) {
        return &parcel;
      }
    }
  }
  return nullptr;
}

bool Outbox::detach(Transfer& send) {
  Parcel* parcel = find(send);
  if (parcel == nullptr) {
    return false;
  }
  own(*parcel);
  return true;
}

void Outbox::withdraw(Transfer& send) {
  if (!flying_.empty() && begun_ > 0 && flying_.front().transfer == &send) {
    own(flying_.front());
    return;
  }
  const auto is_it = [&](const Parcel& parcel) { return parcel.transfer == &send; };
  for (const Parcel& parcel : flying_) {
    flying_bytes_ -= is_it(parcel) ? parcel.bytes : 0;
  }
  for (std::deque<Parcel>* queue : {&flying_, &urgent_, &bulk_}) {
    std::erase_if(*queue, is_it);
  }
  const auto waiting = unready_.find(send.key);
  if (waiting != unready_.end() && std::erase_if(waiting->second, is_it) > 0 &&
      waiting->second.empty()) {
    unready_.erase(waiting);
  }
}

void Outbox::clear() {
  while (flying_.size() > (begun_ > 0 ? 1U : 0U)) {
    flying_bytes_ -= flying_.back().bytes;
    flying_.pop_back();
  }
  urgent_.clear();
  bulk_.clear();
  unready_.clear();
  readiness_.clear();
}

}  // namespace brigade::transport
