// When a card's VF is connected, given up and connected again, with a host that comes and goes.
#include "card/control/vf_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <thread>

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class VfKeeperTest : public ::testing::Test {
 protected:
  void turn(std::chrono::milliseconds after) { keeper_.turn(begin_ + after); }

  std::set<std::string> listening_, up_;
  std::vector<std::string> done_;
  bool fails_ = false;
  const VfKeeper::Clock::time_point begin_ = VfKeeper::Clock::now();
  VfKeeper keeper_{{{"n3", "/n3.sock"}, {"air", "/air.sock"}},
                   {.host_answers = [this](const std::string& socket) { return listening_.contains(socket); },
                    .connect = [this](const std::string& port) -> Expected<void> {
                      done_.push_back("+" + port);
                      if (fails_) return fail("port {}: no", port);
                      up_.insert(port);
                      return {};
                    },
                    .is_up = [this](const std::string& port) { return up_.contains(port); },
                    .disconnect = [this](const std::string& port) { done_.push_back("-" + port); }}};
};

TEST_F(VfKeeperTest, a_vf_is_connected_once_its_host_is_there) {
  turn(0ms);
  EXPECT_THAT(keeper_.waiting(), ElementsAre("n3", "air"));
  listening_ = {"/air.sock"};
  turn(60ms);
  EXPECT_THAT(done_, ElementsAre("+air"));
  EXPECT_THAT(keeper_.waiting(), ElementsAre("n3"));
  turn(120ms);
  EXPECT_THAT(done_, ElementsAre("+air")) << "once";
}

TEST_F(VfKeeperTest, a_vf_whose_host_is_gone_is_given_up_and_connected_again) {
  listening_ = {"/n3.sock", "/air.sock"};
  turn(0ms);
  EXPECT_THAT(keeper_.waiting(), IsEmpty());
  done_.clear();
  listening_.clear();
  up_.clear();
  turn(20ms);
  EXPECT_THAT(done_, ElementsAre("-n3", "-air"));
  EXPECT_THAT(keeper_.waiting(), ElementsAre("n3", "air"));
  listening_ = {"/n3.sock", "/air.sock"};
  turn(80ms);
  EXPECT_THAT(done_, ElementsAre("-n3", "-air", "+n3", "+air"));
  EXPECT_THAT(keeper_.waiting(), IsEmpty());
}

TEST_F(VfKeeperTest, a_connection_that_fails_is_tried_again_after_a_second) {
  listening_ = {"/n3.sock"};
  fails_ = true;
  turn(0ms);
  turn(900ms);
  EXPECT_THAT(done_, ElementsAre("+n3"));
  fails_ = false;
  turn(1000ms);
  EXPECT_THAT(done_, ElementsAre("+n3", "+n3"));
  EXPECT_THAT(keeper_.waiting(), ElementsAre("air"));
}

// A listening socket that answers a message, or does not.
class VhostAnswersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "vf-keeper-" + std::to_string(::getpid()) + ".sock";
    std::filesystem::remove(path_);
  }
  void TearDown() override {
    if (fd_ >= 0) ::close(fd_);
    std::filesystem::remove(path_);
  }
  void listen() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    fd_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(fd_, 1), 0);
  }
  std::string path_;
  int fd_ = -1;
};

TEST_F(VhostAnswersTest, a_socket_that_is_missing_or_left_behind_does_not_answer) {
  EXPECT_FALSE(vhost_answers(path_));
  listen();
  ::close(std::exchange(fd_, -1));
  EXPECT_FALSE(vhost_answers(path_));
}

TEST_F(VhostAnswersTest, a_process_that_hangs_does_not_answer_and_is_not_waited_for) {
  listen();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(vhost_answers(path_));
  EXPECT_FALSE(vhost_answers(path_));
  EXPECT_FALSE(vhost_answers(path_)) << "nor where its backlog is full";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(VhostAnswersTest, a_vhost_device_answers) {
  listen();
  std::thread host([this] {
    const int client = ::accept(fd_, nullptr, nullptr);
    std::array<std::uint32_t, 3> request{};
    EXPECT_EQ(::recv(client, request.data(), sizeof request, MSG_WAITALL), static_cast<ssize_t>(sizeof request));
    EXPECT_THAT(request, ElementsAre(1, 1, 0));
    const std::array<std::uint32_t, 5> answer{1, 5, 8, 0, 0};
    EXPECT_EQ(::send(client, answer.data(), sizeof answer, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof answer));
    ::close(client);
  });
  EXPECT_TRUE(vhost_answers(path_));
  host.join();
}

}  // namespace
}  // namespace splitplane::app
