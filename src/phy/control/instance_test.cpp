// A PHY with a real TUN device in a separate network namespace, and with an L2 of this test. It needs CAP_NET_ADMIN and
// /dev/net/tun; otherwise it is skipped.
#include "phy/control/instance.h"

#include <gmock/gmock.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "phy/link/phy_link.h"
#include "phy/slots/monotonic_time.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

PhyProgramConfig config_of(const std::string& tun) {
  PhyProgramConfig config;
  config.file_prefix = "phy";
  config.memory.mbufs = 4095;
  config.ue.tun = tun;
  config.ue.gnb_control = "/tmp/splitplane-no-gnb.sock";
  return config;
}

void bring_up_loopback() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::string("lo").copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP;
  EXPECT_EQ(::ioctl(socket, SIOCSIFFLAGS, &request), 0);
  ::close(socket);
}

// Runs `body` on a thread in a network namespace that ends with the thread. Returns false if the kernel does not allow
// that.
bool in_own_network(const std::function<void()>& body) {
  bool entered = false;
  std::thread([&] {
    entered = ::unshare(CLONE_NEWNET) == 0 && ::access("/dev/net/tun", R_OK | W_OK) == 0;
    if (!entered) return;
    bring_up_loopback();
    body();
  }).join();
  return entered;
}

constexpr const char* kNeedsRoot =
    "NOT TESTED: a TUN device needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN) and /dev/net/tun";

// An L2 that starts the PHY and counts its slots.
class CountingL2 final : phy::PhyLinkOwner {
 public:
  explicit CountingL2(const EmulatedPhyConfig& phy)
      : link_({.config = config()},
              phy::DatagramSocket::open({phy.address, phy.p5_port}, {phy.local, phy.local_p5_port}).value(),
              phy::DatagramSocket::open({phy.address, phy.p7_port}, {phy.local, phy.local_p7_port}).value(), *this) {}

  // False after 10 s.
  template <class F>
  bool poll_until(F is_so) {
    const phy::Time last = now() + 10'000'000;
    while (!is_so()) {
      link_.poll(now());
      if (now() > last) return false;
      ::usleep(200);
    }
    return true;
  }
  bool end() {
    link_.end(now());
    return poll_until([this] { return link_.state() == phy::PhyLinkState::ended; });
  }
  [[nodiscard]] unsigned slots() const { return slots_; }
  [[nodiscard]] bool away() const { return away_; }
  [[nodiscard]] const fapi::ParamResponse& capabilities() const { return capabilities_; }

 private:
  static phy::Time now() { return phy::MonotonicTime(0).now() / 1000; }
  static fapi::ConfigRequest config() {
    fapi::ConfigRequest wanted;
    wanted.scs_common = 1;
    wanted.dl_grid_size = wanted.ul_grid_size = fapi::PerNumerology{0, 106, 0, 0, 0};
    wanted.phy_cell_id = 1;
    wanted.frame_duplex_type = 0;
    return wanted;
  }
  void phy_runs(const fapi::ParamResponse& can) override { capabilities_ = can; }
  void phy_is_away() override { away_ = true; }
  void config_is_refused(const fapi::ConfigResponse&) override {}
  void slot_begins(const fapi::SlotIndication&) override { ++slots_; }
  void receive(const fapi::RxDataIndication&) override {}
  void receive(const fapi::CrcIndication&) override {}
  void receive(const fapi::UciIndication&) override {}
  void receive(const fapi::ErrorIndication&) override {}

  fapi::ParamResponse capabilities_;
  unsigned slots_ = 0;
  bool away_ = false;
  phy::PhyLink link_;
};

TEST(PhyInstance, counts_slots_for_one_l2_after_the_other) {
  const bool entered = in_own_network([] {
    const PhyProgramConfig config = config_of("splphy0");
    auto instance = PhyInstance::start_on(std::nullopt, config);
    ASSERT_TRUE(instance) << instance.error().message;
    EXPECT_EQ((*instance)->stats()->at("phy").at("state"), "idle");
    {
      CountingL2 first(config.phy);
      EXPECT_TRUE(first.poll_until([&] { return first.slots() >= 100; }));
      EXPECT_EQ(first.capabilities().supported_subcarrier_spacings_dl, 0xF);
      EXPECT_EQ((*instance)->stats()->at("phy").at("state"), "running");
      EXPECT_TRUE(first.end());
    }
    EXPECT_EQ((*instance)->stats()->at("phy").at("state"), "configured");
    CountingL2 second(config.phy);
    EXPECT_TRUE(second.poll_until([&] { return second.slots() >= 10; }));
    (*instance)->stop();
    EXPECT_TRUE(second.poll_until([&] { return second.away(); })) << "a PHY that ends is silent";
    const auto stats = (*instance)->stats();
    ASSERT_TRUE(stats) << stats.error().message;
    EXPECT_EQ(stats->at("totals").at("balanced"), true);
    EXPECT_GE(stats->at("air").at("slots"), 100);
    EXPECT_EQ(stats->at("phy").at("peer").at("starts"), 2);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(PhyInstance, begins_without_bearers_and_its_air_is_changed_while_it_runs) {
  const bool entered = in_own_network([] {
    auto instance = PhyInstance::start_on(std::nullopt, config_of("splphy1"));
    ASSERT_TRUE(instance) << instance.error().message;
    EXPECT_FALSE((*instance)->follow_bearers(std::chrono::steady_clock::now())) << "no gNB answers";
    EXPECT_EQ((*instance)->bearer_count(), 0U);
    EXPECT_THAT((*instance)->show_bearer(BearerId{1}).error().message, HasSubstr("no bearer with identity 0x00000001"));
    EXPECT_TRUE((*instance)->list_bearers(0, 10)->empty());
    LossPatch patch;
    patch.dci_loss_percent = 2;
    patch.uplink[0] = 5;
    const auto loss = (*instance)->set_loss(patch);
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->at("uplink").at("loss_percent"), 5);
    EXPECT_EQ((*instance)->stats()->at("air").at("loss"), *loss);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(PhyInstance, a_capture_is_complete_when_it_has_stopped) {
  const bool entered = in_own_network([] {
    PhyProgramConfig config = config_of("splphy2");
    const auto file = std::filesystem::temp_directory_path() / fmt::format("sp-phy-instance-{}.pcapng", ::getpid());
    config.phy.capture = BlockCaptureConfig{.file = file};
    auto instance = PhyInstance::start_on(std::nullopt, config);
    ASSERT_TRUE(instance) << instance.error().message;
    (*instance)->stop();
    EXPECT_EQ((*instance)->stats()->at("capture").at("bytes"), std::filesystem::file_size(file));
    config.phy.capture->file = "/no/such/folder/x.pcapng";
    config.ue.tun = "splphy3";
    instance->reset();
    EXPECT_THAT(PhyInstance::start_on(std::nullopt, config).error().message, HasSubstr("/no/such/folder/x.pcapng: "));
    std::filesystem::remove(file);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(PhyInstance, sleeps_on_when_its_tun_device_is_removed) {
  const bool entered = in_own_network([] {
    auto instance = PhyInstance::start_on(std::nullopt, config_of("spphy3"));
    ASSERT_TRUE(instance) << instance.error().message;
    const auto rounds = [&] { return (*instance)->stats()->at("workers").at(0).at("rounds").get<std::uint64_t>(); };
    ASSERT_EQ(std::system("ip link del spphy3"), 0);
    ::usleep(100'000);
    const std::uint64_t before = rounds();
    ::usleep(300'000);
    EXPECT_LT(rounds() - before, 200U) << "it spins";
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

}  // namespace
}  // namespace splitplane::app
