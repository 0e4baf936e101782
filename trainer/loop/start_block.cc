// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/start_block.h"

#include <iomanip>
#include <sstream>

#include "parallel/base/text.h"
#include "trainer/loop/memory_table.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/moved_plan.h"
#include "trainer/loop/run_memory.h"

namespace brigade::loop {
namespace {

/// "embedding, blocks 0-1": what a stage computes.
std::string contents(const config::RunConfig& config, int64_t stage, int64_t stages) {
  std::vector<std::string> parts;
  if (stage == 0) {
    parts.push_back("embedding");
  }
  const sharding::Interval layers = sharding::interval(model_of(config)->layers(), stage, stages);
  parts.push_back(layers.size() == 1 ? concat("block ", layers.begin)
                                     : concat("blocks ", layers.begin, "-", layers.end - 1));
  if (stage == stages - 1) {
    parts.push_back("norm and head");
  }
  return join(parts);
}

/// One line per stage: its ranks, a bracket per data rank, tensor ranks side by side.
std::string ranks_picture(const config::RunFacts& facts, int64_t stage) {
  std::ostringstream out;
  int64_t rank = stage * facts.data_ranks * facts.tp;
  for (int64_t data = 0; data < facts.data_ranks; ++data) {
    out << (data == 0 ? "[" : " [");
    for (int64_t tensor = 0; tensor < facts.tp; ++tensor) {
      out << (tensor == 0 ? "" : " ") << rank++;
    }
    out << "]";
  }
  return out.str();
}

void write_mesh(std::ostringstream& out,
                const config::RunConfig& config,
                const config::RunFacts& facts) {
  const mesh::Mesh mesh = value_or_throw(mesh::Mesh::create(facts.axes));
  out << "mesh     " << mesh.to_string() << " = " << facts.world_size
      << " ranks; a bracket is a data rank, in it its tensor ranks\n";
  for (int64_t stage = 0; stage < facts.pp; ++stage) {
    out << "         stage " << stage << "  " << std::left << std::setw(24)
        << ranks_picture(facts, stage) << "  " << contents(config, stage, facts.pp) << '\n';
  }
}

/// What data ranks send, once for ranks of one stage that send alike.
void write_moves(std::ostringstream& out,
                 const config::RunConfig& config,
                 const config::RunFacts& facts) {
  if (facts.data_ranks == 1) {
    return;
  }
  const std::vector<MovedPlan> planned = value_or_throw(planned_moves(config, facts));
  MovedPlan shown;
  for (int64_t rank = 0; rank < facts.world_size; ++rank) {
    const MovedPlan& moved = planned[static_cast<size_t>(rank)];
    if (moved == shown) {
      continue;
    }
    out << (shown == MovedPlan() ? "moves    " : "         ") << "in a step, the "
        << facts.data_ranks << " data ranks of rank " << rank << ": weights "
        << bytes_text(moved.weights) << ", gradients " << bytes_text(moved.gradients) << '\n';
    shown = moved;
  }
}

/// "ZeRO stage 3, each unit gathered for use, 1 ahead; gradients reduced after each microbatch".
std::string zero_text(const config::RunConfig& config, const config::RunFacts& facts) {
  const schedule::UnitPlan units = unit_plan(config, facts);
  std::string text = concat("ZeRO stage ", facts.zero_stage);
  if (units.weights != schedule::Weights::kResident) {
    text +=
        concat(units.weights == schedule::Weights::kEachUse ? ", each unit gathered for use, "
                                                            : ", each unit gathered once a step, ",
               units.prefetch,
               " ahead");
  }
  if (facts.data_ranks > 1 || facts.microbatches > 1) {
    text += facts.reduces_each_microbatch ? "; gradients reduced after each microbatch"
                                          : "; gradients reduced once a step";
  }
  return text;
}

std::string kept_text(const config::RunConfig& config) {
  const config::ActivationCheckpoint& recompute = config.activation_checkpoint;
  if (recompute.mode == "none") {
    return "";
  }
  if (recompute.mode == "full") {
    return ", blocks computed again in backward";
  }
  return recompute.selective_ac_option == "op"
             ? std::string(", all but products computed again in backward")
             : concat(", every block in ",
                      recompute.selective_ac_option,
                      " computed again in backward");
}

void write_plan(std::ostringstream& out,
                const config::RunConfig& config,
                const config::RunFacts& facts) {
  out << "plan     " << zero_text(config, facts) << '\n';
  out << "         "
      << (facts.pp > 1 ? config.parallelism.pipeline_parallel_schedule : std::string("no pipeline"))
      << (config.parallelism.sequence_parallel ? ", sequence parallel" : "") << ", "
      << config.training.mixed_precision_param
      << (config.training.mixed_precision_reduce == "bfloat16" ? ", gradients sent in bfloat16"
                                                               : "")
      << kept_text(config) << ", " << config.optimizer.name << " lr " << config.optimizer.lr << ", "
      << config.training.steps << " steps" << (config.debug.deterministic ? ", deterministic" : "")
      << '\n';
}

}  // namespace

std::string start_block(const config::RunConfig& config,
                        const config::RunFacts& facts,
                        const std::vector<std::string>& remarks) {
  const std::unique_ptr<const decoder::Model> model = model_of(config);
  std::ostringstream out;
  out << "run      " << config.job.description << '\n';
  out << "model    " << config.model.name << ": " << model->description() << "; "
      << with_thousands(model->parameter_count()) << " parameters\n";
  write_mesh(out, config, facts);
  out << planned_table(value_or_throw(planned_memory(config, facts)));
  out << "batch    " << facts.batch_equation << "; " << with_thousands(facts.tokens_per_step)
      << " tokens a step\n";
  write_moves(out, config, facts);
  write_plan(out, config, facts);
  for (const std::string& remark : remarks) {
    out << "         " << remark << '\n';
  }
  return out.str();
}

}  // namespace brigade::loop
