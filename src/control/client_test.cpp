// The client against servers that are not ours.
#include "control/client.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace splitplane::app {
namespace {

// Answers one request of one client with `reply`.
class OtherServer {
 public:
  explicit OtherServer(std::string reply) : reply_(std::move(reply)) {
    auto listener = listen_at(path_);
    EXPECT_TRUE(listener) << listener.error().message;
    listener_ = *std::move(listener);
    thread_ = std::thread([this] { serve(); });
  }
  ~OtherServer() {
    thread_.join();
    ::unlink(path_.c_str());
  }
  [[nodiscard]] Expected<Json> ask() const {
    auto client = ControlClient::connect(path_, std::chrono::seconds(60));
    if (!client) return tl::unexpected(client.error());
    return client->call("stats", Json::object());
  }

 private:
  void serve() const {
    int fd = -1;
    while ((fd = ::accept(listener_.get(), nullptr, nullptr)) < 0) std::this_thread::yield();
    const Fd client(fd);
    char request[4096];
    (void)::recv(client.get(), request, sizeof request, 0);
    for (std::size_t sent = 0; sent < reply_.size();) {
      const ssize_t n = ::send(client.get(), reply_.data() + sent, reply_.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<std::size_t>(n);
    }
  }
  std::string path_ = ::testing::TempDir() + "other-" + std::to_string(::getpid()) + ".sock";
  std::string reply_;
  Fd listener_;
  std::thread thread_;
};

TEST(ControlClient, a_deep_error_is_no_reply_of_ours) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  for (const char* member : {"error", "result"}) {
    const OtherServer server(std::string(R"({"id":1,")") + member + "\":" + deep + "}\n");
    const auto reply = server.ask();
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, testing::HasSubstr("does not speak this protocol"));
  }
}

TEST(ControlClient, an_error_that_is_no_text_is_shown_as_it_is) {
  const OtherServer server("{\"id\":1,\"error\":{\"a\":[1]}}\n");
  EXPECT_EQ(server.ask().error().message, R"({"a":[1]})");
}

}  // namespace
}  // namespace splitplane::app
