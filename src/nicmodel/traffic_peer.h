// The wire's far end as a tester. It makes numbered, stamped frames of seeded flows and sizes, in a closed loop (a
// window of packets under way) or an open one (a rate, or as fast as the NIC takes them). It checks what comes back:
// lost, duplicated, reordered overall (the GPU paper's metric) and within a flow, changed, late.
//
//   | header, made per flow and size | sequence number 8 | time 8 | check 2 | octets of a seeded pool ... |
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/counter.h"
#include "base/expected.h"
#include "base/histogram.h"
#include "base/random.h"
#include "gpu/nic/nic_82599.h"
#include "gpu/rings/reorder.h"
#include "nicmodel/latency_series.h"
#include "nicmodel/wire.h"

namespace splitplane::nicmodel {

// What the driver's function does to a frame.
enum class Returned : std::uint8_t {
  kSame,         // echo: every octet as it was
  kMacsSwapped,  // source and destination are swapped
  kPayload,      // other headers; stamp and payload are `stamp_at` octets into the frame
};

struct PeerSettings {
  using Header = std::function<std::vector<std::uint8_t>(std::uint32_t flow, std::uint32_t frame_bytes)>;

  std::uint64_t seed = 1;
  std::uint32_t flows = 64;                  // at most 65,536
  std::vector<std::uint32_t> sizes = {64};   // of frames, with CRC
  std::uint32_t largest = 9728;              // the largest that they may have
  std::uint64_t packets = 0;                 // 0: no end
  std::uint32_t window = 0;                  // packets under way at most; 0: open loop
  double packets_per_s = 0;                  // 0: as fast as the NIC takes them
  std::uint64_t lost_after_ns = 50'000'000;  // closed loop: without a return for this time, packets under way are lost
  bool check_payload = true;
  Returned returned = Returned::kSame;
  std::uint32_t stamp_at = 0;        // of kPayload
  Header header;                     // none: Ethernet, IPv4 and UDP, see udp_header()
  std::uint32_t varied_port_at = 0;  // of kPayload: a port, this far into the frame, changes with each packet; 0: none
  std::uint64_t series_interval_ns = 0;  // 0: no series
};

// Readable at any time; latencies only when the model has stopped.
struct PeerCounters {
  Counter sent, sent_octets;          // octets without CRC
  Counter returned, returned_octets;  // each packet once
  Counter duplicated, reordered, reordered_in_flow;
  Counter changed;      // header, length or payload is wrong
  Counter foreign;      // not a frame of this peer
  Counter written_off;  // closed loop: counted as lost
};

class TrafficPeer final : public Wire {
 public:
  static constexpr std::uint32_t kBatch = 32;
  static constexpr std::uint32_t kStampBytes = 18;
  static constexpr std::uint32_t kRemembered = 1U << 20;  // packets under way at most

  // The error is one sentence.
  static Expected<void> check(const PeerSettings& settings);
  // The smallest frame with room for the headers and the stamp, with CRC.
  [[nodiscard]] static std::uint32_t smallest_frame(const PeerSettings& settings);
  explicit TrafficPeer(PeerSettings settings);

  [[nodiscard]] std::uint32_t arrive(WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override;
  [[nodiscard]] std::uint32_t leave(const WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override;

  [[nodiscard]] const PeerCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t lost() const { return counters_.sent.get() - counters_.returned.get(); }
  // Open loop: how many packets the rate asks for until this time. It is 0 in a closed loop and before the first
  // arrive().
  [[nodiscard]] std::uint64_t due(std::uint64_t now_ns) const;
  // True if all packets were sent, and came back or count as lost.
  [[nodiscard]] bool done() const;
  [[nodiscard]] const Histogram& latency() const { return latency_; }
  [[nodiscard]] const LatencySeries& series() const { return series_; }
  // Filters that give flow i ring i % rings, for the first 128 flows with the default header.
  [[nodiscard]] static std::vector<gpu::FlowFilter> filters(std::uint32_t flows, std::uint32_t rings);

  // The default header of a flow: addresses 10.x.y.z -> 10.255.0.1, UDP ports 1024 + flow -> 9.
  [[nodiscard]] static std::vector<std::uint8_t> udp_header(std::uint32_t flow, std::uint32_t frame_bytes);
  static constexpr std::uint32_t kUdpHeaderBytes = 42;

 private:
  // The record of a packet under way, by the low bits of its sequence number.
  struct Packet {
    std::uint16_t flow = 0;
    std::uint8_t size = 0;
    std::uint8_t state = 0;  // bit 7: under way; otherwise the next bits of the sequence number
  };
  [[nodiscard]] std::uint32_t allowed(std::uint32_t max, std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t stamp_of(std::uint64_t sequence, std::uint64_t now_ns) const;
  void judge(const WireFrame& frame, std::uint64_t now_ns);
  [[nodiscard]] bool unchanged(const WireFrame& frame, const Packet& packet, std::uint64_t sequence) const;
  [[nodiscard]] const std::uint8_t* payload(std::uint64_t sequence) const { return &pool_[sequence * 64 % kPoolBytes]; }
  [[nodiscard]] const std::uint8_t* header(std::uint32_t flow, std::uint32_t size) const {
    return &headers_[(std::size_t{flow} * settings_.sizes.size() + size) * header_stride_];
  }

  static constexpr std::size_t kPoolBytes = 1U << 15;
  static constexpr std::uint32_t kMostFrameBytes = 16 * 1024;

  PeerSettings settings_;
  Random random_;
  PeerCounters counters_;
  Histogram latency_;
  LatencySeries series_;
  std::vector<std::uint8_t> headers_, pool_, batch_;
  std::uint32_t header_bytes_ = 0, header_stride_ = 0, batch_stride_ = 0;
  std::vector<Packet> packets_;
  gpu::ReorderMeter order_;
  std::vector<gpu::ReorderMeter> flow_order_;
  std::uint64_t next_ = 0;  // to be sent
  std::uint64_t under_way_ = 0;
  std::uint64_t start_ns_ = 0, moved_ns_ = 0;
};

}  // namespace splitplane::nicmodel
