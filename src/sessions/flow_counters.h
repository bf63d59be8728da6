// What the QoS flows of sessions with several bearers carried: SDUs and octets by QFI. A worker owns it. The control
// thread makes the memory when it adds a session, so neither a command nor a packet allocates. A bearer that is a
// session by itself has no place here, because its own counters say the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ran/by_identity.h"
#include "ran/sdap/counters.h"

namespace splitplane::datapath {

// Of one session. A packet changes one cache line: both directions of a flow lie in it.
struct alignas(64) FlowCounts {
  struct Flow {
    ran::sdap::FlowCount downlink;  // from N3, when the flow's bearer was found
    ran::sdap::FlowCount uplink;    // towards N3, in the order of the flow
  };
  static_assert(64 % sizeof(Flow) == 0);

  std::array<Flow, ran::sdap::kFlows> flows{};
};

class FlowCounters {
 public:
  // Memory of a session, and of the places of its shard if no session came before.
  struct Memory {
    std::unique_ptr<FlowCounts> counts;
    ran::ByIdentity<FlowCounts>::Places places;
  };
  // On the control thread, which alone sends commands that open and close. `capacity`: bearers of the shard.
  [[nodiscard]] Memory make(Teid session, std::uint32_t capacity) const;

  // In a command: the session counts from zero. `memory` has what the session counted in before, if anything.
  void open(Teid session, Memory& memory);
  // In a command: the session is gone. The caller destroys what it counted in; nullptr: it did not count.
  [[nodiscard]] std::unique_ptr<FlowCounts> close(Teid session);

  // Returns nullptr if the session does not count.
  [[nodiscard]] FlowCounts* find(std::uint32_t session) const { return by_teid_.find(session); }
  // Fetches the place where find() looks. The session need not count, but its shard must have places.
  void prefetch(std::uint32_t session) const { by_teid_.prefetch(session); }
  // Count an SDU of that session. `qfi` is at most 63.
  void count_downlink(std::uint32_t session, std::uint8_t qfi, std::size_t octets) const {
    if (FlowCounts* const counts = find(session); counts != nullptr) counts->flows[qfi].downlink.add(octets);
  }
  void count_uplink(std::uint32_t session, std::uint8_t qfi, std::size_t octets) const {
    if (FlowCounts* const counts = find(session); counts != nullptr) counts->flows[qfi].uplink.add(octets);
  }

 private:
  ran::ByIdentity<FlowCounts> by_teid_;
};

}  // namespace splitplane::datapath
