// Tests of machine.h on this machine, and on made-up /proc and /sys trees.
#include "cli/preflight/machine.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "control/socket.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class CheckMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    directory_ = ::mkdtemp(name);
    prefix_ = fs::path(directory_).filename().string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  AnyConfig parse(const std::string& device, const std::string& core = "0", const std::string& more = "") {
    const auto config =
        parse_any(fmt::format("file_prefix: {}\ncontrol: {}/c.sock\nports:\n  p:\n    device: {}\n"
                              "workers:\n  w:\n    function: l2fwd\n    core: {}\n    rx: p\n    tx: p\n{}",
                              prefix_, directory_, device, core, more),
                  "t.yaml");
    EXPECT_TRUE(config) << config.error().message;
    return config.value_or(AnyConfig{});
  }
  std::string error(const AnyConfig& config) {
    const auto good = check_machine(config);
    return good ? "(good)" : good.error().message;
  }
  std::string directory_, prefix_;
};

TEST_F(CheckMachine, a_device_that_needs_nothing_is_good_and_leaves_nothing) {
  EXPECT_EQ(error(parse("net_null0", "0", "memory: {megabytes: 300}\n")), "(good)");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(CheckMachine, a_missing_interface_is_named_with_its_line) {
  EXPECT_THAT(error(parse("net_af_packet0,iface=no-such-iface")),
              AllOf(StartsWith("t.yaml:5: ports.p.device: there is no interface 'no-such-iface'"),
                    HasSubstr("allowed: "), HasSubstr("lo")));
}

TEST_F(CheckMachine, a_missing_file_socket_or_pci_device_is_named) {
  EXPECT_THAT(error(parse("net_pcap0,rx_pcap=/no/such.pcap")), HasSubstr("file /no/such.pcap cannot be read"));
  EXPECT_THAT(error(parse("net_pcap0,tx_pcap=/no/such.pcap")), HasSubstr("cannot be made there"));
  EXPECT_THAT(error(parse("net_virtio_user0,path=/no/such.sock")), HasSubstr("the socket of a running vhost device"));
  EXPECT_THAT(error(parse("net_vhost0,iface=/no/such/vf.sock")), HasSubstr("cannot be made there"));
  EXPECT_THAT(error(parse("\"ffff:ff:1f.7\"")), HasSubstr("no PCI device ffff:ff:1f.7"));
}

TEST_F(CheckMachine, a_tap_needs_a_folder) {
  EXPECT_THAT(error(parse("net_null0", "0", "taps: [{port: p, file: /no/such/n3.pcapng}]\n")),
              StartsWith("t.yaml:12: taps[0].file: /no/such/n3.pcapng cannot be made there: No such file"));
}

TEST_F(CheckMachine, a_core_that_is_not_there_is_named) {
  EXPECT_THAT(error(parse("net_null0", "1023")), StartsWith("t.yaml:9: workers.w.core: core 1023 is not there"));
}

TEST_F(CheckMachine, a_live_control_socket_is_refused_a_dead_one_not) {
  const AnyConfig config = parse("net_null0", "0", "memory: {megabytes: 300}\n");
  {
    const auto live = listen_at(shared_part(config).control);
    ASSERT_TRUE(live);
    EXPECT_THAT(error(config),
                HasSubstr("t.yaml:2: control: " + shared_part(config).control + " belongs to a running instance"));
  }
  EXPECT_EQ(error(config), "(good)");
}

TEST_F(CheckMachine, a_memif_socket_is_refused_while_somebody_listens_there) {
  const std::string path = directory_ + "/memif.sock";
  const auto config =
      parse("\"net_memif0,role=server,socket-abstract=no,socket=" + path + "\"", "0", "memory: {megabytes: 300}\n");
  EXPECT_TRUE(remove_left_sockets(shared_part(config)).empty());
  {
    const Fd other(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(other.get(), 1), 0);
    EXPECT_THAT(error(config), HasSubstr("socket " + path + " belongs to a running instance"));
    EXPECT_TRUE(remove_left_sockets(shared_part(config)).empty());
  }
  EXPECT_EQ(error(config), "(good)");
  EXPECT_EQ(remove_left_sockets(shared_part(config)), std::vector{path});
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(CheckMachine, a_control_socket_in_no_directory_is_refused) {
  AnyConfig config = parse("net_null0");
  std::get<GnbConfig>(config).control = directory_ + "/none/c.sock";
  EXPECT_THAT(error(config), HasSubstr("control: directory of"));
}

TEST_F(CheckMachine, a_second_instance_is_refused) {
  const AnyConfig config = parse("net_null0");
  const auto lock = InstanceLock::acquire(prefix_);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_THAT(error(config),
              AllOf(StartsWith("t.yaml:1: file_prefix: "), HasSubstr(fmt::format("(process {})", ::getpid()))));
}

TEST_F(CheckMachine, without_hugepages_a_buffer_takes_a_page) {
  const AnyConfig config = parse("net_null0", "0", "memory: {hugepages: auto, megabytes: 200, mbufs: 65535}\n");
  EXPECT_FALSE(check_memory(config, {true, 200, 8000}));
  const auto finding = check_memory(config, {true, 199, 8000});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->key, "memory.megabytes");
  EXPECT_THAT(finding->text, HasSubstr("is 200, but without hugepages the buffers of 1 port(s) take 255 MB"));
}

TEST_F(CheckMachine, hugepages_that_are_required_must_be_free) {
  const AnyConfig config = parse("net_null0", "0", "memory: {hugepages: require, megabytes: 512}\n");
  EXPECT_THAT(check_memory(config, {false, 0, 8000})->text, HasSubstr("no hugetlbfs is mounted"));
  EXPECT_THAT(check_memory(config, {true, 510, 8000})->text, HasSubstr("510 MB of hugepages are free"));
  EXPECT_FALSE(check_memory(config, {true, 512, 0}));
}

TEST_F(CheckMachine, without_hugepages_the_memory_must_be_available) {
  const AnyConfig config = parse("net_null0", "0", "memory: {hugepages: auto, megabytes: 512}\n");
  EXPECT_FALSE(check_memory(config, {true, 512, 0}));
  EXPECT_FALSE(check_memory(config, {false, 0, 512}));
  EXPECT_THAT(check_memory(config, {true, 511, 511})->text, HasSubstr("511 MB are available"));
}

TEST_F(CheckMachine, what_generator_and_sink_keep_of_flows_must_fit) {
  const auto refused = [](const std::string& sections, std::size_t available) {
    const auto config =
        parse_any("ports: {p: {device: net_null0}}\nmemory: {megabytes: 100, mbufs: 8191}\n" + sections, "t");
    EXPECT_TRUE(config) << config.error().message;
    const auto finding = config ? check_memory(*config, {false, 0, available}) : std::nullopt;
    return finding ? finding->key + ": " + finding->text : "(good)";
  };
  const std::string sink = "sink: {port: p, flows: 16777216, window: 65536}\n";
  EXPECT_THAT(refused(sink, 8000),
              HasSubstr("sink.flows: 16777216 flows with a window of 65536 take 131712 MB, but 7900 MB"));
  EXPECT_EQ(refused(sink, 131812), "(good)");
  const std::string gen =
      "gen: {port: p, rate: 1, gnb_ipv4: 10.0.0.1, bearers: [{id: 1, count: 1000000, upf: 10.0.0.2, "
      "ue_ipv4: 10.0.0.3}]}\n";
  EXPECT_THAT(refused(gen, 200), HasSubstr("gen.bearers: has 1000000 bearers"));
  EXPECT_EQ(refused(gen, 2000), "(good)");
  // The generator's flows are what its sink keeps.
  EXPECT_EQ(refused(gen + "sink: {port: p, flows: 16777216}\n", 2000), "(good)");
  EXPECT_THAT(refused(gen + "sink: {port: p, window: 65536}\n", 2000), HasSubstr("sink.window: 1000000 flows"));
}

TEST_F(CheckMachine, a_replay_that_is_not_there_and_a_log_that_cannot_be_written_are_named) {
  const auto refused = [&](const std::string& sections) {
    const auto config =
        parse_any(fmt::format("file_prefix: {}\nports: {{p: {{device: net_null0}}}}\nmemory: {{megabytes: 100, "
                              "mbufs: 8191}}\n{}",
                              prefix_, sections),
                  "t.yaml");
    EXPECT_TRUE(config) << config.error().message;
    return error(config.value_or(AnyConfig{}));
  };
  EXPECT_THAT(
      refused("gen: {port: p, replay: /no/such.pcap}\n"),
      StartsWith("t.yaml:4: gen.replay: file /no/such.pcap cannot be read: No such file or directory; allowed: "));
  EXPECT_THAT(refused("gen: {port: p, replay: /tmp}\n"), HasSubstr("is a directory"));
  EXPECT_THAT(refused("sink: {port: p, hlog: /no/such/x}\n"),
              StartsWith("t.yaml:4: sink.hlog: /no/such/x: No such file"));
  EXPECT_THAT(refused("sink: {port: p, hlog: /tmp}\n"), HasSubstr("sink.hlog: /tmp is a directory; allowed: a file"));
}

TEST_F(CheckMachine, the_ends_of_nfapi_and_the_capture_of_a_phy_are_possible_here) {
  if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: a TUN device needs root, and is looked at first";
  PhyProgramConfig config;
  config.file_prefix = prefix_;
  config.control = directory_ + "/p.sock";
  config.memory = {.megabytes = 100, .mbufs = 8191};
  config.phy.local = *IpAddress::parse("127.98.0.1");
  const std::string good = error(config);
  if (good.find("ue.tun") != std::string::npos) GTEST_SKIP() << "NOT TESTED: " << good;
  EXPECT_EQ(good, "(good)");
  EXPECT_EQ(error(config), "(good)") << "nothing stays open";
  config.phy.capture = BlockCaptureConfig{.file = "/no/such/x.pcapng"};
  EXPECT_THAT(error(config), HasSubstr("phy.capture.file: /no/such/x.pcapng cannot be made there"));
  config.phy.capture.reset();
  config.phy.local = *IpAddress::parse("198.51.100.1");
  EXPECT_THAT(error(config), HasSubstr("phy.local_p5_port: UDP 198.51.100.1:7701 cannot be bound"));
}

TEST_F(CheckMachine, the_tables_of_a_guard_fit_the_memory_and_its_state_file_can_be_made) {
  GuardConfig config;
  config.file_prefix = prefix_;
  config.control = directory_ + "/g.sock";
  config.memory = {.hugepages = MemoryConfig::Hugepages::kNever, .megabytes = 100, .mbufs = 4095};
  config.ports = {{.name = "a", .device = "net_null0"}, {.name = "b", .device = "net_null1"}};
  config.client = "a";
  config.server = "b";
  EXPECT_EQ(error(config), "(good)");
  config.state_file = "/no/such/x.state";
  EXPECT_THAT(error(config), HasSubstr("guard.state_file: /no/such/x.state cannot be made there"));
  config.state_file.clear();
  config.workers.front().core = 1023;
  EXPECT_THAT(error(config), HasSubstr("guard.core: core 1023 is not there"));
  config.workers.front().core = 0;
  config.sources.entries = 1U << 26;
  config.workers.resize(16);
  const auto finding = check_memory(config, {.available_megabytes = 16000});
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->key, "guard.sources.entries");
  EXPECT_THAT(finding->text, HasSubstr("but 15900 MB are available; allowed: fewer entries"));
}

