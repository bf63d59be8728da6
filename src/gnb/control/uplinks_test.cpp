#include "gnb/control/uplinks.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using test::Hanging;
using test::kUpf;

class UplinksTest : public test::PartsTest {
 protected:
  void SetUp() override {
    PartsTest::SetUp();
    const auto added = add(test::bearer(0x1001));
    ASSERT_TRUE(added) << added.error().message;
    id_ = added->id;
  }
  // The UPF answers one of our uplink packets: it does not know the TEID.
  void indicate(std::uint32_t teid = 0x1001, std::uint32_t upf = datapath::test::kUpfIpv4) {
    const test::Bytes gpdu =
        datapath::test::N3Frame{.source = datapath::test::kOurIpv4, .destination = upf, .teid = teid}.make();
    const test::Bytes frame = datapath::indicate_error(*datapath::read_n3_message(gpdu), test::kUpfMac);
    const auto message = datapath::read_n3_message(frame);
    ASSERT_TRUE(message);
    ASSERT_EQ(datapath::duty_of(*message), datapath::N3Duty::kTakeErrorIndication);
    parts_->uplinks.take_error_indication(parts_->control.lock(), parts_->n3_interface(), *message, now_);
  }
  // The UPF answers Echo, and an uplink packet goes out: what a check asks for.
  void go_on() {
    now_ += 200ms;
    auto& paths = parts_->n3_interface().gtpu.paths;
    paths.watch({kUpf}, now_);
    paths.ask_now(kUpf, now_);
    const auto turn = paths.turn(now_, [](const IpAddress&) { return true; });
    ASSERT_FALSE(turn.requests.empty());
    now_ += 10ms;
    ASSERT_TRUE(paths.answered(kUpf, turn.requests.back().second, {}, now_));
    ++line().received;
    now_ += 10ms;
  }
  void stop() {
    indicate();
    go_on();
    indicate();
    ASSERT_TRUE(parts_->uplinks.is_stopped(parts_->control.lock(), id_));
  }
  [[nodiscard]] ran::BearerUplink& line() { return *parts_->worker(0).gnb->bearers.uplink_line(id_.value); }
  [[nodiscard]] std::uint64_t counted(GtpuCounter counter) {
    return parts_->n3_interface().gtpu.counters[static_cast<std::size_t>(counter)];
  }
  [[nodiscard]] BearerView view() {
    BearerView view;
    view.config.id = id_;
    parts_->uplinks.add_to(parts_->control.lock(), view);
    return view;
  }
  BearerId id_{};
  Time now_ = std::chrono::steady_clock::now();
};

TEST_F(UplinksTest, one_error_indication_stops_nothing) {
  indicate();
  EXPECT_EQ(counted(GtpuCounter::error_indications_received), 1U);
  EXPECT_FALSE(parts_->uplinks.is_stopped(parts_->control.lock(), id_));
  EXPECT_EQ(view().error_indications, 1U);
  EXPECT_EQ(view().uplink_state, "checking");
  EXPECT_NE(line().peer, datapath::kStoppedPeer);
}

TEST_F(UplinksTest, a_second_one_after_a_check_stops_the_uplink_for_a_while) {
  stop();
  EXPECT_EQ(line().peer, datapath::kStoppedPeer);
  EXPECT_EQ(counted(GtpuCounter::uplinks_stopped), 1U);
  EXPECT_TRUE(view().uplink_stopped);
  now_ += 1100ms;
  parts_->uplinks.serve(parts_->control.lock(), now_);
  EXPECT_EQ(line().peer, line().home_peer);
  EXPECT_EQ(counted(GtpuCounter::uplinks_resumed), 1U);
  EXPECT_FALSE(view().uplink_stopped);
}

