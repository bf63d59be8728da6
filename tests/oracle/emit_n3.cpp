// Ethernet, IPv4, IPv6, UDP, GTP-U and PDU Session Containers, as our writers write them.
#include <algorithm>

#include "emit.h"
#include "wire/ethernet.h"
#include "wire/gtpu_messages.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace splitplane::oracle {
namespace {

using namespace wire;

constexpr ethernet::MacOctets kTo{2, 0, 0, 0, 0, 2};
constexpr ethernet::MacOctets kFrom{2, 0, 0, 0, 0, 1};
const Buffer kInner = from_hex("4500001e00010000401160900a2d0002080808089c419c42000a00006869");

std::string hex32(std::uint32_t v) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08x", v);
  return text;
}

Buffer datagram(Octets from, Octets to, std::uint16_t source_port, const Buffer& payload) {
  Buffer out(udp::kHeaderBytes);
  append(out, payload);
  udp::write(out, source_port, gtpu::kPort, payload.size());
  const std::uint16_t sum = udp::checksum(from, to, out);
  udp::write(out, source_port, gtpu::kPort, payload.size(), sum);
  return out;
}

// `octets` (a multiple of 4) of IPv4 options: a router alert, then a record route with room for addresses, and the end.
Buffer ipv4_options(std::size_t octets) {
  Buffer out(octets);
  constexpr std::uint8_t kRouterAlert[]{0x94, 4};
  const std::uint8_t record_route[]{7, static_cast<std::uint8_t>(octets - 5), 4};
  if (octets >= 4) std::copy(std::begin(kRouterAlert), std::end(kRouterAlert), out.begin());
  if (octets >= 8) std::copy(std::begin(record_route), std::end(record_route), out.begin() + 4);
  return out;
}

// A G-PDU from the core in Ethernet, with 0 to 2 VLAN tags, IPv4 with options or IPv6.
void frame(Random& random, unsigned tag_count, bool v6, std::size_t option_octets) {
  Line line("frame");
  Buffer gpdu;
  const Teid teid{random.in(1, 0xFFFFFFFF)};
  append(gpdu, [&](MutableOctets out) { return gtpu::write_gpdu_psc_dl(out, teid, kInner.size(), Qfi{9}); });
  append(gpdu, kInner);
  std::vector<std::uint16_t> tags;
  std::vector<unsigned> vlans;
  for (unsigned i = 0; i < tag_count; ++i) tags.push_back(static_cast<std::uint16_t>(random.in(1, 0xFFFF)));
  for (const std::uint16_t tag : tags) vlans.push_back(tag & 0xFFFU);
  Buffer out;
  append(out, [&](MutableOctets o) {
    return ethernet::write(o, kTo, kFrom, v6 ? ethernet::kTypeIpv6 : ethernet::kTypeIpv4, tags);
  });
  const auto port = static_cast<std::uint16_t>(random.in(40000, 60000));
  if (v6) {
    Buffer from = random.data(16);
    Buffer to = random.data(16);
    from[0] = to[0] = 0xfd;
    const Buffer udp = datagram(from, to, port, gpdu);
    ipv6::Header h;
    h.traffic_class = static_cast<std::uint8_t>(random.in(0, 255));
    h.flow_label = random.in(0, 0xFFFFF);
    h.hop_limit = static_cast<std::uint8_t>(random.in(1, 255));
    h.next_header = ipv6::kProtocolUdp;
    append(out, [&](MutableOctets o) {
      return ipv6::write(o, h, std::span<const std::uint8_t, 16>(from), std::span<const std::uint8_t, 16>(to),
                         udp.size());
    });
    append(out, udp);
    line.add("ipv6_source", to_hex(from)).add("ipv6_destination", to_hex(to)).add("ipv6_length", udp.size());
    line.add("traffic_class", h.traffic_class).add("flow_label", h.flow_label).add("hop_limit", h.hop_limit);
  } else {
    ipv4::Header h;
    h.source = 0x0a000000U | random.in(1, 0xFFFFFE);
    h.destination = 0x0a000000U | random.in(1, 0xFFFFFE);
    h.ttl = static_cast<std::uint8_t>(random.in(5, 255));
    h.protocol = ipv4::kProtocolUdp;
    h.identification = static_cast<std::uint16_t>(random.in(0, 0xFFFF));
    h.fragment = random.flip() ? ipv4::kDontFragment : std::uint16_t{0};
    std::uint8_t address[8];
    store_be32(address, h.source);
    store_be32(address + 4, h.destination);
    const Buffer udp = datagram(Octets(address, 4), Octets(address + 4, 4), port, gpdu);
    const Buffer options = ipv4_options(option_octets);
    append(out, [&](MutableOctets o) { return ipv4::write(o, h, udp.size(), options); });
    append(out, udp);
    line.add("ipv4_source", h.source).add("ipv4_destination", h.destination).add("ttl", h.ttl);
    line.add("ip_header", 20 + option_octets).add("identification", h.identification);
    line.add("ip_total", 20 + option_octets + udp.size()).add("dont_fragment", h.fragment != 0 ? 1 : 0);
  }
  if (tag_count == 2) line.add("service_vlan", vlans.front());
  if (tag_count != 0) line.add("vlan", vlans.back());
  line.add("source_port", port).add("udp_length", 8 + gpdu.size());
  line.add("teid", hex32(teid.value)).add("qfi", 9).print(out);
}

