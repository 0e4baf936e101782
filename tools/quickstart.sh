#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a trained model: eight ranks, 2 x 2 x 2 over pipeline, data and tensor, learn real text.
#
#   tools/quickstart.sh
#
# Says before each step what it does, and changes nothing that is already in place: run it as often as you like. Variables
# that steer it are at the top of tools/prepare.sh; LIBTORCH_ROOT=<site-packages>/torch uses a libtorch that you have, and
# BRIGADE_TEXT=FILE (absolute, or from the root of the checkout) trains on a text of your own.
cd "$(dirname "$0")/.."
source tools/prepare.sh

recipe=configs/tiny/3d_2x2x2.toml
run=outputs/quickstart
text="${BRIGADE_TEXT:-data/kjv.txt}"
brigade=build/release/brigade

step "Debian packages: compiler, libraries, and the text to train on (tools/packages.txt)"
install_packages build text optional
check_cmake

step "libtorch $TORCH_VERSION, out of the Python wheel"
provide_libtorch

step "Build of the release preset into build/release, on $(cores) cores: some minutes the first time"
cmake --preset release --log-level=WARNING -DLIBTORCH_ROOT="$LIBTORCH_ROOT"
cmake --build --preset release --parallel "$(cores)"

step "The training text: $text"
if [ -n "${BRIGADE_TEXT:-}" ]; then
  [ -r "$text" ] || fail "BRIGADE_TEXT=$text is no file that can be read"
  say "already there: $text"
else
  bash tools/make_text.sh "$text"
fi

step "Training of $recipe: eight processes on this machine, at most three minutes"
if [ -e "$run/finished" ]; then
  say "already there: $run (remove it to train again)"
else
  [ -x "$brigade" ] || fail "the build left no $brigade"
  "$brigade" train --config="$recipe" "job.dump_folder=$run" "training.dataset_path=$text"
  touch "$run/finished"
fi

step "Done. What to try next"
cat <<END
   The same model on one rank; the losses agree:
     $brigade train --config=$recipe parallelism.pipeline_parallel_degree=1 \\
       parallelism.data_parallel_shard_degree=1 parallelism.tensor_parallel_degree=1 job.dump_folder=outputs/one
   Sharded optimizer states, or another schedule:
     $brigade train --config=$recipe parallelism.zero_stage=1 job.dump_folder=outputs/zero1
     $brigade train --config=$recipe parallelism.pipeline_parallel_schedule=GPipe job.dump_folder=outputs/gpipe
   A text of your own, any file of bytes:
     $brigade train --config=$recipe training.dataset_path=FILE job.dump_folder=outputs/mine
   What a recipe says once every default is filled in, and every command:
     $brigade train --config=$recipe --print-config
     $brigade --help
   The numbers of this run, one object a step: $run/metrics.jsonl
   How it works: docs/ARCHITECTURE.md
END
