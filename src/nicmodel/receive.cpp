// The model's receive path: wire -> address filter -> steering -> descriptors of a ring, or a counted drop. Frames of a
// batch first get their descriptors, whose buffers are prefetched; then they are copied.
#include <cstring>

#include "nicmodel/nic_82599_model.h"
#include "nicmodel/octets.h"
#include "wire/ethernet.h"

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

std::uint32_t Nic82599Model::receive(std::uint32_t max, std::uint64_t now_ns) {
  if (!registers_.link_is_up()) [[unlikely]] {
    registers_.pass_time();
    return 0;
  }
  // The far end begins when the receiver is open. On a real link earlier frames are lost without a trace.
  if (!receiving_) return 0;
  std::uint32_t moved = packet_buffer_.empty() ? 0 : empty_packet_buffer();
  const std::uint32_t n = wire_.arrive(arriving_.data(), max, now_ns);
  if (n == 0) return moved;
  counters_.arrived.add(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const WireFrame& frame = arriving_[i];
    if (!accept(frame)) continue;
    if (!packet_buffer_.empty() || !land(frame, false)) hold(frame);
  }
  flush_landings();
  return moved + n;
}

// The MAC and the address filter (7.1.1). They count what they refuse.
bool Nic82599Model::accept(const WireFrame& frame) {
  Statistics& s = registers_.statistics();
  const std::uint32_t octets = frame.bytes + kCrcBytes;
  ++s.tpr;
  s.tor += octets;
  if (octets < 64) {
    ++s.ruc;
    drop(NicDrop::length);
    return false;
  }
  const std::uint16_t type = wire::load_be16(frame.octets + 12);
  if (octets > longest_ + (type == wire::ethernet::kTypeVlan ? wire::ethernet::kTagBytes : 0)) {
    ++s.roc;
    drop(NicDrop::length);
    return false;
  }
  std::uint64_t to = 0;
  std::memcpy(&to, frame.octets, 6);
  constexpr std::uint64_t kBroadcast = 0xFFFFFFFFFFFF;
  bool wanted = false;
  if (to == kBroadcast) {
    wanted = broadcast_;
    s.bprc += wanted ? 1 : 0;
  } else if ((to & 1) != 0) {
    wanted = multicast_promiscuous_;
    s.mprc += wanted ? 1 : 0;
  } else {
    wanted = unicast_promiscuous_ || std::ranges::find(addresses_, to) != addresses_.end();
  }
  if (!wanted) {
    drop(NicDrop::address);
    return false;
  }
  ++s.gprc;
  s.gorc += octets;
  ++s.prc[size_class(octets)];
  return true;
}

// Gives a frame its descriptors. Returns false if there are none and the ring does not drop; the frame must then wait.
bool Nic82599Model::land(const WireFrame& frame, bool from_buffer) {
  const Steered steered = steering_.steer(frame.octets, frame.bytes);
  const std::uint32_t n = steered.ring;
  ReceiveRing& ring = receive_[n % kRings];
  if (!ring.enabled || n >= kRings) {
    drop(NicDrop::ring_disabled);
    return true;
  }
  if (!injections_.empty() && strikes(InjectedFault::stops, n, 1)) ring.stopped = transmit_[n].stopped = true;
  if (ring.stopped) {
    drop(NicDrop::ring_stopped);
    return true;
  }
  const std::uint32_t pieces = frame.bytes <= ring.buffer_bytes ? 1 : (frame.bytes - 1) / ring.buffer_bytes + 1;
  const auto available = [&ring] {
    return ring.tail >= ring.head ? ring.tail - ring.head : ring.tail + ring.size - ring.head;
  };
  if (available() < pieces) {
    look(ring, n, InjectedFault::loses_receive_doorbell);
    if (available() < pieces) {
      if (!ring.drop) return false;
      ++registers_.statistics().qprdc[ring.set];
      drop(NicDrop::no_descriptor);
      counters_.no_descriptor[n].add(1);
      return true;
    }
  }
  Landing& landing = landings_[landing_count_++];
  landing = {
      .ring = &ring,
      .descriptor = ring.head,
      .pieces = pieces,
      .octets = frame.octets,
      .bytes = frame.bytes,
      .steered = steered,
      .buffer = regions_.find(gpu::rx_buffer(ring.descriptors[ring.head]), std::min(frame.bytes, ring.buffer_bytes))};
  __builtin_prefetch(landing.buffer, 1);
  for (std::uint32_t i = 0; i < pieces; ++i) ring.head = ring.after(ring.head);
  if (landing_count_ == kBatch || from_buffer) flush_landings();
  return true;
}

