// A card of several cores behaves as one card: the same octets in the same order for each bearer as with one core, and
// the same numbers and sums. A refusal applies to all cores.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "card/test_bearers.h"
#include "card/test_cores.h"
#include "card/test_packets.h"
#include "returns/fence_frame.h"

namespace splitplane::nic {
namespace {

using test::bearer;
using test::Bytes;
using test::Packet;
using test::PacketMaker;
using test::TestBearer;
using test::TestCard;
using test::TestCores;
using test::vf_port;
using testing::HasSubstr;

CardSettings settings() {
  return {.vfs = test::kHostVfs, .punt_n3 = test::kVfN3, .punt_air = test::kVfAir, .copy_clones = true};
}

// Frames in order, by the key that names the bearer.
std::map<std::uint32_t, std::vector<Bytes>> by_bearer(const std::vector<Bytes>& frames, CardSide side) {
  std::map<std::uint32_t, std::vector<Bytes>> sorted;
  for (const Bytes& frame : frames) {
    sorted[affinity_key(frame.data(), static_cast<unsigned>(frame.size()), side)].push_back(frame);
  }
  return sorted;
}

// Describes briefly which bearer's frames differ.
std::string difference(const std::vector<Bytes>& got, const std::vector<Bytes>& expected, CardSide side) {
  auto sorted = by_bearer(got, side);
  for (const auto& [id, frames] : by_bearer(expected, side)) {
    const auto& mine = sorted[id];
    const auto differ = std::ranges::mismatch(mine, frames);
    if (differ.in1 == mine.end() && differ.in2 == frames.end()) continue;
    return fmt::format("of {:#x}: {} frames, expected {}; the first {} are equal", id, mine.size(), frames.size(),
                       differ.in1 - mine.begin());
  }
  return got.size() == expected.size() ? "" : "frames of others";
}

std::vector<CardBearer> entries(const std::vector<TestBearer>& bearers) {
  std::vector<CardBearer> all;
  for (const TestBearer& b : bearers) {
    if (b.config.rlc_mode == RlcMode::kAm) all.push_back(test::card_bearer(b));
  }
  return all;
}

template <class To>
void set_up(To& to, const std::vector<CardBearer>& bearers) {
  const Expected<void> installed = to.install(bearers, false);
  ASSERT_TRUE(installed) << installed.error().message;
  for (const CardPeer& peer : test::card_peers()) ASSERT_TRUE(to.set_peer(peer));
}

class OneAsMany : public testing::TestWithParam<unsigned> {
 protected:
  void expect_equal_sums(const TestCard& one, const TestCores& many, const std::vector<CardBearer>& bearers) {
    const CardCounters expected = one.card->counters(), got = many.counters();
    EXPECT_EQ(got.punts, expected.punts);
    EXPECT_EQ(got.drops, expected.drops);
    EXPECT_EQ(got.rlc_control, expected.rlc_control);
    EXPECT_EQ(got.clones, expected.clones);
    for (unsigned port = 0; port < many.ports; ++port) {
      EXPECT_EQ(got.ports[port].in, expected.ports[port].in) << port;
      EXPECT_EQ(got.ports[port].out, expected.ports[port].out) << port;
    }
    for (const CardBearer& b : bearers) {
      const auto at_one = one.card->numbers(b.id);
      const auto at_many = many.cards[core_of(b.id.value, GetParam())]->numbers(b.id);
      ASSERT_TRUE(at_one && at_many);
      EXPECT_EQ(at_many->pdcp_next, at_one->pdcp_next);
      EXPECT_EQ(at_many->rlc_next, at_one->rlc_next);
      EXPECT_EQ(at_many->in_flight, at_one->in_flight);
      EXPECT_EQ(at_many->dl_packets, at_one->dl_packets);
      EXPECT_EQ(at_many->ul_packets, at_one->ul_packets);
    }
    for (unsigned core = 0; core < GetParam(); ++core) {
      EXPECT_TRUE(many.adds_up(core)) << core;
      EXPECT_GT(many.counters(core).frames_taken, 0U) << "nothing was handed to core " << core;
    }
  }
};

TEST_P(OneAsMany, each_packet_has_the_octets_ports_and_reasons_that_one_core_gives) {
  const std::vector<TestBearer> bearers = test::all_bearers();
  const std::vector<CardBearer> all = entries(bearers);
  TestCard one("gnb-clone", settings());
  TestCores many("gnb-clone", GetParam(), settings());
  set_up(*one.card, all);
  set_up(*many.control, all);
  PacketMaker maker(bearers, 20'264);
  for (unsigned i = 0; i < 6000; ++i) {
    if (i % 1024 == 0) {
      std::vector<CardLease> leases;
      for (const CardBearer& b : all) leases.emplace_back(b.id, one.card->numbers(b.id)->pdcp_next + test::kLease);
      ASSERT_TRUE(one.card->set_leases(leases));
      ASSERT_TRUE(many.control->set_leases(leases));
    }
    const Packet p = maker.next();
    const bool from_host = i % 5 == 0;
    const unsigned port = from_host ? vf_port(i % test::kHostVfs) : p.downlink ? kN3Port : kAirPort;
    const Bytes frame = from_host && i % 2 == 0 ? test::returned(all[i % all.size()], Bytes(40, 0x45)) : p.octets;
    one.feed({frame}, port);
    ASSERT_TRUE(many.give(port, one.pool.make(frame)));
    many.wait_for_disk();
    for (unsigned out = 0; out < many.ports; ++out)
      ASSERT_TRUE(many.take(out) == one.take(out)) << i << ", port " << out;
  }
  expect_equal_sums(one, many, all);
}

// Runs a thread for each core, as fast as it can.
TEST_P(OneAsMany, a_bearers_packets_stay_in_order_on_threads) {
  const std::vector<TestBearer> bearers = test::all_bearers();
  const std::vector<CardBearer> all = entries(bearers);
  TestCard one("gnb-clone", settings());
  TestCores many("gnb-clone", GetParam(), settings());
  set_up(*one.card, all);
  set_up(*many.control, all);
  PacketMaker maker(bearers, 7);
  std::map<unsigned, std::vector<Bytes>> expected, got;
  const auto take = [&](auto& from, auto& to) {
    for (unsigned port = 0; port < many.ports; ++port) {
      for (Bytes& frame : from.take(port)) to[port].push_back(std::move(frame));
    }
  };
  constexpr unsigned kPackets = 3000, kOnTheirWay = 128;  // the pool and the rings have room for this many
  many.run([&] {
    for (unsigned sent = 0; sent < kPackets;) {
      take(many, got);
      if (one.pool.in_use() >= kOnTheirWay) {
        std::this_thread::yield();
        continue;
      }
      const Packet p = maker.next_usual();
      if (p.octets.size() < 64) continue;  // too short for a card: the card does less with it, so it overtakes
      const unsigned port = p.downlink ? kN3Port : kAirPort;
      one.feed({p.octets}, port);
      take(one, expected);
      while (!many.give(port, one.pool.make(p.octets))) std::this_thread::yield();
      ++sent;
    }
  });
  while (many.take_rest()) {
  }
  many.wait_for_disk();  // frames that no thread had taken from a port
  take(many, got);
  for (unsigned port = 0; port < many.ports; ++port) {
    const CardSide side = port == kN3Port || port == vf_port(test::kVfN3) ? CardSide::kN3 : CardSide::kAir;
    EXPECT_EQ(difference(got[port], expected[port], side), "") << "port " << port;
  }
  expect_equal_sums(one, many, all);
}

INSTANTIATE_TEST_SUITE_P(Cores, OneAsMany, testing::Values(2U, 3U),
                         [](const auto& n) { return fmt::format("{}", n.param); });

class TwoCores : public testing::Test {
 protected:
  // A bearer that core `core` serves; `n` tells those of one core apart.
  static CardBearer of_core(unsigned core, unsigned n = 0) {
    for (std::uint32_t number = 1;; ++number) {
      if (core_of(bearer(number).id.value, 2) == core && n-- == 0) return bearer(number);
    }
  }
  std::string complaint(const Expected<void>& result) { return result ? "" : result.error().message; }
  std::size_t bearers() { return control().numbers_after(0, 1000)->size(); }
  CardCores& control() { return *cores_.control; }

  datapath::test::Pool pool_{256};
  TestCores cores_{"gnb-mat", 2, {.vfs = test::kVfs, .capacity = 3}};
};

TEST_F(TwoCores, install_all_bearers_of_a_call_or_none) {
  CardBearer wrong = of_core(1);
  wrong.peer = 1000;
  EXPECT_THAT(complaint(control().install(std::array{of_core(0), wrong}, false)), HasSubstr("peer 1000"));
  EXPECT_EQ(bearers(), 0U);
  EXPECT_THAT(complaint(control().install(std::array{of_core(0), of_core(0, 1), of_core(1), of_core(1, 1)}, false)),
              HasSubstr("would be full; allowed: 3 bearers"));
  EXPECT_EQ(bearers(), 0U);
  ASSERT_TRUE(control().install(std::array{of_core(0), of_core(1)}, false));
  EXPECT_EQ(bearers(), 2U);
  EXPECT_EQ(cores_.cards[0]->bearer_count(), 1U);
  EXPECT_EQ(cores_.cards[1]->bearer_count(), 1U);
  ASSERT_TRUE(control().install(std::array{of_core(0), of_core(1), of_core(1, 1)}, false)) << "known ones are no more";
}

TEST_F(TwoCores, remove_and_lease_to_all_bearers_of_a_call_or_to_none) {
  const CardBearer one = of_core(0), other = of_core(1);
  ASSERT_TRUE(control().install(std::array{one, other}, false));
  EXPECT_FALSE(control().remove(std::array{one.id, of_core(1, 1).id}));
  EXPECT_EQ(bearers(), 2U);
  EXPECT_FALSE(control().set_leases(std::array{CardLease{one.id, 2}, CardLease{of_core(1, 1).id, 2}}));
  const auto sent = [&](const CardBearer& b) {
    for (unsigned i = 0; i < 5; ++i) EXPECT_TRUE(cores_.give(kN3Port, pool_.make(test::to(b).make())));
    cores_.wait_for_disk();
    return cores_.take(kAirPort).size();
  };
  EXPECT_EQ(sent(one), 5U) << "its lease was cut";
  ASSERT_TRUE(
      control().set_leases(std::array{CardLease{one.id, kLeaseReserve + 7}, CardLease{other.id, kLeaseReserve + 3}}));
  EXPECT_EQ(sent(one), 2U);
  EXPECT_EQ(sent(other), 3U);
  const auto at_the_host = [&](const CardBearer& b) { return cores_.take(vf_port(b.vf_n3)).size(); };
  EXPECT_EQ(at_the_host(one), 5U);  // what had no number, of both: they have one worker
  ASSERT_TRUE(control().remove(std::array{other.id}));
  EXPECT_EQ(bearers(), 1U);
  EXPECT_EQ(sent(other), 0U);
  (void)cores_.take(vf_port(test::kPuntN3));
}

TEST_F(TwoCores, give_numbers_in_the_order_of_identities_and_of_the_question) {
  const std::array all{of_core(0), of_core(1), of_core(1, 1)};
  ASSERT_TRUE(control().install(all, false));
  std::set<std::uint32_t> ids;
  for (const CardBearer& b : all) ids.insert(b.id.value);
  const auto first = control().numbers_after(0, 2);
  ASSERT_EQ(first->size(), 2U);
  EXPECT_EQ((*first)[0].first.value, *ids.begin());
  EXPECT_EQ((*first)[1].first.value, *std::next(ids.begin()));
  const auto rest = control().numbers_after((*first)[1].first.value, 2);
  ASSERT_EQ(rest->size(), 1U);
  EXPECT_EQ((*rest)[0].first.value, *ids.rbegin());
  const auto asked = control().numbers(std::array{all[2].id, all[0].id});
  ASSERT_TRUE(asked);
  EXPECT_EQ((*asked)[0].first, all[2].id);
  EXPECT_EQ((*asked)[1].first, all[0].id);
  EXPECT_FALSE(control().numbers(std::array{of_core(0, 5).id}));
}

TEST_F(TwoCores, change_nothing_while_one_of_them_is_silent) {
  CardBearer old = of_core(0);
  const CardPeer peer = test::card_peers().front();
  old.peer = peer.number;
  ASSERT_TRUE(control().install(std::array{old}, false));
  ASSERT_TRUE(control().set_peer(peer));
  cores_.answers = [](unsigned core) { return core == 0; };
  const auto silent = HasSubstr("core 1 of card card does not answer");
  EXPECT_THAT(complaint(control().install(std::array{of_core(0, 1), of_core(1)}, false)), silent);
  EXPECT_THAT(complaint(control().remove(std::array{old.id})), silent);
  EXPECT_THAT(complaint(control().set_leases(std::array{CardLease{old.id, 1}})), silent);
  EXPECT_THAT(complaint(control().set_peer(peer)), silent);
  EXPECT_THAT(complaint(control().unset_peer(peer.number)), silent);
  EXPECT_FALSE(control().numbers_after(0, 10));
  cores_.answers = {};
  EXPECT_EQ(bearers(), 1U);
  ASSERT_TRUE(cores_.give(kN3Port, pool_.make(test::to(old).make())));
  ASSERT_TRUE(cores_.give(kAirPort, pool_.make(test::from_ue(old, 0, Bytes(40, 0x45)))));
  cores_.wait_for_disk();
  EXPECT_EQ(cores_.take(kAirPort).size(), 1U) << "it has its lease";
  EXPECT_EQ(cores_.take(kN3Port).size(), 1U) << "and its UPF";
}

// The card cannot undo what the first core did. The error says that the request is not complete, and repeating it does
// the rest.
TEST_F(TwoCores, do_the_rest_when_asked_again_after_one_fell_silent_half_way) {
  const std::array both{of_core(0), of_core(1)};
  const auto silent_after = [this](unsigned questions) {
    cores_.answers = [questions, asked = 0U](unsigned) mutable { return asked++ < questions; };
  };
  silent_after(3);  // checked on both, done on the first
  EXPECT_THAT(complaint(control().install(both, false)), HasSubstr("core 1 of card card does not answer"));
  cores_.answers = {};
  EXPECT_EQ(bearers(), 1U);
  ASSERT_TRUE(control().install(both, false));
  EXPECT_EQ(bearers(), 2U);
}

// Bearers of both cores move here at the same time.
TEST_F(TwoCores, begin_numbers_and_send_fences_for_their_own_bearers) {
  std::vector<CardBearer> all{of_core(0), of_core(1), of_core(0, 1)};
  for (CardBearer& b : all) b.place = Place::kHost;
  ASSERT_TRUE(control().install(all, false));
  std::vector<CardBeginning> beginnings;
  for (CardBearer& b : all) {
    b.place = Place::kCard;
    b.next_count = 5000;
    b.lease = 1;
    beginnings.push_back({.id = b.id, .next_count = 10, .next_rlc = 3, .lease_end = 10 + 1792, .settled = 2});
  }
  ASSERT_TRUE(control().install(all, false));
  const auto send = [&](unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      for (const CardBearer& b : all) EXPECT_TRUE(cores_.give(kN3Port, pool_.make(test::to(b).make())));
    }
    cores_.wait_for_disk();
  };
  send(2);
  const std::array ids{all[1].id, all[0].id, all[2].id};
  const auto fenced = control().fence(ids, 99, pool_.get());
  ASSERT_TRUE(fenced) << fenced.error().message;
  EXPECT_EQ(fenced->fences.n3, 2U) << "one from each core";
  EXPECT_EQ(fenced->fences.copies, 2U);
  ASSERT_EQ(fenced->numbers.size(), 3U);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(fenced->numbers[i].first, ids[i]);
    EXPECT_EQ(fenced->numbers[i].second.in_flight, 2U);
  }
  send(1);
  std::map<std::uint32_t, unsigned> before;  // frames of each bearer at the fence that names it
  std::map<std::uint32_t, unsigned> frames;
  const auto arrived = cores_.take(vf_port(test::kWorkerN3));
  for (const Bytes& frame : arrived) {
    const auto fence = datapath::parse_fence(frame);
    if (!fence) ++frames[affinity_key(frame.data(), static_cast<unsigned>(frame.size()), CardSide::kN3)];
    for (std::uint32_t i = 0; fence && i < fence->bearers; ++i) before[fence->id(i)] = frames[fence->id(i)];
  }
  EXPECT_EQ(arrived.size(), 9U + 2U);
  EXPECT_EQ(before,
            (std::map<std::uint32_t, unsigned>{{all[0].id.value, 2U}, {all[1].id.value, 2U}, {all[2].id.value, 2U}}));
  EXPECT_EQ(cores_.take(vf_port(test::kCopies)).size(), 2U);

