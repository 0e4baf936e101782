// SPDX-License-Identifier: Apache-2.0
// The composition root of `brigade`: which subcommands there are, and what each is made of.
#include <iostream>

#include "tools/bench/bench.h"
#include "tools/cli/dispatch.h"
#include "tools/convert/convert.h"
#include "tools/explain/explain.h"
#include "tools/inspect/inspect.h"
#include "tools/scale/scale.h"
#include "tools/train/train.h"
#include "trainer/loop/run_rank.h"

int main(int argc, char** argv) {
  using brigade::cli::Arguments;
  const std::vector<brigade::cli::Subcommand> subcommands = {
      {"train",
       "train a model as a recipe says",
       [](const Arguments& arguments) {
         const auto rank = [](const auto& config, const auto& who) {
           return brigade::loop::run_rank(config, who);
         };
         return brigade::train::train(arguments, rank, std::cout, std::cerr);
       }},
      {"bench",
       "time what a recipe does",
       [](const Arguments& arguments) {
         return brigade::bench::run(arguments, std::cout, std::cerr);
       }},
      {"convert",
       "move weights between checkpoints and Hugging Face folders",
       [](const Arguments& arguments) {
         return brigade::convert::convert(arguments, std::cout, std::cerr);
       }},
      {"explain",
       "say what a recipe will do and why",
       [](const Arguments& arguments) {
         return brigade::explain::explain(arguments, std::cout, std::cerr);
       }},
      {"inspect",
       "say what a checkpoint holds, whether it is whole, and where two differ",
       [](const Arguments& arguments) {
         return brigade::inspect::inspect(arguments, std::cout, std::cerr);
       }},
      {"scale",
       "measure how a recipe scales, and write a page about it",
       [](const Arguments& arguments) {
         return brigade::scale::scale(arguments, std::cout, std::cerr);
       }},
  };
  return brigade::cli::dispatch(subcommands, Arguments(argv, argv + argc), std::cout, std::cerr);
}
