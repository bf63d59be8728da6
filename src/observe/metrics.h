// The one list of metrics: every name with type, unit, labels and help, made from the lists of counters, stages and
// drop reasons. The endpoint's text, `splitplane metrics` and docs/reference/metrics.md come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observe/observation.h"
#include "ran/bearer_view.h"

namespace splitplane::app {

struct MetricInfo {
  enum class Type { kCounter, kGauge, kInfo };
  std::string name;  // of the family; samples of a counter end in _total, samples of an info in _info
  Type type = Type::kCounter;
  std::string unit;  // "": a plain count
  std::string help;
  std::vector<std::string_view> labels;

  [[nodiscard]] std::string sample_name() const;
};

[[nodiscard]] std::vector<MetricInfo> metric_list();
// OpenMetrics: the unit is the last word of a family's name. "splitplane_", scope, field, unit.
[[nodiscard]] std::string metric_name(std::string_view scope, std::string_view field, std::string_view unit);

// A family that a program adds to the list, with its samples: who makes them knows what they mean.
struct MetricSamples {
  struct Sample {
    std::vector<std::string> labels;  // values, in the order of `info`
    std::uint64_t value = 0;
  };
  MetricInfo info;
  std::vector<Sample> samples;
};
// Families of one program, and lists of the values that a label of theirs has, for the page.
struct MoreMetrics {
  std::vector<MetricInfo> list;
  struct Values {
    std::string_view title;
    std::span<const std::string_view> names, texts;
  };
  std::vector<Values> values;
};

// One look at a running instance.
struct Scrape {
  Observation all;
  std::vector<BearerView> bearers;  // the bearers that the configuration names
  bool with_bearers = false;        // false: there are no metrics of bearers
  std::vector<MetricSamples> more;  // what the program adds
};

// OpenMetrics 1.0, or the older text format 0.0.4 of Prometheus, which a browser, curl and promtool understand.
enum class MetricFormat { kOpenMetrics, kText };
[[nodiscard]] std::string_view content_type(MetricFormat format);
[[nodiscard]] std::string render_metrics(const Scrape& scrape, MetricFormat format);

[[nodiscard]] std::string metrics_table(const MoreMetrics& more);     // for users
[[nodiscard]] std::string metrics_markdown(const MoreMetrics& more);  // docs/reference/metrics.md

}  // namespace splitplane::app
