#include "traffic/packet_maker.h"

#include <cstring>
#include <map>
#include <tuple>

#include "wire/airhdr.h"
#include "wire/checksum.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/pdcp.h"
#include "wire/rlc.h"
#include "wire/sdap.h"
#include "wire/udp.h"

namespace splitplane::traffic {
namespace {

using wire::checksum_add;
using wire::checksum_finish;

// The sum folded to 16 bits, and the value that makes a sum 0.
std::uint16_t folded(std::uint64_t sum) {
  return static_cast<std::uint16_t>(~checksum_finish(sum));
}
std::uint64_t negative(std::uint64_t sum) {
  return 0xFFFFU - folded(sum);
}

Octets octets_of(const IpAddress& address) {
  return Octets(address.octets()).first(address.is_v6() ? 16 : 4);
}

// Writes an IPv4 or IPv6 header for UDP, with 0.0.0.0 or :: if `from` or `to` is left out.
std::size_t write_ip(MutableOctets out, Octets from, Octets to, std::size_t payload_bytes) {
  if (from.size() == 4) {
    return wire::ipv4::write(out,
                             {.fragment = wire::ipv4::kDontFragment,
                              .ttl = 64,
                              .protocol = wire::ipv4::kProtocolUdp,
                              .source = wire::load_be32(from.data()),
                              .destination = wire::load_be32(to.data())},
                             payload_bytes);
  }
  return wire::ipv6::write(out, {.next_header = wire::ipv6::kProtocolUdp, .hop_limit = 64}, from.first<16>(),
                           to.first<16>(), payload_bytes);
}

}  // namespace

PacketMaker::PacketMaker(const MakerSettings& settings, const std::vector<FlowSpec>& flows)
    : direction_(settings.direction), run_(settings.run), sizes_(static_cast<std::uint32_t>(settings.sizes.size())) {
  using Kind = std::tuple<bool, std::string, std::string>;  // inner family, outer addresses
  std::map<Kind, std::uint32_t> kinds;
  lines_.reserve(flows.size());
  for (const FlowSpec& flow : flows) {
    Kind kind{flow.ipv6, {}, {}};
    if (direction_ == Direction::kDownlink) kind = {flow.ipv6, flow.bearer.upf.to_string(), flow.gnb.to_string()};
    const auto [at, is_new] = kinds.try_emplace(kind, static_cast<std::uint32_t>(shapes_.size()));
    if (is_new) {
      for (const auto size : settings.sizes) shapes_.push_back(make_shape(settings, flow, size));
    }
    lines_.push_back(make_line(flow));
    lines_.back().shape = at->second;
  }
}

PacketMaker::Shape PacketMaker::make_shape(const MakerSettings& settings, const FlowSpec& flow,
                                           std::uint16_t inner_bytes) const {
  const bool down = direction_ == Direction::kDownlink;
  Shape shape;
  shape.ipv6 = flow.ipv6;
  const std::size_t ip_bytes = flow.ipv6 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes;
  const std::size_t payload_bytes = inner_bytes - ip_bytes - wire::udp::kHeaderBytes;

  constexpr std::array<std::uint8_t, 16> kNone{};
  const Octets server = octets_of(flow.ipv6 ? settings.server_ipv6 : settings.server_ipv4);
  const Octets ue = Octets(kNone).first(server.size());
  shape.inner.resize(inner_bytes);
  const MutableOctets inner(shape.inner);
  write_ip(inner, down ? server : ue, down ? ue : server, inner_bytes - ip_bytes);
  if (!flow.ipv6) wire::store_be16(inner.data() + 10, 0);
  wire::udp::write(inner.subspan(ip_bytes), kInnerSourcePort, kInnerDestinationPort, payload_bytes);
  for (std::size_t i = ip_bytes + wire::udp::kHeaderBytes + kStampBytes; i < inner_bytes; ++i) {
    inner[i] = static_cast<std::uint8_t>(i);
  }
  shape.ip_sum = checksum_add(0, inner.first(ip_bytes));
  const std::uint64_t pseudo = checksum_add(0, server) + wire::udp::kProtocol + inner_bytes - ip_bytes;
  shape.udp_sum = checksum_add(pseudo, inner.subspan(ip_bytes));

  MutableOctets head(shape.head);
  const bool outer_ipv6 = down && flow.bearer.upf.is_v6();
  const std::uint16_t type = !down        ? wire::airhdr::kEtherType
                             : outer_ipv6 ? wire::ethernet::kTypeIpv6
                                          : wire::ethernet::kTypeIpv4;
  std::size_t at = wire::ethernet::write(head, settings.to.octets, settings.from.octets, type);
  if (down) {
    const Octets from = octets_of(flow.bearer.upf), to = octets_of(flow.gnb);
    const std::size_t gtpu_bytes = wire::gtpu::kHeaderWithPscBytes + inner_bytes;
    at += write_ip(head.subspan(at), from, to, wire::udp::kHeaderBytes + gtpu_bytes);
    wire::udp::write(head.subspan(at), wire::gtpu::kPort, wire::gtpu::kPort, gtpu_bytes);
    std::array<std::uint8_t, wire::gtpu::kHeaderWithPscBytes> gtpu{};
    wire::gtpu::write_gpdu_psc_dl(gtpu, Teid{0}, inner_bytes, Qfi{0});
    shape.outer_sum = checksum_add(checksum_add(0, from), to) + wire::udp::kProtocol + wire::udp::kHeaderBytes +
                      static_cast<std::uint64_t>(gtpu_bytes);
    shape.outer_sum = checksum_add(shape.outer_sum, Octets(head).subspan(at, wire::udp::kHeaderBytes));
    shape.outer_sum = checksum_add(shape.outer_sum, gtpu);
    // With a correct inner UDP checksum, datagram and pseudo header sum up to 0 for any stamp. A correct IPv4 header
    // sums up to 0 too. So only the inner addresses and lengths remain.
    shape.outer_sum += negative(pseudo) + (flow.ipv6 ? shape.ip_sum : 0);
    at += wire::udp::kHeaderBytes;
  }
  shape.head_bytes = static_cast<std::uint16_t>(at);
  return shape;
}

PacketMaker::Line PacketMaker::make_line(const FlowSpec& flow) const {
  const ran::BearerConfig& b = flow.bearer;
  Line line;
  line.tunnel = b.id.value;
  line.qfi = b.qfi.value;
  line.rlc_first = flow.rlc_first;
  line.pdcp_first = flow.pdcp_first;
  const auto address = flow.ipv6 ? b.ue_ipv6 : b.ue_ipv4;
  if (address) {
    line.ue_address = address->octets();
    line.address_sum = folded(checksum_add(0, octets_of(*address)));
  }
  if (direction_ == Direction::kDownlink) return line;

  std::array<std::uint8_t, wire::airhdr::kHeaderBytes> air{};
  wire::airhdr::write(air, {.direction = Direction::kUplink,
                            .rlc_mode = b.rlc_mode,
                            .rlc_sn_bits = b.rlc_sn_bits,
                            .pdcp_sn_bits = b.pdcp_sn_bits,
                            .sdap_header = b.sdap_header_ul,
                            .bearer = b.id});
  line.air_modes = air[1];
  // The headers of SN 0 without a poll; numbers and the P bit are or-ed in.
  std::array<std::uint8_t, 8> headers{};
  MutableOctets out(headers);
  std::size_t n = 0;
  if (b.rlc_mode == RlcMode::kUm) n = wire::rlc::write_um(out, b.rlc_sn_bits, {});
  if (b.rlc_mode == RlcMode::kAm) n = wire::rlc::write_am(out, b.rlc_sn_bits, {});
  const std::size_t rlc_end = n;
  n += wire::pdcp::write_data(out.subspan(n), b.pdcp_sn_bits, 0);
  const std::size_t pdcp_end = n;
  if (b.sdap_header_ul) n += wire::sdap::write(out.subspan(n), wire::sdap::UplinkHeader{.is_data = true, .qfi = b.qfi});
  line.header = wire::load_be64(headers.data()) >> (64 - 8 * n);
  line.header_bytes = static_cast<std::uint8_t>(n);
  line.pdcp_bits = b.pdcp_sn_bits;
  line.pdcp_shift = static_cast<std::uint8_t>(8 * (n - pdcp_end));
  if (b.rlc_mode == RlcMode::kAm) {
    line.rlc_bits = b.rlc_sn_bits;
    line.rlc_shift = static_cast<std::uint8_t>(8 * (n - rlc_end));
    line.poll_shift = static_cast<std::uint8_t>(8 * n - 2);  // second bit of the AMD header
    line.poll_pdu = b.poll_pdu;
  }
  return line;
}

// Writes airhdr, RLC, PDCP and SDAP as overlapping stores. Returns the place after them, where the SDU begins.
std::uint8_t* PacketMaker::write_air(Line& line, std::size_t inner_bytes, std::uint8_t* out) const {
  const auto n = static_cast<std::uint32_t>(line.sequence);
  const auto low = [](std::uint32_t v, unsigned bits) { return std::uint64_t{v} & ((1ULL << bits) - 1); };
  std::uint64_t header = line.header | low(line.rlc_first + n, line.rlc_bits) << line.rlc_shift |
                         low(line.pdcp_first + n, line.pdcp_bits) << line.pdcp_shift;
  if (line.poll_pdu != 0 && (n + 1) % line.poll_pdu == 0) header |= 1ULL << line.poll_shift;
  std::uint8_t* const inner = out + wire::airhdr::kHeaderBytes + line.header_bytes;
  wire::store_be64(inner - 8, header);
  wire::store_be64(out,
                   std::uint64_t{wire::airhdr::kVersion} << 60 | std::uint64_t{line.air_modes} << 48 | line.tunnel);
  wire::store_be16(out + wire::airhdr::kLengthOffset, static_cast<std::uint32_t>(line.header_bytes + inner_bytes));
  return inner;
}

void PacketMaker::write_inner(const Line& line, const Shape& shape, std::uint64_t intended_ns,
                              std::uint8_t* inner) const {
  std::memcpy(inner, shape.inner.data(), shape.inner.size());
  const bool down = direction_ == Direction::kDownlink;
  std::uint8_t* udp = inner + wire::ipv4::kMinHeaderBytes;
  if (shape.ipv6) {
    udp = inner + wire::ipv6::kHeaderBytes;
    std::memcpy(inner + (down ? 24 : 8), line.ue_address.data(), 16);
  } else {
    std::memcpy(inner + (down ? 16 : 12), line.ue_address.data(), 4);
    wire::store_be16(inner + 10, checksum_finish(shape.ip_sum + line.address_sum));
  }
  const auto flow = static_cast<std::uint32_t>(&line - lines_.data());
  const std::uint64_t sum =
      write_stamp(udp + wire::udp::kHeaderBytes,
                  {.run = run_, .flow = flow, .sequence = line.sequence, .intended_ns = intended_ns});
  const std::uint16_t check = checksum_finish(shape.udp_sum + line.address_sum + sum);
  wire::store_be16(udp + 6, check == 0 ? 0xFFFFU : check);
}

unsigned PacketMaker::make(std::uint32_t flow, std::uint32_t size, std::uint64_t intended_ns, std::uint8_t* out) {
  Line& line = lines_[flow];
  const Shape& shape = shapes_[line.shape + size];
  // Copies all 64 octets; those after the head are overwritten below.
  std::memcpy(out, shape.head.data(), shape.head.size());
  std::uint8_t* inner = out + shape.head_bytes;
  if (direction_ == Direction::kDownlink) {
    wire::gtpu::write_gpdu_psc_dl({inner, wire::gtpu::kHeaderWithPscBytes}, Teid{line.tunnel}, shape.inner.size(),
                                  Qfi{line.qfi});
    const std::uint16_t check = checksum_finish(shape.outer_sum + line.tunnel + (std::uint32_t{line.qfi} << 8) +
                                                (shape.ipv6 ? 0U : 0xFFFFU - line.address_sum));
    wire::store_be16(inner - 2, check == 0 ? 0xFFFFU : check);
    inner += wire::gtpu::kHeaderWithPscBytes;
  } else {
    inner = write_air(line, shape.inner.size(), inner);
  }
  write_inner(line, shape, intended_ns, inner);
  ++line.sequence;
  return static_cast<unsigned>(inner - out + static_cast<std::ptrdiff_t>(shape.inner.size()));
}

}  // namespace splitplane::traffic
