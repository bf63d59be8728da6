// For tests of card/ only: the same gNB twice, once as a host alone and once as a card with a host behind it. Both
// report for each packet where it went, octet for octet, and why it was dropped.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "card/card.h"
#include "card/test_bearers.h"
#include "engine/test_environment.h"

namespace splitplane::nic::test {

using datapath::Burst;
using datapath::DropReason;
using datapath::FeatureSet;
using datapath::test::Pool;
using datapath::test::Ring;

// What became of the packets.
struct Outcome {
  std::vector<Bytes> air, n3, copies;
  std::vector<Bytes> control;                  // frames that the host's control thread gets
  std::map<std::string, std::uint64_t> drops;  // by reason
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline Bytes octets_of(rte_mbuf* m) {
  Bytes all;
  for (const rte_mbuf* at = m; at != nullptr; at = at->next) {
    const auto* first = rte_pktmbuf_mtod(at, const std::uint8_t*);
    all.insert(all.end(), first, first + at->data_len);
  }
  return all;
}

inline void take(std::vector<rte_mbuf*>& from, std::vector<Bytes>& to) {
  for (rte_mbuf* m : from) {
    to.push_back(octets_of(m));
    rte_pktmbuf_free(m);
  }
  from.clear();
}

// Passes the mbufs themselves on, as a ring between two functions does.
struct MbufSink {
  std::vector<rte_mbuf*>* taken = nullptr;
  bool passes_mbufs = true;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    taken->insert(taken->end(), mbufs, mbufs + n);
    return n;
  }
};

// Some flows are marked.
inline TosByQfi test_marks() {
  TosByQfi tos{};
  for (std::size_t qfi = 0; qfi < tos.size(); qfi += 3) tos[qfi] = static_cast<std::uint8_t>((qfi + 1) << 2);
  return tos;
}

struct HostSettings {
  bool behind_card = false;  // the card numbers bearers that have a place on it
  bool by_ue_address = false;
  bool verify_checksums = false;
};

// A worker of the host with all bearers.
template <FeatureSet F>
class TestHost {
 public:
  TestHost(const std::vector<TestBearer>& bearers, Pool& pool, const HostSettings& settings) {
    context->n3 = datapath::test::our_addresses();
    context->n3.tos = test_marks();
    context->copies = copies.get();
    context->punt = punt.get();
    context->pool = pool.get();
    context->air_frame_bytes = kAirFrameBytes;
    if (settings.verify_checksums) context->checksums = datapath::ChecksumMode::software;
    wire::ethernet::write(context->air_header, kUeMac.octets, kAirMac.octets, wire::ethernet::kTypeAirhdr);
    context->bearers.attach(kShard, {downlink.data(), uplink.data(), drops.data(), kLines});
    set_host_peers(context->peers, context->n3);
    if (settings.by_ue_address) {
      context->keys.by_ue_address = true;
      context->keys.ue_ipv4 = *datapath::BearerLookup::Short::create(key_memory_.first, kLines, 1);
      context->keys.ue_ipv6 = *datapath::BearerLookup::Long::create(key_memory_.second, kLines, 1);
    }
    for (const TestBearer& b : bearers) add(b, settings.behind_card);
    context->fixed_bearer = numbered(bearers.front());
  }

  // Downlink frames come from N3, uplink ones from the air; none may be left over.
  void receive(std::vector<rte_mbuf*>& mbufs, bool from_n3) {
    for (std::size_t at = 0; at < mbufs.size();) {
      Burst burst;
      while (burst.size < datapath::kBurst && at < mbufs.size()) burst.mbuf[burst.size++] = mbufs[at++];
      if (from_n3) {
        down_.process(burst);
      } else {
        up_.process(burst);
      }
    }
    mbufs.clear();
  }

  // Adds what happened since the last call, except for the frames in `air` and `n3`.
  void account(Outcome& outcome) {
    for (Bytes& copy : copies.drain()) outcome.copies.push_back(std::move(copy));
    for (Bytes& frame : punt.drain()) outcome.control.push_back(std::move(frame));
    for (std::size_t i = 0; i < datapath::kDropReasonCount; ++i) {
      const std::uint64_t now = context->stats.drops[i].get();
      if (now != drops_[i]) outcome.drops[std::string(name_of(static_cast<DropReason>(i)))] += now - drops_[i];
      drops_[i] = now;
    }
  }
  [[nodiscard]] const ran::BearerDownlink& line(const TestBearer& b) const { return downlink[ran::index_of(b.id())]; }

  std::vector<rte_mbuf*> air, n3;  // sent and not taken yet
  Ring copies{256}, punt{256};
  std::vector<ran::BearerDownlink> downlink = std::vector<ran::BearerDownlink>(kLines);
  std::vector<ran::BearerUplink> uplink = std::vector<ran::BearerUplink>(kLines);
  std::vector<ran::BearerDrops> drops = std::vector<ran::BearerDrops>(kLines);
  std::unique_ptr<datapath::GnbContext> context = std::make_unique<datapath::GnbContext>();

 private:
  static ran::BearerDownlink numbered(const TestBearer& b) {
    ran::BearerDownlink line = ran::make_downlink(b.config);
    line.pdcp_tx_next = b.next_count;
    ran::set_epoch(line, b.epoch);
    return line;
  }
  void add(const TestBearer& b, bool behind_card) {
    const std::uint32_t index = ran::index_of(b.id());
    const bool on_card = behind_card && b.place != Place::kHost;
    downlink[index] = on_card ? ran::make_on_card(b.config) : numbered(b);
    uplink[index] = ran::make_uplink(b.config, PeerId{b.peer});
    EXPECT_TRUE(!context->keys.by_ue_address || datapath::enter(context->keys, b.config));
  }

