#include "buffers.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "wire/ethernet.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace splitplane::bench {

FrameTemplate make_frame_template(const datapath::N3Addresses& ours, unsigned bytes) {
  FrameTemplate frame;
  std::uint8_t* at = frame.head.data();
  const std::array<std::uint8_t, 6> upf_mac{0x02, 0, 0, 0, 0, 0x02};
  wire::ethernet::write({at, 14}, ours.mac.octets, upf_mac, wire::ethernet::kTypeIpv4);
  const unsigned payload = bytes - 58;
  wire::ipv4::Header ip;
  ip.ttl = 64;
  ip.protocol = wire::ipv4::kProtocolUdp;
  ip.source = 0x0a640002;
  ip.destination = __builtin_bswap32(ours.ipv4);
  wire::ipv4::write({at + 14, 20}, ip, 8 + 16 + payload);
  wire::udp::write({at + 34, 8}, wire::gtpu::kPort, wire::gtpu::kPort, 16 + payload);
  wire::gtpu::write_gpdu_psc_dl({at + 42, 16}, Teid{0}, payload, Qfi{9}, false);
  return frame;
}

Buffers::Buffers(rte_mempool* pool, unsigned count, const std::vector<std::uint32_t>& teids, const FrameTemplate& frame,
                 unsigned seed)
    : order_(count), frame_(frame) {
  if (rte_pktmbuf_alloc_bulk(pool, order_.data(), count) != 0) throw std::runtime_error("pool too small for the bench");
  std::shuffle(order_.begin(), order_.end(), std::mt19937(seed));
  assign(teids, seed + 1);
}

Buffers::~Buffers() {
  for (rte_mbuf* m : order_) rte_pktmbuf_free(m);
}

void Buffers::assign(const std::vector<std::uint32_t>& teids, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> drawn(order_.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = teids[i % teids.size()];
  if (teids.size() > order_.size()) {
    for (auto& teid : drawn) teid = teids[random() % teids.size()];
  }
  std::shuffle(drawn.begin(), drawn.end(), random);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[i]->hash.usr = drawn[i];
    restore(order_[i], frame_);
    std::memset(rte_pktmbuf_mtod_offset(order_[i], std::uint8_t*, 58), 0x45, kFrameBytes - 58);
  }
}

unsigned Buffers::damaged() const {
  unsigned count = 0;
  for (const rte_mbuf* m : order_) {
    const auto* octets = rte_pktmbuf_mtod(m, const std::uint8_t*);
    const bool good = rte_mbuf_refcnt_read(m) == 1 && m->data_len == kFrameBytes &&
                      m->data_off == RTE_PKTMBUF_HEADROOM && std::memcmp(octets, frame_.head.data(), 46) == 0;
    count += good ? 0 : 1;
  }
  return count;
}

}  // namespace splitplane::bench
