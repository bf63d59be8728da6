// Changed datagrams of every message go to the readers: they never crash, what they accept can be written and read
// again, and segments are put together right. SPLITPLANE_MUTATIONS sets the number of changed datagrams,
// SPLITPLANE_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "phy/fapi/test_judge.h"

namespace splitplane::fapi::test {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

void mutate(Bytes& datagram, Random& random) {
  constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
  for (std::uint32_t changes = 1 + random.below(3); changes != 0 && !datagram.empty(); --changes) {
    // Half of the changes are at the front, where headers and counts are.
    const auto size = static_cast<std::uint32_t>(datagram.size());
    const std::size_t at = random.below(random.below(2) == 0 ? std::min<std::uint32_t>(size, 40) : size);
    switch (random.below(6)) {
      case 0:
        datagram[at] = static_cast<std::uint8_t>(random.next());
        break;
      case 1:
      case 2:
        datagram[at] = static_cast<std::uint8_t>(datagram[at] ^ 1U << random.below(8));
        break;
      case 3:
        datagram[at] = kEdges[random.below(std::size(kEdges))];
        break;
      case 4:
        datagram.resize(at);
        break;
      default:
        datagram.insert(datagram.begin() + static_cast<std::ptrdiff_t>(at), 1 + random.below(8), 0x11);
        break;
    }
  }
}

// Lengths and checksum made right again, so that the reader behind them sees the change.
void mend(Bytes& datagram, bool p5, Random& random) {
  if (datagram.size() < (p5 ? kP5HeaderBytes : kP7HeaderBytes) || random.below(10) == 0) return;
  wire::store_be32(datagram.data() + 4, static_cast<std::uint32_t>(datagram.size() - (p5 ? kP5HeaderBytes : 0)));
  if (!p5) wire::store_be32(datagram.data() + kChecksumAt, 0);
}

TEST(FapiMutation, changed_datagrams_are_refused_or_read_and_break_nothing) {
  const std::uint64_t mutations = environment("SPLITPLANE_MUTATIONS", 20'000);
  Random random(environment("SPLITPLANE_SEED", 1));
  Filler filler(random.next(), 3, 900);
  Judge::Room to;
  Judge judge(to);
  AnyMessage messages;
  auto writer = std::make_unique<TxDataWriter>();
  P7Sender sender(1, 600, ChecksumMode::kIfThere);
  Bytes room(1 << 17);
  std::uint64_t given = 0, changed = 0;
  std::vector<Bytes> held;  // datagrams that are late

  const auto give = [&](Bytes datagram, bool p5) {
    if (random.below(3) != 0) {
      mutate(datagram, random);
      mend(datagram, p5, random);
      ++changed;
    }
    ++given;
    // Exactly as long as it is, for a sanitizer.
    const Bytes exact(datagram.begin(), datagram.end());
    const std::string wrong = judge.take(exact, p5, static_cast<std::uint8_t>(random.below(20) == 0 ? 30 : 0));
    ASSERT_EQ(wrong, "") << "after " << given << " datagrams";
  };

  while (changed < mutations && !testing::Test::HasFatalFailure()) {
    messages.for_each([&]<class Message>(Message& message) {
      if (testing::Test::HasFatalFailure()) return;
      fill(filler, message);
      if constexpr (std::is_same_v<Message, TxDataRequest>) {
        ASSERT_EQ(writer->write(message, random.below(2) == 0 ? PayloadTag::kInline : PayloadTag::kOffset), Reason::ok);
        ASSERT_EQ(sender.cut(Message::kId, writer->pieces(), 0), Reason::ok);
      } else if (is_p5(Message::kId)) {
        const Written w = write_p5(room, 1, message);
        ASSERT_EQ(w.reason, Reason::ok);
        return give({room.begin(), room.begin() + static_cast<std::ptrdiff_t>(w.bytes)}, true);
      } else {
        const Written w = write_body(room, message);
        ASSERT_EQ(w.reason, Reason::ok);
        ASSERT_EQ(sender.cut(Message::kId, Octets(room).first(w.bytes), 0), Reason::ok);
      }
      for (const auto datagram : sender.datagrams()) {
        Bytes octets = joined(datagram);
        if (random.below(8) == 0) held.push_back(octets);
        if (random.below(10) != 0) give(std::move(octets), false);
      }
      while (held.size() > 4) {
        const auto late = held.begin() + random.below(static_cast<std::uint32_t>(held.size()));
        give(std::move(*late), false);
        held.erase(late);
      }
    });
  }
  // It would be no test if all were refused, or none.
  EXPECT_GT(judge.accepted(), given / 10);
  EXPECT_GT(judge.refused(), given / 50);
  const auto& counters = judge.receiver().counters();
  for (const P7Outcome outcome :
       {P7Outcome::message, P7Outcome::segment, P7Outcome::stale, P7Outcome::refused, P7Outcome::contradiction}) {
    EXPECT_GT(counters.of(outcome), 0U) << name_of(outcome);
  }
  RecordProperty("datagrams", std::to_string(given));
  RecordProperty("changed", std::to_string(changed));
}

}  // namespace
}  // namespace splitplane::fapi::test
