// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/earlier_records.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"

namespace brigade::metrics {
namespace {

bool stays(const std::string& line, int64_t step) {
  const nlohmann::json record = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) {
    return false;
  }
  const auto found = record.find("step");
  return found != record.end() && found->is_number_integer() && found->get<int64_t>() <= step;
}

/// Calls `take` with each line; `whole`: whether its end was there.
void each_line(const std::string& path,
               const std::function<void(const std::string& line, bool whole)>& take) {
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    take(line, !in.eof());
  }
}

bool all_stay(const std::string& path, int64_t step) {
  bool all = true;
  each_line(path,
            [&](const std::string& line, bool whole) { all = all && whole && stays(line, step); });
  return all;
}

}  // namespace

void keep_earlier_records(const std::string& path, int64_t step, DiskWarning& warning) {
  std::error_code error;
  // A link stays one.
  const std::string file = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_regular_file(file, error) || all_stay(file, step)) {
    return;
  }
  const std::string renewed = concat(file, ".new");
  std::ofstream out(renewed, std::ios::binary | std::ios::trunc);
  each_line(file, [&](const std::string& line, bool /*whole*/) {
    if (stays(line, step)) {
      out << line << '\n';
    }
  });
  out.close();
  if (!out) {
    warning.report(path, std::strerror(errno));
    std::filesystem::remove(renewed, error);
    return;
  }
  std::filesystem::rename(renewed, file, error);
  if (error) {
    warning.report(path, error.message());
  }
}

}  // namespace brigade::metrics
