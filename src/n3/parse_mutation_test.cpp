// Compares the fast recogniser with the parsers of wire/ over random damage. parse_n3 accepts every frame that
// parse_n3_fast accepts, with the same result. No frame of the recogniser's form takes the slow path.
// SPLITPLANE_MUTATIONS sets the number of frames, SPLITPLANE_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "n3/parse.h"
#include "n3/test_frames.h"
#include "wire/n3.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

std::vector<Bytes> base_frames() {
  std::vector<Bytes> frames;
  for (const N3Frame& frame : {
           N3Frame{},
           N3Frame{},
           N3Frame{},  // the recogniser's form more often than others
           N3Frame{.sequence_number = true, .payload = {0x45}, .padding = 30},
           N3Frame{.extensions = {{0x85, {0x00, 0x7f}}}},
           N3Frame{.tags = {5}},
           N3Frame{.ip_options = Bytes(12, 1)},
           N3Frame{.extensions = {}},
           N3Frame{.extensions = {{0x85, {0x0c, 0x89, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}}},
           N3Frame{.extensions = {{0xc0, {0, 1}}, {0x85, {0, 5}}}},
           N3Frame{.udp_slack = 3, .ip_slack = 2},
           N3Frame{.ipv6 = true},
           N3Frame{.ipv6 = true, .ip_options = test::ipv6_extension_headers(), .first_next = 0},
       }) {
    frames.push_back(frame.make());
  }
  frames.push_back(test::arp_frame());
  frames.push_back(test::neighbor_frame(135));
  return frames;
}

void damage(Bytes& frame, std::mt19937& random) {
  const auto below = [&random](std::size_t n) { return random() % n; };
  for (std::size_t times = 1 + below(3); times != 0 && !frame.empty(); --times) {
    const std::size_t at = below(std::min<std::size_t>(frame.size(), 80));
    switch (below(7)) {
      case 0:
        frame[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        frame[at] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 2:
        frame[at] = below(2) == 0 ? 0 : 0xff;
        break;
      case 3:
        ++frame[at];
        break;
      case 4:
        --frame[at];
        break;
      case 5:
        frame.resize(below(frame.size() + 1));
        break;
      case 6:
        frame.resize(frame.size() + below(20), static_cast<std::uint8_t>(random()));
        break;
    }
  }
}

// The recogniser's form, decided by the parsers of wire/ instead of by word comparisons.
bool has_fast_form(wire::Octets frame) {
  const auto packet = wire::n3::parse(frame);
  if (!packet || packet->ip_offset != 14 || packet->is_ipv6 || packet->udp_offset != 34) return false;
  const auto ip = wire::ipv4::parse(frame.subspan(14));
  const auto udp = wire::udp::parse(frame.subspan(34));
  const auto& gtpu = packet->gtpu;
  return ip->destination == test::kOurIpv4 && udp->length == ip->payload_bytes() &&
         gtpu.length + 8U == udp->payload_bytes() && (gtpu.flags & 0xfc) == 0x34 &&
         gtpu.message_type == wire::gtpu::kGpdu && gtpu.extension_count == 1 && gtpu.has_psc && gtpu.psc_bytes == 2 &&
         frame[55] == 0 && !gtpu.psc.has_ppi && packet->payload_bytes != 0;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(N3ParseMutations, both_parsers_agree_on_damaged_frames) {
  const std::uint64_t rounds = from_environment("SPLITPLANE_MUTATIONS", 200'000);
  const auto seed = static_cast<std::uint32_t>(from_environment("SPLITPLANE_SEED", 20'261));
  std::mt19937 random(seed);
  const auto bases = base_frames();
  const N3Addresses ours = test::our_addresses();
  std::uint64_t fast_seen = 0, accepted = 0, punted = 0, dropped = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Bytes frame = bases[random() % bases.size()];
    damage(frame, random);
    const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
    std::copy(frame.begin(), frame.end(), exact.get());
    const auto bytes = static_cast<unsigned>(frame.size());

    GPdu any, fast;
    const N3Parsed parsed = parse_n3(exact.get(), bytes, ours, any);
    const bool taken = parse_n3_fast(exact.get(), bytes, ours.ipv4, fast);
    ASSERT_EQ(taken, has_fast_form({exact.get(), bytes})) << "seed " << seed << ", round " << round;
    if (taken) {
      ++fast_seen;
      ASSERT_EQ(parsed.verdict, N3Verdict::kGPdu) << "seed " << seed << ", round " << round;
      ASSERT_TRUE(any.teid == fast.teid && any.offset == fast.offset && any.bytes == fast.bytes &&
                  any.sdap == fast.sdap && any.has_qfi == fast.has_qfi && any.slow == fast.slow &&
                  (any.slow == 0 || any.sequence_number == fast.sequence_number))
          << "seed " << seed << ", round " << round;
    }
    accepted += parsed.verdict == N3Verdict::kGPdu ? 1 : 0;
    punted += parsed.verdict == N3Verdict::kPunt ? 1 : 0;
    dropped += parsed.verdict == N3Verdict::kDrop ? 1 : 0;
    if (parsed.verdict == N3Verdict::kGPdu) {
      ASSERT_LE(any.offset + any.bytes, bytes);
      ASSERT_GT(any.bytes, 0);
    }
    if (parsed.verdict == N3Verdict::kDrop) {
      ASSERT_NE(parsed.reason, DropReason::ok) << "seed " << seed << ", round " << round;
    }
  }
  if (rounds >= 10'000) {  // the amount of damage is neither too little nor too much for a result
    EXPECT_GT(fast_seen, rounds / 20);
    EXPECT_GT(accepted - fast_seen, rounds / 20);
    EXPECT_GT(dropped, rounds / 5);
    EXPECT_GT(punted, rounds / 100);
  }
}

}  // namespace
}  // namespace splitplane::datapath
