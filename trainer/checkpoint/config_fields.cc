// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/config_fields.h"

#include "parallel/base/text.h"

namespace brigade::checkpoint {

const nlohmann::json* ConfigFields::find(const char* field) const {
  const auto found = json_.find(field);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigFields::refuse(const char* field, const std::string& accepted) {
  const nlohmann::json* value = find(field);
  problems_.push_back(concat(path_,
                             field,
                             ": found ",
                             value == nullptr ? std::string("nothing") : value->dump(),
                             ", accepted is ",
                             accepted));
}

int64_t ConfigFields::size(const char* field) {
  const nlohmann::json* value = find(field);
  // The parser makes what is not negative unsigned; sizes above 2^31 are nobody's.
  if (value != nullptr && value->is_number_unsigned() && value->get<uint64_t>() >= 1 &&
      value->get<uint64_t>() <= INT32_MAX) {
    return value->get<int64_t>();
  }
  refuse(field, "a whole number of at least 1");
  return 1;
}

int64_t ConfigFields::size(const char* field, int64_t otherwise) {
  return has(field) ? size(field) : otherwise;
}

double ConfigFields::number(const char* field, double otherwise) {
  const nlohmann::json* value = find(field);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number()) {
    refuse(field, "a number");
    return otherwise;
  }
  return value->get<double>();
}

bool ConfigFields::truth(const char* field, bool otherwise) {
  const nlohmann::json* value = find(field);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    refuse(field, "true or false");
    return otherwise;
  }
  return value->get<bool>();
}

std::string ConfigFields::text(const char* field, const std::string& otherwise) {
  const nlohmann::json* value = find(field);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string()) {
    refuse(field, "a text");
    return otherwise;
  }
  return value->get<std::string>();
}

void ConfigFields::demand_none(const char* field, const std::string& why) {
  if (has(field)) {
    refuse(field, "null" + why);
  }
}

}  // namespace brigade::checkpoint
