#include "ran/rlc/near_pages.h"

#include <map>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct NearPage {
  std::uint32_t value = 0;
};

struct NearPagesHome {
  explicit NearPagesHome(unsigned sn_bits, std::size_t count = 20) : directories(count), window(sn_bits) {}
  NearPage* make(std::uint32_t sn) { return window.make(sn, directories, pages, is_new); }
  void drop(std::uint32_t sn) { window.drop(sn, directories, pages); }
  [[nodiscard]] bool has_room(std::uint32_t sn) const { return window.has_room(sn, directories, pages); }

  Pool<Directory> directories;
  Pool<NearPage> pages{40};
  NearPages<NearPage> window;
  bool is_new = false;
};

TEST(NearPages, two_pages_in_a_row_need_no_directory) {
  NearPagesHome w(18, 0);
  for (std::uint32_t sn = 0xFFFFFF00U; sn != 0x400; sn += kPageSns) {  // 2^32 is on the way
    ASSERT_TRUE(w.has_room(sn));
    NearPage* const page = w.make(sn);
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(w.is_new);
    EXPECT_EQ(w.make(sn + 63), page);
    EXPECT_FALSE(w.is_new);
    EXPECT_EQ(w.window.find_near(sn), page);
    if (sn != 0xFFFFFF00U) w.drop(sn - kPageSns);
  }
  EXPECT_FALSE(w.window.empty());
  w.drop(0x3FF);
  EXPECT_TRUE(w.window.empty());
  EXPECT_EQ(w.pages.available(), w.pages.size());
}

TEST(NearPages, the_newest_are_near_and_the_others_are_found) {
  for (const unsigned sn_bits : {12U, 18U}) {
    NearPagesHome w(sn_bits);
    std::array<NearPage*, 10> made{};
    for (std::uint32_t n = 0; n < made.size(); ++n) {
      made[n] = w.make(n * kPageSns);
      ASSERT_EQ(w.window.find_near(n * kPageSns), made[n]);
    }
    EXPECT_EQ(w.window.find_near(8 * kPageSns), made[8]);
    EXPECT_EQ(w.window.find_near(7 * kPageSns), nullptr);
    for (std::uint32_t n = 0; n < made.size(); ++n) EXPECT_EQ(w.window.find(n * kPageSns + 5), made[n]);
    EXPECT_EQ(w.directories.available(), w.directories.size() - (sn_bits > 12 ? 2 : 1));
    for (std::uint32_t n = 0; n < made.size(); ++n) w.drop(n * kPageSns);
    EXPECT_TRUE(w.window.empty());
    EXPECT_EQ(w.directories.available(), w.directories.size());
  }
}

TEST(NearPages, agrees_with_a_map_in_any_order_and_with_little_memory) {
  for (const unsigned sn_bits : {12U, 18U}) {
    for (const std::size_t directories : {0U, 2U, 20U}) {
      NearPagesHome w(sn_bits, directories);
      std::map<std::uint32_t, NearPage*> model;
      Random random(sn_bits);
      const std::uint32_t base = 0xFFFFF000U;
      unsigned refused = 0;
      for (int step = 0; step < 20000; ++step) {
        const std::uint32_t sn = base + random() % window_size(sn_bits);
        const auto known = model.find(sn / kPageSns);
        ASSERT_EQ(w.window.find(sn), known == model.end() ? nullptr : known->second);
        const bool has_room = w.has_room(sn);
        if (known != model.end()) {
          ASSERT_TRUE(has_room);
          w.drop(sn);
          model.erase(known);
        } else if (NearPage* const page = w.make(sn); page != nullptr) {
          ASSERT_TRUE(has_room && w.is_new);
          model[sn / kPageSns] = page;
        } else {
          ASSERT_FALSE(has_room);
          ++refused;
        }
        ASSERT_EQ(w.pages.available(), w.pages.size() - model.size());
        ASSERT_EQ(w.window.empty(), model.empty());
      }
      EXPECT_EQ(refused == 0, sn_bits == 12 && directories != 0);  // 2048 SNs are in one directory
      for (const auto& [number, page] : model) w.drop(number * kPageSns);
      EXPECT_EQ(w.directories.available(), w.directories.size());
      EXPECT_EQ(w.pages.available(), w.pages.size());
    }
  }
}

TEST(NearPages, a_pool_says_what_it_gives_next) {
  Pool<NearPage> pages(3);
  const NearPage *const first = pages.next(0), *const second = pages.next(1);
  EXPECT_EQ(pages.take(), first);
  EXPECT_EQ(pages.next(0), second);
  EXPECT_EQ(pages.next(2), nullptr);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
