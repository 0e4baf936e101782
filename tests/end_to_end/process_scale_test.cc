// SPDX-License-Identifier: Apache-2.0
// `brigade scale` from outside: its folder, its files, its exit codes; and what it is made of, the
// profiles of `brigade train`.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"

namespace brigade::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

double sum_of(const json& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0, [](double sum, const json& number) {
    return sum + number.get<double>();
  });
}

int64_t cores() {
  return static_cast<int64_t>(std::thread::hardware_concurrency());
}

class ProcessScale : public TrainProcessTest {
 protected:
  using Rows = std::vector<std::map<std::string, std::string>>;

  /// A study of 2 + 3 steps, one run a point unless `study` says otherwise.
  void write_study(const std::string& study,
                   const std::string& grid,
                   const std::string& peers = "",
                   const std::string& name = "small") const {
    const std::string repeats = study.find("repeats") == std::string::npos ? "repeats = 1\n" : "";
    std::ofstream(study_path()) << "[study]\nname = \"" << name << "\"\nbase = \"recipe.toml\"\n"
                                << "output_folder = \"" << out() << "\"\nwarmup_steps = 2\n"
                                << "steps = 3\n"
                                << repeats << study << "\n[grid]\n"
                                << grid << '\n'
                                << peers;
  }

  static std::string peer(const std::string& name, const std::string& command) {
    return "[[peer]]\nname = \"" + name + "\"\ncommand = '" + command + "'\n";
  }

  Run begin(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"scale", "--config=" + study_path()};
    words.insert(words.end(), more.begin(), more.end());
    return command(words);
  }

  /// The exit code; the console is in console_.
  int scale(const std::vector<std::string>& more = {}) {
    const Run run = begin(more);
    const int code = run->wait(100s).value_or(-1);
    console_ = run->console();
    EXPECT_TRUE(run->all_gone());
    return code;
  }

  std::string study_path() const { return folder_ + "/study.toml"; }
  std::string out() const { return folder_ + "/out"; }
  std::string page() const { return text_of(out() + "/scale.html"); }
  json results() const { return json::parse(text_of(out() + "/scale.json")); }

  json point(const std::string& id_part) const {
    const json all = results();
    for (const json& found : all["points"]) {
      if (found["point"]["id"].get<std::string>().find(id_part) != std::string::npos) {
        return found;
      }
    }
    ADD_FAILURE() << "no point " << id_part;
    return {};
  }

  /// Of scale.csv, for studies whose fields have no commas.
  Rows rows() const {
    std::istringstream text(text_of(out() + "/scale.csv"));
    const auto fields_of = [](std::string line) {
      line.erase(std::remove(line.begin(), line.end(), '\r'), line.end());
      std::istringstream in(line + ',');
      std::vector<std::string> fields;
      for (std::string field; std::getline(in, field, ',');) {
        fields.push_back(field);
      }
      return fields;
    };
    std::string line;
    std::getline(text, line);
    const std::vector<std::string> names = fields_of(line);
    Rows rows;
    while (std::getline(text, line)) {
      const std::vector<std::string> fields = fields_of(line);
      EXPECT_EQ(fields.size(), names.size()) << line;
      rows.emplace_back();
      for (size_t i = 0; i < std::min(names.size(), fields.size()); ++i) {
        rows.back()[names[i]] = fields[i];
      }
    }
    return rows;
  }

  /// When each finished run was written, by path: a run that is repeated begins with a new folder.
  std::map<std::string, fs::file_time_type> finished() const {
    std::map<std::string, fs::file_time_type> times;
    std::error_code error;
    for (fs::recursive_directory_iterator at(out() + "/points", error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().filename() == "result.json") {
        const fs::file_time_type time = fs::last_write_time(at->path(), error);
        times.emplace(at->path().string(), time);
      }
    }
    return times;
  }

  /// Waits for a finished run while others are left.
  bool has_begun(const Run& run) const {
    return testing::comes_true([&] { return run->wait(0s) || !finished().empty(); }) &&
           !run->wait(0s);
  }

  void expect_kept(const std::map<std::string, fs::file_time_type>& before) const {
    const auto now = finished();
    for (const auto& [path, time] : before) {
      ASSERT_TRUE(now.contains(path)) << path;
      EXPECT_EQ(now.at(path), time) << path;
    }
  }

  void expect_failed(const std::string& id, const std::string& why, const std::string& line) const {
    const json found = point(id);
    EXPECT_THAT(found["failure"].get<std::string>(), HasSubstr(why)) << id;
    EXPECT_THAT(found["last_lines"].dump(), HasSubstr(line)) << id;
    EXPECT_EQ(found["repeats"], 0) << id;
  }
};

