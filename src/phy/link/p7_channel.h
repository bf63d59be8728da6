// P7 over a datagram socket: cuts messages into datagrams, and puts together those that come. Both ends use it.
#pragma once

#include "phy/fapi/p7_receiver.h"
#include "phy/fapi/p7_sender.h"
#include "phy/link/datagram_socket.h"
#include "phy/link/frame_time.h"

namespace splitplane::phy {

#define SPLITPLANE_SEND_OUTCOMES(X)                                     \
  X(sent, "the kernel took all datagrams of the message")               \
  X(not_running, "the PHY does not run, so the message was not sent")   \
  X(unwritable, "a field or the length of the message is out of range") \
  X(cut_short, "the kernel did not take all datagrams, so the message is lost")

SPLITPLANE_OUTCOMES(SendOutcome, SPLITPLANE_SEND_OUTCOMES)

struct P7Settings {
  std::size_t max_datagram_bytes = 1472;  // the MTU less 28 octets for IPv4, 48 for IPv6
  fapi::ChecksumMode checksums = fapi::ChecksumMode::kIfThere;
  Time segments_timeout = 10'000;  // after which a message with missing segments is given up
};

class P7Channel {
 public:
  P7Channel(DatagramSocket socket, std::uint16_t phy_id, const P7Settings& settings);

  // The pieces are read before this returns, and not kept.
  [[nodiscard]] SendOutcome send(fapi::MessageId id, std::span<const wire::Octets> pieces, Time now);
  [[nodiscard]] SendOutcome send(const fapi::TxDataRequest& message, Time now);
  template <class Message>
  [[nodiscard]] SendOutcome send(const Message& message, Time now) {
    const fapi::Written written = fapi::write_body(room_, message);
    const wire::Octets body = wire::Octets(room_).first(written.bytes);
    return written.reason == fapi::Reason::ok ? send(Message::kId, {&body, 1}, now) : refuse();
  }

  // Calls f(message ID, body) for each message that is complete. At most `most` datagrams are fetched.
  template <class F>
  void receive(F f, unsigned most, Time now) {
    socket_.receive(
        [&](wire::Octets datagram) {
          const auto event = receiver_.receive(datagram, now);
          count(event.outcome);
          if (event.outcome == fapi::P7Outcome::message) f(event.header.message_id, event.body);
        },
        most);
    receiver_.expire(now);
  }

  // The peer begins again: any sequence number may come, and messages with missing segments are given up.
  void restart() { receiver_.restart(); }
  // A slot began at `now`.
  void anchor(std::uint16_t sfn, std::uint16_t slot, unsigned numerology, Time now) {
    frame_time_.anchor(sfn, slot, numerology, now);
  }

  void count_unreadable() { counters_.unreadable.add(1); }
  void count_unexpected() { counters_.unexpected.add(1); }

  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] const P7Counters& counters() const { return counters_; }
  [[nodiscard]] const DatagramCounters& datagrams() const { return socket_.counters(); }
  // For the link's own thread only.
  [[nodiscard]] const fapi::P7Receiver::Counters& receiver() const { return receiver_.counters(); }

 private:
  [[nodiscard]] SendOutcome refuse();
  void count(fapi::P7Outcome outcome);

  DatagramSocket socket_;
  fapi::P7Sender sender_;
  fapi::P7Receiver receiver_;
  FrameTime frame_time_;
  P7Counters counters_;
  std::vector<std::uint8_t> room_;  // the longest body that can be cut
  std::unique_ptr<fapi::TxDataWriter> writer_ = std::make_unique<fapi::TxDataWriter>();
};

}  // namespace splitplane::phy
