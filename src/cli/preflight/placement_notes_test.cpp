// What `check` says of a section `placement` that does less, or more, than it seems to.
#include "cli/preflight/placement_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> notes(placement::Mode mode, unsigned ratio) {
  GnbConfig config;
  config.placement.mode = mode;
  config.placement.ratio_percent = ratio;
  return placement_notes(config);
}

TEST(PlacementNotes, a_ratio_without_its_mode_and_a_mode_without_its_ratio_are_said) {
  EXPECT_THAT(notes(placement::Mode::kStatic, 50),
              ElementsAre("placement: ratio 50 does nothing in mode static, only in mode ratio"));
  EXPECT_THAT(notes(placement::Mode::kSpill, 50),
              ElementsAre("placement: ratio 50 does nothing in mode spill, only in mode ratio"));
  EXPECT_THAT(notes(placement::Mode::kRatio, 0),
              ElementsAre("placement: mode ratio with ratio 0 takes all bearers off the cards"));
}

TEST(PlacementNotes, there_is_none_where_both_fit) {
  EXPECT_THAT(notes(placement::Mode::kStatic, 0), IsEmpty());
  EXPECT_THAT(notes(placement::Mode::kSpill, 0), IsEmpty());
  EXPECT_THAT(notes(placement::Mode::kRatio, 50), IsEmpty());
}

}  // namespace
}  // namespace splitplane::app
