// SPDX-License-Identifier: Apache-2.0
// Every recipe of configs/ trains: two steps, on a small text, with few layers where it has many.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/end_to_end/train_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> recipes() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BRIGADE_CONFIGS)) {
    const bool study = entry.path().parent_path().filename() == "studies";
    if (entry.path().extension() == ".toml" && !study) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class ProcessRecipes : public TrainProcessTest {
 protected:
  std::string text_file() const {
    const std::string path = folder_ + "/text";
    std::ofstream out(path);
    for (int line = 0; line < 4000; ++line) {
      out << "In the beginning was line " << line << ".\n";
    }
    return path;
  }
};

TEST_F(ProcessRecipes, AllTrain) {
  const std::string text = text_file();
  ASSERT_FALSE(recipes().empty());
  for (const std::string& recipe : recipes()) {
    SCOPED_TRACE(recipe);
    const Run run = command({"train",
                             "--config=" + recipe,
                             "job.dump_folder=" + run_folder(),
                             "training.dataset=text",
                             "training.dataset_path=" + text,
                             "training.steps=2",
                             "model.n_layers=2",
                             "validation.steps=1"});
    EXPECT_EQ(run->wait(60s), 0) << run->console();
    EXPECT_EQ(records().size(), 2U);
    EXPECT_TRUE(run->all_gone());
    std::filesystem::remove_all(run_folder());
  }
}

}  // namespace
}  // namespace brigade::end_to_end
