// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/inspect.h"

#include <memory>
#include <optional>

#include "parallel/base/text.h"
#include "tools/inspect/checkpoint_json.h"
#include "tools/inspect/checkpoint_list.h"
#include "tools/inspect/checkpoint_report.h"
#include "tools/inspect/diff.h"
#include "tools/inspect/flags.h"
#include "trainer/launch/exit_code.h"

namespace brigade::inspect {
namespace {

using checkpoint::Checkpoint;

Result<int> show_list(const Flags& flags, const std::vector<int64_t>& steps, std::ostream& out) {
  if (flags.verify || flags.json) {
    const auto refused = open_step(flags.paths[0]);
    return fail(
        ErrorCode::kUsage,
        concat(
            flags.verify ? "--verify" : "--json", " is of one checkpoint: ", refused.error().text));
  }
  out << list_report(flags.paths[0], steps);
  return launch::kExitDone;
}

Result<int> show_checkpoint(const Flags& flags, std::ostream& out) {
  const std::string& path = flags.paths[0];
  if (const std::vector<int64_t> steps = steps_in(path); !steps.empty()) {
    return show_list(flags, steps, out);
  }
  const Result<std::unique_ptr<Checkpoint>> opened = open_step(path);
  if (!opened) {
    return fail(opened.error());
  }
  std::optional<std::vector<std::string>> damage;
  if (flags.verify) {
    damage = (*opened)->verify();
  }
  if (flags.json) {
    out << json_report(path, (*opened)->manifest(), damage);
  } else {
    out << report(path, (*opened)->manifest())
        << (damage ? verify_report(*damage, (*opened)->bytes_read()) : "");
  }
  return damage && !damage->empty() ? launch::kExitFailed : launch::kExitDone;
}

std::string title(const char* which, const Checkpoint& checkpoint) {
  const checkpoint::Manifest& manifest = checkpoint.manifest();
  return concat(which,
                "  ",
                checkpoint.path(),
                ": step ",
                with_thousands(manifest.counters.step),
                " of run ",
                manifest.run,
                ", ",
                mesh_text(manifest),
                '\n');
}

Result<int> show_diff(const Flags& flags, std::ostream& out) {
  const Result<std::unique_ptr<Checkpoint>> a = open_step(flags.paths[0]);
  if (!a) {
    return fail(a.error());
  }
  const Result<std::unique_ptr<Checkpoint>> b = open_step(flags.paths[1]);
  if (!b) {
    return fail(b.error());
  }
  const Result<Comparison> tensors = compare_tensors(**a, **b, flags.tolerance);
  if (!tensors) {
    return fail(tensors.error());
  }
  const Comparison heads = compare_heads((*a)->manifest(), (*b)->manifest());
  out << title("A", **a) << title("B", **b) << '\n' << tensors->text << heads.text;
  return tensors->equal && heads.equal ? launch::kExitDone : launch::kExitFailed;
}

}  // namespace

int inspect(const std::vector<std::string>& command_line, std::ostream& out, std::ostream& err) {
  const Result<int> code =
      parse_flags({command_line.begin() + 2, command_line.end()})
          .and_then([&](const Flags& flags) -> Result<int> {
            if (flags.what == What::kHelp) {
              out << help_text();
              return launch::kExitDone;
            }
            return flags.what == What::kDiff ? show_diff(flags, out) : show_checkpoint(flags, out);
          });
  if (!code) {
    err << "brigade inspect: " << code.error().text << '\n';
    return launch::exit_code(code.error().code);
  }
  return *code;
}

}  // namespace brigade::inspect
