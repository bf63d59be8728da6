// The model's transmit path: descriptors of each ring between head and tail -> frames -> wire -> DD for frames that the
// wire took. Frames go from the driver's buffer; only padded or fragmented ones are copied first.
#include <cstring>

#include "nicmodel/nic_82599_model.h"

namespace splitplane::nicmodel {

namespace {

constexpr std::uint32_t kMostFrameBytes = 16 * 1024;
constexpr std::uint32_t kMostTransmitBytes = 15 * 1024 + 512;  // 7.2.3.2.2: 15.5 KiB
constexpr std::uint64_t kTxTypeContext = 2ULL << 20;           // 7.2.3.2.3: DTYP 0010b

}  // namespace

std::uint32_t Nic82599Model::transmit(std::uint32_t max, std::uint64_t now_ns) {
  if (!sending_ || !registers_.link_is_up()) return 0;
  std::uint32_t moved = 0;
  for (std::uint32_t n = 0; n < transmit_rings_; ++n) {
    TransmitRing& ring = transmit_[n];
    if (!ring.enabled || ring.stopped) continue;
    if (ring.head == ring.tail) {
      look(ring, n, InjectedFault::loses_transmit_doorbell);
      if (ring.head == ring.tail) continue;
    }
    moved += transmit_ring(ring, n, max, now_ns);
  }
  return moved;
}

std::uint32_t Nic82599Model::transmit_ring(TransmitRing& ring, std::uint32_t n, std::uint32_t max,
                                           std::uint64_t now_ns) {
  const std::uint32_t frames = gather(ring, max);
  if (frames == 0) return 0;
  if (!injections_.empty() && strikes(InjectedFault::stops, n, frames)) {
    ring.stopped = receive_[n].stopped = true;
    return 0;
  }
  // A frame without octets cannot be sent: it is completed but never reaches the wire.
  std::uint32_t done = 0;
  std::uint32_t left = 0;
  while (done < frames) {
    if (leaving_[done].bytes == 0) {
      drop(NicDrop::transmit_descriptor);
      ++done;
      continue;
    }
    std::uint32_t run = done;
    while (run < frames && leaving_[run].bytes != 0) ++run;
    const std::uint32_t taken = wire_.leave(&leaving_[done], run - done, now_ns);
    done += taken;
    left += taken;
    if (done < run) break;
  }
  if (done == 0) return 0;
  Statistics& s = registers_.statistics();
  for (std::uint32_t i = 0; i < done; ++i) {
    if (leaving_[i].bytes == 0) continue;
    const std::uint32_t octets = leaving_[i].bytes + kCrcBytes;
    ++s.gptc, ++s.tpt;
    s.gotc += octets;
    ++s.ptc[size_class(octets)];
    ++s.qptc[ring.set];
    s.qbtc[ring.set] += octets;
    if ((leaving_[i].octets[0] & 1) != 0) ++(leaving_[i].octets[0] == 0xFF ? s.bptc : s.mptc);
  }
  counters_.fetched.add(done);
  counters_.left.add(left);
  // Writes back the descriptors that request it (7.2.3.5.1). From here on the driver may use buffer and descriptor
  // again.
  const std::uint32_t end = ends_[done - 1];
  while (ring.head != end) {
    gpu::Descriptor& d = ring.descriptors[ring.head];
    if (gpu::tx_wants_report(gpu::load_relaxed(&d.hi))) gpu::store_release(&d.hi, gpu::kTxDone);
    ring.head = ring.after(ring.head);
  }
  return done;
}

// Makes frames of the ring's descriptors, whole ones only, and returns their number. ends_ says where each stops.
std::uint32_t Nic82599Model::gather(TransmitRing& ring, std::uint32_t max) {
  std::uint32_t frames = 0;
  std::uint32_t at = ring.head;
  while (frames < max && at != ring.tail) {
    std::uint8_t* const room = &gathered_[std::size_t{frames} * kMostFrameBytes];
    WireFrame frame;
    bool good = true;
    bool end = false;
    std::uint32_t promised = 0;
    std::uint32_t next = at;
    for (bool first = true; !end && next != ring.tail; next = ring.after(next)) {
      const gpu::Descriptor& d = ring.descriptors[next];
      const std::uint64_t hi = gpu::load_relaxed(&d.hi);
      const std::uint64_t type = hi & gpu::kTxTypeMask;
      if ((hi & gpu::kTxExtension) != 0 && type == kTxTypeContext && first) {
        continue;  // offload context: this model offloads nothing
      }
      if ((hi & gpu::kTxExtension) == 0 || type != gpu::kTxTypeData) {
        faults_.count(DriverFault::descriptor_unsupported);
        good = false;
        end = true;
        continue;
      }
      const std::uint32_t bytes = gpu::tx_length(hi);
      end = (hi & gpu::kTxEndOfPacket) != 0;
      if (first) promised = gpu::tx_payload_length(hi);
      if (bytes == 0 || frame.bytes + bytes > kMostTransmitBytes) {
        if (good) faults_.count(DriverFault::transmit_length_invalid);
        good = false;
      }
      if (first && (hi & gpu::kTxInsertFcs) == 0) {
        faults_.count(DriverFault::transmit_without_fcs);
        good = false;
      }
      const std::uint8_t* const from = good ? regions_.find(gpu::tx_buffer(d), bytes) : nullptr;
      if (good && from == nullptr) {
        faults_.count(DriverFault::buffer_address_unknown);
        good = false;
      }
      if (good) {
        if (first && end) {
          frame.octets = from;
          __builtin_prefetch(from);
        } else {
          std::memcpy(room + frame.bytes, from, bytes);
          frame.octets = room;
        }
        frame.bytes += bytes;
      }
      first = false;
    }
    if (!end) break;  // the rest of this packet is missing so far
    if (good && promised != frame.bytes) {
      faults_.count(DriverFault::transmit_length_invalid);
      good = false;
    }
    if (good && frame.bytes < 60 && pad_) {
      if (frame.octets != room) std::memcpy(room, frame.octets, frame.bytes);
      std::memset(room + frame.bytes, 0, 60 - frame.bytes);
      frame = {room, 60};
    }
    leaving_[frames] = good ? frame : WireFrame{};
    ends_[frames] = next;
    ++frames;
    at = next;
  }
  return frames;
}

}  // namespace splitplane::nicmodel
