#include "cli/cli.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "control/server.h"
#include "ran/control/test_bearers.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out, err;
};

std::optional<RunOptions> seen_options;
GnbConfig seen_config;

int record(const GnbConfig& config, const RunOptions& options) {
  seen_config = config;
  seen_options = options;
  return 0;
}

Outcome run(std::vector<const char*> args) {
  args.insert(args.begin(), "splitplane");
  std::ostringstream out, err;
  const int code = cli_main(static_cast<int>(args.size()), args.data(), {.run = record}, out, err);
  return {code, out.str(), err.str()};
}

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    directory_ = ::mkdtemp(name);
    file_ = directory_ + "/c.yaml";
    socket_ = directory_ + "/c.sock";
    std::ofstream(file_) << "file_prefix: " << std::filesystem::path(directory_).filename().string()
                         << "\ncontrol: " << socket_
                         << "\nmemory: {megabytes: 300}\nports: {p: {device: net_null0}}\n"
                            "workers: {w: {function: l2fwd, core: 0, rx: p, tx: p}}\n";
    seen_options.reset();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void start_server() {
    MethodRegistry methods([] {});
    bearers_.add_methods(methods);
    methods.add("stats", without_params([this]() -> Expected<Json> {
                  return Json{{"totals", {{"bearers", bearers_.size()}, {"balanced", true}}}};
                }));
    auto server = ControlServer::start({socket_}, answers_of(std::move(methods)));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  std::string directory_, file_, socket_;
  MemoryBearers bearers_;
  std::unique_ptr<ControlServer> server_;
};

TEST_F(Cli, every_help_ends_with_an_example) {
  for (std::vector<const char*> args : std::vector<std::vector<const char*>>{{},
                                                                             {"run"},
                                                                             {"ue"},
                                                                             {"phy"},
                                                                             {"guard"},
                                                                             {"gen"},
                                                                             {"sink"},
                                                                             {"check"},
                                                                             {"ctl"},
                                                                             {"ctl", "bearer"},
                                                                             {"ctl", "bearer", "add"},
                                                                             {"ctl", "bearer", "modify"},
                                                                             {"ctl", "bearer", "release"},
                                                                             {"ctl", "bearer", "list"},
                                                                             {"ctl", "bearer", "show"},
                                                                             {"ctl", "guard"},
                                                                             {"ctl", "guard", "show"},
                                                                             {"ctl", "guard", "set"},
                                                                             {"ctl", "guard", "add"},
                                                                             {"ctl", "guard", "remove"},
                                                                             {"ctl", "guard", "source"},
                                                                             {"ctl", "guard", "flows"},
                                                                             {"ctl", "guard", "rotate"},
                                                                             {"ctl", "guard", "events"},
                                                                             {"ctl", "stats"},
                                                                             {"ctl", "stop"},
                                                                             {"ctl", "ping"},
                                                                             {"power"},
                                                                             {"power", "replay"},
                                                                             {"power", "tune"},
                                                                             {"gpu"},
                                                                             {"gpu", "info"},
                                                                             {"gpu", "run"},
                                                                             {"gpu", "bench"}}) {
    args.push_back("--help");
    const Outcome o = run(args);
    EXPECT_EQ(o.code, 0);
    EXPECT_THAT(o.out, HasSubstr("\nExample:\n  splitplane ")) << o.out;
    EXPECT_GT(o.out.find("\nExample:"), o.out.find("Usage:"));
  }
}

