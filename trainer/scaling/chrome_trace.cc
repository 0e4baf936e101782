// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/chrome_trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/scaling/meetings.h"

namespace brigade::scaling {
namespace {

using nlohmann::json;

constexpr int kThread = 0;  // what held the rank
constexpr double kNsPerUs = 1e3;

int64_t first_ns(const std::vector<RankTimeline>& timelines) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const RankTimeline& timeline : timelines) {
    for (const TimedSpan& span : timeline.spans) {
      first = std::min(first, span.begin_ns);
    }
  }
  return first;
}

/// Where it was and what it moved: what is known of it.
json arguments_of(const TimedSpan& span) {
  json arguments = json::object();
  const std::pair<const char*, int64_t> places[] = {{"step", span.step},
                                                    {"stage", span.stage},
                                                    {"unit", span.unit},
                                                    {"microbatch", span.microbatch},
                                                    {"peer", span.peer}};
  for (const auto& [name, value] : places) {
    if (value >= 0) {
      arguments[name] = value;
    }
  }
  if (is_operation(span.activity)) {
    arguments["bytes"] = span.bytes;
    arguments["sequence"] = span.sequence;
  }
  if (is_message(span.activity)) {
    arguments["tag"] = span.tag;
  }
  return arguments;
}

class Trace {
 public:
  explicit Trace(const std::vector<RankTimeline>& timelines)
      : timelines_(timelines), meetings_(timelines), first_ns_(first_ns(timelines)) {}

  void add_rank(size_t index, bool arrows) {
    rank_ = timelines_[index].rank;
    add({{"ph", "M"}, {"name", "process_name"}, {"args", {{"name", concat("rank ", rank_)}}}});
    add({{"ph", "M"}, {"name", "process_sort_index"}, {"args", {{"sort_index", rank_}}}});
    for (const TimedSpan& span : timelines_[index].spans) {
      if (is_operation(span.activity)) {
        add_operation(index, span);
      } else {
        add_slice(std::string(to_string(span.activity)), span, span.begin_ns, span.end_ns);
      }
      if (arrows && span.activity == Activity::kReceive) {
        add_arrow(index, span);
      }
    }
  }

  std::string text() && {
    return concat(
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", join(events_, ",\n"), "\n]}\n");
  }

 private:
  double us(int64_t ns) const { return static_cast<double>(ns - first_ns_) / kNsPerUs; }

  void add(json event) {
    if (!event.contains("pid")) {
      event["pid"] = rank_;
    }
    event["tid"] = kThread;
    events_.push_back(event.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  void add_slice(std::string name, const TimedSpan& span, int64_t begin_ns, int64_t end_ns) {
    add({{"ph", "X"},
         {"name", std::move(name)},
         {"cat", is_operation(span.activity) ? "operation" : "activity"},
         {"ts", us(begin_ns)},
         {"dur", static_cast<double>(end_ns - begin_ns) / kNsPerUs},
         {"args", arguments_of(span)}});
  }

  void add_operation(size_t index, const TimedSpan& span) {
    std::string name(to_string(span.activity));
    if (span.group >= 0) {
      name += concat(' ', timelines_[index].groups[static_cast<size_t>(span.group)].name);
    }
    add_slice(concat("post ", name), span, span.begin_ns, span.posted_ns);
    add_slice(name, span, span.wait_ns, span.end_ns);
    const int64_t id = ++last_id_;
    for (const auto& [phase, ns] : {std::pair("b", span.begin_ns), std::pair("e", span.end_ns)}) {
      add({{"ph", phase},
           {"name", name},
           {"cat", "in flight"},
           {"id", id},
           {"ts", us(ns)},
           {"args", arguments_of(span)}});
    }
  }

  /// From the posting of the send into the wait of the receive. An arrow hangs on to the slice
  /// around its end, whose last instant is no longer in it.
  void add_arrow(size_t index, const TimedSpan& receive) {
    const TimedSpan* send = meetings_.sender_of(index, receive);
    if (send == nullptr) {
      return;
    }
    const int64_t id = ++last_id_;
    const json both = {{"name", "message"}, {"cat", "message"}, {"id", id}};
    json begin = both;
    begin.update({{"ph", "s"}, {"pid", receive.peer}, {"ts", us(send->begin_ns)}});
    add(std::move(begin));
    json end = both;
    const int64_t last_ns = std::max(receive.wait_ns, receive.end_ns - 1);
    end.update({{"ph", "f"}, {"bp", "e"}, {"ts", us(last_ns)}});
    add(std::move(end));
  }

  const std::vector<RankTimeline>& timelines_;
  const Meetings meetings_;
  const int64_t first_ns_;
  int64_t rank_ = 0;
  int64_t last_id_ = 0;
  std::vector<std::string> events_;
};

}  // namespace

std::string chrome_trace(const std::vector<RankTimeline>& timelines, std::optional<int64_t> rank) {
  Trace trace(timelines);
  for (size_t index = 0; index < timelines.size(); ++index) {
    if (!rank || *rank == timelines[index].rank) {
      trace.add_rank(index, !rank);
    }
  }
  return std::move(trace).text();
}

Result<void> write_chrome_trace(const std::string& path,
                                const std::vector<RankTimeline>& timelines,
                                std::optional<int64_t> rank) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << chrome_trace(timelines, rank);
  file.close();
  if (!file) {
    return fail(ErrorCode::kIo, concat("cannot write ", path, ": ", std::strerror(errno)));
  }
  return {};
}

}  // namespace brigade::scaling
