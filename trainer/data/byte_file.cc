// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/byte_file.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/data/permutation.h"

namespace brigade::data {

/// An open file, closed with its owner.
class ByteFile::Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }

  int number() const { return number_; }

 private:
  int number_;
};

namespace {

std::string name_of(const ByteFileOptions& options) {
  return concat(options.part == Part::kTraining ? "training data " : "validation data ",
                options.path);
}

tl::unexpected<Error> io_error(const ByteFileOptions& options, const char* what) {
  const int number = errno;
  return fail(ErrorCode::kIo, concat(name_of(options), ": ", what, ": ", std::strerror(number)));
}

Result<void> check_options(const ByteFileOptions& options) {
  if (options.seq_len < 1) {
    return fail(
        ErrorCode::kUsage,
        concat(name_of(options), ": expected a seq_len of at least 1; found ", options.seq_len));
  }
  const double fraction = options.validation_fraction;
  const bool training = options.part == Part::kTraining;
  if (!(fraction >= 0.0 && (fraction < 1.0 || (fraction == 1.0 && !training)))) {
    return fail(ErrorCode::kUsage,
                concat(name_of(options),
                       ": expected a validation fraction in [0, 1",
                       training ? ')' : ']',
                       "; found ",
                       fraction));
  }
  return {};
}

Result<int64_t> size_of_file(int descriptor, const ByteFileOptions& options) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) {
    return io_error(options, "its size cannot be read");
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kIo, name_of(options) + " is a folder; expected a file");
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kIo, name_of(options) + " is a pipe or device; expected a file");
  }
  if (status.st_size == 0) {
    return fail(ErrorCode::kData, name_of(options) + " is empty");
  }
  return int64_t{status.st_size};
}

std::string part_text(const ByteFileOptions& options) {
  return options.validation_fraction == 0.0 || options.validation_fraction == 1.0
             ? std::string()
             : concat(options.part == Part::kTraining ? " without its last " : ", its last ",
                      options.validation_fraction,
                      " of the bytes");
}

}  // namespace

ByteFile::ByteFile(ByteFileOptions options,
                   std::unique_ptr<Descriptor> file,
                   int64_t begin,
                   int64_t size)
    : options_(std::move(options)), file_(std::move(file)), begin_(begin), size_(size) {}

ByteFile::ByteFile(ByteFile&&) noexcept = default;
ByteFile& ByteFile::operator=(ByteFile&&) noexcept = default;
ByteFile::~ByteFile() = default;

Result<ByteFile> ByteFile::open(ByteFileOptions options) {
  if (const auto valid = check_options(options); !valid) {
    return fail(valid.error());
  }
  const int number = ::open(options.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) {
    return io_error(options, "cannot be opened");
  }
  auto file = std::make_unique<Descriptor>(number);
  const auto file_size = size_of_file(number, options);
  if (!file_size) {
    return fail(file_size.error());
  }
  const auto validation_bytes = static_cast<int64_t>(
      std::floor(static_cast<double>(*file_size) * options.validation_fraction));
  const bool training = options.part == Part::kTraining;
  const int64_t size = training ? *file_size - validation_bytes : validation_bytes;
  if (size < options.seq_len + 1) {
    return fail(ErrorCode::kData,
                concat(name_of(options),
                       part_text(options),
                       ": needs at least ",
                       with_thousands(options.seq_len + 1),
                       " bytes for seq_len ",
                       with_thousands(options.seq_len),
                       ", has ",
                       with_thousands(size)));
  }
  return ByteFile(std::move(options), std::move(file), training ? 0 : *file_size - size, size);
}

Result<void> ByteFile::read(int64_t epoch,
                            int64_t index,
                            std::span<int64_t> tokens,
                            std::span<int64_t> targets) const {
  const auto length = static_cast<size_t>(options_.seq_len);
  BRIGADE_CHECK(tokens.size() == length && targets.size() == length, tokens.size());
  BRIGADE_CHECK(epoch >= 0 && index >= 0 && index < sample_count(), epoch, index);
  const int64_t sample = options_.part == Part::kValidation
                             ? index
                             : Permutation(options_.seed, epoch, sample_count())(index);
  std::vector<uint8_t> bytes(length + 1);
  size_t done = 0;
  while (done < bytes.size()) {
    const int64_t offset = begin_ + sample * options_.seq_len + static_cast<int64_t>(done);
    const ssize_t got = ::pread(file_->number(), bytes.data() + done, bytes.size() - done, offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return io_error(options_, "cannot be read");
    }
    if (got == 0) {
      return fail(ErrorCode::kData,
                  concat(name_of(options_), " became shorter while in use; ends at byte ", offset));
    }
    done += static_cast<size_t>(got);
  }
  for (size_t i = 0; i < length; ++i) {
    tokens[i] = bytes[i];
    targets[i] = bytes[i + 1];
  }
  return {};
}

int64_t ByteFile::trained_tokens(int64_t begin, int64_t end) const {
  BRIGADE_CHECK(begin >= 0 && begin <= end, begin, end);
  return (end - begin) * options_.seq_len;
}

std::string ByteFile::description() const {
  return concat(name_of(options_),
                part_text(options_),
                ": ",
                with_thousands(size_),
                " bytes, ",
                with_thousands(sample_count()),
                " samples of seq_len ",
                with_thousands(options_.seq_len),
                ", ",
                with_thousands(dropped_bytes()),
                " bytes at the end fill no sample");
}

}  // namespace brigade::data
