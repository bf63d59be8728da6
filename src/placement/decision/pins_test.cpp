#include "placement/decision/pins.h"

#include <gtest/gtest.h>

#include <vector>

namespace splitplane::placement {
namespace {

const IpAddress kListUpf = IpAddress::v4({10, 100, 0, 2}), kNextUpf = IpAddress::v4({10, 100, 0, 3});

Pins::Tunnel tunnel(std::uint32_t ul_teid, const IpAddress& upf = kListUpf) {
  return {upf, Teid{ul_teid}};
}

class PinsTest : public ::testing::Test {
 protected:
  // "card0 by file", "host by ctl", "-"
  [[nodiscard]] std::string of(std::uint32_t id) const {
    const Pins::Pin* const pin = pins_.of(BearerId{id});
    return pin == nullptr ? "-" : pin->to + (pin->by_file ? " by file" : " by ctl");
  }
  // The bearer whose identity and uplink TEID are `n`.
  std::string enter(std::uint32_t n, const IpAddress& upf = kListUpf, const std::optional<std::string>& said = {}) {
    pins_.enter(BearerId{n}, tunnel(n, upf), said);
    return of(n);
  }

  const std::vector<PinList> lists_{{.on = "card0", .upf = kListUpf, .ul_teid = Teid{10}, .count = 3},
                                    {.on = "host", .upf = kListUpf, .ul_teid = Teid{13}},
                                    {.on = "host", .upf = kListUpf, .ul_teid = Teid{0xffffffff}},
                                    {.on = "card1", .upf = kNextUpf, .ul_teid = Teid{1}, .count = 0xffffffff}};
  Pins pins_{lists_};
};

TEST_F(PinsTest, a_list_names_its_first_bearer_its_last_and_none_beside) {
  EXPECT_EQ(enter(9), "-");
  EXPECT_EQ(enter(10), "card0 by file");
  EXPECT_EQ(enter(12), "card0 by file");
  EXPECT_EQ(enter(13), "host by file");
  EXPECT_EQ(enter(14), "-");
  EXPECT_EQ(enter(0xffffffff), "host by file");
  EXPECT_EQ(enter(1, kNextUpf), "card1 by file");
  EXPECT_EQ(enter(0xfffffffe, kNextUpf), "card1 by file");
  EXPECT_EQ(enter(11, *IpAddress::parse("a64::2")), "-") << "of another family";
  EXPECT_EQ(pins_.count(), 6U);
}

TEST_F(PinsTest, what_ctl_says_goes_before_the_file) {
  (void)enter(10);
  (void)enter(30);
  pins_.pin(BearerId{10}, "host");
  pins_.pin(BearerId{30}, "card0");
  EXPECT_EQ(of(10), "host by ctl");
  EXPECT_EQ(pins_.said(BearerId{10}), "host");
  EXPECT_EQ(of(30), "card0 by ctl");
  EXPECT_EQ(pins_.count(), 2U);
  EXPECT_TRUE(pins_.unpin(BearerId{10}, tunnel(10)));
  EXPECT_TRUE(pins_.unpin(BearerId{30}, tunnel(30)));
  EXPECT_EQ(of(10), "-");
  EXPECT_EQ(pins_.said(BearerId{10}), "") << "although the file pins it";
  EXPECT_EQ(pins_.said(BearerId{30}), std::nullopt);
  EXPECT_FALSE(pins_.unpin(BearerId{10}, tunnel(10)));
  EXPECT_EQ(pins_.count(), 0U);
  pins_.pin(BearerId{10}, "card1");
  EXPECT_EQ(of(10), "card1 by ctl");
}

TEST_F(PinsTest, what_ctl_said_before_a_restart_counts_as_long_as_the_file_says_what_it_took_back) {
  EXPECT_EQ(enter(10, kListUpf, "host"), "host by ctl");
  EXPECT_EQ(enter(11, kListUpf, ""), "-");
  EXPECT_EQ(pins_.said(BearerId{11}), "");
  EXPECT_EQ(enter(30, kListUpf, ""), "-");
  EXPECT_EQ(pins_.said(BearerId{30}), std::nullopt);
  EXPECT_EQ(pins_.count(), 1U);
}

TEST_F(PinsTest, another_tunnel_is_in_another_list_unless_ctl_has_said_something) {
  (void)enter(10);
  EXPECT_EQ(pins_.said(BearerId{10}), std::nullopt);
  pins_.change(BearerId{10}, tunnel(13));
  EXPECT_EQ(of(10), "host by file");
  pins_.change(BearerId{10}, tunnel(40));
  EXPECT_EQ(of(10), "-");
  EXPECT_EQ(pins_.count(), 0U);
  pins_.pin(BearerId{10}, "card0");
  pins_.change(BearerId{10}, tunnel(13));
  EXPECT_EQ(of(10), "card0 by ctl");
}

TEST_F(PinsTest, a_bearer_that_is_gone_leaves_nothing_to_the_next_one_with_its_identity) {
  (void)enter(10);
  pins_.pin(BearerId{10}, "host");
  pins_.forget(BearerId{10});
  EXPECT_EQ(of(10), "-");
  EXPECT_EQ(pins_.count(), 0U);
  pins_.forget(BearerId{10});
  EXPECT_EQ(enter(10), "card0 by file");
  EXPECT_EQ(pins_.count(), 1U);
}

}  // namespace
}  // namespace splitplane::placement
