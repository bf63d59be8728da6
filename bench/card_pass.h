// The bench's buffers through a card with one core or several, over rings. Each core is a separate thread. nic_bench
// uses it to measure several cores.
#pragma once

#include <memory>
#include <vector>

#include "buffers.h"
#include "card/cores.h"

namespace splitplane::bench {

// A card with its ports' rings. The thread of the core that has N3 also fills that port's ring. The thread of the core
// that has the air empties that port's ring. No other thread has a core, so the harness is part of the measured time.
class RingCard {
 public:
  RingCard(const nic::SpecFile& spec, const std::vector<unsigned>& cores);
  ~RingCard();
  RingCard(const RingCard&) = delete;
  RingCard& operator=(const RingCard&) = delete;

  // In milliseconds of CPU time.
  double install(const std::vector<nic::CardBearer>& bearers);
  // Nanoseconds until all buffers have gone from N3 to the air. Also the CPU time in rounds with packets of the busiest
  // core: the time that remains when other processes take a core away, for which the next core then waits.
  struct Took {
    double wall_ns = 0, busy_ns = 0;
  };
  Took pass(Buffers& buffers);
  [[nodiscard]] nic::CardCounters counters() const;
  // Frames that one core passed to another before the program.
  [[nodiscard]] std::uint64_t handed() const;

 private:
  struct Core;
  struct Ports;
  // Returns the number of packets.
  unsigned feed(Ports& ports) const;
  unsigned empty(Ports& ports) const;
  void run(Core& core, Ports& ports) const;
  rte_ring* ring(const char* name, unsigned element_bytes);

  std::vector<rte_ring*> rings_;
  rte_ring *n3_ = nullptr, *air_ = nullptr;
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace splitplane::bench
