#include "phy/link/datagram_socket.h"

#include <gtest/gtest.h>

#include "phy/link/test_net.h"

namespace splitplane::phy {
namespace {

using test::Bytes;
using test::end_of;
using test::open_pair;

TEST(DatagramSocket, scatter_lists_arrive_whole_and_in_order) {
  auto [a, b] = open_pair(1);
  const Bytes parts[] = {{1, 2}, {3}, {4, 5, 6}, {7}};
  const wire::Octets first[] = {parts[0], parts[1]}, second[] = {parts[2], parts[3]};
  const DatagramSocket::Datagram message[] = {first, second};
  ASSERT_TRUE(a.send(message));
  EXPECT_EQ(test::receive(b, 2), (std::vector<Bytes>{{1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(a.counters().sent.get(), 2U);
  EXPECT_EQ(b.counters().received.get(), 2U);
}

TEST(DatagramSocket, ipv6_works_as_ipv4) {
  const IpAddress loopback = *IpAddress::parse("::1");
  const auto port = static_cast<std::uint16_t>(20'000 + ::getpid() % 20'000);
  auto a = DatagramSocket::open({loopback, port}, {loopback, static_cast<std::uint16_t>(port + 1)});
  if (!a) GTEST_SKIP() << a.error().message;
  auto b = DatagramSocket::open({loopback, static_cast<std::uint16_t>(port + 1)}, {loopback, port});
  ASSERT_TRUE(b) << b.error().message;
  ASSERT_TRUE(test::send(*a, {9}));
  EXPECT_EQ(test::receive(*b, 1), (std::vector<Bytes>{{9}}));
}

TEST(DatagramSocket, what_others_send_does_not_arrive) {
  auto [a, b] = open_pair(2);
  auto other = DatagramSocket::open(end_of(2, 3), end_of(2, 2));
  ASSERT_TRUE(other);
  (void)test::send(*other, {6, 6, 6});
  ASSERT_TRUE(test::send(a, {1}));
  EXPECT_EQ(test::receive(b, 1), (std::vector<Bytes>{{1}}));
  EXPECT_EQ(b.counters().received.get(), 1U);
}

TEST(DatagramSocket, an_error_of_open_names_the_address) {
  auto [a, b] = open_pair(3);
  const auto again = DatagramSocket::open(end_of(3, 1), end_of(3, 2));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("cannot be bound: Address already in use"), std::string::npos);
  EXPECT_FALSE(DatagramSocket::open({*IpAddress::parse("::1"), 1}, end_of(3, 2)));
}

TEST(DatagramSocket, without_room_in_the_kernel_the_rest_of_a_message_is_given_up) {
  int both[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both), 0);
  DatagramSocket a(both[0]), b(both[1]);
  std::uint64_t taken = 0;
  while (test::send(a, {1})) ++taken;
  EXPECT_EQ(a.counters().no_room.get(), 1U);
  EXPECT_EQ(a.counters().sent.get(), taken);
  const Bytes octet{2};
  const wire::Octets piece(octet);
  const DatagramSocket::Datagram datagram(&piece, 1);
  const DatagramSocket::Datagram message[] = {datagram, datagram, datagram};
  EXPECT_FALSE(a.send(message));
  EXPECT_EQ(a.counters().no_room.get(), 2U);
  EXPECT_EQ(a.counters().given_up.get(), 2U);
  EXPECT_EQ(test::receive(b, taken).size(), taken);
  EXPECT_TRUE(a.send(message));
}

TEST(DatagramSocket, a_datagram_that_the_kernel_refuses_is_an_error_and_not_tried_again) {
  auto [a, b] = open_pair(4);
  EXPECT_FALSE(test::send(a, Bytes(70'000)));
  EXPECT_EQ(a.counters().send_errors.get(), 1U);
}

TEST(DatagramSocket, a_datagram_longer_than_the_buffer_is_dropped) {
  int both[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both), 0);
  DatagramSocket a(both[0]), b(both[1]);
  ASSERT_TRUE(test::send(a, Bytes(70'000)));
  ASSERT_TRUE(test::send(a, {1}));
  EXPECT_EQ(test::receive(b, 1), (std::vector<Bytes>{{1}}));
  EXPECT_EQ(b.counters().truncated.get(), 1U);
}

TEST(DatagramSocket, a_peer_that_is_not_there_is_counted_and_reached_once_it_is) {
  auto a = DatagramSocket::open(end_of(5, 1), end_of(5, 2));
  ASSERT_TRUE(a);
  EXPECT_TRUE(test::until([&] {
    EXPECT_TRUE(test::send(*a, {2}));
    return a->counters().unreachable.get() != 0;
  }));
  auto b = DatagramSocket::open(end_of(5, 2), end_of(5, 1));
  ASSERT_TRUE(b);
  EXPECT_TRUE(test::send(*a, {7}));
  EXPECT_EQ(test::receive(*b, 1), (std::vector<Bytes>{{7}}));
}

TEST(DatagramSocket, what_the_kernel_drops_is_counted) {
  auto a = DatagramSocket::open(end_of(6, 1), end_of(6, 2));
  auto b = DatagramSocket::open(end_of(6, 2), end_of(6, 1), 8192);
  ASSERT_TRUE(a && b);
  for (unsigned i = 0; i < 100; ++i) ASSERT_TRUE(test::send(*a, Bytes(1000)));
  const auto first = test::receive_all(*b);
  EXPECT_LT(first.size(), 100U);
  ASSERT_TRUE(test::send(*a, {1}));  // the kernel tells with the next datagram
  EXPECT_EQ(test::receive(*b, 1).size(), 1U);
  EXPECT_EQ(b->counters().kernel_dropped.get(), 100 - first.size());
}

TEST(DatagramSocket, counters_have_names) {
  auto [a, b] = open_pair(7);
  ASSERT_TRUE(test::send(a, {1}));
  std::vector<std::string> names;
  a.counters().for_each([&](std::string_view name, std::string_view, std::uint64_t value) {
    if (value != 0) names.emplace_back(name);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"sent"}));
}

}  // namespace
}  // namespace splitplane::phy
