#include "cli/power/loop_costs.h"

#include <cmath>

#include "base/text.h"

namespace splitplane::app {
namespace {

using power::calibrate::Cost;

const Json* worker_of(const Json& answer, const std::string& name) {
  for (const Json& worker : answer.at("workers")) {
    if (worker.at("name") == name) return &worker;
  }
  return nullptr;
}

// A counter's growth. Cycles are grouped: "busy" is cycles.busy.
double grown(const Json* before, const Json* now, const char* key) {
  const auto at = [&](const Json& worker) {
    const Json& of = worker.contains(key) ? worker : worker.at("cycles");
    return of.at(key).get<double>();
  };
  return before == nullptr || now == nullptr ? 0 : at(*now) - at(*before);
}

std::string busiest(const LoopLook& before, const LoopLook& now) {
  std::string name;
  double most = 0;
  for (const Json& worker : now.power.at("workers")) {
    const auto each = worker.at("name").get<std::string>();
    const double rounds = grown(worker_of(before.power, each), &worker, "rounds");
    if (rounds > most) name = each, most = rounds;
  }
  return name;
}

std::uint64_t whole(double ns, std::uint64_t least) {
  return std::max(least, static_cast<std::uint64_t>(std::llround(std::max(ns, 0.0))));
}

}  // namespace

Expected<std::vector<Cost>> loop_costs(const LoopLook& before, const LoopLook& now, const std::string& worker) {
  const std::string name = worker.empty() ? busiest(before, now) : worker;
  const Json *power_before = worker_of(before.power, name), *power_now = worker_of(now.power, name);
  if (!worker.empty() && power_now == nullptr) return fail("there is no worker '{}'", printable(worker, 32));
  const double rounds = grown(power_before, power_now, "rounds");
  if (rounds <= 0) return fail("no worker made a round between the two looks");
  const double ns = 1e9 / now.stats.at("tsc_hz").get<double>();
  const double packets = grown(worker_of(before.stats, name), worker_of(now.stats, name), "received");
  const std::string shown = printable(name, 32);
  if (packets > 0) {
    const double busy = grown(power_before, power_now, "busy");
    return std::vector<Cost>{
        {"packet", whole(busy / packets * ns, 0),
         fmt::format("busy cycles by packets of worker {}, {:.0f} packets; with its share of the round", shown,
                     packets)},
        {"poll", std::nullopt, "needs an interval without packets"}};
  }
  const double empty = grown(power_before, power_now, "idle") - grown(power_before, power_now, "paused");
  const double queues = std::max(power_now->at("queues").get<double>(), 1.0);
  return std::vector<Cost>{
      {"poll", whole(empty / rounds / queues * ns, 1),
       fmt::format("an empty round of worker {} by its {:.0f} queues, {:.0f} rounds", shown, queues, rounds)},
      {"round", 0, "is in poll"},
      {"packet", std::nullopt, "needs an interval with packets"}};
}

}  // namespace splitplane::app
