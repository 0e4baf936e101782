// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/inbox.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::transport {
namespace {

using ::testing::HasSubstr;

class InboxTest : public ::testing::Test {
 protected:
  void put(const Frame& frame, size_t bytes, std::byte value) {
    Frame sized = frame;
    sized.length = bytes;
    const auto header = encode(sized);
    stream_.insert(stream_.end(), header.begin(), header.end());
    stream_.insert(stream_.end(), bytes, value);
  }
  void put_message(uint32_t part, size_t bytes, uint8_t operation = 1) {
    Frame frame;
    frame.key = {1, 2, part, 0};
    frame.fingerprint.operation = operation;
    put(frame, bytes, std::byte{7});
  }
  Transfer& receive(uint32_t part, size_t bytes) {
    buffers_.push_back(std::make_unique<std::vector<std::byte>>(bytes));
    Fingerprint print;
    print.operation = 1;
    const size_t half = bytes / 2;
    const Span all(*buffers_.back());
    transfers_.push_back(std::make_unique<Transfer>(Transfer::receive(
        1, {1, 2, part, 0}, print, {all.first(half), all.subspan(half)}, completion_)));
    inbox_.post(*transfers_.back(), arrivals_);
    return *transfers_.back();
  }
  /// Gives the inbox the stream, at most `step` bytes at a time.
  Result<void> feed(size_t step) {
    size_t at = 0;
    while (at < stream_.size()) {
      Spans buffers;
      inbox_.prepare(buffers);
      size_t taken = 0;
      for (const Span buffer : buffers) {
        const size_t take = std::min({buffer.size(), step - taken, stream_.size() - at});
        if (take > 0) {
          std::memcpy(buffer.data(), stream_.data() + at, take);
        }
        at += take;
        taken += take;
      }
      if (Result<void> result = inbox_.take(taken, arrivals_, controls_); !result) {
        return result;
      }
    }
    stream_.clear();
    return {};
  }
  bool full(size_t i) const {
    return std::all_of(buffers_[i]->begin(), buffers_[i]->end(), [](std::byte byte) {
      return byte == std::byte{7};
    });
  }

  BufferCount held_;
  Inbox inbox_{held_};
  Completion completion_;
  std::vector<std::byte> stream_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> buffers_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Inbox::Arrival> arrivals_;
  std::vector<Inbox::Control> controls_;
};

TEST_F(InboxTest, PutsMessagesInPlaceHoweverTheStreamIsCut) {
  for (const size_t step : {1U, 63U, 64U, 65U, 1000U, 20'000U, 1U << 20}) {
    const size_t first = buffers_.size();
    arrivals_.clear();
    receive(1, 100'000);
    receive(2, 0);
    receive(3, 5);
    put_message(1, 100'000);
    put_message(3, 5);
    put_message(2, 0);
    ASSERT_TRUE(feed(step));
    ASSERT_EQ(arrivals_.size(), 3U) << step;
    EXPECT_EQ(arrivals_[1].transfer, transfers_[first + 2].get());
    for (size_t i = first; i < buffers_.size(); ++i) {
      EXPECT_TRUE(full(i)) << step << ' ' << i;
    }
  }
}

TEST_F(InboxTest, KeepsShortMessagesUntilTheyAreAskedFor) {
  put_message(4, 1000);
  put_message(4, 1000);
  const int64_t before = held_.bytes().live;
  ASSERT_TRUE(feed(100));
  EXPECT_TRUE(arrivals_.empty());
  EXPECT_EQ(held_.bytes().live, before + 2000);
  receive(4, 1000);
  receive(4, 1000);
  EXPECT_EQ(arrivals_.size(), 2U);
  EXPECT_EQ(held_.bytes().live, before);
  EXPECT_EQ(held_.bytes().peak, before + 2000);
  EXPECT_TRUE(full(0));
  EXPECT_TRUE(full(1));
}

TEST_F(InboxTest, AReceiveMayBePostedWhileItsMessageArrives) {
  put_message(4, 1000);
  const std::vector<std::byte> rest(stream_.begin() + 500, stream_.end());
  stream_.resize(500);
  ASSERT_TRUE(feed(500));
  receive(4, 1000);
  EXPECT_TRUE(arrivals_.empty());
  stream_ = rest;
  ASSERT_TRUE(feed(500));
  EXPECT_EQ(arrivals_.size(), 1U);
  EXPECT_TRUE(full(0));
}

TEST_F(InboxTest, RefusesLongMessagesThatNobodyAskedFor) {
  put_message(4, 100'000);
  const Result<void> fed = feed(1000);
  ASSERT_FALSE(fed);
  EXPECT_THAT(fed.error().text, HasSubstr("100000 bytes came before it was asked for"));
}

TEST_F(InboxTest, LeavesMemoryAloneWhenTheCallDiffers) {
  receive(1, 1000);
  receive(2, 1000);
  put_message(1, 1000, 9);
  put_message(2, 500);
  put_message(3, 0);
  ASSERT_TRUE(feed(300));
  ASSERT_EQ(arrivals_.size(), 2U);
  EXPECT_EQ(arrivals_[0].state, Transfer::State::kMismatch);
  EXPECT_EQ(transfers_[0]->found.operation, 9);
  EXPECT_EQ(arrivals_[1].state, Transfer::State::kMismatch);
  EXPECT_EQ(transfers_[1]->found_bytes, 500);
  for (const auto& buffer : buffers_) {
    EXPECT_EQ(*buffer, std::vector<std::byte>(1000));
  }
}

TEST_F(InboxTest, ThrowsAwayWhatComesForAWithdrawnReceive) {
  Transfer& withdrawn = receive(1, 100'000);
  put_message(1, 100'000);
  const std::vector<std::byte> rest(stream_.begin() + 5000, stream_.end());
  stream_.resize(5000);
  ASSERT_TRUE(feed(5000));
  inbox_.withdraw(withdrawn);
  buffers_[0].reset();
  stream_ = rest;
  Frame goodbye;
  goodbye.type = FrameType::kGoodbye;
  put(goodbye, 0, {});
  ASSERT_TRUE(feed(3000));
  EXPECT_TRUE(arrivals_.empty());
  ASSERT_EQ(controls_.size(), 1U);
  EXPECT_EQ(controls_[0].frame.type, FrameType::kGoodbye);
}

TEST_F(InboxTest, StopsAtDamage) {
  put_message(1, 0);
  stream_[20] ^= std::byte{1};
  EXPECT_FALSE(feed(64));
}

}  // namespace
}  // namespace brigade::transport
