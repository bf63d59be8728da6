#include "cli/preflight/machine.h"

#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/paths.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "card/config/check.h"
#include "card/control/spec.h"
#include "control/socket.h"
#include "crypto/key_file.h"
#include "gnb/config/check.h"
#include "guard/config/read.h"
#include "observe/metrics_server.h"
#include "phy/config/read.h"
#include "phy/link/datagram_socket.h"
#include "runtime/config/check.h"
#include "runtime/config/device.h"
#include "runtime/instance_lock.h"
#include "traffic/config/check.h"
#include "traffic/flow_checker.h"
#include "traffic/packet_maker.h"
#include "ue/config/read.h"

namespace splitplane::app {
namespace {

bool has_capability(unsigned capability) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapEff:")) return (std::stoull(line.substr(7), nullptr, 16) >> capability & 1) != 0;
  }
  return false;
}

std::optional<std::string> missing_capability(const Device& device) {
  const bool net_admin = has_capability(CAP_NET_ADMIN);
  const bool net_raw = has_capability(CAP_NET_RAW);
  switch (device.driver) {
    case Driver::kAfPacket:
      if (!net_raw || !net_admin) return "net_af_packet needs CAP_NET_RAW and CAP_NET_ADMIN";
      break;
    case Driver::kAfXdp:
      if (!net_raw || !net_admin || !(has_capability(CAP_SYS_ADMIN) || has_capability(39 /* CAP_BPF */))) {
        return "net_af_xdp needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF";
      }
      break;
    case Driver::kTap:
      if (!net_admin) return "net_tap needs CAP_NET_ADMIN";
      break;
    case Driver::kPcap:
      if (!net_raw && (device.count("iface") || device.count("rx_iface") || device.count("tx_iface") ||
                       device.count("rx_iface_in"))) {
        return "net_pcap on an interface needs CAP_NET_RAW";
      }
      break;
    case Driver::kPci:
      if (!has_capability(CAP_SYS_ADMIN)) return "a PCI device needs CAP_SYS_ADMIN";
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::string interfaces_here() {
  std::vector<std::string> names;
  struct if_nameindex* all = ::if_nameindex();
  for (struct if_nameindex* i = all; i != nullptr && i->if_index != 0; ++i) names.emplace_back(i->if_name);
  if (all != nullptr) ::if_freenameindex(all);
  return fmt::format("{}", fmt::join(names, ", "));
}

struct ListeningSocket {
  std::string path;
  int type = SOCK_STREAM;
};

// The socket file that the device makes and listens on.
std::optional<ListeningSocket> listening_socket(const Device& device) {
  switch (device.driver) {
    case Driver::kMemif:
      if (device.arg("role") != "server" || device.arg("socket-abstract") != "no") return std::nullopt;
      return ListeningSocket{device.arg("socket").value_or("/run/memif.sock"), SOCK_SEQPACKET};
    case Driver::kVhost:
      if (device.arg("client").value_or("0") != "0") return std::nullopt;
      return ListeningSocket{device.arg("iface").value_or("")};
    case Driver::kVirtioUser:
      if (device.arg("server").value_or("0") != "1") return std::nullopt;
      return ListeningSocket{device.arg("path").value_or("")};
    default:
      return std::nullopt;
  }
}

// Interfaces and files that the device's arguments name.
std::optional<std::string> missing_thing(const Device& device) {
  const bool kernel =
      device.driver == Driver::kAfPacket || device.driver == Driver::kAfXdp || device.driver == Driver::kPcap;
  for (const auto& [key, value] : device.args) {
    const bool interface = kernel && (key == "iface" || key == "rx_iface" || key == "tx_iface" || key == "rx_iface_in");
    if (interface && ::if_nametoindex(value.c_str()) == 0) {
      return fmt::format("there is no interface '{}' in this network namespace; allowed: {}", printable(value),
                         interfaces_here());
    }
    if (device.driver == Driver::kPcap && key == "rx_pcap" && ::access(value.c_str(), R_OK) != 0) {
      return fmt::format("file {} cannot be read: {}; allowed: a pcap file", printable(value, 120),
                         std::strerror(errno));
    }
    const bool parent =
        (device.driver == Driver::kPcap && key == "tx_pcap") || (device.driver == Driver::kVhost && key == "iface");
    const std::string directory = std::filesystem::path(value).parent_path().string();
    const bool ours = directory == runtime_directory();  // made before anything starts
    if (parent && !ours && ::access(directory.empty() ? "." : directory.c_str(), W_OK) != 0) {
      return fmt::format("{} cannot be made there: {}; allowed: a path in a directory we may write",
                         printable(value, 120), std::strerror(errno));
    }
    const bool server = device.arg("server").value_or("0") == "1";
    if (device.driver == Driver::kVirtioUser && key == "path" && !server && ::access(value.c_str(), F_OK) != 0) {
      return fmt::format("{}: {}; allowed: the socket of a running vhost device", printable(value, 120),
                         std::strerror(errno));
    }
  }
  if (const auto socket = listening_socket(device)) {
    if (const auto refused = refuse_socket_path(socket->path, socket->type)) return "socket " + *refused;
  }
  if (device.driver == Driver::kPci && ::access(("/sys/bus/pci/devices/" + device.name).c_str(), F_OK) != 0) {
    return fmt::format("there is no PCI device {}; allowed: an address that lspci -D shows", device.name);
  }
  if (device.driver == Driver::kTap && ::access("/dev/net/tun", R_OK | W_OK) != 0) {
    return fmt::format("/dev/net/tun: {}; allowed: a kernel with the TUN driver", std::strerror(errno));
  }
  return std::nullopt;
}

// 0 if it cannot be read.
unsigned interface_mtu(const std::string& name) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return 0;
  struct ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const int status = ::ioctl(socket, SIOCGIFMTU, &request);
  ::close(socket);
  return status == 0 ? static_cast<unsigned>(request.ifr_mtu) : 0;
}

// The kernel drops what is longer than its interface's MTU, and the driver counts it as sent.
std::optional<Finding> interface_too_small(const PortConfig& port, const Device& device) {
  const bool kernel = device.driver == Driver::kAfPacket || device.driver == Driver::kAfXdp;
  const auto interface = device.arg("iface");
  if (!kernel || !interface) return std::nullopt;
  const unsigned mtu = interface_mtu(*interface);
  if (mtu == 0 || mtu >= port.mtu) return std::nullopt;
  return Finding{
      fmt::format("ports.{}.mtu", port.name),
      fmt::format("is {}, but interface {} has {}; allowed: at most that, or a larger one there (ip link set "
                  "{} mtu {})",
                  port.mtu, *interface, mtu, *interface, port.mtu)};
}

std::optional<Finding> check_ports(const AnyConfig& config) {
  const bool card = std::holds_alternative<CardConfig>(config);
  for (const auto& port : shared_part(config).ports) {
    const auto device = parse_device(port.device);
    const std::string key = fmt::format("ports.{}.device", port.name);
    if (!device) return Finding{key, device.error().message};
    // A card waits for its host, and connects to it when it is there.
    const bool vf = card && device->driver == Driver::kVirtioUser;
    if (const auto missing = vf ? std::nullopt : missing_thing(*device)) return Finding{key, *missing};
    if (const auto missing = missing_capability(*device)) return Finding{key, *missing + "; allowed: run as root"};
    if (auto finding = interface_too_small(port, *device)) return finding;
  }
  const bool tun = std::holds_alternative<UeConfig>(config) || std::holds_alternative<PhyProgramConfig>(config);
  if (tun && (!has_capability(CAP_NET_ADMIN) || ::access("/dev/net/tun", R_OK | W_OK) != 0)) {
    return Finding{"ue.tun", "a TUN device needs CAP_NET_ADMIN and /dev/net/tun; allowed: run as root"};
  }
  return std::nullopt;
}

std::optional<Finding> check_core(const std::string& key, unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0 || (core < CPU_SETSIZE && CPU_ISSET(core, &set)))
    return std::nullopt;
  std::vector<int> usable;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) usable.push_back(i);
  }
  return Finding{key, fmt::format("core {} is not there for this process; allowed: {}", core, fmt::join(usable, ", "))};
}

