// The bounds of the metrics endpoint, with limits small enough to reach; tests/live lets a real Prometheus scrape it.
#include "app/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <thread>

#include "app/control_socket.h"

namespace splitplane::app {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kGet = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
constexpr std::size_t kManyBearers = 30'000;  // more text than the kernel keeps between two sockets

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
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    const sockaddr_in address = loopback(port_);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    return fd;
  }
  // What comes first; empty if the server closed, "(nothing)" if it said nothing for the client's patience.
  static std::string answer(const Fd& fd) {
    char head[512];
    const ssize_t n = ::recv(fd.get(), head, sizeof head, 0);
    if (n < 0) return errno == ECONNRESET ? "" : "(nothing)";
    return {head, static_cast<std::size_t>(n)};
  }
  // Asks until the answer begins so, for some seconds: the server notices that a client left at its next turn.
  void expect_soon(const char* begin) const {
    const auto end = steady_clock::now() + std::chrono::seconds(10);
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

TEST_F(MetricsServerTest, clients_beyond_the_limit_get_nothing_until_one_leaves) {
  start({.clients = 3, .silence_s = 60});
  std::vector<Fd> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(client("GET /metrics HTT"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until all three are accepted
  const Fd fourth = client("");
  const timeval short_patience{.tv_sec = 0, .tv_usec = 300'000};
  ASSERT_EQ(::setsockopt(fourth.get(), SOL_SOCKET, SO_RCVTIMEO, &short_patience, sizeof short_patience), 0);
  (void)::send(fourth.get(), kGet.data(), kGet.size(), MSG_NOSIGNAL);
  EXPECT_THAT(answer(fourth), ::testing::AnyOf("", "(nothing)"));
  silent.clear();
  expect_soon("HTTP/1.1 200 ");
}

}  // namespace
}  // namespace splitplane::app
