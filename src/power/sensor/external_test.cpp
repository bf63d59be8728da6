// Meters by ACPI, IPMI, a file and a command, and which of them is chosen.
#include "power/sensor/external.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "power/sensor/acpi_meter.h"
#include "power/sensor/choose.h"
#include "power/sensor/run_command.h"
#include "power/sensor/test_tree.h"

namespace splitplane::sensor {
namespace {

using testing::HasSubstr;

const std::string kAnswer = R"(
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                420 Watts
    Average power reading over sample period:      214 Watts
    IPMI timestamp:                           Mon Jan  5 10:21:33 2026
    Sampling period:                          00000005 Seconds.
    Power reading state is:                   activated
)";

double watts_of(const Expected<std::unique_ptr<Source>>& source) {
  if (!source) {
    ADD_FAILURE() << source.error().message;
    return -1;
  }
  const auto readings = (*source)->sample(0);
  EXPECT_TRUE(readings);
  EXPECT_EQ(readings->at(0).scope, "system");
  return readings->at(0).watts;
}

std::string why_not(const Expected<std::unique_ptr<Source>>& source) {
  return source ? "(opened)" : source.error().message;
}

TEST(AcpiMeter, microwatts_of_each_meter_are_read_where_the_driver_has_them) {
  const FakeTree tree;
  EXPECT_THAT(why_not(AcpiMeter::open(tree.root())), HasSubstr("no chip power_meter"));
  tree.set("sys/class/hwmon/hwmon1", {{"name", "amdgpu"}, {"power1_average", "1"}});
  EXPECT_THAT(why_not(AcpiMeter::open(tree.root())), HasSubstr("chips: amdgpu")) << "a GPU is not the machine";
  tree.set("sys/class/hwmon/hwmon2", {{"name", "power_meter"}});
  tree.set("sys/class/hwmon/hwmon2/device/power1_average", "213000000");
  EXPECT_DOUBLE_EQ(watts_of(AcpiMeter::open(tree.root())), 213);
  tree.set("sys/class/hwmon/hwmon2/power1_average", "4294967000");
  EXPECT_DOUBLE_EQ(watts_of(AcpiMeter::open(tree.root())), 4294.967);
  tree.forbid("sys/class/hwmon/hwmon2/power1_average");
  const AsNobody nobody;
  EXPECT_THAT(why_not(AcpiMeter::open(tree.root())), HasSubstr("power1_average: Permission denied"));
}

TEST(Ipmi, the_instantaneous_reading_of_dcmi_counts) {
  EXPECT_DOUBLE_EQ(dcmi_watts(kAnswer).value(), 220);
  std::string off = kAnswer;
  off.replace(off.find("activated"), 9, "deactivated");
  EXPECT_THAT(dcmi_watts(off).error().message, HasSubstr("deactivated"));
  EXPECT_THAT(dcmi_watts("").error().message, HasSubstr("no line"));
  EXPECT_THAT(dcmi_watts("Instantaneous power reading: lots\n").error().message, HasSubstr("'lots' is no number"));
  EXPECT_THAT(dcmi_watts("Instantaneous power reading: 0 Watts\n").error().message, HasSubstr("0 W"));
}

TEST(Ipmi, its_tool_is_asked_and_its_failure_told) {
  const FakeTree tree;
  EXPECT_DOUBLE_EQ(watts_of(External::open_ipmi(tree.program("good", "echo \"$*\" >&2; cat <<E" + kAnswer + "E\n"))),
                   220);
  EXPECT_THAT(why_not(External::open_ipmi(tree.program(
                  "bad", "echo 'Could not open device at /dev/ipmi0: No such file or directory' >&2; exit 1\n"))),
              HasSubstr("ended with status 1: Could not open device at /dev/ipmi0"));
  EXPECT_THAT(why_not(External::open_ipmi(tree.path("absent"))), HasSubstr("absent cannot be started: No such file"));
}

TEST(External, a_file_holds_watts_with_or_without_their_unit) {
  const FakeTree tree;
  for (const auto& [text, watts] : {std::pair{"123.5", 123.5}, {" 80 W", 80}, {"80 Watts\n7", 80}, {"0", 0}}) {
    tree.set("pdu", text);
    EXPECT_DOUBLE_EQ(watts_of(External::open_file(tree.path("pdu"))), watts);
  }
  for (const char* text : {"", "W", "-1", "nan", "inf", "12 kW", "12,5", "1e3", "2000000"}) {
    tree.set("pdu", text);
    EXPECT_THAT(why_not(External::open_file(tree.path("pdu"))), HasSubstr("is no number of watts")) << text;
  }
  EXPECT_THAT(why_not(External::open_file(tree.path("absent"))), HasSubstr("absent: No such file"));
}

TEST(External, a_command_prints_watts) {
  EXPECT_DOUBLE_EQ(watts_of(External::open_command("echo 300 | sed s/3/4/")), 400);
  EXPECT_THAT(why_not(External::open_command("exit 3")), HasSubstr("status 3"));
  EXPECT_THAT(why_not(External::open_command("kill -9 $$")), HasSubstr("signal 9"));
  EXPECT_THAT(why_not(External::open_command("echo much")), HasSubstr("'much' is no number"));
}

TEST(RunCommand, one_that_gives_no_answer_is_ended_with_its_children) {
  const FakeTree tree;
  const std::string marks = tree.path("mark");
  EXPECT_THAT(run_command({"sh", "-c", "(sleep 2; touch " + marks + ") & sleep 60"}, 100).error().message,
              HasSubstr("no answer within 100 ms"));
  EXPECT_THAT(run_command({"sh", "-c", "exec >&- 2>&-; sleep 60"}, 100).error().message, HasSubstr("no answer"));
  ::sleep(2);
  EXPECT_FALSE(std::filesystem::exists(marks));
}

TEST(RunCommand, output_without_end_is_cut) {
  EXPECT_THAT(run_command({"sh", "-c", "yes"}, 200).error().message, HasSubstr("no answer"));
  EXPECT_EQ(run_command({"sh", "-c", "head -c 200000 /dev/zero"}, 5000).value().size(), 65536U);
}

TEST(ChooseSource, a_chosen_one_that_fails_is_an_error_even_if_another_would_do) {
  const FakeTree tree;
  tree.set("sys/class/hwmon/hwmon0", {{"name", "power_meter"}, {"power1_average", "1000000"}});
  const SensorSettings settings{.root = tree.root(), .ipmi_tool = tree.path("absent")};
  EXPECT_THAT(choose_source("rapl", settings).error().message, HasSubstr("sensor rapl: no zone intel-rapl:0"));
  EXPECT_EQ(choose_source("acpi", settings)->source->name(), "acpi");
  EXPECT_EQ(choose_source("none", settings)->source, nullptr);
  EXPECT_THAT(choose_source("watts", settings).error().message, HasSubstr("'watts' is unknown; allowed: none, auto"));
  EXPECT_FALSE(is_source_word("file:"));
  EXPECT_TRUE(is_source_word("command:x"));
}

TEST(ChooseSource, auto_takes_the_most_trusted_and_says_why_not_those_before) {
  const FakeTree tree;
  const SensorSettings settings{.root = tree.root(), .ipmi_tool = tree.path("absent")};
  const auto none = choose_source("auto", settings);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->source, nullptr);
  EXPECT_EQ(none->refused.size(), kSourceNames.size());
  tree.set("sys/class/powercap/intel-rapl:0",
           {{"name", "package-0"}, {"energy_uj", "1"}, {"max_energy_range_uj", "9"}});
  const auto rapl = choose_source("auto", settings);
  ASSERT_TRUE(rapl);
  EXPECT_EQ(rapl->source->name(), "rapl");
  ASSERT_EQ(rapl->refused.size(), 2U);
  EXPECT_EQ(rapl->refused[0].source, "acpi");
  EXPECT_THAT(rapl->refused[1].why, HasSubstr("cannot be started"));
}

}  // namespace
}  // namespace splitplane::sensor
