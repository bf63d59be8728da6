// The far end of the model's link, where frames come from and go to. Frames have no CRC, because the MAC adds and
// strips it. The model calls it once per batch, on its thread.
#pragma once

#include <cstdint>

namespace splitplane::nicmodel {

struct WireFrame {
  const std::uint8_t* octets = nullptr;
  std::uint32_t bytes = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;

  // Frames that reach the NIC now, at most `max`. They stay in place until the next call.
  [[nodiscard]] virtual std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) = 0;
  // Frames leave the NIC. Returns how many the wire takes, counted from the first; the others stay in their ring.
  [[nodiscard]] virtual std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) = 0;
};

}  // namespace splitplane::nicmodel
