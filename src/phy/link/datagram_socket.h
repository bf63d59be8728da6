// A datagram socket between two fixed ends. It never waits. A message goes as scatter lists by sendmmsg(), and several
// datagrams are fetched at once by recvmmsg(). The kernel drops what comes from others, because the socket is
// connected.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <span>
#include <vector>

#include "base/expected.h"
#include "base/ip_address.h"
#include "phy/link/counters.h"
#include "wire/bytes.h"

namespace splitplane::phy {

struct UdpEnd {
  IpAddress address;
  std::uint16_t port = 0;
};

class DatagramSocket {
 public:
  using Octets = wire::Octets;
  using Datagram = std::span<const Octets>;
  static constexpr std::size_t kDefaultBufferBytes = std::size_t{4} << 20;

  // UDP from `local` to `peer`, which have the same kind of address. The kernel's buffers are asked to be of
  // `buffer_bytes`, and are smaller where its limits (rmem_max, wmem_max) are.
  [[nodiscard]] static Expected<DatagramSocket> open(const UdpEnd& local, const UdpEnd& peer,
                                                     std::size_t buffer_bytes = kDefaultBufferBytes);
  // Takes a connected datagram socket of any kind, and closes it in the end.
  explicit DatagramSocket(int descriptor);
  ~DatagramSocket();
  DatagramSocket(DatagramSocket&& other) noexcept;
  DatagramSocket& operator=(DatagramSocket&&) = delete;

  // Sends the datagrams of one message in order. False if one could not be sent, and then none behind it is.
  [[nodiscard]] bool send(std::span<const Datagram> datagrams);

  // Calls f(octets) for at most `most` datagrams that are there, and returns how many were fetched.
  template <class F>
  unsigned receive(F f, unsigned most) {
    unsigned fetched = 0;
    while (fetched < most) {
      const unsigned wanted = std::min(most - fetched, kAtOnce);
      const unsigned n = fetch(wanted);
      for (unsigned i = 0; i < n; ++i) {
        if (const Octets datagram = whole(i); datagram.data() != nullptr) f(datagram);
      }
      fetched += n;
      if (n < wanted) break;
    }
    return fetched;
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const DatagramCounters& counters() const { return *counters_; }

 private:
  static constexpr unsigned kAtOnce = 16;
  static constexpr std::size_t kLongest = std::size_t{1} << 16;  // the longest that UDP has is shorter

  struct Fetched {
    std::unique_ptr<std::uint8_t[]> octets;
    iovec piece;
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint32_t))> control;
  };

  [[nodiscard]] unsigned fetch(unsigned most);
  // The datagram at this place; no address if it was truncated.
  [[nodiscard]] Octets whole(unsigned i);

  int descriptor_;
  std::unique_ptr<DatagramCounters> counters_ = std::make_unique<DatagramCounters>();
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> headers_;
  std::vector<Fetched> fetched_{kAtOnce};
  std::array<mmsghdr, kAtOnce> fetched_headers_{};
};

}  // namespace splitplane::phy