TEST_F(Cli, bad_usage_is_one_line_and_code_2) {
  for (std::vector<const char*> args : std::vector<std::vector<const char*>>{
           {},
           {"rnu"},
           {"run"},
           {"run", "a", "b"},
           {"run", "a", "--duratoin", "3"},
           {"run", "a", "--duration", "0"},
           {"run", "a", "--duration", "nan"},
           {"run", "a", "--duration", "x"},
           {"run", "a", "--log-level", "loud"},
           {"gen"},
           {"sink"},
           {"gen", "a", "--self-test"},
           {"gen", "--self-test", "--rate", "5"},
           {"gen", "--self-test", "--packets", "5"},
           {"gen", "--self-test", "--strict"},
           {"gen", "--self-test", "--sink"},
           {"gen", "--self-test", "--json", "/no/such/dir/x"},
           {"gen", "a", "--rate", "0"},
           {"sink", "a", "--rate", "1"},
           {"check"},
           {"ctl"},
           {"ctl", "bearer"},
           {"ctl", "bearer", "add"},
           {"ctl", "bearer", "shwo"},
           {"ctl", "bearer", "show", "x"},
           {"ctl", "bearer", "list", "--limit", "0"},
           {"ctl", "--socket", "a", "--prefix", "b", "ping"},
           {"ctl", "bearer", "release"},
           {"ctl", "bearer", "add", "--upf", "nowhere", "--ul-teid", "1"},
           {"ctl", "bearer", "add", "--upf", "10.0.0.1", "--ul-teid", "0"},
           {"ctl", "bearer", "add", "--upf", "10.0.0.1", "--ul-teid", "1", "--rlc", "am19"},
           {"ctl", "bearer", "modify", "1"},
           {"ctl", "bearer", "modify", "1", "--qfi", "64"},
           {"ctl", "--config", "/no/such", "ping"},
           {"power"},
           {"power", "replya"},
           {"power", "replay", "--rate", "0"},
           {"power", "replay", "--arrivals", "gauss"},
           {"power", "replay", "--policy", "best"},
           {"power", "replay", "--set", "paper.long_idle_polls=0"},
           {"power", "replay", "--set", "paper.polls=1"},
           {"power", "replay", "--set", "paper.long_idle_polls"},
           {"power", "replay", "--cost", "c7_exit=5"},
           {"power", "replay", "--cost", "c6_exit=-5"},
           {"power", "replay", "--arrivals", "tdd", "--pattern", "UU"},
           {"power", "replay", "/no/such.pcap"},
           {"power", "tune", "--tolerance-packets", "x"},
           {"gpu"},
           {"gpu", "run", "--rings", "65"},
           {"gpu", "run", "--size", "63"},
           {"gpu", "run", "--rate", "-1"},
           {"gpu", "run", "--function", "ecoh"},
           {"gpu", "run", "--pcap-out", "a"},
           {"gpu", "run", "--port", "net_null0", "--pcap-in", "a"},
           {"gpu", "run", "--pcap-in", "a", "--restore-order"},
           {"gpu", "run", "--nic", "3b:00.0"},
           {"gpu", "run", "--nic", "0000:3b:00.0", "--port", "net_null0"},
           {"gpu", "run", "--nic", "0000:3b:00.0", "--pcap-in", "a"},
           {"gpu", "run", "--nic", "0000:3b:00.0", "--restore-order"},
           {"gpu", "run", "--nic", "0000:3b:00.0", "--window", "8"},
           {"gpu", "run", "--nic", "0000:3b:00.0", "--rings", "17"},
           {"gpu", "run", "--gpu", "--nic", "0000:3b:00.0"},
           {"gpu", "run", "--gpu", "--pcap-in", "a"},
           {"gpu", "run", "--gpu", "--threads"},
           {"gpu", "run", "--gpu-mode", "gpu-e3"},
           {"gpu", "run", "--gpu", "--gpu-mode", "gpu-e4"},
           {"gpu", "bench", "--mode", "warp"},
           {"gpu", "bench", "--matrix", "--rings", "2"},
           {"gpu", "bench", "--mode", "gpu-e4", "--rate", "1"},
           {"gpu", "bench", "--mode", "staging", "--batch", "256"},
           {"gpu", "bench", "--json", "/no/such/dir/x"},
           {"run", "a\nb", "c\nd"}}) {
    const Outcome o = run(args);
    const std::string last = args.empty() ? "" : args.back();
    EXPECT_EQ(o.code, 2) << last << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_EQ(o.out, "");
  }
  EXPECT_THAT(run({"rnu"}).err, HasSubstr("unknown command 'rnu', did you mean 'run'?"));
  EXPECT_THAT(run({"ctl", "bearer", "lst"}).err, HasSubstr("unknown command 'lst', did you mean 'list'?"));
  EXPECT_THAT(run({"run", "a", "--duratoin", "3"}).err, HasSubstr("did you mean '--duration'?"));
}

TEST_F(Cli, run_hands_on_configuration_and_options_and_leaves_nothing) {
  const std::string stats = directory_ + "/stats.json";
  const Outcome o = run(
      {"run", file_.c_str(), "--duration", "2.5", "--fresh", "--stats-json", stats.c_str(), "--log-level", "error"});
  EXPECT_EQ(o.code, 0) << o.err;
  ASSERT_TRUE(seen_options);
  EXPECT_EQ(seen_options->duration_s, 2.5);
  EXPECT_TRUE(seen_options->fresh);
  EXPECT_TRUE(seen_config.journal.starts_with('/'));
  EXPECT_EQ(seen_options->stats_json, stats);
  EXPECT_EQ(seen_config.control, socket_);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 1U);
}

