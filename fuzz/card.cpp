// Compares a card with the host. A software card with the host behind it, and the same host alone, get the same frames.
// The frames that leave by the air, by N3, to the copies and to the control thread, and the reasons of drops, are the
// same. The card accounts for every frame, and no mbuf is left.
#include "card/test_hosts.h"
#include "card/test_packets.h"
#include "dpdk.h"

namespace splitplane::fuzz {
namespace {

using nic::Card;
using nic::Place;
using nic::test::Outcome;
using nic::test::TestBearer;

constexpr auto kFeatures = datapath::FeatureSet::clone;

const std::vector<TestBearer>& bearers() {
  static const std::vector<TestBearer> all = nic::test::all_bearers();
  return all;
}
datapath::test::Pool& pool() {
  static datapath::test::Pool pool(512);
  return pool;
}

// Making a card costs a pipeline. So each way of lookup has one card, whose bearers are removed after each input.
std::unique_ptr<Card>& card(bool by_ue_address) {
  static std::array<std::unique_ptr<Card>, 2> cards;
  std::unique_ptr<Card>& one = cards[by_ue_address ? 1 : 0];
  if (one == nullptr) {
    const std::string program = by_ue_address ? "gnb-clone-ue" : "gnb-clone";
    const auto spec = nic::read_spec(nic::spec_path("", program));
    require(spec.has_value(), "{}", spec ? "" : spec.error().message);
    nic::CardSettings settings;
    settings.name = program;
    settings.vfs = nic::test::kHostVfs;
    settings.punt_n3 = nic::test::kVfN3;
    settings.punt_air = nic::test::kVfAir;
    settings.air_frame_bytes = nic::test::kAirFrameBytes;
    settings.copy_clones = true;
    auto made = Card::make(*spec, settings);
    require(made.has_value(), "{}", made ? "" : made.error().message);
    one = std::move(*made);
  }
  return one;
}

std::string words(const Outcome& o) {
  std::string text;
  for (const auto& [where, frames] :
       {std::pair{"air", &o.air}, {"n3", &o.n3}, {"copies", &o.copies}, {"control", &o.control}}) {
    for (const Bytes& frame : *frames) text += fmt::format("\n  {} {:02x}", where, fmt::join(frame, ""));
  }
  for (const auto& [reason, n] : o.drops) text += fmt::format("\n  dropped {} {}", n, reason);
  return text;
}

// A random frame, or a packet of the kinds of the card's tests with some octets changed.
struct Frame {
  Bytes octets;
  bool downlink = true;
  std::size_t segments_at = 0;
};
Frame frame(Input& in) {
  const unsigned form = in.octet();
  if (form % 8 == 0) {
    const Bytes octets = in.bytes(in.word() % 1600);
    return {octets, (form & 0x80) != 0, 0};
  }
  nic::test::PacketMaker maker(bearers(), in.word());
  const nic::test::Packet packet = form % 2 == 0 ? maker.next() : maker.next_usual();
  Frame made{packet.octets, packet.downlink, packet.segments_at};
  if (form % 8 > 2) damage(made.octets, in, 1 + form / 8 % 4);
  if (form % 8 == 7) made.octets.resize(in.word() % (made.octets.size() + 1));
  if (made.segments_at >= made.octets.size()) made.segments_at = 0;
  return made;
}

rte_mbuf* mbuf(const Frame& f) {
  return f.segments_at == 0 ? pool().make(f.octets) : pool().make_segmented(f.octets, f.segments_at);
}

void check_balance(const nic::CardCounters& now, const nic::CardCounters& before) {
  std::uint64_t in = 0, out = 0, drops = 0;
  for (std::size_t i = 0; i < now.ports.size(); ++i) {
    in += now.ports[i].in - before.ports[i].in;
    out += now.ports[i].out - before.ports[i].out;
  }
  for (std::size_t i = 0; i < now.drops.size(); ++i) drops += now.drops[i] - before.drops[i];
  same(in, out + now.dropped - before.dropped, "the card's frames");
  same(drops, now.dropped - before.dropped, "the card's drops by reason");
  same(now.held, std::uint64_t{0}, "frames in the pipeline");
}

void play(Input& in, bool by_ue_address) {
  std::unique_ptr<Card>& home = card(by_ue_address);
  const nic::CardCounters before = home->counters();
  const nic::test::HostSettings settings{.by_ue_address = by_ue_address};
  {
    nic::test::Alone<kFeatures> alone(bearers(), pool(), settings);
    nic::test::Together<kFeatures> together(std::move(home), bearers(), pool(), settings);
    for (unsigned n = 0; n < 48 && !in.empty(); ++n) {
      const Frame f = frame(in);
      const Outcome expected = alone.receive({mbuf(f)}, f.downlink);
      const Outcome got = together.receive({mbuf(f)}, f.downlink);
      require(got == expected, "frame {} {:02x} from {}\nhost alone:{}\ncard and host:{}", n, fmt::join(f.octets, ""),
              f.downlink ? "N3" : "the air", words(expected), words(got));
      require(together.last().punts <= together.last().to_host, "more punts than frames to the host");
    }
    for (const TestBearer& b : bearers()) {
      if (b.place == Place::kHost) continue;
      const auto numbers = together.card->numbers(b.config.id);
      require(numbers.has_value(), "a bearer has left the card");
      same(numbers->pdcp_next, alone.host.line(b).pdcp_tx_next, "TX_NEXT");
      same(numbers->rlc_next, alone.host.line(b).rlc_tx_next, "TX_Next");
      same(std::uint64_t{numbers->in_flight}, std::uint64_t{0}, "SDUs between card and host");
    }
    home = std::move(together.card);
  }
  check_balance(home->counters(), before);
  const auto removed = home->remove(home->bearers());
  require(removed.has_value(), "{}", removed ? "" : removed.error().message);
  same(pool().in_use(), 0U, "mbufs left at the end");
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  splitplane::fuzz::start_dpdk(512);
  return 0;
}

// The first octet chooses how bearers are looked up.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  splitplane::fuzz::Input in(data, bytes);
  const bool by_ue_address = in.octet() % 4 == 3;
  splitplane::fuzz::play(in, by_ue_address);
  return 0;
}