void Nic82599Model::flush_landings() {
  std::uint32_t good = 0;
  for (std::uint32_t i = 0; i < landing_count_; ++i) {
    write_back(landings_[i]);
    good += landings_[i].buffer != nullptr ? 1 : 0;
  }
  landing_count_ = 0;
  counters_.delivered.add(good);
}

// Writes the payload, then the descriptor over itself (7.1.6.2): first the low word, then DD with length and status by
// one release store.
void Nic82599Model::write_back(const Landing& landing) {
  const ReceiveRing& ring = *landing.ring;
  const auto n = static_cast<std::uint32_t>(&ring - receive_.data());
  Statistics& s = registers_.statistics();
  if (landing.buffer != nullptr) {
    ++s.qprc[ring.set];
    s.qbrc[ring.set] += landing.bytes + kCrcBytes;
  } else {
    drop(NicDrop::buffer_unreachable);
  }
  std::uint32_t descriptor = landing.descriptor;
  std::uint32_t done = 0;
  for (std::uint32_t piece = 0; piece < landing.pieces; ++piece) {
    gpu::Descriptor& d = ring.descriptors[descriptor];
    const std::uint32_t bytes = std::min(landing.bytes - done, ring.buffer_bytes);
    std::uint8_t* const to = piece == 0 ? landing.buffer : regions_.find(gpu::rx_buffer(d), bytes);
    std::uint64_t hi = std::uint64_t{bytes} << 32 | gpu::kRxDone;
    if (piece + 1 == landing.pieces) hi |= gpu::kRxEndOfPacket;
    bool early = false;
    if (!injections_.empty()) [[unlikely]] {
      if (strikes(InjectedFault::corrupts_descriptor, n, 1)) hi |= 0xFFFFULL << 32;
      if (strikes(InjectedFault::reports_error, n, 1)) hi |= gpu::kRxErrorMac;
      early = strikes(InjectedFault::early_done, n, 1);
    }
    if (to == nullptr) {
      faults_.count(DriverFault::buffer_address_unknown);
    } else if (early) {
      late_.push_back({.to = to, .octets = {landing.octets + done, landing.octets + done + bytes}});
    } else {
      copy_octets(to, landing.octets + done, bytes);
    }
    d.lo = std::uint64_t{landing.steered.hash} << 32 | landing.steered.type;
    gpu::store_release(&d.hi, hi);
    done += bytes;
    descriptor = ring.after(descriptor);
  }
}

// A frame without a descriptor, or behind such a frame, waits in the packet buffer.
void Nic82599Model::hold(const WireFrame& frame) {
  if (packet_buffer_.push(frame.octets, frame.bytes)) {
    counters_.held.set(packet_buffer_.frames());
    return;
  }
  ++registers_.statistics().rxmpc[0];
  drop(NicDrop::packet_buffer_full);
}

std::uint32_t Nic82599Model::empty_packet_buffer() {
  std::uint32_t moved = 0;
  while (!packet_buffer_.empty() && moved < kBatch) {
    WireFrame frame;
    frame.octets = packet_buffer_.front(frame.bytes);
    if (!land(frame, true)) break;
    packet_buffer_.pop();
    ++moved;
  }
  counters_.held.set(packet_buffer_.frames());
  return moved;
}

}  // namespace splitplane::nicmodel
