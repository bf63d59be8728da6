// Compared with Microsoft's verification suite for RSS ("Verifying the RSS hash calculation").
#include "nicmodel/toeplitz.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gpu/nic/nic_82599.h"

namespace splitplane::nicmodel {
namespace {

struct Vector {
  const char* destination;
  std::uint16_t destination_port;
  const char* source;
  std::uint16_t source_port;
  std::uint32_t addresses, with_ports;
};

// Input: source address, destination address, source port, destination port.
template <std::size_t N>
std::array<std::uint8_t, 2 * N + 4> input_of(int family, const Vector& v) {
  std::array<std::uint8_t, 2 * N + 4> input{};
  inet_pton(family, v.source, input.data());
  inet_pton(family, v.destination, input.data() + N);
  const std::uint8_t ports[4] = {
      static_cast<std::uint8_t>(v.source_port >> 8), static_cast<std::uint8_t>(v.source_port),
      static_cast<std::uint8_t>(v.destination_port >> 8), static_cast<std::uint8_t>(v.destination_port)};
  std::memcpy(input.data() + 2 * N, ports, sizeof ports);
  return input;
}

TEST(ToeplitzTest, hashes_ipv4_as_microsoft_says) {
  const Toeplitz toeplitz(gpu::kDefaultRssKey);
  for (const Vector& v : {Vector{"161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178},
                          Vector{"65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea},
                          Vector{"12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a},
                          Vector{"209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f},
                          Vector{"202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2}}) {
    const auto input = input_of<4>(AF_INET, v);
    EXPECT_EQ(toeplitz.hash<8>(input.data()), v.addresses) << v.source;
    EXPECT_EQ(toeplitz.hash<12>(input.data()), v.with_ports) << v.source;
  }
}

TEST(ToeplitzTest, hashes_ipv6_as_microsoft_says) {
  const Toeplitz toeplitz(gpu::kDefaultRssKey);
  for (const Vector& v : {Vector{"3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d},
                          Vector{"ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf},
                          Vector{"fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251,
                                 0x4b61e985, 0x02d1feef}}) {
    const auto input = input_of<16>(AF_INET6, v);
    EXPECT_EQ(toeplitz.hash<32>(input.data()), v.addresses) << v.source;
    EXPECT_EQ(toeplitz.hash<36>(input.data()), v.with_ports) << v.source;
  }
}

}  // namespace
}  // namespace splitplane::nicmodel
