// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/peer_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::study {
namespace {

using ::testing::HasSubstr;

TEST(PeerCommand, NamesInBracesBecomeWhatThePointAsks) {
  EXPECT_EQ(fill("peer --ranks {ranks} -b{batch}{batch}", {{"ranks", "2"}, {"batch", "8"}}),
            "peer --ranks 2 -b88");
}

TEST(PeerCommand, DoubledBracesAreBraces) {
  const char* command = "awk '{{ print ${{x}} }}' {ranks}";
  EXPECT_TRUE(check_template(command));
  EXPECT_EQ(fill(command, {{"ranks", "2"}}), "awk '{ print ${x} }' 2");
}

TEST(PeerCommand, EveryPlaceholderIsKnown) {
  for (const std::string& name : placeholders()) {
    EXPECT_TRUE(check_template("p {" + name + "}")) << name;
  }
}

TEST(PeerCommand, AnUnknownPlaceIsRefusedWithTheNearest) {
  const std::string text = check_template("p {rank}").error().text;
  EXPECT_THAT(text, HasSubstr("there is no {rank}; the nearest is {ranks}"));
  EXPECT_THAT(text, HasSubstr("write {{ and }}"));
  EXPECT_THAT(check_template("p {}").error().text, HasSubstr("{seq_len}"));
}

TEST(PeerCommand, ABraceAloneIsRefused) {
  for (const char* command : {"p {ranks", "p ranks}", "p {a{ranks}", "{"}) {
    EXPECT_THAT(check_template(command).error().text, HasSubstr("has no partner")) << command;
  }
}

}  // namespace
}  // namespace brigade::study
