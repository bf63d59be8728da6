#include "nicmodel/traffic_peer.h"

#include <cstring>

#include "nicmodel/octets.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace splitplane::nicmodel {

namespace {

constexpr std::uint32_t kCrc = 4;
constexpr std::uint8_t kUnderWay = 0x80;
constexpr std::size_t kSeriesPoints = 4096;

// Detects a stamp that was damaged or is none.
std::uint16_t stamp_check(std::uint64_t sequence, std::uint64_t time, std::uint64_t seed) {
  const std::uint64_t mix = (sequence ^ seed) * 0x9e3779b97f4a7c15ULL ^ time * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::uint16_t>(mix >> 48);
}

// A dynamic port (RFC 6335 6), another one for each packet.
std::uint16_t varied_port(std::uint64_t sequence) {
  return static_cast<std::uint16_t>(0xC000 | (sequence * 0x9e3779b97f4a7c15ULL) >> 50);
}

std::uint8_t state_of(std::uint64_t sequence) {
  return static_cast<std::uint8_t>(sequence / TrafficPeer::kRemembered & 0x7F);
}

}  // namespace

std::uint32_t TrafficPeer::smallest_frame(const PeerSettings& s) {
  const std::uint32_t header = s.header ? static_cast<std::uint32_t>(s.header(0, 1514).size()) : kUdpHeaderBytes;
  return std::max(64U, header + kStampBytes + kCrc);
}

Expected<void> TrafficPeer::check(const PeerSettings& s) {
  if (s.flows < 1 || s.flows > 65536) return fail("flows: {}; allowed: 1 to 65536", s.flows);
  if (s.sizes.empty() || s.sizes.size() > 256) return fail("sizes: {}; allowed: 1 to 256 of them", s.sizes.size());
  const std::uint32_t least = smallest_frame(s);
  for (const std::uint32_t size : s.sizes) {
    if (size < least || size > s.largest) {
      return fail("size: {}; allowed: {} to {} octets, with CRC", size, least, s.largest);
    }
  }
  if (s.window > kRemembered) return fail("window: {}; allowed: at most {}", s.window, kRemembered);
  return {};
}

std::vector<std::uint8_t> TrafficPeer::udp_header(std::uint32_t flow, std::uint32_t frame_bytes) {
  std::vector<std::uint8_t> header(kUdpHeaderBytes);
  std::uint8_t* const h = header.data();
  const std::uint8_t macs[12] = {0x02, 0x82, 0x59, 0x90, 0, 1, 0x02, 0, 0, 0, 0, 2};
  std::memcpy(h, macs, sizeof macs);
  wire::store_be16(h + 12, wire::ethernet::kTypeIpv4);
  std::uint8_t* const ip = h + 14;
  ip[0] = 0x45;
  wire::store_be16(ip + 2, frame_bytes - 14);
  ip[8] = 64;
  ip[9] = 17;
  const std::uint8_t addresses[8] = {10,
                                     static_cast<std::uint8_t>(flow >> 16),
                                     static_cast<std::uint8_t>(flow >> 8),
                                     static_cast<std::uint8_t>(flow),
                                     10,
                                     255,
                                     0,
                                     1};
  std::memcpy(ip + 12, addresses, sizeof addresses);
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 20; i += 2) sum += wire::load_be16(ip + i);
  sum = (sum & 0xFFFF) + (sum >> 16);
  wire::store_be16(ip + 10, ~((sum & 0xFFFF) + (sum >> 16)) & 0xFFFF);
  wire::store_be16(ip + 20, 1024 + flow % 60000);
  wire::store_be16(ip + 22, 9);
  wire::store_be16(ip + 24, frame_bytes - 34);  // UDP without a checksum
  return header;
}

std::vector<gpu::FlowFilter> TrafficPeer::filters(std::uint32_t flows, std::uint32_t rings) {
  std::vector<gpu::FlowFilter> all;
  for (std::uint32_t flow = 0; flow < flows && flow < 128; ++flow) {
    all.push_back({.source = {10, static_cast<std::uint8_t>(flow >> 16), static_cast<std::uint8_t>(flow >> 8),
                              static_cast<std::uint8_t>(flow)},
                   .destination = {10, 255, 0, 1},
                   .source_port = static_cast<std::uint16_t>(1024 + flow % 60000),
                   .destination_port = 9,
                   .udp = true,
                   .ring = flow % rings});
  }
  return all;
}

