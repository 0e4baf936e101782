// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/rank_work.h"

#include <chrono>
#include <utility>

#include "trainer/loop/process_memory.h"

namespace brigade::loop {
namespace {

using std::chrono::seconds;

/// Runs `body`; whatever it throws comes back as an Error.
template <class Body>
Result<void> caught(const Body& body) {
  try {
    return body();
  } catch (const Exception& exception) {
    return fail(exception.error());
  } catch (const std::exception& exception) {
    return fail(ErrorCode::kInternal, exception.what());
  }
}

}  // namespace

Result<std::unique_ptr<collective::World>> join_world(const config::RunConfig& config,
                                                      const launch::RankIdentity& who) {
  const seconds init_timeout(config.comm.init_timeout_seconds);
  if (who.world_size == 1) {
    return std::move(collective::in_process_worlds(1, init_timeout).front());
  }
  return collective::connect({.rank = who.rank,
                              .size = who.world_size,
                              .master_address = who.master_address,
                              .master_port = static_cast<uint16_t>(who.master_port),
                              .init_timeout = init_timeout,
                              .timeout = init_timeout});
}

Result<void> with_world(const config::RunConfig& config,
                        const launch::RankIdentity& who,
                        std::unique_ptr<RankWork> work) {
  keep_freed_memory();
  const Result<std::unique_ptr<collective::World>> world = join_world(config, who);
  if (!world) {
    return fail(world.error());
  }
  // Only now, so that a rank which cannot read its data tells the others instead of staying away.
  const Result<data::Sources> sources = data::open_sources(config);
  const Result<void> done = caught([&]() -> Result<void> {
    return sources ? work->run(**world, *sources) : fail(sources.error());
  });
  if (done) {
    work.reset();
    (*world)->close();
    return {};
  }
  const Error told = work->placed(done.error());
  (*world)->abort(told);
  Error first = work->placed((*world)->failure().value_or(told));
  work.reset();
  return fail(std::move(first));
}

}  // namespace brigade::loop
