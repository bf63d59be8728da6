#include "n3/path.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

using std::chrono::milliseconds;
using Change = PathSupervisor::Change;
const IpAddress kWatchedUpf = IpAddress::v4({10, 100, 0, 2});

// A supervisor on an injected clock: requests every 10 s, T3 1 s, two repetitions.
struct PathRig {
  PathSupervisor paths{EchoSettings{milliseconds{10'000}, milliseconds{1'000}, 2}};
  PathSupervisor::Time now{};
  bool can_send = true;

  PathRig() { paths.watch({kWatchedUpf}, now); }
  PathSupervisor::Turn turn() {
    return paths.turn(now, [this](const IpAddress&) { return can_send; });
  }
  // Sequence numbers sent within `time`, a millisecond a turn; the last change that was reported.
  std::vector<std::uint16_t> run(milliseconds time) {
    std::vector<std::uint16_t> sent;
    for (const auto end = now + time; now < end; now += milliseconds{1}) {
      const auto done = turn();
      for (const auto& request : done.requests) sent.push_back(request.second);
      for (const auto& event : done.events) last = event.change;
    }
    return sent;
  }
  [[nodiscard]] const PathSupervisor::Path& path() const { return paths.paths().at(kWatchedUpf); }
  Change last = Change::kNone;
};

