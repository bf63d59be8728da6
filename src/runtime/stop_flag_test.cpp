#include "runtime/stop_flag.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

namespace splitplane::app {
namespace {

int outcome() {
  return StopFlag::instance().requested() ? 3 : 4;
}

TEST(StopFlag, a_signal_sets_the_flag_and_the_process_goes_on) {
  EXPECT_EXIT(
      {
        StopFlag::instance().catch_signals();
        ::raise(SIGTERM);
        std::_Exit(outcome());
      },
      testing::ExitedWithCode(3), "");
}

TEST(StopFlag, a_signal_ends_a_process_that_is_about_to_become_another_program) {
  EXPECT_EXIT(
      {
        StopFlag::instance().catch_signals();
        StopFlag::instance().leave_signals();
        ::raise(SIGTERM);
        std::_Exit(outcome());
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(StopFlag, a_process_that_ignores_hangups_goes_on_ignoring_them) {
  EXPECT_EXIT(
      {
        ::signal(SIGHUP, SIG_IGN);
        StopFlag::instance().catch_signals();
        ::raise(SIGHUP);
        StopFlag::instance().leave_signals();
        ::raise(SIGHUP);
        std::_Exit(outcome());
      },
      testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace splitplane::app
