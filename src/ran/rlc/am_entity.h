// One AM entity with both its directions and with segmentation: PDCP is above it, the grants of MAC below it. Full mode
// uses it (radio/logical_channel.h). Header mode has no grants: there arq/ takes AmRetx and AmReceive. The caller
// passes the time.
#pragma once

#include "ran/rlc/am_receive.h"
#include "ran/rlc/am_retx.h"
#include "ran/rlc/am_send.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class AmEntity {
 public:
  AmEntity(const AmConfig& config, Memory<B>& memory)
      : send_(config, memory), retx_(config, memory), receive_(config, memory) {}

  [[nodiscard]] bool send(B& sdu) { return send_.send(sdu); }
  bool discard(std::uint64_t ordinal) { return send_.discard(ordinal); }
  void set_poll_pdu(std::uint16_t poll_pdu) { send_.set_poll_pdu(poll_pdu); }

  // Returns the next data PDU within `grant` octets. A waiting retransmission goes before new data (TS 38.322
  // 5.2.3.1.1).
  [[nodiscard]] Pdu<B> pull_data(std::size_t grant, Time now) {
    if (retx_.has_pending()) {
      const std::uint64_t before_it = retx_.counters().polls;
      Pdu<B> pdu = retx_.pull(grant, send_.state(retx_state()), now);
      if (retx_.counters().polls != before_it) send_.polled();
      return pdu;
    }
    Submission<B> submission;
    Pdu<B> pdu = send_.pull(grant, retx_state(), submission);
    if (pdu) retx_.submitted(std::move(submission), now);
    return pdu;
  }
  // A STATUS PDU goes before data: MAC asks for it before pull_data(). write_status() returns the octets written, or 0
  // if `out` has no room for a STATUS without NACK.
  [[nodiscard]] bool status_due() const { return receive_.status_due(); }
  [[nodiscard]] std::size_t write_status(MutableOctets out, Time now) { return receive_.write_status(out, now); }
  // Writes the next PDU of any kind to `out`, whose size is the grant. Returns its octets, or 0 if there is none.
  [[nodiscard]] std::size_t pull(MutableOctets out, Time now) {
    if (receive_.status_due()) {
      if (const std::size_t bytes = receive_.write_status(out, now); bytes != 0) return bytes;
    }
    const Pdu<B> pdu = pull_data(out.size(), now);
    return pdu ? pdu.write(out) : 0;
  }

  // Takes a PDU from the lower layer. AmReceive describes `deliver`, AmRetx describes `max_retx`.
  template <class Deliver, class MaxRetx>
  void receive(B pdu, Time now, Deliver&& deliver, MaxRetx&& max_retx) {
    if (is_status(pdu)) {
      (void)receive_status(buf::octets(pdu), now, max_retx);
    } else {
      (void)receive_data(std::move(pdu), now, deliver);
    }
  }
  // The same in two halves, for a caller that counts what became of each PDU.
  [[nodiscard]] static bool is_status(const B& pdu) {
    const Octets in = buf::octets(pdu);
    return !in.empty() && !wire::rlc::is_am_data(in[0]);
  }
  template <class MaxRetx>
  StatusResult receive_status(Octets pdu, Time now, MaxRetx&& max_retx) {
    return retx_.receive_status(pdu, now, max_retx);
  }
  template <class Deliver>
  Received receive_data(B pdu, Time now, Deliver&& deliver) {
    return receive_.receive(std::move(pdu), now, deliver);
  }

  // The data volume for MAC's buffer status report (TS 38.322 5.5): the octets of the PDUs that would carry everything
  // that waits.
  [[nodiscard]] std::uint64_t volume() const { return receive_.volume() + retx_.volume() + send_.volume(); }

  // What of it a grant could carry now, for a scheduler: new SDUs wait while the window or the memory for copies is
  // full, so that a grant for them would be padding.
  [[nodiscard]] std::uint64_t sendable() const {
    const std::uint64_t unsent = send_.volume();
    const bool stalled = unsent != 0 && send_.state(retx_state()).stalled;
    return receive_.volume() + retx_.volume() + (stalled ? 0 : unsent);
  }

  template <class MaxRetx>
  void tick(Time now, MaxRetx&& max_retx) {
    receive_.tick(now);
    retx_.tick(now, send_.state(retx_state()), max_retx);
  }
  [[nodiscard]] Time next_expiry() const { return std::min(receive_.next_expiry(), retx_.next_expiry()); }
  template <class Released>
  std::size_t release(std::size_t budget, Released&& released) {
    return retx_.release(budget, released);
  }

  // Re-establishes the entity (TS 38.322 5.1.3; there `sn` is 0): it drops everything it holds and sets all state
  // variables to `sn`.
  void restart_at(std::uint32_t sn) {
    send_.restart_at(sn);
    retx_.restart_at(sn);
    receive_.restart_at(sn);
  }

  [[nodiscard]] const AmSend<B>& sender() const { return send_; }
  [[nodiscard]] const AmRetx<B>& retx() const { return retx_; }
  [[nodiscard]] const AmReceive<B>& receiver() const { return receive_; }

 private:
  [[nodiscard]] RetxState retx_state() const {
    return {retx_.next_ack(), retx_.has_pending(), retx_.poll_wanted(), retx_.room()};
  }

  AmSend<B> send_;
  AmRetx<B> retx_;
  AmReceive<B> receive_;
};

}  // namespace splitplane::ran::rlc
