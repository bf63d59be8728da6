// The options of `splitplane gpu run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bypass/scenario.h"

namespace splitplane::app {

struct GpuRunOptions {
  bypass::Scenario scenario;
  std::optional<std::uint32_t> size;  // none: the smallest that the function takes
  std::string function = "echo", json;
  std::string pcap_in, pcap_out, port;  // instead of the traffic peer
  std::optional<std::string> nic;       // PCI address: instead of the soft NIC
  bool gpu = false;                     // the engines are kernels
  std::string gpu_mode = "gpu-e2";
  bool until_stopped = true;
  [[nodiscard]] bool on_wire() const { return !pcap_in.empty() || !pcap_out.empty() || !port.empty() || nic; }
};

}  // namespace splitplane::app
