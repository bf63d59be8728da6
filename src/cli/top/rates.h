// Two answers to `stats`, and the time between them, as rates: what `splitplane top` shows. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/params.h"

namespace splitplane::app {

struct StageRate {
  std::string worker, stage;
  double packets = 0;                       // a second
  std::optional<double> cycles_per_packet;  // of the packets timed between the two answers
  std::uint64_t total = 0;
  // Its part of the worker's cycles a received packet. The parts of all stages of a worker add up to those.
  std::optional<double> part = std::nullopt;
};

// The stage that no probe times: what a worker's busy cycles are without its other stages. Mostly the driver's receive.
inline constexpr const char* kReceiveStage = "receive";
inline constexpr const char* kReceiveText = "receive, and the rest of the round: timers, commands, copies";

struct DropRate {
  std::string worker, reason;
  double packets = 0;
  std::uint64_t total = 0;
};

struct WorkerRate {
  std::string name;
  std::uint64_t core = 0;
  double received = 0, transmitted = 0, dropped = 0;
  std::optional<double> cycles_per_packet;  // busy cycles by packets received
  double busy = 0, idle = 0, asleep = 0;    // shares of the time, 0 to 1
  std::optional<double> cpu;                // that the thread was on a CPU, in the kernel or not
  std::uint64_t silent_s = 0;               // it has made no round for so long
};

struct PortRate {
  std::string name;
  double rx_packets = 0, tx_packets = 0, rx_bits = 0, tx_bits = 0, missed = 0, errors = 0;
  std::uint64_t missed_total = 0, errors_total = 0;  // errors: both ways, and packets there was no buffer for
};

struct BearerRate {
  std::uint64_t id = 0;
  double dl_packets = 0, ul_packets = 0, dl_bits = 0, ul_bits = 0, dropped = 0;
  std::uint64_t dl_total = 0, ul_total = 0;
  std::uint64_t drb = 0;  // in a session with several bearers; else 0
  std::string flows;      // of that DRB
  std::string card;       // where it lives; empty: on the host
};

// A loop of the buffering service: the SDUs that it looks after.
struct BufferingRate {
  std::string name;
  std::uint64_t held = 0;                                            // now
  double told = 0, acknowledged = 0, withdrawn = 0, sent_again = 0;  // a second
  std::uint64_t sent_again_total = 0;
};

// Of an instance behind cards: where its bearers live, and how they move (docs/design/placement.md).
struct PlacementRate {
  std::string mode;
  std::uint64_t bearers = 0, on_cards = 0, pinned = 0;  // now
  double load_on_cards = 0;                             // a share, 0 to 1
  double moves = 0;                                     // a second, both ways
  std::uint64_t to_card = 0, to_host = 0, failed = 0, refused = 0;
  std::uint64_t held = 0, longest_hold_us = 0;  // packets that waited for a move of their bearer, and how long at most
};

// A server behind a guard.
struct GuardRate {
  std::string name, mode, state;
  double syns = 0, unknown = 0, challenged = 0, proved = 0, dropped = 0;  // a second
  std::uint64_t half_open_percent = 0, armings = 0;                       // now; times so far
};

// The tables of a guard, now.
struct GuardTables {
  std::uint64_t sources = 0, source_entries = 0, flows = 0, flow_entries = 0;
};

struct Rates {
  double seconds = 0;
  std::uint64_t bearers = 0;
  bool balanced = true;
  std::vector<WorkerRate> workers;
  std::vector<StageRate> stages;
  std::vector<DropRate> drops;
  std::vector<PortRate> ports;
  std::optional<PlacementRate> placement;  // absent: no card
  std::vector<BufferingRate> buffering;    // of the buffering service alone
  std::vector<GuardRate> guarded;          // of a guard alone
  std::optional<GuardTables> guard;        // absent: it is no guard
};

// A counter that went down belongs to an instance that began anew: it counts from zero. Members that are missing or of
// another type count as zero.
[[nodiscard]] Rates rates_between(const Json& before, const Json& after, double seconds);
[[nodiscard]] std::vector<BearerRate> bearer_rates(const std::vector<Json>& before, const std::vector<Json>& after,
                                                   double seconds);

}  // namespace splitplane::app
