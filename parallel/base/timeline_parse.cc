// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/base/timeline_file.h"

namespace brigade {
namespace {

/// Reads lines and the fields of the present one; remembers the first thing that was wrong.
class Lines {
 public:
  Lines(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  bool good() const { return !wrong_.has_value(); }
  const std::optional<Error>& wrong() const { return wrong_; }
  bool more() const { return good() && !rest_.empty(); }
  bool next_is(std::string_view word) const { return rest_.starts_with(word); }

  void refuse(const std::string& what) {
    if (good()) {
      wrong_ = Error{ErrorCode::kData, concat(path_, ':', number_, ": ", what)};
    }
  }

  /// Goes to the next line; its first field must be `word`, if one is given.
  void next(std::string_view word = "") {
    ++number_;
    const size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (!word.empty()) {
      const std::string found(field(','));
      if (found != word) {
        refuse(concat("expected a line that begins with \"", word, ",\", found \"", found, '"'));
      }
    }
  }

  std::string_view whole_line() { return std::exchange(line_, {}); }

  std::string_view field(char separator) {
    const size_t end = line_.find(separator);
    const std::string_view found = line_.substr(0, end);
    line_ = end == std::string_view::npos ? std::string_view() : line_.substr(end + 1);
    return found;
  }

  template <class T>
  T integer(T least, T most, char separator = ',') {
    const std::string_view text = field(separator);
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
      refuse(concat("expected a number from ", least, " to ", most, ", found \"", text, '"'));
      return least;
    }
    return value;
  }

  template <class T>
  T any_integer() {
    return integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
  /// A number from 0, or -1 for none.
  template <class T>
  T index() {
    return integer(T{-1}, std::numeric_limits<T>::max());
  }

  void end_of_line() {
    if (!line_.empty()) {
      refuse(concat("expected the end of the line, found \"", line_, '"'));
    }
  }

 private:
  std::string_view rest_;
  const std::string& path_;
  std::string_view line_;
  int64_t number_ = 0;
  std::optional<Error> wrong_;
};

TimelineGroup read_group(Lines& lines, int64_t ranks) {
  TimelineGroup group;
  lines.next("group");
  group.ordinal = lines.index<int32_t>();
  const int64_t size = lines.integer<int64_t>(0, ranks);
  for (int64_t i = 0; i < size && lines.good(); ++i) {
    group.members.push_back(lines.integer<int64_t>(0, ranks - 1, i + 1 < size ? ' ' : ','));
  }
  group.name = lines.whole_line();
  return group;
}

TimedSpan read_span(Lines& lines, int64_t ranks, size_t groups) {
  TimedSpan span;
  lines.next();
  const std::string_view name = lines.field(',');
  const std::optional<Activity> activity = activity_of(name);
  if (!activity) {
    lines.refuse(concat("expected an activity such as \"forward\", found \"", name, '"'));
    return span;
  }
  span.activity = *activity;
  span.group = lines.integer<int16_t>(-1, static_cast<int16_t>(static_cast<int64_t>(groups) - 1));
  span.stage = lines.index<int16_t>();
  span.unit = lines.index<int16_t>();
  span.step = lines.index<int32_t>();
  span.microbatch = lines.index<int32_t>();
  span.peer = lines.integer<int32_t>(-1, static_cast<int32_t>(ranks - 1));
  span.sequence = lines.any_integer<uint32_t>();
  span.tag = lines.any_integer<uint64_t>();
  span.bytes = lines.integer<int64_t>(0, std::numeric_limits<int64_t>::max());
  span.begin_ns = lines.any_integer<int64_t>();
  span.posted_ns = lines.any_integer<int64_t>();
  span.wait_ns = lines.any_integer<int64_t>();
  span.end_ns = lines.any_integer<int64_t>();
  lines.end_of_line();
  if (span.begin_ns > span.posted_ns || span.posted_ns > span.wait_ns ||
      span.wait_ns > span.end_ns) {
    lines.refuse(concat("a span of ", name, " that ends before it begins"));
  }
  return span;
}

/// Everything above the last line, which must be right.
Result<std::string_view> checked_body(std::string_view text, const std::string& path) {
  const size_t last = text.size() < 2 ? 0 : text.rfind('\n', text.size() - 2) + 1;
  const std::string_view line = text.substr(last);
  if (!text.starts_with(kTimelineTitle)) {
    return fail(ErrorCode::kData,
                concat(path,
                       ":1: expected \"",
                       kTimelineTitle,
                       "\", found \"",
                       text.substr(0, std::min(text.find('\n'), size_t{40})),
                       '"'));
  }
  const auto lines = std::ranges::count(text, '\n');
  if (!line.starts_with("end,") || !line.ends_with('\n')) {
    return fail(ErrorCode::kData,
                concat(path, ':', lines, ": the file was cut: its last line is not \"end,...\""));
  }
  const std::string_view body = text.substr(0, last);
  const std::string expected = concat(",", timeline_checksum(body), "\n");
  if (!line.ends_with(expected)) {
    return fail(
        ErrorCode::kData,
        concat(path, ':', lines, ": the file was damaged: its lines do not give the checksum"));
  }
  return body;
}

}  // namespace

Result<RankTimeline> parse_timeline(std::string_view text, const std::string& path) {
  const Result<std::string_view> body = checked_body(text, path);
  if (!body) {
    return fail(body.error());
  }
  RankTimeline timeline;
  Lines lines(*body, path);
  lines.next();  // the title
  if (lines.whole_line() != kTimelineTitle) {
    lines.refuse(concat("expected \"", kTimelineTitle, '"'));
  }
  lines.next("rank");
  timeline.rank = lines.integer<int64_t>(0, std::numeric_limits<int32_t>::max());
  timeline.ranks = lines.integer<int64_t>(timeline.rank + 1, std::numeric_limits<int32_t>::max());
  lines.next("clock");
  timeline.clock = lines.whole_line();
  lines.next("overwritten");
  timeline.overwritten = lines.integer<int64_t>(0, std::numeric_limits<int64_t>::max());
  lines.next("lost until");
  timeline.lost_until_ns = lines.any_integer<int64_t>();
  while (lines.more() && lines.next_is("group,")) {
    timeline.groups.push_back(read_group(lines, timeline.ranks));
  }
  lines.next();
  if (lines.whole_line() != kTimelineColumns) {
    lines.refuse(concat("expected the columns \"", kTimelineColumns, '"'));
  }
  while (lines.more()) {
    timeline.spans.push_back(read_span(lines, timeline.ranks, timeline.groups.size()));
  }
  if (!lines.good()) {
    return fail(*lines.wrong());
  }
  return timeline;
}

}  // namespace brigade
