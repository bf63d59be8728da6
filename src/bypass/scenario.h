// One run of host bypass, or of a mode that it is compared with, on the soft NIC: its settings and its results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/histogram.h"
#include "base/outcome_list.h"
#include "gpu/rings/ring.h"
#include "nicmodel/latency_series.h"

namespace splitplane::bypass {

// clang-format off
#define SPLITPLANE_BYPASS_MODES(X)                                                                            \
  X(bypass, "host bypass: the ring engines, on CPU threads in the GPU's place")                               \
  X(plain, "a plain poll-mode driver, run to completion on one CPU thread: the paper's DPDK baseline")        \
  X(staging, "CPU ring, copy, function, copy back: the classic way to a GPU, with memcpy for the bus")        \
  X(gpu_e1, "host bypass on a GPU, rings and slots in its memory, the NIC's DMA by copy engine")              \
  X(gpu_e2, "host bypass on a GPU, rings and slots in host memory mapped into it")                            \
  X(gpu_e3, "host bypass on a GPU, rings and slots in its memory, the NIC's DMA by processors of it")         \
  X(gpu_e4, "host bypass on a GPU, the NIC a kernel beside it: stress, no bus")                               \
  X(gpu_staging, "CPU ring, copy to the GPU, a kernel for each batch, copy back")
#define SPLITPLANE_BYPASS_FUNCTIONS(X)                                              \
  X(echo, "out as it came in (the paper's)")                                        \
  X(macswap, "back to whom it came from")                                           \
  X(gnb_headers, "GTP-U off, airhdr, RLC, PDCP and SDAP headers on")                \
  X(pdcp_nea2, "gnb_headers, and the SDU ciphered by 128-NEA2")
// clang-format on
SPLITPLANE_OUTCOMES(Mode, SPLITPLANE_BYPASS_MODES)
SPLITPLANE_OUTCOMES(FunctionKind, SPLITPLANE_BYPASS_FUNCTIONS)

inline constexpr std::uint32_t kRssRings = 16;      // more rings need a filter for each flow (82599 7.1.2.5) ...
inline constexpr std::uint32_t kFlowFilters = 128;  // ... and the NIC has this many filters

// Of a link of 10 Gbit/s: each frame has a preamble before it and a gap after it, 20 octets (IEEE 802.3 4.4.2).
inline constexpr double kWireBitsPerSecond = 10e9;
inline constexpr std::uint32_t kPreambleAndGapBytes = 20;
[[nodiscard]] constexpr double wire_packets_per_second(std::uint32_t frame_bytes,
                                                       double bits_per_second = kWireBitsPerSecond) {
  return bits_per_second / 8 / (frame_bytes + kPreambleAndGapBytes);
}
// The part of the due packets that a generator must have sent; otherwise the row does not show the offered load.
inline constexpr double kKeptRate = 0.995;

// The time without progress that counts as a fault. Where threads share cores, engines and NIC wait for their turn.
inline constexpr std::uint64_t kEngineStallNs = 1'000'000'000, kWatchdogNs = 2'000'000'000;

struct Scenario {
  Mode mode = Mode::bypass;
  FunctionKind function = FunctionKind::echo;
  gpu::RingSettings ring{.stall_within_ns = kEngineStallNs};
  std::uint32_t rings = 1;
  std::uint32_t frame_bytes = 64;  // with CRC
  std::uint32_t flows = 256;
  double packets_per_second = 0;  // open loop; 0: closed loop
  std::uint32_t window = 128;     // closed loop: packets under way; more than a ring's descriptors may be lost
  std::uint64_t packets = 0;      // ends the run early; 0: no limit
  double seconds = 1;
  double warm_up_seconds = 0.1;
  double bin_seconds = 0.01;  // of the series over time
  std::uint32_t staging_batch = 64;
  bool thread_per_engine = false;  // bypass: two threads a ring as on a device; false: one thread for all
  // One sender for all rings restores the order of the packets, by the number that the traffic writes into them. The
  // warm-up would have separate numbers, so there is none.
  bool restore_order = false;
  // The input of RSS. With ports, a tunnel whose outer source port changes is on all rings, and its order may change.
  // Without ports, all packets between two addresses are on one ring, in order.
  bool rss_ports = true;
  // Off: a ring without descriptors blocks all frames behind it in the packet buffer, as in a NIC after reset, and the
  // buffer drops. On: the ring itself drops.
  bool drop_en = true;
  std::uint64_t seed = 1;
};

// True for a mode that only the CUDA program runs; the second one: true if the ring engines are the driver.
[[nodiscard]] constexpr bool needs_gpu(Mode mode) {
  return mode >= Mode::gpu_e1;
}
[[nodiscard]] constexpr bool has_engines(Mode mode) {
  return mode != Mode::plain && mode != Mode::staging && mode != Mode::gpu_staging;
}

[[nodiscard]] constexpr bool is_gnb(FunctionKind function) {
  return function == FunctionKind::gnb_headers || function == FunctionKind::pdcp_nea2;
}
// True if the traffic's G-PDUs change their outer source port. Then a bearer's packets are on several rings, each with
// a separate sender, and may leave in another order. That is counted and is no fault. The bearer's numbers are still
// used once each.
[[nodiscard]] constexpr bool spreads_bearers(const Scenario& s) {
  return is_gnb(s.function) && s.rings > 1 && s.rings <= kRssRings && s.rss_ports;
}

// The mode's name in the form that users write: with hyphens.
[[nodiscard]] std::string word_of(Mode mode);
[[nodiscard]] std::string word_of(FunctionKind function);
// Number of flows that the traffic really has.
[[nodiscard]] std::uint32_t flows_of(const Scenario& scenario);

struct Result {
  Scenario scenario;
  double seconds = 0;                               // measured
  std::uint64_t measured = 0, measured_octets = 0;  // packets that came back in this time, octets with CRC
  // Of the measured traffic, including packets that came back after its end: sent = received + lost.
  std::uint64_t sent = 0, received = 0, lost = 0;
  std::uint64_t due = 0;  // open loop: packets that the rate asks for in the same time
  std::uint64_t corrupt = 0, flow_disorder = 0, duplicated = 0;
  std::uint64_t reordered = 0;  // on the wire as a whole, the paper's metric
  Histogram latency;
  std::vector<nicmodel::LatencySeries::Point> series;
  // Of the whole run with its warm-up: sent = received + lost at the NIC + dropped + missing. A value below 0 means
  // that more packets count as lost than were.
  std::uint64_t lost_at_nic = 0, dropped = 0;
  std::int64_t missing = 0;
  // Of the whole run, for functions that number SDUs: frames with a number that another frame of the bearer had, and
  // numbers that no frame had.
  std::uint64_t sn_repeated = 0, sn_missing = 0;
  std::uint64_t restored_late = 0, restored_without = 0;  // restore_order: came too late; numbers given up
  std::uint64_t doorbells = 0, driver_packets = 0;   // tail writes and packets, both in both directions; measured time
  double host_cpu_seconds = 0, nic_cpu_seconds = 0;  // measured time
  std::uint64_t driver_faults = 0;                   // what the NIC model found against the datasheet
  std::vector<std::string> findings;                 // of the watchdog and the driver, each once
  bool slots_sound = true;

