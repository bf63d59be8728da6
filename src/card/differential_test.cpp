// The compiled program and the interpreted one get the same tables and the same random packets: the same octets leave
// by the same ports in the same order, and all numbers are the same. The interpreter gets one packet at a time, because
// in a burst it lets packets overtake others; the compiled program gets bursts. SPLITPLANE_PACKETS sets the number of
// packets of each program, SPLITPLANE_SEED the seed.
#include <gmock/gmock.h>

#include <cstdlib>

#include "card/card.h"
#include "card/spec/test_programs.h"
#include "card/test_packets.h"
#include "engine/test_environment.h"

namespace splitplane::nic {
namespace {

using test::Bytes;
using test::Packet;
using test::TestBearer;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Input {
  Bytes octets;
  std::size_t segments_at = 0;
};

// A card, and what left it.
class Side {
 public:
  Side(const SpecFile& spec, CardSettings settings, Execution execution) {
    settings.execution = execution;
    auto made = Card::make(spec, settings);
    if (!made) throw std::runtime_error(made.error().message);  // fails the test
    card = std::move(*made);
  }
  void give(const std::vector<Input>& inputs, unsigned port, std::size_t at_once) {
    std::vector<rte_mbuf*> mbufs;
    for (const Input& input : inputs) {
      mbufs.push_back(input.segments_at == 0 ? pool_.make(input.octets)
                                             : pool_.make_segmented(input.octets, input.segments_at));
    }
    for (std::size_t at = 0; at < mbufs.size(); at += at_once) {
      const std::size_t n = std::min(at_once, mbufs.size() - at);
      card->process(mbufs.data() + at, static_cast<unsigned>(n), port);
    }
  }
  // By port, in order.
  std::vector<std::vector<Bytes>> take() {
    std::vector<std::vector<Bytes>> all(card->ports());
    for (unsigned port = 0; port < card->ports(); ++port) {
      for (rte_mbuf* m : card->out(port).mbufs) {
        Bytes& frame = all[port].emplace_back();
        EXPECT_LE(m->data_len, m->pkt_len);
        for (const rte_mbuf* segment = m; segment != nullptr; segment = segment->next) {
          const auto* first = rte_pktmbuf_mtod(segment, const std::uint8_t*);
          frame.insert(frame.end(), first, first + segment->data_len);
        }
        rte_pktmbuf_free(m);
      }
      card->out(port).mbufs.clear();
    }
    card->pending().clear();
    return all;
  }

  std::unique_ptr<Card> card;

 private:
  datapath::test::Pool pool_{512};
};

// Everything that a card counts, as numbers to compare.
std::vector<std::uint64_t> numbers_of(const Card& card) {
  const CardCounters all = card.counters();
  std::vector<std::uint64_t> numbers{all.dropped, all.rlc_control, all.clones, all.clones_sunk, all.held};
  for (const CardPortCounters& port : all.ports) numbers.insert(numbers.end(), {port.in, port.out, port.clones});
  numbers.insert(numbers.end(), all.punts.begin(), all.punts.end());
  numbers.insert(numbers.end(), all.drops.begin(), all.drops.end());
  for (const BearerId id : card.bearers()) {
    const CardNumbers n = *card.numbers(id);
    numbers.insert(numbers.end(), {n.pdcp_next, n.rlc_next, n.in_flight, n.dl_packets, n.ul_packets, n.lease_end});
  }
  return numbers;
}

class Differential {
 public:
  Differential(const std::string& program, const std::string& interpreted_text, std::uint64_t seed)
      : bearers_(test::all_bearers()), maker_(bearers_, seed), random_(seed + 1) {
    CardSettings settings{.name = program,
                          .vfs = test::kHostVfs,
                          .punt_n3 = test::kVfN3,
                          .punt_air = test::kVfAir,
                          .verify_checksum = random_() % 2 == 0,
                          .air_frame_bytes = test::kAirFrameBytes,
                          .copy_clones = random_() % 2 == 0};
    compiled_.emplace(test::parsed(test::generated(program)), settings, Execution::kCompiled);
    interpreted_.emplace(test::parsed(interpreted_text), settings, Execution::kInterpreted);
    EXPECT_TRUE(compiled_->card->is_compiled());
    EXPECT_FALSE(interpreted_->card->is_compiled());
    for (const TestBearer& b : bearers_) {
      if (b.config.rlc_mode != RlcMode::kAm) continue;
      entries_.push_back(test::card_bearer(b));
      entries_.back().in_flight = b.place == Place::kCard && random_() % 4 == 0 ? 3 : 0;
    }
    const std::string& name = compiled_->card->program();
    for (Card* card : cards()) {
      if (name == "p4wire") {
        EXPECT_TRUE(card->spread(kN3Port));
        EXPECT_TRUE(card->wire(kFirstVf, kAirPort));
      } else if (name == "gnb") {
        EXPECT_TRUE(card->install(entries_));
        for (const CardPeer& peer : test::card_peers()) EXPECT_TRUE(card->set_peer(peer));
        (void)card->set_markers(0xff00ff00ff00ff00, test::kVfN3);
      }
    }
  }

