#include "gnb/control/control_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <type_traits>

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<Locked> && !std::is_copy_constructible_v<Change>);
static_assert(std::is_convertible_v<Change&, const Locked&>, "a change holds the mutex, too");

template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(ControlLock, the_mutex_is_held_as_long_as_its_witness_lives) {
  ControlLock control;
  std::atomic<bool> in{false};
  std::thread other;
  {
    const Locked locked = control.lock();
    other = std::thread([&] {
      const Locked theirs = control.lock();
      in = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(in);
  }
  EXPECT_TRUE(soon([&] { return in.load(); }));
  other.join();
}

TEST(ControlLock, others_run_while_a_change_waits_but_no_other_change) {
  ControlLock control;
  std::string order;  // written with the mutex only
  std::atomic<bool> second_asks{false}, looked{false};
  std::thread second, looker;
  {
    Change change = control.change();
    second = std::thread([&] {
      second_asks = true;
      const Change theirs = control.change();
      order += "second ";
    });
    looker = std::thread([&] {
      const Locked locked = control.lock();
      order += "look ";
      looked = true;
    });
    bool seen = false;
    std::tie(change, seen) = ControlLock::apart(std::move(change), [&] {
      const bool both = soon([&] { return looked && second_asks; });
      std::this_thread::sleep_for(20ms);
      return both;
    });
    EXPECT_TRUE(seen) << "the mutex was free while the change waited";
    order += "first ";
  }
  second.join();
  looker.join();
  EXPECT_EQ(order, "look first second ");
}

TEST(ControlLock, one_who_asks_again_and_again_does_not_overtake_one_who_waits) {
  ControlLock control;
  std::string order;  // written with the mutex only
  std::atomic<bool> asks{false};
  std::thread other;
  {
    Change first = control.change();
    other = std::thread([&] {
      asks = true;
      const Change theirs = control.change();
      order += "other ";
    });
    // The other one needs the mutex to ask.
    std::tie(first, std::ignore) = ControlLock::apart(std::move(first), [&] {
      const bool asked = soon([&] { return asks.load(); });
      std::this_thread::sleep_for(50ms);
      return asked;
    });
  }
  {
    const Change again = control.change();
    order += "again";
  }
  other.join();
  EXPECT_EQ(order, "other again");
}

TEST(ControlLock, the_turn_is_free_again_after_a_change_that_waited) {
  ControlLock control;
  for (int i = 0; i < 3; ++i) {
    Change change = control.change();
    int result = 0;
    std::tie(change, result) = ControlLock::apart(std::move(change), [i] { return i; });
    EXPECT_EQ(result, i);
  }
  EXPECT_NO_FATAL_FAILURE((void)control.lock());
}

}  // namespace
}  // namespace splitplane::gnb
