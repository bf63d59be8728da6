// RAPL and AMD's counters on trees that look like those of their drivers.
#include "power/sensor/energy_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "power/sensor/test_tree.h"

namespace splitplane::sensor {
namespace {

using testing::HasSubstr;

const std::string kCap = "sys/class/powercap/";

void add_zone(const FakeTree& tree, const std::string& zone, const char* name, const char* uj) {
  tree.set(kCap + zone, {{"name", name}, {"energy_uj", uj}, {"max_energy_range_uj", "1000000"}});
}

std::string refusal(const FakeTree& tree) {
  const auto source = EnergyFiles::open_rapl(tree.root());
  return source ? "(opened)" : source.error().message;
}

TEST(Rapl, two_packages_with_their_parts_are_read_in_order_and_wrap) {
  const FakeTree tree;
  add_zone(tree, "intel-rapl:0", "package-0", "900000");
  add_zone(tree, "intel-rapl:0:0", "core", "0");
  add_zone(tree, "intel-rapl:0:1", "dram", "0");
  add_zone(tree, "intel-rapl:1", "package-1", "100");
  add_zone(tree, "intel-rapl:2", "psys", "0");
  add_zone(tree, "intel-rapl-mmio:0", "package-0", "0");
  tree.set(kCap + "intel-rapl/enabled", "1");
  auto source = EnergyFiles::open_rapl(tree.root());
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ((*source)->name(), "rapl");
  const auto first = (*source)->sample(0);
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::isnan((*first)[0].watts));
  tree.set(kCap + "intel-rapl:0/energy_uj", "100000");
  tree.set(kCap + "intel-rapl:0:1/energy_uj", "50000");
  tree.set(kCap + "intel-rapl:1/energy_uj", "500100");
  const auto second = (*source)->sample(kSecond);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->size(), 5U) << "the zone by mmio is the same package again";
  const std::vector<std::tuple<std::string, std::string, double>> all{{"package", "package-0", 0.2},
                                                                      {"cores", "package-0 core", 0},
                                                                      {"memory", "package-0 dram", 0.05},
                                                                      {"package", "package-1", 0.5},
                                                                      {"system", "psys", 0}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ((*second)[i].scope, std::get<0>(all[i]));
    EXPECT_EQ((*second)[i].name, std::get<1>(all[i]));
    EXPECT_DOUBLE_EQ((*second)[i].watts, std::get<2>(all[i]));
  }
}

TEST(Rapl, a_file_that_only_root_may_read_is_named_with_the_reason) {
  const FakeTree tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  tree.forbid(kCap + "intel-rapl:0/energy_uj");
  const AsNobody nobody;
  EXPECT_THAT(refusal(tree), HasSubstr("intel-rapl:0/energy_uj: Permission denied"));
}

TEST(Rapl, odd_contents_are_refused_at_the_start) {
  const FakeTree tree;
  EXPECT_THAT(refusal(tree), HasSubstr("no zone intel-rapl:0"));
  add_zone(tree, "intel-rapl:0", "package-0", "many");
  EXPECT_THAT(refusal(tree), HasSubstr("energy_uj: holds 'many' and no whole number"));
  add_zone(tree, "intel-rapl:0", "package-0", "");
  EXPECT_THAT(refusal(tree), HasSubstr("energy_uj: holds ''"));
  add_zone(tree, "intel-rapl:0", "package-0", "-5");
  EXPECT_THAT(refusal(tree), HasSubstr("energy_uj: holds '-5'"));
  add_zone(tree, "intel-rapl:0", "package-0", "99999999999999999999999");
  EXPECT_THAT(refusal(tree), HasSubstr("energy_uj: holds '9999"));
  add_zone(tree, "intel-rapl:0", "package-0", "5");
  tree.set(kCap + "intel-rapl:0/max_energy_range_uj", "0");
  EXPECT_THAT(refusal(tree), HasSubstr("max_energy_range_uj: holds 0"));
  tree.remove(kCap + "intel-rapl:0/name");
  EXPECT_THAT(refusal(tree), HasSubstr("name: No such file"));
}

TEST(Rapl, a_file_that_vanishes_later_is_an_error_and_no_zero) {
  const FakeTree tree;
  add_zone(tree, "intel-rapl:0", "package-0", "1");
  auto source = EnergyFiles::open_rapl(tree.root());
  ASSERT_TRUE(source);
  tree.remove(kCap + "intel-rapl:0");
  const auto gone = (*source)->sample(kSecond);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message, HasSubstr("energy_uj: No such file"));
}

TEST(AmdEnergy, sockets_and_cores_are_told_apart_by_their_labels) {
  const FakeTree tree;
  EXPECT_THAT(EnergyFiles::open_amd(tree.root()).error().message, HasSubstr("chips: none"));
  tree.set("sys/class/hwmon/hwmon0", {{"name", "nvme"}, {"energy1_input", "7"}});
  EXPECT_THAT(EnergyFiles::open_amd(tree.root()).error().message, HasSubstr("chips: nvme"));
  tree.set("sys/class/hwmon/hwmon10", {{"name", "amd_energy"},
                                       {"energy1_input", "1000000"},
                                       {"energy1_label", "Ecore000"},
                                       {"energy10_input", "5000000"},
                                       {"energy10_label", "Esocket0"}});
  auto source = EnergyFiles::open_amd(tree.root());
  ASSERT_TRUE(source) << source.error().message;
  static_cast<void>((*source)->sample(0));
  tree.set("sys/class/hwmon/hwmon10/energy10_input", "95000000");
  const auto now = (*source)->sample(kSecond);
  ASSERT_TRUE(now);
  ASSERT_EQ(now->size(), 2U);
  EXPECT_EQ((*now)[0].scope, "core");
  EXPECT_EQ((*now)[0].watts, 0);
  EXPECT_EQ((*now)[1].scope, "package");
  EXPECT_DOUBLE_EQ((*now)[1].watts, 90);
}

}  // namespace
}  // namespace splitplane::sensor
