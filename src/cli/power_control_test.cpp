// The commands that show and switch policies, against a control socket whose worker is in memory.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/cli.h"
#include "cli/power/control.h"
#include "control/params.h"
#include "control/server.h"
#include "runtime/test_power.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;

struct ControlOutcome {
  int code = -1;
  std::string out, err;
};

ControlOutcome power(std::vector<std::string> words) {
  words.insert(words.begin(), {"splitplane", "power"});
  std::vector<const char*> args;
  for (const auto& word : words) args.push_back(word.c_str());
  std::ostringstream out, err;
  const int code = cli_main(static_cast<int>(args.size()), args.data(), {}, out, err);
  return {code, out.str(), err.str()};
}

class PowerControl : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "splitplane-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    file_ = directory_ + "/c.yaml";
    std::ofstream(file_) << "control: " << directory_ << "/c.sock\n"
                         << "ports: {p: {device: net_null0}}\n"
                            "workers: {w0: {function: l2fwd, core: 0, rx: p, tx: p}}\n";
    MethodRegistry methods([] {});
    program_.add_methods(methods);
    auto server = ControlServer::start({directory_ + "/c.sock"}, answers_of(std::move(methods)));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::string directory_, file_;
  MemoryPower program_;
  std::unique_ptr<ControlServer> server_;
};

TEST_F(PowerControl, set_gives_a_worker_a_policy_with_the_settings_that_were_named) {
  const ControlOutcome o = power({"set", file_, "w0", "budget", "--set", "latency_us=20", "--set", "spin_us=0"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "w0: budget, dwell_ms 100, latency_us 20, max_sleep_ms 10, spin_us 0, utilisation 0.85\n");
  EXPECT_EQ(program_.power.kind, power::Kind::budget);
  EXPECT_EQ(program_.power.budget.latency_us, 20U);
  EXPECT_EQ(program_.power.budget.spin_us, 0U);
}

TEST_F(PowerControl, status_shows_shares_of_the_time_between_two_looks) {
  program_.asleep_cycles = 3000;
  const ControlOutcome o = power({"status", file_, "--over", "0.01"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("yield, empty_rounds 64"));
  EXPECT_THAT(o.out, HasSubstr("60.0%"));
  const Json json = Json::parse(power({"status", file_, "--json", "--over", "0"}).out);
  EXPECT_DOUBLE_EQ(json["workers"][0]["share"]["asleep"], 0.6);
}

TEST_F(PowerControl, what_does_not_fit_is_one_line_and_reaches_no_worker) {
  for (const auto& [words, code, says] : std::vector<std::tuple<std::vector<std::string>, int, const char*>>{
           {{"set", file_, "w0", "budgte"}, 2, "did you mean 'budget'?"},
           {{"set", file_, "w0", "budget", "--set", "latency_us=0"}, 2, "allowed: an integer from 1 to 100000"},
           {{"set", file_, "w0", "busy", "--set", "x=1"}, 2, "no setting of policy busy"},
           {{"set", file_, "w0", "paper", "--set", "max_packets=64"}, 2, "allowed: more than climb_packets"},
           {{"set", file_, "w0"}, 2, "policy 'w0' is unknown"},
           {{"set", "w0"}, 2, "KIND"},
           {{"set", file_, "w0", "busy", "-i", "other"}, 2, "allowed: one of them"},
           {{"set", "no-such.yaml", "w0", "busy"}, 2, "cannot be read"},
           {{"set", file_, "w9", "busy"}, 2, "there is no 'w9'; allowed: w0"},
           {{"status", "--prefix", "no-such-instance"}, 1, "nothing runs"}}) {
    const ControlOutcome o = power(words);
    EXPECT_EQ(o.code, code) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_THAT(o.err, HasSubstr(says));
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(program_.power_of, "");
  }
}

TEST_F(PowerControl, every_help_ends_with_an_example) {
  for (const char* command : {"status", "set", "restore", "kinds"}) {
    const ControlOutcome o = power({command, "--help"});
    EXPECT_EQ(o.code, 0);
    EXPECT_THAT(o.out, HasSubstr("\nExample:\n  splitplane power ")) << command;
  }
}

}  // namespace
}  // namespace splitplane::app
