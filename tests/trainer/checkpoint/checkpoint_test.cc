// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/checkpoint.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "tests/trainer/checkpoint/temporary_folder.h"

namespace brigade::checkpoint {
namespace {

namespace fs = std::filesystem;
using sharding::Box;
using sharding::Interval;
using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> read(TensorSource& source, const std::string& name, const Box& box) {
  const ElementType type = source.tensors().at(name).type;
  std::vector<std::byte> out(static_cast<size_t>(box.element_count()) * bits_of(type) / 8);
  value_or_throw(source.read(name, box, out));
  return out;
}

void flip(const std::string& path, uint64_t at) {
  std::string text = contents(path);
  text[at] = static_cast<char>(text[at] ^ 0x10);
  write_file(path, text);
}

Box random_box(const sharding::Shape& shape, std::mt19937& random) {
  Box box;
  for (const int64_t size : shape) {
    const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(size + 1));
    const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(size + 1));
    box.dims.push_back({std::min(a, b), std::max(a, b)});
  }
  return box;
}

// R032, R030: what any grid wrote, any box reads, bit for bit.
TEST(Checkpoint, R032ReadsAnyBoxOfAnyGrid) {
  std::mt19937 random(32);
  for (const int64_t rows : {1, 2, 3, 5, 7, 97}) {
    for (const std::vector<int64_t>& parts :
         {std::vector<int64_t>{1, 1}, {3, 1}, {8, 1}, {1, 4}, {4, 2}, {2, 3}}) {
      const TemporaryFolder folder;
      const std::vector<SampleTensor> tensors = {
          {"w", ElementType::kF32, {rows, 32}, parts},
          {"b", ElementType::kBF16, {rows}, {parts[0]}},
          {"cube", ElementType::kI64, {3, rows, 5}, {1, parts[0], parts[1]}},
          {"scalar", ElementType::kF64, {}, {}},
          {"empty", ElementType::kF32, {0, 3}, {1, 1}}};
      write_sample(folder.path(), tensors);
      const auto saved = value_or_throw(Checkpoint::open(folder.path()));
      EXPECT_EQ(saved->tensors().size(), tensors.size());
      for (const SampleTensor& tensor : tensors) {
        EXPECT_EQ(saved->tensors().at(tensor.name), (SourceTensor{tensor.type, tensor.shape}));
        const Box whole = grid(tensor.shape, std::vector<int64_t>(tensor.shape.size(), 1))[0];
        EXPECT_EQ(read(*saved, tensor.name, whole), tensor.bytes_of(whole)) << tensor.name;
        for (int i = 0; i < 20; ++i) {
          const Box box = random_box(tensor.shape, random);
          EXPECT_EQ(read(*saved, tensor.name, box), tensor.bytes_of(box))
              << tensor.name << to_string(box);
        }
      }
      EXPECT_THAT(saved->verify(), IsEmpty());
    }
  }
}

/// 200,000 floats: three blocks and a rest in one box, or two boxes of two blocks each.
constexpr int64_t kLong = 200'000;

std::vector<SampleTensor> long_tensor(int64_t parts) {
  return {{"w", ElementType::kF32, {kLong}, {parts}}};
}

TEST(Checkpoint, ReadsAcrossTheEdgesOfBlocks) {
  const TemporaryFolder folder;
  const std::vector<SampleTensor> tensors = {{"w", ElementType::kF32, {500, 400}, {2, 1}}};
  write_sample(folder.path(), tensors);
  const auto saved = value_or_throw(Checkpoint::open(folder.path()));
  for (const Box& box : {Box{{{0, 500}, {0, 400}}},
                         Box{{{163, 165}, {0, 400}}},
                         Box{{{100, 400}, {17, 391}}},
                         Box{{{0, 500}, {399, 400}}},
                         Box{{{249, 251}, {3, 400}}}}) {
    EXPECT_EQ(read(*saved, "w", box), tensors[0].bytes_of(box)) << to_string(box);
  }
}

