#include "sdap_steps.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace splitplane::pdcp_tool {
namespace {

using Json = nlohmann::json;
using namespace ran::sdap;
using Octets = std::vector<std::uint8_t>;

Octets octets_of(const std::string& hex) {
  Octets out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::string hex_of(wire::Octets octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t octet : octets) {
    out += kDigits[octet >> 4];
    out += kDigits[octet & 15];
  }
  return out;
}

// A number that does not fit an octet becomes 255, which is out of range as well.
std::uint8_t small(const Json& number) {
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(number.get<std::uint64_t>(), 255));
}

DrbId drb_of(const Json& step) {
  return DrbId{small(step.at("drb"))};
}

Qfi qfi_of(const Json& step) {
  return Qfi{small(step.at("qfi"))};
}

void take_pdu(Json& out, const Sent& sent, Octets sdu) {
  if (sent.drop != Drop::none) return;
  if (sent.header_bytes != 0) sdu.insert(sdu.begin(), sent.header);
  out["pdus"].push_back({sent.drb.value, hex_of(sdu)});
}

void take_end_marker(Json& out, const EndMarker& marker) {
  if (marker) out["pdus"].push_back({marker.drb.value, hex_of({&marker.octet, 1})});
}

void send(UeEntity& ue, const Json& step, Json& out) {
  Octets sdu = octets_of(step.at("data"));
  const Sent sent = ue.send(qfi_of(step), sdu.size());
  take_pdu(out, sent, std::move(sdu));
}

void send(GnbEntity& gnb, const Json& step, Json& out) {
  Octets sdu = octets_of(step.at("data"));
  const Sent sent = gnb.send(qfi_of(step), sdu.size(), step.at("rdi"), step.at("rqi"));
  take_pdu(out, sent, std::move(sdu));
}

void receive(UeEntity& ue, const Json& step, Json& out) {
  const Octets pdu = octets_of(step.at("data"));
  const DrbId drb = drb_of(step);
  const ReceivedByUe got = ue.receive(drb, pdu);
  if (got.drop != Drop::none) return;
  take_end_marker(out, got.end_marker);
  if (got.rqi) out["indications"].push_back({"rqi", got.qfi.value, drb.value});
  const std::string sdu = hex_of(wire::Octets(pdu).subspan(got.header_bytes));
  out["delivered"].push_back({got.has_qfi ? Json(got.qfi.value) : Json(), sdu});
}

void receive(GnbEntity& gnb, const Json& step, Json& out) {
  const Octets pdu = octets_of(step.at("data"));
  const DrbId drb = drb_of(step);
  const ReceivedByGnb got = gnb.receive(drb, pdu);
  if (got.drop != Drop::none) return;
  if (got.is_end_marker) {
    out["indications"].push_back({"end_marker", got.qfi.value, drb.value});
  } else {
    out["delivered"].push_back({got.qfi.value, hex_of(wire::Octets(pdu).subspan(got.header_bytes))});
  }
}

bool configure_rule(UeEntity& ue, const Json& step, Json& out) {
  EndMarker marker;
  const bool known = ue.configure_rule(qfi_of(step), drb_of(step), marker);
  take_end_marker(out, marker);
  return known;
}

bool configure_rule(GnbEntity& gnb, const Json& step, Json& /*out*/) {
  return gnb.configure_rule(qfi_of(step), drb_of(step));
}

template <class Entity>
Entity make(const Json& step) {
  Entity entity;
  for (const auto& [number, values] : step.at("drbs").items()) {
    DrbConfig config{.header_ul = values.value("header_ul", false), .header_dl = values.value("header_dl", false)};
    if (const auto qfi = values.find("qfi"); qfi != values.end() && !qfi->is_null()) config.qfi = Qfi{small(*qfi)};
    if (!entity.configure_drb(DrbId{static_cast<std::uint8_t>(std::stoul(number))}, config)) {
      throw std::invalid_argument("a DRB or its QFI is out of range");
    }
  }
  const Json& chosen = step.at("default_drb");
  if (!entity.set_default(chosen.is_null() ? DrbId{} : DrbId{small(chosen)})) {
    throw std::invalid_argument("the default DRB is none of the session's DRBs");
  }
  return entity;
}

template <class Entity>
void run(Entity& entity, const Json& step, Json& out) {
  const std::string op = step.at("op");
  if (op == "sdap_send") {
    send(entity, step, out);
  } else if (op == "sdap_receive") {
    receive(entity, step, out);
  } else if (op == "rule_configure") {
    if (!configure_rule(entity, step, out)) out["reply"]["refused"] = "unknown_drb";
  } else if (op == "rule_release") {
    entity.release_rule(qfi_of(step));
  } else if (op == "drb_release") {
    entity.release_drb(drb_of(step));
  } else if (op != "new" && op != "release") {
    throw std::invalid_argument("SDAP has no operation " + op);
  }
}

template <class Entity>
void show(const Entity& entity, Json& out) {
  Json& state = out["state"];
  const FlowMap& map = entity.map();
  state["rules"] = Json::object();
  for (std::uint8_t qfi = 0; qfi < kFlows; ++qfi) {
    const DrbId drb = map.rule_of(Qfi{qfi});
    if (drb != DrbId{}) state["rules"][std::to_string(qfi)] = drb.value;
  }
  state["default_drb"] = map.default_drb() == DrbId{} ? Json() : Json(map.default_drb().value);
  out["counters"] = Json::object();
  for (std::size_t i = 1; i < kDropCount; ++i) {
    const auto drop = static_cast<Drop>(i);
    if (entity.counters().dropped(drop) != 0) out["counters"][name_of(drop)] = entity.counters().dropped(drop);
  }
}

}  // namespace

bool SdapSteps::serves(const Json& step) const {
  if (step.at("op") == "new") return step.value("kind", "pdcp") == "sdap";
  return entities_.contains(step.at("entity").get<std::string>());
}

Json SdapSteps::answer(const Json& step) {
  const std::string name = step.at("entity");
  const std::string op = step.at("op");
  if (op == "new") {
    entities_.erase(name);
    if (step.at("role") == "ue") {
      entities_.emplace(name, make<UeEntity>(step));
    } else {
      entities_.emplace(name, make<GnbEntity>(step));
    }
  }
  Json out = Json::object();
  std::visit(
      [&](auto& entity) {
        run(entity, step, out);
        show(entity, out);
      },
      entities_.at(name));
  if (op == "release") entities_.erase(name);
  return out;
}

}  // namespace splitplane::pdcp_tool
