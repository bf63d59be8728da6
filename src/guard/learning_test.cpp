// Floods of sources that are known: they arm a guard by their rate, and keep it armed.
#include "guard/learning.h"

#include <gtest/gtest.h>

#include "guard/test_bump.h"

namespace splitplane::guard {
namespace {

using namespace test;

// SYNs of one proven source for so long, 100 times a second.
void flood(Bump& bump, unsigned each_10_ms, unsigned ms) {
  std::vector<Bytes> syns;
  for (unsigned i = 0; i < each_10_ms; ++i)
    syns.push_back(write(Frame{.from_port = static_cast<std::uint16_t>(1024 + i)}));
  for (; ms >= 10; ms -= 10) {
    bump.round(Side::kClient, syns);
    bump.wait_ms(10);
    bump.prove("192.0.2.7", Proof::kVouched);  // it has connections, too
  }
}
[[nodiscard]] bool armed(const Bump& bump) {
  return bump.line().armed.get() != 0;
}

TEST(Learning, a_flood_of_a_known_source_arms_the_guard_and_keeps_it_armed) {
  for (const Mode mode : {Mode::kAuth, Mode::kProxy}) {
    SCOPED_TRACE(name_of(mode));
    Bump bump;
    bump.protect(rule(mode, Arm::kAuto));
    bump.prove("192.0.2.7", Proof::kVouched);
    flood(bump, 230, 1000);
    EXPECT_TRUE(armed(bump)) << "23,000 a second";
    flood(bump, 100, 15'000);
    EXPECT_TRUE(armed(bump)) << "10,000 a second, for longer than it would hold";
    EXPECT_EQ(bump.line().unknown_syns.get(), 0U);
    bump.wait_ms(15'000);
    EXPECT_FALSE(armed(bump));
  }
}

TEST(Learning, one_busy_client_does_not_arm_the_guard) {
  Bump bump;
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  bump.prove("192.0.2.7", Proof::kVouched);
  flood(bump, 50, 3000);
  EXPECT_FALSE(armed(bump)) << "5,000 a second";
  EXPECT_EQ(bump.count(Side::kClient, Outcome::passed_unarmed), 300U * 50);
}

}  // namespace
}  // namespace splitplane::guard
