// For tests and fuzzing: runs every parser of wire/ over one span. It passes what a parser accepts on to the next one,
// and reads every octet that a parser returns. So a sanitizer sees a span that reaches too far. Returns how many
// parsers accepted.
#pragma once

#include <array>
#include <cstdlib>

#include "wire/airhdr.h"
#include "wire/dci.h"
#include "wire/gtpu_messages.h"
#include "wire/icmp_error.h"
#include "wire/mac.h"
#include "wire/mac_ce.h"
#include "wire/mac_nr.h"
#include "wire/n3.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/rlc_status.h"
#include "wire/sdap.h"
#include "wire/tcp_options.h"

namespace splitplane::wire::test {

// A broken invariant ends the process, in release builds too, because the caller may be a fuzzer.
inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::uint8_t read_all(Octets octets) {
  std::uint8_t sum = 0;
  for (const std::uint8_t o : octets) sum = static_cast<std::uint8_t>(sum + o);
  volatile std::uint8_t sink = sum;
  return sink;
}

inline bool inside(Octets part, Octets whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

inline unsigned parse_gtpu_all(Octets in) {
  const auto h = gtpu::parse(in);
  if (!h) return 0;
  require(inside(gtpu::payload(in, *h), in));
  read_all(gtpu::payload(in, *h));
  if (h->has_psc) {
    const Octets content = in.subspan(h->psc_offset, h->psc_bytes);
    const auto psc = psc::parse(content);
    require(psc || psc.reason == Reason::psc_truncated);
    read_all(content);
  }
  if (h->nr_container_bytes != 0) read_all(in.subspan(h->nr_container_offset, h->nr_container_bytes));
  unsigned n = 1;
  n += gtpu::parse_echo(in, *h, gtpu::kEchoRequest) ? 1 : 0;
  n += gtpu::parse_echo(in, *h, gtpu::kEchoResponse) ? 1 : 0;
  n += gtpu::parse_error_indication(in, *h) ? 1 : 0;
  n += gtpu::parse_end_marker(*h) ? 1 : 0;
  if (const auto types = gtpu::parse_supported_extensions(in, *h)) {
    require(inside(types->types, in));
    read_all(types->types);
    ++n;
  }
  return n;
}

inline unsigned parse_pdcp_all(Octets in, unsigned sn_bits) {
  unsigned n = 0;
  if (const auto data = pdcp::parse_data(in, sn_bits)) {
    require(data->header_bytes <= in.size() && (data->sn >> sn_bits) == 0);
    n += sdap::parse_downlink(in.subspan(data->header_bytes)) ? 1 : 0;
    n += sdap::parse_uplink(in.subspan(data->header_bytes)) ? 1 : 0;
    ++n;
  }
  if (const auto report = pdcp::parse_status_report(in)) {
    require(!report->confirms(report->fmc));
    read_all(report->bitmap);
    for (std::uint32_t k = 0; k <= report->bitmap.size() * 8 + 1; ++k) (void)report->confirms({report->fmc.value + k});
    ++n;
  }
  if (const auto feedback = pdcp::parse_rohc_feedback(in)) {
    read_all(*feedback);
    ++n;
  }
  n += pdcp::parse_srb(in) ? 1 : 0;
  return n;
}

inline unsigned parse_rlc_all(Octets in) {
  unsigned n = rlc::parse_tm(in) ? 1 : 0;
  for (const unsigned sn_bits : {6U, 12U, 18U}) {
    if (const auto um = rlc::parse_um(in, sn_bits)) {
      require(um->header_bytes < in.size() && (um->sn >> sn_bits) == 0);
      n += 1 + parse_pdcp_all(in.subspan(um->header_bytes), 12);
    }
    if (const auto am = rlc::parse_am(in, sn_bits)) {
      require(am->header_bytes < in.size() && (am->sn >> sn_bits) == 0);
      n += 1 + parse_pdcp_all(in.subspan(am->header_bytes), sn_bits);
    }
    if (const auto status = rlc::parse_status(in, sn_bits)) {
      std::uint32_t blocks = 0;
      rlc::Nack nack;
      for (rlc::NackCursor c(*status); c.next(nack); ++blocks) require(nack.range != 0 && (nack.sn >> sn_bits) == 0);
      require(blocks == status->nack_blocks && (status->ack_sn >> sn_bits) == 0);
      ++n;
    }
  }
  return n;
}

inline unsigned parse_mac_all(Octets in, Direction direction) {
  unsigned n = 0;
  std::size_t octets = 0;
  mac::SubPdu s;
  mac::Cursor cursor(in, direction);
  while (cursor.next(s)) {
    require(inside(s.payload, in));
    read_all(s.payload);
    octets += s.subheader_bytes + s.payload.size();
    if (s.kind == mac::Kind::kSdu) n += parse_rlc_all(s.payload);
    n += mac::parse_timing_advance(s.payload) ? 1 : 0;
    n += mac::parse_crnti(s.payload) ? 1 : 0;
    n += mac::parse_single_phr(s.payload) ? 1 : 0;
    n += mac::parse_short_bsr(s.payload) ? 1 : 0;
    n += mac::parse_long_bsr(s.payload) ? 1 : 0;
    if (const auto bsr = mac::parse_long_truncated_bsr(s.payload)) n += read_all(bsr->sizes) != 0 ? 1 : 0;
    n += mac::parse_scell_activation(s.payload) ? 1 : 0;
    n += mac::parse_contention_resolution(s.payload) ? 1 : 0;
  }
  require(octets + cursor.rest().size() == in.size());
  require(cursor.reason() != Reason::ok || cursor.rest().empty());
  return n;
}

// What a DCI parser accepts, the writer writes as the same bits.
inline unsigned parse_dci_all(Octets in) {
  unsigned n = 0;
  const auto same = [in](const auto& format, const dci::Bandwidth& b) {
    std::array<std::uint8_t, 8> again{};
    const unsigned bits = dci::write(again, *format, b);
    require(bits == dci::size_bits(b));
    for (unsigned bit = 0; bit < bits; ++bit) require(((in[bit / 8] ^ again[bit / 8]) << bit % 8 & 0x80) == 0);
    return 1U;
  };
  for (const dci::SearchSpace space : {dci::SearchSpace::kCommon, dci::SearchSpace::kUeSpecific}) {
    for (const dci::Bandwidth b : {dci::Bandwidth{6, 273, space}, dci::Bandwidth{273, 273, space},
                                   dci::Bandwidth{51, 24, space}, dci::Bandwidth{275, 1, space}}) {
      if (const auto format = dci::parse_1_0(in, dci::size_bits(b), b)) n += same(format, b);
      if (const auto format = dci::parse_0_0(in, dci::size_bits(b), b)) n += same(format, b);
    }
  }
  return n;
}

inline unsigned parse_tcp_all(Octets in) {
  unsigned n = tcp::parse_quoted(in) ? 1 : 0;
  const auto h = tcp::parse(in);
  if (!h) return n;
  require(h->header_bytes >= tcp::kMinHeaderBytes && h->header_bytes <= in.size());
  const std::array<std::uint8_t, 4> address{};
  (void)tcp::checksum_is_good(address, address, in);
  tcp::OptionCursor cursor(in, *h);
  tcp::Option o;
  while (cursor.next(o)) {
    require(o.data_at + std::size_t{o.data_bytes} <= h->header_bytes);
    read_all(in.subspan(o.data_at, o.data_bytes));
  }
  const auto syn = tcp::parse_syn_options(in, *h);
  const auto places = tcp::find_options(in, *h);
  require(syn.reason == cursor.reason() && places.reason == cursor.reason());
  if (!places) return n + 1;
  require(places->timestamps == 0 || places->timestamps + 8U <= h->header_bytes);
  require(places->sack + 8U * places->sack_blocks <= h->header_bytes);
  require(syn->has_timestamps == (places->timestamps != 0));
  return n + 3;
}

inline unsigned parse_icmp_errors(Octets in) {
  unsigned n = 0;
  for (const auto version : {icmp_error::Version::kIcmp, icmp_error::Version::kIcmpv6}) {
    if (!icmp_error::parse(in, version)) continue;
    ++n;
    (void)icmp_error::checksum(in);
    const Octets packet = icmp_error::quoted(in);
    const auto q = icmp_error::parse_quoted(packet, version);
    if (!q) continue;
    require(q->upper_offset <= packet.size() && q->destination_at <= q->upper_offset);
    n += 1 + parse_tcp_all(packet.subspan(q->upper_offset));
  }
  return n;
}

inline unsigned parse_everything(Octets in) {
  unsigned n = 0;
  if (const auto frame = mac_nr::parse(in)) {
    require(inside(frame->pdu, in));
    n += 1 + parse_mac_all(frame->pdu, frame->header.direction);
  }
  if (const auto packet = n3::parse(in)) {
    require(std::size_t{packet->payload_offset} + packet->payload_bytes <= in.size());
    read_all(in.subspan(packet->payload_offset, packet->payload_bytes));
    ++n;
  }
  if (const auto eth = ethernet::parse(in)) {
    require(eth->header_bytes <= in.size());
    read_all(ethernet::destination(in));
    read_all(ethernet::source(in));
    ++n;
  }
  if (const auto ip = ipv4::parse(in)) {
    require(ip->header_bytes <= ip->total_bytes && ip->total_bytes <= in.size());
    (void)ipv4::checksum_is_good(in, *ip);
    ++n;
  }
  if (const auto ip = ipv6::parse(in)) {
    require(ip->upper_offset <= ip->total_bytes() && ip->total_bytes() <= in.size());
    read_all(ipv6::destination(in));
    ++n;
  }
  if (const auto udp = udp::parse(in)) {
    require(udp->length <= in.size());
    const std::array<std::uint8_t, 4> address{};
    (void)udp::checksum_is_good(address, address, in.first(udp->length));
    ++n;
  }
  if (const auto air = airhdr::parse(in)) n += 1 + parse_rlc_all(in.subspan(airhdr::kHeaderBytes));
  n += parse_tcp_all(in);
  n += parse_icmp_errors(in);
  n += parse_gtpu_all(in);
  n += psc::parse(in) ? 1 : 0;
  n += parse_pdcp_all(in, 12);
  n += parse_pdcp_all(in, 18);
  n += parse_rlc_all(in);
  n += parse_mac_all(in, Direction::kDownlink);
  n += parse_mac_all(in, Direction::kUplink);
  return n;
}

}  // namespace splitplane::wire::test
