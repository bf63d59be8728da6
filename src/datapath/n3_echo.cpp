#include "datapath/n3_echo.h"

#include <algorithm>
#include <array>

#include "wire/gtpu_messages.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using Octets = std::span<const std::uint8_t>;

// IP and UDP headers from the receiver of `request` (an IP packet) back to its sender, around `message`.
std::vector<std::uint8_t> answer_packet(Octets request, bool ipv6, std::uint16_t port, Octets message) {
  const std::size_t ip_bytes = ipv6 ? wire::ipv6::kHeaderBytes : wire::ipv4::kMinHeaderBytes;
  const std::size_t datagram_bytes = wire::udp::kHeaderBytes + message.size();
  std::vector<std::uint8_t> packet(ip_bytes + datagram_bytes);
  const std::span<std::uint8_t> datagram = std::span(packet).subspan(ip_bytes);
  wire::udp::write(datagram, wire::gtpu::kPort, port, message.size());
  std::copy(message.begin(), message.end(), datagram.begin() + wire::udp::kHeaderBytes);
  Octets from, to;
  if (ipv6) {
    from = wire::ipv6::destination(request);
    to = wire::ipv6::source(request);
    wire::ipv6::Header ip;
    ip.next_header = wire::ipv6::kProtocolUdp;
    ip.hop_limit = 64;
    wire::ipv6::write(packet, ip, from.first<16>(), to.first<16>(), datagram_bytes);
  } else {
    from = request.subspan(16, 4);
    to = request.subspan(12, 4);
    wire::ipv4::Header ip;
    ip.ttl = 64;
    ip.protocol = wire::ipv4::kProtocolUdp;
    ip.fragment = wire::ipv4::kDontFragment;
    ip.source = wire::load_be32(from.data());
    ip.destination = wire::load_be32(to.data());
    wire::ipv4::write(packet, ip, datagram_bytes);
  }
  wire::store_be16(datagram.data() + 6, wire::udp::checksum(from, to, datagram));
  return packet;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> answer_echo(std::span<const std::uint8_t> frame) {
  const auto parsed = wire::n3::parse(frame);
  if (!parsed || parsed->gtpu.message_type != wire::gtpu::kEchoRequest) return std::nullopt;
  const auto request = wire::gtpu::parse_echo(frame.subspan(parsed->gtpu_offset, parsed->gtpu_bytes), parsed->gtpu,
                                              wire::gtpu::kEchoRequest);
  if (!request) return std::nullopt;
  std::array<std::uint8_t, 32> message;
  const std::size_t bytes = wire::gtpu::write_echo_response(message, {.sequence_number = request->sequence_number});
  const auto packet = answer_packet(frame.subspan(parsed->ip_offset), parsed->is_ipv6, parsed->source_port,
                                    Octets(message).first(bytes));
  // Addresses change places; VLAN tags stay as they came.
  std::vector<std::uint8_t> answer(frame.begin(), frame.begin() + parsed->ip_offset);
  std::swap_ranges(answer.begin(), answer.begin() + 6, answer.begin() + 6);
  answer.insert(answer.end(), packet.begin(), packet.end());
  return answer;
}

}  // namespace splitplane::datapath
