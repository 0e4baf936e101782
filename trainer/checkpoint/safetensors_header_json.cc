// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_header_json.h"

#include <set>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"

namespace brigade::checkpoint {
namespace {

using Json = nlohmann::json;

/// Every event returns whether to go on; problem() says why not.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader& header() { return header_; }
  const std::string& problem() const { return problem_; }

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(int64_t value) override { return unexpected(concat(value)); }
  bool number_float(double /*value*/, const std::string& text) override { return unexpected(text); }
  bool binary(Json::binary_t& /*value*/) override { return unexpected("binary data"); }

  bool number_unsigned(uint64_t value) override {
    if (where_ != Where::kShape && where_ != Where::kOffsets) {
      return unexpected(concat(value));
    }
    (where_ == Where::kShape ? entry_.shape : offsets_).push_back(value);
    return true;
  }

  bool string(std::string& value) override {
    if (where_ == Where::kMetadata) {
      header_.metadata[key_] = value;
      return true;
    }
    if (where_ != Where::kEntry || key_ != "dtype") {
      return unexpected(concat('"', value, '"'));
    }
    const auto type = parse_element_type(value);
    if (!type) {
      return refuse(concat(owner(), ": unknown dtype \"", value, '"'));
    }
    entry_.type = *type;
    return true;
  }

  bool start_object(size_t /*elements*/) override {
    if (where_ == Where::kStart) {
      where_ = Where::kTop;
      return true;
    }
    if (where_ != Where::kTop) {
      return unexpected("an object");
    }
    where_ = name_ == kMetadataKey ? Where::kMetadata : Where::kEntry;
    keys_.clear();
    entry_ = {};
    offsets_.clear();
    return true;
  }

  bool key(std::string& value) override {
    if (where_ == Where::kTop) {
      name_ = value;
      return names_.insert(value).second || refuse(concat("duplicate key \"", value, '"'));
    }
    key_ = value;
    if (!keys_.insert(value).second) {
      return refuse(concat(owner(), ": duplicate key \"", value, '"'));
    }
    return where_ == Where::kMetadata || value == "dtype" || value == "shape" ||
           value == "data_offsets" || refuse(concat(owner(), ": unknown key \"", value, '"'));
  }

  bool end_object() override {
    if (where_ == Where::kEntry) {
      where_ = Where::kTop;
      return finish_entry();
    }
    where_ = Where::kTop;
    return true;
  }

  bool start_array(size_t /*elements*/) override {
    if (where_ != Where::kEntry || key_ == "dtype") {
      return unexpected("an array");
    }
    where_ = key_ == "shape" ? Where::kShape : Where::kOffsets;
    return true;
  }

  bool end_array() override {
    where_ = Where::kEntry;
    return true;
  }

  bool parse_error(size_t position,
                   const std::string& /*token*/,
                   const Json::exception& error) override {
    return refuse(concat("the header is not JSON, byte ", position, ": ", error.what()));
  }

 private:
  enum class Where { kStart, kTop, kEntry, kShape, kOffsets, kMetadata };

  std::string owner() const {
    return where_ == Where::kMetadata ? std::string(kMetadataKey) : concat("tensor ", name_);
  }

  bool refuse(std::string why) {
    problem_ = std::move(why);
    return false;
  }

  bool unexpected(std::string_view found) {
    const std::string at = where_ == Where::kTop ? name_ : key_;
    const std::string before = where_ == Where::kStart || where_ == Where::kTop
                                   ? std::string("header")
                                   : owner() + ", key \"" + at + '"';
    return refuse(concat(before, ": expected ", expected(), "; found ", found));
  }

  std::string expected() const {
    switch (where_) {
      case Where::kStart: return "a JSON object";
      case Where::kTop: return concat("an object under \"", name_, '"');
      case Where::kMetadata: return "a string";
      case Where::kEntry: return key_ == "dtype" ? "a string" : "an array";
      case Where::kShape:
      case Where::kOffsets: return "whole numbers from 0 to 2^64 - 1";
    }
    return {};
  }

  bool finish_entry() {
    for (const char* const needed : {"dtype", "shape", "data_offsets"}) {
      if (!keys_.contains(needed)) {
        return refuse(concat(owner(), ": key \"", needed, "\" is missing"));
      }
    }
    if (offsets_.size() != 2) {
      return refuse(
          concat(owner(), ", key \"data_offsets\": expected two numbers; found ", offsets_.size()));
    }
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    header_.tensors.emplace(name_, std::move(entry_));
    return true;
  }

  SafetensorsHeader header_;
  Where where_ = Where::kStart;
  std::string name_;  // key of the header
  std::string key_;   // key of the entry
  std::set<std::string> names_;
  std::set<std::string> keys_;
  TensorInfo entry_;
  std::vector<uint64_t> offsets_;
  std::string problem_;
};

}  // namespace

Result<SafetensorsHeader> parse_header_json(std::string_view json) {
  HeaderReader reader;
  if (!Json::sax_parse(json, &reader)) {
    return fail(ErrorCode::kData, reader.problem());
  }
  return std::move(reader.header());
}

}  // namespace brigade::checkpoint
