// Both ends of nFAPI, joined over loopback sockets by relays that can lose, change and invent datagrams.
#include "phy/link/phy_link.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "base/random.h"
#include "phy/link/phy_peer.h"
#include "phy/link/test_net.h"

namespace splitplane::phy {
namespace {

using test::Bytes;
using test::end_of;
using State = PhyLinkState;
using fapi::MessageId;
using fapi::PhyState;

struct L2 final : PhyLinkOwner {
  void phy_runs(const fapi::ParamResponse& c) override {
    ++runs;
    capabilities = c;
  }
  void phy_is_away() override { ++aways; }
  void config_is_refused(const fapi::ConfigResponse& r) override {
    ++refusals;
    refusal = r;
  }
  void slot_begins(const fapi::SlotIndication& s) override {
    ++slots;
    slot = s;
  }
  void receive(const fapi::RxDataIndication& m) override {
    for (const auto& pdu : m.pdus) blocks.emplace_back(pdu.pdu.octets.begin(), pdu.pdu.octets.end());
  }
  void receive(const fapi::CrcIndication& m) override { crcs += m.crcs.size(); }
  void receive(const fapi::UciIndication& m) override { ucis += m.ucis.size(); }
  void receive(const fapi::ErrorIndication& e) override { errors.push_back(e); }

  unsigned runs = 0, aways = 0, refusals = 0, slots = 0;
  std::size_t crcs = 0, ucis = 0;
  fapi::ParamResponse capabilities;
  fapi::ConfigResponse refusal;
  fapi::SlotIndication slot;
  std::vector<Bytes> blocks;
  std::vector<fapi::ErrorIndication> errors;
};

struct Phy final : PhyPeerOwner {
  void phy_starts(const fapi::ConfigRequest&) override { ++starts; }
  void phy_stops() override { ++stops; }
  void l2_is_away() override { ++aways; }
  void receive(const fapi::DlTtiRequest& m) override { dl_pdus += m.pdus.size(); }
  void receive(const fapi::UlTtiRequest&) override { ++ul_ttis; }
  void receive(const fapi::UlDciRequest& m) override { ul_dci_pdus += m.pdus.size(); }
  void receive(const fapi::TxDataRequest& m) override {
    for (const auto& pdu : m.pdus) {
      Bytes& block = blocks.emplace_back();
      for (const auto& part : pdu.parts) block.insert(block.end(), part.octets.begin(), part.octets.end());
    }
  }

  unsigned starts = 0, stops = 0, aways = 0, ul_ttis = 0;
  std::size_t dl_pdus = 0, ul_dci_pdus = 0;
  std::vector<Bytes> blocks;
};

constexpr std::uint16_t kPhy = 3;
constexpr Time kSlot = 500;

PhyLink::Settings link_settings() {
  PhyLink::Settings s{.phy_id = kPhy};
  s.config.dl_grid_size = s.config.ul_grid_size = fapi::PerNumerology{0, 273, 0, 0, 0};
  s.config.phy_cell_id = 500;
  s.config.frame_duplex_type = 0;
  s.config.scs_common = 1;
  return s;
}

// A net of four sockets and two relays: P5 on ends 1 and 2, P7 on ends 3 and 4.
class Linked : public testing::Test {
 protected:
  Linked() {
    make_peer();
    make_link();
  }
  static DatagramSocket open(unsigned own) {
    auto socket = DatagramSocket::open(end_of(net_, own), end_of(net_, own + 10));
    return std::move(socket).value();
  }
  void make_link(const PhyLink::Settings& settings = link_settings()) {
    link_.reset();
    link_ = std::make_unique<PhyLink>(settings, open(1), open(3), l2_);
  }
  void make_peer() {
    peer_.reset();
    PhyPeer::Settings settings{.phy_id = kPhy};
    settings.capabilities.release_capability = 1;
    peer_ = std::make_unique<PhyPeer>(settings, open(2), open(4), phy_);
  }
  void poll() {
    link_->poll(now_);
    p5_.poll();
    p7_.poll();
    if (peer_) peer_->poll(now_);
    p5_.poll();
    p7_.poll();
  }
  // All goes on, at one moment, until it is so.
  template <class F>
  bool settle(F is_so) {
    return test::until([&] {
      poll();
      return is_so();
    });
  }
  void slot() {
    now_ += kSlot;
    if (peer_) (void)peer_->begin_slot(now_);
    poll();
  }
  // Time goes on, slot by slot, until it is so. False after `most`.
  template <class F>
  bool slots_until(F is_so, Time most) {
    for (const Time last = now_ + most; now_ < last && !is_so();) slot();
    return is_so();
  }
  [[nodiscard]] bool running() const { return link_->state() == State::running; }
  void run() {
    ASSERT_TRUE(slots_until([this] { return running(); }, 5'000'000)) << name_of(link_->state());
  }
  // A message for a slot that has not begun.
  template <class Message>
  [[nodiscard]] SendOutcome send_ahead(Message& message) {
    message.sfn = l2_.slot.sfn;
    message.slot = static_cast<std::uint16_t>(l2_.slot.slot + 3);
    if (message.slot >= 20) {
      message.slot = static_cast<std::uint16_t>(message.slot - 20);
      message.sfn = static_cast<std::uint16_t>((message.sfn + 1) % 1024);
    }
    return link_->send(message, now_);
  }
  static std::uint16_t id_of(const Bytes& datagram) {
    return static_cast<std::uint16_t>(datagram[2] << 8 | datagram[3]);
  }

