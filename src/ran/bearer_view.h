// A bearer as users and programs see it: its configuration, its counters and the state of its entities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ran/rlc/am_receive.h"
#include "ran/rlc/am_retx.h"
#include "ran/sdap/counters.h"
#include "ran/session_config.h"

namespace splitplane::datapath {

// What the marks of a bearer with the key `ecn` came to.
struct EcnView {
  std::uint64_t ect0 = 0, ect1 = 0;                // packets that could be marked
  std::uint64_t marked_ect0 = 0, marked_ect1 = 0;  // those of them that were
  std::uint64_t queueing_most_us = 0;              // the longest time in the queue
  std::uint64_t path_us = 0;                       // the delay of the path with an empty queue
};

// Counters and state of the entities of one end, for users.
struct ArqView {
  std::uint32_t tx_next_ack = 0, tx_next = 0, unacked = 0, pending = 0;
  std::uint64_t octets_kept = 0;  // of the SDUs that are kept for retransmission
  std::uint32_t rx_next = 0, rx_next_highest = 0;
  std::uint32_t polls_in_vain = 0;
  std::uint8_t epoch = 0;
  bool failed = false;
  bool in_service = false;  // the window: of `retx` only acked, pdus and octets are known here
  ran::rlc::RetxCounters retx;
  ran::rlc::ReceiveCounters received;
  ran::rlc::StatusCounters status;
  std::optional<EcnView> ecn;
};

// The RLC entity of a bearer in full mode.
struct RlcView {
  struct Am {
    std::uint32_t tx_next_ack = 0, unacked = 0, pending = 0;
    ran::rlc::RetxCounters retx;
    ran::rlc::StatusCounters status;
  };
  struct Mac {
    std::uint64_t blocks_sent = 0, octets_sent = 0, padding_octets_sent = 0, blocks_received = 0, octets_received = 0;
    std::vector<std::pair<std::string_view, std::uint64_t>>
        drops;  // of received blocks, by reason; those that are not 0
  };
  std::uint16_t rnti = 0;  // C-RNTI of its UE
  Mac mac;                 // of that UE
  std::uint32_t lcid = 0;
  std::uint32_t held = 0;    // SDUs that wait, or that the UE has not acknowledged
  std::uint64_t volume = 0;  // octets of the PDUs that would carry what waits (TS 38.322 5.5)
  bool failed = false;       // it needs re-establishment
  std::uint64_t given_up = 0, copied = 0, no_buffer = 0, failures = 0;
  std::uint32_t tx_next = 0, rx_next = 0;
  ran::rlc::SendCounters sent;
  ran::rlc::ReceiveCounters received;
  std::optional<Am> am;
};

}  // namespace splitplane::datapath

namespace splitplane::app {

// Packets and octets of one direction of one bearer: received = transmitted + dropped + held.
// Field, unit, help; `held` alone can go down.
// clang-format off
#define SPLITPLANE_BEARER_COUNTERS(X)                             \
  X(received, "packets", "packets received for the bearer")       \
  X(transmitted, "packets", "packets transmitted")                \
  X(dropped, "packets", "packets dropped after the bearer was found") \
  X(held, "packets", "packets held now")                          \
  X(bytes, "bytes", "octets of the SDUs received")
// clang-format on
#define SPLITPLANE_BEARER_FIELD(field, unit, help) std::uint64_t field = 0;

struct DirectionView {
  SPLITPLANE_BEARER_COUNTERS(SPLITPLANE_BEARER_FIELD)
};

// What a card reports of a bearer that it serves, and what this host returned to it.
struct BearerOnCard {
  bool installed = false;  // the card answers and has the bearer
  std::uint8_t epoch = 0;  // of RLC: goes up by one with each restart of the card
  std::uint32_t lease_end = 0, in_flight = 0;
  std::uint64_t returned = 0;
};

// What a bearer is in its session with several bearers.
struct InSession {
  Teid teid;
  BearerId spare;
  ran::sdap::DrbId drb;
  bool is_default = false, reflective = false;
  std::vector<Qfi> flows;

  friend bool operator==(const InSession&, const InSession&) = default;
};

// What a QoS flow of a session carried: SDUs and octets. `drb`: where its next packet goes, downlink at the gNB and
// uplink at the UE.
struct FlowView {
  Qfi qfi;
  ran::sdap::DrbId drb;
  ran::sdap::FlowCount downlink, uplink;
};

struct BearerView {
  ran::BearerConfig config;
  std::size_t worker = 0;
  DirectionView downlink, uplink;
  std::uint32_t pdcp_tx_next = 0, rlc_tx_next = 0;  // TS 38.323 7.1, TS 38.322 7.1
  std::uint32_t pdcp_rx_next = 0, rlc_rx_next = 0;  // highest COUNT / SN received, plus one
  bool uplink_stopped = false;               // for a while: the UPF does not know the uplink TEID (Error Indication)
  std::string_view uplink_state = "active";  // n3/uplink_check.h
  std::uint64_t uplink_stops = 0;
  std::uint64_t error_indications = 0, end_markers = 0;  // received for this bearer
  std::optional<std::uint8_t> epoch;                     // in airhdr, of secured bearers: changes with their keys
  std::optional<datapath::ArqView> rlc_am;               // acknowledged bearers
  std::optional<datapath::RlcView> rlc;                  // full mode
  std::optional<BearerOnCard> card;                      // bearers on a card
  std::optional<InSession> session;                      // bearers of a session with several ones
  std::vector<FlowView> session_flows;                   // of that session; a UE side shows them with each bearer
};

struct SessionView {
  ran::SessionConfig config;
  std::vector<BearerView> bearers;  // in the order of config.bearers
  std::vector<FlowView> flows;      // those that counted something, by QFI
};

}  // namespace splitplane::app
