// The packets that `splitplane explain` is asked about: a pcap or pcapng file, or octets in hexadecimal digits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "tap/directions.h"

namespace splitplane::app {

struct GivenPacket {
  std::size_t number = 1;  // from 1, as in Wireshark
  std::vector<std::uint8_t> octets;
  std::size_t original_bytes = 0, captured_bytes = 0;     // fewer captured: the rest of `octets` is zeros
  PacketDirection direction = PacketDirection::kUnknown;  // as a tap wrote it
};

// Calls `each` for every packet, in order, until it answers false. `input` is the path of a file, else hexadecimal
// digits with blanks and 0x as one likes. Error: one sentence.
[[nodiscard]] Expected<void> for_each_packet(const std::string& input,
                                             const std::function<bool(const GivenPacket&)>& each);
// Nothing if the text is not hexadecimal octets.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> parse_hex(std::string_view text);

}  // namespace splitplane::app
