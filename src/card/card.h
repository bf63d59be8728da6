// A card: one P4 program, compiled ahead of time or in DPDK's interpreter, with its tables and registers. Every call is
// made on the thread that runs the pipeline (through the worker's Mailbox).
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"
#include "card/compiled/programs.h"
#include "card/execution.h"
#include "card/protocol/bearer.h"
#include "card/punt_reason.h"
#include "card/spec/spec_file.h"

namespace splitplane::nic {

inline constexpr unsigned kMaxVfs = 64;
// Ports of a card, with the same numbers for input and output. VF i is kFirstVf + i.
inline constexpr unsigned kN3Port = 0, kAirPort = 1, kFirstVf = 2, kMaxPorts = kFirstVf + kMaxVfs;

enum class CardSide : std::uint8_t { kN3, kAir, kVf };
[[nodiscard]] constexpr CardSide side_of(unsigned port) {
  if (port == kN3Port) return CardSide::kN3;
  return port == kAirPort ? CardSide::kAir : CardSide::kVf;
}

struct CardSettings {
  std::string name = "card";           // for messages
  unsigned vfs = 1;                    // 1..64
  unsigned punt_n3 = 0, punt_air = 0;  // the VFs for packets that the card does not serve, by side
  bool verify_checksum = false;        // packets from N3 with a UDP checksum go to the host, which verifies it
  unsigned air_frame_bytes = 1514;     // the longest frame that the air port sends
  std::uint32_t capacity = 65536;      // number of bearers, at most what the program's tables hold
  unsigned core = 0, cores = 1;        // with several cores each has a separate Card: the number of this one
  bool copy_clones = false;            // clones are copies, because a port passes mbufs to a reader that writes to them
  int numa_node = 0;
  Execution execution = Execution::kCompiled;
  CompiledPrograms programs = compiled_programs();  // among which it looks for the .spec's
};

struct CardPortCounters {
  std::uint64_t in = 0;       // frames handed to process()
  std::uint64_t out = 0;      // frames of `in` that the program sent to this port
  std::uint64_t clones = 0;   // clones for this port, not part of `out`
  std::uint64_t tx_full = 0;  // of `out` and `clones`: dropped because the transmit queue stayed full
};

// in = out + dropped + held, over all ports. A clone counts in none of these.
struct CardCounters {
  std::vector<CardPortCounters> ports;  // N3, air, VF 0...
  std::array<std::uint64_t, kPuntReasonCount> punts{};
  std::array<std::uint64_t, kCardDropCount> drops{};
  std::uint64_t dropped = 0;        // counted by the pipeline: the sum of `drops`
  std::uint64_t tx_full = 0;        // over all ports
  std::uint64_t rlc_control = 0;    // uplink RLC control PDUs, sent to the copies
  std::uint64_t clones = 0;         // made by the program
  std::uint64_t clones_sunk = 0;    // of these, freed at once (feature set clone_drop)
  std::uint64_t clones_failed = 0;  // no memory for a copy
  std::uint64_t fences = 0;         // made for the host; each also counts as a clone
  bool reasons_add_up = true;       // program gnb: every dropped frame has a reason
  std::uint64_t held = 0;           // in the pipeline now: 0 between two calls of process()
};

// Fences that went to VFs for packets of N3, and to those for clones; a VF for both gets one, which counts as both.
struct CardFences {
  unsigned n3 = 0, copies = 0;
};

// What a port has to send. The caller that takes `mbufs` owns them and clears the list.
using CardOutput = PipelineOutput;

class Card {
 public:
  // The error is one sentence; a failed call leaves nothing behind.
  static Expected<std::unique_ptr<Card>> make(const SpecFile& spec, const CardSettings& settings);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  // Installs all bearers or none. A bearer with a known identity is replaced: it keeps its slot and numbers, unless
  // `restart`. The card refuses a TEID, UE address or identity that another bearer has.
  Expected<void> install(std::span<const CardBearer> bearers, bool restart = false);
  // Checks whether install() would accept the bearers. Returns how many are new; it does not count those that belong to
  // another core.
  [[nodiscard]] Expected<std::size_t> would_install(std::span<const CardBearer> bearers);
  // Removes all or none: it refuses an identity that the card does not know.
  Expected<void> remove(std::span<const BearerId> ids);
  [[nodiscard]] Expected<void> can_remove(std::span<const BearerId> ids);
  Expected<void> set_peer(const CardPeer& peer);
  void unset_peer(unsigned number);
  Expected<void> set_marks(const CardMarks& tos);
  // Sets all or none: it refuses a lease that ends before the bearer's next COUNT.
  Expected<void> set_leases(std::span<const CardLease> leases);
  [[nodiscard]] Expected<void> can_lease(std::span<const CardLease> leases) const;
  // Numbers of bearers that come from the host, and which the card did not number until now; all or none.
  Expected<void> begin(std::span<const CardBeginning> bearers);
  // Sends a fence (returns/fence_frame.h) with these bearers to each VF that gets something of them, behind what was
  // sent there. Returns how many fences went to VFs of the N3 side and to those of the copies; an error sends none.
  Expected<CardFences> fence(std::span<const BearerId> ids, std::uint64_t token, rte_mempool* pool);
  [[nodiscard]] Expected<CardNumbers> numbers(BearerId id) const;
  // The numbers of at most `limit` bearers in the order of their identities, beginning after identity `after`.
  [[nodiscard]] std::vector<BearerNumbers> numbers_after(std::uint32_t after, std::size_t limit) const;
  [[nodiscard]] const CardBearer* find(BearerId id) const;
  // If the card has several cores, the following count only bearers whose identity leads to this core.
  [[nodiscard]] std::size_t bearer_count() const;
  [[nodiscard]] std::size_t served_count() const;       // numbered here; the others go to their workers
  [[nodiscard]] std::vector<BearerId> bearers() const;  // in ascending order