TEST_F(ProcessScale, AListRunsNothing) {
  write_study("repeats = 2", "ranks = [1, 2]\nmesh = [\"dp\", \"tp\"]");
  EXPECT_EQ(scale({"--list"}), 0);
  for (const char* part : {"one-r1", "dp-r2", "tp-r2", "3 points x 2 repeats = 6 runs"}) {
    EXPECT_THAT(console_, HasSubstr(part));
  }
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ProcessScale, AStudyYieldsNumbersAndAPage) {
  write_study("", "ranks = [1, 2]\nmesh = [\"dp\", \"tp\", \"pp\"]");
  ASSERT_EQ(scale(), 0);
  EXPECT_THAT(page(),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("small"), HasSubstr("</html>")));
  const json found = results();
  for (const char* key : {"version", "config_hash", "machine", "began", "ended"}) {
    EXPECT_FALSE(found["provenance"][key].get<std::string>().empty()) << key;
  }
  EXPECT_EQ(found["provenance"]["study"], "small");
  EXPECT_EQ(found["provenance"]["cores"], cores());
  EXPECT_EQ(found["series"].size(), 3U);
  ASSERT_EQ(found["points"].size(), 4U);
  for (const json& one : found["points"]) {
    SCOPED_TRACE(one["point"]["id"]);
    const auto ranks = one["point"]["ranks"].get<size_t>();
    EXPECT_EQ(one["step_ms"].size(), 3U);
    EXPECT_EQ(one["peak_bytes"].size(), ranks);
    EXPECT_THAT(one["peak_bytes"], Not(Contains(0)));
    EXPECT_EQ(one["bytes_by_axis"].empty(), ranks == 1);
    ASSERT_EQ(one["breakdown_by_rank"].size(), ranks);
    EXPECT_EQ(one["one_step"].size(), ranks);
    const double parts = sum_of(one["breakdown_by_rank"][0]);
    EXPECT_GT(parts, 0.0);
    for (const json& of_rank : one["breakdown_by_rank"]) {
      EXPECT_NEAR(sum_of(of_rank), parts, 1e-6 * parts);
    }
  }
  EXPECT_TRUE(point("dp-r2")["bytes_by_axis"].contains("dp_shard"));
  EXPECT_TRUE(point("tp-r2")["bytes_by_axis"].contains("tp"));
  EXPECT_TRUE(point("pp-r2")["bytes_by_axis"].contains("pp"));
}

TEST_F(ProcessScale, JsonAndCsvSayTheSame) {
  write_study("repeats = 2", "ranks = [1, 2]\nmesh = [\"dp\", \"pp\"]");
  ASSERT_EQ(scale(), 0);
  const json points = results()["points"];
  const Rows csv = rows();
  ASSERT_EQ(csv.size(), points.size());
  for (size_t i = 0; i < csv.size(); ++i) {
    const json& point = points[i];
    const auto number = [&](const std::string& name) { return std::stod(csv[i].at(name)); };
    EXPECT_EQ(csv[i].at("id"), point["point"]["id"]);
    EXPECT_EQ(csv[i].at("mesh"), point["point"]["mesh"]);
    for (const char* key :
         {"ranks", "threads", "zero_stage", "microbatch_size", "global_batch_size"}) {
      EXPECT_EQ(number(key), point["point"][key].get<double>()) << key;
    }
    EXPECT_EQ(csv[i].at("repeats"), "2");
    EXPECT_EQ(csv[i].at("steps"), "6");
    EXPECT_EQ(number("step_ms"), point["median_step_ms"]["value"]);
    EXPECT_EQ(number("step_ms_low"), point["median_step_ms"]["low"]);
    EXPECT_EQ(number("step_ms_high"), point["median_step_ms"]["high"]);
    EXPECT_EQ(number("tokens_per_s"), point["tokens_per_s"]["value"]);
    EXPECT_EQ(number("mfu"), point["mfu"]);
    const auto peaks = point["peak_bytes"].get<std::vector<double>>();
    EXPECT_EQ(number("peak_bytes"), *std::max_element(peaks.begin(), peaks.end()));
    double compute = 0;
    for (const json& rank : point["breakdown_by_rank"]) {
      compute += rank["compute"].get<double>() / static_cast<double>(peaks.size());
    }
    EXPECT_NEAR(number("compute_ms"), compute, 1e-9 * compute);
  }
}

