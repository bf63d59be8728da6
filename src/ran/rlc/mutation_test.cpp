// Changed PDUs go into both sides of entities in the middle of an exchange, with little memory. The entities never
// crash, the windows stay windows, and all memory is given back. SPLITPLANE_MUTATIONS sets the number of PDUs,
// SPLITPLANE_SEED the first seed.
#include "ran/rlc/test_air.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::ran::rlc::test {
namespace {

constexpr MemorySizes kLittle{.sent_pages = 34,
                              .received_pages = 20,
                              .queue_pages = 10,
                              .directories = 12,
                              .segments = 60,
                              .assemblies = 30,
                              .intervals = 20};

void mutate(Bytes& pdu, const Bytes& other, Random& random) {
  constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x7F, 0x80, 0xFF, 0xC0, 0x0F, 0xF0};
  for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
    // Half of the changes are at the front, where headers and STATUS are.
    const std::size_t at =
        pdu.empty() ? 0 : random() % (random.percent(50) ? std::min<std::size_t>(pdu.size(), 8) : pdu.size());
    switch (random() % 6) {
      case 0:
        if (!pdu.empty()) pdu[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
      case 2:
        if (!pdu.empty()) pdu[at] = static_cast<std::uint8_t>(pdu[at] ^ 1U << random() % 8);
        break;
      case 3:
        if (!pdu.empty()) pdu[at] = kEdges[random() % std::size(kEdges)];
        break;
      case 4:
        pdu.resize(at);
        break;
      default:
        pdu.insert(pdu.end(), other.begin(),
                   other.begin() + static_cast<std::ptrdiff_t>(random() % (other.size() + 1)));
        break;
    }
  }
}

// A STATUS with fields near correct values, so that many are accepted.
Bytes invented_status(const AmSide& to, unsigned sn_bits, Random& random) {
  const std::uint32_t base = to.retx().next_ack(), size = to.retx().next() - base;
  std::vector<wire::rlc::Nack> nacks;
  std::uint32_t sn = base + random() % 4;
  for (unsigned n = random() % 6; n != 0; --n) {
    wire::rlc::Nack nack{.sn = sn, .has_so = random.percent(40), .has_range = random.percent(40)};
    if (nack.has_range) nack.range = static_cast<std::uint8_t>(1 + random() % 30);
    if (nack.has_so) {
      nack.so_start = static_cast<std::uint16_t>(random() % 60);
      nack.so_end = random.percent(50) ? wire::rlc::kSoEnd : static_cast<std::uint16_t>(nack.so_start + random() % 40);
    }
    nacks.push_back(nack);
    sn += nack.range - 1 + random() % 5;
  }
  return status_pdu(sn_bits, base + random() % (size + 2), nacks);
}

// An AMD PDU with fields near correct values.
Bytes invented_data(const AmSide& to, unsigned sn_bits, Random& random) {
  wire::rlc::AmHeader h{.poll = random.percent(20), .si = static_cast<wire::rlc::Segment>(random() % 4)};
  if (wire::rlc::has_segment_offset(h.si))
    h.so = static_cast<std::uint16_t>(random.percent(95) ? 1 + random() % 100 : 65500 + random() % 36);
  const std::uint32_t reach = random.percent(90) ? 40 : 1U << sn_bits;
  h.sn = (to.receiver().next() + random() % reach - random() % 3) & sn_mask(sn_bits);
  Bytes pdu(wire::rlc::kMaxHeaderBytes);
  pdu.resize(wire::rlc::write_am(pdu, sn_bits, h));
  pdu.resize(pdu.size() + 1 + random() % 80, 0x11);
  return pdu;
}

void expect_sane(const AmSide& side, unsigned sn_bits) {
  const std::uint32_t window = window_size(sn_bits);
  const auto& x = side.retx();
  const auto& r = side.receiver();
  ASSERT_EQ(side.sender().next(), x.next());
  ASSERT_LE(x.next() - x.next_ack(), window);
  ASSERT_LE(x.unacked(), x.next() - x.next_ack());
  ASSERT_LE(x.pending(), x.unacked());
  ASSERT_EQ(x.unacked() == 0, x.next() == x.next_ack());
  ASSERT_LE(r.next_highest() - r.next(), window);
  ASSERT_LE(r.highest_status() - r.next(), r.next_highest() - r.next());
  const auto& counters = r.counters();
  ASSERT_EQ(counters.pdus, counters.complete + counters.segments + counters.duplicates + counters.outside_window +
                               counters.contradictions + counters.no_memory + counters.refused);
}

