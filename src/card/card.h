// A card: one P4 program on DPDK's SWX pipeline, with its tables and registers. Every call on the thread that runs the
// pipeline (through the worker's Mailbox).
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "card/frame_check.h"
#include "card/protocol/bearer.h"
#include "card/punt_reason.h"
#include "card/swx/spec_file.h"
#include "card/swx/swx_ports.h"

namespace splitplane::nic {

inline constexpr unsigned kMaxVfs = 64;
// Ports of a card, the same numbers in and out; VF i is kFirstVf + i.
inline constexpr unsigned kN3Port = 0, kAirPort = 1, kFirstVf = 2, kMaxPorts = kFirstVf + kMaxVfs;

[[nodiscard]] constexpr CardSide side_of(unsigned port) {
  if (port == kN3Port) return CardSide::kN3;
  return port == kAirPort ? CardSide::kAir : CardSide::kVf;
}

struct CardSettings {
  std::string name = "card";           // for messages
  unsigned vfs = 1;                    // 1..64
  unsigned punt_n3 = 0, punt_air = 0;  // VFs of what the card does not serve, by side
  bool verify_checksum = false;        // packets from N3 with a UDP checksum go to the host, which verifies it
  unsigned air_frame_bytes = 1514;     // the longest frame that the air port sends
  std::uint32_t capacity = 65536;      // bearers, at most what the program's tables hold
  unsigned core = 0, cores = 1;        // of several, each a Card of its own: which of them
  bool copy_clones = false;            // clones are copies: a port hands mbufs on to a reader that writes to them
  int numa_node = 0;
};

struct CardPortCounters {
  std::uint64_t in = 0;       // frames handed to process()
  std::uint64_t out = 0;      // of them, sent to this port by the program
  std::uint64_t clones = 0;   // clones for this port, beside those
  std::uint64_t tx_full = 0;  // of `out` and `clones`, lost because the transmit queue stayed full
};

// in = out + dropped + held, over all ports; a clone is none of those.
struct CardCounters {
  std::vector<CardPortCounters> ports;  // N3, air, VF 0...
  std::array<std::uint64_t, kPuntReasonCount> punts{};
  std::array<std::uint64_t, kCardDropCount> drops{};
  std::uint64_t dropped = 0;        // all of them, counted by the pipeline: the sum of `drops`
  std::uint64_t tx_full = 0;        // over all ports
  std::uint64_t rlc_control = 0;    // uplink RLC control PDUs, sent to the copies
  std::uint64_t clones = 0;         // made
  std::uint64_t clones_sunk = 0;    // of them, given up at once (feature set clone_drop)
  std::uint64_t clones_failed = 0;  // no memory for a copy
  bool reasons_add_up = true;       // program gnb: every frame dropped has its reason
  std::uint64_t held = 0;           // in the pipeline now: 0 between two calls of process()
};

// What a port has to send: `mbufs`. Whoever takes them owns them, and clears the list.
using CardOutput = SwxOutput;

class Card {
 public:
  // Error: one sentence; nothing is left behind.
  static Expected<std::unique_ptr<Card>> make(const SpecFile& spec, const CardSettings& settings);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  // All or none. Known identities are replaced: they keep their slot and numbers, unless `restart`. A TEID, UE address
  // or identity that another bearer has is refused.
  Expected<void> install(std::span<const CardBearer> bearers, bool restart = false);
  // Whether install() would: how many of the bearers are new, those apart that are another core's, too.
  [[nodiscard]] Expected<std::size_t> would_install(std::span<const CardBearer> bearers);
  // All or none: an identity that the card does not know is refused.
  Expected<void> remove(std::span<const BearerId> ids);
  [[nodiscard]] Expected<void> can_remove(std::span<const BearerId> ids);
  Expected<void> set_peer(const CardPeer& peer);
  void unset_peer(unsigned number);
  // All or none: a lease that ends before the bearer's next COUNT is refused.
  Expected<void> set_leases(std::span<const CardLease> leases);
  [[nodiscard]] Expected<void> can_lease(std::span<const CardLease> leases) const;
  [[nodiscard]] Expected<CardNumbers> numbers(BearerId id) const;
  // Of at most `limit` bearers, in the order of their identities, of those behind `after`.
  [[nodiscard]] std::vector<BearerNumbers> numbers_after(std::uint32_t after, std::size_t limit) const;
  [[nodiscard]] const CardBearer* find(BearerId id) const;
  // These are of the bearers whose identity leads to this core, where there are several.
  [[nodiscard]] std::size_t bearer_count() const;
  [[nodiscard]] std::size_t served_count() const;       // of them, numbered here; the others pass to their workers
  [[nodiscard]] std::vector<BearerId> bearers() const;  // in ascending order

  // Program p4wire: frames from port `from` go to port `to`.
  Expected<void> wire(unsigned from, unsigned to);
  // Program p4wire: frames from port `from` go round robin over all VFs.
  Expected<void> spread(unsigned from);
  // Program gnb with MARKER: 64 flags, by the low six bits of the outer Identification; set: the host serves it.
  Expected<void> set_markers(std::uint64_t to_host, unsigned vf);

  // Runs the pipeline until it is drained; what is to be sent is in out(port) then, in order. At most kBurst frames.
  void process(rte_mbuf** mbufs, unsigned n, unsigned port) {
    if (const unsigned kept = prepare(mbufs, n, port); kept != 0) run(mbufs, kept);
  }
  // The halves of that, for a card of several cores: frames that came by `port` here, prepared for the program (how
  // many; the others are dropped), and then given to it, perhaps on another core's card.
  [[nodiscard]] unsigned prepare(rte_mbuf** mbufs, unsigned n, unsigned port);
  void run(rte_mbuf** mbufs, unsigned n);
  // A frame that another core's program sent to a port of this one.
  void take_over(rte_mbuf* m, unsigned port);
  [[nodiscard]] CardOutput& out(unsigned port);
  // The ports that have something, in the order in which they got it; to be cleared with the ports' lists.
  [[nodiscard]] std::vector<std::uint16_t>& pending();
  // The caller could not send so many of a port's frames (and has freed them).
  void count_tx_full(unsigned port, unsigned frames);
  // The caller could not hand so many prepared frames to another core (and has freed them).
  void count_core_full(unsigned frames);

  [[nodiscard]] CardCounters counters() const;
  [[nodiscard]] const CardSettings& settings() const;
  [[nodiscard]] const std::string& program() const;
  [[nodiscard]] bool by_ue_address() const;
  [[nodiscard]] unsigned ports() const;  // N3, air and the VFs

 private:
  struct State;
  explicit Card(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace splitplane::nic
