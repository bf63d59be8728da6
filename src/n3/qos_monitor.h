// QoS monitoring on N3 (TS 38.415 5.4.1.1, 5.5.2): a DL PDU Session Container with a time stamp (QMP) is answered in
// the next uplink container of the same bearer and QoS flow. Off the usual path; owned by a worker.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/types.h"
#include "n3/interface.h"

namespace splitplane::datapath {

// 64-bit time stamp of RFC 5905 6: seconds since 1900 and their fraction, of the system's clock.
[[nodiscard]] std::uint64_t ntp_time();

class QosMonitor {
 public:
  struct Stamp {
    std::uint64_t dl_send_time = 0;     // the UPF's
    std::uint64_t dl_receive_time = 0;  // ours
  };

  // Times are those of ntp_time(). A request that nobody answered for so long is forgotten.
  static constexpr std::uint64_t kPatience = 1ULL << 32;  // a second

  // A request; one that is still open for the same bearer and flow is replaced.
  void note(BearerId id, Qfi qfi, const Stamp& stamp);
  // What the next uplink packet of that bearer and flow has to answer.
  [[nodiscard]] std::optional<Stamp> take(BearerId id, Qfi qfi);
  // Whether requests of that bearer are open; true for a while more if another one shares its count.
  [[nodiscard]] bool any(BearerId id, std::uint64_t now);
  void forget(BearerId id);

 private:
  struct Open {
    std::uint32_t requests = 0;
    std::uint64_t newest = 0;
  };
  [[nodiscard]] Open& open_of(std::uint32_t id) { return open_[(id * 0x9e3779b1U >> 16) % kEntries]; }

  // Direct-mapped: two flows of one place push each other out, which costs a measurement and nothing else.
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

// As write_uplink, with a container that answers `stamp`: peer.header_bytes + kMonitoredMoreBytes octets at `out`, in
// front of a T-PDU of `payload` octets.
void write_monitored_uplink(const N3Peer& peer, Teid teid, Qfi qfi, const QosMonitor::Stamp& stamp,
                            std::uint64_t ul_send_time, unsigned payload, std::uint8_t* out);

}  // namespace splitplane::datapath
