// The server and a registry of methods together, over the socket.
#include "control/server.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "control/client.h"
#include "control/registry.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Its statistics are as long, and take as long, as a test wants.
struct SlowMachine {
  void add_methods(MethodRegistry& registry) const {
    registry.add("stats", without_params([this]() -> Expected<Json> {
                   std::this_thread::sleep_for(stats_take);
                   return Json{{"padding", std::string(padding_bytes, 'x')}};
                 }));
  }
  std::chrono::milliseconds stats_take{0};
  std::size_t padding_bytes = 0;
};

class ControlServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    directory_ = ::mkdtemp(name);
    options_.path = directory_ + "/control.sock";
    options_.write_timeout = 300ms;
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  Expected<ControlServer::Answer> answers() {
    MethodRegistry methods([this] { stops_.fetch_add(1); });
    machine_.add_methods(methods);
    return answers_of(std::move(methods));
  }
  void start() {
    auto server = ControlServer::start(options_, answers());
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  Fd raw() {
    auto fd = connect_to(options_.path);
    EXPECT_TRUE(fd);
    return fd ? *std::move(fd) : Fd();
  }
  static void put(const Fd& fd, const std::string& text) {
    ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Everything up to the n-th newline, the end of the connection, or two seconds.
  static std::string get(const Fd& fd, std::size_t lines = 1) {
    std::string text;
    pollfd p{fd.get(), POLLIN, 0};
    while (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < lines && ::poll(&p, 1, 2000) == 1) {
      char chunk[4096];
      const ssize_t n = ::recv(fd.get(), chunk, sizeof chunk, 0);
      if (n <= 0) break;
      text.append(chunk, static_cast<std::size_t>(n));
    }
    return text;
  }
  // True once the server has closed the connection.
  static bool closed(const Fd& fd) {
    pollfd p{fd.get(), POLLIN, 0};
    char octet = 0;
    return ::poll(&p, 1, 2000) == 1 && ::recv(fd.get(), &octet, 1, 0) <= 0;
  }
  void expect_alive() {
    auto client = ControlClient::connect(options_.path, 2000ms);
    ASSERT_TRUE(client) << client.error().message;
    EXPECT_TRUE(client->call("ping"));
  }

  std::string directory_;
  ControlServerOptions options_;
  SlowMachine machine_;
  std::atomic<int> stops_{0};
  std::unique_ptr<ControlServer> server_;
};

constexpr const char* kPing = "{\"id\":1,\"method\":\"ping\"}\n";

TEST_F(ControlServerTest, only_the_owner_may_open_the_socket_and_it_goes_with_the_server) {
  start();
  struct stat info{};
  ASSERT_EQ(::lstat(options_.path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  server_.reset();
  EXPECT_NE(::lstat(options_.path.c_str(), &info), 0);
}

TEST_F(ControlServerTest, a_program_that_registers_a_method_twice_does_not_start) {
  MethodRegistry methods([] {});
  machine_.add_methods(methods);
  machine_.add_methods(methods);
  const auto server = ControlServer::start(options_, answers_of(std::move(methods)));
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().message, "control method stats is registered twice, which is a mistake of this program");
  EXPECT_FALSE(std::filesystem::exists(options_.path));
}

TEST_F(ControlServerTest, a_dead_instances_socket_is_replaced_a_live_one_refused) {
  {
    const auto left_behind = listen_at(options_.path);
    ASSERT_TRUE(left_behind);
  }
  ASSERT_TRUE(std::filesystem::exists(options_.path));
  start();
  expect_alive();
  const auto second = ControlServer::start(options_, answers());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("belongs to a running instance"));
  expect_alive();
}

TEST_F(ControlServerTest, a_file_in_the_way_is_left_alone) {
  std::ofstream(options_.path) << "precious";
  const auto server = ControlServer::start(options_, answers());
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(options_.path), 8U);
}

TEST_F(ControlServerTest, a_path_that_does_not_fit_or_exist_is_refused) {
  options_.path = directory_ + "/" + std::string(120, 'x');
  EXPECT_FALSE(ControlServer::start(options_, answers()));
  options_.path = directory_ + "/missing/control.sock";
  const auto server = ControlServer::start(options_, answers());
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message, HasSubstr("No such file or directory"));
}

TEST_F(ControlServerTest, stop_calls_back_after_which_the_reply_arrives) {
  start();
  auto client = ControlClient::connect(options_.path);
  ASSERT_TRUE(client);
  const auto result = client->call("stop");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(stops_.load(), 1);
}

