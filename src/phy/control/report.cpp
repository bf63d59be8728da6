#include "phy/control/report.h"

#include <fmt/format.h>
#include <rte_cycles.h>

#include <array>

#include "phy/control/loss.h"
#include "ue/control/report.h"

namespace splitplane::app {
namespace {

constexpr std::array kPhyStates{"idle", "configured", "running"};  // as fapi::PhyState

Json json_of(const phy::Numbers& numbers) {
  Json json = Json::object();
  for (const auto& [name, n] : numbers) json[std::string(name)] = n;
  return json;
}

Json json_of(const phy::MacCapture& capture) {
  Json json = Json::object();
#define SPLITPLANE_CAPTURE_TO_JSON(field, text) json[#field] = capture.counters().field.get();
  SPLITPLANE_MAC_CAPTURE_COUNTERS(SPLITPLANE_CAPTURE_TO_JSON)
#undef SPLITPLANE_CAPTURE_TO_JSON
  return json;
}

std::string drops_text(const Json& drops) {
  std::string text;
  for (const auto& [name, n] : drops.items()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, n.dump());
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

Json stats_json(const phy::WorkerReport& r, const phy::MacCapture* capture, unsigned core) {
  const Json totals{{"received", r.downlink.received + r.uplink.received},
                    {"transmitted", r.downlink.good + r.uplink.good},
                    {"dropped", r.downlink.dropped + r.uplink.dropped},
                    {"consumed", r.downlink.consumed + r.uplink.consumed},
                    {"held", r.downlink.held},
                    {"balanced", r.balanced}};
  Json worker = totals;
  worker.update({{"name", "phy"},
                 {"core", core},
                 {"transmitted_air", r.uplink.good},
                 {"transmitted_tun", r.downlink.good},
                 {"sunk", r.downlink.consumed},  // in full mode nothing else is consumed
                 {"drops", drops_of(r.downlink, r.uplink)},
                 {"cycles", {{"busy", r.busy_cycles}, {"idle", 0}, {"asleep", r.asleep_cycles}}},
                 {"cpu_cycles", r.cpu_cycles},
                 {"rounds", r.rounds},
                 {"sleeps", r.waits}});
  Json radio = json_of(r.radio);
  radio.update({{"blocks", json_of(r.blocks)},
                {"grants", json_of(r.grants)},
                {"pdus", json_of(r.pdus)},
                {"drops", json_of(r.drops)}});
  Json air = json_of(r.air);
  air["loss"] = json_of(r.loss);
  return Json{{"ports", Json::array()},
              {"workers", Json::array({worker})},
              {"bearers", r.bearers},
              {"tsc_hz", rte_get_tsc_hz()},
              {"totals", totals},
              {"downlink", json_of(r.downlink)},
              {"uplink", json_of(r.uplink)},
              {"air", air},
              {"radio", radio},
              {"phy",
               {{"state", kPhyStates[static_cast<std::size_t>(r.state)]},
                {"l2_is_away", r.l2_is_away},
                {"peer", json_of(r.peer)},
                {"refused", json_of(r.refused)},
                {"p5", json_of(r.p5)},
                {"p7", json_of(r.p7)},
                {"p5_datagrams", json_of(r.p5_datagrams)},
                {"p7_datagrams", json_of(r.p7_datagrams)}}},
              {"capture", capture == nullptr ? Json::object() : json_of(*capture)}};
}

std::string summary_of(const Json& stats) {
  const auto number = [&](const char* part, const char* key) { return stats.at(part).at(key).get<std::uint64_t>(); };
  std::string text;
  const auto line = [&](const char* direction, const char* good) {
    const std::uint64_t sunk = number(direction, "consumed");
    text += fmt::format("phy: {} {} received, {} {}{}, {} dropped{}\n", direction, number(direction, "received"),
                        number(direction, "transmitted"), good,
                        sunk == 0 ? "" : fmt::format(", {} to UEs without the TUN device", sunk),
                        number(direction, "dropped"), drops_text(stats.at(direction).at("drops")));
  };
  line("downlink", "delivered");
  line("uplink", "sent");
  text += fmt::format("phy: air: {} slots; {} blocks down, {} of them lost; {} blocks up, {} of them lost\n",
                      number("air", "slots"), number("air", "dl_decoded") + number("air", "dl_lost"),
                      number("air", "dl_lost"), number("air", "ul_decoded") + number("air", "ul_lost"),
                      number("air", "ul_lost"));
  if (!stats.at("capture").empty()) {
    text += fmt::format("phy: capture: {} blocks, {} octets; {} blocks are not there\n", number("capture", "blocks"),
                        number("capture", "bytes"),
                        number("capture", "too_long") + number("capture", "no_room") + number("capture", "stopped"));
  }
  if (!stats.at("totals").at("balanced").get<bool>()) text += "phy: THE COUNTERS DO NOT ADD UP\n";
  return text;
}

}  // namespace splitplane::app