TEST(Checkpoint, ReadsOnlyTheBlocksThatHoldSomethingOfTheBox) {
  const TemporaryFolder folder;
  const Manifest manifest = write_sample(folder.path(), long_tensor(2));
  const auto saved = value_or_throw(Checkpoint::open(folder.path()));
  const uint64_t opened = saved->bytes_read();
  EXPECT_EQ(opened, fs::file_size(folder / kManifestName));
  const uint64_t header = manifest.files[0].header_bytes;
  read(*saved, "w", {{{10, 20}}});
  EXPECT_EQ(saved->bytes_read(), opened + header + kBlockBytes);
  // The header is known now. Elements 65,536 and on lie in the second block, which is shorter.
  read(*saved, "w", {{{70'000, 70'001}}});
  const uint64_t rest = static_cast<uint64_t>(kLong) / 2 * 4 - kBlockBytes;
  EXPECT_EQ(saved->bytes_read(), opened + header + kBlockBytes + rest);
  read(*saved, "w", {{{5, 5}}});
  EXPECT_EQ(saved->bytes_read(), opened + header + kBlockBytes + rest);
}

TEST(Checkpoint, ReadsNoBlockTwiceForTheRowsOfABox) {
  const TemporaryFolder folder;
  write_sample(folder.path(), {{"w", ElementType::kF32, {512, 128}, {1, 1}}});
  const auto saved = value_or_throw(Checkpoint::open(folder.path()));
  const uint64_t before = saved->bytes_read() + saved->manifest().files[0].header_bytes;
  read(*saved, "w", {{{0, 512}, {5, 6}}});
  EXPECT_EQ(saved->bytes_read(), before + kBlockBytes);
}

/// Why a checkpoint cannot be opened or its tensor "w" not be read.
std::string trouble(const std::string& folder) {
  const auto saved = Checkpoint::open(folder);
  if (!saved) {
    return saved.error().text;
  }
  std::vector<std::byte> out(static_cast<size_t>(kLong) * 4);
  const auto done = (*saved)->read("w", {{{0, kLong}}}, out);
  return done ? "none" : done.error().text;
}

class DamagedCheckpoint : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const Manifest manifest_ = write_sample(folder_.path(), long_tensor(2));
  const std::string second_ = folder_ / shard_name(1);
};

