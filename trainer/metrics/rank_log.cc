// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/rank_log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include "parallel/base/text.h"

namespace brigade::metrics {

struct RankLog::Library {
  std::shared_ptr<spdlog::logger> logger;  // shared: spdlog's own interface
};

RankLog::RankLog(const std::string& path, int rank, LineFile::Begin begin, DiskWarning& warning)
    : library_(std::make_unique<Library>()) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(
        path, /*truncate=*/begin == LineFile::Begin::kEmpty);
    auto logger = std::make_shared<spdlog::logger>("rank", std::move(sink));
    logger->set_pattern(concat("%Y-%m-%d %H:%M:%S.%e [rank ", rank, "] %l: %v"));
    logger->flush_on(spdlog::level::info);
    logger->set_error_handler(
        [path, &warning](const std::string& reason) { warning.report(path, reason); });
    library_->logger = std::move(logger);
  } catch (const spdlog::spdlog_ex& failure) {
    warning.report(path, failure.what());
  }
}

RankLog::~RankLog() = default;

void RankLog::info(std::string_view text) {
  if (library_->logger) {
    library_->logger->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
  }
}

void RankLog::warn(std::string_view text) {
  if (library_->logger) {
    library_->logger->log(spdlog::level::warn, spdlog::string_view_t(text.data(), text.size()));
  }
}

void RankLog::error(std::string_view text) {
  if (library_->logger) {
    library_->logger->log(spdlog::level::err, spdlog::string_view_t(text.data(), text.size()));
  }
}

}  // namespace brigade::metrics
