#include "card/swx/swx_ports.h"

namespace splitplane::nic {
namespace {

void* same(void* object) {
  return object;
}
void keep(void*) {}

int receive(void* port, rte_swx_pkt* pkt) {
  auto& io = *static_cast<PipelineIo*>(port);
  if (io.left == 0) return 0;
  rte_mbuf* const m = *io.next++;
  --io.left;
  pkt->handle = m;
  pkt->pkt = static_cast<std::uint8_t*>(m->buf_addr);
  pkt->offset = m->data_off;
  pkt->length = m->data_len;
  return 1;
}

// The frame's present place. The deparser ran before, so no code writes to its octets from here on.
rte_mbuf* frame_of(const rte_swx_pkt* pkt) {
  auto* const m = static_cast<rte_mbuf*>(pkt->handle);
  m->pkt_len = pkt->length + (m->pkt_len - m->data_len);
  m->data_len = static_cast<std::uint16_t>(pkt->length);
  m->data_off = static_cast<std::uint16_t>(pkt->offset);
  return m;
}

PipelineOutput& output_of(void* port) {
  return *static_cast<PipelineOutput*>(port);
}

void transmit(void* port, rte_swx_pkt* pkt) {
  output_of(port).send(frame_of(pkt));
}
void transmit_clone(void* port, rte_swx_pkt* pkt) {
  output_of(port).send_reference(frame_of(pkt));
}
void transmit_copy(void* port, rte_swx_pkt* pkt, std::uint32_t bytes) {
  output_of(port).send_copy(frame_of(pkt), bytes);
}

void read_stats(void* port, rte_swx_port_out_stats* stats) {
  *stats = {.n_pkts = output_of(port).frames};
}

}  // namespace

rte_swx_port_in_ops input_ops() {
  return {
      .create = same, .free = keep, .pkt_rx = receive, .stats_read = [](void*, rte_swx_port_in_stats* s) { *s = {}; }};
}

rte_swx_port_out_ops output_ops() {
  return {.create = same,
          .free = keep,
          .pkt_tx = transmit,
          .pkt_fast_clone_tx = transmit_clone,
          .pkt_clone_tx = transmit_copy,
          .flush = nullptr,
          .stats_read = read_stats};
}

}  // namespace splitplane::nic
