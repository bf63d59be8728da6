// A port whose queues go through a DriverGate. A function of ours stands between rte_eth_rx_burst() or
// rte_eth_tx_burst() and the driver's function and holds the queue's slot. So every caller that polls the port uses the
// gate without knowing it.
#pragma once

#include <rte_ethdev.h>

#include <cstdint>
#include <vector>

#include "engine/driver/driver_gate.h"

namespace splitplane::datapath {

class GatedPort {
 public:
  // Construct it after the port was started and before a worker polls it.
  GatedPort(DriverGate& gate, std::uint16_t port, std::uint16_t rx_queues, std::uint16_t tx_queues);
  ~GatedPort();  // after the port was stopped
  GatedPort(const GatedPort&) = delete;
  GatedPort& operator=(const GatedPort&) = delete;

 private:
  struct Queue {
    DriverGate::Slot& slot;
    void* driver;  // the driver's own queue
    eth_rx_burst_t receive;
    eth_tx_burst_t transmit;
    eth_rx_queue_count_t count;
  };
  static std::uint16_t receive(void* queue, rte_mbuf** mbufs, std::uint16_t n);
  static std::uint16_t transmit(void* queue, rte_mbuf** mbufs, std::uint16_t n);
  static std::uint32_t count(void* queue);

  DriverGate& gate_;
  std::vector<Queue> rx_, tx_;
  std::vector<void*> rx_data_, tx_data_;  // in DPDK's form: pointers to queues
};

}  // namespace splitplane::datapath