TEST_F(DamagedCheckpoint, IsFoundWhereABlockIsDamaged) {
  for (size_t part = 0; part < 2; ++part) {
    const ManifestBox& box = manifest_.tensors.at("w").boxes[part];
    const std::string path = folder_ / manifest_.files[box.file].name;
    for (const uint64_t at : {uint64_t{0}, kBlockBytes - 1, kBlockBytes, uint64_t{399'999}}) {
      flip(path, box.offset + at);
      EXPECT_THAT(trouble(folder_.path()),
                  AllOf(HasSubstr(path + ": tensor w, box " + to_string(box.box)),
                        HasSubstr(concat("checksum of block ", at / kBlockBytes, " of 2"))));
      const auto saved = value_or_throw(Checkpoint::open(folder_.path()));
      EXPECT_THAT(saved->verify(), ElementsAre(HasSubstr(path + ": tensor w, box ")));
      flip(path, box.offset + at);
    }
  }
  EXPECT_EQ(trouble(folder_.path()), "none");
}

TEST_F(DamagedCheckpoint, IsReadWhereItIsWhole) {
  flip(second_, manifest_.files[1].bytes - 1);
  const auto saved = value_or_throw(Checkpoint::open(folder_.path()));
  const Box sound = {{{0, 150'000}}};
  EXPECT_EQ(read(*saved, "w", sound), long_tensor(1)[0].bytes_of(sound));
  EXPECT_THAT(saved->verify(), ElementsAre(HasSubstr("w, box [100000:200000] is damaged")));
}

TEST_F(DamagedCheckpoint, IsFoundInEveryByteOfAHeader) {
  for (uint64_t at = 0; at < manifest_.files[1].header_bytes; at += 5) {
    flip(second_, at);
    EXPECT_EQ(trouble(folder_.path()),
              second_ +
                  " is damaged, or another file in its place: the checksum of its header is not "
                  "that of the manifest; lost with it: tensor w, box [100000:200000]");
    flip(second_, at);
  }
}

TEST_F(DamagedCheckpoint, IsFoundWhereAFileIsTooShortOrTooLong) {
  const std::string text = contents(second_);
  write_file(second_, text.substr(0, text.size() - 1));
  EXPECT_EQ(trouble(folder_.path()),
            concat(second_,
                   " has ",
                   text.size() - 1,
                   " bytes; the manifest says ",
                   text.size(),
                   "; lost with it: tensor w, box [100000:200000]"));
  write_file(second_, text + "x");
  EXPECT_EQ(trouble(folder_.path()),
            concat(second_, " has ", text.size() + 1, " bytes; the manifest says ", text.size()));
}

TEST_F(DamagedCheckpoint, IsFoundWhereTwoFilesHaveChangedPlaces) {
  fs::rename(second_, folder_ / "x");
  fs::rename(folder_ / shard_name(0), second_);
  fs::rename(folder_ / "x", folder_ / shard_name(0));
  EXPECT_THAT(trouble(folder_.path()), HasSubstr("another file in its place"));
}

TEST_F(DamagedCheckpoint, IsFoundWhereAFileIsMissing) {
  fs::remove(second_);
  EXPECT_EQ(trouble(folder_.path()),
            second_ +
                " cannot be opened: No such file or directory; lost with it: tensor w, box "
                "[100000:200000]");
}

// R126: also what has the right name may lead elsewhere.
TEST_F(DamagedCheckpoint, R126IsFoundWhereALinkOrAFolderStandsForAFile) {
  fs::rename(second_, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", second_);
  EXPECT_THAT(trouble(folder_.path()), HasSubstr(second_ + " is a symbolic link; expected a file"));
  fs::remove(second_);
  fs::create_directory(second_);
  EXPECT_THAT(trouble(folder_.path()), HasSubstr(second_ + " is no file"));
}

// R126
TEST_F(DamagedCheckpoint, R126OpensNothingOutsideItsFolder) {
  fs::rename(second_, folder_.path().string() + "_outside");
  Manifest manifest = manifest_;
  manifest.files[1].name = concat("../", folder_.path().filename().string(), "_outside");
  write_file(folder_ / kManifestName, to_json(manifest));
  EXPECT_THAT(trouble(folder_.path()), HasSubstr("has to be that of a file in the folder itself"));
  fs::remove(folder_.path().string() + "_outside");
}

TEST_F(DamagedCheckpoint, IsNoneWithoutAManifest) {
  fs::remove(folder_ / kManifestName);
  EXPECT_EQ(trouble(folder_.path()),
            concat(folder_.path().string(),
                   " is no complete checkpoint: ",
                   folder_ / kManifestName,
                   " cannot be opened: No such file or directory"));
  write_file(folder_ / kManifestName, "{}");
  EXPECT_THAT(trouble(folder_.path()), HasSubstr("is no manifest of a checkpoint"));
}

TEST_F(DamagedCheckpoint, IsFoundAlsoWhenAFileShrinksLater) {
  const auto saved = value_or_throw(Checkpoint::open(folder_.path()));
  read(*saved, "w", {{{0, kLong}}});
  fs::resize_file(second_, manifest_.files[1].bytes - 1);
  std::vector<std::byte> out(static_cast<size_t>(kLong) * 4);
  const auto done = saved->read("w", {{{0, kLong}}}, out);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text,
              AllOf(HasSubstr(second_ + " ends at byte"), HasSubstr("tensor w, box")));
}

TEST(Checkpoint, RefusesBoxesAndBuffersThatDoNotFit) {
  const TemporaryFolder folder;
  write_sample(folder.path(), {{"w", ElementType::kF32, {4, 2}, {2, 1}}});
  const auto saved = value_or_throw(Checkpoint::open(folder.path()));
  std::vector<std::byte> out(32);
  EXPECT_THROW((void)saved->read("x", {{{0, 4}, {0, 2}}}, out), CheckFailure);
  EXPECT_THROW((void)saved->read("w", {{{0, 4}}}, out), CheckFailure);
  EXPECT_THROW((void)saved->read("w", {{{0, 3}, {0, 2}}}, out), CheckFailure);
  EXPECT_THROW((void)saved->read("w", {{{1, 5}, {0, 2}}}, out), CheckFailure);
}

}  // namespace
}  // namespace brigade::checkpoint
