#include "ue/control/air.h"

#include <fmt/core.h>
#include <rte_cycles.h>

#include <utility>

#include "base/random.h"

namespace splitplane::app {
namespace {

Json json_of(const phy::Impairments& impairments) {
  Json json = Json::object();
  for (const auto& row : phy::kImpairments) json[std::string(row.name)] = impairments.*row.field;
  return json;
}

phy::Impairments patched(phy::Impairments impairments, const AirPatch::Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) impairments.*phy::kImpairments[i].field = *values[i];
  }
  return impairments;
}

AirPatch::Values read_direction(Params& params, std::string_view direction) {
  AirPatch::Values values;
  if (auto members = params.object(direction)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const phy::ImpairmentRow& row = phy::kImpairments[i];
      values[i] = members->number(row.name, row.min, row.max);
    }
    if (const auto fault = members->fault()) params.refuse(direction, *fault);
  }
  return values;
}

}  // namespace

UeAir make_air(const UeConfig& config, rte_mempool* pool) {
  if (!config.air) return {};
  const UeAirConfig& air = *config.air;
  Random seeds(air.seed);
  const auto make = [&](const phy::Impairments& impairments) {
    return std::make_unique<phy::AirLink>(phy::AirLink::Settings{.seed = seeds.next(),
                                                                 .capacity = air.capacity,
                                                                 .copies = pool,
                                                                 .ticks_per_s = rte_get_tsc_hz(),
                                                                 .impairments = impairments});
  };
  UeAir links;
  links.downlink = make(air.downlink);
  links.uplink = make(air.uplink);
  return links;
}

Expected<Json> set_air(const AirPatch& patch, ue::UeWorker& worker) {
  if (worker.air().downlink == nullptr)
    return fail("nothing is between port and UE side; allowed: with ue.air in its file");
  auto answer = std::make_shared<Expected<Json>>();
  const bool done = worker.execute([patch, answer, air = worker.air()](ue::UeBearers&) {
    const auto downlink = patched(air.downlink->impairments(), patch.downlink);
    const auto uplink = patched(air.uplink->impairments(), patch.uplink);
    if (downlink.reorder_in_vain() || uplink.reorder_in_vain()) {
      *answer = fail("reorder_percent: nothing to overtake; allowed: 0, or with delay_us or jitter_us");
      return;
    }
    air.downlink->set(downlink);
    air.uplink->set(uplink);
    *answer = Json{{"downlink", json_of(downlink)}, {"uplink", json_of(uplink)}};
  });
  if (!done) return fail("the worker does not answer");
  return *answer;
}

MethodRegistry::Handler air_set(std::function<Expected<Json>(const AirPatch& patch)> set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    AirPatch patch;
    patch.downlink = read_direction(params, "downlink");
    patch.uplink = read_direction(params, "uplink");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return set(patch);
  };
}

Json json_of(const ue::AirReport& report) {
  Json json = Json::object();
#define SPLITPLANE_AIR_TO_JSON(field, text) json[#field] = report.field;
  SPLITPLANE_AIR_COUNTERS(SPLITPLANE_AIR_TO_JSON)
#undef SPLITPLANE_AIR_TO_JSON
  json["balanced"] = report.balanced();
  json["impairments"] = json_of(report.impairments);
  return json;
}

std::string air_text(const char* direction, const Json& report) {
  std::string text = fmt::format("ue: air {}:", direction);
#define SPLITPLANE_AIR_TO_TEXT(field, text_) \
  text += fmt::format(" {} {},", #field, report.at(#field).get<std::uint64_t>());
  SPLITPLANE_AIR_COUNTERS(SPLITPLANE_AIR_TO_TEXT)
#undef SPLITPLANE_AIR_TO_TEXT
  text.back() = '\n';
  return text;
}

}  // namespace splitplane::app
