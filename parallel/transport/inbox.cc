// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/inbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::transport {
namespace {

constexpr size_t kBuffers = 60;
constexpr size_t kWasteBytes = 65536;

/// Compares; notes on the receive what was found instead.
bool fits(const Frame& frame, Transfer& receive) {
  if (frame.fingerprint == receive.fingerprint &&
      frame.length == static_cast<uint64_t>(receive.bytes)) {
    return true;
  }
  receive.found = frame.fingerprint;
  receive.found_bytes = static_cast<int64_t>(frame.length);
  return false;
}

}  // namespace

Inbox::Early* Inbox::unclaimed(const Key& key) {
  const auto queue = earlies_.find(key);
  if (queue == earlies_.end()) {
    return nullptr;
  }
  for (const std::unique_ptr<Early>& early : queue->second) {
    if (early->claimed == nullptr) {
      return early.get();
    }
  }
  return nullptr;
}

void Inbox::forget(const Early& early) {
  const auto queue = earlies_.find(early.frame.key);
  std::erase_if(queue->second,
                [&](const std::unique_ptr<Early>& other) { return other.get() == &early; });
  if (queue->second.empty()) {
    earlies_.erase(queue);
  }
}

bool Inbox::post(Transfer& receive, std::vector<Arrival>& arrivals) {
  Early* early = unclaimed(receive.key);
  if (early == nullptr) {
    receives_[receive.key].push_back(&receive);
    return receive.bytes > kEagerBytes;
  }
  if (!fits(early->frame, receive)) {
    // Left where it is, claimed by nobody: the world is about to end.
    arrivals.push_back({&receive, Transfer::State::kMismatch});
  } else if (early->complete) {
    copy({early->bytes.span()}, receive.target);
    arrivals.push_back({&receive, Transfer::State::kDone});
    forget(*early);
  } else {
    early->claimed = &receive;
  }
  return false;
}

void Inbox::prepare(Spans& buffers) {
  buffers.clear();
  if (!in_payload_) {
    buffers.push_back(stage_.subspan(staged_));
    return;
  }
  if (pieces_.empty()) {
    if (waste_.span().empty()) {
      waste_ = CountedBytes(count_, kWasteBytes);
    }
    buffers.push_back(waste_.span().first(std::min(missing_, kWasteBytes)));
    return;
  }
  size_t filled = piece_filled_;
  for (size_t i = piece_; i < pieces_.size(); ++i) {
    if (buffers.size() == kBuffers) {
      return;
    }
    buffers.push_back(pieces_[i].subspan(filled));
    filled = 0;
  }
  buffers.push_back(stage_.first(kTailBytes));
}

void Inbox::skip_placed(size_t bytes) {
  missing_ -= bytes;
  while (!pieces_.empty() && bytes > 0) {
    const size_t step = std::min(bytes, pieces_[piece_].size() - piece_filled_);
    piece_filled_ += step;
    bytes -= step;
    if (piece_filled_ == pieces_[piece_].size()) {
      ++piece_;
      piece_filled_ = 0;
    }
  }
}

void Inbox::place(ConstSpan bytes) {
  if (!pieces_.empty()) {
    size_t filled = piece_filled_;
    for (size_t i = piece_, used = 0; used < bytes.size(); ++i) {
      const size_t step = std::min(bytes.size() - used, pieces_[i].size() - filled);
      std::memcpy(pieces_[i].data() + filled, bytes.data() + used, step);
      used += step;
      filled = 0;
    }
  }
  skip_placed(bytes.size());
}

Result<void> Inbox::take(size_t bytes,
                         std::vector<Arrival>& arrivals,
                         std::vector<Control>& controls) {
  if (in_payload_) {
    const size_t placed = std::min(bytes, missing_);
    skip_placed(placed);
    staged_ = bytes - placed;
  } else {
    staged_ += bytes;
  }
  size_t used = 0;
  for (;;) {
    if (in_payload_) {
      const size_t step = std::min(missing_, staged_ - used);
      place(ConstSpan(stage_).subspan(used, step));
      used += step;
      if (missing_ > 0) {
        break;
      }
      finish(arrivals, controls);
    }
    if (staged_ - used < kHeaderBytes) {
      break;
    }
    Result<Frame> frame = decode(ConstSpan(stage_).subspan(used).first<kHeaderBytes>());
    if (!frame) {
      return fail(frame.error());
    }
    used += kHeaderBytes;
    if (Result<void> begun = begin(*frame, arrivals); !begun) {
      return begun;
    }
  }
  staged_ -= used;
  std::memmove(stage_.data(), stage_.data() + used, staged_);
  return {};
}

Result<void> Inbox::begin(const Frame& frame, std::vector<Arrival>& arrivals) {
  in_payload_ = true;
  frame_ = frame;
  missing_ = frame.length;
  pieces_.clear();
  piece_ = 0;
  piece_filled_ = 0;
  target_ = nullptr;
  early_ = nullptr;
  if (frame.type == FrameType::kMessage) {
    return begin_message(frame, arrivals);
  }
  control_.assign(missing_, std::byte{0});
  pieces_ = {Span(control_)};
  return {};
}

Result<void> Inbox::begin_message(const Frame& frame, std::vector<Arrival>& arrivals) {
  const auto queue = receives_.find(frame.key);
  if (queue == receives_.end()) {
    if (frame.length > static_cast<uint64_t>(kEagerBytes)) {
      return fail(ErrorCode::kData,
                  concat("a message of ", frame.length, " bytes came before it was asked for"));
    }
    auto early = std::make_unique<Early>();
    early->frame = frame;
    early->bytes = CountedBytes(count_, missing_);
    early_ = early.get();
    pieces_ = {early->bytes.span()};
    earlies_[frame.key].push_back(std::move(early));
    return {};
  }
  Transfer& receive = *queue->second.front();
  queue->second.pop_front();
  if (queue->second.empty()) {
    receives_.erase(queue);
  }
  if (!fits(frame, receive)) {
    arrivals.push_back({&receive, Transfer::State::kMismatch});
    return {};
  }
  target_ = &receive;
  for (const Span piece : receive.target) {
    if (!piece.empty()) {
      pieces_.push_back(piece);
    }
  }
  return {};
}

void Inbox::finish(std::vector<Arrival>& arrivals, std::vector<Control>& controls) {
  in_payload_ = false;
  pieces_.clear();
  if (frame_.type != FrameType::kMessage) {
    controls.push_back({frame_, std::move(control_)});
    control_.clear();
  } else if (target_ != nullptr) {
    arrivals.push_back({target_, Transfer::State::kDone});
    target_ = nullptr;
  } else if (early_ != nullptr) {
    finish_early(arrivals);
  }
}

void Inbox::finish_early(std::vector<Arrival>& arrivals) {
  early_->complete = true;
  if (early_->claimed != nullptr) {
    copy({early_->bytes.span()}, early_->claimed->target);
    arrivals.push_back({early_->claimed, Transfer::State::kDone});
    forget(*early_);
  }
  early_ = nullptr;
}

void Inbox::withdraw(Transfer& receive) {
  const auto queue = receives_.find(receive.key);
  if (queue != receives_.end() && std::erase(queue->second, &receive) > 0 &&
      queue->second.empty()) {
    receives_.erase(queue);
  }
  if (target_ == &receive) {
    target_ = nullptr;
    pieces_.clear();
  }
  if (early_ != nullptr && early_->claimed == &receive) {
    early_->claimed = nullptr;
  }
}

}  // namespace brigade::transport
