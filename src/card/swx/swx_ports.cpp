#include "card/swx/swx_ports.h"

#include "engine/burst.h"

namespace splitplane::nic {
namespace {

// Frames of all queues of the worker may come to one output between two flushes, and each may be cloned.
constexpr std::size_t kReserved = 8 * std::size_t{datapath::kBurst};

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

void transmit(void* port, rte_swx_pkt* pkt) {
  auto& out = *static_cast<SwxOutput*>(port);
  out.append(frame_of(pkt));
  ++out.frames;
  ++out.io->sent;
}

// A reference: original and clone share the octets, which no code may change any more.
void transmit_clone(void* port, rte_swx_pkt* pkt) {
  auto& out = *static_cast<SwxOutput*>(port);
  rte_mbuf* const m = frame_of(pkt);
  rte_pktmbuf_refcnt_update(m, 1);  // of every segment
  out.append(m);
  ++out.clones;
}

// A copy, for a port that passes the mbuf to a receiver that writes to it.
void transmit_copy(void* port, rte_swx_pkt* pkt, std::uint32_t bytes) {
  auto& out = *static_cast<SwxOutput*>(port);
  rte_mbuf* const m = frame_of(pkt);
  rte_mbuf* const copy = rte_pktmbuf_copy(m, m->pool, 0, bytes);
  if (copy == nullptr) {
    ++out.io->clones_failed;
    return;
  }
  out.append(copy);
  ++out.clones;
}

void read_stats(void* port, rte_swx_port_out_stats* stats) {
  *stats = {.n_pkts = static_cast<SwxOutput*>(port)->frames};
}

void sink(void* port, rte_swx_pkt* pkt) {
  auto& io = *static_cast<SwxOutput*>(port)->io;
  rte_pktmbuf_free(frame_of(pkt));
  ++io.sunk;
  ++io.sent;
}

// The reference is taken and released: the feature set clone_drop measures that cost.
void sink_clone(void* port, rte_swx_pkt* pkt) {
  rte_mbuf* const m = frame_of(pkt);
  rte_pktmbuf_refcnt_update(m, 1);  // of every segment
  rte_pktmbuf_free(m);
  ++static_cast<SwxOutput*>(port)->io->clones_sunk;
}

void sink_copy(void* port, rte_swx_pkt*, std::uint32_t) {
  ++static_cast<SwxOutput*>(port)->io->clones_sunk;
}

}  // namespace

void SwxOutput::append(rte_mbuf* m) {
  if (mbufs.empty()) io->pending.push_back(number);
  mbufs.push_back(m);
}

PipelineIo::PipelineIo(unsigned ports) : outputs(ports + 1) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].io = this;
    outputs[i].number = static_cast<std::uint16_t>(i);
    outputs[i].mbufs.reserve(kReserved);
  }
  pending.reserve(outputs.size() + 2 * std::size_t{datapath::kMaxQueues});
}

PipelineIo::~PipelineIo() {
  for (SwxOutput& out : outputs) {
    for (rte_mbuf* m : out.mbufs) rte_pktmbuf_free(m);
  }
}

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

rte_swx_port_out_ops sink_ops() {
  return {.create = same,
          .free = keep,
          .pkt_tx = sink,
          .pkt_fast_clone_tx = sink_clone,
          .pkt_clone_tx = sink_copy,
          .flush = nullptr,
          .stats_read = read_stats};
}

}  // namespace splitplane::nic