  // Program p4wire: frames from port `from` go to port `to`.
  Expected<void> wire(unsigned from, unsigned to);
  // Program p4wire: frames from port `from` go round robin over all VFs.
  Expected<void> spread(unsigned from);
  // Program gnb with MARKER: 64 flags, indexed by the low six bits of the outer Identification. The host serves a
  // packet whose flag is set.
  Expected<void> set_markers(std::uint64_t to_host, unsigned vf);
  // Program gnb with MARKER: what the host gets by one of `count` VFs from `first` on is dealt out over all of them.
  // kBearer: each bearer's frames come by the VF of its worker.
  Expected<void> set_spread(unsigned first, unsigned count, VfSpread how);

  // Runs the pipeline until it is empty. Then out(port) has the frames to send, in order. Takes at most kBurst frames.
  // `ahead`: frames that come next; their cache lines arrive meanwhile.
  void process(rte_mbuf** mbufs, unsigned n, unsigned port, std::span<rte_mbuf* const> ahead = {}) {
    if (const unsigned kept = prepare(mbufs, n, port, ahead); kept != 0) run(mbufs, kept);
  }
  // The two halves of process(), for a card of several cores. prepare() prepares frames that came by `port` and returns
  // their number; it drops the others. The second half gives them to the program, perhaps on the card of another core.
  [[nodiscard]] unsigned prepare(rte_mbuf** mbufs, unsigned n, unsigned port, std::span<rte_mbuf* const> ahead = {});
  void run(rte_mbuf** mbufs, unsigned n);
  // Takes a frame that the program of another core sent to a port of this one.
  void take_over(rte_mbuf* m, unsigned port);
  [[nodiscard]] CardOutput& out(unsigned port);
  // The ports that have frames to send, in the order in which they got them. The caller clears this list together with
  // the ports' lists.
  [[nodiscard]] std::vector<std::uint16_t>& pending();
  // The caller could not send `frames` frames of a port, and has freed them.
  void count_tx_full(unsigned port, unsigned frames);
  // The caller could not hand `frames` prepared frames to another core, and has freed them.
  void count_core_full(unsigned frames);

  [[nodiscard]] CardCounters counters() const;
  [[nodiscard]] const CardSettings& settings() const;
  [[nodiscard]] const std::string& program() const;
  [[nodiscard]] bool is_compiled() const;  // false: the program is interpreted
  [[nodiscard]] bool by_ue_address() const;
  [[nodiscard]] unsigned ports() const;  // N3, air and the VFs

 private:
  struct State;
  explicit Card(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace splitplane::nic
