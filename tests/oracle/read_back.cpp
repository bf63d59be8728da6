// What our parsers read in octets that other implementations built: `wire_emit parse`.
#include "emit.h"
#include "wire/gtpu_messages.h"
#include "wire/n3.h"

namespace splitplane::oracle {
namespace {

using namespace wire;

class Fields {
 public:
  Fields& add(const char* key, std::uint64_t value) { return add(key, std::to_string(value)); }
  Fields& add(const char* key, const std::string& value) {
    text_.append(text_.empty() ? "" : " ").append(key).append("=").append(value);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string refused(Reason reason) {
  return std::string("reason=").append(name_of(reason));
}

void add_psc(Fields& f, const psc::Content& c) {
  const bool uplink = c.flow.type == psc::PduType::kUplink;
  f.add("Type", uplink ? 1 : 0).add("QFI", c.flow.qfi.value).add("QMP", c.has_qos_monitoring ? 1 : 0);
  f.add("SNP", c.has_sequence_number ? 1 : 0);
  if (c.has_qos_monitoring) f.add(uplink ? "DLSndTSRep" : "DLSndTS", c.dl_send_time);
  if (c.has_sequence_number) f.add(uplink ? "ULQFISeqNum" : "DLQFISeqNum", c.sequence_number);
  if (!uplink) {
    f.add("RQI", c.flow.rqi ? 1 : 0).add("PPP", c.flow.has_ppi ? 1 : 0);
    if (c.flow.has_ppi) f.add("PPI", c.flow.ppi);
    return;
  }
  if (c.has_qos_monitoring) f.add("DLRcvTS", c.dl_receive_time).add("ULSndTS", c.ul_send_time);
  f.add("DLDelayInd", c.has_dl_delay ? 1 : 0).add("ULDelayInd", c.has_ul_delay ? 1 : 0);
  f.add("N3N9DelayInd", c.has_n3_n9_delay ? 1 : 0).add("NewIEFlagInd", c.has_new_ie_flags ? 1 : 0);
  if (c.has_dl_delay) f.add("DLDelayRes", c.dl_delay);
  if (c.has_ul_delay) f.add("ULDelayRes", c.ul_delay);
  if (c.has_n3_n9_delay) f.add("N3N9DelayRes", c.n3_n9_delay);
  if (c.has_new_ie_flags) f.add("NewIEFlags", c.new_ie_flags);
  if ((c.new_ie_flags & 1) != 0) f.add("D1ULPDCPDelayResInd", c.d1_ul_pdcp_delay ? 1 : 0);
}

void add_message(Fields& f, Octets in, const gtpu::Header& h) {
  f.add("message", h.message_type).add("teid", h.teid.value);
  if (h.has_sequence_number()) f.add("sequence", h.sequence_number);
  if (h.has_pdcp_number) f.add("pdcp_number", h.pdcp_number);
  f.add("payload", to_hex(gtpu::payload(in, h)));
  if (h.has_psc) {
    const auto psc = psc::parse(in.subspan(h.psc_offset, h.psc_bytes));
    if (psc) add_psc(f, *psc);
  }
  if (const auto e = gtpu::parse_error_indication(in, h)) {
    f.add("unknown_teid", e->teid.value).add("peer", to_hex(Octets(e->address).first(e->address_bytes)));
    if (e->has_udp_port) f.add("udp_port", e->udp_port);
  }
  if (const auto s = gtpu::parse_supported_extensions(in, h)) f.add("types", to_hex(s->types));
  if (const auto t = gtpu::parse_end_marker(h)) f.add("ended", t->value);
}

std::string read_frame(Octets in) {
  const auto p = n3::parse(in);
  if (!p) return refused(p.reason);
  Fields f;
  const Octets ip = in.subspan(p->ip_offset);
  const Octets udp = in.subspan(p->udp_offset, p->gtpu_bytes + udp::kHeaderBytes);
  if (p->is_ipv6) {
    f.add("version", 6)
        .add("udp_checksum_good", udp::checksum_is_good(ipv6::source(ip), ipv6::destination(ip), udp) ? 1 : 0);
  } else {
    f.add("version", 4)
        .add("udp_checksum_good", udp::checksum_is_good(ip.subspan(12, 4), ip.subspan(16, 4), udp) ? 1 : 0);
    f.add("ip_checksum_good", ipv4::checksum_is_good(ip, ipv4::parse(ip).value) ? 1 : 0);
  }
  f.add("vlan", ethernet::parse(in)->vlan_id()).add("source_port", p->source_port);
  add_message(f, in.subspan(p->gtpu_offset, p->gtpu_bytes), p->gtpu);
  return f.text();
}

}  // namespace

std::string read_back(const std::string& parser, const Buffer& octets) {
  // Exactly the octets given, so that a sanitizer sees a parser that reads past them.
  const Buffer exact(octets.begin(), octets.end());
  if (parser == "frame") return read_frame(exact);
  Fields f;
  if (parser == "gtpu") {
    const auto h = gtpu::parse(exact);
    if (!h) return refused(h.reason);
    add_message(f, exact, *h);
    return f.text();
  }
  if (parser == "psc") {
    const auto c = psc::parse(exact);
    if (!c) return refused(c.reason);
    add_psc(f, *c);
    return f.text();
  }
  return "error=no-such-parser";
}

}  // namespace splitplane::oracle