TEST_F(ControlServerTest, a_line_may_arrive_in_pieces_and_many_in_one) {
  start();
  const Fd fd = raw();
  for (const char* at = kPing; *at != '\0'; ++at) put(fd, std::string(1, *at));
  EXPECT_THAT(get(fd), HasSubstr("\"process\""));
  std::string burst = "\n\r\n";
  for (int i = 0; i < 100; ++i) burst += kPing;
  put(fd, burst + "{\"id\":2,");
  const std::string replies = get(fd, 100);
  EXPECT_EQ(std::count(replies.begin(), replies.end(), '\n'), 100);
  put(fd, "\"method\":\"ping\"}\n");
  EXPECT_THAT(get(fd), HasSubstr("\"id\":2"));
}

TEST_F(ControlServerTest, garbage_gets_an_error_and_the_connection_goes_on) {
  start();
  const Fd fd = raw();
  put(fd, std::string("\x00\xff{{{]\n", 7));
  EXPECT_THAT(get(fd), HasSubstr("\"error\""));
  put(fd, kPing);
  EXPECT_THAT(get(fd), HasSubstr("\"process\""));
}

TEST_F(ControlServerTest, a_line_of_the_limit_is_read_and_one_beyond_it_ends_the_connection) {
  start();
  const Fd fd = raw();
  const std::string ping(kPing, std::strlen(kPing) - 1);
  put(fd, ping + std::string(options_.max_line_bytes - ping.size(), ' ') + "\n");
  EXPECT_THAT(get(fd), HasSubstr("\"process\""));
  put(fd, std::string(options_.max_line_bytes + 1, 'x'));
  EXPECT_THAT(get(fd), HasSubstr("line too long; allowed are 65536 octets"));
  EXPECT_TRUE(closed(fd));
  expect_alive();
}

TEST_F(ControlServerTest, the_client_beyond_the_limit_is_told_so_and_a_leaver_makes_room) {
  options_.idle_grace = 1h;
  start();
  std::vector<Fd> clients;
  for (std::size_t i = 0; i < options_.max_clients; ++i) {
    clients.push_back(raw());
    put(clients.back(), kPing);
    ASSERT_THAT(get(clients.back()), HasSubstr("\"process\""));
  }
  const Fd excess = raw();
  EXPECT_THAT(get(excess), HasSubstr("too many clients; allowed are 128"));
  EXPECT_TRUE(closed(excess));
  clients.erase(clients.begin() + 5);
  for (int i = 0; i < 100; ++i) {
    const Fd fd = raw();
    (void)::send(fd.get(), kPing, std::strlen(kPing), MSG_NOSIGNAL);
    if (get(fd).find("\"process\"") != std::string::npos) return;
    std::this_thread::sleep_for(20ms);
  }
  FAIL() << "no room after a client left";
}

TEST_F(ControlServerTest, the_client_that_was_idle_longest_gives_way) {
  options_.max_clients = 4;
  options_.idle_grace = 50ms;
  start();
  std::vector<Fd> clients;
  for (std::size_t i = 0; i < options_.max_clients; ++i) {
    clients.push_back(raw());
    put(clients.back(), kPing);
    ASSERT_THAT(get(clients.back()), HasSubstr("\"process\""));
  }
  std::this_thread::sleep_for(100ms);
  put(clients[0], kPing);
  ASSERT_THAT(get(clients[0]), HasSubstr("\"process\""));
  put(clients[3], "{\"id\":1,");  // half a line is no request
  expect_alive();
  EXPECT_TRUE(closed(clients[1]));
  put(clients[0], kPing);
  EXPECT_THAT(get(clients[0]), HasSubstr("\"process\""));
}

TEST_F(ControlServerTest, unread_replies_are_bounded_over_all_clients_and_small_ones_always_given) {
  machine_.padding_bytes = 1 << 20;
  options_.max_unread_bytes = 2 << 20;
  options_.write_timeout = 60s;
  start();
  std::vector<Fd> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(raw());
    put(silent.back(), "{\"id\":1,\"method\":\"stats\"}\n");
  }
  auto client = ControlClient::connect(options_.path);
  ASSERT_TRUE(client);
  EXPECT_TRUE(client->call("ping"));
  const auto refused = client->call("stats");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("unread by other clients"));
  silent.clear();
  for (int i = 0; i < 100; ++i) {
    if (client->call("stats")) return;
    std::this_thread::sleep_for(20ms);
  }
  FAIL() << "no long reply after the silent clients left";
}

