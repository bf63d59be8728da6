// The wire's far end as a DPDK port of any driver. Frames that the port receives arrive at the model, padded to 60
// octets. The port sends the frames that leave the model. It uses one queue of each direction, on the model's thread.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>

#include "base/counter.h"
#include "nicmodel/wire.h"

namespace splitplane::nicmodel {

class PortWire final : public Wire {
 public:
  static constexpr std::uint16_t kBatch = 32;

  // `pool` for frames that the port sends. Both must outlive this object.
  PortWire(std::uint16_t port, std::uint16_t queue, rte_mempool* pool) : port_(port), queue_(queue), pool_(pool) {}
  ~PortWire() override;
  PortWire(const PortWire&) = delete;
  PortWire& operator=(const PortWire&) = delete;

  [[nodiscard]] std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override;
  [[nodiscard]] std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override;

  [[nodiscard]] std::uint64_t no_mbuf() const { return no_mbuf_.get(); }      // frames that waited for an mbuf
  [[nodiscard]] std::uint64_t segmented() const { return segmented_.get(); }  // received in pieces, put together

 private:
  static constexpr std::uint32_t kLeastBytes = 60;  // of a frame on a wire, before its CRC

  void free_arrived();

  std::uint16_t port_, queue_;
  rte_mempool* pool_;
  std::array<rte_mbuf*, kBatch> arrived_{};
  std::uint16_t arrived_count_ = 0;
  // Short frames with their padding. Their mbuf may have no room for it, or another owner.
  std::array<std::array<std::uint8_t, kLeastBytes>, kBatch> padded_{};
  Counter no_mbuf_, segmented_;
};

}  // namespace splitplane::nicmodel
