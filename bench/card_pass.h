// The bench's buffers through a card of one core or several over rings, each core a thread of its own: what nic_bench
// says of several cores.
#pragma once

#include <memory>
#include <vector>

#include "buffers.h"
#include "card/cores.h"

namespace splitplane::bench {

// A card with its ports' rings. The thread of the core that has N3 also fills that port's ring, and that of the core
// that has the air empties this one's: nobody else has a core, so all that the harness does is part of the time.
class RingCard {
 public:
  RingCard(const nic::SpecFile& spec, const std::vector<unsigned>& cores);
  ~RingCard();
  RingCard(const RingCard&) = delete;
  RingCard& operator=(const RingCard&) = delete;

  // In milliseconds of CPU time.
  double install(const std::vector<nic::CardBearer>& bearers);
  // Nanoseconds until all buffers have gone from N3 to the air; and CPU time in rounds with packets, of the core that
  // had most of it: what is left where others take a core away, for which the next one then waits.
  struct Took {
    double wall_ns = 0, busy_ns = 0;
  };
  Took pass(Buffers& buffers);
  [[nodiscard]] nic::CardCounters counters() const;
  // Frames that one core handed to another before the program.
  [[nodiscard]] std::uint64_t handed() const;

 private:
  struct Core;
  struct Ports;
  // How many packets.
  unsigned feed(Ports& ports) const;
  unsigned empty(Ports& ports) const;
  void run(Core& core, Ports& ports) const;
  rte_ring* ring(const char* name, unsigned element_bytes);

  std::vector<rte_ring*> rings_;
  rte_ring *n3_ = nullptr, *air_ = nullptr;
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace splitplane::bench
