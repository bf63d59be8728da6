#include "engine/driver/dpdk_lines.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class DpdkLinesTest : public testing::Test {
 protected:
  void take(const std::string& line, const std::string& about = "") {
    lines_.take(spdlog::level::err, line, about, now_);
  }
  std::vector<std::string> said_;
  std::vector<spdlog::level::level_enum> levels_;
  DpdkLines lines_{[this](spdlog::level::level_enum level, const std::string& port, const std::string& text) {
    levels_.push_back(level);
    said_.push_back(port.empty() ? text : port + ": " + text);
  }};
  DpdkLines::Clock::time_point now_ = DpdkLines::Clock::now();
};

TEST_F(DpdkLinesTest, a_line_is_said_at_once_and_its_repeats_are_counted) {
  for (int i = 0; i < 1000; ++i) take("VHOST: gone");
  take("other");
  EXPECT_THAT(said_, ElementsAre("VHOST: gone", "other"));
  said_.clear();
  now_ += DpdkLines::kWindow;
  lines_.say_repeats(now_);
  EXPECT_THAT(said_, ElementsAre("VHOST: gone (999 times more)"));
  take("VHOST: gone");
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(DpdkLinesTest, lines_of_each_healthy_start_are_no_warnings) {
  take("TELEMETRY: No legacy callbacks, legacy socket not created");
  take("virtio_user_dev_init_mac(): (/run/x/vf1.sock) No valid MAC in devargs or device, use random");
  take("TELEMETRY: no memory");
  EXPECT_THAT(levels_, ElementsAre(spdlog::level::debug, spdlog::level::debug, spdlog::level::err));
}

TEST_F(DpdkLinesTest, what_is_counted_is_said_at_the_end) {
  take("a");
  take("a");
  said_.clear();
  lines_.say_repeats(now_, true);
  EXPECT_THAT(said_, ElementsAre("a (once more)"));
  said_.clear();
  lines_.say_repeats(now_, true);
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(DpdkLinesTest, a_line_gets_the_port_that_it_names_or_that_is_being_opened) {
  lines_.name_port("/run/x/vf1.sock", "vf1");
  lines_.name_port("n3", "core");
  take("VHOST_CONFIG: (/run/x/vf1.sock) peer closed");
  take("VHOST_CONFIG: (/run/x/vf1.sock2) peer closed");
  take("could not bind to gnb-n3");
  take("could not bind to n3.");
  take("no memory", "air");
  EXPECT_THAT(said_, ElementsAre("vf1: VHOST_CONFIG: (/run/x/vf1.sock) peer closed",
                                 "VHOST_CONFIG: (/run/x/vf1.sock2) peer closed", "could not bind to gnb-n3",
                                 "core: could not bind to n3.", "air: no memory"));
  lines_.forget_port("core");
  said_.clear();
  take("again n3");
  EXPECT_THAT(said_, ElementsAre("again n3"));
}

TEST_F(DpdkLinesTest, no_more_lines_are_remembered_than_there_is_room_for) {
  take("first");
  take("first");
  for (std::size_t i = 0; i < DpdkLines::kLines; ++i) {
    now_ += 1ms;
    take(fmt::format("line {}", i));
  }
  EXPECT_THAT(said_, testing::Contains("first (once more)"));
}

}  // namespace
}  // namespace splitplane::datapath
