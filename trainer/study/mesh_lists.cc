// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/mesh_lists.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

constexpr char kMesh[] = "mesh";

using Meshes = std::map<int64_t, std::vector<MeshChoice>>;

class MeshReader {
 public:
  MeshReader(TableReader& reader, const std::vector<int64_t>& ranks)
      : reader_(reader), ranks_(ranks) {}

  Meshes read() {
    const toml::node* given = reader_.node(kMesh);
    if (given != nullptr && given->is_table()) {
      by_number(*given->as_table());
    } else {
      std::vector<std::string> texts = {"dp"};
      reader_.texts(kMesh, texts);
      for (const std::string& text : texts) {
        for_all(text);
      }
    }
    for (const int64_t ranks : ranks_) {
      if (meshes_[ranks].empty() && !failed_) {
        reader_.problem(kMesh,
                        concat("no mesh is for ", ranks, " ranks; add a rule such as \"dp\""));
      }
    }
    return std::move(meshes_);
  }

 private:
  void problem(std::string text) {
    failed_ = true;
    reader_.problem(kMesh, std::move(text));
  }

  void for_all(const std::string& text) {
    if (is_rule(text)) {
      for (const int64_t ranks : ranks_) {
        take(text, ranks);
      }
      return;
    }
    const Result<Degrees> degrees = parse_degrees(text);
    if (!degrees) {
      problem(degrees.error().text);
    } else if (std::find(ranks_.begin(), ranks_.end(), degrees->ranks()) == ranks_.end()) {
      problem(concat("the mesh \"",
                     text,
                     "\" is for ",
                     degrees->ranks(),
                     " ranks, which `ranks` does not list; it lists ",
                     join(ranks_)));
    } else {
      take(text, degrees->ranks());
    }
  }

  void by_number(const toml::table& table) {
    TableReader rows(table, "grid.mesh", reader_.file(), reader_.problems());
    for (const auto& [key, node] : table) {
      const std::string_view digits = key.str();
      int64_t ranks = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), ranks);
      const bool number = error == std::errc() && end == digits.data() + digits.size();
      if (!number || std::find(ranks_.begin(), ranks_.end(), ranks) == ranks_.end()) {
        problem(concat("the table mesh goes by numbers of `ranks` (",
                       join(ranks_),
                       "), found `",
                       digits,
                       '`'));
        continue;
      }
      std::vector<std::string> texts;
      rows.texts(std::string(digits), texts);
      failed_ = failed_ || texts.empty();
      for (const std::string& text : texts) {
        take(text, ranks);
      }
    }
  }

  void take(const std::string& text, int64_t ranks) {
    const Result<MeshChoice> choice = mesh_choice(text, ranks);
    if (!choice) {
      problem(choice.error().text);
      return;
    }
    std::vector<MeshChoice>& chosen = meshes_[ranks];
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&choice](const auto& other) {
      return other.degrees == choice->degrees;
    });
    if (same != chosen.end() && ranks > 1) {
      problem(concat("the meshes \"",
                     same->text,
                     "\" and \"",
                     text,
                     "\" are the same one for ",
                     ranks,
                     " ranks; take one of them out"));
      return;
    }
    chosen.push_back(*choice);
  }

  TableReader& reader_;
  const std::vector<int64_t>& ranks_;
  Meshes meshes_;
  bool failed_ = false;
};

}  // namespace

Meshes read_meshes(TableReader& reader, const std::vector<int64_t>& ranks) {
  return MeshReader(reader, ranks).read();
}

}  // namespace brigade::study
