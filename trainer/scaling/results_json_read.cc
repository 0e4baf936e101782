// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/scaling/results_json.h"

namespace brigade::scaling {
namespace {

using Json = nlohmann::json;

/// A value and the way to it. Throws Exception, which results_from_json() catches.
class Value {
 public:
  Value(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  Value operator[](const char* key) const {
    expect(json_.is_object(), "an object");
    const auto found = json_.find(key);
    if (found == json_.end()) {
      throw Exception({ErrorCode::kData, concat("expected the key ", below(key), "; found none")});
    }
    return {*found, below(key)};
  }

  Value item(size_t index) const { return {json_.at(index), below(std::to_string(index))}; }

  template <class Make>
  auto list(Make make) const {
    expect(json_.is_array(), "a list");
    std::vector<decltype(make(item(0)))> items;
    for (size_t i = 0; i < json_.size(); ++i) {
      items.push_back(make(item(i)));
    }
    return items;
  }

  std::string text() const {
    expect(json_.is_string(), "a text");
    return json_.get<std::string>();
  }
  bool truth() const {
    expect(json_.is_boolean(), "true or false");
    return json_.get<bool>();
  }
  int64_t integer() const {
    const bool fits =
        !json_.is_number_unsigned() || json_.get<uint64_t>() <= std::numeric_limits<int64_t>::max();
    expect(json_.is_number_integer() && fits, "an integer");
    return json_.get<int64_t>();
  }
  uint64_t natural() const {
    expect(json_.is_number_unsigned(), "an integer from 0 on");
    return json_.get<uint64_t>();
  }
  double number() const {
    expect(json_.is_number() || json_.is_null(), "a number or null");
    return json_.is_null() ? std::numeric_limits<double>::quiet_NaN() : json_.get<double>();
  }
  std::optional<double> optional() const {
    return json_.is_null() ? std::nullopt : std::optional(number());
  }
  std::map<std::string, int64_t> counts() const {
    expect(json_.is_object(), "an object");
    std::map<std::string, int64_t> counts;
    for (const auto& [key, value] : json_.items()) {
      counts[key] = Value(value, below(key)).integer();
    }
    return counts;
  }
  template <class First>
  std::pair<First, double> pair() const {
    expect(json_.is_array() && json_.size() == 2, "a list of two numbers");
    if constexpr (std::is_integral_v<First>) {
      return {item(0).integer(), item(1).number()};
    } else {
      return {item(0).number(), item(1).number()};
    }
  }

  [[noreturn]] void refuse(std::string_view expected) const {
    std::string found = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 60) {
      found = found.substr(0, 60) + "...";
    }
    throw Exception(
        {ErrorCode::kData, concat("expected ", expected, " at ", place_, "; found ", found)});
  }
  void expect(bool condition, std::string_view expected) const {
    if (!condition) {
      refuse(expected);
    }
  }

 private:
  std::string below(const std::string& key) const {
    return place_.empty() ? key : concat(place_, '/', key);
  }

