// Receives the P7 datagrams of one PHY from one peer: verifies them, puts segments together, drops what came twice and
// counts what is missing. All memory is taken when it is made. A message of one datagram is not copied.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "phy/fapi/nfapi.h"

namespace splitplane::fapi {

#define SPLITPLANE_P7_OUTCOMES(X)                                                                     \
  X(message, "a message is complete")                                                                 \
  X(segment, "segment kept until the others are there")                                               \
  X(stale, "datagram of a message that is delivered or given up, or segment that came twice")         \
  X(refused, "bad header, length, checksum or PHY")                                                   \
  X(contradiction, "segment that cannot be, or contradicts others of its message, which is given up") \
  X(overflow, "message longer than the memory for one, which is given up")

SPLITPLANE_OUTCOMES(P7Outcome, SPLITPLANE_P7_OUTCOMES)

class P7Receiver {
 public:
  using Time = std::uint64_t;               // of any clock
  static constexpr unsigned kHistory = 64;  // sequence numbers that are remembered
  // After eight messages in order, all kHistory or more behind and none else between, their numbers are the right ones.
  static constexpr unsigned kFarRun = 8;

  struct Config {
    std::uint16_t phy_id = 0;
    ChecksumMode checksums = ChecksumMode::kIfThere;
    std::size_t max_message_bytes = 256 * 1024;
    std::size_t messages_at_once = 4;  // whose segments are kept; the oldest is given up for a new one
    // After which the segments of a message are given up; at least 1. A silence as long resynchronizes. It must be
    // shorter than the time of kHistory messages: what comes later than that counts as stale, as far as it was lost.
    Time timeout = 1;
  };

  // What came of a datagram. `body` is set for a message only, and valid until the next call.
  struct Event {
    P7Outcome outcome = P7Outcome::refused;
    Reason reason = Reason::ok;  // why it was refused
    P7Header header;             // of this datagram
    Octets body;
  };

  struct Counters {
    std::array<std::uint64_t, kP7OutcomeCount> outcomes{};  // datagrams
    std::array<std::uint64_t, kReasonCount> reasons{};      // of the refused ones
    std::uint64_t sequence_gaps = 0;  // numbers that were passed over; those that came later are in `reordered`, too
    std::uint64_t reordered = 0;
    std::uint64_t timed_out = 0;  // messages given up, by cause
    std::uint64_t evicted = 0;
    std::uint64_t outpaced = 0;        // their number is kHistory or more behind, so it may soon be another message's
    std::uint64_t resynchronized = 0;  // silences, or runs of numbers far behind: any number is taken as the next

    [[nodiscard]] std::uint64_t of(P7Outcome outcome) const { return outcomes[static_cast<std::size_t>(outcome)]; }
    [[nodiscard]] std::uint64_t of(Reason reason) const { return reasons[static_cast<std::size_t>(reason)]; }
  };

  explicit P7Receiver(const Config& config);

  // `now` never goes back.
  [[nodiscard]] Event receive(Octets datagram, Time now);
  // Gives up messages that are older than the timeout. receive() does it, too.
  void expire(Time now);
  // The peer begins again: gives up what is kept, and takes any sequence number as the next.
  void restart();

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::size_t kept_messages() const;

 private:
  struct Part {
    std::uint32_t at = 0, bytes = 0;
  };

  // A message with segments missing. Bodies lie in the order of arrival.
  struct Kept {
    bool used = false;
    bool in_order = true;
    std::uint8_t sequence = 0;
    std::uint16_t message_id = 0;
    int last = -1;  // number of the last segment, once it is known
    int highest = -1;
    std::size_t bytes = 0;
    Time since = 0;
    std::bitset<kMaxSegments> there;
    std::array<Part, kMaxSegments> parts;
    std::unique_ptr<std::uint8_t[]> octets;
  };

  [[nodiscard]] bool begins(std::uint8_t sequence, Time now);
  [[nodiscard]] bool runs_far_behind(std::uint8_t sequence);
  void resynchronize(std::uint8_t sequence);
  void give_up_outpaced();
  [[nodiscard]] Kept* find(std::uint8_t sequence);
  [[nodiscard]] Kept& make_room(const P7Header& header, Time now);
  // A segment without octets, or one that says that others follow the last possible one.
  [[nodiscard]] static bool impossible(const P7Header& header, Octets body);
  [[nodiscard]] static bool contradicts(const Kept& kept, const P7Header& header, Octets body);
  [[nodiscard]] P7Outcome keep(Kept& kept, const P7Header& header, Octets body);
  [[nodiscard]] Octets whole(const Kept& kept);

  Config config_;
  std::vector<Kept> kept_;
  std::unique_ptr<std::uint8_t[]> sorted_;  // a message whose segments came out of order
  bool synchronized_ = false;
  std::uint8_t newest_ = 0;    // sequence number
  std::uint64_t seen_ = 0;     // bit n: newest_ - n began
  Time last_arrival_ = 0;      // of a datagram that was accepted
  unsigned far_run_ = 0;       // messages in order far behind, since the last accepted datagram
  std::uint8_t far_last_ = 0;  // sequence number of the last one
  Counters counters_;
};

}  // namespace splitplane::fapi
