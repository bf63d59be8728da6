#include "ran/rlc/reassembly.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct Sdu : Home {
  explicit Sdu(std::size_t bytes = 1000, const MemorySizes& sizes = kSmall)
      : Home(sizes), content(pattern(bytes)), reassembly(memory), name(reassembly.begin()) {}
  ~Sdu() {
    if (name != 0) reassembly.discard(name);
  }
  // Octets [start, stop) behind a header of 3.
  Received add(std::size_t start, std::size_t stop, bool is_last) {
    Bytes pdu(3, 0xEE);
    pdu.insert(pdu.end(), content.begin() + static_cast<std::ptrdiff_t>(start),
               content.begin() + static_cast<std::ptrdiff_t>(stop));
    Buffer buffer = make(pdu);
    return reassembly.add(name, buffer, 3, static_cast<std::uint16_t>(start), static_cast<std::uint16_t>(stop), is_last,
                          share);
  }
  Received add(std::size_t start, std::size_t stop) { return add(start, stop, stop == content.size()); }
  std::string holes() {
    std::string out;
    reassembly.for_each_hole(name, [&](std::uint32_t start, std::uint32_t stop) {
      out += std::to_string(start) + "-" + std::to_string(stop) + " ";
      return true;
    });
    EXPECT_EQ(reassembly.holes(name), static_cast<std::uint32_t>(std::count(out.begin(), out.end(), ' ')));
    return out;
  }
  Bytes finish() {
    const auto parts = reassembly.finish(std::exchange(name, 0));
    Bytes out = joined(parts);
    for (auto& part : parts) part.pdu.release();
    return out;
  }
  Bytes content;
  Reassembly<Buffer>::Share share = Reassembly<Buffer>::Share::kAll;
  Reassembly<Buffer> reassembly;
  std::uint32_t name;
};

TEST(Reassembly, segments_in_order) {
  Sdu s;
  EXPECT_EQ(s.holes(), "0-65536 ");
  EXPECT_EQ(s.add(0, 400), Received::kStored);
  EXPECT_FALSE(s.reassembly.has_gap(s.name));  // a missing tail is no gap
  EXPECT_EQ(s.holes(), "400-65536 ");
  EXPECT_EQ(s.add(400, 999), Received::kStored);
  EXPECT_FALSE(s.reassembly.complete(s.name));
  EXPECT_EQ(s.add(999, 1000), Received::kStored);
  EXPECT_TRUE(s.reassembly.complete(s.name));
  EXPECT_EQ(s.finish(), s.content);
}

TEST(Reassembly, keeps_only_octets_that_it_lacks) {
  Sdu s;
  EXPECT_EQ(s.add(100, 200), Received::kStored);
  EXPECT_EQ(s.add(300, 400), Received::kStored);
  EXPECT_EQ(s.add(350, 360), Received::kDuplicate);
  EXPECT_EQ(s.add(100, 200), Received::kDuplicate);
  EXPECT_EQ(s.holes(), "0-100 200-300 400-65536 ");
  EXPECT_TRUE(s.reassembly.has_gap(s.name));
  EXPECT_EQ(s.add(50, 450), Received::kStored);  // three pieces of it
  EXPECT_EQ(s.holes(), "0-50 450-65536 ");
  EXPECT_EQ(s.add(0, 1000), Received::kStored);
  EXPECT_TRUE(s.reassembly.complete(s.name));
  EXPECT_EQ(s.finish(), s.content);
}

TEST(Reassembly, refuses_what_contradicts_and_keeps_what_it_has) {
  Sdu s;
  EXPECT_EQ(s.add(500, 600), Received::kStored);
  EXPECT_EQ(s.add(400, 550, true), Received::kContradiction);  // held octets beyond its end
  EXPECT_EQ(s.add(600, 800, true), Received::kStored);
  EXPECT_EQ(s.add(700, 801), Received::kContradiction);        // beyond the end
  EXPECT_EQ(s.add(600, 700, true), Received::kContradiction);  // another end
  EXPECT_EQ(s.add(800, 900, true), Received::kContradiction);
  EXPECT_EQ(s.holes(), "0-500 ");
  EXPECT_EQ(s.add(0, 500), Received::kStored);
  EXPECT_EQ(s.finish(), Bytes(s.content.begin(), s.content.begin() + 800));
}

