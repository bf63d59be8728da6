// A capture as the generator's packets: its frames as they were recorded, in a loop, at the recorded times or at a
// rate. They carry no stamp, unless a generator made the recorded frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::traffic {

class Replay {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of frames, held in memory
  static constexpr std::uint32_t kShortestFrame = 14;              // an Ethernet header

  // Reads a pcap or pcapng file with link type Ethernet. The error is one sentence.
  [[nodiscard]] static Expected<Replay> load(const std::string& path, std::size_t longest_frame);

  // A Maker of Generator: each frame is a separate flow, and the mix goes through them in turn.
  [[nodiscard]] std::uint32_t flows() const { return static_cast<std::uint32_t>(frames_.size()); }
  void prefetch(std::uint32_t flow) const { __builtin_prefetch(&octets_[frames_[flow].offset]); }
  unsigned make(std::uint32_t flow, std::uint32_t size, std::uint64_t intended_ns, std::uint8_t* out) const;
  void take_back(std::uint32_t) {}

  [[nodiscard]] const std::vector<std::uint64_t>& times_ns() const { return times_ns_; }  // ascending, from 0

 private:
  struct Frame {
    std::size_t offset = 0;
    std::uint32_t bytes = 0;
  };
  std::vector<std::uint8_t> octets_;
  std::vector<Frame> frames_;
  std::vector<std::uint64_t> times_ns_;
};

}  // namespace splitplane::traffic
