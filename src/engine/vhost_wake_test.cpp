// A vhost port lets the other end connect at once, even while DPDK's vhost thread already waits for events.
#include "engine/driver/vhost_wake.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "engine/port.h"
#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;

// Whether the first message of a vhost-user session (VHOST_USER_GET_FEATURES) is answered within half a second.
bool answers(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 0, .tv_usec = 500'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  constexpr std::array<std::uint32_t, 3> kGetFeatures{1, 1, 0};
  std::array<std::uint32_t, 5> answer{};
  const bool good = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    ::send(fd, kGetFeatures.data(), sizeof kGetFeatures, MSG_NOSIGNAL) == sizeof kGetFeatures &&
                    ::recv(fd, answer.data(), sizeof answer, MSG_WAITALL) == sizeof answer;
  ::close(fd);
  return good;
}

TEST(VhostWake, each_new_port_answers_before_the_wait_that_has_begun_would_end) {
#ifdef SPLITPLANE_TSAN
  GTEST_SKIP() << "SKIPPED: the vhost thread gives DPDK memory back under a lock that ThreadSanitizer cannot see";
#endif
  test::Pool pool{4096};
  std::array<std::unique_ptr<Port>, 4> ports;
  for (auto& port : ports) {
    const std::string path = testing::TempDir() + test::unique_name("wake") + std::to_string(::getpid()) + ".sock";
    auto made = Port::open(
        {.name = "p", .device = "net_vhost" + test::unique_name("8") + ",iface=" + path + ",queues=1"}, pool.get());
    ASSERT_TRUE(made) << made.error().message;
    port = *std::move(made);
    EXPECT_TRUE(answers(path));
    std::this_thread::sleep_for(20ms);  // so that the thread has begun to wait
  }
}

TEST(VhostWake, without_a_vhost_thread_nothing_happens) {
  // In a child, as the port of another test has started the thread here.
  EXPECT_EXIT(
      {
        wake_vhost_thread();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace splitplane::datapath
