// P5 over a datagram socket: one datagram a message. Both ends use it.
#pragma once

#include "phy/fapi/nfapi.h"
#include "phy/link/datagram_socket.h"

namespace splitplane::phy {

class P5Channel {
 public:
  P5Channel(DatagramSocket socket, std::uint16_t phy_id) : socket_(std::move(socket)), phy_id_(phy_id) {}

  template <class Message>
  void send(const Message& message) {
    const fapi::Written written = fapi::write_p5(room_, phy_id_, message);
    const wire::Octets octets = wire::Octets(room_).first(written.bytes);
    const DatagramSocket::Datagram datagram(&octets, 1);
    const bool sent = written.reason == fapi::Reason::ok && socket_.send({&datagram, 1});
    (sent ? counters_.sent : counters_.not_sent).add(1);
  }

  // Calls f(message ID, body) for the messages that are there, `most` at most.
  template <class F>
  void receive(F f, unsigned most) {
    socket_.receive(
        [&](wire::Octets datagram) {
          const auto parsed = fapi::parse_p5(datagram);
          if (parsed.reason != fapi::Reason::ok || parsed.header.phy_id != phy_id_) return counters_.refused.add(1);
          counters_.messages.add(1);
          f(parsed.header.message_id, parsed.body);
        },
        most);
  }

  void count_unreadable() { counters_.unreadable.add(1); }
  void count_unexpected() { counters_.unexpected.add(1); }

  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] const P5Counters& counters() const { return counters_; }
  [[nodiscard]] const DatagramCounters& datagrams() const { return socket_.counters(); }

 private:
  DatagramSocket socket_;
  std::uint16_t phy_id_;
  P5Counters counters_;
  std::array<std::uint8_t, 4096> room_{};  // the longest, CONFIG.response, has 1.1 KiB
};

}  // namespace splitplane::phy