void am(const AmConfig& config, std::uint64_t mutations, std::uint64_t seed) {
  Random random(seed);
  AmSide sides[2] = {AmSide(config, kLittle), AmSide(config, kLittle)};
  std::uint64_t done = 0, changed = 0;
  Bytes other{0, 1, 2};
  for (Time now = 0; done < mutations; ++now) {
    for (unsigned from = 0; from < 2; ++from) {
      AmSide& a = sides[from];
      AmSide& b = sides[1 - from];
      a.tick(now);
      for (unsigned n = random() % 4; n != 0; --n) (void)a.send(pattern(1 + random() % 150));
      if (random.percent(5)) a.entity->discard(random() % 5000);
      for (unsigned n = random() % 6; n != 0; --n) {
        Bytes pdu = a.pull(random() % 120);
        if (random.percent(20)) pdu = invented_data(b, config.sn_bits, random);
        if (random.percent(20)) pdu = invented_status(b, config.sn_bits, random);
        if (pdu.empty() || random.percent(10)) continue;
        const Bytes good = pdu;
        if (random.percent(40)) mutate(pdu, other, random);
        other = good;
        ++done;
        const AmState before = state_of(b);
        b.receive(pdu);
        changed += state_of(b) == before ? 0 : 1;
        expect_sane(b, config.sn_bits);
        if (testing::Test::HasFatalFailure()) return;
      }
      a.release(random() % 50);
      a.delivered.clear();
      a.released.clear();
      a.max_retx.clear();
    }
    // A hostile peer can fill a window with pieces that never become SDUs; RRC would re-establish.
    if (random() % 500 == 0) {
      for (AmSide& side : sides) side.entity->restart_at(random.percent(50) ? 0 : random());
    }
  }
  EXPECT_GT(changed, mutations / 20);  // not everything was ignored
  std::uint64_t refused = 0, accepted = 0, no_memory = 0;
  for (const AmSide& side : sides) {
    refused += side.retx().counters().status_stale + side.retx().counters().status_malformed;
    accepted += side.retx().counters().status;
    no_memory += side.receiver().counters().no_memory;
  }
  if (mutations < 10000) return;
  EXPECT_GT(refused, mutations / 100);
  EXPECT_GT(accepted, mutations / 100);
  EXPECT_GT(no_memory, 0U);
}

void um(std::uint8_t sn_bits, std::uint64_t mutations, std::uint64_t seed) {
  Random random(seed);
  const UmConfig config{.sn_bits = sn_bits, .t_reassembly = 20, .max_queued = 50};
  Home home(kLittle);
  UmSend<Buffer> sender(config, home.memory);
  UmReceive<Buffer> receiver(config, home.memory);
  Bytes other{0, 1, 2};
  std::uint64_t done = 0;
  for (Time now = 0; done < mutations; now += random() % 3) {
    receiver.tick(now);
    Buffer sdu = home.make(pattern(1 + random() % 150));
    (void)sender.send(sdu);
    sdu.release();
    wire::test::HeapOctets out(random() % 120);
    const std::size_t bytes = sender.pull(Octets(out).size()).write(out.all());
    if (bytes == 0) continue;
    Bytes pdu(Octets(out).begin(), Octets(out).begin() + static_cast<std::ptrdiff_t>(bytes));
    const Bytes good = pdu;
    if (random.percent(50)) mutate(pdu, other, random);
    other = good;
    ++done;
    receiver.receive(home.make(pdu), now, [](auto) {});
    const std::uint32_t window = window_size(sn_bits);
    ASSERT_LE(receiver.next_highest() - receiver.next_reassembly(), window);
    ASSERT_LE(receiver.held(), kLittle.assemblies);
  }
}

std::uint64_t mutations() {
  return from_environment("SPLITPLANE_MUTATIONS", 200000);
}
std::uint64_t seed() {
  return from_environment("SPLITPLANE_SEED", 1);
}

TEST(RlcMutation, am_with_sn_12) {
  am(am12(), mutations() * 2 / 5, seed());
}
TEST(RlcMutation, am_with_sn_18) {
  am(am18(), mutations() * 2 / 5, seed() + 1);
}
TEST(RlcMutation, um_with_sn_6) {
  um(6, mutations() / 10, seed() + 2);
}
TEST(RlcMutation, um_with_sn_12) {
  um(12, mutations() / 10, seed() + 3);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
