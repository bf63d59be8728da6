#include "n3/message.h"

#include <algorithm>
#include <array>

#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using Octets = std::span<const std::uint8_t>;

// The longest message made here: an Error Indication with an IPv6 address.
using Room = std::array<std::uint8_t, 64>;

IpAddress address(Octets octets, bool ipv6) {
  if (ipv6) {
    std::array<std::uint8_t, 16> v6;
    std::copy_n(octets.begin(), 16, v6.begin());
    return IpAddress::v6(v6);
  }
  return IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
}

Octets octets_of(const IpAddress& ip) {
  return Octets(ip.octets()).first(ip.is_v6() ? 16 : 4);
}

bool is_one_host(const IpAddress& ip) {
  const auto& o = ip.octets();
  if (ip.is_v6()) return o[0] != 0xff && ip != IpAddress::v6({});
  return o[0] != 0 && o[0] < 224;
}

MacAddress mac(std::span<const std::uint8_t, 6> octets) {
  MacAddress made;
  std::copy(octets.begin(), octets.end(), made.octets.begin());
  return made;
}

}  // namespace

std::optional<N3Message> read_n3_message(Octets frame) {
  const auto parsed = wire::n3::parse(frame);
  const wire::n3::Packet& packet = parsed.value;
  if (packet.gtpu_offset == 0) return std::nullopt;  // the parser refused it before the GTP-U header
  const Octets ip = frame.subspan(packet.ip_offset);
  const bool v6 = packet.is_ipv6;
  N3Message message;
  message.ends = {.source_mac = mac(wire::ethernet::source(frame)),
                  .destination_mac = mac(wire::ethernet::destination(frame)),
                  .source = address(v6 ? Octets(wire::ipv6::source(ip)) : ip.subspan(12, 4), v6),
                  .destination = address(v6 ? Octets(wire::ipv6::destination(ip)) : ip.subspan(16, 4), v6),
                  .source_port = packet.source_port,
                  .destination_port = wire::gtpu::kPort,
                  .tags = {}};
  if (const auto ethernet = wire::ethernet::parse(frame)) {
    message.ends.tags.assign(ethernet->tags.begin(), ethernet->tags.begin() + ethernet->tag_count);
  }
  message.reason = parsed.reason;
  message.header = packet.gtpu;
  message.octets = frame.subspan(packet.gtpu_offset, packet.gtpu_bytes);
  const bool group_mac = (message.ends.source_mac.octets[0] & 1U) != 0;
  message.from_one_host = !group_mac && is_one_host(message.ends.source);
  return message;
}

N3Duty duty_of(const N3Message& message) {
  namespace gtpu = wire::gtpu;
  const std::uint8_t type = message.header.message_type;
  if (!message.from_one_host) return N3Duty::kMalformed;
  if (message.reason == wire::Reason::gtpu_extension_unknown_required) {
    // We answer neither an Error Indication nor a notification. Otherwise two ends could keep each other busy.
    const bool answer = type == gtpu::kErrorIndication || type == gtpu::kSupportedExtensionHeaders;
    return answer ? N3Duty::kMalformed : N3Duty::kNotifyExtensions;
  }
  if (message.reason != wire::Reason::ok) return N3Duty::kMalformed;
  const auto if_read = [](const auto& parsed, N3Duty duty) { return parsed ? duty : N3Duty::kMalformed; };
  switch (type) {
    case gtpu::kGpdu:
      return message.header.teid.value == 0 ? N3Duty::kNone : N3Duty::kIndicateError;
    case gtpu::kEchoRequest:
      return if_read(gtpu::parse_echo(message.octets, message.header, type), N3Duty::kAnswerEcho);
    case gtpu::kEchoResponse:
      return if_read(gtpu::parse_echo(message.octets, message.header, type), N3Duty::kTakeEchoResponse);
    case gtpu::kErrorIndication:
      return if_read(gtpu::parse_error_indication(message.octets, message.header), N3Duty::kTakeErrorIndication);
    case gtpu::kEndMarker:
      return if_read(gtpu::parse_end_marker(message.header), N3Duty::kTakeEndMarker);
    case gtpu::kSupportedExtensionHeaders:
      return if_read(gtpu::parse_supported_extensions(message.octets, message.header), N3Duty::kTakeExtensions);
    default:
      return N3Duty::kMalformed;
  }
}