TEST(PathSupervisor, an_answered_path_is_up_and_is_asked_again_after_the_interval) {
  PathRig rig;
  EXPECT_EQ(rig.run(milliseconds{100}), std::vector<std::uint16_t>{1});
  EXPECT_EQ(rig.path().state, PathState::unknown);
  EXPECT_EQ(rig.paths.answered(kWatchedUpf, 1, 7, rig.now), Change::kUp);
  EXPECT_EQ(rig.run(milliseconds{9'900}), std::vector<std::uint16_t>{});
  EXPECT_EQ(rig.run(milliseconds{10}), std::vector<std::uint16_t>{2});
  EXPECT_EQ(rig.paths.answered(kWatchedUpf, 2, 7, rig.now), Change::kNone);
}

TEST(PathSupervisor, a_request_is_repeated_with_its_number_and_then_the_path_is_down_once) {
  PathRig rig;
  EXPECT_EQ(rig.run(milliseconds{2'999}), (std::vector<std::uint16_t>{1, 1, 1}));
  EXPECT_EQ(rig.path().state, PathState::unknown);
  rig.run(milliseconds{2});
  EXPECT_EQ(rig.last, Change::kDown);
  EXPECT_EQ(rig.path().state, PathState::down);
  rig.last = Change::kNone;
  EXPECT_EQ(rig.run(milliseconds{20'000}), (std::vector<std::uint16_t>{2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(rig.last, Change::kNone);
  EXPECT_EQ(rig.path().downs, 1U);
  EXPECT_EQ(rig.path().lost, 3U);
}

TEST(PathSupervisor, only_the_answer_to_the_open_request_counts) {
  PathRig rig;
  rig.run(milliseconds{10});
  EXPECT_FALSE(rig.paths.answered(kWatchedUpf, 2, 0, rig.now));
  EXPECT_FALSE(rig.paths.answered(IpAddress::v4({10, 100, 0, 3}), 1, 0, rig.now));
  EXPECT_TRUE(rig.paths.answered(kWatchedUpf, 1, 0, rig.now));
  EXPECT_FALSE(rig.paths.answered(kWatchedUpf, 1, 0, rig.now)) << "answered twice";
}

TEST(PathSupervisor, another_restart_counter_is_a_restart_and_an_absent_one_is_not) {
  PathRig rig;
  rig.run(milliseconds{10});
  EXPECT_EQ(rig.paths.answered(kWatchedUpf, 1, 255, rig.now), Change::kUp);
  rig.run(milliseconds{10'000});
  EXPECT_EQ(rig.paths.answered(kWatchedUpf, 2, std::nullopt, rig.now), Change::kNone);
  rig.run(milliseconds{10'000});
  EXPECT_EQ(rig.paths.answered(kWatchedUpf, 3, 0, rig.now), Change::kRestarted);
  EXPECT_EQ(rig.path().restarts, 1U);
  EXPECT_EQ(rig.path().restart_counter, 0);
}

TEST(PathSupervisor, a_peer_without_mac_address_is_asked_as_soon_as_it_has_one) {
  PathRig rig;
  rig.can_send = false;
  EXPECT_TRUE(rig.run(milliseconds{2'500}).empty());
  rig.can_send = true;
  EXPECT_EQ(rig.run(milliseconds{2'900}), (std::vector<std::uint16_t>{1, 1, 1})) << "and has all its time for answers";
  EXPECT_EQ(rig.path().state, PathState::unknown);
}

TEST(PathSupervisor, a_peer_that_never_gets_a_mac_address_is_down) {
  PathRig rig;
  rig.can_send = false;
  rig.run(milliseconds{3'100});
  EXPECT_EQ(rig.path().state, PathState::down);
  EXPECT_EQ(rig.path().sent, 0U);
  EXPECT_EQ(rig.path().lost, 0U) << "what was never sent is not lost";
  EXPECT_TRUE(rig.path().unresolved);
  EXPECT_EQ(rig.last, Change::kNone) << "it is not Echo that was not answered";
  rig.can_send = true;
  rig.run(milliseconds{10'000});
  EXPECT_EQ(rig.last, Change::kDown) << "now it is";
  EXPECT_FALSE(rig.path().unresolved);
  EXPECT_EQ(rig.path().downs, 1U);
}

TEST(PathSupervisor, a_round_trip_is_measured_at_a_first_sending_only) {
  PathRig rig;
  rig.run(milliseconds{8});
  EXPECT_TRUE(rig.paths.answered(kWatchedUpf, 1, 0, rig.now));
  EXPECT_EQ(rig.path().rtt, milliseconds{8});
  rig.run(milliseconds{12'000});  // the second request and a repetition
  EXPECT_TRUE(rig.paths.answered(kWatchedUpf, 2, 0, rig.now));
  EXPECT_EQ(rig.path().rtt, milliseconds{8});
}

TEST(PathSupervisor, it_asks_at_once_when_it_is_told_to_also_without_supervision) {
  PathRig rig;
  rig.run(milliseconds{10});
  EXPECT_TRUE(rig.paths.answered(kWatchedUpf, 1, 0, rig.now));
  rig.paths.ask_now(kWatchedUpf, rig.now);
  EXPECT_EQ(rig.run(milliseconds{10}), std::vector<std::uint16_t>{2});
  PathSupervisor off{EchoSettings{milliseconds{0}, milliseconds{1'000}, 0}};
  off.watch({kWatchedUpf}, {});
  off.ask_now(kWatchedUpf, {});
  const auto always = [](const IpAddress&) { return true; };
  EXPECT_EQ(off.turn({}, always).requests.size(), 1U);
  EXPECT_TRUE(off.answered(kWatchedUpf, 1, 0, {}));
  EXPECT_TRUE(off.turn(PathSupervisor::Time{} + milliseconds{100'000}, always).requests.empty());
}

TEST(PathSupervisor, peers_without_bearers_are_forgotten_and_interval_0_asks_nobody) {
  PathRig rig;
  rig.paths.watch({}, rig.now);
  EXPECT_TRUE(rig.paths.paths().empty());
  PathSupervisor off{EchoSettings{milliseconds{0}, milliseconds{1'000}, 2}};
  off.watch({kWatchedUpf}, {});
  EXPECT_TRUE(
      off.turn(PathSupervisor::Time{} + milliseconds{100'000}, [](const IpAddress&) { return true; }).requests.empty());
}

}  // namespace
}  // namespace splitplane::datapath