TEST_F(UplinksTest, the_bearers_of_a_session_stop_and_go_on_together) {
  ASSERT_TRUE(parts_->bearers.release(id_));
  ran::WantedSession wanted{.config = {}, .shard = 1};
  for (std::uint8_t drb = 1; drb <= 2; ++drb) {
    wanted.config.bearers.push_back({.drb = ran::sdap::DrbId{drb}, .config = test::bearer(0x1001), .flows = {}});
  }
  wanted.config.default_drb = ran::sdap::DrbId{1};
  const auto added = parts_->bearers.add_session(wanted);
  ASSERT_TRUE(added) << added.error().message;
  const BearerId first = added->session.bearers[0].config.id, second = added->session.bearers[1].config.id;
  id_ = second;  // its packets count for the check of the tunnel
  indicate();
  go_on();
  indicate();
  EXPECT_TRUE(parts_->uplinks.is_stopped(parts_->control.lock(), first));
  EXPECT_EQ(line().peer, datapath::kStoppedPeer);
  EXPECT_TRUE(view().uplink_stopped);
  now_ += 1100ms;
  parts_->uplinks.serve(parts_->control.lock(), now_);
  for (const BearerId id : {first, second}) {
    id_ = id;
    EXPECT_EQ(line().peer, line().home_peer);
    EXPECT_FALSE(view().uplink_stopped);
  }
}

TEST_F(UplinksTest, a_check_that_finds_nothing_is_over_after_a_while) {
  indicate();
  now_ += 3100ms;
  parts_->uplinks.serve(parts_->control.lock(), now_);
  EXPECT_EQ(view().uplink_state, "active");
  EXPECT_EQ(counted(GtpuCounter::error_indications_refuted), 1U);
}

TEST_F(UplinksTest, an_uplink_whose_worker_hangs_is_not_stopped_yet) {
  indicate();
  go_on();
  {
    const Hanging hanging(parts_->worker(0));
    indicate();
  }
  EXPECT_FALSE(parts_->uplinks.is_stopped(parts_->control.lock(), id_));
  EXPECT_NE(line().peer, datapath::kStoppedPeer);
}

TEST_F(UplinksTest, what_names_no_bearer_of_that_upf_is_not_matched) {
  indicate(0x9999);
  indicate(0x1001, 0x0a640009);
  EXPECT_EQ(counted(GtpuCounter::error_indications_unmatched), 2U);
  EXPECT_EQ(counted(GtpuCounter::error_indications_received), 0U);
}

TEST_F(UplinksTest, a_bearer_that_is_being_changed_is_not_matched) {
  parts_->uplinks.changing(parts_->control.lock(), id_);
  indicate();
  EXPECT_EQ(counted(GtpuCounter::error_indications_unmatched), 1U);
  parts_->uplinks.changed(parts_->control.lock());
  indicate();
  EXPECT_EQ(counted(GtpuCounter::error_indications_received), 1U);
}

TEST_F(UplinksTest, another_uplink_begins_anew_and_keeps_its_counters) {
  stop();
  parts_->uplinks.begin_anew(parts_->control.lock(), id_);
  EXPECT_FALSE(view().uplink_stopped);
  EXPECT_EQ(view().uplink_stops, 1U);
  parts_->uplinks.forget(parts_->control.lock(), id_);
  EXPECT_EQ(view().uplink_stops, 0U);
}

TEST_F(UplinksTest, an_end_marker_counts_for_its_bearer_if_its_upf_sends_it) {
  const auto mark = [&](std::uint32_t from) {
    const test::Bytes frame = datapath::test::N3Frame{
        .source = from,
        .message = wire::gtpu::kEndMarker,
        .teid = id_.value,
        .extensions = {},
        .payload = {}}.make();
    parts_->uplinks.take_end_marker(parts_->control.lock(), parts_->n3_interface(), *datapath::read_n3_message(frame));
  };
  mark(datapath::test::kUpfIpv4);
  mark(0x0a640009);
  EXPECT_EQ(view().end_markers, 1U);
  EXPECT_EQ(counted(GtpuCounter::end_markers_received), 1U);
  EXPECT_EQ(counted(GtpuCounter::end_markers_unmatched), 1U);
}

}  // namespace
}  // namespace splitplane::gnb
