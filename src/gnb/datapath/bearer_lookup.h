// How a downlink packet finds its bearer when the gNB did not choose the TEID. Tables of one worker lead from a TEID
// that another node assigned, or from the UE's address inside the packet, to the bearer's identity. The worker's thread
// reads and writes them. The control thread changes them by commands that the worker executes.
#pragma once

#include <optional>

#include "engine/burst.h"
#include "n3/parse.h"
#include "ran/bearer_table.h"
#include "ran/key_table.h"
#include "sessions/flow_counters.h"

namespace splitplane::datapath {

struct BearerLookup {
  using Short = ran::KeyTable<ran::Ipv4Key>;
  using Long = ran::KeyTable<ran::Ipv6Key>;
  bool by_ue_address = false;    // the UE's address decides, and the TEID is not read
  std::optional<Short> teids;    // absent: the configuration asks for no table
  std::optional<Short> ue_ipv4;  // keys as in the packet
  std::optional<Long> ue_ipv6;
};

// Enters all keys that a bearer has, or none. Returns false if a table is full.
[[nodiscard]] bool enter(BearerLookup& keys, const ran::BearerConfig& bearer);
void leave(BearerLookup& keys, const ran::BearerConfig& bearer);

// For packets whose line is not their bearer's: replaces the TEID by the bearer's identity, and the line. A packet
// whose TEID is not found stays as it is.
void find_by_teid(const BearerLookup& keys, ran::BearerTable& bearers, GPdu* gpdus, ran::BearerDownlink** lines,
                  unsigned n);
// For packets whose line is a session's (ran/session_line.h): replaces the TEID by the identity of the QoS flow's
// bearer, and the line. It counts the packet for the flow. A packet of a flow that is moving stays as it is, and counts
// when it comes again.
void find_by_flow(ran::BearerTable& bearers, const FlowCounters& counters, GPdu* gpdus, ran::BearerDownlink** lines,
                  unsigned n);
// Finds the bearers of all packets of a burst by the destination address of the T-PDU. The identity is 0 where there is
// none.
void find_by_ue_address(const BearerLookup& keys, ran::BearerTable& bearers, rte_mbuf* const* mbufs, GPdu* gpdus,
                        ran::BearerDownlink** lines, unsigned n);

// Returns one packet's bearer identity by UE address or by a TEID that another node assigned, else its TEID. Returns 0
// if no UE has the address.
[[nodiscard]] std::uint32_t identity_of(const BearerLookup& keys, rte_mbuf* m, const GPdu& gpdu);

}  // namespace splitplane::datapath
