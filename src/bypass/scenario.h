// One run of host bypass, or of what it is compared with, on the soft NIC: what is asked for and what came out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/outcome_list.h"
#include "gpu/rings/ring.h"
#include "nicmodel/latency.h"

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
inline constexpr std::uint32_t kFlowFilters = 128;  // ... of which there are so many

// Of a link of 10 Gbit/s: each frame has a preamble before it and a gap behind it, 20 octets (IEEE 802.3 4.4.2).
inline constexpr double kWireBitsPerSecond = 10e9;
inline constexpr std::uint32_t kPreambleAndGapBytes = 20;
[[nodiscard]] constexpr double wire_packets_per_second(std::uint32_t frame_bytes,
                                                       double bits_per_second = kWireBitsPerSecond) {
  return bits_per_second / 8 / (frame_bytes + kPreambleAndGapBytes);
}
// The part of what was due that a generator must have sent, or the row says nothing about the offered load.
inline constexpr double kKeptRate = 0.995;

// Without progress, before anybody calls it a fault: where threads share cores, engines and NIC wait for their turn.
inline constexpr std::uint64_t kEngineStallNs = 1'000'000'000, kWatchdogNs = 2'000'000'000;

struct Scenario {
  Mode mode = Mode::bypass;
  FunctionKind function = FunctionKind::echo;
  gpu::RingSettings ring{.stall_within_ns = kEngineStallNs};
  std::uint32_t rings = 1;
  std::uint32_t frame_bytes = 64;  // with CRC
  std::uint32_t flows = 256;
  double packets_per_second = 0;  // open loop; 0: closed loop
  std::uint32_t window = 128;     // closed loop: packets under way; more than a ring has descriptors may be lost
  std::uint64_t packets = 0;      // ends the run before its time; 0: no limit
  double seconds = 1;
  double warm_up_seconds = 0.1;
  double bin_seconds = 0.01;  // of the series over time
  std::uint32_t staging_batch = 64;
  bool thread_per_engine = false;  // bypass: two threads a ring as on a device; otherwise one thread for all
  // One sender for all rings puts the packets in their order again, by the number that the traffic writes into them.
  // The warm-up has numbers of its own, so there is none.
  bool restore_order = false;
  // What RSS spreads by. With ports a tunnel whose outer source port changes is on all rings, and its order with it;
  // without, all between two addresses is on one ring, in its order.
  bool rss_ports = true;
  // Off: a ring without descriptors holds up all behind it in the packet buffer, as a NIC out of the reset does, and
  // the buffer drops. On: the ring itself drops.
  bool drop_en = true;
  std::uint64_t seed = 1;
};

// A mode that only the CUDA program runs; one in which the ring engines are the driver.
[[nodiscard]] constexpr bool needs_gpu(Mode mode) {
  return mode >= Mode::gpu_e1;
}
[[nodiscard]] constexpr bool has_engines(Mode mode) {
  return mode != Mode::plain && mode != Mode::staging && mode != Mode::gpu_staging;
}

[[nodiscard]] constexpr bool is_gnb(FunctionKind function) {
  return function == FunctionKind::gnb_headers || function == FunctionKind::pdcp_nea2;
}
// The traffic's G-PDUs change their outer source port: a bearer's packets are on several rings, each with a sender of
// its own, and what leaves may change its order. It is counted, and no fault; its numbers are given once all the same.
[[nodiscard]] constexpr bool spreads_bearers(const Scenario& s) {
  return is_gnb(s.function) && s.rings > 1 && s.rings <= kRssRings && s.rss_ports;
}

// The same names as people write them: with hyphens.
[[nodiscard]] std::string word_of(Mode mode);
[[nodiscard]] std::string word_of(FunctionKind function);
// Of the frames that the traffic may have: what the function needs has room in them.
[[nodiscard]] std::uint32_t smallest_frame(const Scenario& scenario);
// Flows that the traffic really has.
[[nodiscard]] std::uint32_t flows_of(const Scenario& scenario);

