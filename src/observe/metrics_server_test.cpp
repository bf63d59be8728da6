// The bounds of the metrics endpoint, with limits small enough to reach; tests/live lets a real Prometheus scrape it.
#include "observe/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <thread>

#include "control/socket.h"

namespace splitplane::app {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kGet = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
constexpr std::size_t kManyBearers = 12'000;  // more text than the kernel keeps between two sockets

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  return ntohs(address.sin_port);
}

class MetricsServerTest : public ::testing::Test {
 protected:
  void start(MetricsServerLimits limits, std::size_t bearers = 0) {
    Scrape scrape;
    scrape.with_bearers = true;
    scrape.bearers.resize(bearers);
    auto server = MetricsServer::start({IpAddress::v4({127, 0, 0, 1}), port_}, [scrape] { return scrape; }, limits);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  // A client that has sent `text`.
  [[nodiscard]] Fd client(std::string_view text) const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int small = 4096;
    EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    const sockaddr_in address = loopback(port_);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return fd;
  }
  // The start of the answer; empty if the server closed, "(nothing)" if it sent nothing in time.
  static std::string answer(const Fd& fd) {
    char head[512];
    const ssize_t n = ::recv(fd.get(), head, sizeof head, 0);
    if (n < 0) return errno == ECONNRESET ? "" : "(nothing)";
    return {head, static_cast<std::size_t>(n)};
  }
  // Asks for some seconds until the answer begins so, because the server notices only at its next turn that a client
  // left.
  void expect_soon(const char* begin) const {
    const auto end = steady_clock::now() + std::chrono::seconds(60);
    std::string said;
    do {
      said = answer(client(kGet));
      if (said.starts_with(begin)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (steady_clock::now() < end);
    ADD_FAILURE() << "no " << begin << " but " << said;
  }

  const std::uint16_t port_ = free_port();
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, while_too_much_is_unread_others_get_503) {
  start({.silence_s = 60, .unread_bytes = 1 << 20}, kManyBearers);
  {
    const Fd never_reads = client(kGet);
    expect_soon("HTTP/1.1 503 ");
  }
  expect_soon("HTTP/1.1 200 ");
}

TEST_F(MetricsServerTest, who_says_nothing_is_dropped_after_a_time) {
  start({.silence_s = 1});
  EXPECT_EQ(answer(client("GET /metrics HTT")), "");
}

TEST_F(MetricsServerTest, who_says_little_for_long_is_dropped_as_well) {
  start({.silence_s = 60, .age_s = 1});
  const Fd slow = client("GET /metrics HTTP/1.1\r\nX: ");
  const auto end = steady_clock::now() + std::chrono::seconds(30);
  bool dropped = false;
  while (!dropped && steady_clock::now() < end) {
    dropped = ::send(slow.get(), "x", 1, MSG_NOSIGNAL) < 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(dropped) << "an octet each 50 ms keeps a connection for ever";
}

TEST_F(MetricsServerTest, slow_clients_of_one_address_shut_out_nobody) {
  start({.clients = 64, .clients_of_address = 8, .silence_s = 60, .age_s = 60});
  std::vector<Fd> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(client("GET /metrics HTT"));
    if (i % 10 == 0) {
      EXPECT_TRUE(answer(client(kGet)).starts_with("HTTP/1.1 200 ")) << i;
    }
  }
  expect_soon("HTTP/1.1 200 ");
}

TEST_F(MetricsServerTest, the_oldest_client_makes_room_for_a_new_one) {
  start({.clients = 3, .silence_s = 60, .age_s = 60});
  std::vector<Fd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(client("GET /metrics HTT"));
  expect_soon("HTTP/1.1 200 ");
  EXPECT_EQ(answer(silent[0]), "") << "the oldest one is dropped";
}

}  // namespace
}  // namespace splitplane::app
