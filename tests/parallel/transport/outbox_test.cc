// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/outbox.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::transport {
namespace {

class OutboxTest : public ::testing::Test {
 protected:
  Transfer& send(uint32_t part, size_t bytes) {
    buffers_.push_back(std::make_unique<std::vector<std::byte>>(bytes, std::byte{1}));
    transfers_.push_back(std::make_unique<Transfer>(
        Transfer::send(1, {1, 2, part, 0}, {}, {ConstSpan(*buffers_.back())}, completion_)));
    outbox_.post(*transfers_.back());
    return *transfers_.back();
  }
  /// Writes everything that may go, `step` bytes at a time; returns the parts in their order.
  std::vector<uint32_t> write_all(size_t step) {
    std::vector<std::byte> stream;
    ConstSpans pieces;
    std::vector<Transfer*> done;
    for (outbox_.gather(pieces, false); !pieces.empty(); outbox_.gather(pieces, false)) {
      size_t left = step;
      for (const ConstSpan piece : pieces) {
        const size_t take = std::min(left, piece.size());
        stream.insert(stream.end(), piece.begin(), piece.begin() + static_cast<int64_t>(take));
        left -= take;
      }
      outbox_.sent(step - left, done);
    }
    done_ = done;
    std::vector<uint32_t> parts;
    for (size_t at = 0; at < stream.size();) {
      const Frame frame = *decode(ConstSpan(stream).subspan(at).first<kHeaderBytes>());
      parts.push_back(frame.key.part);
      at += kHeaderBytes + frame.length;
    }
    return parts;
  }

  Completion completion_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> buffers_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> done_;
  BufferCount held_;
  Outbox outbox_{held_};
};

TEST_F(OutboxTest, SendsShortMessagesBeforeLongOnesAndLongOnesOnlyWhenAsked) {
  send(1, 100'000);
  Transfer& asked = send(2, 100'000);
  send(3, 10);
  outbox_.ready(asked.key);
  EXPECT_EQ(write_all(7001), (std::vector<uint32_t>{3, 2}));
  EXPECT_FALSE(outbox_.empty());
  outbox_.ready({1, 2, 1, 0});
  EXPECT_EQ(write_all(1 << 20), std::vector<uint32_t>{1});
  EXPECT_TRUE(outbox_.empty());
}

TEST_F(OutboxTest, RemembersReadinessThatCameFirst) {
  outbox_.ready({1, 2, 9, 0});
  Transfer& first = send(9, 100'000);
  send(9, 100'000);
  EXPECT_EQ(write_all(1 << 20), std::vector<uint32_t>{9});
  EXPECT_EQ(done_, std::vector<Transfer*>{&first});
  EXPECT_FALSE(outbox_.has_any());
  EXPECT_FALSE(outbox_.empty());
}

TEST_F(OutboxTest, DetachedMessagesStillGoOut) {
  Transfer& held = send(1, 100'000);
  EXPECT_TRUE(outbox_.detach(held));
  EXPECT_FALSE(outbox_.detach(held));
  EXPECT_EQ(held_.bytes().live, 100'000);
  buffers_.front()->assign(100'000, std::byte{9});
  outbox_.ready(held.key);
  EXPECT_EQ(write_all(50'000), std::vector<uint32_t>{1});
  EXPECT_EQ(held_.bytes().live, 0);
  EXPECT_TRUE(done_.empty());
}

TEST_F(OutboxTest, ClearingFinishesTheFrameThatHasBegun) {
  send(1, 1000);
  send(2, 1000);
  ConstSpans pieces;
  outbox_.gather(pieces, false);
  std::vector<Transfer*> done;
  outbox_.sent(100, done);
  outbox_.clear();
  outbox_.withdraw(*transfers_[0]);
  buffers_[0].reset();  // the rest comes from a copy
  outbox_.gather(pieces, false);
  size_t left = 0;
  for (const ConstSpan piece : pieces) {
    left += piece.size();
  }
  EXPECT_EQ(left, kHeaderBytes + 1000 - 100);
  outbox_.sent(left, done);
  EXPECT_TRUE(done.empty());
  EXPECT_TRUE(outbox_.empty());
}

}  // namespace
}  // namespace brigade::transport