TEST_F(ProcessScale, GoesOnAfterATerminationWhereItWas) {
  write_study("repeats = 2", "ranks = [1, 2]\nmesh = [\"dp\", \"pp\"]");
  const Run run = begin();
  ASSERT_TRUE(has_begun(run)) << run->console();
  ASSERT_TRUE(run->signal(SIGTERM));
  EXPECT_EQ(run->wait(30s), 75) << run->console();
  EXPECT_TRUE(run->all_gone());
  const auto before = finished();
  EXPECT_LT(before.size(), 6U);
  EXPECT_EQ(results()["points"].size(), 3U);
  EXPECT_FALSE(rows().empty());
  EXPECT_THAT(page(), HasSubstr("</html>"));
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(finished().size(), 6U);
  expect_kept(before);
  const auto all = finished();
  ASSERT_EQ(scale(), 0);
  expect_kept(all);
}

TEST_F(ProcessScale, GoesOnAfterItWasKilled) {
  write_study("repeats = 2", "ranks = [1, 2]");
  const Run run = begin();
  ASSERT_TRUE(has_begun(run)) << run->console();
  ASSERT_TRUE(run->signal(SIGKILL));
  EXPECT_EQ(run->wait(10s), 137);
  EXPECT_TRUE(testing::comes_true([&] { return run->processes().empty(); }, 15s));
  const auto before = finished();
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(finished().size(), 4U);
  expect_kept(before);
}

TEST_F(ProcessScale, RefusesTheFolderOfAnotherStudyAndOfAChangedOne) {
  write_study("", "ranks = [1]");
  ASSERT_EQ(scale(), 0);
  const auto before = finished();
  write_study("", "ranks = [1]", "", "other");
  EXPECT_EQ(scale(), 2);
  EXPECT_THAT(console_, HasSubstr("holds the study \"small\", not \"other\""));
  write_study("seed = 7", "ranks = [1]");
  EXPECT_EQ(scale(), 2);
  EXPECT_THAT(console_, HasSubstr("seed was 42 and is 7"));
  expect_kept(before);
}

TEST_F(ProcessScale, SaysOfEachPointWhyItCannotRun) {
  write_study("oversubscribe = true", "ranks = [3, 5]\nmesh = [\"dp\", \"tp\"]");
  EXPECT_EQ(scale(), 2);
  for (const char* id : {"\n  dp-r3: ", "\n  tp-r3: ", "\n  dp-r5: ", "\n  tp-r5: "}) {
    EXPECT_THAT(console_, HasSubstr(id));
  }
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ProcessScale, MoreThreadsThanCoresNeedTheirKeyAndAreMarked) {
  const std::string grid = "ranks = [2]\nthreads = " + std::to_string(cores());
  write_study("", grid);
  EXPECT_EQ(scale(), 2);
  EXPECT_THAT(console_, HasSubstr("set oversubscribe = true in [study]"));
  write_study("oversubscribe = true", grid);
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(point("dp-r2")["point"]["oversubscribed"], true);
  EXPECT_EQ(rows().at(0).at("oversubscribed"), "1");
  EXPECT_THAT(page(), HasSubstr("1 point is oversubscribed"));
}