struct Result {
  Scenario scenario;
  double seconds = 0;                               // measured
  std::uint64_t measured = 0, measured_octets = 0;  // packets that came back in this time, octets with CRC
  // Of the measured traffic, with what came back after its end: sent = received + lost.
  std::uint64_t sent = 0, received = 0, lost = 0;
  std::uint64_t due = 0;  // open loop: what the rate asked for in the same time
  std::uint64_t corrupt = 0, flow_disorder = 0, duplicated = 0;
  std::uint64_t reordered = 0;  // on the wire as a whole, the paper's metric
  nicmodel::LatencyHistogram latency;
  std::vector<nicmodel::LatencySeries::Point> series;
  // Of the whole run, warm-up included: sent = received + lost at the NIC + dropped + missing. Below 0: more is counted
  // as lost than was.
  std::uint64_t lost_at_nic = 0, dropped = 0;
  std::int64_t missing = 0;
  // Of the whole run too, of functions that number SDUs: frames whose number another frame of the bearer had, and
  // numbers that no frame had.
  std::uint64_t sn_repeated = 0, sn_missing = 0;
  std::uint64_t restored_late = 0, restored_without = 0;  // restore_order: came too late; were not waited for longer
  std::uint64_t doorbells = 0, driver_packets = 0;   // tail writes and packets, both in both directions; measured time
  double host_cpu_seconds = 0, nic_cpu_seconds = 0;  // measured time
  std::uint64_t driver_faults = 0;                   // what the NIC model says the datasheet forbids
  std::vector<std::string> findings;                 // the watchdog's and the driver's, each once
  bool slots_sound = true;

  [[nodiscard]] double mpps() const { return seconds > 0 ? static_cast<double>(measured) / seconds * 1e-6 : 0; }
  [[nodiscard]] double gbps() const {
    return seconds > 0 ? static_cast<double>(measured_octets) * 8 / seconds * 1e-9 : 0;
  }
  // The NIC's thread polls and only yields: less than this of a core, and something else had the rest.
  [[nodiscard]] bool had_cores() const {
    return scenario.mode == Mode::gpu_e4 || nic_cpu_seconds >= 0.9 * seconds;  // gpu-e4 has no such thread
  }
  // Open loop: the generator sent what the rate asked for. A packet that was due a moment ago is not late.
  [[nodiscard]] bool kept_rate() const {
    return due == 0 || static_cast<double>(sent) + 1 >= kKeptRate * static_cast<double>(due);
  }
  // The row counts: nothing is wrong with the packets, and the load was what the row says.
  [[nodiscard]] bool is_valid() const { return is_sound() && kept_rate(); }
  // Nothing wrong happened; overload may still have lost packets at the NIC.
  [[nodiscard]] bool is_sound() const {
    return findings.empty() && corrupt == 0 && (flow_disorder == 0 || spreads_bearers(scenario)) && duplicated == 0 &&
           missing == 0 && sn_repeated == 0 && sn_missing == 0 && driver_faults == 0 && slots_sound;
  }
};

// Adds a sentence that is not there yet.
void note(std::vector<std::string>& findings, std::string sentence);

// One sentence about the first setting that cannot be, or nothing wrong.
[[nodiscard]] Expected<void> check(const Scenario& scenario);
// Without what concerns own traffic, where frames are those of others.
[[nodiscard]] Expected<void> check_driver(const Scenario& scenario);

// How things are while a run goes on.
struct Live {
  double seconds = 0;
  std::uint64_t sent = 0, received = 0, lost_at_nic = 0, dropped = 0, doorbells = 0;
  bool warming_up = false;
  bool link_up = true;
};
// Called every 20 ms, with a card every 100 ms; false ends the run.
using Observer = std::function<bool(const Live&)>;

// Runs one of the modes without a GPU on CPU threads of this process.
[[nodiscard]] Expected<Result> run_on_cpu(const Scenario& scenario, const Observer& observer = {});

}  // namespace splitplane::bypass