// The CPUs of a program's loops.
std::optional<Finding> check_loops(const GnbConfig& config) {
  for (const auto& worker : config.workers) {
    if (auto finding = check_core(fmt::format("workers.{}.core", worker.name), worker.core)) return finding;
  }
  return std::nullopt;
}
std::optional<Finding> check_loops(const UeConfig& config) {
  return check_core("ue.core", config.core);
}
std::optional<Finding> check_loops(const PhyProgramConfig& config) {
  return check_core("phy.core", config.phy.core);
}
std::optional<Finding> check_loops(const CardConfig& card) {
  for (std::size_t i = 0; i < card.cores.size(); ++i) {
    const bool one = card.cores.size() == 1;
    if (auto finding = check_core(one ? "card.core" : fmt::format("card.cores[{}]", i), card.cores[i])) return finding;
  }
  return std::nullopt;
}
std::optional<Finding> check_loops(const GuardConfig& config) {
  for (std::size_t i = 0; i < config.workers.size(); ++i) {
    const bool one = config.workers.size() == 1;
    const std::string key = one ? "guard.core" : fmt::format("guard.workers[{}].core", i);
    if (auto finding = check_core(key, config.workers[i].core)) return finding;
  }
  return std::nullopt;
}
std::optional<Finding> check_loops(const TrafficConfig& config) {
  if (config.gen) {
    if (auto finding = check_core("gen.core", config.gen->core)) return finding;
  }
  return config.sink ? check_core("sink.core", config.sink->core) : std::nullopt;
}