TrafficPeer::TrafficPeer(PeerSettings settings)
    : settings_(std::move(settings)),
      random_(settings_.seed),
      series_(settings_.series_interval_ns, settings_.series_interval_ns == 0 ? 0 : kSeriesPoints),
      pool_(kPoolBytes + kMostFrameBytes),
      packets_(kRemembered),
      flow_order_(settings_.flows) {
  if (!settings_.header) settings_.header = &TrafficPeer::udp_header;
  Random octets(settings_.seed ^ 0x5eed);
  for (std::uint8_t& octet : pool_) octet = static_cast<std::uint8_t>(octets.next());
  std::uint32_t largest = 0;
  for (const std::uint32_t size : settings_.sizes) largest = std::max(largest, size - kCrc);
  header_bytes_ = static_cast<std::uint32_t>(settings_.header(0, largest).size());
  header_stride_ = (header_bytes_ + 15) / 16 * 16;
  headers_.resize(std::size_t{header_stride_} * settings_.flows * settings_.sizes.size());
  for (std::uint32_t flow = 0; flow < settings_.flows; ++flow) {
    for (std::uint32_t size = 0; size < settings_.sizes.size(); ++size) {
      const auto made = settings_.header(flow, settings_.sizes[size] - kCrc);
      std::memcpy(const_cast<std::uint8_t*>(header(flow, size)), made.data(), header_bytes_);
    }
  }
  if (settings_.returned != Returned::kPayload) settings_.stamp_at = header_bytes_;
  batch_stride_ = (largest + 63) / 64 * 64 + 64;  // not a power of two: no two frames in the same set of a cache
  batch_.resize(std::size_t{batch_stride_} * kBatch);
}

bool TrafficPeer::done() const {
  return settings_.packets != 0 && counters_.sent.get() == settings_.packets &&
         counters_.returned.get() + counters_.written_off.get() >= settings_.packets;
}

std::uint64_t TrafficPeer::due(std::uint64_t now_ns) const {
  if (start_ns_ == 0 || now_ns <= start_ns_ || settings_.packets_per_s <= 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(now_ns - start_ns_) * 1e-9 * settings_.packets_per_s);
}

// How many packets may leave now.
std::uint32_t TrafficPeer::allowed(std::uint32_t max, std::uint64_t now_ns) {
  if (start_ns_ == 0) start_ns_ = moved_ns_ = now_ns;
  std::uint64_t n = std::min(max, kBatch);
  if (settings_.packets != 0) n = std::min(n, settings_.packets - next_);
  if (settings_.packets_per_s > 0) {
    const double due = static_cast<double>(now_ns - start_ns_) * 1e-9 * settings_.packets_per_s;
    n = std::min(n, static_cast<std::uint64_t>(std::max(0.0, due - static_cast<double>(next_))));
  }
  if (under_way_ != 0 && now_ns - moved_ns_ > settings_.lost_after_ns && (settings_.window != 0 || n == 0)) {
    counters_.written_off.add(under_way_);  // a caller that waits for them would never end
    under_way_ = 0;
    moved_ns_ = now_ns;
  }
  if (settings_.window != 0) n = std::min(n, settings_.window - std::min<std::uint64_t>(under_way_, settings_.window));
  return static_cast<std::uint32_t>(n);
}

// The send time in a packet's stamp: when it was due, if only a rate decides. Otherwise a NIC that takes no packet for
// a while would hide its pause from the latencies (coordinated omission).
std::uint64_t TrafficPeer::stamp_of(std::uint64_t sequence, std::uint64_t now_ns) const {
  if (settings_.packets_per_s <= 0 || settings_.window != 0) return now_ns;
  const double since_start_ns = static_cast<double>(sequence + 1) * 1e9 / settings_.packets_per_s;
  return std::min(now_ns, start_ns_ + static_cast<std::uint64_t>(since_start_ns));
}

