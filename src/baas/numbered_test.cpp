#include "baas/numbered.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace splitplane::baas {
namespace {

// Knows how many of it live, and does not move.
struct Part {
  Part(int of, std::uint32_t& live) : value(of), alive(live) { ++alive; }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() { --alive; }
  int value;
  std::uint32_t& alive;
};

TEST(Numbered, agrees_with_a_map_and_nothing_moves) {
  std::uint32_t live = 0;
  {
    Numbered<Part> parts;
    std::map<std::uint32_t, Part*> model;
    std::mt19937 random(7);
    for (int step = 0; step < 20000; ++step) {
      const auto number = static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 100 : 40000));
      const auto known = model.find(number);
      Part* const found = parts.find(number);
      ASSERT_EQ(found, known == model.end() ? nullptr : known->second);
      if (found == nullptr) {
        model[number] = &parts.emplace(number, step, live);
        ASSERT_EQ(model[number]->value, step);
      } else {
        parts.erase(number);
        model.erase(known);
      }
      ASSERT_EQ(live, model.size());
    }
    EXPECT_EQ(parts.find(1U << 31), nullptr);
  }
  EXPECT_EQ(live, 0U);
}

TEST(Numbered, a_number_far_off_costs_no_block_before_it) {
  std::uint32_t live = 0;
  Numbered<Part> parts;
  parts.emplace((1U << 26) - 1, 1, live);
  EXPECT_EQ(parts.find((1U << 26) - 1)->value, 1);
  EXPECT_EQ(parts.find(0), nullptr);
  EXPECT_EQ(parts.emplace(0, 2, live).value, 2);
}

}  // namespace
}  // namespace splitplane::baas
