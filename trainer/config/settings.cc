// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/settings.h"

#include <algorithm>
#include <tuple>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/config/keys.h"

namespace brigade::config {

Place in_file(const std::string& name, int64_t line, int64_t column) {
  return {Place::Source::kFile, line, column, concat(name, ':', line, ':', column)};
}

Place on_command_line(std::string_view argument) {
  return {Place::Source::kCommandLine, 0, 0, concat("command line: ", argument)};
}

const Setting* Settings::given(const Key& key) const {
  const auto found = given_.find(&key);
  return found == given_.end() ? nullptr : &found->second;
}

std::optional<Value> Settings::value(std::string_view full_name) const {
  const Key* key = find_key(full_name);
  BRIGADE_CHECK(key != nullptr, full_name);
  const Setting* setting = given(*key);
  return setting != nullptr ? setting->value : key->fallback;
}

Place Settings::place(const Key& key) const {
  const Setting* setting = given(key);
  return setting != nullptr ? setting->place : Place();
}

void Problems::add(Place place, std::string text, const Key* about) {
  spoiled_.insert(about);
  problems_.push_back({std::move(place), std::move(text)});
}

void Problems::ask(Place place, std::string text, std::string remedy, const Key* about) {
  spoiled_.insert(about);
  asks_.push_back({std::move(place), concat(text, "; to go on, set ", remedy)});
  remedies_.push_back(std::move(remedy));
}

std::string Problems::listed(std::vector<Problem> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  std::string out;
  for (const Problem& problem : problems) {
    out += concat("\n  ", problem.place.text, ": ", problem.text);
  }
  return out;
}

Error Problems::error() const {
  std::string text;
  if (!problems_.empty()) {
    text = concat(problems_.size(),
                  problems_.size() == 1 ? " problem" : " problems",
                  " in the configuration:",
                  listed(problems_));
  }
  if (!asks_.empty()) {
    text += concat(text.empty() ? "" : "\n",
                   asks_.size(),
                   asks_.size() == 1 ? " setting" : " settings",
                   " that this version cannot follow:",
                   listed(asks_));
  }
  if (remedies_.size() > 1) {
    text += concat("\n  all at once: ", join(remedies_, " "));
  }
  return Error{ErrorCode::kUsage, text, -1};
}

}  // namespace brigade::config