  static constexpr unsigned net_ = 100;
  test::Relay p5_{net_, 1}, p7_{net_, 3};
  L2 l2_;
  Phy phy_;
  std::unique_ptr<PhyPeer> peer_;
  std::unique_ptr<PhyLink> link_;
  Time now_ = 1'000'000;
};

TEST_F(Linked, the_phy_is_configured_started_and_counts_slots) {
  run();
  EXPECT_EQ(peer_->state(), PhyState::kRunning);
  EXPECT_EQ(l2_.runs, 1U);
  EXPECT_EQ(l2_.capabilities.release_capability, 1);
  EXPECT_EQ(phy_.starts, 1U);
  for (unsigned i = 0; i < 50; ++i) slot();
  EXPECT_GE(peer_->counters().slots.get(), 50U);
  EXPECT_TRUE(settle([&] { return l2_.slots == peer_->counters().slots.get(); }));
  EXPECT_EQ(link_->counters().slots_missed.get(), 0U);
  EXPECT_EQ(link_->counters().retries.get(), 0U);
  EXPECT_EQ(link_->p7().counters().refused.get(), 0U);
}

TEST_F(Linked, messages_of_slots_cross_in_both_directions) {
  run();
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  const auto ul = std::make_unique<fapi::UlTtiRequest>();
  const auto dci = std::make_unique<fapi::UlDciRequest>();
  const auto tx = std::make_unique<fapi::TxDataRequest>();
  Bytes block(160 << 10);
  Random random(1);
  for (std::uint8_t& octet : block) octet = static_cast<std::uint8_t>(random.next());
  dl->pdus.append()->body.emplace<fapi::PdschPdu>();
  for (unsigned i = 0; i < 2; ++i) dci->pdus.append()->body.emplace<fapi::PdcchPdu>();
  tx->pdus.append()->parts.add({block});
  EXPECT_EQ(send_ahead(*dl), SendOutcome::sent);
  EXPECT_EQ(send_ahead(*ul), SendOutcome::sent);
  EXPECT_EQ(send_ahead(*dci), SendOutcome::sent);
  EXPECT_EQ(send_ahead(*tx), SendOutcome::sent);
  ASSERT_TRUE(settle([&] { return phy_.blocks.size() == 1; }));
  EXPECT_EQ(phy_.blocks.at(0), block);
  EXPECT_EQ(phy_.dl_pdus, 1U);
  EXPECT_EQ(phy_.ul_ttis, 1U);
  EXPECT_EQ(phy_.ul_dci_pdus, 2U);
  EXPECT_EQ(peer_->counters().delivered.get(), 4U);

  const auto rx = std::make_unique<fapi::RxDataIndication>();
  const auto crc = std::make_unique<fapi::CrcIndication>();
  const auto uci = std::make_unique<fapi::UciIndication>();
  *uci->ucis.append() = {};
  *uci->ucis.append() = {};
  rx->pdus.append()->pdu = {block};
  *crc->crcs.append() = {};
  EXPECT_EQ(peer_->send(*rx, now_), SendOutcome::sent);
  EXPECT_EQ(peer_->send(*crc, now_), SendOutcome::sent);
  EXPECT_EQ(peer_->send(*uci, now_), SendOutcome::sent);
  ASSERT_TRUE(settle([&] { return l2_.blocks.size() == 1 && l2_.crcs == 1 && l2_.ucis == 2; }));
  EXPECT_EQ(l2_.blocks.at(0), block);
}

TEST_F(Linked, nothing_is_sent_before_the_phy_runs) {
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  const auto rx = std::make_unique<fapi::RxDataIndication>();
  EXPECT_EQ(link_->send(*dl, now_), SendOutcome::not_running);
  EXPECT_EQ(peer_->send(*rx, now_), SendOutcome::not_running);
  EXPECT_FALSE(peer_->begin_slot(now_));
  EXPECT_EQ(link_->counters().not_running.get(), 1U);
  EXPECT_EQ(peer_->counters().not_running.get(), 1U);
  EXPECT_EQ(link_->p7().datagrams().sent.get() + peer_->p7().datagrams().sent.get(), 0U);
}

TEST_F(Linked, a_message_that_cannot_be_written_is_counted) {
  run();
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  dl->sfn = 1024;
  EXPECT_EQ(link_->send(*dl, now_), SendOutcome::unwritable);
  const auto tx = std::make_unique<fapi::TxDataRequest>();
  const Bytes block(200'000);  // more than 128 datagrams
  tx->pdus.append()->parts.add({block});
  EXPECT_EQ(link_->send(*tx, now_), SendOutcome::unwritable);
  EXPECT_EQ(link_->p7().counters().unwritable.get(), 2U);
}

TEST_F(Linked, each_p5_message_may_be_lost_once) {
  std::vector<std::uint16_t> lost;
  p5_.rule = [&lost](Bytes datagram, bool) -> std::vector<Bytes> {
    if (std::ranges::find(lost, id_of(datagram)) != lost.end()) return {std::move(datagram)};
    lost.push_back(id_of(datagram));
    return {};
  };
  run();
  EXPECT_EQ(lost, (std::vector<std::uint16_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(link_->counters().retries.get(), 5U);
  EXPECT_EQ(link_->counters().unanswered.get(), 0U);
  EXPECT_EQ(link_->counters().starts.get(), 1U);
}

TEST_F(Linked, without_any_answer_the_link_goes_away_and_begins_again) {
  peer_.reset();
  ASSERT_TRUE(slots_until([this] { return link_->counters().unanswered.get() == 2; }, 10'000'000));
  EXPECT_EQ(link_->counters().retries.get(), 8U);  // 5 tries each time
  EXPECT_EQ(l2_.aways, 0U);
  make_peer();
  run();
}

TEST_F(Linked, a_silent_phy_is_away_and_comes_back) {
  run();
  p7_.rule = [](Bytes, bool) { return std::vector<Bytes>{}; };
  ASSERT_TRUE(slots_until([this] { return !running(); }, 600'000));
  EXPECT_EQ(l2_.aways, 1U);
  EXPECT_EQ(link_->counters().silences.get(), 1U);
  p7_.rule = [](Bytes datagram, bool) { return std::vector<Bytes>{std::move(datagram)}; };
  run();
  EXPECT_EQ(l2_.runs, 2U);
  EXPECT_EQ(phy_.stops, 1U);  // it ran on, and had to be stopped before it was configured again
}

TEST_F(Linked, a_phy_that_begins_again_is_found_by_its_errors) {
  run();
  make_peer();
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(link_->send(*dl, now_), SendOutcome::sent);
  const Time before = now_;
  ASSERT_TRUE(slots_until([this] { return link_->counters().starts.get() == 2; }, 400'000));
  EXPECT_LT(now_ - before, link_settings().silence);
  EXPECT_EQ(link_->counters().restarts.get(), 1U);
  EXPECT_EQ(l2_.aways, 1U);
  EXPECT_TRUE(running());
}

TEST_F(Linked, an_l2_that_begins_again_stops_the_phy_first) {
  run();
  for (unsigned i = 0; i < 100; ++i) slot();
  make_link();
  run();
  EXPECT_EQ(phy_.starts, 2U);
  EXPECT_EQ(phy_.stops, 1U);
  // The PHY takes messages whose sequence numbers begin at 0 again.
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  EXPECT_EQ(send_ahead(*dl), SendOutcome::sent);
  EXPECT_TRUE(settle([this] { return peer_->counters().delivered.get() == 1; }));
}

TEST_F(Linked, a_config_that_the_phy_refuses_is_told_and_tried_again_later) {
  auto settings = link_settings();
  settings.config.phy_cell_id = 1008;
  make_link(settings);
  ASSERT_TRUE(slots_until([this] { return l2_.refusals == 1; }, 1'000'000));
  EXPECT_EQ(l2_.refusal.error_code, fapi::ErrorCode::kInvalidConfig);
  EXPECT_EQ(l2_.refusal.invalid.size(), 1U);
  EXPECT_EQ(link_->state(), State::away);
  const Time first = now_;
  ASSERT_TRUE(slots_until([this] { return l2_.refusals == 2; }, 2'000'000));
  EXPECT_GE(now_ - first, settings.away_time);
}

TEST_F(Linked, the_end_stops_the_phy) {
  run();
  link_->end(now_);
  EXPECT_EQ(l2_.aways, 1U);
  ASSERT_TRUE(slots_until([this] { return link_->state() == State::ended; }, 1'000'000));
  EXPECT_EQ(peer_->state(), PhyState::kConfigured);
  EXPECT_EQ(phy_.stops, 1U);
  for (unsigned i = 0; i < 10'000; ++i) slot();
  EXPECT_EQ(link_->state(), State::ended);
}

TEST_F(Linked, the_end_of_a_link_without_peer_comes_after_all_tries) {
  run();
  peer_.reset();
  link_->end(now_);
  EXPECT_TRUE(slots_until([this] { return link_->state() == State::ended; }, 2'000'000));
  EXPECT_EQ(link_->counters().unanswered.get(), 1U);
}

TEST_F(Linked, slots_without_indication_are_counted) {
  run();
  unsigned number = 0;
  p7_.rule = [&number](Bytes datagram, bool down) {
    const bool lost = !down && id_of(datagram) == 0x82 && ++number % 5 == 0;
    return lost ? std::vector<Bytes>{} : std::vector<Bytes>{std::move(datagram)};
  };
  for (unsigned i = 0; i < 101; ++i) slot();
  EXPECT_TRUE(settle([this] { return link_->counters().slots_missed.get() == 20; }))
      << link_->counters().slots_missed.get();
}

TEST_F(Linked, late_messages_are_dropped_and_errors_are_bounded) {
  run();
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  dl->sfn = 500;
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(link_->send(*dl, now_), SendOutcome::sent);
  p7_.poll();
  EXPECT_TRUE(settle([this] { return peer_->counters().out_of_slot.get() == 40; }));
  const auto& counters = peer_->counters();
  EXPECT_EQ(counters.errors_sent.get() + counters.errors_withheld.get(), 40U);
  EXPECT_TRUE(settle([&] { return l2_.errors.size() == counters.errors_sent.get(); }));
  EXPECT_EQ(l2_.errors.at(0).error_code, fapi::ErrorCode::kSfnOutOfSync);
  EXPECT_TRUE(running());
  EXPECT_EQ(phy_.dl_pdus, 0U);
}

TEST_F(Linked, a_silent_l2_is_told_once) {
  run();
  ASSERT_TRUE(slots_until([this] { return phy_.aways == 1; }, 600'000));
  for (unsigned i = 0; i < 2000; ++i) slot();
  EXPECT_EQ(phy_.aways, 1U);
  EXPECT_EQ(peer_->counters().silences.get(), 1U);
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  EXPECT_EQ(send_ahead(*dl), SendOutcome::sent);
  EXPECT_TRUE(settle([this] { return !peer_->l2_away(); }));
}

TEST_F(Linked, a_message_that_the_kernel_takes_in_part_is_cut_short) {
  int both[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, both), 0);
  P7Channel channel(DatagramSocket{both[0]}, kPhy, {});
  DatagramSocket other(both[1]);
  const auto tx = std::make_unique<fapi::TxDataRequest>();
  const Bytes block(100'000);
  tx->pdus.append()->parts.add({block});
  SendOutcome outcome = SendOutcome::sent;
  for (unsigned i = 0; i < 1000 && outcome == SendOutcome::sent; ++i) outcome = channel.send(*tx, 0);
  EXPECT_EQ(outcome, SendOutcome::cut_short);
  EXPECT_EQ(channel.counters().cut_short.get(), 1U);
  EXPECT_EQ(channel.datagrams().no_room.get(), 1U);
}

Time microseconds_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<Time>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

// Sleeps until a datagram is there, 1 ms at most.
template <class End>
void sleep_at(const End& end) {
  std::array<pollfd, 2> descriptors{{{end.p5().descriptor(), POLLIN, 0}, {end.p7().descriptor(), POLLIN, 0}}};
  (void)::poll(descriptors.data(), descriptors.size(), 1);
}

TEST(LinkThreads, each_end_has_a_thread_and_others_read_state_and_counters) {
  L2 l2;
  Phy phy;
  const auto open = [](unsigned own, unsigned other) {
    return std::move(DatagramSocket::open(end_of(101, own), end_of(101, other)).value());
  };
  PhyPeer peer({.phy_id = kPhy}, open(2, 1), open(4, 3), phy);
  PhyLink link(link_settings(), open(1, 2), open(3, 4), l2);
  const std::jthread phy_thread([&](const std::stop_token& stop) {
    for (Time next = microseconds_now(); !stop.stop_requested();) {
      const Time now = microseconds_now();
      peer.poll(now);
      for (; next <= now; next += kSlot) (void)peer.begin_slot(now);
      sleep_at(peer);
    }
  });
  const std::jthread l2_thread([&](const std::stop_token& stop) {
    const auto dl = std::make_unique<fapi::DlTtiRequest>();
    for (unsigned slots = 0; !stop.stop_requested(); sleep_at(link)) {
      link.poll(microseconds_now());
      if (l2.slots == slots) continue;
      slots = l2.slots;
      dl->sfn = l2.slot.sfn;
      dl->slot = l2.slot.slot;
      (void)link.send(*dl, microseconds_now());
    }
  });
  EXPECT_TRUE(test::until([&] { return link.state() == State::running && link.counters().slots.get() >= 200; }));
  EXPECT_TRUE(test::until([&] { return peer.p7().counters().messages.get() >= 50; }));
}

// What of the datagrams became what, at one end.
template <class End>
void expect_balance(const End& end) {
  const auto& p5 = end.p5().counters();
  EXPECT_EQ(end.p5().datagrams().received.get(), p5.messages.get() + p5.refused.get());
  std::uint64_t outcomes = 0;
  for (const std::uint64_t n : end.p7().receiver().outcomes) outcomes += n;
  EXPECT_EQ(end.p7().datagrams().received.get(), outcomes);
}

TEST_F(Linked, hostile_datagrams_do_no_lasting_harm) {
  run();
  Random random(7);
  std::vector<Bytes> seen;
  const auto rule = [&](Bytes datagram, bool) {
    if (seen.size() < 200) seen.push_back(datagram);
    return std::vector<Bytes>{std::move(datagram)};
  };
  p5_.rule = p7_.rule = rule;
  const auto dl = std::make_unique<fapi::DlTtiRequest>();
  for (unsigned i = 0; i < 4000; ++i) {
    (void)send_ahead(*dl);
    slot();
    Bytes datagram;
    if (seen.empty() || random.below(4) == 0) {
      datagram.resize(random.below(60));
      for (std::uint8_t& octet : datagram) octet = static_cast<std::uint8_t>(random.next());
    } else {
      datagram = seen[random.below(static_cast<std::uint32_t>(seen.size()))];
      if (random.below(3) != 0) datagram.resize(random.below(static_cast<std::uint32_t>(datagram.size() + 1)));
      if (!datagram.empty()) datagram[random.below(static_cast<std::uint32_t>(datagram.size()))] ^= 0x10;
    }
    (random.below(2) == 0 ? p5_ : p7_).inject(datagram, random.below(2) == 0);
  }
  expect_balance(*link_);
  expect_balance(*peer_);
  EXPECT_GT(link_->p5().counters().refused.get() + link_->p7().counters().refused.get(), 100U);
  EXPECT_TRUE(slots_until([this] { return running() && peer_->state() == PhyState::kRunning; }, 5'000'000));
}

TEST_F(Linked, a_bad_network_ends_in_a_running_phy) {
  Random random(11);
  const auto rule = [&random](Bytes datagram, bool) -> std::vector<Bytes> {
    const auto chance = random.below(10);
    if (chance < 3) return {};
    if (chance == 3) return {datagram, datagram};
    return {std::move(datagram)};
  };
  p5_.rule = p7_.rule = rule;
  run();
  for (unsigned i = 0; i < 2000; ++i) slot();
  EXPECT_TRUE(running());
  EXPECT_GT(link_->counters().slots_missed.get(), 200U);
  const auto& counters = link_->counters();
  EXPECT_LE(counters.slots.get() + counters.slots_missed.get(), peer_->counters().slots.get());
  expect_balance(*link_);
}

}  // namespace
}  // namespace splitplane::phy
