#include "engine/driver/gated_port.h"

namespace splitplane::datapath {

GatedPort::GatedPort(DriverGate& gate, std::uint16_t port, std::uint16_t rx_queues, std::uint16_t tx_queues)
    : gate_(gate) {
  struct rte_eth_fp_ops& ops = rte_eth_fp_ops[port];
  const auto take = [&](std::uint16_t queues, void* const* data, std::vector<Queue>& all,
                        std::vector<void*>& pointers) {
    all.reserve(queues);
    for (std::uint16_t q = 0; q < queues; ++q) {
      all.push_back({gate.add_slot(), data[q], ops.rx_pkt_burst, ops.tx_pkt_burst, ops.rx_queue_count});
      pointers.push_back(&all.back());
    }
  };
  take(rx_queues, ops.rxq.data, rx_, rx_data_);
  take(tx_queues, ops.txq.data, tx_, tx_data_);
  ops.rx_pkt_burst = receive;
  ops.tx_pkt_burst = transmit;
  if (ops.rx_queue_count != nullptr) ops.rx_queue_count = count;
  // These operations would take our queues for the driver's. Nothing in this program calls them.
  ops.rx_descriptor_status = nullptr;
  ops.tx_descriptor_status = nullptr;
  ops.tx_pkt_prepare = nullptr;
  ops.rxq.data = rx_data_.data();
  ops.txq.data = tx_data_.data();
}

GatedPort::~GatedPort() {
  for (Queue& queue : rx_) gate_.remove_slot(queue.slot);
  for (Queue& queue : tx_) gate_.remove_slot(queue.slot);
}

std::uint16_t GatedPort::receive(void* queue, rte_mbuf** mbufs, std::uint16_t n) {
  Queue& q = *static_cast<Queue*>(queue);
  if (!q.slot.enter()) [[unlikely]]
    return 0;
  const std::uint16_t received = q.receive(q.driver, mbufs, n);
  q.slot.leave();
  return received;
}

std::uint16_t GatedPort::transmit(void* queue, rte_mbuf** mbufs, std::uint16_t n) {
  Queue& q = *static_cast<Queue*>(queue);
  if (!q.slot.enter()) [[unlikely]]
    return 0;
  const std::uint16_t sent = q.transmit(q.driver, mbufs, n);
  q.slot.leave();
  return sent;
}

std::uint32_t GatedPort::count(void* queue) {
  Queue& q = *static_cast<Queue*>(queue);
  if (!q.slot.enter()) [[unlikely]]
    return 0;
  const std::uint32_t waiting = q.count(q.driver);
  q.slot.leave();
  return waiting;
}

}  // namespace splitplane::datapath