std::optional<Finding> check_cores(const AnyConfig& config) {
  return std::visit([](const auto& one) { return check_loops(one); }, config);
}

std::optional<Finding> check_new_file(const std::string& key, const std::string& file) {
  const std::string directory = std::filesystem::path(file).parent_path().string();
  if (directory == runtime_directory() || ::access(directory.empty() ? "." : directory.c_str(), W_OK | X_OK) == 0)
    return std::nullopt;
  return Finding{key, fmt::format("{} cannot be made there: {}; allowed: a path in a directory we may write",
                                  printable(file, 120), std::strerror(errno))};
}

std::optional<Finding> check_tap_files(const AnyConfig& config) {
  const auto* const gnb = std::get_if<GnbConfig>(&config);
  for (std::size_t i = 0; gnb != nullptr && i < gnb->taps.size(); ++i) {
    if (auto finding = check_new_file(fmt::format("taps[{}].file", i), gnb->taps[i].file)) return finding;
  }
  if (const auto* const guard = std::get_if<GuardConfig>(&config); guard != nullptr && !guard->state_file.empty())
    return check_new_file("guard.state_file", guard->state_file);
  const auto* const phy = std::get_if<PhyProgramConfig>(&config);
  return phy != nullptr && phy->phy.capture ? check_new_file("phy.capture.file", phy->phy.capture->file) : std::nullopt;
}

// The sockets of nFAPI, which are closed again.
std::optional<Finding> check_ends(const AnyConfig& config) {
  const auto* const file = std::get_if<PhyProgramConfig>(&config);
  if (file == nullptr) return std::nullopt;
  const EmulatedPhyConfig& ends = file->phy;
  for (const auto& [key, ours, theirs] : {std::tuple{"phy.local_p5_port", ends.local_p5_port, ends.p5_port},
                                          {"phy.local_p7_port", ends.local_p7_port, ends.p7_port}}) {
    const auto socket = phy::DatagramSocket::open({ends.local, ours}, {ends.address, theirs});
    if (!socket) return Finding{key, socket.error().message + "; allowed: a free port at an address of this machine"};
  }
  return std::nullopt;
}

std::optional<Finding> check_control(const AnyConfig& config) {
  const std::string& control = shared_part(config).control;
  const std::string directory = std::filesystem::path(control).parent_path().string();
  if (directory != runtime_directory() && ::access(directory.empty() ? "." : directory.c_str(), W_OK | X_OK) != 0) {
    return Finding{"control", fmt::format("directory of {}: {}; allowed: a path in a directory we may write",
                                          printable(control, 120), std::strerror(errno))};
  }
  if (const auto refused = refuse_socket_path(control)) return Finding{"control", *refused};
  return std::nullopt;
}

// As the program reads it at its start.
std::optional<Finding> check_keys(const AnyConfig& config) {
  const auto* const gnb = std::get_if<GnbConfig>(&config);
  const auto* const ue = std::get_if<UeConfig>(&config);
  const auto* const phy = std::get_if<PhyProgramConfig>(&config);
  const std::string path = gnb != nullptr   ? gnb->key_file
                           : ue != nullptr  ? ue->key_file
                           : phy != nullptr ? phy->ue.key_file
                                            : "";
  if (path.empty()) return std::nullopt;
  const auto good = crypto::KeyFile(path).read();
  return good ? std::nullopt
              : std::optional(Finding{gnb != nullptr ? "key_file" : "ue.key_file", good.error().message});
}

std::optional<Finding> check_listen(const AnyConfig& config) {
  const auto& metrics = shared_part(config).metrics;
  if (!metrics) return std::nullopt;
  const auto refused = refuse_listen(*metrics);
  return refused ? std::optional(Finding{"metrics.listen", *refused}) : std::nullopt;
}