  const Json& json_;
  std::string place_;
};

Estimate estimate(const Value& value) {
  return {value["value"].number(), {value["low"].number(), value["high"].number()}};
}

Breakdown breakdown(const Value& value) {
  Breakdown parts = {};
  for (size_t part = 0; part < kParts; ++part) {
    parts[part] = value[std::string(to_string(static_cast<Part>(part))).c_str()].number();
  }
  return parts;
}

Part part(const Value& value) {
  const std::string name = value.text();
  for (size_t part = 0; part < kParts; ++part) {
    if (to_string(static_cast<Part>(part)) == name) {
      return static_cast<Part>(part);
    }
  }
  value.refuse("the name of a part of a step");
}

Scaling scaling(const Value& value) {
  const std::string name = value.text();
  for (const Scaling kind : {Scaling::kStrong, Scaling::kWeak, Scaling::kMemoryConstrained}) {
    if (to_string(kind) == name) {
      return kind;
    }
  }
  value.refuse("strong, weak or memory_constrained");
}

Stretch stretch(const Value& value) {
  return {part(value["part"]),
          value["begin_ms"].number(),
          value["end_ms"].number(),
          value["microbatch"].integer(),
          value["label"].text()};
}

Point point(const Value& value) {
  Point point;
  point.id = value["id"].text();
  point.series = value["series"].text();
  point.peer = value["peer"].text();
  point.ranks = value["ranks"].integer();
  point.threads = value["threads"].integer();
  point.mesh = value["mesh"].text();
  point.zero_stage = value["zero_stage"].integer();
  point.schedule = value["schedule"].text();
  point.microbatch_size = value["microbatch_size"].integer();
  point.global_batch_size = value["global_batch_size"].integer();
  point.model = value["model"].text();
  point.oversubscribed = value["oversubscribed"].truth();
  return point;
}

std::vector<double> numbers(const Value& value) {
  return value.list([](const Value& item) { return item.number(); });
}

PointResult point_result(const Value& value) {
  PointResult result;
  result.point = point(value["point"]);
  result.failure = value["failure"].text();
  result.last_lines = value["last_lines"].list([](const Value& line) { return line.text(); });
  result.repeats = value["repeats"].integer();
  result.step_ms = numbers(value["step_ms"]);
  result.median_step_ms = estimate(value["median_step_ms"]);
  result.tokens_per_s = estimate(value["tokens_per_s"]);
  result.mfu = value["mfu"].optional();
  result.peak_bytes = value["peak_bytes"].list([](const Value& item) { return item.integer(); });
  result.bytes_by_axis = value["bytes_by_axis"].counts();
  result.breakdown_by_rank = value["breakdown_by_rank"].list(breakdown);
  result.one_step = value["one_step"].list([](const Value& rank) { return rank.list(stretch); });
  return result;
}

Parameter parameter(const Value& value) {
  return {value["name"].text(), estimate(value)};
}

Fit fit(const Value& value) {
  Fit fit;
  fit.law = value["law"].text();
  fit.formula = value["formula"].text();
  fit.parameters = value["parameters"].list(parameter);
  fit.aicc = value["aicc"].number();
  fit.held_out_error = value["held_out_error"].number();
  fit.why_not = value["why_not"].text();
  fit.curve = value["curve"].list([](const Value& item) { return item.pair<double>(); });
  return fit;
}

Ratio ratio(const Value& value) {
  return {value["axis"].text(),
          value["by_ranks"].list([](const Value& item) { return item.pair<int64_t>(); }),
          value["equal_at"].optional()};
}

Series series(const Value& value, size_t points) {
  Series series;
  series.name = value["name"].text();
  series.points = value["points"].list([points](const Value& item) -> size_t {
    item.expect(item.natural() < points, concat("the index of one of ", points, " points"));
    return item.natural();
  });
  series.base_ranks = value["base_ranks"].integer();
  series.fits = value["fits"].list(fit);
  series.karp_flatt = value["karp_flatt"].list([](const Value& item) {
    return KarpFlatt{item["ranks"].integer(), item["serial_fraction"].number()};
  });
  series.ratios = value["ratios"].list(ratio);
  series.serial_fraction_of_timeline = value["serial_fraction_of_timeline"].optional();
  return series;
}

Provenance provenance(const Value& value) {
  Provenance provenance;
  provenance.study = value["study"].text();
  provenance.version = value["version"].text();
  provenance.config_hash = value["config_hash"].text();
  provenance.machine = value["machine"].text();
  provenance.cores = value["cores"].integer();
  provenance.began = value["began"].text();
  provenance.ended = value["ended"].text();
  provenance.seed = value["seed"].natural();
  return provenance;
}

Peak peak(const Value& value) {
  return {value["dtype"].text(), value["threads"].integer(), value["flops_per_s"].number()};
}

Results results(const Value& value) {
  value["format"].expect(value["format"].integer() == kResultsFormat,
                         concat("format ", kResultsFormat));
  Results results;
  results.provenance = provenance(value["provenance"]);
  results.scaling = scaling(value["scaling"]);
  results.warmup_steps = value["warmup_steps"].integer();
  results.peaks = value["peaks"].list(peak);
  results.points = value["points"].list(point_result);
  results.series = value["series"].list(
      [&results](const Value& item) { return series(item, results.points.size()); });
  return results;
}

}  // namespace

Result<Results> results_from_json(std::string_view text, std::string_view where) {
  try {
    const Json json = Json::parse(text);
    return results(Value(json, ""));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kData, concat(where, " is not JSON: ", error.what()));
  } catch (const Exception& error) {
    return fail(error.error().code, concat(where, ": ", error.error().text));
  }
}

}  // namespace brigade::scaling
