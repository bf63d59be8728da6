// Frames for the card in the order in which they go back, while the port does not take them. It knows how many there
// are of each bearer: so a fence or a move that asks about one bearer does not look at all frames.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "base/types.h"
#include "engine/burst.h"

namespace splitplane::datapath {

class ReadyFrames {
 public:
  // kReturned: with a packet. kSettled: says that the host dropped one.
  enum class Kind : std::uint8_t { kReturned, kSettled };
  struct Frame {
    rte_mbuf* m;
    std::uint64_t deadline;  // TSC
    std::uint32_t id;        // of the bearer: `m` is the port's already when pop() is called
    Kind kind;
  };

  ReadyFrames() = default;
  ReadyFrames(const ReadyFrames&) = delete;
  ReadyFrames& operator=(const ReadyFrames&) = delete;
  ~ReadyFrames();

  void push(rte_mbuf* m, std::uint64_t deadline, Kind kind);
  [[nodiscard]] bool empty() const { return frames_.empty(); }
  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] const Frame& front() const { return frames_.front(); }
  // The oldest frame is the caller's from now on.
  Frame pop();
  // The oldest ones, which stay here.
  unsigned peek(Burst& burst) const;
  // How many of the bearer have a packet.
  [[nodiscard]] std::uint64_t returned_of(BearerId id) const;
  // Takes out the frames of the bearer, in their order, for which `takes` says so; the frames are its from then on.
  template <class Takes>
  void take(BearerId id, Takes takes) {
    if (!of_.contains(id.value)) return;
    std::erase_if(frames_, [&](const Frame& frame) {
      if (frame.id != id.value || !takes(frame)) return false;
      forget(frame);
      return true;
    });
  }

 private:
  struct Counts {
    std::uint32_t returned = 0, settled = 0;
  };
  void forget(const Frame& frame);

  std::deque<Frame> frames_;
  std::unordered_map<std::uint32_t, Counts> of_;  // of bearers with frames here
};

}  // namespace splitplane::datapath
