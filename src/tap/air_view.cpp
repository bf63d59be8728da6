#include "tap/air_view.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "wire/airhdr.h"
#include "wire/ethernet.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"

namespace splitplane::tap {
namespace {

using Octets = std::span<const std::uint8_t>;

// Octets of the RLC header of a complete SDU; nothing for control and segments.
std::optional<std::size_t> complete_sdu_header(const wire::airhdr::Header& air, Octets pdu) {
  if (air.rlc_mode == RlcMode::kTm) return 0;
  if (air.rlc_mode == RlcMode::kUm) {
    const auto rlc = wire::rlc::parse_um(pdu, air.rlc_sn_bits);
    if (!rlc || rlc->si != wire::rlc::Segment::kComplete) return std::nullopt;
    return rlc->header_bytes;
  }
  const auto rlc = wire::rlc::parse_am(pdu, air.rlc_sn_bits);
  if (!rlc || rlc->si != wire::rlc::Segment::kComplete) return std::nullopt;
  return rlc->header_bytes;
}

// Signature, fixed octets, tags with their values, and the tag that says that the PDU follows.
struct Framing {
  std::array<std::uint8_t, 32> octets{};
  std::size_t bytes = 0;

  explicit Framing(std::string_view signature) {
    for (const char c : signature) add({static_cast<std::uint8_t>(c)});
  }
  void add(std::initializer_list<std::uint8_t> values) {
    for (const std::uint8_t value : values) octets[bytes++] = value;
  }
};

Framing rlc_framing(const wire::airhdr::Header& air, std::uint16_t ue) {
  constexpr std::array<std::uint8_t, 3> kModes{1, 2, 4};  // TM, UM, AM
  Framing f("rlc-nr");
  f.add({kModes[static_cast<std::size_t>(air.rlc_mode)], air.rlc_sn_bits});
  f.add({0x02, static_cast<std::uint8_t>(air.direction)});                           // direction
  f.add({0x03, static_cast<std::uint8_t>(ue >> 8), static_cast<std::uint8_t>(ue)});  // UE
  f.add({0x04, 5, 0x05, 1});                                                         // a DRB, number 1
  f.add({0x01});
  return f;
}

// Wireshark deciphers with the DRB's number, and takes the last four octets for the MAC-I if it is told of one.
Framing pdcp_framing(const wire::airhdr::Header& air, std::uint16_t ue, const std::optional<SecuredDrb>& secured) {
  Framing f("pdcp-nr");
  f.add({2});                                                                        // user plane
  f.add({0x02, air.pdcp_sn_bits, 0x03, static_cast<std::uint8_t>(air.direction)});   // SN length, direction
  f.add({0x04, 1, 0x05, secured ? secured->number : std::uint8_t{1}});               // not BCCH or CCCH; the DRB
  f.add({0x06, static_cast<std::uint8_t>(ue >> 8), static_cast<std::uint8_t>(ue)});  // UE
  if (air.sdap_header) f.add({0x10, static_cast<std::uint8_t>(air.direction == Direction::kDownlink ? 2 : 1)});
  if (secured && secured->has_mac_i) f.add({0x0f});
  f.add({0x01});
  return f;
}

}  // namespace

std::optional<std::uint16_t> AirView::ue_of(std::uint32_t bearer) {
  const auto at = ues_.find(bearer);
  if (at != ues_.end()) return at->second;
  if (ues_.size() == 0xffff) return std::nullopt;
  return ues_.emplace(bearer, static_cast<std::uint16_t>(ues_.size() + 1)).first->second;
}

std::optional<AirView::Frame> AirView::translate(Octets frame, std::uint32_t original_bytes) {
  const auto ether = wire::ethernet::parse(frame);
  if (!ether || ether->ether_type != wire::ethernet::kTypeAirhdr) return std::nullopt;
  const Octets behind = frame.subspan(ether->header_bytes);
  const auto air = wire::airhdr::parse(behind, original_bytes - frame.size());
  if (!air || behind.size() <= wire::airhdr::kHeaderBytes || air->pdu_bytes == 0) return std::nullopt;
  Octets pdu = wire::airhdr::pdu_of(*air, behind);
  const auto missing = static_cast<std::uint32_t>(air->pdu_bytes - pdu.size());
  if (view_ == View::kPdcpNr) {
    const auto rlc = complete_sdu_header(*air, pdu);
    if (!rlc || *rlc >= pdu.size()) return std::nullopt;
    pdu = pdu.subspan(*rlc);
  }
  const auto ue = ue_of(air->bearer.value);
  if (!ue) return std::nullopt;
  const bool is_pdcp = view_ == View::kPdcpNr;
  const auto secured = is_pdcp && secured_ ? secured_->find(air->bearer) : std::nullopt;
  const Framing framing = is_pdcp ? pdcp_framing(*air, *ue, secured) : rlc_framing(*air, *ue);

  const std::size_t payload = framing.bytes + pdu.size() + missing;  // its length before the copy was cut
  if (payload > kMostFramingPayload) return std::nullopt;
  made_.resize(kMostViewBytes + pdu.size());
  const wire::MutableOctets out(made_);

  std::size_t n = write_framing_headers(out, air->direction, air->bearer.value, payload);
  std::copy_n(framing.octets.begin(), framing.bytes, made_.begin() + static_cast<std::ptrdiff_t>(n));
  n += framing.bytes;
  std::copy(pdu.begin(), pdu.end(), made_.begin() + static_cast<std::ptrdiff_t>(n));
  n += pdu.size();
  return Frame{Octets(made_).first(n), static_cast<std::uint32_t>(n) + missing};
}

}  // namespace splitplane::tap
