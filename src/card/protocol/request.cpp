#include "card/protocol/request.h"

#include <array>

#include "ran/bearer_config.h"

namespace splitplane::app {
namespace {

std::string ipv4_text(std::uint32_t memory_order) {
  std::array<std::uint8_t, 4> octets;
  std::memcpy(octets.data(), &memory_order, sizeof memory_order);
  return IpAddress::v4(octets).to_string();
}

// All members of a bearer, or only those that differ from `common`.
Json members(const nic::CardBearer& b, const nic::CardBearer* common) {
  Json json = Json::object();
  const auto member = [&](const char* name, auto field, auto... text) {
    const auto& value = b.*field;
    if (common != nullptr && value == common->*field) return;
    if constexpr (sizeof...(text) == 0) {
      json[name] = value;
    } else {
      json[name] = (text(value), ...);
    }
  };
  const auto mac = [](const MacAddress& address) { return address.to_string(); };
  using B = nic::CardBearer;
  member("place", &B::place, [](nic::Place place) { return nic::kPlaceNames[static_cast<std::size_t>(place)]; });
  member("rlc", &B::rlc_sn_bits, [](std::uint8_t bits) { return ran::rlc_name(RlcMode::kAm, bits); });
  member("pdcp_sn", &B::pdcp_sn_bits);
  member("sdap_dl", &B::sdap_dl);
  member("sdap_ul", &B::sdap_ul);
  member("epoch", &B::epoch);
  member("poll_pdu", &B::poll_pdu);
  member("qfi", &B::qfi, [](Qfi qfi) { return qfi.value; });
  member("n3_ipv4", &B::n3_ipv4, ipv4_text);
  member("air_dst", &B::air_dst, mac);
  member("air_src", &B::air_src, mac);
  member("vf_n3", &B::vf_n3);
  member("vf_air", &B::vf_air);
  member("copies_vf", &B::copies_vf);
  member("peer", &B::peer);
  member("next_count", &B::next_count);
  member("ahead", &B::ahead);
  member("lease", &B::lease);
  return json;
}

}  // namespace

Json common_to_json(const nic::CardBearer& bearer) {
  return members(bearer, nullptr);
}

Json to_json(const nic::CardBearer& bearer, const nic::CardBearer& common) {
  Json json = members(bearer, &common);
  json["id"] = bearer.id.value;
  json["teid"] = bearer.teid.value;
  json["ul_teid"] = bearer.uplink_teid.value;
  if (bearer.ue_ipv4) json["ue_ipv4"] = bearer.ue_ipv4->to_string();
  if (bearer.ue_ipv6) json["ue_ipv6"] = bearer.ue_ipv6->to_string();
  return json;
}

Json to_json(const nic::CardPeer& peer) {
  return {{"number", peer.number},         {"dst", peer.dst.to_string()}, {"src", peer.src.to_string()},
          {"from", peer.from.to_string()}, {"to", peer.to.to_string()},   {"max_payload", peer.max_payload}};
}

Expected<std::vector<CardNumbersRow>> numbers_from_json(const Json& result) {
  constexpr std::size_t kFields = 9;
  std::vector<CardNumbersRow> rows;
  if (!result.is_array()) return fail("the card's answer to card.numbers is no list");
  for (const Json& row : result) {
    const bool whole = row.is_array() && row.size() == kFields &&
                       std::ranges::all_of(row, [](const Json& v) { return v.is_number_unsigned(); });
    if (!whole) return fail("the card's answer to card.numbers has a row that is not nine numbers");
    rows.push_back({BearerId{row[0].get<std::uint32_t>()},
                    {.pdcp_next = row[1].get<std::uint32_t>(),
                     .rlc_next = row[2].get<std::uint32_t>(),
                     .in_flight = row[3].get<std::uint32_t>(),
                     .dl_packets = row[4].get<std::uint64_t>(),
                     .ul_packets = row[5].get<std::uint64_t>(),
                     .epoch = row[6].get<std::uint8_t>(),
                     .ahead = row[7].get<std::uint32_t>(),
                     .lease_end = row[8].get<std::uint32_t>()}});
  }
  return rows;
}

}  // namespace splitplane::app