TEST_F(ControlServerTest, many_slow_requests_hold_up_only_who_makes_them) {
  machine_.stats_take = 50ms;
  start();
  std::vector<Fd> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(raw());
    std::string lines;
    for (int k = 0; k < 4; ++k) lines += "{\"id\":1,\"method\":\"stats\"}\n";
    put(greedy.back(), lines);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) expect_alive();
  // Of 4 s for all that the greedy asked: each one's first request, then one for each call.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1800ms);
  for (const Fd& fd : greedy) {
    const std::string replies = get(fd, 4);
    EXPECT_EQ(std::count(replies.begin(), replies.end(), '\n'), 4);
  }
}

TEST_F(ControlServerTest, a_client_that_never_reads_is_dropped_and_holds_up_nobody) {
  machine_.padding_bytes = 1 << 20;  // more than the kernel's socket buffer
  options_.write_timeout = 1500ms;
  start();
  const Fd fd = raw();
  put(fd, "{\"id\":1,\"method\":\"stats\"}\n{\"id\":2,\"method\":\"stats\"}\n");
  const auto begin = std::chrono::steady_clock::now();
  expect_alive();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1200ms);
  std::this_thread::sleep_for(options_.write_timeout + 700ms);
  std::size_t got = 0;
  char chunk[65536];
  for (ssize_t n = 0; (n = ::recv(fd.get(), chunk, sizeof chunk, 0)) > 0;) got += static_cast<std::size_t>(n);
  EXPECT_LT(got, machine_.padding_bytes);  // the connection ended within the first reply
}

TEST_F(ControlServerTest, a_slow_reader_gets_the_whole_of_a_long_reply) {
  machine_.padding_bytes = 1 << 20;
  start();
  const Fd fd = raw();
  put(fd, "{\"id\":1,\"method\":\"stats\"}\n");
  std::string text;
  char chunk[8192];
  while (text.find('\n') == std::string::npos) {
    const ssize_t n = ::recv(fd.get(), chunk, sizeof chunk, 0);
    ASSERT_GT(n, 0);
    text.append(chunk, static_cast<std::size_t>(n));
    if (text.size() % (64 * 1024) < sizeof chunk) std::this_thread::sleep_for(5ms);
  }
  EXPECT_GT(text.size(), machine_.padding_bytes);
}

TEST_F(ControlServerTest, a_reply_beyond_the_bound_becomes_an_error) {
  machine_.padding_bytes = options_.max_reply_bytes;
  start();
  auto client = ControlClient::connect(options_.path);
  ASSERT_TRUE(client);
  const auto result = client->call("stats");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("ask for less"));
  EXPECT_TRUE(client->call("ping"));
}

TEST_F(ControlServerTest, a_client_that_leaves_in_the_middle_disturbs_nobody) {
  machine_.padding_bytes = 1 << 18;  // more than a socket takes, and quickly made under a sanitizer
  start();
  for (int i = 0; i < 24; ++i) {
    const Fd fd = raw();
    put(fd, i % 2 == 0 ? "{\"id\":1,\"method\":\"stats\"}\n{\"id\"" : "{\"id\":1,");
  }
  expect_alive();
}

TEST_F(ControlServerTest, a_client_without_a_server_says_that_nothing_runs) {
  const auto none = ControlClient::connect(options_.path);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "nothing runs at control socket " + options_.path);
  {
    const auto left_behind = listen_at(options_.path);
    ASSERT_TRUE(left_behind);
  }
  EXPECT_FALSE(ControlClient::connect(options_.path));
}

TEST_F(ControlServerTest, a_client_does_not_wait_for_ever) {
  const auto silent = listen_at(options_.path);
  ASSERT_TRUE(silent);
  auto client = ControlClient::connect(options_.path, 100ms);
  ASSERT_TRUE(client);
  const auto result = client->call("ping");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("in time"));
}

TEST_F(ControlServerTest, a_client_waits_as_long_as_it_was_last_told) {
  const auto silent = listen_at(options_.path);
  ASSERT_TRUE(silent);
  auto client = ControlClient::connect(options_.path, 1ms);
  ASSERT_TRUE(client);
  client->wait_no_longer_than(200ms);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(client->call("ping"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 190ms);
}

}  // namespace
}  // namespace splitplane::app
