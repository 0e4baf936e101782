// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/folder_entry.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string complaint(const std::string& folder, const std::string& name) {
  const Result<std::string> path = path_in_folder(folder, name);
  EXPECT_FALSE(path) << name;
  return path ? "" : path.error().text;
}

TEST(FolderEntry, FindsAFileAndALinkThatStaysInside) {
  const TemporaryFolder folder;
  write_file(folder / "a.txt", "text");
  std::filesystem::create_symlink("a.txt", folder / "link.txt");
  EXPECT_EQ(path_in_folder(folder.path(), "a.txt").value_or(""), folder / "a.txt");
  EXPECT_EQ(read_text_file(folder.path(), "link.txt").value_or(""), "text");
}

TEST(FolderEntry, R126_RefusesNamesThatCouldLeadOut) {
  const TemporaryFolder folder;
  const std::string home = folder / "home";
  std::filesystem::create_directories(home + "/sub");
  write_file(folder / "evil", "secret");
  for (const std::string& name : {std::string("../evil"),
                                  std::string("/etc/passwd"),
                                  std::string("sub/../../evil"),
                                  std::string("sub/x"),
                                  std::string(),
                                  std::string("."),
                                  std::string(".."),
                                  std::string("a\0b", 3)}) {
    EXPECT_FALSE(is_plain_name(name));
    EXPECT_THAT(complaint(home, name),
                HasSubstr("expected the plain name of a file in this folder; found \""));
  }
  EXPECT_THAT(complaint(home, std::string("a\0b", 3)), HasSubstr("found \"a\\x00b\""));
  EXPECT_TRUE(is_plain_name("model-00001-of-00002.safetensors"));
  EXPECT_TRUE(is_plain_name("..a"));
}

TEST(FolderEntry, R126_RefusesLinksThatLeaveTheFolder) {
  const TemporaryFolder folder;
  const std::string home = folder / "home";
  std::filesystem::create_directories(home);
  std::filesystem::create_directories(folder / "home2");
  write_file(folder / "evil", "secret");
  write_file(folder / "home2/evil", "secret");
  std::filesystem::create_symlink("../evil", home + "/up");
  std::filesystem::create_symlink("../home2/evil", home + "/beside");
  std::filesystem::create_symlink("up", home + "/twice");
  for (const char* name : {"up", "beside", "twice"}) {
    EXPECT_THAT(complaint(home, name), HasSubstr("is a symbolic link that leaves its folder"));
    EXPECT_FALSE(read_text_file(home, name));
  }
}

TEST(FolderEntry, NamesWhatIsNotThereOrNoFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub");
  std::filesystem::create_symlink("nowhere", folder / "dangling");
  EXPECT_THAT(complaint(folder.path(), "a"), HasSubstr(": no file \"a\""));
  EXPECT_THAT(complaint(folder.path(), "sub"), HasSubstr("sub is not a file"));
  EXPECT_THAT(complaint(folder.path(), "dangling"), HasSubstr("cannot be followed"));
}

}  // namespace
}  // namespace brigade::checkpoint
