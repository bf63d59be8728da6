// One bearer as the UE side keeps it: its configuration, the receiving entities downlink, the sending ones uplink, and
// what they counted. Owned by the worker.
#pragma once

#include <cstdint>
#include <optional>

#include "arq/arq.h"
#include "ran/bearer_config.h"
#include "ue/sn_tracker.h"

namespace splitplane::ue {

// Where the gNB's numbers stand when this side learns of a bearer: COUNTs of PDCP, SNs of RLC with or without modulus.
struct Numbers {
  std::uint32_t pdcp_downlink = 0, rlc_downlink = 0;  // next to be sent
  std::uint32_t pdcp_uplink = 0, rlc_uplink = 0;      // next to be received
  std::uint8_t rlc_epoch = 0;                         // of an acknowledged bearer
};

// received = delivered + dropped + control.
struct DownlinkCounters {
  std::uint64_t received = 0, delivered = 0, dropped = 0, control = 0, bytes = 0;
  std::uint64_t rlc_late = 0, rlc_duplicates = 0, pdcp_late = 0, pdcp_duplicates = 0;
  std::uint64_t polls = 0, status_sent = 0;
  std::uint64_t rlc_restarts = 0;       // AM without retransmission: its SNs began anew, with another epoch
  std::uint64_t reflective = 0;         // SDAP RDI or RQI set
  std::uint64_t other_qfi = 0;          // SDAP QFI other than the bearer's: a flow mapped to it by the core
  std::uint64_t other_destination = 0;  // IP destination other than the UE's addresses
};

// received = sent + dropped.
struct UplinkCounters {
  std::uint64_t received = 0, sent = 0, dropped = 0, bytes = 0, polls = 0;
};

struct UeBearer {
  ran::BearerConfig config;

  datapath::ArqBearer* arq = nullptr;  // acknowledged: real RLC; else AM PDUs are only followed by their SNs
  SnTracker rlc_rx;                    // AM only: complete UM and TM SDUs have no SN
  std::optional<std::uint8_t> epoch;   // of these SNs, as airhdr says; absent: no PDU came yet
  SnTracker pdcp_rx;
  DownlinkCounters downlink;

  std::uint32_t pdcp_tx_next = 0;      // TX_NEXT, a COUNT (TS 38.323 7.1)
  std::uint32_t rlc_tx_next = 0;       // TX_Next (TS 38.322 7.1), kept without the modulus
  std::uint16_t pdu_without_poll = 0;  // PDU_WITHOUT_POLL (TS 38.322 5.3.3.2)
  UplinkCounters uplink;

  // Both ends count on from the gNB's numbers. At 0 this side knows that it sees the first PDU; later it does not,
  // since PDUs may have passed between the gNB's answer and now.
  void establish(const ran::BearerConfig& bearer, const Numbers& numbers) {
    config = bearer;
    rlc_rx = SnTracker(bearer.rlc_sn_bits == 18 ? 18 : 12, numbers.rlc_downlink, numbers.rlc_downlink == 0);
    epoch.reset();
    pdcp_rx = SnTracker(bearer.pdcp_sn_bits, numbers.pdcp_downlink, numbers.pdcp_downlink == 0);
    if (bearer.acknowledged && numbers.pdcp_downlink != 0) pdcp_rx.expect_earlier();
    pdcp_tx_next = numbers.pdcp_uplink;
    rlc_tx_next = bearer.acknowledged ? 0 : numbers.rlc_uplink;  // an acknowledged one begins anew on both sides
    pdu_without_poll = 0;
  }
  // AM without retransmission: a card that started anew numbers RLC from 0 again, and says so by another epoch.
  void follow_epoch(std::uint8_t now) {
    if (epoch && *epoch != now) {
      rlc_rx = SnTracker(config.rlc_sn_bits == 18 ? 18 : 12, 0, false);
      ++downlink.rlc_restarts;
    }
    epoch = now;
  }
};

}  // namespace splitplane::ue
