// The input and outputs of a pipeline: a burst goes in, and outputs collect what the program sends until the card takes
// it. Both implementations use them (card/swx, card/compiled).
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <vector>

namespace splitplane::nic {

// The intrinsic header, which the programs extract first and never emit. The card puts it into the headroom, in network
// byte order. Only the programs write the frame's own octets.
//
//   o0-1 input port | o2 0, or why no program can read the frame (punt_reason.h) | o3 0 | o4-5 octets of the frame |
//   o6-7 0     (p4/intrinsic.p4i)
inline constexpr unsigned kIntrinsicBytes = 8;

// What a program may push in front of a frame, beyond what it strips (uplink: 58 octets for 25).
inline constexpr unsigned kNeededHeadroom = 64;
// Octets of the longest headers that a program reads: Ethernet, VLAN, IPv4, UDP, GTP-U with a PDU Session Container,
// and the IPv6 header of a T-PDU.
inline constexpr unsigned kLongestParse = 14 + 4 + 20 + 8 + 8 + 4 + 4 + 40;

// One output: originals and clones in the order in which the program sent them. The last output is the sink, which
// frees what it gets.
struct PipelineOutput {
  struct PipelineIo* io = nullptr;
  std::uint16_t number = 0;
  std::vector<rte_mbuf*> mbufs;  // reserved, so that the packet path does not allocate
  std::uint64_t frames = 0, clones = 0;

  void append(rte_mbuf* m);
  // The frame itself.
  void send(rte_mbuf* m);
  // A reference: original and clone share the octets, which no code may change any more.
  void send_reference(rte_mbuf* m);
  // A copy, for a port that passes the mbuf to a receiver that writes to it.
  void send_copy(rte_mbuf* m, std::uint32_t most_bytes = UINT32_MAX);
  [[nodiscard]] bool is_sink() const;
};

// It must not move, because the outputs point into it.
struct PipelineIo {
  // Outputs 0..ports-1 and the sink behind them.
  explicit PipelineIo(unsigned ports);
  PipelineIo(const PipelineIo&) = delete;
  PipelineIo& operator=(const PipelineIo&) = delete;
  ~PipelineIo();

  // Input.
  rte_mbuf** next = nullptr;
  unsigned left = 0;
  std::uint64_t handed = 0;  // frames given to the pipeline so far
  void hand(rte_mbuf** mbufs, unsigned n) {
    next = mbufs;
    left = n;
    handed += n;
  }
  // Outputs.
  std::vector<PipelineOutput> outputs;
  std::vector<std::uint16_t> pending;  // outputs that have something
  std::uint64_t sent = 0;              // originals, over all outputs
  std::uint64_t sunk = 0, clones_sunk = 0, clones_failed = 0;

  [[nodiscard]] unsigned sink() const { return static_cast<unsigned>(outputs.size()) - 1; }
};

inline bool PipelineOutput::is_sink() const {
  return number == io->sink();
}

inline void PipelineOutput::append(rte_mbuf* m) {
  if (mbufs.empty()) io->pending.push_back(number);
  mbufs.push_back(m);
}

inline void PipelineOutput::send(rte_mbuf* m) {
  ++io->sent;
  if (is_sink()) [[unlikely]] {
    rte_pktmbuf_free(m);
    ++io->sunk;
    return;
  }
  append(m);
  ++frames;
}

}  // namespace splitplane::nic
