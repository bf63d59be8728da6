// What the user sets for one tap: in the `taps` section of a configuration or with `splitplane ctl tap on`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace splitplane::tap {

// How frames are written. The two views are for the air: Wireshark's UDP framings, which its heuristics open.
enum class View : std::uint8_t { kEthernet, kRlcNr, kPdcpNr };

struct Settings {
  std::string name;    // unique among running taps
  std::string port;    // of the configuration
  std::string worker;  // only this worker's end of the port; empty: all of them
  std::string file;
  View view = View::kEthernet;
  bool in = true, out = true;
  unsigned max_mb = 0;  // a file grows to this size; 0: no limit
  unsigned files = 1;   // kept when max_mb is reached; 1: the tap ends there
  unsigned snap = 0;    // octets kept of each packet; 0: memory.mbuf_data_bytes
  unsigned buffers = 8191;
  std::optional<std::uint32_t> bearer;  // air: only this bearer

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace splitplane::tap