TEST(Reassembly, without_memory_everything_stays_as_it_was) {
  MemorySizes sizes = kSmall;
  sizes.segments = 3;
  sizes.assemblies = 1;
  Sdu s(1000, sizes);
  EXPECT_EQ(s.reassembly.begin(), 0U);
  EXPECT_EQ(s.add(100, 200), Received::kStored);
  EXPECT_EQ(s.add(300, 400), Received::kStored);
  EXPECT_EQ(s.add(50, 450), Received::kNoMemory);  // would need three
  EXPECT_EQ(s.holes(), "0-100 200-300 400-65536 ");
  EXPECT_EQ(s.add(500, 600), Received::kStored);
  EXPECT_EQ(s.add(900, 1000), Received::kNoMemory);
  EXPECT_EQ(s.holes(), "0-100 200-300 400-500 600-65536 ");
  EXPECT_EQ(s.pool.live(), 3U);
}

TEST(Reassembly, an_entity_takes_as_much_as_it_leaves_to_the_others) {
  MemorySizes sizes = kSmall;
  sizes.segments = 10;
  Sdu s(1000, sizes);
  s.share = Reassembly<Buffer>::Share::kFair;
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(s.add(100 * i, 100 * i + 50), Received::kStored);
  EXPECT_EQ(s.add(700, 750), Received::kNoMemory);
  Reassembly<Buffer> other(s.memory);
  const std::uint32_t name = other.begin();
  for (std::uint16_t i = 0; i < 4; ++i) {
    Buffer pdu = s.make(pattern(5));
    EXPECT_EQ(
        other.add(name, pdu, 0, static_cast<std::uint16_t>(10 * i), static_cast<std::uint16_t>(10 * i + 5), false),
        i < 3 ? Received::kStored : Received::kNoMemory);
  }
  s.share = Reassembly<Buffer>::Share::kAll;
  EXPECT_EQ(s.add(700, 750), Received::kStored);
  EXPECT_EQ(s.add(800, 850), Received::kStored);
  EXPECT_EQ(s.add(900, 950), Received::kNoMemory);
  other.discard(name);
}

TEST(Reassembly, what_completes_an_sdu_needs_no_memory) {
  MemorySizes sizes = kSmall;
  sizes.segments = 3;
  Sdu s(1000, sizes);
  EXPECT_EQ(s.add(100, 200), Received::kStored);
  EXPECT_EQ(s.add(300, 400), Received::kStored);
  EXPECT_EQ(s.add(900, 1000), Received::kStored);
  EXPECT_EQ(s.add(0, 1000), Received::kNoMemory);
  EXPECT_FALSE(s.reassembly.completes(s.name, 0, 900 - 1, false));
  EXPECT_TRUE(s.reassembly.completes(s.name, 0, 900, false));
  EXPECT_FALSE(s.reassembly.completes(s.name, 50, 950, false));
  EXPECT_TRUE(s.reassembly.completes(s.name, 0, 1000, true));
  Bytes pdu(3, 0xEE);
  pdu.insert(pdu.end(), s.content.begin(), s.content.end());
  const auto parts = s.reassembly.finish_with(std::exchange(s.name, 0), s.make(pdu), 3, 0, 1000);
  EXPECT_EQ(parts.size(), 6U);
  EXPECT_EQ(joined(parts), s.content);
  for (auto& part : parts) part.pdu.release();
}

TEST(Reassembly, the_longest_sdu) {
  Sdu s(kMaxSduBytes);
  EXPECT_EQ(s.add(1, 65534), Received::kStored);
  EXPECT_EQ(s.add(65534, 65535), Received::kStored);
  EXPECT_EQ(s.holes(), "0-1 ");
  EXPECT_EQ(s.add(0, 1), Received::kStored);
  EXPECT_EQ(s.finish(), s.content);
}

TEST(Reassembly, any_cut_any_order_any_overlap_gives_the_sdu) {
  Random random(11);
  for (int round = 0; round < 2000; ++round) {
    Sdu s(1 + random() % 120);
    const std::size_t bytes = s.content.size();
    std::vector<bool> held(bytes);
    while (!s.reassembly.complete(s.name)) {
      const std::size_t start = random() % bytes, stop = start + 1 + random() % (bytes - start);
      const bool is_new =
          std::find(held.begin() + static_cast<std::ptrdiff_t>(start), held.begin() + static_cast<std::ptrdiff_t>(stop),
                    false) != held.begin() + static_cast<std::ptrdiff_t>(stop);
      ASSERT_EQ(s.add(start, stop), is_new ? Received::kStored : Received::kDuplicate);
      std::fill(held.begin() + static_cast<std::ptrdiff_t>(start), held.begin() + static_cast<std::ptrdiff_t>(stop),
                true);
      const auto last = std::find(held.rbegin(), held.rend(), true);
      ASSERT_EQ(s.reassembly.has_gap(s.name), std::find(last, held.rend(), false) != held.rend());
      ASSERT_EQ(s.reassembly.complete(s.name), std::find(held.begin(), held.end(), false) == held.end());
    }
    ASSERT_EQ(s.finish(), s.content);
    ASSERT_EQ(s.pool.live(), 0U);
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
