// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/hugging_face_writer.h"

namespace brigade::convert {
namespace {

using ::testing::HasSubstr;

std::string complaint(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = parse_flags(arguments);
  EXPECT_FALSE(flags);
  EXPECT_EQ(flags ? ErrorCode::kUsage : flags.error().code, ErrorCode::kUsage);
  return flags ? "" : flags.error().text;
}

TEST(ConvertFlags, HaveDefaults) {
  const Flags flags = value_or_throw(parse_flags({"--from=a", "--to", "b"}));
  EXPECT_EQ(flags.from, "a");
  EXPECT_EQ(flags.to, "b");
  EXPECT_FALSE(flags.format);
  EXPECT_FALSE(flags.type);
  EXPECT_EQ(flags.shard_limit, checkpoint::kShardLimit);
  EXPECT_FALSE(flags.overwrite);
}

TEST(ConvertFlags, AreRead) {
  const Flags flags = value_or_throw(parse_flags({"--from=a",
                                                  "--to=b",
                                                  "--format=brigade",
                                                  "--dtype=bfloat16",
                                                  "--shard_limit=1000",
                                                  "--overwrite"}));
  EXPECT_EQ(flags.format, Format::kBrigade);
  EXPECT_EQ(flags.type, checkpoint::ElementType::kBF16);
  EXPECT_EQ(flags.shard_limit, 1000U);
  EXPECT_TRUE(flags.overwrite);
}

TEST(ConvertFlags, AreRefusedByNameWithWhatIsAccepted) {
  EXPECT_EQ(complaint({"--from=a"}), "--to=PATH is missing");
  EXPECT_EQ(complaint({"--to=a"}), "--from=PATH is missing");
  EXPECT_EQ(complaint({"--from=a", "--to=b", "--format=gguf"}),
            "--format takes brigade, hf; found \"gguf\"");
  EXPECT_EQ(complaint({"--from=a", "--to=b", "--dtype=int8"}),
            "--dtype takes bfloat16, float16, float32; found \"int8\"");
  EXPECT_THAT(complaint({"a", "b"}), HasSubstr("the folders are --from=PATH and --to=PATH"));
  EXPECT_THAT(complaint({"--form=a"}), HasSubstr("the nearest is --from"));
  EXPECT_THAT(complaint({"--from=a", "--to=b", "--shard-limit=-1"}), HasSubstr("not a value of"));
}

TEST(ConvertFlags, AreHelpedWithoutPaths) {
  EXPECT_TRUE(value_or_throw(parse_flags({"--help"})).help);
  EXPECT_THAT(flags_help(), HasSubstr("  --from=PATH           a checkpoint"));
}

}  // namespace
}  // namespace brigade::convert
