#include "power/replay/tune.h"

#include <algorithm>
#include <array>

#include "power/settings_table.h"

namespace splitplane::power::replay {
namespace {

// The values to search, around the printed ones (300 polls; 32, 64 and 96 packets; 10,000).
constexpr std::array<unsigned, 10> kLongIdlePolls{12, 20, 30, 50, 75, 100, 150, 300, 600, 1200};
constexpr std::array<std::array<unsigned, 3>, 5> kGears{
    {{8, 16, 24}, {16, 32, 48}, {32, 64, 96}, {64, 128, 192}, {128, 256, 384}}};
constexpr std::array<unsigned, 6> kTrendLimits{100, 300, 1000, 3000, 10'000, 30'000};
constexpr unsigned kMostPasses = 3;
// Less than this is no gain: of two equal candidates the first one stays.
constexpr double kGain = 0.0005;

Tried judge(const Replayed& run, const CoreSettings& core) {
  return {.settings = run.settings.paper,
          .active = run.active(core),
          .asleep = run.share(State::c1) + run.share(State::c6),
          .queued_p99 = run.queued(99),
          .added_p99_ns = run.core.added.percentile(99),
          .lost = run.core.lost,
          .p_transitions = run.core.p_transitions};
}

bool same_thresholds(const PaperSettings& a, const PaperSettings& b) {
  return a.long_idle_polls == b.long_idle_polls && a.step_packets == b.step_packets &&
         a.climb_packets == b.climb_packets && a.max_packets == b.max_packets && a.trend_limit == b.trend_limit;
}

bool is_better(const Tried& a, const Tried& b) {
  if (a.good != b.good) return a.good;
  if (a.good) return a.active < b.active - kGain;
  return a.lost != b.lost ? a.lost < b.lost : a.queued_p99 < b.queued_p99;
}

class Search {
 public:
  Search(const TuneSettings& settings, const CoreSettings& core, std::span<const std::uint64_t> arrivals,
         std::uint64_t duration_ns)
      : settings_(settings), core_(core), arrivals_(arrivals), duration_ns_(duration_ns) {
    tuned_.busy = judge(replay({.kind = Kind::busy}, core_, arrivals_, duration_ns_), core_);
    tuned_.busy.good = true;
    try_out(settings_.start);
  }

  // Varies one threshold after the other over all its values, until a pass changes nothing.
  Tuned run() && {
    for (unsigned pass = 0; pass < kMostPasses; ++pass) {
      const std::size_t before = tuned_.best;
      along(kLongIdlePolls, [](PaperSettings& s, unsigned polls) { s.long_idle_polls = polls; });
      if (core_.p_states > 1) {  // otherwise nothing depends on them
        along(kGears, [](PaperSettings& s, const std::array<unsigned, 3>& gears) {
          s.step_packets = gears[0];
          s.climb_packets = gears[1];
          s.max_packets = gears[2];
        });
        along(kTrendLimits, [](PaperSettings& s, unsigned limit) { s.trend_limit = limit; });
      }
      if (tuned_.best == before) break;
    }
    return std::move(tuned_);
  }

 private:
  template <class Values, class Set>
  void along(const Values& values, Set&& set) {
    const PaperSettings from = tuned_.tried[tuned_.best].settings;
    for (const auto& value : values) {
      PaperSettings next = from;
      set(next, value);
      if (!conflict({.kind = Kind::paper, .paper = next})) try_out(next);
    }
  }

  void try_out(const PaperSettings& candidate) {
    const auto known = [&](const Tried& tried) { return same_thresholds(tried.settings, candidate); };
    if (std::any_of(tuned_.tried.begin(), tuned_.tried.end(), known)) return;
    Tried tried = judge(replay({.kind = Kind::paper, .paper = candidate}, core_, arrivals_, duration_ns_), core_);
    tried.good =
        tried.queued_p99 <= tuned_.busy.queued_p99 + settings_.tolerance_packets && tried.lost <= tuned_.busy.lost;
    tuned_.tried.push_back(tried);
    if (is_better(tried, tuned_.tried[tuned_.best])) tuned_.best = tuned_.tried.size() - 1;
  }

  TuneSettings settings_;
  CoreSettings core_;
  std::span<const std::uint64_t> arrivals_;
  std::uint64_t duration_ns_;
  Tuned tuned_;
};

std::string line(const Tried& tried, std::string_view thresholds, std::string_view verdict) {
  return fmt::format("{:<34}{:>9.2f}{:>9.2f}{:>11}{:>13.2f}{:>8}{:>9}  {}\n", thresholds, 100 * tried.active,
                     100 * tried.asleep, tried.queued_p99, static_cast<double>(tried.added_p99_ns) / 1000, tried.lost,
                     tried.p_transitions, verdict);
}

nlohmann::ordered_json numbers(const Tried& tried) {
  return {{"active", tried.active},
          {"asleep", tried.asleep},
          {"queued_p99", tried.queued_p99},
          {"added_us_p99", static_cast<double>(tried.added_p99_ns) / 1000},
          {"lost", tried.lost},
          {"p_transitions", tried.p_transitions},
          {"good", tried.good}};
}

nlohmann::ordered_json thresholds(const PaperSettings& paper) {
  nlohmann::ordered_json json{{"kind", "paper"}};
  const Settings settings{.kind = Kind::paper, .paper = paper}, defaults;
  for (const SettingRow& row : settings_of(Kind::paper)) {
    if (row.get(settings) != row.get(defaults)) json[std::string(row.name)] = row.get(settings);
  }
  return json;
}

}  // namespace

Tuned tune(const TuneSettings& settings, const CoreSettings& core, std::span<const std::uint64_t> arrivals,
           std::uint64_t duration_ns) {
  return Search(settings, core, arrivals, duration_ns).run();
}

std::string table(const Tuned& tuned) {
  std::string text = fmt::format("{:<34}{:>9}{:>9}{:>11}{:>13}{:>8}{:>9}\n", "long_idle / gears / trend_limit",
                                 "active %", "asleep %", "queued p99", "added us p99", "lost", "P-trans.");
  text += line(tuned.busy, "busy", "");
  for (std::size_t i = 0; i < tuned.tried.size(); ++i) {
    const Tried& tried = tuned.tried[i];
    const PaperSettings& s = tried.settings;
    text += line(tried,
                 fmt::format("{} / {} {} {} / {}", s.long_idle_polls, s.step_packets, s.climb_packets, s.max_packets,
                             s.trend_limit),
                 i == tuned.best && tried.good ? "<- best"
                 : tried.good                  ? ""
                                               : "too conservative");
  }
  return text;
}

nlohmann::ordered_json to_json(const Tuned& tuned) {
  nlohmann::ordered_json json;
  json["busy"] = numbers(tuned.busy);
  for (const Tried& tried : tuned.tried) {
    nlohmann::ordered_json entry = numbers(tried);
    entry["policy"] = thresholds(tried.settings);
    json["tried"].push_back(entry);
  }
  json["best"] = tuned.tried[tuned.best].good ? nlohmann::ordered_json(tuned.best) : nlohmann::ordered_json();
  return json;
}

std::string yaml(const PaperSettings& settings) {
  std::string text = "policy:\n  kind: paper\n";
  const Settings chosen{.kind = Kind::paper, .paper = settings}, defaults;
  for (const SettingRow& row : settings_of(Kind::paper)) {
    if (row.get(chosen) != row.get(defaults)) text += fmt::format("  {}: {}\n", row.name, row.get(chosen));
  }
  return text;
}

}  // namespace splitplane::power::replay