std::optional<Finding> check_traffic_files(const AnyConfig& config) {
  const auto* const traffic = std::get_if<TrafficConfig>(&config);
  if (traffic == nullptr) return std::nullopt;
  if (traffic->gen && !traffic->gen->replay.empty()) {
    const std::string& path = traffic->gen->replay;
    if (const auto refused = refuse_to_read(path)) {
      return Finding{"gen.replay", fmt::format("file {} cannot be read: {}; allowed: a pcap or pcapng file",
                                               printable(path, 120), *refused)};
    }
  }
  if (!traffic->sink) return std::nullopt;
  const auto refused = refuse_result_path(traffic->sink->hlog);
  return refused ? std::optional(Finding{"sink.hlog", *refused}) : std::nullopt;
}

// What generator and sink keep of each flow, outside DPDK's memory.
std::optional<Finding> check_flow_memory(const TrafficConfig& config, std::size_t available_megabytes) {
  std::size_t gen_flows = 0;
  if (config.gen) {
    for (const auto& bearers : config.gen->bearers) gen_flows += bearers.count;
  }
  const bool counted_by_gen = config.gen && config.gen->replay.empty();
  const std::size_t sink_flows = !config.sink ? 0 : counted_by_gen ? gen_flows : config.sink->flows;
  const std::size_t window = config.sink ? config.sink->window : 0;
  const std::size_t sink_bytes = sink_flows * traffic::FlowChecker::bytes_per_flow(window);
  const std::size_t gen_bytes = gen_flows * traffic::PacketMaker::kBytesPerFlow;
  const std::size_t megabytes = (sink_bytes + gen_bytes) >> 20;
  if (megabytes <= available_megabytes) return std::nullopt;
  if (sink_bytes < gen_bytes) {
    return Finding{"gen.bearers",
                   fmt::format("has {} bearers, which take {} MB, but {} MB are available; allowed: fewer", gen_flows,
                               megabytes, available_megabytes)};
  }
  return Finding{counted_by_gen ? "sink.window" : "sink.flows",
                 fmt::format("{} flows with a window of {} take {} MB, but {} MB are available; allowed: fewer flows "
                             "or a smaller window",
                             sink_flows, window, megabytes, available_megabytes)};
}

// What a guard's workers know of clients and connections, outside DPDK's memory.
std::optional<Finding> check_table_memory(const GuardConfig& config, std::size_t available_megabytes) {
  const GuardTableBytes tables = table_bytes(config);
  const std::size_t megabytes = config.workers.size() * (tables.sources + tables.flows) >> 20;
  if (megabytes <= available_megabytes) return std::nullopt;
  return Finding{tables.sources > tables.flows ? "guard.sources.entries" : "guard.flows.entries",
                 fmt::format("the tables of {} worker(s) take {} MB, but {} MB are available; allowed: fewer entries",
                             config.workers.size(), megabytes, available_megabytes)};
}

// A thread may become SCHED_FIFO with CAP_SYS_NICE, or up to RLIMIT_RTPRIO.
std::optional<Finding> check_schedule(const std::string& key, const ScheduleConfig& schedule) {
  rlimit limit{};
  ::getrlimit(RLIMIT_RTPRIO, &limit);
  const bool fifo = schedule.kind == ScheduleConfig::Kind::kFifo;
  if (!fifo || has_capability(CAP_SYS_NICE) || limit.rlim_cur >= schedule.fifo_priority) return std::nullopt;
  return Finding{key, fmt::format("is fifo, and this process may not; allowed: with CAP_SYS_NICE, or a limit of "
                                  "real-time priority (ulimit -r) of {} or more",
                                  schedule.fifo_priority)};
}

std::optional<Finding> check_schedules(const AnyConfig& config) {
  if (const auto* const gnb = std::get_if<GnbConfig>(&config)) {
    for (const auto& worker : gnb->workers) {
      if (auto finding = check_schedule(fmt::format("workers.{}.schedule", worker.name), worker.schedule))
        return finding;
    }
  }
  if (const auto* const guard = std::get_if<GuardConfig>(&config)) {
    for (const auto& worker : guard->workers) {
      if (auto finding = check_schedule("guard.schedule", worker.schedule)) return finding;
    }
  }
  const auto* const card = std::get_if<CardConfig>(&config);
  return card != nullptr ? check_schedule("card.schedule", card->schedule) : std::nullopt;
}

