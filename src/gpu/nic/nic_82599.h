// Control plane of an Intel 82599 (X520), over any Bar. It brings the NIC up in the order of the datasheet's
// initialization flow (4.6.3), gives engines their tail registers, and stops it again. The packet path never calls it.
//
//   Nic82599::bring_up -> engines fill their receive rings and ring -> start() -> packets -> stop()
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/ip_address.h"
#include "gpu/nic/bar.h"
#include "gpu/nic/sfp_slot.h"

namespace splitplane::gpu {

inline constexpr std::size_t kRssKeyOctets = 40;
// The key of Microsoft's verification suite, which most drivers use by default.
inline constexpr std::array<std::uint8_t, kRssKeyOctets> kDefaultRssKey = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

// Sends one flow to one ring, by a 5-tuple filter (7.1.2.5): IPv4, TCP or UDP. Only filters reach rings beyond the 16
// of RSS.
struct FlowFilter {
  std::array<std::uint8_t, 4> source{}, destination{};
  std::uint16_t source_port = 0, destination_port = 0;
  bool any_source_port = false;  // `source_port` is not compared
  bool udp = true;
  std::uint32_t ring = 0;
};

struct NicSettings {
  std::uint32_t descriptors = 256;  // of each ring and direction: a multiple of 8, at most 8192
  std::uint32_t slot_bytes = 2048;  // of a receive buffer: a multiple of 1024, at most 16 KiB
  bool promiscuous = true;
  bool drop_when_empty = true;  // SRRCTL.DROP_EN: a ring without descriptors drops and does not block others
  std::array<std::uint8_t, kRssKeyOctets> rss_key = kDefaultRssKey;
  bool rss_ports = true;          // false: RSS hashes addresses only, for TCP and UDP too
  std::vector<FlowFilter> flows;  // at most 128
  // TXDCTL: descriptors that are fetched ahead, fetched at once, and written back together (7.2.3.4.1). 0: each DD at
  // once.
  std::uint32_t prefetch = 36, host = 8, write_back = 0;
  bool sfp_plus = false;  // the NIC has an SFP+ slot: link mode and laser are set, whatever the EEPROM says
  bool wait_for_link = true;
  std::chrono::milliseconds link_within{10'000};
};

// Bus addresses of a ring's descriptors, as the NIC sees them.
struct RingAddresses {
  std::uint64_t receive = 0;
  std::uint64_t transmit = 0;
};

enum class LinkSpeed : std::uint8_t { kDown, k100Mbit, k1Gbit, k10Gbit };

// Counts since bring_up(); octets include the CRC. Drops are counted per counter set: ring n has set n % 16.
struct NicStatistics {
  std::uint64_t received = 0, received_octets = 0, transmitted = 0, transmitted_octets = 0;
  std::uint64_t missed = 0;         // the packet buffer was full
  std::uint64_t no_descriptor = 0;  // dropped by all rings with DROP_EN
  std::array<std::uint64_t, 16> ring_received{}, ring_transmitted{}, ring_no_descriptor{};
};

class Nic82599 {
 public:
  using Sleep = std::function<void(std::chrono::microseconds)>;
  static void sleep(std::chrono::microseconds time);

  // Brings up as many rings as there are addresses, 1 to 64. The rings are enabled and empty, and the receive path is
  // still off. The error is one sentence that names the step, the register and its value; the NIC is then left without
  // bus mastering.
  static Expected<Nic82599> bring_up(Bar& bar, const NicSettings& settings, std::span<const RingAddresses> rings,
                                     Sleep sleep = &Nic82599::sleep);

  // Opens the receive path and waits for the link. Call it after the engines gave their rings descriptors.
  Expected<void> start();
  // Closes the receive path. Frames in the rings stay, and sending continues.
  Expected<void> stop_receive();
  // Disables receive and transmit in the order of the datasheet (4.6.7.1, 4.6.8.1, 5.2.5.3.2). It resets the NIC if
  // requests to memory do not end. After this the NIC does not access memory, unless the error says that a step did not
  // end.
  Expected<void> stop();

  [[nodiscard]] std::uint32_t rings() const { return rings_; }
  [[nodiscard]] std::uint32_t* receive_doorbell(std::uint32_t ring);
  [[nodiscard]] std::uint32_t* transmit_doorbell(std::uint32_t ring);
  [[nodiscard]] LinkSpeed link();
  [[nodiscard]] MacAddress mac();
  // True if the device was pulled out, is asleep or has no memory access: it then answers every read with ones (PCIe).
  [[nodiscard]] bool is_gone();
  // Reads and so clears the NIC's counters, and adds them up, unless the device is gone. One thread uses this, as the
  // whole class. Another reader would take counts away.
  const NicStatistics& statistics();
  // Unexpected observations that stopped nothing, one sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  Nic82599(Bar& bar, NicSettings settings, Sleep sleep)
      : bar_(&bar), settings_(std::move(settings)), sleep_(std::move(sleep)) {}

  [[nodiscard]] std::uint32_t read(std::uint32_t offset) { return bar_->read32(offset); }
  void write(std::uint32_t offset, std::uint32_t value) { bar_->write32(offset, value); }
  void set_bits(std::uint32_t offset, std::uint32_t bits) { write(offset, read(offset) | bits); }
  void clear_bits(std::uint32_t offset, std::uint32_t bits) { write(offset, read(offset) & ~bits); }
  // Polls until all of `bits` are set (or clear, with set = false). The error is "{what}: {register} ... within ...".
  Expected<void> wait(const char* what, std::uint32_t offset, std::uint32_t bits, bool set,
                      std::chrono::microseconds within);

  // The steps, in the order in which they run.
  Expected<void> initialize(std::span<const RingAddresses> rings);
  Expected<void> check_device();
  void mask_interrupts();
  Expected<void> disable_rings();
  Expected<void> end_requests();
  Expected<void> disable_bus_master();
  Expected<void> reset();
  Expected<void> take_semaphore(std::uint32_t resources);
  void release_semaphore(std::uint32_t resources);
  bool take_swsm(bool& firmware_hangs, bool& software_hangs);
  Expected<void> restart_link();
  [[nodiscard]] SfpSlot slot() { return SfpSlot(*bar_, sleep_); }
  void clear_statistics();
  void disable_flow_control();
  void initialize_filters();
  void initialize_steering();
  Expected<void> initialize_receive(std::span<const RingAddresses> rings);
  Expected<void> initialize_transmit(std::span<const RingAddresses> rings);

  Bar* bar_;
  NicSettings settings_;
  Sleep sleep_;
  std::uint32_t rings_ = 0;
  bool reset_twice_ = false;  // requests as bus master did not end
  NicStatistics statistics_;
  std::vector<std::string> notes_;
};

}  // namespace splitplane::gpu
