#include "guard/segment/icmp.h"

#include "wire/icmp_error.h"

namespace splitplane::guard {

void translate_quoted(const Segment& s, Side from, const Flow& flow) {
  namespace tcp = wire::tcp;
  const bool of_server = from == Side::kClient;  // who sent the quoted segment
  const std::size_t at = of_server ? tcp::kSequenceAt : tcp::kAcknowledgmentAt;
  if (s.quoted_bytes < at + 4) return;
  std::uint8_t* const quoted = s.tcp_header();
  if (!of_server && s.quoted_bytes > tcp::kFlagsAt && (quoted[tcp::kFlagsAt] & tcp::kAck) == 0) return;
  const std::uint32_t before = wire::load_be32(quoted + at);
  const std::uint32_t after = of_server ? before - flow.sequence_delta : before + flow.sequence_delta;
  wire::store_be32(quoted + at, after);

  // Both headers have a multiple of 4 octets (IPv4) or 8 (IPv6) before them, so the fields are whole words of the sum.
  wire::ChecksumChange of_message;
  of_message.replace32(before, after);
  if (s.quoted_bytes >= tcp::kChecksumAt + 2) {
    const std::uint16_t sum = wire::load_be16(quoted + tcp::kChecksumAt);
    const std::uint16_t new_sum = wire::checksum_adjust32(sum, before, after);
    wire::store_be16(quoted + tcp::kChecksumAt, new_sum);
    of_message.replace16(sum, new_sum);
  }
  std::uint8_t* const message = s.frame() + s.icmp_offset + wire::icmp_error::kChecksumAt;
  wire::store_be16(message, of_message.applied_to(wire::load_be16(message)));
}

}  // namespace splitplane::guard
