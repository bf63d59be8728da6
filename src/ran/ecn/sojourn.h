// How long SDUs of a bearer wait below PDCP, as far as RLC's acknowledgements tell.
//
// A STATUS says which PDU the peer received last. The age of that PDU is the time that it waited, plus the delay of the
// path with an empty queue. That delay is at most the age of any PDU. It is at least the age minus the time that the
// octets before the PDU needed, at the rate that the link has shown. So it follows a path that became longer or
// shorter, and a queue that is never empty does not become part of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace splitplane::ran::ecn {

// Ticks of the caller's clock, which never goes back.
using Time = std::uint64_t;

// What a STATUS PDU says. Numbers are RLC's, without the modulus.
struct Acknowledgement {
  std::uint32_t up_to = 0;     // ACK_SN, the highest until now: the STATUS says something about all numbers below it
  bool has_holes = false;      // some of them are reported as missing
  bool is_everything = false;  // the peer has received all that was sent
};

class Sojourn {
 public:
  struct Settings {
    Time resolution = 1;   // PDUs that are sent within this time share a time stamp
    Time patience = 0;     // how long the peer may be silent without a queue: its timers
    Time reassembly = 0;   // t-Reassembly: a STATUS about a missing PDU is as late
    Time rate_window = 1;  // how long octets are counted to know the link's rate
  };
  static constexpr std::size_t kStamps = 64;

  explicit Sojourn(const Settings& settings) : settings_(settings), spacing_(settings.resolution) {}

  // A PDU with this number or a higher one goes to RLC now.
  void sent(std::uint32_t sn, std::size_t octets, Time now);
  void acknowledged(const Acknowledgement& ack, Time now);
  // RLC begins anew, and so does this, but for the delay of the path.
  void restart();

  // The time that the last received PDU waited. It is 0 if everything is acknowledged. It grows while the peer is
  // silent for longer than it should be.
  [[nodiscard]] Time queueing(Time now) const;
  // The delay of the path with an empty queue; 0 as long as it is not known.
  [[nodiscard]] Time path() const { return path_; }

 private:
  // PDUs from `sn` to the next stamp's were sent at `at`, or less than the spacing later.
  struct Stamp {
    std::uint32_t sn = 0;
    Time at = 0;
    std::uint64_t octets = 0;    // sent before these PDUs
    std::uint64_t received = 0;  // of them, those that the peer was known to have then
  };

  [[nodiscard]] Stamp& stamp(std::size_t i) { return stamps_[(first_ + i) % kStamps]; }
  void drop_first();
  void drop_every_second();
  void note_received(bool is_everything, Time now);
  // Of a PDU that had at most these octets before it.
  void note_age(Time age, std::uint64_t octets_ahead);

  Settings settings_;
  std::array<Stamp, kStamps> stamps_;
  std::size_t first_ = 0, size_ = 0;
  Time spacing_;  // of stamps: it doubles when there are too many
  Time queueing_ = 0;
  Time heard_ = 0;  // when the peer last said something, or when a PDU was sent after everything was acknowledged
  Time path_ = 0;
  bool is_path_known_ = false;
  std::uint64_t sent_ = 0, received_ = 0;  // octets
  double rate_ = 0;                        // the highest rate of the link, in octets a tick; slowly forgotten
  Time window_at_ = 0;                     // when the octets of the present window began to be counted
  std::uint64_t window_from_ = 0;          // received_ then
};

}  // namespace splitplane::ran::ecn