N3Ends answering(const N3Message& message, const MacAddress& own, std::uint16_t port) {
  N3Ends ends = message.ends;
  ends.destination_mac = ends.source_mac;
  ends.source_mac = own;
  std::swap(ends.source, ends.destination);
  ends.source_port = wire::gtpu::kPort;
  ends.destination_port = port;
  return ends;
}

std::vector<std::uint8_t> make_n3_frame(const N3Ends& ends, Octets message) {
  const bool v6 = ends.source.is_v6();
  const std::size_t ethernet_bytes = wire::ethernet::kHeaderBytes + wire::ethernet::kTagBytes * ends.tags.size();
  const std::size_t ip_bytes = v6 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes;
  const std::size_t datagram_bytes = wire::udp::kHeaderBytes + message.size();
  std::vector<std::uint8_t> frame(ethernet_bytes + ip_bytes + datagram_bytes);
  wire::ethernet::write(frame, ends.destination_mac.octets, ends.source_mac.octets,
                        v6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4, ends.tags);
  const std::span<std::uint8_t> packet = std::span(frame).subspan(ethernet_bytes);
  const std::span<std::uint8_t> datagram = packet.subspan(ip_bytes);
  wire::udp::write(datagram, ends.source_port, ends.destination_port, message.size());
  std::copy(message.begin(), message.end(), datagram.begin() + wire::udp::kHeaderBytes);
  const Octets from = octets_of(ends.source), to = octets_of(ends.destination);
  if (v6) {
    wire::ipv6::Header ip;
    ip.next_header = wire::ipv6::kProtocolUdp;
    ip.hop_limit = 64;
    wire::ipv6::write(packet, ip, from.first<16>(), to.first<16>(), datagram_bytes);
  } else {
    wire::ipv4::Header ip;
    ip.ttl = 64;
    ip.protocol = wire::ipv4::kProtocolUdp;
    ip.fragment = wire::ipv4::kDontFragment;
    ip.source = wire::load_be32(from.data());
    ip.destination = wire::load_be32(to.data());
    wire::ipv4::write(packet, ip, datagram_bytes);
  }
  wire::store_be16(datagram.data() + 6, wire::udp::checksum(from, to, datagram));
  return frame;
}

std::optional<std::vector<std::uint8_t>> answer_echo(const N3Message& request, const MacAddress& own) {
  if (request.reason != wire::Reason::ok) return std::nullopt;
  const auto echo = wire::gtpu::parse_echo(request.octets, request.header, wire::gtpu::kEchoRequest);
  if (!echo) return std::nullopt;
  Room room;
  const std::size_t bytes = wire::gtpu::write_echo_response(room, {.sequence_number = echo->sequence_number});
  return make_n3_frame(answering(request, own, request.ends.source_port), Octets(room).first(bytes));
}

std::vector<std::uint8_t> indicate_error(const N3Message& gpdu, const MacAddress& own) {
  wire::gtpu::ErrorIndication indication;
  indication.teid = gpdu.header.teid;
  indication.address = gpdu.ends.destination.octets();
  indication.address_bytes = gpdu.ends.destination.is_v6() ? 16 : 4;
  indication.has_udp_port = true;
  indication.udp_port = gpdu.ends.source_port;
  Room room;
  const std::size_t bytes = wire::gtpu::write_error_indication(room, indication);
  return make_n3_frame(answering(gpdu, own, wire::gtpu::kPort), Octets(room).first(bytes));
}

std::vector<std::uint8_t> notify_extensions(const N3Message& message, const MacAddress& own) {
  Room room;
  const std::size_t bytes = wire::gtpu::write_supported_extensions(room, wire::gtpu::kSupportedExtensionTypes);
  return make_n3_frame(answering(message, own, wire::gtpu::kPort), Octets(room).first(bytes));
}

std::vector<std::uint8_t> request_echo(const N3Ends& ends, std::uint16_t sequence_number) {
  Room room;
  const std::size_t bytes = wire::gtpu::write_echo_request(room, {.sequence_number = sequence_number});
  return make_n3_frame(ends, Octets(room).first(bytes));
}

}  // namespace splitplane::datapath