// A message line: the common fields are told here.
Line message(unsigned type, Teid teid, std::size_t length) {
  Line line("gtpu");
  return line.add("message", type).add("teid", hex32(teid.value)).add("length", length);
}

void gpdu(Random& random) {
  const gtpu::Fields f{gtpu::kGpdu,   Teid{random.in(0, 0xFFFFFFFF)},
                       random.flip(), static_cast<std::uint16_t>(random.in(0, 0xFFFF)),
                       false,         0};
  std::vector<gtpu::Extension> extensions;
  std::vector<unsigned> types;
  Buffer number(2);
  store_be16(number.data(), random.in(0, 0x7FFF));
  Buffer content(64);
  psc::Content psc;
  psc.flow.qfi = Qfi{static_cast<std::uint8_t>(random.in(0, 63))};
  const bool uplink = random.flip();
  psc.flow.type = uplink ? psc::PduType::kUplink : psc::PduType::kDownlink;
  if (!uplink) {
    psc.flow.rqi = random.flip();
    psc.flow.has_ppi = random.flip();
    if (psc.flow.has_ppi) psc.flow.ppi = static_cast<std::uint8_t>(random.in(0, 7));
  }
  content.resize(psc::write(content, psc));
  const bool with_number = random.in(0, 3) == 0;
  const bool with_psc = random.in(0, 3) != 0;
  if (with_number) extensions.push_back({gtpu::kExtensionPdcpNumber, number});
  if (with_psc) extensions.push_back({gtpu::kExtensionPsc, content});
  for (const auto& e : extensions) types.push_back(e.type);
  Buffer out;
  append(out, [&](MutableOctets o) { return gtpu::write(o, f, extensions, kInner.size()); });
  Line line = message(gtpu::kGpdu, f.teid, out.size() - 8 + kInner.size());
  append(out, kInner);
  if (f.has_sequence_number) line.add("sequence", f.sequence_number);
  if (!types.empty()) types.push_back(0);
  line.list("extensions", types);
  if (with_number) line.add("pdcp_number", load_be16(number.data()));
  if (with_psc) {
    line.add("psc_type", uplink ? 1 : 0).add("qfi", psc.flow.qfi.value);
    if (!uplink) line.add("rqi", psc.flow.rqi ? 1 : 0).add("ppp", psc.flow.has_ppi ? 1 : 0);
    if (psc.flow.has_ppi) line.add("ppi", psc.flow.ppi);
  }
  line.add("inner", "8.8.8.8").print(out);
}

// The 16-octet headers of the packet path.
void short_gpdu(Random& random) {
  const Teid teid{random.in(0, 0xFFFFFFFF)};
  const Qfi qfi{static_cast<std::uint8_t>(random.in(0, 63))};
  const bool uplink = random.flip();
  const bool rqi = !uplink && random.flip();
  Buffer out;
  append(out, [&](MutableOctets o) {
    return uplink ? gtpu::write_gpdu_psc_ul(o, teid, kInner.size(), qfi)
                  : gtpu::write_gpdu_psc_dl(o, teid, kInner.size(), qfi, rqi);
  });
  append(out, kInner);
  Line line = message(gtpu::kGpdu, teid, 8 + kInner.size());
  line.add("extensions", "133,0").add("psc_type", uplink ? 1 : 0).add("qfi", qfi.value);
  if (!uplink) line.add("rqi", rqi ? 1 : 0).add("ppp", 0);
  line.add("inner", "8.8.8.8").print(out);
}