std::optional<Finding> check_spec(const AnyConfig& config) {
  const auto* const card = std::get_if<CardConfig>(&config);
  if (card == nullptr) return std::nullopt;
  const auto spec = load_spec(*card);
  if (spec) return std::nullopt;
  return Finding{card->specs.empty() ? "card.program" : "card.specs", spec.error().message};
}

}  // namespace

std::vector<std::string> remove_left_sockets(const ProgramConfig& config) {
  std::vector<std::string> removed;
  for (const auto& port : config.ports) {
    const auto device = parse_device(port.device);
    const auto socket = device ? listening_socket(*device) : std::nullopt;
    if (socket && !refuse_socket_path(socket->path, socket->type) && ::unlink(socket->path.c_str()) == 0)
      removed.push_back(printable(socket->path, 120));
  }
  return removed;
}

MemoryState read_memory_state(const std::string& proc_root, const std::string& sys_root) {
  namespace fs = std::filesystem;
  MemoryState state;
  std::ifstream mounts(proc_root + "/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::string device, path, type;
    std::istringstream(line) >> device >> path >> type;
    state.hugetlbfs_mounted = state.hugetlbfs_mounted || type == "hugetlbfs";
  }
  std::ifstream meminfo(proc_root + "/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    if (line.starts_with("MemAvailable:"))
      state.available_megabytes = std::strtoull(line.c_str() + 13, nullptr, 10) >> 10;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sys_root + "/kernel/mm/hugepages", error)) {
    const std::string name = entry.path().filename().string();  // hugepages-2048kB
    if (!name.starts_with("hugepages-")) continue;
    std::size_t pages = 0;
    std::ifstream(entry.path() / "free_hugepages") >> pages;
    state.free_hugepage_megabytes += pages * std::strtoull(name.c_str() + 10, nullptr, 10) >> 10;
  }
  return state;
}

std::optional<Finding> check_memory(const AnyConfig& config, const MemoryState& state) {
  const auto& memory = shared_part(config).memory;
  const auto check_pages = [&] {
    return std::visit([](const auto& one) { return check_room(one, memory_needs(one), false); }, config);
  };
  const auto check_flows = [&](std::size_t megabytes) {
    if (const auto* const guard = std::get_if<GuardConfig>(&config)) return check_table_memory(*guard, megabytes);
    const auto* const traffic = std::get_if<TrafficConfig>(&config);
    return traffic != nullptr ? check_flow_memory(*traffic, megabytes) : std::nullopt;
  };
  const bool enough = state.hugetlbfs_mounted && state.free_hugepage_megabytes >= memory.megabytes;
  if (memory.hugepages == MemoryConfig::Hugepages::kRequire) {
    if (!state.hugetlbfs_mounted) {
      return Finding{"memory.hugepages",
                     "no hugetlbfs is mounted; allowed: mount one (make setup does), or hugepages: auto"};
    }
    if (!enough) {
      return Finding{"memory.hugepages",
                     fmt::format("{} MB of hugepages are free, and memory.megabytes is {}; allowed: reserve more "
                                 "(make setup does), or hugepages: auto",
                                 state.free_hugepage_megabytes, memory.megabytes)};
    }
    return check_flows(state.available_megabytes);
  }
  const bool without = memory.hugepages == MemoryConfig::Hugepages::kNever || !enough;
  if (without) {
    if (auto finding = check_pages()) return finding;
  }
  if (without && state.available_megabytes < memory.megabytes) {
    return Finding{"memory.megabytes", fmt::format("is {}, but {} MB are available; allowed: at most that",
                                                   memory.megabytes, state.available_megabytes)};
  }
  if (without) {
    if (auto finding = check_pages()) return finding;
  }
  return check_flows(state.available_megabytes - (without ? memory.megabytes : 0));
}

Expected<void> check_machine(const AnyConfig& config) {
  const ProgramConfig& shared = shared_part(config);
  if (const int pid = InstanceLock::holder(shared.file_prefix); pid != 0) {
    return fail("{}", located(shared, {"file_prefix",
                                       fmt::format("'{}' is in use by a running instance (process {}); allowed: stop "
                                                   "that one, or another file_prefix",
                                                   shared.file_prefix, pid)}));
  }
  for (const auto check : {check_cores, check_spec, check_ports, check_traffic_files, check_control, check_keys,
                           check_listen, check_schedules, check_ends}) {
    if (const auto finding = check(config)) return fail("{}", located(shared, *finding));
  }
  if (const auto finding = check_tap_files(config)) return fail("{}", located(shared, *finding));
  if (const auto finding = check_memory(config, read_memory_state())) return fail("{}", located(shared, *finding));
  return {};
}

}  // namespace splitplane::app
