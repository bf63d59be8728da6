#include "app/card_request.h"

#include <array>

namespace splitplane::app {
namespace {

std::string ipv4_text(std::uint32_t memory_order) {
  std::array<std::uint8_t, 4> octets;
  std::memcpy(octets.data(), &memory_order, sizeof memory_order);
  return IpAddress::v4(octets).to_string();
}

}  // namespace

Json to_json(const nic::CardBearer& b) {
  Json json{{"id", b.id.value},
            {"teid", b.teid.value},
            {"place", nic::kPlaceNames[static_cast<std::size_t>(b.place)]},
            {"rlc", ran::rlc_name(RlcMode::kAm, b.rlc_sn_bits)},
            {"pdcp_sn", b.pdcp_sn_bits},
            {"sdap_dl", b.sdap_dl},
            {"sdap_ul", b.sdap_ul},
            {"epoch", b.epoch},
            {"poll_pdu", b.poll_pdu},
            {"qfi", b.qfi.value},
            {"n3_ipv4", ipv4_text(b.n3_ipv4)},
            {"air_dst", b.air_dst.to_string()},
            {"air_src", b.air_src.to_string()},
            {"vf_n3", b.vf_n3},
            {"vf_air", b.vf_air},
            {"copies_vf", b.copies_vf},
            {"ul_teid", b.uplink_teid.value},
            {"peer", b.peer},
            {"next_count", b.next_count},
            {"ahead", b.ahead},
            {"lease", b.lease}};
  if (b.ue_ipv4) json["ue_ipv4"] = b.ue_ipv4->to_string();
  if (b.ue_ipv6) json["ue_ipv6"] = b.ue_ipv6->to_string();
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