void signalling(Random& random) {
  const auto sequence = static_cast<std::uint16_t>(random.in(0, 0xFFFF));
  Buffer out;
  append(out, [&](MutableOctets o) { return gtpu::write_echo_request(o, {sequence}); });
  message(gtpu::kEchoRequest, Teid{0}, out.size() - 8).add("sequence", sequence).print(out);
  out.clear();
  append(out, [&](MutableOctets o) { return gtpu::write_echo_response(o, {sequence}); });
  message(gtpu::kEchoResponse, Teid{0}, out.size() - 8).add("sequence", sequence).add("recovery", 0).print(out);

  const Teid teid{random.in(1, 0xFFFFFFFF)};
  out.clear();
  append(out, [&](MutableOctets o) { return gtpu::write_end_marker(o, teid); });
  message(gtpu::kEndMarker, teid, 0).print(out);

  gtpu::ErrorIndication e;
  e.teid = teid;
  e.address_bytes = random.flip() ? 4 : 16;
  const Buffer address = random.data(e.address_bytes);
  std::copy(address.begin(), address.end(), e.address.begin());
  e.has_udp_port = random.flip();
  e.udp_port = static_cast<std::uint16_t>(random.in(1, 0xFFFF));
  out.clear();
  append(out, [&](MutableOctets o) { return gtpu::write_error_indication(o, e); });
  Line line = message(gtpu::kErrorIndication, Teid{0}, out.size() - 8);
  line.add("sequence", 0).add("unknown_teid", hex32(teid.value));
  line.add(e.address_bytes == 4 ? "peer_ipv4" : "peer_ipv6", to_hex(address));
  if (e.has_udp_port) line.add("extensions", "64,0").add("udp_port", e.udp_port);
  line.print(out);

  Buffer types{gtpu::kExtensionPsc};
  if (random.flip()) types.push_back(gtpu::kExtensionPdcpNumber);
  out.clear();
  append(out, [&](MutableOctets o) { return gtpu::write_supported_extensions(o, types); });
  message(gtpu::kSupportedExtensionHeaders, Teid{0}, out.size() - 8).add("sequence", 0).list("types", types).print(out);
}

}  // namespace

void emit_frames(Random& random, unsigned count) {
  for (unsigned i = 0; i < count; ++i) frame(random, i % 3, i % 2 == 1, 4 * (i % 11));
}

void emit_gtpu(Random& random, unsigned count) {
  Buffer g1;
  append(g1, [](MutableOctets o) { return gtpu::write_gpdu(o, Teid{0x01020304}, kInner.size()); });
  append(g1, kInner);
  message(gtpu::kGpdu, Teid{0x01020304}, kInner.size()).add("inner", "8.8.8.8").print(g1);
  for (unsigned i = 0; i < count; ++i) {
    gpdu(random);
    short_gpdu(random);
    if (i % 5 == 0) signalling(random);
  }
}

void emit_psc(Random& random, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    psc::Content c;
    const bool uplink = random.flip();
    c.flow.type = uplink ? psc::PduType::kUplink : psc::PduType::kDownlink;
    c.flow.qfi = Qfi{static_cast<std::uint8_t>(random.in(0, 63))};
    Line line("psc");
    line.add("Type", uplink ? 1 : 0).add("QFI", c.flow.qfi.value);
    const auto flag = [&](const char* key, bool& value) { line.add(key, (value = random.flip()) ? 1 : 0); };
    flag("QMP", c.has_qos_monitoring);
    flag("SNP", c.has_sequence_number);
    if (c.has_qos_monitoring) line.add(uplink ? "DLSndTSRep" : "DLSndTS", c.dl_send_time = random.word());
    if (c.has_sequence_number) {
      line.add(uplink ? "ULQFISeqNum" : "DLQFISeqNum", c.sequence_number = random.in(0, 0xFFFFFF));
    }
    if (!uplink) {
      flag("RQI", c.flow.rqi);
      flag("PPP", c.flow.has_ppi);
      if (c.flow.has_ppi) line.add("PPI", c.flow.ppi = static_cast<std::uint8_t>(random.in(0, 7)));
    } else {
      flag("DLDelayInd", c.has_dl_delay);
      flag("ULDelayInd", c.has_ul_delay);
      flag("N3N9DelayInd", c.has_n3_n9_delay);
      flag("NewIEFlagInd", c.has_new_ie_flags);
      if (c.has_qos_monitoring) line.add("DLRcvTS", c.dl_receive_time = random.word());
      if (c.has_qos_monitoring) line.add("ULSndTS", c.ul_send_time = random.word());
      if (c.has_dl_delay) line.add("DLDelayRes", c.dl_delay = random.in(0, 0xFFFFFFFF));
      if (c.has_ul_delay) line.add("ULDelayRes", c.ul_delay = random.in(0, 0xFFFFFFFF));
      if (c.has_n3_n9_delay) line.add("N3N9DelayRes", c.n3_n9_delay = random.in(0, 0xFFFFFFFF));
      if (c.has_new_ie_flags) {
        line.add("NewIEFlags", c.new_ie_flags = static_cast<std::uint8_t>(random.in(0, 1)));
        if (c.new_ie_flags != 0) line.add("D1ULPDCPDelayResInd", (c.d1_ul_pdcp_delay = random.flip()) ? 1 : 0);
      }
    }
    Buffer out;
    append(out, [&](MutableOctets o) { return psc::write(o, c); });
    line.print(out);
  }
}

}  // namespace splitplane::oracle
