// All counters of a running user plane as plain numbers. `ctl stats`, the metrics endpoint and DPDK's telemetry are
// made from them. The fields come from the lists in engine/stats.h and engine/port.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baas/counters.h"
#include "base/log.h"
#include "card/card.h"
#include "card/link/view.h"
#include "engine/port.h"
#include "engine/stats.h"
#include "gnb/journal/view.h"
#include "gnb/phy/counters.h"
#include "n3/counters.h"
#include "n3/path.h"
#include "phy/link/phy_link.h"
#include "placement/decision/view.h"
#include "power/meter/meter.h"
#include "power/settings.h"
#include "ran/bearer_view.h"

namespace splitplane::app {

struct StageSnapshot {
  SPLITPLANE_STAGE_COUNTERS(SPLITPLANE_NUMBER_FIELD)
};

struct WorkerSnapshot {
  std::array<StageSnapshot, datapath::kStageCount> stages{};
  std::array<std::uint64_t, datapath::kDropReasonCount> drops{};
  std::uint64_t received = 0, reorder_held = 0;
  SPLITPLANE_WORKER_COUNTERS(SPLITPLANE_NUMBER_FIELD)

  [[nodiscard]] std::uint64_t dropped() const;
};

// A row of one of the lists: its name, unit ("" for a plain count), help, and the member.
template <class Owner>
struct CounterRow {
  std::string_view name, unit, help;
  std::uint64_t Owner::* field;
};

#define SPLITPLANE_STAGE_ROW(field, unit, help) CounterRow<StageSnapshot>{#field, unit, help, &StageSnapshot::field},
#define SPLITPLANE_WORKER_ROW(field, unit, help) CounterRow<WorkerSnapshot>{#field, unit, help, &WorkerSnapshot::field},
#define SPLITPLANE_PORT_ROW(field, unit, help) \
  CounterRow<datapath::PortCounters>{#field, unit, help, &datapath::PortCounters::field},
#define SPLITPLANE_BEARER_ROW(field, unit, help) CounterRow<DirectionView>{#field, unit, help, &DirectionView::field},
inline constexpr std::array kBearerCounters{SPLITPLANE_BEARER_COUNTERS(SPLITPLANE_BEARER_ROW)};
inline constexpr std::array kStageCounters{SPLITPLANE_STAGE_COUNTERS(SPLITPLANE_STAGE_ROW)};
inline constexpr std::array kWorkerCounters{SPLITPLANE_WORKER_COUNTERS(SPLITPLANE_WORKER_ROW)};
#define SPLITPLANE_CARD_LINK_ROW(field, unit, help) CounterRow<CardLinkView>{#field, unit, help, &CardLinkView::field},
inline constexpr std::array kCardLinkCounters{SPLITPLANE_CARD_LINK_COUNTERS(SPLITPLANE_CARD_LINK_ROW)};
#define SPLITPLANE_PLACEMENT_ROW(field, unit, help) \
  CounterRow<placement::View>{#field, unit, help, &placement::View::field},
inline constexpr std::array kPlacementCounters{SPLITPLANE_PLACEMENT_COUNTERS(SPLITPLANE_PLACEMENT_ROW)};
#define SPLITPLANE_JOURNAL_ROW(field, unit, help) \
  CounterRow<BearerJournalView>{#field, unit, help, &BearerJournalView::field},
inline constexpr std::array kJournalCounters{SPLITPLANE_JOURNAL_COUNTERS(SPLITPLANE_JOURNAL_ROW)};
inline constexpr std::array kPortCounters{SPLITPLANE_PORT_COUNTERS(SPLITPLANE_PORT_ROW)};

// Tables for bearer lookup by keys that we did not choose: field, unit, help.
#define SPLITPLANE_KEY_NUMBERS(X)                                                \
  X(entries, "", "keys in the table")                                            \
  X(slots, "", "places in the table")                                            \
  X(displaced, "", "keys that are not in their home bucket because it was full") \
  X(refused, "", "keys that found no place")
struct KeyTableObservation {
  std::string_view name;
  SPLITPLANE_KEY_NUMBERS(SPLITPLANE_NUMBER_FIELD)
};
#define SPLITPLANE_KEY_ROW(field, unit, help) \
  CounterRow<KeyTableObservation>{#field, unit, help, &KeyTableObservation::field},
inline constexpr std::array kKeyNumbers{SPLITPLANE_KEY_NUMBERS(SPLITPLANE_KEY_ROW)};

struct WorkerObservation {
  std::string name;
  unsigned core = 0;
  bool consumes_copies = false;  // and nothing else
  WorkerSnapshot counters;
  unsigned on_rings = 0;                      // from another worker, not yet received
  std::uint64_t handed = 0;                   // of the received ones: handed off by a worker behind the same card
  std::array<KeyTableObservation, 3> keys{};  // without tables that have no slots
  power::Kind policy = power::Kind::yield;
  std::uint64_t cpu_cycles = 0;  // CPU time of the thread, with the kernel's work for it during a sleep
  std::uint64_t silent_s = 0;    // how long it has made no round; 0: it makes rounds
  std::string host = {};         // the worker whose core makes its rounds; empty: its own does

  [[nodiscard]] std::uint64_t held() const { return on_rings + counters.reorder_held; }
};

struct PortObservation {
  std::string name;
  datapath::PortCounters driver;
  std::uint64_t workers_received = 0, workers_transmitted = 0;  // by our own counters
  std::optional<bool> link_up = {};                             // absent: DPDK must not ask its driver
  unsigned mtu = 0;                                             // octets of the longest IP packet that it takes now
};

// The path to a UPF, as `peer list` shows it.
struct PathObservation {
  IpAddress upf;
  datapath::PathSupervisor::Path path;
  datapath::PathState state = datapath::PathState::unknown;  // by neighbor discovery and Echo together
  datapath::PathCause cause = datapath::PathCause::none;
  bool resolved = false;  // its MAC address is known
};

struct N3Observation {
  std::string name;  // of the port
  std::array<std::uint64_t, kGtpuCounterCount> gtpu{};
  std::array<std::uint64_t, kNeighborCounterCount> neighbor{};
  std::vector<PathObservation> paths;
};

// A card's ports are N3, air, VF 0 and so on.
struct CardObservation {
  std::string name;
  std::vector<std::string> ports;
  nic::CardCounters counters;
};

// A loop of the buffering service.
struct BufferingSnapshot {
  SPLITPLANE_BUFFERING_COUNTERS(SPLITPLANE_NUMBER_FIELD)
};
#define SPLITPLANE_BUFFERING_ROW(field, unit, help) \
  CounterRow<BufferingSnapshot>{#field, unit, help, &BufferingSnapshot::field},
inline constexpr std::array kBufferingCounters{SPLITPLANE_BUFFERING_COUNTERS(SPLITPLANE_BUFFERING_ROW)};
struct BufferingObservation {
  std::string name;
  std::uint64_t held = 0;  // SDUs
  BufferingSnapshot counters;
};

// The PHY of a worker in full mode: what its thread and its link count.
#define SPLITPLANE_PHY_NUMBER(field, text) std::uint64_t field = 0;
struct PhyObservation {
  std::string worker;
  bool runs = false;  // the PHY counts slots
  SPLITPLANE_PHY_THREAD_COUNTERS(SPLITPLANE_PHY_NUMBER)
  SPLITPLANE_PHY_LINK_COUNTERS(SPLITPLANE_PHY_NUMBER)
};
#define SPLITPLANE_PHY_ROW(field, text) CounterRow<PhyObservation>{#field, "", text, &PhyObservation::field},
inline constexpr std::array kPhyCounters{SPLITPLANE_PHY_THREAD_COUNTERS(SPLITPLANE_PHY_ROW)
                                             SPLITPLANE_PHY_LINK_COUNTERS(SPLITPLANE_PHY_ROW)};
[[nodiscard]] PhyObservation take_snapshot(const gnb::PhyThreadCounters& thread, const phy::PhyLinkCounters& link);

struct Observation {
  std::string file_prefix;
  std::size_t bearers = 0;
  std::uint64_t tsc_hz = 0;
  std::vector<WorkerObservation> workers;
  std::vector<PortObservation> ports;
  std::vector<N3Observation> n3;
  std::vector<CardObservation> cards;
  std::vector<CardLinkView> card_links;
  std::optional<placement::View> placement;
  std::vector<BufferingObservation> buffering;
  std::vector<PhyObservation> phys;
  log::Unwritten log;
  std::optional<BearerJournalView> journal;
  std::optional<MeterView> meter;
};

// Reads the counters one by one. The result is exact if the worker stands still or makes it itself.
[[nodiscard]] WorkerSnapshot take_snapshot(const datapath::WorkerStats& stats);
[[nodiscard]] BufferingSnapshot take_snapshot(const baas::BufferingCounters& counters);

}  // namespace splitplane::app
