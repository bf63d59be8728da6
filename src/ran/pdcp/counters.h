// What became of each SDU that came to a transmitter, and of each PDU that came to a receiver: one row an outcome. The
// counters of an entity are indexed by it.
#pragma once

#include <array>
#include <cstdint>

#include "base/outcome_list.h"

namespace splitplane::ran::pdcp {

// Rows up to `crypto_failed` are outcomes of a new SDU. A report that confirms a stored SDU counts it as well.
#define SPLITPLANE_PDCP_TX_OUTCOMES(X)                                                    \
  X(sent, "numbered and protected")                                                       \
  X(waiting, "came while the entity is suspended or sends again: it waits without COUNT") \
  X(sdu_empty, "SDU without an octet")                                                    \
  X(sdu_too_large, "SDU of more than 9000 octets")                                        \
  X(count_exhausted, "TX_NEXT has reached its end: the bearer needs a new key")           \
  X(window_full, "too many SDUs are not confirmed")                                       \
  X(no_credit, "the lower layer has no room")                                             \
  X(queue_full, "too many SDUs wait")                                                     \
  X(no_memory, "no buffer, or no place to keep the SDU")                                  \
  X(crypto_failed, "the cipher library failed after the SDU was numbered")                \
  X(not_sent_again, "suspended before it was sent again: the keys are gone")              \
  X(discarded_by_timer, "discardTimer ran out")                                           \
  X(timer_forgotten, "UM: no place for discardTimer, so RLC is not told of its end")      \
  X(confirmed_by_status, "confirmed by the peer's status report")                         \
  X(bad_status_report, "status report of a UM bearer, or with an FMC beyond TX_NEXT")
SPLITPLANE_OUTCOMES(TxOutcome, SPLITPLANE_PDCP_TX_OUTCOMES)

#define SPLITPLANE_PDCP_RX_OUTCOMES(X)                                   \
  X(accepted, "new data: delivered, or held until it is in order")       \
  X(control, "a status report, handed to the transmitter")               \
  X(suspended, "came while the entity is suspended")                     \
  X(malformed, "no octet at all, no octet of SDU, or more than 9000")    \
  X(hfn_negative, "RCVD_HFN is -1")                                      \
  X(count_out_of_range, "RCVD_COUNT is 2^32 - 1 or more")                \
  X(integrity_failed, "wrong MAC-I")                                     \
  X(too_old, "RCVD_COUNT is less than RX_DELIV")                         \
  X(duplicate, "received before")                                        \
  X(unknown_control, "control PDU that is no status report")             \
  X(bad_status_report, "status report that is cut, or longer than 9000") \
  X(no_memory, "no buffer, or no place to hold the SDU")                 \
  X(crypto_failed, "the cipher library failed")                          \
  X(keys_changed, "the sink has changed the keys within the burst")
SPLITPLANE_OUTCOMES(RxOutcome, SPLITPLANE_PDCP_RX_OUTCOMES)

template <class Outcome, std::size_t kSize>
class OutcomeCounters {
 public:
  void add(Outcome outcome) { ++count_[static_cast<std::size_t>(outcome)]; }
  // What was counted as `from` is `to` after all.
  void move(Outcome from, Outcome to) {
    --count_[static_cast<std::size_t>(from)];
    add(to);
  }
  [[nodiscard]] std::uint64_t operator[](Outcome outcome) const { return count_[static_cast<std::size_t>(outcome)]; }

 private:
  std::array<std::uint64_t, kSize> count_{};
};
using TxCounters = OutcomeCounters<TxOutcome, kTxOutcomeCount>;
using RxCounters = OutcomeCounters<RxOutcome, kRxOutcomeCount>;

}  // namespace splitplane::ran::pdcp