std::uint32_t TrafficPeer::arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) {
  const std::uint32_t n = allowed(max, now_ns);
  std::uint64_t octets = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t flow = settings_.flows == 1 ? 0 : random_.below(settings_.flows);
    const std::uint32_t size =
        settings_.sizes.size() == 1 ? 0 : random_.below(static_cast<std::uint32_t>(settings_.sizes.size()));
    packets_[next_ % kRemembered] = {static_cast<std::uint16_t>(flow), static_cast<std::uint8_t>(size),
                                     static_cast<std::uint8_t>(kUnderWay | state_of(next_))};
    std::uint8_t* const frame = &batch_[std::size_t{batch_stride_} * i];
    frames[i] = {frame, settings_.sizes[size] - kCrc};
    copy_octets(frame, header(flow, size), header_bytes_);
    if (settings_.varied_port_at != 0) wire::store_be16(frame + settings_.varied_port_at, varied_port(next_));
    const std::uint64_t time = stamp_of(next_, now_ns);
    const std::uint16_t check = stamp_check(next_, time, settings_.seed);
    std::uint8_t* const stamp = frame + header_bytes_;
    std::memcpy(stamp, &next_, 8);
    std::memcpy(stamp + 8, &time, 8);
    std::memcpy(stamp + 16, &check, 2);
    if (const std::uint32_t rest = frames[i].bytes - header_bytes_ - kStampBytes; rest != 0) {
      std::memcpy(stamp + kStampBytes, payload(next_), rest);
    }
    octets += frames[i].bytes;
    ++next_;
  }
  if (n == 0) return 0;
  under_way_ += n;
  counters_.sent.add(n);
  counters_.sent_octets.add(octets);
  return n;
}

std::uint32_t TrafficPeer::leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) {
  for (std::uint32_t i = 0; i < n; ++i) judge(frames[i], now_ns);
  moved_ns_ = now_ns;
  return n;
}

void TrafficPeer::judge(const WireFrame& frame, std::uint64_t now_ns) {
  std::uint64_t sequence = 0;
  std::uint64_t time = 0;
  std::uint16_t check = 0;
  if (frame.bytes < settings_.stamp_at + kStampBytes) {
    counters_.foreign.add(1);
    return;
  }
  const std::uint8_t* const stamp = frame.octets + settings_.stamp_at;
  std::memcpy(&sequence, stamp, 8);
  std::memcpy(&time, stamp + 8, 8);
  std::memcpy(&check, stamp + 16, 2);
  if (sequence >= next_ || check != stamp_check(sequence, time, settings_.seed)) {
    counters_.foreign.add(1);
    return;
  }
  Packet& packet = packets_[sequence % kRemembered];
  if (packet.state != (kUnderWay | state_of(sequence))) {
    counters_.duplicated.add(1);  // or so late that its record is gone
    return;
  }
  packet.state = state_of(sequence);
  if (under_way_ != 0) --under_way_;  // packets counted as lost are no longer under way
  counters_.returned.add(1);
  counters_.returned_octets.add(frame.bytes);
  if (!unchanged(frame, packet, sequence)) counters_.changed.add(1);
  if (order_.see(sequence)) counters_.reordered.add(1);
  if (flow_order_[packet.flow].see(sequence)) counters_.reordered_in_flow.add(1);
  const std::uint64_t latency = now_ns - time;
  latency_.record(latency);
  series_.add(time - start_ns_, latency);
}

bool TrafficPeer::unchanged(const WireFrame& frame, const Packet& packet, std::uint64_t sequence) const {
  const std::uint8_t* const wanted = header(packet.flow, packet.size);
  const std::uint32_t sent = settings_.sizes[packet.size] - kCrc;
  const std::uint32_t rest = sent - header_bytes_ - kStampBytes;
  switch (settings_.returned) {
    case Returned::kSame:
      if (frame.bytes != sent || !same_octets(frame.octets, wanted, header_bytes_)) return false;
      break;
    case Returned::kMacsSwapped:
      if (frame.bytes != sent || std::memcmp(frame.octets, wanted + 6, 6) != 0 ||
          std::memcmp(frame.octets + 6, wanted, 6) != 0 ||
          std::memcmp(frame.octets + 12, wanted + 12, header_bytes_ - 12) != 0) {
        return false;
      }
      break;
    case Returned::kPayload:
      // Short frames have padding at the end.
      if (frame.bytes < settings_.stamp_at + kStampBytes + rest) return false;
      break;
  }
  return !settings_.check_payload || rest == 0 ||
         std::memcmp(frame.octets + settings_.stamp_at + kStampBytes, payload(sequence), rest) == 0;
}

}  // namespace splitplane::nicmodel
