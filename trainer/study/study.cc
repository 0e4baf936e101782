// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "parallel/base/text.h"
#include "trainer/config/toml_text.h"
#include "trainer/study/mesh_lists.h"
#include "trainer/study/peer_command.h"
#include "trainer/study/study_checks.h"
#include "trainer/study/table_reader.h"

namespace brigade::study {
namespace {

constexpr std::array kScalings = {
    scaling::Scaling::kStrong, scaling::Scaling::kWeak, scaling::Scaling::kMemoryConstrained};

/// Names become folders and words of tables.
bool is_name(const std::string& text) {
  return !text.empty() && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

void read_name(TableReader& reader, std::string& name) {
  reader.text("name", name);
  if (!reader.has("name")) {
    reader.problem("name", "a key is missing: name");
  } else if (!name.empty() && !is_name(name)) {
    reader.problem("name",
                   concat("a name is made of letters, digits and _ - . (it names a folder), found "
                          "\"",
                          name,
                          '"'));
  }
}

void read_scaling(TableReader& reader, scaling::Scaling& scaling) {
  std::string text(to_string(scaling));
  reader.text("scaling", text);
  for (const scaling::Scaling known : kScalings) {
    if (text == to_string(known)) {
      scaling = known;
      return;
    }
  }
  reader.problem("scaling",
                 concat("scaling is one of \"strong\", \"weak\" and \"memory_constrained\", found "
                        "\"",
                        text,
                        '"'));
}

void read_memory(TableReader& reader, int64_t& bytes) {
  const toml::node* given = reader.node("memory_per_rank");
  if (given == nullptr) {
    return;
  }
  if (given->is_integer() && given->as_integer()->get() > 0) {
    bytes = given->as_integer()->get();
    return;
  }
  const Result<int64_t> parsed = given->is_string() ? parse_bytes(given->as_string()->get())
                                                    : Result<int64_t>(fail(ErrorCode::kUsage, ""));
  if (parsed) {
    bytes = *parsed;
    return;
  }
  reader.problem("memory_per_rank",
                 concat("memory_per_rank is a number of bytes or a text such as \"2 GiB\", found ",
                        config::found(*given)));
}

void read_study_table(TableReader& reader, Study& study) {
  read_name(reader, study.name);
  reader.text("base", study.base);
  if (!reader.has("base")) {
    reader.problem("base", "a key is missing: base, the recipe that every point begins from");
  }
  read_scaling(reader, study.scaling);
  study.output_folder = concat("./outputs/scale_", study.name);
  reader.text("output_folder", study.output_folder);
  reader.integer("repeats", study.repeats, 1);
  reader.integer("steps", study.steps, 1);
  reader.integer("warmup_steps", study.warmup_steps, 0);
  reader.integer("seed", study.seed, 0);
  reader.flag("oversubscribe", study.oversubscribe);
  reader.integer("timeout_seconds", study.timeout_seconds, 1);
  reader.integer("batch_per_data_rank", study.batch_per_data_rank, 1);
  read_memory(reader, study.memory_per_rank);
  reader.texts("settings", study.settings);
}

void read_grid_table(TableReader& reader, Axes& grid) {
  reader.integers("ranks", grid.ranks, 1);
  reader.integers("threads", grid.threads, 1);
  std::sort(grid.ranks.begin(), grid.ranks.end());
  grid.meshes = read_meshes(reader, grid.ranks);
  reader.integers("zero_stage", grid.zero_stages, 0);
  reader.texts("schedule", grid.schedules);
  reader.integers("microbatch_size", grid.microbatch_sizes, 1);
  reader.texts("model_flavor", grid.flavors);
}

void read_peer(TableReader& reader, std::vector<Peer>& peers) {
  Peer peer;
  read_name(reader, peer.name);
  reader.text("command", peer.command);
  reader.texts("series", peer.series);
  if (!reader.has("command")) {
    reader.problem("command", "a key is missing: command, what /bin/sh runs for a point");
  }
  if (const Result<void> right = check_template(peer.command); !right) {
    reader.problem("command", right.error().text);
  }
  if (std::any_of(peers.begin(), peers.end(), [&](const Peer& p) { return p.name == peer.name; })) {
    reader.problem("name", concat("two peers have the name \"", peer.name, '"'));
  }
  peers.push_back(std::move(peer));
}

class StudyReader {
 public:
  explicit StudyReader(const std::string& path) : path_(path) { study_.path = path; }

  Result<Study> read(std::string_view text) {
    const std::optional<toml::table> root = config::parse_toml(text, path_, problems_);
    if (root) {
      tables(*root);
    }
    if (!problems_.empty()) {
      return fail(problems_.error());
    }
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    study_.base = (folder / study_.base).lexically_normal().string();
    return std::move(study_);
  }

 private:
  /// nullptr, with a problem, where it is missing or no table.
  const toml::table* table(const toml::table& root, const std::string& name) {
    const toml::node* node = root.get(name);
    if (node != nullptr && node->is_table()) {
      return node->as_table();
    }
    if (node == nullptr) {
      problems_.add(config::in_file(path_, 1, 1), concat("the table [", name, "] is missing"));
    } else {
      TableReader(root, "", path_, problems_).problem(name, concat(name, " must be a table"));
    }
    return nullptr;
  }

  void tables(const toml::table& root) {
    const toml::table* study_table = table(root, "study");
    const toml::table* grid_table = table(root, "grid");
    if (study_table != nullptr && grid_table != nullptr) {
      study_and_grid(*study_table, *grid_table);
    }
    peers(root);
    unknown_tables(root);
  }

  void study_and_grid(const toml::table& study_table, const toml::table& grid_table) {
    TableReader study(study_table, "study", path_, problems_);
    TableReader grid(grid_table, "grid", path_, problems_);
    read_study_table(study, study_);
    read_grid_table(grid, study_.grid);
    check_study(study_, study);
    check_grid(study_, grid);
    study.finish();
    grid.finish();
  }

  void peers(const toml::table& root) {
    const toml::node* node = root.get("peer");
    if (node == nullptr) {
      return;
    }
    if (!node->is_array_of_tables()) {
      TableReader(root, "", path_, problems_)
          .problem("peer", "peers are a list of tables; write [[peer]]");
      return;
    }
    for (const toml::node& entry : *node->as_array()) {
      TableReader reader(*entry.as_table(), "peer", path_, problems_);
      read_peer(reader, study_.peers);
      reader.finish();
    }
  }

  void unknown_tables(const toml::table& root) {
    static const std::vector<std::string> kTables = {"study", "grid", "peer"};
    TableReader reader(root, "", path_, problems_);
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (std::find(kTables.begin(), kTables.end(), name) != kTables.end()) {
        continue;
      }
      const std::optional<std::string> near = nearest_name(name, kTables);
      reader.problem(name,
                     concat(node.is_table() || node.is_array_of_tables()
                                ? concat("unknown table [", name, ']')
                                : concat("unknown key `", name, "` outside any table"),
                            near ? concat("; the nearest is [", *near, ']')
                                 : "; a study has [study], [grid] and [[peer]]"));
    }
  }

  std::string path_;
  Study study_;
  config::Problems problems_;
};

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (unit.starts_with(' ')) {
    unit.remove_prefix(1);
  }
  const auto* found = unit.empty() ? kUnits.begin() : std::find(kUnits.begin(), kUnits.end(), unit);
  constexpr double kMost = 0x1p62;
  const double bytes =
      found == kUnits.end() ? 0 : std::ldexp(number, 10 * static_cast<int>(found - kUnits.begin()));
  if (error != std::errc() || !(bytes >= 1) || bytes > kMost) {
    return fail(
        ErrorCode::kUsage,
        concat(
            "expected a size such as \"2 GiB\" (units: ", join(kUnits), "), found \"", text, '"'));
  }
  return static_cast<int64_t>(bytes);
}

Result<Study> read_study(std::string_view text, const std::string& path) {
  return StudyReader(path).read(text);
}

Result<Study> load_study(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  if (!in || std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::kIo,
                concat("the study could not be read: ",
                       in ? "it is a folder" : std::strerror(errno),
                       ": ",
                       path));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return read_study(text.str(), path);
}

}  // namespace brigade::study
