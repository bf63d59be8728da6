// QoS monitoring on N3 (TS 38.415 5.4.1.1, 5.5.2). A DL PDU Session Container may carry a time stamp (QMP). The next
// uplink container of the same bearer and QoS flow answers it. This is part of the slow path; a worker owns it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/types.h"
#include "n3/interface.h"

namespace splitplane::datapath {

// 64-bit time stamp of RFC 5905 6: seconds since 1900 and their fraction, by the system's clock.
[[nodiscard]] std::uint64_t ntp_time();

class QosMonitor {
 public:
  struct Stamp {
    std::uint64_t dl_send_time = 0;     // the UPF's
    std::uint64_t dl_receive_time = 0;  // ours
  };

  // Times are those of ntp_time(). A request that was not answered for this long is forgotten.
  static constexpr std::uint64_t kPatience = 1ULL << 32;  // a second

  // Notes a request. It replaces an open request of the same bearer and flow.
  void note(BearerId id, Qfi qfi, const Stamp& stamp);
  // Takes the request that the next uplink packet of that bearer and flow has to answer.
  [[nodiscard]] std::optional<Stamp> take(BearerId id, Qfi qfi);
  // True if that bearer has open requests. It may stay true for a while if another bearer shares its count.
  [[nodiscard]] bool any(BearerId id, std::uint64_t now);
  void forget(BearerId id);

 private:
  struct Open {
    std::uint32_t requests = 0;
    std::uint64_t newest = 0;
  };
  [[nodiscard]] Open& open_of(std::uint32_t id) { return open_[(id * 0x9e3779b1U >> 16) % kEntries]; }

  // The table is direct-mapped: two flows with the same place replace each other. That costs one measurement and
  // nothing else.
  struct Entry {
    std::uint32_t id = 0;  // 0: free
    std::uint8_t qfi = 0;
    Stamp stamp;
  };
  static constexpr std::size_t kEntries = 4096;
  [[nodiscard]] static std::size_t place(BearerId id, Qfi qfi) {
    return ((id.value * 0x9e3779b1U >> 16) + qfi.value) % kEntries;
  }
  std::array<Entry, kEntries> entries_{};
  std::array<Open, kEntries> open_{};  // by bearer, direct-mapped too
};

inline constexpr unsigned kMonitoredPscBytes = 28;  // extension header with the three time stamps
inline constexpr unsigned kMonitoredMoreBytes = kMonitoredPscBytes - 4;

// As write_uplink, with a container that answers `stamp`. It writes peer.header_bytes + kMonitoredMoreBytes octets at
// `out`, in front of a T-PDU of `payload` octets.
void write_monitored_uplink(const N3Peer& peer, Teid teid, Qfi qfi, std::uint8_t tos, const QosMonitor::Stamp& stamp,
                            std::uint64_t ul_send_time, unsigned payload, std::uint8_t* out);

}  // namespace splitplane::datapath
