// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/convert.h"

#include <memory>
#include <ostream>
#include <utility>

#include "models/decoder/model.h"
#include "parallel/base/text.h"
#include "tools/convert/flags.h"
#include "tools/convert/model_checkpoint.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/hugging_face_writer.h"
#include "trainer/checkpoint/weights.h"
#include "trainer/launch/exit_code.h"
#include "trainer/loop/model_shape.h"

namespace brigade::convert {
namespace {

constexpr char kUsage[] =
    "usage: brigade convert --from=PATH --to=PATH [--flag=value ...]\n\n"
    "Makes a Hugging Face folder (config.json, model.safetensors) of a checkpoint, or a "
    "checkpoint\n"
    "of such a folder, from which a training begins with checkpoint.initial_load_path.\n\n";

/// Whether the weights are those of the model that their config describes.
Result<void> check(const checkpoint::Weights& weights) {
  config::RunConfig config;
  config.model = weights.config.model;
  const std::unique_ptr<const decoder::Model> model = loop::model_of(config);
  if (const Result<void> sizes = model->check(1); !sizes) {
    return fail(ErrorCode::kData, concat(weights.source->path(), ": ", sizes.error().text));
  }
  return checkpoint::check_parameters(*weights.source, model->stage_facts(0, 1));
}

/// What was done, in a line.
Result<std::string> write(const Flags& flags, Format format, const checkpoint::Weights& weights) {
  if (format == Format::kBrigade) {
    const auto written = write_model_checkpoint(
        flags.to, *weights.source, weights.config, {flags.type, flags.overwrite});
    if (!written) {
      return fail(written.error());
    }
    return concat(counted(static_cast<int64_t>(written->tensors), "tensor"),
                  ", ",
                  bytes_text(static_cast<int64_t>(written->bytes)),
                  ", in ",
                  counted(static_cast<int64_t>(written->files), "file"),
                  "; begin a training with checkpoint.initial_load_path = \"",
                  flags.to,
                  '"');
  }
  const auto written = checkpoint::write_hugging_face(
      flags.to, *weights.source, weights.config, {flags.type, flags.shard_limit, flags.overwrite});
  if (!written) {
    return fail(written.error());
  }
  return concat(counted(static_cast<int64_t>(written->tensors), "tensor"),
                ", ",
                bytes_text(static_cast<int64_t>(written->bytes)),
                ", in ",
                counted(static_cast<int64_t>(written->files.size()), "file"));
}

Result<std::string> run(const Flags& flags, std::ostream& out) {
  const bool from_hf = checkpoint::is_hugging_face_folder(flags.from);
  const auto weights = checkpoint::open_weights(flags.from, from_hf);
  if (!weights) {
    return fail(weights.error());
  }
  if (const Result<void> whole = check(*weights); !whole) {
    return fail(whole.error());
  }
  for (const std::string& note : weights->config.notes) {
    out << "note: " << note << '\n';
  }
  const Format other = from_hf ? Format::kBrigade : Format::kHuggingFace;
  return write(flags, flags.format.value_or(other), *weights);
}

}  // namespace

int convert(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const Result<Flags> flags = parse_flags({command_line.begin() + 2, command_line.end()});
  if (!flags) {
    err << "brigade convert: " << flags.error().text << '\n';
    return launch::exit_code(flags.error().code);
  }
  if (flags->help) {
    out << kUsage << flags_help();
    return launch::kExitDone;
  }
  const Result<std::string> done = run(*flags, out);
  if (!done) {
    err << "brigade convert: " << done.error().text << '\n';
    return launch::exit_code(done.error().code);
  }
  out << flags->to << ": " << *done << '\n';
  return launch::kExitDone;
}

}  // namespace brigade::convert