TEST_F(ProcessScale, PeersThatFailAreRecordedAndTheStudyGoesOn) {
  write_study("",
              "ranks = [1]",
              peer("silent", "echo not a word of JSON") + peer("junk", R"(printf "\377{{\n {{]")") +
                  peer("three", "echo it was lost >&2; exit 3") +
                  peer("good",
                       R"(echo begins; printf "{{\"step_ms_median\": 12.5, )"
                       R"(\"peak_rss_mb_per_rank\": [2], )"
                       R"(\"comm_bytes_per_step_all_ranks\": {steps}}}\n")"));
  ASSERT_EQ(scale(), 0);
  expect_failed("silent", "no line that is a JSON object", "not a word of JSON");
  expect_failed("junk", "no line that is a JSON object", "{]");
  expect_failed("three", "exit code 3", "it was lost");
  const json good = point("good");
  EXPECT_EQ(good["failure"], "");
  EXPECT_EQ(good["point"]["peer"], "good");
  EXPECT_EQ(good["median_step_ms"]["value"], 12.5);
  EXPECT_EQ(good["peak_bytes"], json::array({2 << 20}));
  EXPECT_EQ(good["bytes_by_axis"], json({{"all", 5}}));
  EXPECT_EQ(good["tokens_per_s"]["value"], 8 * 16 / 12.5e-3);
  EXPECT_EQ(results()["points"][0]["failure"], "");
  EXPECT_THAT(page(), HasSubstr("good"));
}

TEST_F(ProcessScale, APeerThatTakesTooLongIsEnded) {
  write_study(
      "timeout_seconds = 4", "ranks = [1]", peer("slow", "echo still here; setsid sleep 600"));
  ASSERT_EQ(scale(), 0);
  expect_failed("slow", "timeout_seconds = 4", "still here");
  EXPECT_EQ(results()["points"][0]["failure"], "");
}

TEST_F(ProcessScale, WhereAllPointsFailThereIsAPage) {
  write_study(
      "settings = [\"training.dataset=text\", \"training.dataset_path=" + folder_ + "/absent\"]",
      "ranks = [1, 2]");
  EXPECT_EQ(scale(), 1);
  EXPECT_THAT(console_, HasSubstr("no point of study small could be measured"));
  expect_failed("one-r1", "exit code 1", "/absent");
  expect_failed("dp-r2", "exit code 1", "/absent");
  EXPECT_THAT(page(), AllOf(HasSubstr("exit code 1"), HasSubstr("</html>")));
  const auto before = finished();
  EXPECT_EQ(scale(), 1);
  expect_kept(before);
  fs::copy_file(folder_ + "/recipe.toml", folder_ + "/absent");
  EXPECT_EQ(scale({"--again"}), 0);
  EXPECT_EQ(point("dp-r2")["failure"], "");
}

TEST_F(ProcessScale, KeysThatContradictOneAnotherAreNamedWithTheirLines) {
  write_study("settings = [\"parallelism.zero_stage=1\"]",
              "ranks = [1, 2]\nzero_stage = [0, 1]\nschedule = \"1F1B\"");
  EXPECT_EQ(scale(), 2);
  EXPECT_THAT(console_, HasSubstr("study.toml:8:1: parallelism.zero_stage contradicts zero_stage"));
  EXPECT_THAT(console_, HasSubstr("study.toml:12:1: schedule is for pipelines"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(ProcessScale, WeakScalingGrowsTheBatch) {
  write_study("scaling = \"weak\"\nbatch_per_data_rank = 4", "ranks = [1, 2]");
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(results()["scaling"], "weak");
  EXPECT_EQ(point("one-r1")["point"]["global_batch_size"], 4);
  EXPECT_EQ(point("dp-r2")["point"]["global_batch_size"], 8);
}

class ProcessProfile : public TrainProcessTest {
 protected:
  std::string traces() const { return run_folder() + "/profile_traces"; }

  static Settings profiled(int every) {
    return {"parallelism.data_parallel_shard_degree=2",
            "parallelism.pipeline_parallel_degree=2",
            "training.seq_len=128",
            "profiling.enable_profiling=true",
            "profiling.profiler_active=2",
            "profiling.profile_freq=" + std::to_string(every)};
  }
};

TEST_F(ProcessProfile, OfDataAndPipelineRanksAddsUp) {
  ASSERT_EQ(train(profiled(5)), 0);
  EXPECT_THAT(console_, HasSubstr("profile of " + traces() + "/iteration_5/trace.json: "));
  const json trace = json::parse(text_of(traces() + "/iteration_5/trace.json"));
  std::map<int, int> slices;
  double begin = 1e300;
  double end = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      ++slices[event["pid"].get<int>()];
      const int step = event["args"].value("step", 4);  // some, such as agreements, are of none
      EXPECT_TRUE(step == 4 || step == 5) << event;
      begin = std::min(begin, event["ts"].get<double>());
      end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    }
  }
  EXPECT_EQ(slices.size(), 4U);
  const json profile = json::parse(text_of(traces() + "/iteration_5/profile.json"));
  ASSERT_EQ(profile["ranks"].size(), 4U);
  for (const json& rank : profile["ranks"]) {
    EXPECT_GT(rank["peak_bytes"].get<int64_t>(), 0);
    EXPECT_TRUE(rank["bytes_by_axis"].contains("dp_shard"));
    EXPECT_TRUE(rank["bytes_by_axis"].contains("pp"));
  }
  // Two steps that do not overlap: agreements and reports stand between them.
  const double both_ms = 2 * sum_of(profile["mean_ms"]);
  const double all_ms = (end - begin) / 1e3;
  EXPECT_LE(both_ms, 1.001 * all_ms);
  EXPECT_GT(both_ms, 0.5 * all_ms);
  EXPECT_GT(profile["mean_ms"]["compute"].get<double>(), 0.0);
}

TEST_F(ProcessProfile, OfAStepThatIsNeverReachedWritesNothing) {
  ASSERT_EQ(train(profiled(6)), 0);
  EXPECT_THAT(console_, Not(HasSubstr("profile of")));
  EXPECT_FALSE(fs::exists(traces()));
}

TEST_F(ProcessScale, ThePartsOfAPointAddUpToItsStep) {
  write_study("settings = [\"training.seq_len=128\"]", "ranks = [1, 2]");
  ASSERT_EQ(scale(), 0);
  const json all = results();
  for (const json& one : all["points"]) {
    const double step = sum_of(one["step_ms"]) / 3;
    EXPECT_NEAR(sum_of(one["breakdown_by_rank"][0]), step, 0.01 * step) << one["point"]["id"];
  }
}

TEST_F(ProcessScale, ATerminationBeforeTheFirstRunIsAStop) {
  write_study("", "ranks = [1, 2]");
  const Run run = begin();
  ASSERT_TRUE(testing::comes_true([&] { return fs::exists(out() + "/study.json"); }));
  ASSERT_TRUE(run->signal(SIGTERM));
  EXPECT_EQ(run->wait(30s), 75) << run->console();
  EXPECT_TRUE(run->all_gone());
}

TEST_F(ProcessScale, ProfilingIsTheStudysOwn) {
  write_study("settings = [\"profiling.enable_profiling=false\"]", "ranks = [1]");
  EXPECT_EQ(scale(), 2);
  EXPECT_THAT(console_, HasSubstr("study.toml:8:1: profiling.enable_profiling is decided by"));
}

TEST_F(ProcessScale, AFolderForTracesInTheBaseLosesNoBreakdown) {
  std::ofstream(folder_ + "/recipe.toml", std::ios::app)
      << "\n[profiling]\nsave_traces_folder = \"mine\"\n";
  write_study("", "ranks = [2]");
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(point("dp-r2")["breakdown_by_rank"].size(), 2U);
}

TEST_F(ProcessScale, AFinishedStudySaysTheSameAgain) {
  write_study("", "ranks = [1]");
  ASSERT_EQ(scale(), 0);
  const json first = results();
  ASSERT_EQ(scale(), 0);
  EXPECT_EQ(results()["peaks"], first["peaks"]);
  EXPECT_EQ(results()["points"][0]["mfu"], first["points"][0]["mfu"]);
}

TEST_F(ProcessScale, ATimeOfAPeerThatNoStepTakesIsNotMeasured) {
  write_study("",
              "ranks = [1]",
              peer("endless", R"(echo "{{\"step_ms_median\": 1e308}}")") +
                  peer("instant", R"(echo "{{\"step_ms_median\": 1e-320}}")"));
  ASSERT_EQ(scale(), 0);
  expect_failed("endless", "step_ms_median", "1e308");
  expect_failed("instant", "step_ms_median", "1e-320");
}

TEST_F(ProcessScale, MoreRunsThanCanBeCountedAreRefused) {
  write_study("repeats = 9223372036854775807", "ranks = [1, 2]");
  EXPECT_EQ(scale({"--list"}), 2);
  EXPECT_THAT(console_, HasSubstr("study.repeats"));
}

}  // namespace
}  // namespace brigade::end_to_end
