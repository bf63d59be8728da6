// A card with a host behind it, compared with the same host alone. For every input the same octets go out in the same
// order per bearer, with the same verdicts. SPLITPLANE_PACKETS sets the number of packets, SPLITPLANE_SEED the seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "card/test_card.h"
#include "card/test_hosts.h"
#include "card/test_packets.h"
#include "card/test_reasons.h"

namespace splitplane::nic {
namespace {

using datapath::FeatureSet;
using test::Alone;
using test::Bytes;
using test::Outcome;
using test::Packet;
using test::PacketMaker;
using test::TestBearer;
using test::Together;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string hex(const std::vector<Bytes>& frames) {
  std::ostringstream out;
  for (const Bytes& frame : frames) {
    out << "\n    " << frame.size() << ":" << std::hex << std::setfill('0');
    for (std::size_t i = 0; i < std::min<std::size_t>(frame.size(), 96); ++i) {
      out << (i % 8 == 0 ? " " : "") << std::setw(2) << unsigned{frame[i]};
    }
    out << std::dec;
  }
  return out.str();
}

std::string words(const Outcome& o) {
  std::string drops;
  for (const auto& [reason, n] : o.drops) drops += " " + reason + "=" + std::to_string(n);
  return "\n  air" + hex(o.air) + "\n  n3" + hex(o.n3) + "\n  copies" + hex(o.copies) + "\n  control" + hex(o.control) +
         "\n  drops" + drops;
}

std::unique_ptr<Card> make_card(const std::string& program, const CardSettings& settings) {
  const auto spec = read_spec(spec_path("", program));
  EXPECT_TRUE(spec) << spec.error().message;
  if (!spec) return nullptr;
  auto card = Card::make(*spec, settings);
  EXPECT_TRUE(card) << card.error().message;
  return card ? std::move(*card) : nullptr;
}

// Frames of one bearer, in order; frames without a bearer, together.
std::map<std::uint32_t, std::vector<Bytes>> by_bearer(const std::vector<Bytes>& frames, std::size_t id_at) {
  std::map<std::uint32_t, std::vector<Bytes>> sorted;
  for (const Bytes& frame : frames) {
    const bool has_id = frame.size() >= id_at + 4;
    sorted[has_id ? wire::load_be32(frame.data() + id_at) : 0].push_back(frame);
  }
  return sorted;
}
// The first bearer whose frames differ, or nothing.
std::string difference(const std::vector<Bytes>& got, const std::vector<Bytes>& expected, std::size_t id_at) {
  auto sorted = by_bearer(got, id_at);
  for (const auto& [id, frames] : by_bearer(expected, id_at)) {
    if (sorted[id] != frames) return fmt::format("of {:#x}: got{}\n  expected{}", id, hex(sorted[id]), hex(frames));
    sorted.erase(id);
  }
  return sorted.empty() ? "" : fmt::format("of {:#x}: got{}", sorted.begin()->first, hex(sorted.begin()->second));
}
constexpr std::uint64_t kRenewal = 1024;               // packets, each of which may take one COUNT of its bearer
constexpr std::size_t kAirhdrId = 18, kGtpuTeid = 46;  // in frames to the air, to N3

template <FeatureSet F>
class CardAndHost {
 public:
  CardAndHost(const std::string& program, test::HostSettings settings,
              std::vector<TestBearer> bearers = test::all_bearers())
      : label_(settings.verify_checksums ? program + "-checksums" : program),
        settings_(settings),
        seed_(from_environment("SPLITPLANE_SEED", 20'264)),
        bearers_(std::move(bearers)),
        maker_(bearers_, seed_),
        alone_(bearers_, pool_, settings) {
    CardSettings card;
    card.vfs = test::kHostVfs;
    card.punt_n3 = test::kVfN3;
    card.punt_air = test::kVfAir;
    card.verify_checksum = settings.verify_checksums;
    card.air_frame_bytes = test::kAirFrameBytes;
    card.execution = test::execution_of_tests();
    card.copy_clones = true;  // the host writes to mbufs that come over its VF
    auto made = make_card(program, card);
    if (made) together_.emplace(std::move(made), bearers_, pool_, settings);
  }

  // Sends one packet after another, so that the verdict on each can be told.
  void one_by_one(std::uint64_t packets, bool only_usual = false) {
    ASSERT_TRUE(together_);
    for (std::uint64_t i = 0; i < packets; ++i) {
      if (i % kRenewal == 0) together_->renew_leases();
      const Packet p = only_usual ? maker_.next_usual() : maker_.next();
      const Outcome expected = alone_.receive({mbuf(p)}, p.downlink);
      const Outcome got = together_->receive({mbuf(p)}, p.downlink);
      ASSERT_EQ(got, expected) << where(i, p) << "\nhost alone:" << words(expected) << "\ncard and host:" << words(got);
      const test::Crossings& seen = together_->last();
      const bool on_card = p.bearer != nullptr && p.bearer->place != Place::kHost;
      const bool to_verify = settings_.verify_checksums && p.udp_checksum;
      if (p.valid && !to_verify && on_card) {
        ++valid_;
        if (seen.to_host != 0 && valid_punted_++ == 0) {
          ADD_FAILURE() << where(i, p) << ": a card must serve this itself; " << punts();
        }
      }
      ASSERT_LE(seen.punts, seen.to_host) << where(i, p);
      if (on_card && p.bearer->config.rlc_mode == RlcMode::kAm && F >= FeatureSet::mat) {
        ASSERT_EQ(together_->card->numbers(p.bearer->config.id)->in_flight, 0U)
            << where(i, p) << ": waits for ever" << words(got);
      }
      ASSERT_TRUE(seen.punts != 1 || settings_.verify_checksums || test::may_be_punted_for(p.what, seen.reason))
          << where(i, p) << ": " << name_of(seen.reason);
      if (seen.to_host != seen.punts) {
        ASSERT_FALSE(on_card && p.bearer->place == Place::kCard && !moved(p))
            << where(i, p) << ": went to the host without a reason";
      }
      for (const auto& [reason, n] : expected.drops) drops_[reason] += n;
    }
    if (F >= FeatureSet::headers) expect_equal_numbers();
    expect_balance();
    report(packets);
  }

  // Sends bursts of fast-path packets, and some that are dropped. A pipeline works on several packets at a time. So a
  // packet that the card punts may lose its place among those that the card serves. It may also reach the host before
  // packets that need a lookup for the host.
  void in_bursts(std::uint64_t bursts) {
    ASSERT_TRUE(together_);
    for (std::uint64_t i = 0; i < bursts; ++i) {
      if (i % (kRenewal / 64) == 0) together_->renew_leases();
      std::vector<rte_mbuf*> expected_in, got_in;
      const bool downlink = i % 2 == 0;
      const std::size_t size = 1 + i % 64;
      while (expected_in.size() < size) {
        const Packet p = maker_.next();
        if (p.downlink != downlink || !keeps_its_turn(p)) continue;
        expected_in.push_back(mbuf(p));
        got_in.push_back(mbuf(p));
      }
      const Outcome expected = alone_.receive(expected_in, downlink);
      const Outcome got = together_->receive(got_in, downlink);
      ASSERT_EQ(difference(got.air, expected.air, kAirhdrId), "") << where(i);
      ASSERT_EQ(difference(got.n3, expected.n3, kGtpuTeid), "") << where(i);
      ASSERT_EQ(difference(got.copies, expected.copies, kAirhdrId), "") << where(i);
      ASSERT_EQ(got.drops, expected.drops) << where(i);
    }
    expect_equal_numbers();
    expect_balance();
  }

  std::vector<TestBearer>& bearers() { return bearers_; }
  Together<F>& together() { return *together_; }
  std::uint64_t valid() const { return valid_; }
  const std::map<std::string, std::uint64_t>& drops() const { return drops_; }
  std::uint64_t punts(PuntReason reason) const { return together_->counters().punts[static_cast<std::size_t>(reason)]; }

 private:
  static bool moved(const Packet& p) { return p.what.starts_with("damaged"); }  // perhaps to another bearer
  static bool keeps_its_turn(const Packet& p) { return p.valid || p.bearer == nullptr; }
  rte_mbuf* mbuf(const Packet& p) {
    return p.segments_at == 0 ? pool_.make(p.octets) : pool_.make_segmented(p.octets, p.segments_at);
  }
  std::string where(std::uint64_t i) const { return fmt::format("seed {}, number {}", seed_, i); }
  std::string where(std::uint64_t i, const Packet& p) const {
    const std::string bearer =
        p.bearer == nullptr ? "none" : fmt::format("{:#x} place {}", p.bearer->id(), static_cast<int>(p.bearer->place));
    return where(i) + ": " + p.what + ", bearer " + bearer + hex({p.octets});
  }
  std::string punts() const {
    std::string all = "punts so far:";
    for (std::size_t i = 0; i < kPuntReasonCount; ++i) {
      const std::uint64_t n = together_->counters().punts[i];
      if (n != 0) all += fmt::format(" {}={}", name_of(static_cast<PuntReason>(i)), n);
    }
    return all;
  }
  void report(std::uint64_t packets) const {
    std::string dropped;
    for (const auto& [reason, n] : drops_) dropped += fmt::format(" {}={}", reason, n);
    std::printf("[ packets  ] %s\n",
                fmt::format("{}: {} packets, {} valid for a card's bearer, {} of them punted; seed {}; {}; drops:{}",
                            label_, packets, valid_, valid_punted_, seed_, punts(), dropped)
                    .c_str());
  }

  void expect_equal_numbers() {
    for (const TestBearer& b : bearers_) {
      if (b.place == Place::kHost) continue;
      const auto card = together_->card->numbers(b.config.id);
      ASSERT_TRUE(card) << card.error().message;
      const ran::BearerDownlink& line =
          F == FeatureSet::headers ? alone_.host.context->fixed_bearer : alone_.host.line(b);
      EXPECT_EQ(card->pdcp_next, line.pdcp_tx_next) << std::hex << b.id();
      EXPECT_EQ(card->rlc_next, line.rlc_tx_next) << std::hex << b.id();
      EXPECT_EQ(card->dl_packets, line.pdcp_tx_next - b.next_count) << std::hex << b.id();
      const std::size_t at = ran::index_of(b.id());
      EXPECT_EQ(card->ul_packets + together_->host.uplink[at].received, alone_.host.uplink[at].received)
          << std::hex << b.id();
      EXPECT_EQ(card->in_flight, 0U) << std::hex << b.id();
    }
  }
  void expect_balance() {
    const CardCounters counters = together_->card->counters();
    std::uint64_t in = 0, out = 0, dropped = 0;
    for (const CardPortCounters& port : counters.ports) in += port.in, out += port.out;
    for (const std::uint64_t n : counters.drops) dropped += n;
    EXPECT_EQ(counters.held, 0U);
    EXPECT_EQ(counters.punts[0], 0U) << "punted without a reason";
    EXPECT_EQ(counters.drops[0], 0U) << "dropped without a reason";
    EXPECT_EQ(in, out + dropped + counters.held);
  }

  std::string label_;
  test::HostSettings settings_;
  std::uint64_t seed_;
  test::Pool pool_{1024};
  std::vector<TestBearer> bearers_;
  PacketMaker maker_;
  Alone<F> alone_;
  std::optional<Together<F>> together_;
  std::uint64_t valid_ = 0, valid_punted_ = 0;
  std::map<std::string, std::uint64_t> drops_;
};

std::uint64_t packets() {
  return from_environment("SPLITPLANE_PACKETS", 10'000);
}

TEST(CardAndHost, ten_thousand_random_packets_leave_as_from_the_host_alone) {
  CardAndHost<FeatureSet::clone> both("gnb-clone", {});
  both.one_by_one(packets());
  if (HasFatalFailure() || packets() < 10'000) return;
  EXPECT_GT(both.valid(), packets() / 4);
  EXPECT_GT(both.drops().size(), 30U) << "too few of the reasons for which a host drops";
  for (std::size_t i = 1; i < kPuntReasonCount; ++i) {
    const auto reason = static_cast<PuntReason>(i);
    // These depend on other settings, and on other packets of the bearer.
    if (reason == PuntReason::ue_unknown || reason == PuntReason::udp_checksum) continue;
    if (reason == PuntReason::diverted) continue;
    EXPECT_GT(both.punts(reason), 0U) << name_of(reason);
  }
}

TEST(CardAndHost, bursts_keep_each_bearers_order_and_numbers) {
  CardAndHost<FeatureSet::clone> both("gnb-clone", {});
  both.in_bursts(packets() / 32);
}

TEST(CardAndHost, ue_addresses_lead_to_the_same_bearers) {
  CardAndHost<FeatureSet::clone> both("gnb-clone-ue", {.by_ue_address = true});
  both.one_by_one(packets() / 2);
  if (HasFatalFailure() || packets() < 10'000) return;
  EXPECT_GT(both.punts(PuntReason::ue_unknown), 0U);
}

TEST(CardAndHost, checksums_that_shall_be_verified_are_the_hosts) {
  CardAndHost<FeatureSet::clone> both("gnb-clone", {.verify_checksums = true});
  both.one_by_one(packets() / 5);
  if (HasFatalFailure() || packets() < 10'000) return;
  EXPECT_GT(both.punts(PuntReason::udp_checksum), 0U);
}

TEST(CardAndHost, each_feature_set_is_the_hosts) {
  const std::uint64_t n = packets() / 5;
  CardAndHost<FeatureSet::mat>("gnb-mat", {}).one_by_one(n);
  CardAndHost<FeatureSet::clone_drop>("gnb-clone_drop", {}).one_by_one(n);
  // These settings have one bearer. The host numbers its packets separately, so only packets that stay on the card are
  // the same.
  const std::vector<TestBearer> one(1, test::all_bearers()[15]);
  CardAndHost<FeatureSet::headers>("gnb-headers", {}, one).one_by_one(n, true);
  CardAndHost<FeatureSet::decap>("gnb-decap", {}, one).one_by_one(n, true);
  CardAndHost<FeatureSet::drop>("gnb-drop", {}, one).one_by_one(n);
}

}  // namespace
}  // namespace splitplane::nic
