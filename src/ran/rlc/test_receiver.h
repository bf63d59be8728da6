// For tests of ran/rlc only: AMD PDUs by hand, and the receiving side that gets them.
#pragma once

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {

// AMD PDU of octets [start, stop) of an SDU of `bytes`.
inline Bytes amd(unsigned sn_bits, std::uint32_t sn, const Bytes& sdu, std::size_t start, std::size_t stop,
                 bool poll = false) {
  Bytes out(wire::rlc::kMaxHeaderBytes);
  wire::rlc::AmHeader h{.poll = poll, .si = wire::rlc::segment_of(start, stop - start, sdu.size())};
  h.so = static_cast<std::uint16_t>(start);
  h.sn = sn & sn_mask(sn_bits);
  out.resize(wire::rlc::write_am(out, sn_bits, h));
  out.insert(out.end(), sdu.begin() + static_cast<std::ptrdiff_t>(start),
             sdu.begin() + static_cast<std::ptrdiff_t>(stop));
  return out;
}

struct Receiver : AmSide {
  explicit Receiver(const AmConfig& config = am12(), std::uint32_t begin = 0, const MemorySizes& sizes = kSmall)
      : AmSide(config, sizes), bits(config.sn_bits) {
    entity->restart_at(begin);
  }
  void whole(std::uint32_t sn, bool poll = false) { part(sn, 0, kBytes, poll); }
  void part(std::uint32_t sn, std::size_t start, std::size_t stop, bool poll = false) {
    receive(amd(bits, sn, pattern(kBytes, sn), start, stop, poll));
  }
  std::string state() const {
    return std::to_string(receiver().next()) + " " + std::to_string(receiver().next_highest()) + " " +
           std::to_string(receiver().highest_status()) +
           (receiver().t_reassembly().running() ? " T" + std::to_string(receiver().status_trigger()) : "");
  }
  static constexpr std::size_t kBytes = 50;
  unsigned bits;
};

}  // namespace splitplane::ran::rlc::test
