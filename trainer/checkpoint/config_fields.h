// SPDX-License-Identifier: Apache-2.0
/// ConfigFields: the fields of a config.json, typed; all that is wrong with them in one message.
/// Internal to this module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

/// A field that is null counts as not there. Each problem is noted, and a value that is good enough
/// to go on with returned.
class ConfigFields {
 public:
  /// `path` stands in front of field names: "rope_parameters.". `json` is borrowed.
  ConfigFields(const nlohmann::json& json, std::string path, std::vector<std::string>& problems)
      : json_(json), path_(std::move(path)), problems_(problems) {}

  bool has(const char* field) const { return find(field) != nullptr; }

  /// A whole number of at least 1.
  int64_t size(const char* field);
  int64_t size(const char* field, int64_t otherwise);
  double number(const char* field, double otherwise);
  bool truth(const char* field, bool otherwise);
  std::string text(const char* field, const std::string& otherwise);

  /// Notes a value that changes what the model computes, in a way that is not had here.
  template <class T>
  void demand(const char* field, const T& found, const T& wanted, const std::string& why) {
    if (found != wanted) {
      refuse(field, nlohmann::json(wanted).dump() + why);
    }
  }

  /// The field has to be absent or null.
  void demand_none(const char* field, const std::string& why);

  /// "hidden_act: found "gelu", accepted is ACCEPTED".
  void refuse(const char* field, const std::string& accepted);

  const nlohmann::json* find(const char* field) const;

 private:
  const nlohmann::json& json_;
  std::string path_;
  std::vector<std::string>& problems_;
};

}  // namespace brigade::checkpoint
