// The direction of each packet of a pcapng file. A tap writes it (the option epb_flags), but libpcap does not return
// it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace splitplane::app {

enum class PacketDirection : std::uint8_t { kUnknown, kIn, kOut };

// Reads the file beside libpcap, packet by packet. A file that is not a complete pcapng file has no directions; libpcap
// reports what is wrong.
class PcapngDirections {
 public:
  explicit PcapngDirections(const std::string& path);
  // The direction of the file's next packet.
  [[nodiscard]] PacketDirection next();

 private:
  [[nodiscard]] bool read(std::uint32_t& value);
  [[nodiscard]] PacketDirection packet(std::uint32_t body_bytes);
  std::ifstream file_;
  bool swapped_ = false, good_ = false;
};

}  // namespace splitplane::app
