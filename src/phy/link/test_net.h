// For tests only: loopback addresses that no other test process has, and what tests do with sockets. A Relay stands
// between two ends and loses, changes or invents datagrams.
#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <vector>

#include "phy/link/datagram_socket.h"

namespace splitplane::phy::test {

using Bytes = std::vector<std::uint8_t>;

// End `number` of a net of this process: 127.x.y.z has room for all of them.
inline UdpEnd end_of(unsigned net, unsigned number) {
  const auto pid = static_cast<unsigned>(::getpid());
  const std::array<std::uint8_t, 4> octets{127, static_cast<std::uint8_t>(1 + (pid >> 8) % 250),
                                           static_cast<std::uint8_t>(pid), static_cast<std::uint8_t>(net)};
  return {IpAddress::v4(octets), static_cast<std::uint16_t>(7000 + number)};
}

inline std::pair<DatagramSocket, DatagramSocket> open_pair(unsigned net) {
  return {std::move(DatagramSocket::open(end_of(net, 1), end_of(net, 2)).value()),
          std::move(DatagramSocket::open(end_of(net, 2), end_of(net, 1)).value())};
}

// Tries until it is so; the kernel may deliver a datagram a little later. False after 10 s.
template <class F>
bool until(F is_so) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > last) return false;
  }
  return true;
}

inline bool send(DatagramSocket& socket, const Bytes& octets) {
  const wire::Octets piece(octets);
  const DatagramSocket::Datagram datagram(&piece, 1);
  return socket.send({&datagram, 1});
}

inline std::vector<Bytes> receive_all(DatagramSocket& socket) {
  std::vector<Bytes> out;
  socket.receive([&out](wire::Octets o) { out.emplace_back(o.begin(), o.end()); }, 1'000'000);
  return out;
}

// Waits for this number of datagrams.
inline std::vector<Bytes> receive(DatagramSocket& socket, std::size_t count) {
  std::vector<Bytes> out;
  until([&] {
    for (Bytes& datagram : receive_all(socket)) out.push_back(std::move(datagram));
    return out.size() >= count;
  });
  return out;
}

class Relay {
 public:
  // What becomes of a datagram: none, itself, or others. `down`: from the first end to the second.
  using Rule = std::function<std::vector<Bytes>(Bytes datagram, bool down)>;

  // Between the ends `first` and `first` + 1 of a net, whose peers are the ends with numbers that are 10 higher.
  Relay(unsigned net, unsigned first)
      : up_(DatagramSocket::open(end_of(net, first + 10), end_of(net, first)).value()),
        down_(DatagramSocket::open(end_of(net, first + 11), end_of(net, first + 1)).value()) {}

  Rule rule = [](Bytes datagram, bool) { return std::vector<Bytes>{std::move(datagram)}; };

  void poll() {
    move(up_, down_, true);
    move(down_, up_, false);
  }
  // A datagram that neither end sent.
  void inject(const Bytes& datagram, bool down) { (void)send(down ? down_ : up_, datagram); }

 private:
  void move(DatagramSocket& from, DatagramSocket& to, bool down) {
    for (Bytes& datagram : receive_all(from)) {
      for (const Bytes& out : rule(std::move(datagram), down)) (void)send(to, out);
    }
  }

  DatagramSocket up_, down_;
};

}  // namespace splitplane::phy::test
