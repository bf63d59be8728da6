// The ends of a port with the air behind it. A function uses them in place of EthSource and EthSink, so that its frames
// cross an AirLink. Without a link they behave as those, at the cost of one branch a burst.
#pragma once

#include <rte_cycles.h>

#include "engine/endpoints.h"
#include "phy/air_link.h"

namespace splitplane::phy {

struct AirSource {
  datapath::EthSource port;
  AirLink* link = nullptr;  // absent: nothing between the port and the function

  unsigned receive(datapath::Burst& burst) {
    if (link == nullptr) [[likely]]
      return port.receive(burst);
    return receive_through(burst, rte_rdtsc());
  }
  // When the next frame in the air arrives.
  [[nodiscard]] Ticks next_due() const { return link == nullptr ? ~Ticks{0} : link->next_due(); }
  // At the end of a worker's life: takes the frames that are still in the air.
  unsigned take_left(datapath::Burst& burst) {
    return burst.size = link == nullptr ? 0 : link->give_all(burst.mbuf.data(), datapath::kBurst);
  }

 private:
  // Frames that fell due earlier come first. If they fill the burst, the port's queue waits.
  [[gnu::noinline]] unsigned receive_through(datapath::Burst& burst, Ticks now) {
    burst.size = link->give(burst.mbuf.data(), datapath::kBurst, now);
    if (burst.size == datapath::kBurst) return burst.size;
    datapath::Burst fresh;
    if (port.receive(fresh) == 0) return burst.size;
    link->take(fresh.mbuf.data(), fresh.size, now);
    burst.size += link->give(burst.mbuf.data() + burst.size, datapath::kBurst - burst.size, now);
    return burst.size;
  }
};

struct AirSink {
  datapath::EthSink port;
  AirLink* link = nullptr;

  // As EthSink: returns how many frames were taken. A link takes all, because a sender does not learn what the air
  // loses.
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    if (link == nullptr) [[likely]]
      return port.send(mbufs, n);
    link->take(mbufs, n, rte_rdtsc());
    return n;
  }
  // Once a round: sends the frames that are due to the port.
  void flush() {
    if (link != nullptr) [[unlikely]]
      send_due(rte_rdtsc());
  }
  [[nodiscard]] Ticks next_due() const { return link == nullptr ? ~Ticks{0} : link->next_due(); }
  // At the end of a worker's life: sends the frames that are held, too.
  void finish() {
    if (link != nullptr) send_due(~Ticks{0});
  }

 private:
  [[gnu::noinline]] void send_due(Ticks now) {
    datapath::Burst burst;
    while ((burst.size = link->give(burst.mbuf.data(), datapath::kBurst, now)) != 0) {
      const unsigned sent = port.send(burst.mbuf.data(), burst.size);
      link->count_refused(burst.size - sent);
      rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
    }
  }
};

}  // namespace splitplane::phy
