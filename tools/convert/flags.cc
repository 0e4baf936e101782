// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/flags.h"

#include <array>
#include <map>

#include <gflags/gflags.h>

#include "parallel/base/text.h"
#include "tools/cli/flag_table.h"
#include "trainer/checkpoint/hugging_face_writer.h"

DEFINE_string(convert_from, "", "a checkpoint (.../step-100), or a folder with config.json");
DEFINE_string(convert_to, "", "the folder to make");
DEFINE_string(convert_format, "", "of what is made: hf or brigade; left out: the other one");
DEFINE_string(convert_dtype,
              "",
              "float32, bfloat16 or float16; left out: each tensor as it is stored");
DEFINE_uint64(convert_shard_limit,
              brigade::checkpoint::kShardLimit,
              "above this many bytes weights are split over files (hf alone)");
DEFINE_bool(convert_overwrite, false, "replace what --to holds, if it is of the same format");
DEFINE_bool(convert_help, false, "this text");

namespace brigade::convert {
namespace {

constexpr std::array kKnown = {
    cli::KnownFlag{"from", "convert_from", "--from=PATH"},
    cli::KnownFlag{"to", "convert_to", "--to=PATH"},
    cli::KnownFlag{"format", "convert_format", "--format=hf|brigade"},
    cli::KnownFlag{"dtype", "convert_dtype", "--dtype=TYPE"},
    cli::KnownFlag{"shard_limit", "convert_shard_limit", "--shard-limit=BYTES"},
    cli::KnownFlag{"overwrite", "convert_overwrite", "--overwrite"},
    cli::KnownFlag{"help", "convert_help", "--help"},
};

/// The value of one of a few words; empty when the flag was not given.
template <class T>
Result<std::optional<T>> choice(const char* flag,
                                const std::string& word,
                                const std::map<std::string, T>& accepted) {
  if (word.empty()) {
    return std::optional<T>();
  }
  const auto found = accepted.find(word);
  if (found != accepted.end()) {
    return std::optional<T>(found->second);
  }
  std::vector<std::string> words;
  for (const auto& entry : accepted) {
    words.push_back(entry.first);
  }
  return fail(ErrorCode::kUsage,
              concat(flag, " takes ", join(words, ", "), "; found \"", word, '"'));
}

Result<void> check_paths(const Flags& flags) {
  for (const auto& [name, value] : {std::pair{"--from", flags.from}, {"--to", flags.to}}) {
    if (value.empty()) {
      return fail(ErrorCode::kUsage, concat(name, "=PATH is missing"));
    }
  }
  return {};
}

}  // namespace

Result<Flags> parse_flags(const std::vector<std::string>& arguments) {
  const gflags::FlagSaver restore;  // the registry is global; a second parse begins afresh
  const Result<void> set =
      cli::set_flags(kKnown, arguments, "the folders are --from=PATH and --to=PATH");
  if (!set) {
    return fail(set.error());
  }
  const auto format = choice<Format>("--format",
                                     FLAGS_convert_format,
                                     {{"hf", Format::kHuggingFace}, {"brigade", Format::kBrigade}});
  if (!format) {
    return fail(format.error());
  }
  using checkpoint::ElementType;
  const auto type = choice<ElementType>("--dtype",
                                        FLAGS_convert_dtype,
                                        {{"float32", ElementType::kF32},
                                         {"bfloat16", ElementType::kBF16},
                                         {"float16", ElementType::kF16}});
  if (!type) {
    return fail(type.error());
  }
  Flags flags;
  flags.from = FLAGS_convert_from;
  flags.to = FLAGS_convert_to;
  flags.format = *format;
  flags.type = *type;
  flags.shard_limit = FLAGS_convert_shard_limit;
  flags.overwrite = FLAGS_convert_overwrite;
  flags.help = FLAGS_convert_help;
  if (Result<void> paths = check_paths(flags); !flags.help && !paths) {
    return fail(std::move(paths.error()));
  }
  return flags;
}

std::string flags_help() {
  return cli::flags_help(kKnown);
}

}  // namespace brigade::convert
