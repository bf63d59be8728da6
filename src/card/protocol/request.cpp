#include "card/protocol/request.h"

#include <algorithm>

#include "card/protocol/fields.h"
#include "control/field_params.h"

namespace splitplane::app {

Json common_to_json(const nic::CardBearer& bearer) {
  Json json = Json::object();
  write_fields(json, nic::common_fields(nic::kSent), bearer);
  return json;
}

Json to_json(const nic::CardBearer& bearer, const nic::CardBearer& common) {
  Json json = Json::object();
  write_fields(json, nic::common_fields(nic::kSent), bearer, &common);
  write_fields(json, nic::own_fields(), bearer);
  return json;
}

Json to_json(const nic::CardPeer& peer) {
  return {{"number", peer.number},
          {"dst", peer.dst.to_string()},
          {"src", peer.src.to_string()},
          {"from", peer.from.to_string()},
          {"to", peer.to.to_string()},
          {"max_payload", peer.max_payload},
          {"vlan", peer.vlan}};
}

Json to_json(const nic::CardBeginning& b) {
  return {b.id.value, b.next_count, b.next_rlc, b.epoch, b.lease_end, b.settled};
}

Expected<std::vector<CardNumbersRow>> numbers_from_json(const Json& result) {
  constexpr std::size_t kFields = 12;
  std::vector<CardNumbersRow> rows;
  if (!result.is_array()) return fail("the card's answer to card.numbers is no list");
  for (const Json& row : result) {
    const bool whole = row.is_array() && row.size() == kFields &&
                       std::ranges::all_of(row, [](const Json& v) { return v.is_number_unsigned(); });
    if (!whole) return fail("the card's answer to card.numbers has a row that is not twelve numbers");
    rows.push_back({BearerId{row[0].get<std::uint32_t>()},
                    {.pdcp_next = row[1].get<std::uint32_t>(),
                     .rlc_next = row[2].get<std::uint32_t>(),
                     .in_flight = row[3].get<std::uint32_t>(),
                     .dl_packets = row[4].get<std::uint64_t>(),
                     .ul_packets = row[5].get<std::uint64_t>(),
                     .dl_octets = row[9].get<std::uint64_t>(),
                     .ul_octets = row[10].get<std::uint64_t>(),
                     .epoch = row[6].get<std::uint8_t>(),
                     .ahead = row[7].get<std::uint32_t>(),
                     .lease_end = row[8].get<std::uint32_t>(),
                     .place = row[11] == 0U ? nic::Place::kCard : nic::Place::kHost}});
  }
  return rows;
}

}  // namespace splitplane::app
