// Tests of syn_again.h: each SYN comes due three times, in order, and an answered one never.
#include "guard/syn_again.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

namespace splitplane::guard {
namespace {

FourTuple tuple_number(std::uint32_t n) {
  FourTuple tuple;
  wire::store_be32(tuple.client.data(), n);
  return tuple;
}
constexpr std::uint64_t kMs = 10;  // ticks

TEST(SynAgain, a_syn_comes_due_after_250_then_750_then_1500_ms_and_not_again) {
  SynAgain again(kMs);
  const std::vector<std::uint8_t> frame{1, 2, 3};
  EXPECT_EQ(again.next(), SynAgain::kNever);
  const auto handle = again.keep(tuple_number(1), frame, nullptr, 1000);
  ASSERT_NE(handle, SynAgain::kNone);
  std::uint64_t now = 1000;
  for (const std::uint64_t delay : {250, 750, 1500}) {
    EXPECT_EQ(again.next(), now + delay * kMs);
    EXPECT_EQ(again.due(now + delay * kMs - 1), SynAgain::kNone);
    now += delay * kMs;
    ASSERT_EQ(again.due(now), handle);
    EXPECT_EQ(again.at(handle).tuple, tuple_number(1));
    const auto octets = again.at(handle).octets();
    EXPECT_EQ(std::vector<std::uint8_t>(octets.begin(), octets.end()), frame);
    again.again(handle, now);
  }
  EXPECT_EQ(again.next(), SynAgain::kNever);
  EXPECT_EQ(again.kept(), 0U);
}

TEST(SynAgain, a_handle_of_another_connection_forgets_nothing) {
  SynAgain again(kMs);
  const auto handle = again.keep(tuple_number(1), {}, nullptr, 0);
  again.forget(handle, tuple_number(2));
  again.forget(SynAgain::kNone, tuple_number(1));
  again.forget(SynAgain::kPlaces + 1, tuple_number(1));
  EXPECT_EQ(again.kept(), 1U);
  again.forget(handle, tuple_number(1));
  again.forget(handle, tuple_number(1));
  EXPECT_EQ(again.kept(), 0U);
  EXPECT_EQ(again.next(), SynAgain::kNever);
}

TEST(SynAgain, has_places_for_4096_and_none_for_a_frame_that_is_too_long) {
  SynAgain again(kMs);
  const std::vector<std::uint8_t> longest(SynAgain::kMaxFrameBytes), longer(SynAgain::kMaxFrameBytes + 1);
  EXPECT_EQ(again.keep(tuple_number(0), longer, nullptr, 0), SynAgain::kNone);
  std::vector<SynAgain::Handle> handles;
  for (std::uint32_t i = 0; i < SynAgain::kPlaces; ++i)
    handles.push_back(again.keep(tuple_number(i), longest, nullptr, 0));
  for (const auto handle : handles) EXPECT_NE(handle, SynAgain::kNone);
  EXPECT_EQ(again.keep(tuple_number(5000), longest, nullptr, 0), SynAgain::kNone);
  again.forget(handles[7], tuple_number(7));
  EXPECT_EQ(again.keep(tuple_number(5000), longest, nullptr, 0), handles[7]);
}

// Against a model that is a list of times.
RC_GTEST_PROP(SynAgain, what_is_due_is_what_waits_longest, ()) {
  struct Waits {
    std::uint64_t due;
    std::size_t sent;
    std::uint32_t number;
  };
  SynAgain again(1);
  std::map<SynAgain::Handle, Waits> model;
  std::uint64_t now = 0;
  std::uint32_t number = 0;
  for (int step = 0; step < 300; ++step) {
    now += *rc::gen::inRange<std::uint64_t>(0, 60);
    const int what = *rc::gen::inRange(0, 3);
    if (what == 0) {
      const auto handle = again.keep(tuple_number(++number), {}, nullptr, now);
      RC_ASSERT(handle != SynAgain::kNone && !model.contains(handle));
      model[handle] = {now + 250, 0, number};
    } else if (what == 1 && !model.empty()) {
      auto at = model.begin();
      std::advance(at, *rc::gen::inRange<std::size_t>(0, model.size()));
      again.forget(at->first, tuple_number(at->second.number));
      model.erase(at);
    }
    while (const auto handle = again.due(now)) {
      auto at = model.find(handle);
      RC_ASSERT(at != model.end());
      Waits& waits = at->second;
      for (const auto& [other, w] : model) RC_ASSERT(waits.due <= w.due);
      RC_ASSERT(waits.due <= now);
      again.again(handle, now);
      if (++waits.sent == SynAgain::kDelaysMs.size()) {
        model.erase(at);
      } else {
        waits.due = now + SynAgain::kDelaysMs[waits.sent];
      }
    }
    for (const auto& [handle, waits] : model) RC_ASSERT(waits.due > now);
    RC_ASSERT(again.kept() == model.size());
  }
}

}  // namespace
}  // namespace splitplane::guard