  ASSERT_TRUE(control().begin(beginnings));
  for (const CardBearer& b : all) {
    EXPECT_EQ((*control().numbers(std::array{b.id}))[0].second.pdcp_next, 10U);
    EXPECT_EQ((*control().numbers(std::array{b.id}))[0].second.in_flight, 1U);
  }
  EXPECT_EQ(cores_.counters().fences, 4U);
  EXPECT_TRUE(cores_.adds_up(0) && cores_.adds_up(1));
}

TEST_F(TwoCores, say_which_of_them_does_not_fence) {
  ASSERT_TRUE(control().install(std::array{of_core(0), of_core(1)}, false));
  const auto fence = [&](std::span<const BearerId> ids) {
    const auto fenced = control().fence(ids, 99, pool_.get());
    return fenced ? "" : fenced.error().message;
  };
  EXPECT_THAT(fence(std::array{of_core(1, 1).id}), HasSubstr("is not on card card; allowed: one of its bearers"));
  cores_.answers = [](unsigned core) { return core == 0; };
  EXPECT_THAT(fence(std::array{of_core(1).id}), HasSubstr("core 1 of card card does not answer"));
  EXPECT_THAT(complaint(control().begin(std::array{CardBeginning{.id = of_core(1).id, .lease_end = 9}})),
              HasSubstr("core 1 of card card does not answer"));
  EXPECT_EQ(cores_.counters().fences, 0U);
}

// Another node may choose the TEIDs of the host's bearers.
TEST_F(TwoCores, lead_a_bearer_of_the_host_there_whatever_its_teid) {
  CardBearer b = of_core(0);
  b.place = Place::kHost;
  b.teid = of_core(1, 3).teid;
  ASSERT_TRUE(control().install(std::array{b}, false));
  EXPECT_EQ(bearers(), 1U);
  const auto arrives = [&](const Bytes& frame, unsigned port, unsigned vf) {
    EXPECT_TRUE(cores_.give(port, pool_.make(frame)));
    cores_.wait_for_disk();
    (void)cores_.take(vf_port(test::kPuntN3));
    return !cores_.take(vf_port(vf)).empty();
  };
  const Bytes down = test::to(b).make(), up = test::from_ue(b, 0, Bytes(40, 0x45));
  EXPECT_TRUE(arrives(down, kN3Port, test::kWorkerN3));
  EXPECT_TRUE(arrives(up, kAirPort, test::kWorkerAir));
  CardBearer moved = b;
  moved.place = Place::kCard;
  EXPECT_THAT(complaint(control().install(std::array{moved}, false)), HasSubstr("leads to another core of card"));
  moved.teid = Teid{moved.id.value};
  ASSERT_TRUE(control().install(std::array{moved}, false));
  EXPECT_FALSE(arrives(down, kN3Port, test::kWorkerN3)) << "the old TEID is nobody's, on no core";
  EXPECT_EQ(bearers(), 1U);
  ASSERT_TRUE(control().remove(std::array{b.id}));
  ASSERT_TRUE(control().install(std::array{b}, false));
  ASSERT_TRUE(control().remove(std::array{b.id}));
  EXPECT_FALSE(arrives(down, kN3Port, test::kWorkerN3));
}

// Both rings are full: a frame for the bearer's core is dropped, and a frame for a port of another core counts as a
// full queue.
TEST(CardCores, count_what_a_full_ring_does_not_take) {
  datapath::test::Pool pool(512);
  TestCores cores("gnb-mat", 2, {.vfs = test::kVfs}, 16);
  std::vector<CardBearer> all;
  for (std::uint32_t number = 1; number <= 32; ++number) all.push_back(bearer(number));
  ASSERT_TRUE(cores.control->install(all, false));
  unsigned others = 0;
  for (const CardBearer& b : all) {
    if (core_of(b.id.value, 2) == 1) ++others;
    for (unsigned i = 0; i < 2; ++i) ASSERT_TRUE(cores.give(kN3Port, pool.make(test::to(b).make())));
  }
  ASSERT_GT(others, 8U);
  cores.round(0);
  cores.round(0);
  const auto core_full = [&] { return cores.counters().drops[static_cast<std::size_t>(CardDrop::core_full)]; };
  EXPECT_EQ(core_full(), 2 * others - 16);
  EXPECT_EQ(cores.counters().ports[kAirPort].tx_full, 2 * (32 - others) - 16) << "the air is the other core's";
  EXPECT_EQ(cores.stats[0].dropped(), cores.counters().tx_full) << "one name for each loss";
  EXPECT_EQ(cores.stats[0].dispatched.get(), 16U + 16U);
  cores.wait_for_disk();
  EXPECT_EQ(cores.take(kAirPort).size(), 16U + 16U);
  EXPECT_TRUE(cores.adds_up(0) && cores.adds_up(1));
}

TEST(CardCores, have_a_ports_receive_and_transmit_queue_to_one_of_them) {
  for (unsigned cores = 2; cores <= kMaxCardCores; ++cores) {
    EXPECT_EQ(owner_of(kN3Port, cores), 0U);
    EXPECT_EQ(owner_of(kAirPort, cores), cores - 1);
    for (unsigned vf = 0; vf < kMaxVfs; ++vf) EXPECT_EQ(owner_of(vf_port(vf), cores), vf % cores);
  }
}

TEST(CardCores, share_bearers_evenly) {
  for (unsigned cores = 2; cores <= kMaxCardCores; ++cores) {
    std::vector<unsigned> of(cores);
    for (std::uint32_t index = 0; index < 65536; ++index) ++of[core_of(0x0c040000 + index, cores)];
    const auto [least, most] = std::ranges::minmax(of);
    EXPECT_LE(most - least, 65536 / cores / 20) << cores;
  }
}

}  // namespace
}  // namespace splitplane::nic
