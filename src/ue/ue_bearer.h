// One bearer of the UE side: its configuration, the receiving entities for downlink, the sending ones for uplink, and
// their counters. The worker owns it.
#pragma once

#include <cstdint>
#include <optional>

#include "arq/arq.h"
#include "ran/bearer_config.h"
#include "ran/sdap/drb.h"
#include "secured/worker_pdcp.h"
#include "ue/sn_tracker.h"

namespace splitplane::ue {

class UeSession;
struct TerminalChannel;

// The gNB's numbers when this side learns of a bearer: COUNTs of PDCP, SNs of RLC with or without modulus.
struct Numbers {
  std::uint32_t pdcp_downlink = 0, rlc_downlink = 0;  // next to be sent
  std::uint32_t pdcp_uplink = 0, rlc_uplink = 0;      // next to be received
  std::uint8_t rlc_epoch = 0;                         // of an acknowledged bearer, or of its keys
  std::uint32_t rlc_unacked = 0;  // SDUs of it from the oldest one not acknowledged to the next one; full mode: SDUs
                                  // that RLC has, sent or not
};

// received = delivered + dropped + control + held by PDCP.
struct DownlinkCounters {
  std::uint64_t received = 0, delivered = 0, dropped = 0, control = 0, bytes = 0;
  std::uint64_t rlc_late = 0, rlc_duplicates = 0, pdcp_late = 0, pdcp_duplicates = 0;
  std::uint64_t polls = 0, status_sent = 0;
  std::uint64_t rlc_restarts = 0;       // AM without retransmission: how often its SNs began anew, with another epoch
  std::uint64_t reflective = 0;         // SDAP RDI or RQI set
  std::uint64_t other_qfi = 0;          // SDAP QFI other than the bearer's: the core mapped another flow to it
  std::uint64_t other_destination = 0;  // IP destination other than the UE's addresses
};

// received = sent + dropped.
struct UplinkCounters {
  std::uint64_t received = 0, sent = 0, dropped = 0, bytes = 0, polls = 0;
};

struct UeBearer {
  ran::BearerConfig config;

  datapath::ArqBearer* arq = nullptr;          // acknowledged: full RLC; otherwise only the SNs of AM PDUs are followed
  datapath::SecuredBearer* secured = nullptr;  // with security: PDCP; absent if there are no keys
  UeSession* session = nullptr;                // of several bearers; nullptr: the bearer is a session by itself
  ran::sdap::DrbId drb{};                      // in `session`
  TerminalChannel* channel = nullptr;          // full mode: its RLC entity (ue/terminal)
  SnTracker rlc_rx;                            // AM only: complete UM and TM SDUs have no SN
  std::optional<std::uint8_t> epoch;           // the epoch of these SNs from airhdr; absent: no PDU came yet
  SnTracker pdcp_rx;
  DownlinkCounters downlink;

  std::uint32_t pdcp_tx_next = 0;      // TX_NEXT, a COUNT (TS 38.323 7.1)
  std::uint32_t rlc_tx_next = 0;       // TX_Next (TS 38.322 7.1), kept without the modulus
  std::uint16_t pdu_without_poll = 0;  // PDU_WITHOUT_POLL (TS 38.322 5.3.3.2)
  UplinkCounters uplink;

  // Both ends continue from the gNB's numbers. At 0 this side knows that it sees the first PDU. Otherwise it does not,
  // because PDUs may have passed between the gNB's answer and now.
  void establish(const ran::BearerConfig& bearer, const Numbers& numbers) {
    config = bearer;
    rlc_rx = SnTracker(bearer.rlc_sn_bits == 18 ? 18 : 12, numbers.rlc_downlink, numbers.rlc_downlink == 0);
    epoch.reset();
    pdcp_rx = SnTracker(bearer.pdcp_sn_bits, numbers.pdcp_downlink, numbers.pdcp_downlink == 0);
    if (bearer.acknowledged && numbers.pdcp_downlink != 0) pdcp_rx.expect_earlier();
    pdcp_tx_next = numbers.pdcp_uplink;
    rlc_tx_next = bearer.acknowledged ? 0 : numbers.rlc_uplink;  // an acknowledged bearer begins anew on both sides
    pdu_without_poll = 0;
  }
  // AM without retransmission: a restarted card numbers RLC from 0 again and shows that by another epoch.
  void follow_epoch(std::uint8_t now) {
    if (epoch && *epoch != now) {
      rlc_rx = SnTracker(config.rlc_sn_bits == 18 ? 18 : 12, 0, false);
      ++downlink.rlc_restarts;
    }
    epoch = now;
  }
};

}  // namespace splitplane::ue
