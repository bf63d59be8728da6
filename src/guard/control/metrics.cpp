#include "guard/control/metrics.h"

#include <array>
#include <string>

namespace splitplane::app {
namespace {

using Type = MetricInfo::Type;

constexpr std::array<std::string_view, 2> kSides{"client", "server"};  // as guard::Side

// The unit belongs to a metric's name, so it must be a word; and where the field says it, it is not said again.
std::string_view unit_of(std::string_view field, std::string_view unit) {
  if (unit == "s") return "seconds";
  const bool is_said = field.find(unit) != std::string_view::npos && !field.ends_with(unit);
  return is_said || unit.find('/') != std::string_view::npos ? std::string_view{} : unit;
}

MetricInfo info_of(std::string_view scope, std::string_view field, Type type, std::string_view unit,
                   std::string_view help, std::vector<std::string_view> labels) {
  const std::string_view word = unit_of(field, unit);
  return {metric_name(scope, field, word), type, std::string(word), std::string(help), std::move(labels)};
}

struct WorkerRow {
  MetricInfo info;
  std::uint64_t GuardSeen::* field;
};
struct ServerRow {
  MetricInfo info;
  std::uint64_t GuardServerSeen::* field;
};

const std::vector<WorkerRow>& worker_rows() {
  static const std::vector<WorkerRow> rows{
#define SPLITPLANE_ROW(field, unit, help) \
  {info_of("guard_", #field, Type::kCounter, unit, help, {"worker"}), &GuardSeen::field},
      SPLITPLANE_GUARD_COUNTERS(SPLITPLANE_ROW)
#undef SPLITPLANE_ROW
#define SPLITPLANE_ROW(field, unit, help) \
  {info_of("guard_", #field, Type::kGauge, unit, help, {"worker"}), &GuardSeen::field},
          SPLITPLANE_GUARD_GAUGES(SPLITPLANE_ROW)
#undef SPLITPLANE_ROW
  };
  return rows;
}

const std::vector<ServerRow>& server_rows() {
  static const std::vector<ServerRow> rows{
#define SPLITPLANE_ROW(field, unit, help) \
  {info_of("guard_server_", #field, Type::kCounter, unit, help, {"worker", "server"}), &GuardServerSeen::field},
      SPLITPLANE_GUARD_SERVER_COUNTERS(SPLITPLANE_ROW)
#undef SPLITPLANE_ROW
#define SPLITPLANE_ROW(field, unit, help) \
  {info_of("guard_server_", #field, Type::kGauge, unit, help, {"worker", "server"}), &GuardServerSeen::field},
          SPLITPLANE_GUARD_SERVER_GAUGES(SPLITPLANE_ROW)
#undef SPLITPLANE_ROW
  };
  return rows;
}

const MetricInfo kOutcomes{"splitplane_guard_packets",
                           Type::kCounter,
                           "packets",
                           "packets of a side, by what became of them",
                           {"worker", "side", "outcome"}};
const MetricInfo kMade{"splitplane_guard_made_packets",
                       Type::kCounter,
                       "packets",
                       "packets of the guard's own that a port took",
                       {"worker", "made"}};

}  // namespace

MoreMetrics guard_metrics() {
  MoreMetrics more{.list = {kOutcomes, kMade}, .values = {}};
  for (const auto& row : worker_rows()) more.list.push_back(row.info);
  for (const auto& row : server_rows()) more.list.push_back(row.info);
  more.values = {{"Values of the label outcome", guard::kOutcomeNames, guard::kOutcomeTexts},
                 {"Values of the label made", guard::kMadeNames, guard::kMadeTexts}};
  return more;
}

std::vector<MetricSamples> guard_samples(std::span<const GuardSeen> seen) {
  std::vector<MetricSamples> all;
  MetricSamples& outcomes = all.emplace_back(MetricSamples{kOutcomes, {}});
  for (const GuardSeen& worker : seen) {
    for (std::size_t side = 0; side < kSides.size(); ++side) {
      for (std::size_t i = 0; i < guard::kOutcomeCount; ++i) {
        outcomes.samples.push_back(
            {{worker.name, std::string(kSides[side]), std::string(guard::kOutcomeNames[i])}, worker.outcomes[side][i]});
      }
    }
  }
  MetricSamples& made = all.emplace_back(MetricSamples{kMade, {}});
  for (const GuardSeen& worker : seen) {
    for (std::size_t i = 0; i < guard::kMadeCount; ++i)
      made.samples.push_back({{worker.name, std::string(guard::kMadeNames[i])}, worker.made[i]});
  }
  for (const auto& row : worker_rows()) {
    MetricSamples& family = all.emplace_back(MetricSamples{row.info, {}});
    for (const GuardSeen& worker : seen) family.samples.push_back({{worker.name}, worker.*row.field});
  }
  for (const auto& row : server_rows()) {
    MetricSamples& family = all.emplace_back(MetricSamples{row.info, {}});
    for (const GuardSeen& worker : seen) {
      for (const GuardServerSeen& server : worker.servers)
        family.samples.push_back({{worker.name, server.rule.name}, server.*row.field});
    }
  }
  return all;
}

}  // namespace splitplane::app