  struct alignas(64) KeyMemory : std::array<std::byte, 1 << 14> {};

  std::pair<KeyMemory, KeyMemory> key_memory_{};
  std::array<std::uint64_t, datapath::kDropReasonCount> drops_{};
  datapath::GnbDownlink<F, MbufSink, datapath::SampledCycles> down_{*context, MbufSink{&air}, MbufSink{&n3}};
  datapath::GnbUplink<F, MbufSink, datapath::SampledCycles> up_{*context, MbufSink{&n3}};
};

// The host alone.
template <FeatureSet F>
class Alone {
 public:
  Alone(const std::vector<TestBearer>& bearers, Pool& pool, HostSettings settings) : host(bearers, pool, settings) {}

  Outcome receive(std::vector<rte_mbuf*> mbufs, bool from_n3) {
    Outcome outcome;
    host.receive(mbufs, from_n3);
    take(host.air, outcome.air);
    take(host.n3, outcome.n3);
    host.account(outcome);
    return outcome;
  }
  TestHost<F> host;
};

// The packets that crossed between card and host.
struct Crossings {
  std::uint64_t to_host = 0;             // frames upwards through the host's VFs, without copies
  std::uint64_t returned = 0;            // frames downwards through them
  std::uint64_t punts = 0;               // number of punts, for any reason
  PuntReason reason = PuntReason::none;  // of the last one in the list
};

// A card with the host behind its VFs.
template <FeatureSet F>
class Together {
 public:
  Together(std::unique_ptr<Card> with, const std::vector<TestBearer>& bearers, Pool& pool, HostSettings settings)
      : card(std::move(with)), host(bearers, pool, behind(settings)) {
    std::vector<CardBearer> entries;
    for (const TestBearer& b : bearers) {
      if (b.config.rlc_mode == RlcMode::kAm) entries.push_back(card_bearer(b));
    }
    const auto installed = card->install(entries);
    EXPECT_TRUE(installed) << installed.error().message;
    EXPECT_TRUE(card->set_marks(test_marks()));
    for (const CardPeer& peer : card_peers()) {
      const auto set = card->set_peer(peer);
      EXPECT_TRUE(set) << set.error().message;
    }
    before_ = card->counters();
  }

  Outcome receive(std::vector<rte_mbuf*> mbufs, bool from_n3) {
    Outcome outcome;
    last_ = {};
    give(mbufs, from_n3 ? kN3Port : kAirPort);
    while (wait_for_disk(outcome)) {
    }
    host.account(outcome);
    const CardCounters now = card->counters();
    for (std::size_t i = 0; i < kCardDropCount; ++i) {
      if (now.drops[i] == before_.drops[i] || static_cast<CardDrop>(i) == CardDrop::settled) continue;
      outcome.drops[std::string(name_of(static_cast<CardDrop>(i)))] += now.drops[i] - before_.drops[i];
    }
    for (std::size_t i = 0; i < kPuntReasonCount; ++i) {
      last_.punts += now.punts[i] - before_.punts[i];
      if (now.punts[i] != before_.punts[i]) last_.reason = static_cast<PuntReason>(i);
    }
    before_ = now;
    return outcome;
  }
  // Renews leases as the control plane does while a bearer has COUNTs left.
  void renew_leases() {
    for (const BearerId id : card->bearers()) {
      EXPECT_TRUE(card->set_leases(std::array{CardLease{id, card->numbers(id)->pdcp_next + kLease}}));
    }
  }
  [[nodiscard]] const Crossings& last() const { return last_; }
  [[nodiscard]] const CardCounters& counters() const { return before_; }

  std::unique_ptr<Card> card;
  TestHost<F> host;

 private:
  static HostSettings behind(HostSettings settings) {
    settings.behind_card = true;
    return settings;
  }
  void give(std::vector<rte_mbuf*>& mbufs, unsigned port) {
    for (std::size_t at = 0; at < mbufs.size(); at += datapath::kBurst) {
      const auto n = static_cast<unsigned>(std::min<std::size_t>(datapath::kBurst, mbufs.size() - at));
      card->process(mbufs.data() + at, n, port);
    }
    mbufs.clear();
  }
  // Moves everything one step on. Returns false if nothing was left to move.
  bool wait_for_disk(Outcome& outcome) {
    take(card->out(kN3Port).mbufs, outcome.n3);
    take(card->out(kAirPort).mbufs, outcome.air);
    take(card->out(kFirstVf + kVfCopies).mbufs, outcome.copies);
    auto& from_n3 = card->out(kFirstVf + kVfN3).mbufs;
    auto& from_air = card->out(kFirstVf + kVfAir).mbufs;
    last_.to_host += from_n3.size() + from_air.size();
    bool moved = !from_n3.empty() || !from_air.empty();
    host.receive(from_n3, true);
    host.receive(from_air, false);
    last_.returned += host.n3.size() + host.air.size();
    moved = moved || !host.n3.empty() || !host.air.empty();
    give(host.n3, kFirstVf + kVfN3);
    give(host.air, kFirstVf + kVfAir);
    return moved;
  }

  CardCounters before_;
  Crossings last_;
};

}  // namespace splitplane::nic::test
