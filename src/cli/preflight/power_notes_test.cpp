// What `check` says of a machine that leaves a power policy without frequencies or interrupts.
#include "cli/preflight/power_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnb/config/read.h"
#include "power/governor/test_sysfs.h"

namespace splitplane::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> notes(const std::string& device, const std::string& policy, const std::string& sysfs,
                               const std::string& more = "") {
  const auto config =
      Document::parse("sysfs_root: " + sysfs + "\nports: {p: {device: '" + device +
                          "'}}\nworkers: {w: {function: l2fwd, core: 3, rx: p, tx: p, policy: " + policy + "}}\n" +
                          more,
                      "t.yaml")
          .and_then(read_gnb);
  if (config) return power_notes(*config);
  ADD_FAILURE() << config.error().message;
  return {};
}

TEST(ConfigNotes, a_machine_without_cpufreq_and_a_port_without_interrupts_are_said) {
  EXPECT_THAT(notes("net_memif0,role=client", "budget", "/no/such/sysfs"),
              ElementsAre(StartsWith("worker w: policy budget: its core's frequency stays as it is: "),
                          "worker w: policy budget: no interrupt from port p: it sleeps for short times only"));
  EXPECT_THAT(notes("net_null0", "paper", "/no/such/sysfs")[1], HasSubstr("port p: it never sleeps"));
}

TEST(ConfigNotes, where_nothing_is_missing_or_the_policy_needs_neither_there_is_none) {
  const governor::FakeCore core;
  core.make_acpi();
  const std::string sysfs = core.settings().root;
  EXPECT_THAT(notes("net_vhost0,iface=no.sock", "budget", sysfs), IsEmpty());
  EXPECT_THAT(notes("net_null0", "budget", sysfs).size(), 1U);
  EXPECT_THAT(notes("net_null0", "busy", "/no/such/sysfs"), IsEmpty());
  EXPECT_THAT(notes("net_null0", "yield", "/no/such/sysfs"), IsEmpty());
}

TEST(ConfigNotes, a_sensor_or_a_profile_that_is_not_there_is_said_beforehand) {
  const auto said = [](const std::string& power) {
    return notes("net_null0", "paper", "/no/such/sysfs", "power: {governor: none, " + power + "}\n");
  };
  EXPECT_THAT(said("sensor: rapl")[0], HasSubstr("sensor rapl: no zone intel-rapl:0"));
  EXPECT_THAT(said("sensor: rapl")[0], HasSubstr("so it would not start"));
  EXPECT_THAT(said("profile: /no/such.yaml")[0], HasSubstr("/no/such.yaml"));
  EXPECT_EQ(said("sensor: 'command:exit 3'").size(), 1U) << "the port's only: no command is run, no frequency is set";
}

}  // namespace
}  // namespace splitplane::app