  [[nodiscard]] double mpps() const { return seconds > 0 ? static_cast<double>(measured) / seconds * 1e-6 : 0; }
  [[nodiscard]] double gbps() const {
    return seconds > 0 ? static_cast<double>(measured_octets) * 8 / seconds * 1e-9 : 0;
  }
  // The NIC's thread polls and only yields. If it had less than this of a core, another process had the rest.
  [[nodiscard]] bool had_cores() const {
    return scenario.mode == Mode::gpu_e4 || nic_cpu_seconds >= 0.9 * seconds;  // gpu-e4 has no such thread
  }
  // Open loop: true if the generator sent what the rate asked for. A packet that was due a moment ago is not late.
  [[nodiscard]] bool kept_rate() const {
    return due == 0 || static_cast<double>(sent) + 1 >= kKeptRate * static_cast<double>(due);
  }
  // True if the row is valid: the packets are sound, and the load was the one that the row names.
  [[nodiscard]] bool is_valid() const { return is_sound() && kept_rate(); }
  // True if there was no fault; overload may still have lost packets at the NIC.
  [[nodiscard]] bool is_sound() const {
    return findings.empty() && corrupt == 0 && (flow_disorder == 0 || spreads_bearers(scenario)) && duplicated == 0 &&
           missing == 0 && sn_repeated == 0 && sn_missing == 0 && driver_faults == 0 && slots_sound;
  }
};

// Adds a sentence that is not there yet.
void note(std::vector<std::string>& findings, std::string sentence);

// One sentence about the first invalid setting, if there is one.
[[nodiscard]] Expected<void> check(const Scenario& scenario);
// Without the checks of our own traffic, for runs with frames from elsewhere.
[[nodiscard]] Expected<void> check_driver(const Scenario& scenario);

// The progress of a run.
struct Live {
  double seconds = 0;
  std::uint64_t sent = 0, received = 0, lost_at_nic = 0, dropped = 0, doorbells = 0;
  bool warming_up = false;
  bool link_up = true;
};
// Called every 20 ms, with a real NIC every 100 ms; returning false ends the run.
using Observer = std::function<bool(const Live&)>;

}  // namespace splitplane::bypass
