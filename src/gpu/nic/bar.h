// The registers of a NIC, whatever is behind them: a PCI device's BAR 0 mapped from sysfs, UIO or VFIO, or a model in
// this process. Only the control plane reads and writes through this interface. The packet path writes tail registers
// by ring_doorbell() (memory_order.h), through the raw word that doorbell() returns.
#pragma once

#include <cstdint>
#include <string>

#include "base/expected.h"

namespace splitplane::gpu {

class Bar {
 public:
  virtual ~Bar() = default;

  [[nodiscard]] virtual std::uint32_t read32(std::uint32_t offset) = 0;
  virtual void write32(std::uint32_t offset, std::uint32_t value) = 0;
  // Lets the device send requests to memory. Call it after a reset, because rings of the previous owner may point
  // anywhere.
  [[nodiscard]] virtual Expected<void> enable_bus_master() { return {}; }
  // The word of a tail register. It stays in place while this object lives.
  [[nodiscard]] virtual std::uint32_t* doorbell(std::uint32_t offset) = 0;
  // Which device this is, for messages: "0000:3b:00.0", "the NIC model".
  [[nodiscard]] virtual const std::string& name() const = 0;
};

}  // namespace splitplane::gpu
