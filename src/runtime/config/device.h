// A DPDK device string taken apart: which driver, under which name, with which arguments. Used by the checks of a
// configuration; DPDK itself gets the string as it stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/expected.h"

namespace splitplane::app {

enum class Driver : std::uint8_t { kPci, kNull, kRing, kPcap, kMemif, kTap, kAfPacket, kAfXdp, kVhost, kVirtioUser };

struct Device {
  Driver driver = Driver::kNull;
  std::string name;  // unique in a process: the vdev name, or the PCI address with its domain
  std::vector<std::pair<std::string, std::string>> args;

  [[nodiscard]] std::optional<std::string> arg(std::string_view key) const;
  [[nodiscard]] std::size_t count(std::string_view key) const;
  // Queues the device offers in each direction, where its arguments limit them (DPDK's default is one).
  [[nodiscard]] std::optional<unsigned> queues() const;
};

// Error: what is wrong; what is allowed (without the key).
[[nodiscard]] Expected<Device> parse_device(std::string_view text);

}  // namespace splitplane::app
