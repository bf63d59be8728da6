// Bad input never crashes: every truncation and many random mutations of every example go through every parser, on heap
// spans of exactly their size. SPLITPLANE_MUTATIONS sets the number of mutations, SPLITPLANE_SEED the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "wire/test_examples.h"
#include "wire/test_octets.h"
#include "wire/test_parse_everything.h"

namespace splitplane::wire::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// One to four changes: an octet, a bit, a length-like value, octets cut off, added, or spliced from another example.
void mutate(std::vector<std::uint8_t>& octets, const std::vector<std::vector<std::uint8_t>>& all,
            std::mt19937_64& random) {
  constexpr std::array<std::uint8_t, 8> kEdges{0x00, 0x01, 0x7F, 0x80, 0xFF, 0x3F, 0x85, 0x34};
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = octets.empty() ? 0 : random() % octets.size();
    switch (random() % 6) {
      case 0:
        if (!octets.empty()) octets[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        if (!octets.empty()) octets[at] ^= static_cast<std::uint8_t>(1U << random() % 8);
        break;
      case 2:
        if (!octets.empty()) octets[at] = kEdges[random() % kEdges.size()];
        break;
      case 3:
        octets.resize(at);
        break;
      case 4:
        for (std::uint64_t n = random() % 16; n > 0; --n) octets.push_back(static_cast<std::uint8_t>(random()));
        break;
      default: {
        const auto& other = all[random() % all.size()];
        octets.resize(at);
        octets.insert(octets.end(), other.begin() + static_cast<std::ptrdiff_t>(random() % other.size()), other.end());
        break;
      }
    }
  }
}

TEST(Robustness, every_truncation_of_every_example_is_survived) {
  for (const Example& e : kExamples) {
    const auto all = from_hex(e.hex);
    for (std::size_t n = 0; n <= all.size(); ++n) parse_everything(HeapOctets(Octets(all).first(n)));
    EXPECT_GT(parse_everything(HeapOctets(all)), 0U) << e.id;
  }
}

#ifdef SPLITPLANE_ASAN
constexpr std::uint64_t kMutations = 100'000;
#else
constexpr std::uint64_t kMutations = 200'000;
#endif

TEST(Robustness, random_mutations_of_the_examples_are_survived) {
  const std::uint64_t mutations = from_environment("SPLITPLANE_MUTATIONS", kMutations);
  const std::uint64_t seed = from_environment("SPLITPLANE_SEED", 20240501);
  RecordProperty("seed", std::to_string(seed));
  std::vector<std::vector<std::uint8_t>> all;
  for (const Example& e : kExamples) all.push_back(from_hex(e.hex));
  std::mt19937_64 random(seed);
  std::uint64_t accepted = 0;
  std::uint64_t refused_by_all = 0;
  for (std::uint64_t i = 0; i < mutations; ++i) {
    auto octets = all[random() % all.size()];
    mutate(octets, all, random);
    const unsigned n = parse_everything(HeapOctets(octets));
    accepted += n != 0 ? 1 : 0;
    refused_by_all += n == 0 ? 1 : 0;
  }
  // Both paths must occur: mutations that only ever fail, or never fail, test little.
  if (mutations >= 1000) {
    EXPECT_GT(accepted, mutations / 10);
    EXPECT_GT(refused_by_all, 0U);
  }
}

}  // namespace
}  // namespace splitplane::wire::test
