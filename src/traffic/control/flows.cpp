#include "traffic/control/flows.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "control/client.h"
#include "ran/control/bearer_json.h"

namespace splitplane::app {
namespace {

// Of a bearer that the gNB named: nothing that is missing is an error, there may be others.
bool usable(const GenConfig& gen, const ran::BearerConfig& bearer) {
  if (!(gen.inner_ipv6 ? bearer.ue_ipv6 : bearer.ue_ipv4)) return false;
  return gen.direction == Direction::kUplink || (bearer.upf.is_v6() ? gen.gnb_ipv6 : gen.gnb_ipv4);
}

traffic::FlowSpec flow_of(const GenConfig& gen, const ran::BearerConfig& bearer) {
  traffic::FlowSpec flow{.bearer = bearer, .ipv6 = gen.inner_ipv6};
  if (gen.direction == Direction::kDownlink) flow.gnb = *(bearer.upf.is_v6() ? gen.gnb_ipv6 : gen.gnb_ipv4);
  return flow;
}

Expected<void> ask_gnb(const GenConfig& gen, std::vector<traffic::FlowSpec>& flows) {
  auto gnb = ControlClient::connect(gen.gnb_control);
  if (!gnb) return tl::unexpected(gnb.error());
  std::size_t skipped = 0;
  std::optional<Error> strange;
  const auto listed = gnb->for_each_bearer(0, std::numeric_limits<std::size_t>::max(), [&](const Json& json) {
    const auto bearer = bearer_from_json(json);
    if (!bearer) {
      strange = bearer.error();
      return;
    }
    if (!usable(gen, *bearer)) {
      ++skipped;
      return;
    }
    flows.push_back(flow_of(gen, *bearer));
    flows.back().pdcp_first = json.value("pdcp_rx_next", 0U);
    flows.back().rlc_first = json.value("rlc_rx_next", 0U);
  });
  if (!listed) return tl::unexpected(listed.error());
  if (strange) return tl::unexpected(*strange);
  if (skipped != 0) {
    log::warn(
        "{} of the gNB's bearers get no traffic: no UE address of the inner family, or no gNB address of the UPF's",
        skipped);
  }
  return {};
}

// A bearer whose uplink two flows would number.
std::optional<BearerId> numbered_twice(const GenConfig& gen, const std::vector<traffic::FlowSpec>& flows) {
  if (gen.direction != Direction::kUplink) return std::nullopt;
  std::vector<BearerId> ids;
  ids.reserve(flows.size());
  for (const auto& flow : flows) ids.push_back(flow.bearer.id);
  const auto less = [](BearerId a, BearerId b) { return a.value < b.value; };
  std::sort(ids.begin(), ids.end(), less);
  const auto twice =
      std::adjacent_find(ids.begin(), ids.end(), [](BearerId a, BearerId b) { return a.value == b.value; });
  return twice == ids.end() ? std::nullopt : std::optional(*twice);
}

}  // namespace

Expected<std::vector<traffic::FlowSpec>> make_flows(const GenConfig& gen) {
  std::vector<traffic::FlowSpec> flows;
  for (const auto& bearers : gen.bearers) {
    for (std::uint32_t i = 0; i < bearers.count; ++i) flows.push_back(flow_of(gen, bearer_at(bearers, i)));
  }
  if (!gen.gnb_control.empty()) {
    if (const auto asked = ask_gnb(gen, flows); !asked) return tl::unexpected(asked.error());
    if (const auto twice = numbered_twice(gen, flows)) {
      return fail("bearer {:#010x} is in gen.bearers and at the gNB that gen.gnb_control names; allowed: one of them",
                  twice->value);
    }
  }
  if (flows.empty()) return fail("the gNB at {} has no bearer that could get traffic", gen.gnb_control);
  return flows;
}

}  // namespace splitplane::app
