// A logical channel of a UE in full mode: the RLC entity of one bearer (TS 38.322, AM or UM) on mbufs, at
// either end: on a gNB worker, and at a UE of `splitplane phy`. PDCP is above it, and the grants of MAC are below it.
// It knows no timer wheel and no other channel: see cell.h, and ue/terminal/rlc_channels.h.
#pragma once

#include <variant>

#include "base/timer_wheel.h"
#include "engine/mbuf_buffer.h"
#include "radio/whole_sdu.h"
#include "ran/bearer_view.h"
#include "ran/rlc/am_entity.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::datapath {

using ran::rlc::Time;

struct RadioUe;

class LogicalChannel : public TimerNode {
 public:
  using Am = ran::rlc::AmEntity<MbufBuffer>;
  struct Um {
    Um(const ran::rlc::UmConfig& config, ran::rlc::Memory<MbufBuffer>& memory)
        : tx(config, memory), rx(config, memory) {}
    ran::rlc::UmSend<MbufBuffer> tx;
    ran::rlc::UmReceive<MbufBuffer> rx;
  };
  struct Counters {
    std::uint64_t given_up = 0;   // SDUs that failure or re-establishment dropped
    std::uint64_t copied = 0;     // SDUs of several segments, which were put into one buffer
    std::uint64_t no_buffer = 0;  // SDUs that were complete, and for which there was no buffer
    std::uint64_t failures = 0;   // an SDU at maxRetxThreshold, or a peer that answers no poll
  };
  enum class Failure : std::uint8_t { kNone, kMaxRetx, kPeerLost };
  // What became of a PDU: an AMD or UMD PDU, or a STATUS PDU.
  using Outcome = std::variant<ran::rlc::Received, ran::rlc::StatusResult>;

  // The bearer is AM or UM.
  LogicalChannel(const ran::BearerConfig& bearer, std::uint32_t lcid, std::uint64_t ticks_per_ms,
                 ran::rlc::Memory<MbufBuffer>& memory);

  [[nodiscard]] BearerId id() const { return id_; }
  [[nodiscard]] std::uint32_t lcid() const { return lcid_; }
  // True after a failure, until re-establishment: nothing is sent, and what comes is ignored.
  [[nodiscard]] bool has_failed() const { return failed_; }

  // SDUs that are here: those that wait, and those that the peer has not acknowledged.
  [[nodiscard]] std::uint32_t held() const;
  // How many more it takes.
  [[nodiscard]] std::uint32_t room() const {
    const std::uint32_t here = held();
    return failed_ || here >= max_sdus_ ? 0 : max_sdus_ - here;
  }
  // Takes a PDCP PDU. False: there is no room for it, and it stays with the caller.
  [[nodiscard]] bool send(MbufBuffer& sdu) {
    if (failed_) [[unlikely]]
      return false;
    if (Am* const am = std::get_if<Am>(&entity_)) return am->send(sdu);
    return std::get<Um>(entity_).tx.send(sdu);
  }
  // pollPDU of AM from the next PDU on; 0: infinity. UM has none.
  void set_poll_pdu(std::uint16_t poll_pdu) {
    if (Am* const am = std::get_if<Am>(&entity_)) am->set_poll_pdu(poll_pdu);
  }
  // Calls use(entity) with the sending entity, for MAC: Am or UmSend. Cell::settle() has to know of each PDU that is
  // pulled.
  template <class Use>
  void visit(Use&& use) {
    if (Am* const am = std::get_if<Am>(&entity_)) return use(*am);
    use(std::get<Um>(entity_).tx);
  }
  // Writes the next PDU to `out`, whose size is the grant. Returns its octets, 0 if none is there or fits.
  [[nodiscard]] std::size_t pull(ran::rlc::MutableOctets out, Time now);
  // The octets of the PDUs that would carry everything that waits (TS 38.322 5.5).
  [[nodiscard]] std::uint64_t volume() const;

  // Takes a PDU of the peer. It calls deliver(MbufBuffer) if the PDU completes an SDU; a copy comes from `pool`.
  template <class Deliver>
  Outcome receive(MbufBuffer pdu, Time now, rte_mempool* pool, Deliver&& deliver);

  // Runs the timers.
  void tick(Time now);
  [[nodiscard]] Time next_expiry() const;
  // Buffers that the peer acknowledged: release() gives at most `budget` of them back, and at most 64.
  [[nodiscard]] bool has_acknowledged() const {
    const Am* const am = std::get_if<Am>(&entity_);
    return am != nullptr && am->retx().releasable();
  }
  void release(unsigned budget);
  // A radio link failure (TS 38.322 5.3.2) since the last call. The caller then calls give_up().
  [[nodiscard]] Failure take_failure();
  // Drops everything. SDUs count as given up.
  void give_up();
  // RLC re-establishment (TS 38.322 5.1.3): drops everything and begins with number 0.
  void reestablish() {
    give_up();
    failed_ = false;
  }

  // For a burst of many channels, whose state is in no cache.
  void prefetch() const {
    const auto* const at = reinterpret_cast<const char*>(this);
    for (std::size_t octet = 0; octet < kSendBytes; octet += 64) __builtin_prefetch(at + octet, 1);
  }

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] RlcView view() const;

  // Of the cell.
  RadioUe* ue = nullptr;
  LogicalChannel* next_working = nullptr;
  bool working = false;       // it is in the list of channels with work
  std::uint32_t counted = 0;  // of held(): in the sum of the cell

 private:
  static constexpr std::size_t kSendBytes = 384;  // what send() and room() look at

  void fail(Failure why) {
    if (std::exchange(failed_, true)) return;
    ++counters_.failures;
    failure_ = why;
  }

  std::uint32_t max_sdus_;
  bool failed_ = false;
  Failure failure_ = Failure::kNone;  // that take_failure() has not told yet
  std::uint64_t taken_before_ = 0;    // AM: SDUs taken until the last restart
  std::variant<Am, Um> entity_;
  BearerId id_;
  std::uint32_t lcid_;
  Counters counters_;
};

template <class Deliver>
LogicalChannel::Outcome LogicalChannel::receive(MbufBuffer pdu, Time now, rte_mempool* pool, Deliver&& deliver) {
  const auto take = [&](std::span<ran::rlc::Part<MbufBuffer>> parts) {
    WholeSdu whole = whole_sdu(parts, pool);
    counters_.copied += whole.copied ? 1 : 0;
    if (whole.sdu) [[likely]]
      return deliver(std::move(whole.sdu));
    ++counters_.no_buffer;
  };
  Am* const am = std::get_if<Am>(&entity_);
  if (am == nullptr) return std::get<Um>(entity_).rx.receive(std::move(pdu), now, take);
  if (!Am::is_status(pdu)) return am->receive_data(std::move(pdu), now, take);
  return am->receive_status(buf::octets(pdu), now, [this](std::uint32_t) { fail(Failure::kMaxRetx); });
}

}  // namespace splitplane::datapath