TEST_F(Cli, run_refuses_before_it_starts) {
  EXPECT_EQ(run({"run", "/no/such.yaml"}).code, 2);
  EXPECT_EQ(run({"ue", file_.c_str()}).code, 2);
  EXPECT_THAT(run({"ue", file_.c_str()}).err, HasSubstr("is a file for `splitplane run`"));
  EXPECT_THAT(run({"run", file_.c_str(), "--stats-json", "/no/such/dir/x"}).err,
              StartsWith("splitplane run: --stats-json: "));
  start_server();  // a live control socket
  const Outcome o = run({"run", file_.c_str()});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("c.yaml:2: control: "));
  EXPECT_FALSE(seen_options);
}

TEST_F(Cli, strict_without_a_sink_is_refused) {
  std::ofstream(file_)
      << "memory: {megabytes: 200}\nports: {p: {device: net_null0}}\n"
         "gen: {port: p, rate: 1, gnb_ipv4: 10.0.0.1, bearers: [{id: 1, upf: 10.0.0.2, ue_ipv4: 10.0.0.3}]}\n";
  const Outcome o = run({"gen", file_.c_str(), "--strict"});
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("has no sink that could tell; allowed: "));
}

TEST_F(Cli, check_says_good_or_what_is_wrong) {
  const Outcome good = run({"check", file_.c_str()});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("good for `splitplane run`: 1 port, 1 worker\n"));
  EXPECT_EQ(nlohmann::json::parse(run({"check", file_.c_str(), "--json"}).out)["ports"], 1);
  std::ofstream(file_, std::ios::app) << "bearer: []\n";
  const Outcome bad = run({"check", file_.c_str()});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("c.yaml:6: bearer: unknown key, did you mean 'bearers'?; allowed: "));
}

TEST_F(Cli, ctl_without_an_instance_is_one_line_and_code_1) {
  const Outcome o = run({"ctl", "--socket", socket_.c_str(), "ping"});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, StartsWith("splitplane ctl: nothing runs at control socket " + socket_ + "; "));
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << "and who runs";
}

TEST_F(Cli, ctl_adds_shows_changes_lists_and_releases) {
  start_server();
  const char* s = socket_.c_str();
  const Outcome added =
      run({"ctl",          "--socket",  s,           "--json",  "bearer", "add",  "--upf",     "10.0.0.1",
           "--ul-teid",    "0x10",      "--count",   "3",       "--rlc",  "um12", "--pdcp-sn", "12",
           "--no-sdap-ul", "--ue-ipv4", "10.45.0.2", "--shard", "7"});
  ASSERT_EQ(added.code, 0) << added.err;
  const auto first = nlohmann::json::parse(added.out)["first"];
  EXPECT_EQ(first["ul_teid"], 16);
  EXPECT_EQ(first["shard"], 7);
  EXPECT_EQ(first["sdap"]["ul"], false);
  const std::string id = std::to_string(first["id"].get<std::uint32_t>());
  const std::string hex = fmt::format("{:#x}", first["id"].get<std::uint32_t>());

  EXPECT_EQ(run({"ctl", "--socket", s, "bearer", "modify", hex.c_str(), "--qfi", "33"}).code, 0);
  const Outcome shown = run({"ctl", "--socket", s, "bearer", "show", id.c_str(), "--json"});
  EXPECT_EQ(nlohmann::json::parse(shown.out)["qfi"], 33);

  const Outcome listed = run({"ctl", "--config", file_.c_str(), "bearer", "list", "--limit", "2"});
  EXPECT_THAT(listed.out, HasSubstr("0x00000010"));
  EXPECT_THAT(listed.out, HasSubstr("there may be more: --after 0x"));
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 4);

  const Outcome released = run({"ctl", "--socket", s, "bearer", "release", id.c_str(), hex.c_str()});
  EXPECT_EQ(released.code, 0) << released.err;
  EXPECT_THAT(released.out, HasSubstr("released\n"));
  EXPECT_THAT(released.out, HasSubstr("was not there\n"));
  const Outcome gone = run({"ctl", "--socket", s, "bearer", "show", id.c_str()});
  EXPECT_EQ(gone.code, 2) << "bad input, and not how it went";
  EXPECT_THAT(gone.err, HasSubstr("there is no bearer"));
  EXPECT_THAT(run({"ctl", "--socket", s, "stats"}).out, HasSubstr("balanced"));
  EXPECT_EQ(run({"ctl", "--socket", s, "stop"}).out, "stopping\n");
  EXPECT_THAT(run({"ctl", "--socket", s, "ping"}).out, HasSubstr(fmt::format("process {}", ::getpid())));
}

}  // namespace
}  // namespace splitplane::app