  // Returns how many bursts made a difference; the first is described.
  unsigned run(std::uint64_t packets) {
    unsigned differences = 0;
    for (std::uint64_t done = 0; done < packets;) {
      if (random_() % 64 == 0) change_tables();
      const auto port =
          static_cast<unsigned>(random_() % 8 < 6 ? random_() % 2 : kFirstVf + random_() % test::kHostVfs);
      const std::vector<Input> inputs = burst(port, 1 + random_() % 40);
      done += inputs.size();
      compiled_->give(inputs, port, 1 + random_() % datapath::kBurst);
      interpreted_->give(inputs, port, 1);
      const auto got = compiled_->take(), expected = interpreted_->take();
      const bool same = got == expected && numbers_of(*compiled_->card) == numbers_of(*interpreted_->card);
      if (!same && differences++ == 0) first_ = fmt::format("at packet {} of port {}", done, port);
    }
    return differences;
  }
  [[nodiscard]] const std::string& first() const { return first_; }
  [[nodiscard]] CardCounters counters() const { return compiled_->card->counters(); }

 private:
  [[nodiscard]] std::array<Card*, 2> cards() { return {compiled_->card.get(), interpreted_->card.get()}; }

  // Frames that `port` may bring, and some that it should not.
  std::vector<Input> burst(unsigned port, std::size_t n) {
    std::vector<Input> inputs;
    while (inputs.size() < n) {
      const Packet p = maker_.next();
      const bool fits = port >= kFirstVf || p.downlink == (port == kN3Port) || random_() % 16 == 0;
      if (!fits) continue;
      if (port >= kFirstVf && random_() % 2 == 0) {
        inputs.push_back({returned_frame(), 0});
      } else {
        inputs.push_back({p.octets, p.segments_at});
      }
    }
    return inputs;
  }
  Bytes returned_frame() {
    Bytes frame(24 + (random_() % 8 == 0 ? 0 : random_() % 80), 0x5a);
    wire::ethernet::write(frame, test::kUeMac.octets, test::kAirMac.octets, wire::ethernet::kTypeAirhdr);
    frame[14] = 0x21;
    frame[15] = static_cast<std::uint8_t>(random_() % 128);
    const TestBearer& b = bearers_[random_() % bearers_.size()];
    wire::store_be32(frame.data() + 18, b.id());
    const std::size_t wrong = random_() % 16 == 0 ? 3 : 0;
    wire::store_be16(frame.data() + 22, static_cast<std::uint32_t>(frame.size() - 24 + wrong));
    return frame;
  }

  // The same on both: new leases, a bearer that goes and comes back, a peer that goes.
  void change_tables() {
    if (compiled_->card->program() != "gnb") return;
    const CardBearer& entry = entries_[random_() % entries_.size()];
    const std::uint32_t lease = 100 + static_cast<std::uint32_t>(random_() % 1000);
    const std::uint64_t what = random_() % 4;
    for (Card* card : cards()) {
      if (what == 0) {
        EXPECT_TRUE(card->remove(std::array{entry.id}));
        EXPECT_TRUE(card->install(std::array{entry}));
      } else if (what == 1) {
        const CardPeer peer = test::card_peers()[0];
        card->unset_peer(peer.number);
        EXPECT_TRUE(lease % 2 == 0 || card->set_peer(peer));
      } else {
        for (const BearerId id : card->bearers())
          EXPECT_TRUE(card->set_leases(std::array{CardLease{id, card->numbers(id)->pdcp_next + lease}}));
      }
    }
  }

  std::vector<TestBearer> bearers_;
  test::PacketMaker maker_;
  test::Random random_;
  std::optional<Side> compiled_, interpreted_;
  std::vector<CardBearer> entries_;
  std::string first_;
};

class EveryProgram : public testing::TestWithParam<std::string> {};

TEST_P(EveryProgram, sends_the_same_compiled_and_interpreted) {
  const std::uint64_t seed = number_from_environment("SPLITPLANE_SEED", 20'265);
  Differential both(GetParam(), test::generated(GetParam()), seed);
  const std::uint64_t packets = number_from_environment("SPLITPLANE_PACKETS", 10'000);
  EXPECT_EQ(both.run(packets), 0U) << both.first() << ", seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Differential, EveryProgram,
                         testing::Values("l2fwd", "p4wire", "gnb-drop", "gnb-decap", "gnb-headers", "gnb-mat",
                                         "gnb-clone_drop", "gnb-clone", "gnb-clone-ue", "gnb-clone-marker"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Otherwise the test above would prove nothing.
TEST(Differential, finds_one_bit_that_differs) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"mov h.ipv4.ttl 0x40", "mov h.ipv4.ttl 0x41"},
           {"add m.local_metadata_unpolled 0x1", "add m.local_metadata_unpolled 0x3"},
           {"regadd dl_packets_0 m.local_metadata_slot 1", "regadd dl_packets_0 m.local_metadata_slot 3"}}) {
    const std::string text = test::generated("gnb-mat");
    if (text.find(from) == std::string::npos) continue;  // the program changed
    Differential both("gnb-mat", test::replaced(text, from, to), 7);
    EXPECT_GT(both.run(4'000), 0U) << from;
  }
}

}  // namespace
}  // namespace splitplane::nic
