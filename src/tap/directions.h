// The direction of each packet of a pcapng file: what a tap writes and libpcap does not hand on (the option epb_flags).
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace splitplane::app {

enum class PacketDirection : std::uint8_t { kUnknown, kIn, kOut };

// Reads beside libpcap, packet by packet. What is no pcapng, or not whole, has no directions: libpcap says what is
// wrong.
class PcapngDirections {
 public:
  explicit PcapngDirections(const std::string& path);
  // Of the next packet of the file.
  [[nodiscard]] PacketDirection next();

 private:
  [[nodiscard]] bool read(std::uint32_t& value);
  [[nodiscard]] PacketDirection packet(std::uint32_t body_bytes);
  std::ifstream file_;
  bool swapped_ = false, good_ = false;
};

}  // namespace splitplane::app