TEST_F(CheckMachine, a_file_of_keys_is_read_for_both_programs) {
  const std::string path = directory_ + "/keys";
  AnyConfig gnb = parse("net_null0", "0", "key_file: " + path + "\nmemory: {megabytes: 300}\n");
  EXPECT_EQ(error(gnb), "t.yaml:12: key_file: key file " + path + ": No such file or directory");
  std::ofstream(path) << "1 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f\n";
  fs::permissions(path, fs::perms{0640});
  EXPECT_THAT(error(gnb), HasSubstr("may be read by others than its owner; allowed: mode 0600 or 0400"));
  fs::permissions(path, fs::perms{0600});
  EXPECT_EQ(error(gnb), "(good)");
  UeConfig ue;
  ue.file_prefix = prefix_;
  ue.control = directory_ + "/u.sock";
  ue.key_file = path + "2";
  EXPECT_THAT(error(ue), AnyOf(HasSubstr("ue.key_file: key file " + path + "2: No such file"), HasSubstr("ue.tun")));
}

TEST_F(CheckMachine, memory_state_sums_all_page_sizes) {
  fs::create_directories(directory_ + "/sys/kernel/mm/hugepages/hugepages-2048kB");
  fs::create_directories(directory_ + "/sys/kernel/mm/hugepages/hugepages-1048576kB");
  fs::create_directories(directory_ + "/proc");
  std::ofstream(directory_ + "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") << "3\n";
  std::ofstream(directory_ + "/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages") << "2\n";
  std::ofstream(directory_ + "/proc/meminfo") << "MemTotal: 9 kB\nMemAvailable:    2048000 kB\n";
  std::ofstream(directory_ + "/proc/mounts") << "proc /proc proc rw 0 0\nnodev /dev/hugepages hugetlbfs rw 0 0\n";
  const auto state = read_memory_state(directory_ + "/proc", directory_ + "/sys");
  EXPECT_TRUE(state.hugetlbfs_mounted);
  EXPECT_EQ(state.free_hugepage_megabytes, 2054U);
  EXPECT_EQ(state.available_megabytes, 2000U);
}

}  // namespace
}  // namespace splitplane::app
