// Compares src/wire with a slow reader for GTP-U, its extension headers, the PDU Session Container and the path
// messages. Both accept the same messages and read the same fields. A message that our writer makes of the fields is
// read as the same again.
#include "slow_gtpu.h"
#include "wire/gtpu_messages.h"

namespace splitplane::fuzz {
namespace {

namespace gtpu = wire::gtpu;
namespace psc = wire::psc;

void compare_psc(Octets content) {
  const auto ours = psc::parse(content);
  auto slow = slow_psc(content);
  if (slow && !slow->whole) slow.reset();
  same(bool{ours}, slow.has_value(), "PSC accepted");
  if (!slow) return;
  const psc::Content& c = *ours;
  same(c.flow.type == psc::PduType::kUplink, slow->uplink, "PSC type");
  same(c.flow.qfi.value, slow->qfi, "QFI");
  same(c.flow.rqi, slow->rqi, "RQI");
  same(c.flow.has_ppi, slow->has_ppi, "PPP");
  same(c.flow.ppi, slow->ppi, "PPI");
  same(c.dl_send_time, slow->dl_sent, "DL sending time");
  same(c.dl_receive_time, slow->dl_received, "DL received time");
  same(c.ul_send_time, slow->ul_sent, "UL sending time");
  same(c.dl_delay, slow->dl_delay, "DL delay");
  same(c.ul_delay, slow->ul_delay, "UL delay");
  same(c.sequence_number, slow->sn, "QFI sequence number");
  same(c.n3_n9_delay, slow->n3_delay, "N3/N9 delay");
  same(c.new_ie_flags, slow->new_flags, "new IE flags");
  same(c.d1_ul_pdcp_delay, slow->d1, "D1 UL PDCP delay");
  std::array<std::uint8_t, 64> room{};
  const std::size_t bytes = psc::write(room, c);
  if (c.has_mbs_sequence_number || (c.new_ie_flags & 0xFE) != 0) return same(bytes, std::size_t{0}, "refused PSC");
  const auto again = psc::parse(Octets(room).first(bytes));
  require(bytes % 4 == 2 && again && again->dl_send_time == c.dl_send_time &&
              again->sequence_number == c.sequence_number && again->flow.qfi.value == c.flow.qfi.value &&
              again->n3_n9_delay == c.n3_n9_delay && again->d1_ul_pdcp_delay == c.d1_ul_pdcp_delay,
          "a PSC that is written is not read as the same");
}

void compare_messages(Octets in, const gtpu::Header& h, const SlowGtpu& slow) {
  const SlowIes ies = slow_ies(slow.payload);
  for (const std::uint8_t type : {gtpu::kEchoRequest, gtpu::kEchoResponse}) {
    const auto echo = gtpu::parse_echo(in, h, type);
    same(bool{echo}, slow.type == type && slow.s && !ies.truncated, "Echo accepted");
    if (!echo) continue;
    same(echo->sequence_number, slow.sn, "Echo sequence number");
    same(echo->has_recovery, ies.recovery.has_value(), "Recovery");
    if (ies.recovery) same(echo->recovery, (*ies.recovery)[0], "restart counter");
  }
  const auto error = gtpu::parse_error_indication(in, h);
  const bool address_fits = ies.address && (ies.address->size() == 4 || ies.address->size() == 16);
  same(bool{error}, slow.type == 26 && ies.teid && address_fits && !ies.truncated, "Error Indication accepted");
  if (error) {
    same(error->teid.value, SlowBits(*ies.teid).take32(32), "TEID of an Error Indication");
    same(std::size_t{error->address_bytes}, ies.address->size(), "address length");
    require(std::equal(ies.address->begin(), ies.address->end(), error->address.begin()), "address differs");
    same(error->has_udp_port, slow.udp_port.has_value(), "UDP port");
    same(error->udp_port, slow.udp_port.value_or(0), "UDP port");
  }
  same(bool{gtpu::parse_end_marker(h)}, slow.type == 254 && slow.teid != 0, "End Marker accepted");
  const auto types = gtpu::parse_supported_extensions(in, h);
  same(bool{types}, slow.type == 31 && ies.extensions.has_value(), "extension headers accepted");
  if (types) require(std::ranges::equal(types->types, *ies.extensions), "list of extension headers differs");
}

void compare(Octets in) {
  const auto ours = gtpu::parse(in);
  const auto slow = slow_gtpu(in);
  same(bool{ours}, slow.has_value(), "GTP-U accepted");
  if (!slow) return;
  const gtpu::Header& h = *ours;
  same(h.message_type, slow->type, "message type");
  same(h.teid.value, slow->teid, "TEID");
  same(h.length, slow->length, "length");
  same(h.has_sequence_number(), slow->s, "S");
  same(h.has_n_pdu_number(), slow->pn, "PN");
  if (slow->s) same(h.sequence_number, slow->sn, "sequence number");
  if (slow->pn) same(h.n_pdu_number, slow->n_pdu, "N-PDU number");
  same(h.has_psc, slow->psc.has_value(), "PSC");
  if (slow->psc) {
    same(h.psc.qfi.value, slow->psc->qfi, "QFI in the header");
    same(h.psc.rqi, slow->psc->rqi, "RQI in the header");
    same(h.psc.ppi, slow->psc->ppi, "PPI in the header");
    compare_psc(in.subspan(h.psc_offset, h.psc_bytes));
  }
  same(h.has_pdcp_number, slow->pdcp_number.has_value(), "PDCP number");
  same(h.pdcp_number, slow->pdcp_number.value_or(0), "PDCP number");
  same(std::size_t{h.nr_container_bytes}, slow->container_bytes.value_or(0), "NR RAN container");
  const Octets payload = gtpu::payload(in, h);
  require(payload.data() == slow->payload.data() && payload.size() == slow->payload.size(), "payload elsewhere");
  compare_messages(in, h, *slow);
  // As our writer would send it, without extension headers.
  Bytes room(12 + payload.size());
  const std::size_t bytes = gtpu::write(room,
                                        {.message_type = h.message_type,
                                         .teid = h.teid,
                                         .has_sequence_number = slow->s,
                                         .sequence_number = h.sequence_number,
                                         .has_n_pdu_number = slow->pn,
                                         .n_pdu_number = h.n_pdu_number},
                                        {}, payload.size());
  if (bytes == 0) return;  // with four more octets it is too long
  std::ranges::copy(payload, room.begin() + static_cast<std::ptrdiff_t>(bytes));
  const auto again = slow_gtpu(Octets(room).first(bytes + payload.size()));
  require(again && again->teid == slow->teid && again->sn == (slow->s ? slow->sn : 0) &&
              std::ranges::equal(again->payload, payload),
          "a message that is written is not read as the same");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

// The first octet chooses the test.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::Input in(data, bytes);
  if (in.octet() % 4 == 3) {
    splitplane::fuzz::compare_psc(in.rest());
  } else {
    splitplane::fuzz::compare(in.rest());
  }
  return 0;
}
