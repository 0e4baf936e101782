// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/kept_peaks.h"

#include <nlohmann/json.hpp>

#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/output_file.h"

namespace brigade::scale {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;

std::string path_in(const std::string& folder) {
  return folder + "/peaks.json";
}

}  // namespace

Peaks kept_peaks(const std::string& folder) {
  const Result<std::string> text = checkpoint::read_text(path_in(folder), kMostBytes);
  const nlohmann::json rows =
      text ? nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false) : nlohmann::json();
  Peaks peaks;
  try {
    for (const nlohmann::json& row : rows) {
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
        const auto flops = row.at("flops_per_s").get<double>();
        if (row.at("dtype") == to_string(dtype) && flops > 0) {
          peaks[{dtype, row.at("threads").get<int64_t>()}] = flops;
        }
      }
    }
  } catch (const nlohmann::json::exception&) {
    return {};  // they are measured again
  }
  return peaks;
}

Result<void> keep_peaks(const std::string& folder, const Peaks& peaks) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [key, flops] : peaks) {
    rows.push_back(
        {{"dtype", to_string(key.first)}, {"threads", key.second}, {"flops_per_s", flops}});
  }
  return checkpoint::replace_durably(path_in(folder), rows.dump(2) + "\n");
}

}  // namespace brigade::scale
