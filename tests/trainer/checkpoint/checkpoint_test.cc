// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/grid_state.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using sharding::Box;
using sharding::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Grid {
  int64_t rows;
  int64_t columns;
};

std::vector<float> read(Checkpoint& checkpoint, const Box& box) {
  std::vector<float> values(static_cast<size_t>(box.element_count()));
  value_or_throw(checkpoint.read("t", box, std::as_writable_bytes(std::span(values))));
  return values;
}

void flip(const std::string& path, size_t at) {
  std::string text = contents(path);
  text[at] = static_cast<char>(text[at] ^ 4);
  write_file(path, text);
}

// R032: rows that do not divide, one axis and two, written by any grid and read by any other.
TEST(Checkpoint, R032GivesAnyGridWhatAnyGridWrote) {
  const TemporaryFolder folder;
  const std::vector<Grid> grids = {{1, 1}, {3, 1}, {1, 2}, {4, 2}, {8, 1}};
  int64_t step = 0;
  for (const Shape& shape : {Shape{}, {1}, {97}, {1, 5}, {2, 3}, {3, 7}, {5, 4}, {7, 5}, {97, 3}}) {
    for (const Grid& written : grids) {
      const auto checkpoint = value_or_throw(
          Checkpoint::open(write_grid(folder / "c", step++, shape, written.rows, written.columns)));
      EXPECT_EQ(checkpoint->tensors().at("t"), (SourceTensor{ElementType::kF32, shape}));
      for (const Grid& wanted : grids) {
        for (const Box& box : grid_of(shape, wanted.rows, wanted.columns)) {
          EXPECT_EQ(read(*checkpoint, box), numbers_of(shape, box));
        }
      }
      EXPECT_THAT(checkpoint->verify(), IsEmpty());
    }
  }
}

// R045: a rank reads what it needs: of boxes that are its own every byte once, of a part of a box
// the blocks that hold it.
TEST(Checkpoint, R045ReadsTheBlocksThatItNeeds) {
  const TemporaryFolder folder;
  const Shape shape = {1024, 512};  // 2 MiB, 8 blocks
  const std::string path = write_grid(folder / "c", 1, shape, 1, 1);
  const auto read_by = [&](const Box& box) {
    const auto checkpoint = value_or_throw(Checkpoint::open(path));
    const uint64_t before = checkpoint->bytes_read();
    EXPECT_EQ(read(*checkpoint, box), numbers_of(shape, box));
    return checkpoint->bytes_read() - before - checkpoint->manifest().files[0].header_bytes;
  };
  EXPECT_EQ(read_by(whole_box(shape)), 8 * kBlockBytes);
  EXPECT_EQ(read_by({{{128, 384}, {0, 512}}}), 2 * kBlockBytes);  // on the blocks' borders
  EXPECT_EQ(read_by({{{1, 2}, {0, 512}}}), kBlockBytes);
  EXPECT_EQ(read_by({{{100, 200}, {0, 512}}}), 2 * kBlockBytes);
  EXPECT_EQ(read_by({{{0, 1024}, {0, 256}}}), 8 * kBlockBytes);  // half of every row
}

TEST(Checkpoint, EveryDamagedByteIsNamedWithFileTensorAndBox) {
  const TemporaryFolder folder;
  const Shape shape = {10, 3};
  const std::string path = write_grid(folder / "c", 1, shape, 2, 1);
  const std::string file = path + "/rank-00001.safetensors";
  const std::string whole = contents(file);
  for (size_t at = 0; at < whole.size(); at += 7) {
    flip(file, at);
    const auto checkpoint = value_or_throw(Checkpoint::open(path));
    std::vector<float> values(15);
    const Result<void> done =
        checkpoint->read("t", {{{5, 10}, {0, 3}}}, std::as_writable_bytes(std::span(values)));
    ASSERT_FALSE(done) << at;
    EXPECT_EQ(done.error().code, ErrorCode::kData);
    EXPECT_THAT(done.error().text, HasSubstr("rank-00001.safetensors"));
    if (at >= checkpoint->manifest().files[1].header_bytes) {
      EXPECT_THAT(done.error().text, HasSubstr("tensor t, box [5:10,0:3]"));
    }
    EXPECT_EQ(read(*checkpoint, {{{0, 5}, {0, 3}}}), numbers_of(shape, {{{0, 5}, {0, 3}}}));
    EXPECT_EQ(checkpoint->verify().size(), 1U);
    write_file(file, whole);
  }
}

TEST(Checkpoint, AnotherFileInTheFilesPlaceIsNamed) {
  const TemporaryFolder folder;
  const std::string path = write_grid(folder / "c", 1, {10, 3}, 2, 1);
  fs::rename(path + "/rank-00000.safetensors", path + "/aside");
  fs::rename(path + "/rank-00001.safetensors", path + "/rank-00000.safetensors");
  fs::rename(path + "/aside", path + "/rank-00001.safetensors");
  const auto swapped = Checkpoint::open(path);
  if (!swapped) {  // of another size
    EXPECT_THAT(swapped.error().text, HasSubstr("rank-0000"));
  } else {
    std::vector<float> values(30);
    const Result<void> done =
        (*swapped)->read("t", whole_box({10, 3}), std::as_writable_bytes(std::span(values)));
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, HasSubstr("rank-00000.safetensors"));
  }
}

TEST(Checkpoint, AFileThatIsMissingCutOrLongIsFoundAtOnce) {
  const TemporaryFolder folder;
  const auto problem = [&](int64_t step, const std::function<void(const std::string&)>& damage) {
    const std::string path = write_grid(folder / "c", step, {10, 3}, 2, 1);
    damage(path + "/rank-00001.safetensors");
    const auto checkpoint = Checkpoint::open(path);
    EXPECT_FALSE(checkpoint);
    return checkpoint ? std::string() : checkpoint.error().text;
  };
  const auto names_it = HasSubstr("rank-00001.safetensors");
  EXPECT_THAT(problem(1, [](const auto& file) { fs::remove(file); }), names_it);
  EXPECT_THAT(problem(2, [](const auto& file) { fs::resize_file(file, fs::file_size(file) - 1); }),
              AllOf(names_it, HasSubstr("the manifest says")));
  EXPECT_THAT(problem(3, [](const auto& file) { fs::resize_file(file, fs::file_size(file) + 1); }),
              AllOf(names_it, HasSubstr("the manifest says")));
  EXPECT_THAT(problem(4,
                      [](const auto& file) {
                        fs::rename(file, file + ".moved");
                        fs::create_symlink(file + ".moved", file);
                      }),
              AllOf(names_it, HasSubstr("symbolic link")));
}

TEST(Checkpoint, AFolderWithoutAManifestIsNone) {
  const TemporaryFolder folder;
  const std::string path = write_grid(folder / "c", 1, {10, 3}, 2, 1);
  fs::remove(path + "/manifest.json");
  const auto checkpoint = Checkpoint::open(path);
  ASSERT_FALSE(checkpoint);
  EXPECT_THAT(checkpoint.error().text,
              AllOf(HasSubstr(path), HasSubstr("no complete checkpoint"), HasSubstr("manifest")));
  EXPECT_FALSE(Checkpoint::open(folder / "none"));
}

}  // namespace
}  // namespace brigade::checkpoint
