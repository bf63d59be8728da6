#include "bypass/bench_wire.h"

#include <cstring>

#include "gpu/rings/pdcp_nea2.h"
#include "wire/gtpu.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace splitplane::bypass {
namespace {

using nicmodel::PeerSettings;
using nicmodel::Returned;
using nicmodel::TrafficPeer;

constexpr std::uint32_t kIpUdp = wire::ipv4::kMinHeaderBytes + wire::udp::kHeaderBytes;
constexpr std::uint32_t kTunnel = kIpUdp + wire::gtpu::kHeaderWithPscBytes;
// Each tunnel has a separate UPF address, so that its ring is known without its source port.
constexpr std::uint32_t kFirstUpf = 0x0a010000, kGnb = 0x0a000002, kServer = 0x0a0a0001, kFirstUe = 0x0a2d0000;
constexpr std::uint16_t kFirstPort = 20'000;
// The octets before the SDU on the air: Ethernet, airhdr, RLC AM and PDCP with 18-bit numbers, SDAP.
constexpr std::uint32_t kAirOverhead = 14 + 10 + 3 + 3 + 1;
constexpr std::uint32_t kSnBits = 18;

void write_ip_udp(std::uint8_t* at, std::uint32_t octets, std::uint32_t source, std::uint32_t destination,
                  std::uint16_t source_port, std::uint16_t destination_port) {
  const wire::ipv4::Header ip{
      .ttl = 64, .protocol = wire::ipv4::kProtocolUdp, .source = source, .destination = destination};
  const std::uint32_t payload = octets - static_cast<std::uint32_t>(wire::ipv4::kMinHeaderBytes);
  wire::ipv4::write({at, octets}, ip, payload);
  wire::udp::write({at + wire::ipv4::kMinHeaderBytes, payload}, source_port, destination_port,
                   payload - wire::udp::kHeaderBytes);
}

// The header that a UPF sends for flow f: the tunnel's TEID is f + 1. The peer changes the source port with each
// packet, as a UPF may (TS 29.281 4.4.2.0). So RSS spreads one tunnel over all rings.
std::vector<std::uint8_t> gtpu_header(std::uint32_t flow, std::uint32_t frame_bytes) {
  std::vector<std::uint8_t> frame = TrafficPeer::udp_header(flow, frame_bytes);
  frame.resize(std::max<std::size_t>(frame_bytes, 14 + kTunnel + kIpUdp));
  const auto outer = static_cast<std::uint32_t>(frame.size() - 14);
  const auto port = static_cast<std::uint16_t>(kFirstPort + flow % 40'000);
  std::uint8_t* p = &frame[14];
  write_ip_udp(p, outer, kFirstUpf + flow, kGnb, port, wire::gtpu::kPort);
  wire::gtpu::write_gpdu_psc_dl({p + kIpUdp, outer - kIpUdp}, Teid{flow + 1}, outer - kTunnel, Qfi{9});
  write_ip_udp(p + kTunnel, outer - kTunnel, kServer, kFirstUe + flow, 9, port);
  frame.resize(14 + kTunnel + kIpUdp);
  return frame;
}

PeerSettings settings_of(const Scenario& s, std::uint64_t seed) {
  PeerSettings peer{.seed = seed,
                    .flows = flows_of(s),
                    .sizes = {s.frame_bytes},
                    .largest = 1518,
                    .packets = s.packets,
                    .window = s.packets_per_second > 0 ? 0 : s.window,
                    .packets_per_s = s.packets_per_second,
                    .series_interval_ns = static_cast<std::uint64_t>(s.bin_seconds * 1e9)};
  if (s.function == FunctionKind::macswap) peer.returned = Returned::kMacsSwapped;
  if (is_gnb(s.function)) {
    peer.returned = Returned::kPayload;
    peer.stamp_at = kAirOverhead + kIpUdp;
    peer.header = &gtpu_header;
    peer.varied_port_at = 14 + wire::ipv4::kMinHeaderBytes;
  }
  return peer;
}

}  // namespace

std::vector<gpu::Aes128Key> bench_keys(const Scenario& s) {
  std::vector<gpu::Aes128Key> keys(gpu::PdcpNea2::ue_of(flows_of(s)) + 1);
  for (std::uint32_t ue = 0; ue < keys.size(); ++ue) {
    std::uint8_t octets[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    wire::store_be32(octets + 12, wire::load_be32(octets + 12) ^ ue);
    keys[ue] = gpu::expand_key(gpu::kAesTable, octets);
  }
  return keys;
}

std::uint32_t smallest_frame(const Scenario& s) {
  return TrafficPeer::smallest_frame(settings_of(s, s.seed));
}

Expected<void> BenchWire::check(const Scenario& scenario) {
  return TrafficPeer::check(settings_of(scenario, scenario.seed));
}

BenchWire::BenchWire(const Scenario& s)
    : numbered_(is_gnb(s.function)),
      ciphered_(s.function == FunctionKind::pdcp_nea2),
      keys_(bench_keys(s)),
      numbers_(flows_of(s) + 1, kSnBits),
      plain_(TrafficPeer::kBatch) {
  PeerSettings warm_up = settings_of(s, s.seed + 1);
  warm_up.packets = 0;
  warm_up.series_interval_ns = 0;
  warm_up_ = std::make_unique<TrafficPeer>(std::move(warm_up));
  measured_ = std::make_unique<TrafficPeer>(settings_of(s, s.seed));
  current_ = warm_up_.get();
}

std::vector<gpu::FlowFilter> BenchWire::filters(const Scenario& s) {
  if (s.rings <= kRssRings) return {};
  if (!is_gnb(s.function)) return TrafficPeer::filters(flows_of(s), s.rings);
  std::vector<gpu::FlowFilter> all;
  for (std::uint32_t flow = 0; flow < flows_of(s); ++flow) {
    gpu::FlowFilter filter{.destination_port = wire::gtpu::kPort, .any_source_port = true, .ring = flow % s.rings};
    wire::store_be32(filter.source.data(), kFirstUpf + flow);
    wire::store_be32(filter.destination.data(), kGnb);
    all.push_back(filter);
  }
  return all;
}

std::uint32_t BenchWire::arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) {
  return paused_ ? 0 : current_->arrive(frames, max, now_ns);
}

std::uint32_t BenchWire::leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) {
  if (!numbered_) return current_->leave(frames, n, now_ns);
  n = std::min(n, TrafficPeer::kBatch);
  nicmodel::WireFrame plain[TrafficPeer::kBatch];
  for (std::uint32_t i = 0; i < n; ++i) {
    plain[i] = frames[i];  // a frame that is no air frame goes to the peer unchanged, which does not recognise it
    const auto air = take_number(frames[i]);
    if (!ciphered_ || !air) continue;
    decipher(frames[i], *air, plain_[i]);
    plain[i] = {plain_[i].data(), frames[i].bytes};
  }
  return current_->leave(plain, n, now_ns);
}

std::optional<BenchWire::AirFrame> BenchWire::take_number(const nicmodel::WireFrame& frame) {
  if (frame.bytes <= kAirOverhead || wire::load_be16(frame.octets + 12) != wire::ethernet::kTypeAirhdr) return {};
  const std::uint32_t bearer = wire::load_be32(frame.octets + 14 + 4);
  if (bearer == 0 || bearer >= numbers_.bearers()) return {};
  const std::uint32_t sn = wire::load_be24(frame.octets + kAirOverhead - 4) & ((1U << kSnBits) - 1);
  return AirFrame{bearer, numbers_.see(bearer, sn)};
}

void BenchWire::decipher(const nicmodel::WireFrame& frame, const AirFrame& air,
                         std::vector<std::uint8_t>& plain) const {
  plain.assign(frame.octets, frame.octets + frame.bytes);
  const gpu::Nea2Message message{air.count, gpu::PdcpNea2::bearer_field(air.bearer)};
  gpu::nea2(0, 1, gpu::kAesTable, keys_[gpu::PdcpNea2::ue_of(air.bearer)], message, &plain[kAirOverhead],
            frame.bytes - kAirOverhead);
}

}  // namespace splitplane::bypass
