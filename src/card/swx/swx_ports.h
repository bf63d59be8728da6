// The pipeline's ports, of two types of ours: one input that hands out a burst, and outputs that collect what the
// program sends until the card takes it. SWX knows neither bursts nor the length of a frame.
#pragma once

#include <rte_mbuf.h>
#include <rte_swx_port.h>

#include <array>
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
// Octets of the longest headers that a program reads: Ethernet, VLAN, IPv4, UDP, GTP-U with a PDU Session Container, and
// the IPv6 header of a T-PDU.
inline constexpr unsigned kLongestParse = 14 + 4 + 20 + 8 + 8 + 4 + 4 + 40;

// One output: originals and clones in the order in which the program sent them.
struct SwxOutput {
  struct PipelineIo* io = nullptr;
  std::uint16_t number = 0;
  std::vector<rte_mbuf*> mbufs;  // reserved, so that the packet path does not allocate
  std::uint64_t frames = 0, clones = 0;

  void append(rte_mbuf* m);
};

// The pipeline's input and outputs. It must not move, because the ports point into it.
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
  std::vector<SwxOutput> outputs;
  std::vector<std::uint16_t> pending;  // outputs that have something
  std::uint64_t sent = 0;              // originals, over all outputs
  std::uint64_t sunk = 0, clones_sunk = 0, clones_failed = 0;

  [[nodiscard]] unsigned sink() const { return static_cast<unsigned>(outputs.size()) - 1; }
};

// Operations of the types, to be registered. The input's argument is a PipelineIo, an output's is its SwxOutput.
[[nodiscard]] rte_swx_port_in_ops input_ops();
[[nodiscard]] rte_swx_port_out_ops output_ops();
[[nodiscard]] rte_swx_port_out_ops sink_ops();

}  // namespace splitplane::nic
