// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/attribution.h"

#include <algorithm>
#include <string_view>

#include "parallel/base/text.h"

namespace brigade::scaling {
namespace {

constexpr std::string_view kBetweenAxes = "·";

struct Axes {
  bool pipeline = false;
  bool tensor = false;
  bool data = false;
  bool other = false;  // the name says something else than axes: "world"
};

Axes axes_of(std::string_view name) {
  Axes axes;
  while (true) {
    const size_t end = name.find(kBetweenAxes);
    const std::string_view axis = name.substr(0, end);
    if (axis == "pp") {
      axes.pipeline = true;
    } else if (axis == "tp") {
      axes.tensor = true;
    } else if (axis == "dp_replicate" || axis == "dp_shard") {
      axes.data = true;
    } else {
      axes.other = true;
    }
    if (end == std::string_view::npos) {
      return axes;
    }
    name.remove_prefix(end + kBetweenAxes.size());
  }
}

}  // namespace

Part part_of(Activity activity) {
  switch (activity) {
    case Activity::kForward:
    case Activity::kBackward: return Part::kCompute;
    case Activity::kReduce: return Part::kData;
    case Activity::kGather: return Part::kZero;
    case Activity::kMessage: return Part::kPipeline;
    case Activity::kNorm:
    case Activity::kUpdate: return Part::kOptimizer;
    case Activity::kLoading: return Part::kLoading;
    default: return Part::kIdle;
  }
}

Part exposed_part(Activity operation, const TimelineGroup& group) {
  const Axes axes = axes_of(group.name);
  if (axes.other || (axes.pipeline && (axes.tensor || axes.data))) {
    return Part::kIdle;
  }
  if (axes.pipeline) {
    return Part::kPipeline;
  }
  if (axes.data) {
    return operation == Activity::kAllGather ? Part::kZero : Part::kData;
  }
  return Part::kTensor;
}

Part waiting_part(Activity operation, const TimelineGroup& group, bool stages) {
  const Axes axes = axes_of(group.name);
  const bool across_stages = is_message(operation) || axes.pipeline || axes.other;
  return stages && across_stages ? Part::kBubble : Part::kIdle;
}

bool has_stages(const std::vector<RankTimeline>& timelines) {
  return std::ranges::any_of(timelines, [](const RankTimeline& timeline) {
    return std::ranges::any_of(timeline.groups, [](const TimelineGroup& group) {
      return group.members.size() > 1 && axes_of(group.name).pipeline;
    });
  });
}

std::string label_of(const TimedSpan& span, const std::vector<TimelineGroup>& groups) {
  if (span.group < 0) {
    return std::string(to_string(span.activity));
  }
  return concat(to_string(span.activity),
                ' ',
                groups[static_cast<size_t>(span.group)].name,
                ' ',
                bytes_text(span.bytes));
}

}  // namespace brigade::scaling
