// A real TUN device in a separate network namespace. It needs CAP_NET_ADMIN and /dev/net/tun; otherwise it is skipped.
#include "ue/tun.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ue/test_namespace.h"
#include "ue/ue_addresses.h"
#include "ue/ue_test_frames.h"

namespace splitplane::ue {
namespace {

using namespace test;

// 0, or the reason for which the kernel does not let us bind to `address`.
int bind_error(const char* address) {
  const Socket socket(AF_INET);
  const sockaddr_in a = v4(address, 0);
  return ::bind(socket.fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0 ? 0 : errno;
}
int bind_error_v6(const char* address) {
  const Socket socket(AF_INET6);
  sockaddr_in6 a{};
  a.sin6_family = AF_INET6;
  ::inet_pton(AF_INET6, address, &a.sin6_addr);
  return ::bind(socket.fd, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0 ? 0 : errno;
}

TEST(Tun, packets_pass_between_the_device_and_a_socket_in_both_directions) {
  const bool entered = in_own_namespace([] {
    auto tun = Tun::create({.name = "sptun0", .mtu = 1300});
    ASSERT_TRUE(tun.has_value()) << tun.error().message;
    ASSERT_TRUE(tun->add_address(ip("10.45.0.2")).value());
    ASSERT_TRUE(tun->add_default_route(false).has_value());

    const Socket socket(AF_INET);
    const sockaddr_in ours = v4("10.45.0.2", 40001);
    const sockaddr_in theirs = v4("8.8.8.8", 40002);
    ASSERT_EQ(::bind(socket.fd, reinterpret_cast<const sockaddr*>(&ours), sizeof ours), 0);
    ASSERT_EQ(::sendto(socket.fd, "hi", 2, 0, reinterpret_cast<const sockaddr*>(&theirs), sizeof theirs), 2);
    HeapOctets packet(2048);
    const std::size_t bytes = tun->read(packet.all());
    ASSERT_EQ(bytes, 30U);
    const std::string hex = to_hex(wire::Octets(packet).first(bytes));
    EXPECT_EQ(hex.substr(24), "0a2d0002080808089c419c42000a" + hex.substr(52, 4) + "6869");  // from the addresses on
    EXPECT_EQ(tun->read(packet.all()), 0U);

    // The answer: the same UDP datagram the other way round, without a UDP checksum.
    const auto answer = from_hex("4500001e000100004011609008080808 0a2d0002 9c429c41000a0000 6f6b");
    EXPECT_EQ(tun->write(answer), Tun::Write::kTaken);
    char text[8] = {};
    ASSERT_EQ(::recv(socket.fd, text, sizeof text, 0), 2) << std::strerror(errno);
    EXPECT_STREQ(text, "ok");
    EXPECT_EQ(tun->write(from_hex("1234")), Tun::Write::kRefused);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(Tun, addresses_come_and_go_with_the_bearers_that_have_them) {
  const bool entered = in_own_namespace([] {
    auto tun = Tun::create({.name = "sptun0"});
    ASSERT_TRUE(tun.has_value()) << tun.error().message;
    UeAddresses addresses(*tun);
    auto config = bearer(RlcMode::kAm, 18, 18);
    ASSERT_TRUE(tun->add_address(ip("192.0.2.1")).value());  // a namespace without any lets us bind to all of them
    EXPECT_EQ(bind_error("10.45.0.2"), EADDRNOTAVAIL);
    addresses.follow({BearerChange::Kind::kEstablish, config, {}, {}});
    EXPECT_EQ(bind_error("10.45.0.2"), 0);
    EXPECT_EQ(bind_error_v6("fd00:45::2"), 0);
    auto twin = config;
    twin.id = BearerId{77};
    addresses.follow({BearerChange::Kind::kEstablish, twin, {}, {}});
    addresses.follow({BearerChange::Kind::kRelease, config, {}, {}});
    EXPECT_EQ(bind_error("10.45.0.2"), 0);  // another bearer still has the address
    auto moved = twin;
    moved.ue_ipv4 = ip("10.45.0.3");
    addresses.follow({BearerChange::Kind::kUpdate, moved, twin, {}});
    EXPECT_EQ(bind_error("10.45.0.2"), EADDRNOTAVAIL);
    EXPECT_EQ(bind_error("10.45.0.3"), 0);
    addresses.follow({BearerChange::Kind::kRelease, moved, {}, {}});
    EXPECT_EQ(bind_error("10.45.0.3"), EADDRNOTAVAIL);
    EXPECT_EQ(bind_error_v6("fd00:45::2"), EADDRNOTAVAIL);
    EXPECT_EQ(tun->address_count(), 1U);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(Tun, takes_1024_addresses_and_no_more) {
  const bool entered = in_own_namespace([] {
    auto tun = Tun::create({.name = "sptun0"});
    ASSERT_TRUE(tun.has_value()) << tun.error().message;
    for (std::uint64_t i = 0; i < Tun::kMaxAddresses; ++i)
      ASSERT_TRUE(tun->add_address(ip("10.1.0.0").plus(i)).value()) << i;
    EXPECT_FALSE(tun->add_address(ip("10.2.0.0")).value());
    EXPECT_EQ(bind_error("10.1.3.255"), 0);
    EXPECT_EQ(bind_error("10.2.0.0"), EADDRNOTAVAIL);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(Tun, is_up_with_its_mtu_and_gone_with_the_object) {
  const bool entered = in_own_namespace([] {
    {
      auto tun = Tun::create({.name = "sptun0", .mtu = 1234});
      ASSERT_TRUE(tun.has_value()) << tun.error().message;
      Socket socket(AF_INET);
      ifreq request{};
      std::strcpy(request.ifr_name, "sptun0");
      ASSERT_EQ(::ioctl(socket.fd, SIOCGIFMTU, &request), 0);
      EXPECT_EQ(request.ifr_mtu, 1234);
      ASSERT_EQ(::ioctl(socket.fd, SIOCGIFFLAGS, &request), 0);
      EXPECT_NE(request.ifr_flags & IFF_UP, 0);
      const auto twice = Tun::create({.name = "sptun0"});
      ASSERT_FALSE(twice.has_value());
      EXPECT_EQ(twice.error().message, "TUN device sptun0: could not be made: another process uses it");
    }
    EXPECT_EQ(::if_nametoindex("sptun0"), 0U);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(Tun, a_name_that_the_kernel_cannot_have_is_refused) {
  EXPECT_FALSE(Tun::create({.name = ""}).has_value());
  EXPECT_FALSE(Tun::create({.name = "a-name-of-16-chr"}).has_value());
}

}  // namespace
}  // namespace splitplane::ue
