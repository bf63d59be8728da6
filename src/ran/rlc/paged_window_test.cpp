#include "ran/rlc/paged_window.h"

#include <map>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

struct Page {
  std::uint32_t value = 0;
};

struct Pages {
  Pool<Directory> directories{20};
  Pool<Page> pages{40};
  bool is_new = false;

  Page* make(PagedWindow<Page>& window, std::uint32_t sn) { return window.make(sn, directories, pages, is_new); }
  [[nodiscard]] bool unused() const { return directories.available() == 20 && pages.available() == 40; }
};

TEST(PagedWindow, finds_what_it_made_and_only_that) {
  for (const unsigned sn_bits : {6U, 12U, 18U}) {
    Pages f;
    PagedWindow<Page> window(sn_bits);
    EXPECT_TRUE(window.empty());
    EXPECT_EQ(window.find(100), nullptr);
    Page* const page = f.make(window, 100);
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(f.is_new);
    EXPECT_EQ(f.make(window, 127), page);
    EXPECT_FALSE(f.is_new);
    EXPECT_EQ(window.find(64), page);
    EXPECT_EQ(window.find(63), nullptr);
    EXPECT_EQ(window.find(128), nullptr);
    window.drop(64, f.directories, f.pages);
    EXPECT_TRUE(window.empty());
    EXPECT_TRUE(f.unused());
  }
}

TEST(PagedWindow, an_idle_one_is_two_words) {
  EXPECT_LE(sizeof(PagedWindow<Page>), 2 * sizeof(void*));
}

TEST(PagedWindow, directories_go_with_their_last_page) {
  Pages f;
  PagedWindow<Page> window(18);
  for (const std::uint32_t sn : {0U, 64U, 4096U, 131071U}) ASSERT_NE(f.make(window, sn), nullptr);
  EXPECT_EQ(f.directories.available(), 20U - 4U);  // the upper one and three below it
  window.drop(64, f.directories, f.pages);
  EXPECT_EQ(f.directories.available(), 20U - 4U);
  window.drop(0, f.directories, f.pages);
  EXPECT_EQ(f.directories.available(), 20U - 3U);
  window.drop(4096, f.directories, f.pages);
  window.drop(131071, f.directories, f.pages);
  EXPECT_TRUE(f.unused());
}

TEST(PagedWindow, without_memory_nothing_is_taken) {
  for (const unsigned sn_bits : {12U, 18U}) {
    PagedWindow<Page> window(sn_bits);
    Pool<Directory> directories(2);
    Pool<Page> none(0), some(3);
    bool is_new = true;
    EXPECT_EQ(window.make(5, directories, none, is_new), nullptr);
    EXPECT_FALSE(is_new);
    Pool<Directory> no_directories(0);
    EXPECT_EQ(window.make(5, no_directories, some, is_new), nullptr);
    EXPECT_TRUE(window.empty());
    EXPECT_EQ(directories.available(), 2U);
    EXPECT_EQ(some.available(), 3U);
  }
}

TEST(PagedWindow, a_page_more_needs_no_directory_where_there_is_one) {
  PagedWindow<Page> window(18);
  Pool<Directory> directories(2);
  Pool<Page> pages(3);
  bool is_new = false;
  ASSERT_NE(window.make(0, directories, pages, is_new), nullptr);
  EXPECT_NE(window.make(64, directories, pages, is_new), nullptr);
  EXPECT_EQ(window.make(4096, directories, pages, is_new), nullptr);
  EXPECT_EQ(pages.available(), 1U);
  window.drop(0, directories, pages);
  window.drop(64, directories, pages);
  EXPECT_EQ(directories.available(), 2U);
}

TEST(PagedWindow, numbers_may_pass_two_to_the_32) {
  for (const unsigned sn_bits : {12U, 18U}) {
    Pages f;
    PagedWindow<Page> window(sn_bits);
    Page* const below = f.make(window, 0xFFFFFFFFU);
    Page* const above = f.make(window, 0);
    ASSERT_NE(below, above);
    EXPECT_EQ(window.find(0xFFFFFFC0U), below);
    EXPECT_EQ(window.find(63), above);
    window.mark(0xFFFFFFC0U);
    EXPECT_EQ(window.skip_marked(0xFFFFFFC0U), 0U);
    window.drop(0, f.directories, f.pages);
    window.drop(0xFFFFFFFFU, f.directories, f.pages);
    EXPECT_TRUE(f.unused());
  }
}

TEST(PagedWindow, marked_pages_are_passed_over_in_one_step) {
  Pages f;
  PagedWindow<Page> window(12);
  for (std::uint32_t sn = 0; sn < 5 * kPageSns; sn += kPageSns) ASSERT_NE(f.make(window, sn), nullptr);
  for (const std::uint32_t sn : {64U, 128U, 256U}) window.mark(sn);
  EXPECT_EQ(window.skip_marked(0), 0U);
  EXPECT_EQ(window.skip_marked(64), 192U);
  EXPECT_EQ(window.skip_marked(256), 320U);
  window.drop(128, f.directories, f.pages);
  EXPECT_EQ(window.skip_marked(64), 128U);  // a mark does not outlive its page
  ASSERT_NE(f.make(window, 128), nullptr);
  EXPECT_EQ(window.skip_marked(128), 128U);
  for (std::uint32_t sn = 0; sn < 5 * kPageSns; sn += kPageSns) window.drop(sn, f.directories, f.pages);
  EXPECT_TRUE(f.unused());
}

TEST(PagedWindow, agrees_with_a_map_in_any_order) {
  for (const unsigned sn_bits : {12U, 18U}) {
    Pages f;
    PagedWindow<Page> window(sn_bits);
    std::map<std::uint32_t, Page*> model;
    Random random(sn_bits);
    const std::uint32_t base = 0xFFFFF000U;
    for (int step = 0; step < 20000; ++step) {
      const std::uint32_t sn = base + random() % window_size(sn_bits);
      const std::uint32_t page_of = sn / kPageSns;
      const auto it = model.find(page_of);
      ASSERT_EQ(window.find(sn), it == model.end() ? nullptr : it->second);
      if (it != model.end()) {
        window.drop(sn, f.directories, f.pages);
        model.erase(it);
      } else if (Page* const page = f.make(window, sn); page != nullptr) {
        ASSERT_TRUE(f.is_new);
        model[page_of] = page;
      }
      ASSERT_EQ(f.pages.available(), 40 - model.size());
      ASSERT_EQ(window.empty(), model.empty());
    }
    for (const auto& [page_of, page] : model) window.drop(page_of * kPageSns, f.directories, f.pages);
    EXPECT_TRUE(f.unused());
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
