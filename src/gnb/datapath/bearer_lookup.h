// How a downlink packet finds its bearer when the TEID is not of our choosing: tables of one worker from a TEID that
// somebody else gave, or from the UE's address inside the packet, to the bearer's identity. The owner's thread reads
// and writes them; the control thread changes them by commands.
#pragma once

#include <optional>

#include "engine/burst.h"
#include "n3/parse.h"
#include "ran/bearer_table.h"
#include "ran/key_table.h"

namespace splitplane::datapath {

struct ForeignKeys {
  using Short = ran::KeyTable<ran::Ipv4Key>;
  using Long = ran::KeyTable<ran::Ipv6Key>;
  bool by_ue_address = false;    // the UE's address decides and the TEID is not looked at
  std::optional<Short> teids;    // absent: no room was asked for
  std::optional<Short> ue_ipv4;  // keys as in the packet
  std::optional<Long> ue_ipv6;
};

// Enters the keys that a bearer has, all or none; false if a table is full.
[[nodiscard]] bool enter(ForeignKeys& keys, const ran::BearerConfig& bearer);
void leave(ForeignKeys& keys, const ran::BearerConfig& bearer);

// For the packets whose line is not theirs: replaces a foreign TEID by the bearer's identity, and the line. What is not
// found stays as it is.
void find_foreign_teids(const ForeignKeys& keys, ran::BearerTable& bearers, GPdu* gpdus, ran::BearerDownlink** lines,
                        unsigned n);
// The same for all packets of a burst by the destination address of the T-PDU; identity 0 where there is none.
void find_ue_addresses(const ForeignKeys& keys, ran::BearerTable& bearers, rte_mbuf* const* mbufs, GPdu* gpdus,
                       ran::BearerDownlink** lines, unsigned n);

// One packet's bearer identity: by UE address or foreign TEID, else its TEID; 0: no UE has that address.
[[nodiscard]] std::uint32_t identity_of(const ForeignKeys& keys, rte_mbuf* m, const GPdu& gpdu);

}  // namespace splitplane::datapath
