#include "guard_frames.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/tcp.h"

namespace splitplane::bench {

namespace {

constexpr std::array<std::uint8_t, 6> kClientMac{0x02, 0, 0, 0, 0, 0x01}, kServerMac{0x02, 0, 0, 0, 0, 0x02};

}  // namespace

guard::FourTuple tuple_of(bool is_v6, std::uint32_t client) {
  guard::FourTuple t;
  t.is_v6 = is_v6 ? 1 : 0;
  if (is_v6) {
    t.client = {0x20, 0x01, 0x0d, 0xb8};
    wire::store_be32(t.client.data() + 4, client);
    t.client[15] = 1;
    t.server = {0x20, 0x01, 0x0d, 0xb9};
    t.server[15] = 80;
  } else {
    wire::store_be32(t.client.data(), 0x0A000000U + client);
    t.server = {192, 0, 2, 80};
  }
  t.client_port = static_cast<std::uint16_t>(1024 + client % 60000);
  t.server_port = 443;
  return t;
}

void write_frame(rte_mbuf* m, const GuardFrame& frame) {
  const guard::FourTuple t = tuple_of(frame.is_v6, frame.number);
  const bool from_client = frame.from == guard::Side::kClient;
  const auto& source = from_client ? t.client : t.server;
  const auto& destination = from_client ? t.server : t.client;
  const std::size_t tcp_bytes = wire::tcp::kMinHeaderBytes + frame.options.size();
  m->data_off = RTE_PKTMBUF_HEADROOM;
  m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  m->tx_offload = 0;
  m->nb_segs = 1;
  m->next = nullptr;
  auto* const octets = rte_pktmbuf_mtod(m, std::uint8_t*);
  wire::MutableOctets room(octets, 256);
  std::size_t at =
      wire::ethernet::write(room, from_client ? kServerMac : kClientMac, from_client ? kClientMac : kServerMac,
                            frame.is_v6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4);
  const std::size_t address_bytes = frame.is_v6 ? 16 : 4;
  if (frame.is_v6) {
    at += wire::ipv6::write(room.subspan(at), {.next_header = wire::tcp::kProtocol, .hop_limit = 64}, source,
                            destination, tcp_bytes);
  } else {
    wire::ipv4::Header ip;
    ip.fragment = wire::ipv4::kDontFragment;
    ip.ttl = 64;
    ip.protocol = wire::tcp::kProtocol;
    ip.source = wire::load_be32(source.data());
    ip.destination = wire::load_be32(destination.data());
    at += wire::ipv4::write(room.subspan(at), ip, tcp_bytes);
  }
  wire::tcp::Header h;
  h.source_port = from_client ? t.client_port : t.server_port;
  h.destination_port = from_client ? t.server_port : t.client_port;
  h.sequence = frame.sequence;
  h.acknowledgment = frame.acknowledgment;
  h.header_bytes = static_cast<std::uint8_t>(tcp_bytes);
  h.flags = frame.flags;
  h.window = frame.window;
  const wire::MutableOctets segment = room.subspan(at, tcp_bytes);
  wire::tcp::write(segment, h);
  std::copy(frame.options.begin(), frame.options.end(), segment.begin() + wire::tcp::kMinHeaderBytes);
  wire::store_be16(segment.data() + wire::tcp::kChecksumAt,
                   wire::tcp::checksum(wire::Octets(source).first(address_bytes),
                                       wire::Octets(destination).first(address_bytes), segment));
  at += tcp_bytes;
  std::fill(octets + at, octets + 128, std::uint8_t{0});
  m->data_len = static_cast<std::uint16_t>(std::max<std::size_t>(at, 60));
  m->pkt_len = m->data_len;
}

GuardBuffers::GuardBuffers(rte_mempool* pool, unsigned count) : order_(kGuardBuffers) {
  if (rte_pktmbuf_alloc_bulk(pool, order_.data(), kGuardBuffers) != 0)
    throw std::runtime_error("pool too small for the bench");
  std::shuffle(order_.begin(), order_.end(), std::mt19937(42));
  rte_pktmbuf_free_bulk(order_.data() + count, kGuardBuffers - count);
  order_.resize(count);
}

GuardBuffers::~GuardBuffers() {
  for (rte_mbuf* m : order_) {
    rte_mbuf_refcnt_set(m, 1);
    rte_pktmbuf_free(m);
  }
}

}  // namespace splitplane::bench
