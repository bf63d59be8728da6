#include "returns/ready_frames.h"

#include <algorithm>

#include "returns/returned_frame.h"

namespace splitplane::datapath {

ReadyFrames::~ReadyFrames() {
  for (const Frame& frame : frames_) rte_pktmbuf_free(frame.m);
}

void ReadyFrames::push(rte_mbuf* m, std::uint64_t deadline, Kind kind) {
  const std::uint32_t id = teid_of_returned(rte_pktmbuf_mtod(m, const std::uint8_t*));
  Counts& counts = of_[id];
  ++(kind == Kind::kReturned ? counts.returned : counts.settled);
  frames_.push_back({m, deadline, id, kind});
}

void ReadyFrames::forget(const Frame& frame) {
  const auto at = of_.find(frame.id);
  Counts& counts = at->second;
  --(frame.kind == Kind::kReturned ? counts.returned : counts.settled);
  if (counts.returned == 0 && counts.settled == 0) of_.erase(at);
}

ReadyFrames::Frame ReadyFrames::pop() {
  const Frame frame = frames_.front();
  forget(frame);
  frames_.pop_front();
  return frame;
}

unsigned ReadyFrames::peek(Burst& burst) const {
  burst.size = static_cast<unsigned>(std::min<std::size_t>(frames_.size(), kBurst));
  for (unsigned i = 0; i < burst.size; ++i) burst.mbuf[i] = frames_[i].m;
  return burst.size;
}

std::uint64_t ReadyFrames::returned_of(BearerId id) const {
  const auto at = of_.find(id.value);
  return at == of_.end() ? 0 : at->second.returned;
}

}  // namespace splitplane::datapath
