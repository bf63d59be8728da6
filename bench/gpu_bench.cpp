// The cost of the GPU ring driver on CPU lanes with the soft NIC. In lock-step on one core, one thread runs engines,
// NIC model and the far end that makes and checks every frame. It measures the cost of doorbells, functions and a
// restored order. It also measures a thread for each engine, beside the round trip of a cache line between two cores.
// Nothing here ran on a GPU.
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "gpu/rings/gnb_headers.h"
#include "gpu_rig.h"

namespace splitplane::bench {
namespace {

struct Options {
  std::uint64_t packets = 2'000'000;
  unsigned core = 0;
  bool threads = true;
  bool numbering = false;  // only the cost of sharing the bearers' numbers between all rings
  bool json = false;
};

constexpr std::uint32_t kMix = 0;  // equal numbers of each size

struct Case {
  const char* name;
  std::uint32_t rings = 1;
  std::uint32_t bytes = 64;  // with CRC
  std::uint32_t doorbell_every = 32;
  bool check_payload = false;
  std::uint32_t window = 240;  // packets under way, for each of up to 8 rings
  std::optional<gpu::RestoreSettings> restore = {};
  bool threads = false;
};

constexpr std::uint32_t kN3HeaderBytes = 14 + 20 + 8 + 16;

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void pin(unsigned core) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(core, &cpus);
  pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

// Threads may run on all cores again.
void unpin() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) CPU_SET(i, &all);
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

nicmodel::PeerSettings peer_settings(const Case& c, std::uint64_t packets) {
  return {.flows = c.rings > 16 ? 128U : 256U,
          .sizes = c.bytes == kMix ? std::vector<std::uint32_t>{64, 128, 256, 512, 1024, 1500} : std::vector{c.bytes},
          .packets = packets,
          .window = c.window * (c.rings > 8 ? 8 : c.rings),
          .lost_after_ns = 2'000'000'000,
          .check_payload = c.check_payload};
}

// What every run must show at any speed.
template <class Function, class Peer>
nlohmann::json judged(const Case& c, const Peer& peer, Rig<Function>& rig, double ns, std::uint64_t packets) {
  const nicmodel::PeerCounters& p = peer.counters();
  std::uint64_t leaked = 0;
  for (std::size_t r = 0; r < c.rings; ++r) leaked += rig.set().census(r).is_at_rest() ? 0 : 1;
  const auto n = static_cast<double>(packets);
  double latency_us = 0;
  if constexpr (requires { peer.latency(); }) latency_us = peer.latency().mean() * 1e-3;
  return {{"name", c.name},
          {"latency_us", latency_us},
          {"rings", c.rings},
          {"bytes", c.bytes},
          {"ns", ns / n},
          {"mpps", 1e3 * n / ns},
          {"doorbells_per_packet", static_cast<double>(rig.doorbells(c.rings)) / (2 * n)},
          {"lost", peer.lost()},
          {"changed", p.changed.get() + p.foreign.get() + p.duplicated.get()},
          {"reordered", p.reordered.get()},
          {"reordered_in_flow", p.reordered_in_flow.get()},
          {"driver_faults", rig.model().faults().total()},
          {"rings_with_leaked_slots", leaked}};
}

template <class Function, class Peer>
nlohmann::json lock_step(const Case& c, const std::vector<Function>& functions, Peer peer, std::uint64_t packets) {
  Rig<Function> rig(c.rings, c.doorbell_every, c.restore, functions, peer);
  rig.set().step(gpu::steady_ns());
  rig.open();
  const double begin = thread_ns();
  while (!peer.done()) {
    for (unsigned i = 0; i < 16; ++i) {
      const std::uint64_t now = gpu::steady_ns();
      rig.model().step(nicmodel::Nic82599Model::kBatch, now);
      rig.set().step(now);
    }
  }
  const double ns = thread_ns() - begin;
  for (unsigned i = 0; i < 64; ++i) {
    rig.model().step();
    rig.set().step(gpu::steady_ns());
  }
  return judged(c, peer, rig, ns, packets);
}
template <class Function>
nlohmann::json lock_step(const Case& c, const std::vector<Function>& functions,
                         const nicmodel::PeerSettings& settings) {
  return lock_step(c, functions, TrafficPeer(settings), settings.packets);
}

template <class Function>
nlohmann::json threaded(const Case& c, const std::vector<Function>& functions, nicmodel::PeerSettings settings) {
  TrafficPeer peer(std::move(settings));
  Rig<Function> rig(c.rings, c.doorbell_every, c.restore, functions, peer);
  rig.set().start();
  rig.model().start();
  const std::uint64_t begin = gpu::steady_ns();
  rig.open();
  while (!peer.done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto ns = static_cast<double>(gpu::steady_ns() - begin);
  if (const auto stopped = rig.set().stop(std::chrono::seconds(10)); !stopped) {
    throw std::runtime_error(stopped.error().message);
  }
  rig.model().stop();
  return judged(c, peer, rig, ns, peer.counters().returned.get());
}

// A ring numbers the bearers of a table that no other ring uses. SharedCounting is compared with this.
struct OwnCounting {
  static std::uint64_t take(gpu::GnbBearer& bearer, std::uint32_t n) {
    const std::uint64_t first = bearer.numbered;
    bearer.numbered = first + n;
    return first;
  }
};

// N3 frames of 256 tunnels with one bearer each, as a UPF sends them. `varied_ports`: the source port changes with each
// packet, so a bearer is on all rings. Otherwise each tunnel has a fixed port, which keeps it on one ring.
nicmodel::PeerSettings n3_settings(const Case& c, std::uint64_t packets, bool varied_ports) {
  nicmodel::PeerSettings settings = peer_settings(c, packets);
  settings.header = [](std::uint32_t flow, std::uint32_t bytes) {
    using namespace wire;
    std::vector<std::uint8_t> header(kN3HeaderBytes);
    const std::uint32_t sdu = bytes - kN3HeaderBytes;
    const std::array<std::uint8_t, 6> to{2, 0x82, 0x59, 0x90, 0, 1}, from{2, 0, 0, 0, 0, 9};
    MutableOctets out(header);
    out = out.subspan(ethernet::write(out, to, from, ethernet::kTypeIpv4));
    ipv4::Header ip;
    ip.protocol = ipv4::kProtocolUdp;
    ip.ttl = 64;
    out = out.subspan(ipv4::write(out, ip, udp::kHeaderBytes + gtpu::kHeaderWithPscBytes + sdu));
    const auto port = static_cast<std::uint16_t>(0xC000 + flow);
    out = out.subspan(udp::write(out, port, gtpu::kPort, gtpu::kHeaderWithPscBytes + sdu));
    (void)gtpu::write_gpdu_psc_dl(out, Teid{flow + 1}, sdu, Qfi{9});
    return header;
  };
  settings.returned = nicmodel::Returned::kPayload;
  settings.stamp_at = 14 + 10 + 7;  // behind Ethernet, airhdr, RLC, PDCP, SDAP
  if (varied_ports) settings.varied_port_at = 14 + 20;
  return settings;
}

// `tables` is the number of bearer tables; 1: all rings share it.
template <class Counting>
nlohmann::json gnb_headers(const Case& c, std::uint64_t packets, std::uint32_t tables, bool varied_ports) {
  constexpr std::uint32_t kLines = 257;
  std::vector<gpu::GnbBearer> bearers(std::size_t{kLines} * tables);
  for (std::uint32_t i = 0; i < bearers.size(); ++i) bearers[i] = {.id = i % kLines, .poll_pdu = 32};
  const gpu::AirHeader air{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}};
  std::vector<gpu::BasicGnbHeaders<Counting>> functions;
  for (std::uint32_t ring = 0; ring < c.rings; ++ring) {
    functions.emplace_back(&bearers[std::size_t{kLines} * (ring % tables)], kLines, 0xffffU, air, 1514U);
  }
  const auto settings = n3_settings(c, packets, varied_ports);
  nlohmann::json row = c.threads ? threaded(c, functions, settings) : lock_step(c, functions, settings);
  row["varied_ports"] = varied_ports;
  return row;
}

// Compares one table for all rings with one for each. The repeats alternate, so that disturbances of the machine affect
// both.
nlohmann::json numbering(std::uint64_t packets, bool threads) {
  constexpr unsigned kRepeats = 5;
  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint32_t rings : {1U, 4U, 16U}) {
    for (unsigned repeat = 0; repeat < kRepeats; ++repeat) {
      Case c{.rings = rings, .bytes = 128, .threads = threads};
      if (threads) c.window = (255 - 31) / rings;
      c.name = "a table for each ring";
      rows.push_back(gnb_headers<OwnCounting>(c, packets, rings, false));
      c.name = "one table for all rings";
      rows.push_back(gnb_headers<gpu::SharedCounting>(c, packets, 1, false));
      c.name = "one table, ports vary";
      rows.push_back(gnb_headers<gpu::SharedCounting>(c, packets, 1, true));
    }
  }
  return rows;
}

// A cache line to another core and back: the least cost, twice, of a packet between two threads.
double round_trip_ns(unsigned core) {
  if (std::thread::hardware_concurrency() < 2) return -1;
  constexpr std::uint32_t kTrips = 100'000;
  struct alignas(128) Line {
    std::uint32_t value = 0;
  } ping, pong;
  std::thread other([&] {
    pin(core == 0 ? 1 : 0);
    for (std::uint32_t i = 1; i <= kTrips; ++i) {
      while (gpu::load_acquire(&ping.value) != i) {
      }
      gpu::store_release(&pong.value, i);
    }
  });
  std::vector<double> trips;
  for (std::uint32_t i = 1; i <= kTrips; ++i) {
    const std::uint64_t begin = gpu::steady_ns();
    gpu::store_release(&ping.value, i);
    while (gpu::load_acquire(&pong.value) != i) {
    }
    trips.push_back(static_cast<double>(gpu::steady_ns() - begin));
  }
  other.join();
  std::nth_element(trips.begin(), trips.begin() + kTrips / 2, trips.end());
  return trips[kTrips / 2];
}

nlohmann::json run(const Options& options) {
  const std::uint64_t packets = options.packets;
  if (options.numbering) {
    nlohmann::json report{{"packets", packets}, {"lock_step", numbering(packets, false)}, {"on_gpu", false}};
    if (!options.threads) return report;
    unpin();
    report["threads"] = numbering(packets / 4, true);
    report["round_trip_ns"] = round_trip_ns(options.core);
    return report;
  }
  nlohmann::json rows = nlohmann::json::array();
  const auto echo = [&](const Case& c) {
    rows.push_back(lock_step(c, std::vector<gpu::Echo>(c.rings), peer_settings(c, packets)));
  };
  for (const std::uint32_t rings : {1U, 2U, 4U, 8U}) {
    const Case c{.name = "engines and NIC only", .rings = rings};
    rows.push_back(lock_step(c, std::vector<gpu::Echo>(rings), CannedWire(64, packets, c.window * rings), packets));
  }
  for (const std::uint32_t rings : {1U, 2U, 4U, 8U, 16U, 64U}) echo({.name = "echo", .rings = rings});
  for (const std::uint32_t bytes : {128U, 256U, 512U, 1024U, 1500U}) echo({.name = "echo", .bytes = bytes});
  echo({.name = "echo, every octet judged", .rings = 8, .check_payload = true});
  echo({.name = "echo, every octet judged", .rings = 8, .bytes = 1500, .check_payload = true});
  echo({.name = "echo, doorbell every 8", .doorbell_every = 8});
  echo({.name = "echo, doorbell every 1", .doorbell_every = 1});
  for (const std::uint32_t rings : {4U, 8U}) {
    echo({.name = "echo, order restored", .rings = rings, .restore = gpu::RestoreSettings{.window = 8192}});
  }
  {
    const Case c{.name = "macswap"};
    nicmodel::PeerSettings settings = peer_settings(c, packets);
    settings.returned = nicmodel::Returned::kMacsSwapped;
    rows.push_back(lock_step(c, std::vector<gpu::MacSwap>(1), settings));
  }
  rows.push_back(gnb_headers<gpu::SharedCounting>({.name = "gnb-headers", .bytes = 128}, packets, 1, false));
  nlohmann::json report{{"packets", packets}, {"lock_step", rows}, {"on_gpu", false}};
  if (!options.threads) return report;
  report["round_trip_ns"] = round_trip_ns(options.core);
  unpin();
  rows = nlohmann::json::array();
  for (const std::uint32_t bytes : {64U, kMix}) {
    for (const std::uint32_t rings : {1U, 2U, 4U, 8U}) {
      // There are enough descriptors on any ring that RSS chooses. Those that the NIC does not know yet do not count.
      const Case c{.name = bytes == kMix ? "echo, every octet judged" : "echo",
                   .rings = rings,
                   .bytes = bytes,
                   .check_payload = bytes == kMix,
                   .window = (255 - 31) / rings};
      rows.push_back(threaded(c, std::vector<gpu::Echo>(rings), peer_settings(c, packets / 4)));
    }
  }
  for (const std::uint32_t rings : {4U, 8U}) {
    const Case c{.name = "echo, order restored",
                 .rings = rings,
                 .window = (255 - 31) / rings,
                 .restore = gpu::RestoreSettings{.window = 8192}};
    rows.push_back(threaded(c, std::vector<gpu::Echo>(rings), peer_settings(c, packets / 4)));
  }
  report["threads"] = rows;
  return report;
}

void print_rows(const nlohmann::json& rows) {
  std::printf("  %-26s %5s %6s %9s %8s %10s %8s %6s %8s %10s %8s\n", "", "rings", "octets", "ns", "Mpps", "doorbells",
              "mean us", "lost", "changed", "reordered", "in flow");
  for (const auto& r : rows) {
    const auto bytes = r["bytes"].get<unsigned>();
    std::printf("  %-26s %5u %6s %9.1f %8.2f %10.3f %8.1f %6llu %8llu %10llu %8llu\n",
                r["name"].get<std::string>().c_str(), r["rings"].get<unsigned>(),
                bytes == kMix ? "mix" : std::to_string(bytes).c_str(), r["ns"].get<double>(), r["mpps"].get<double>(),
                r["doorbells_per_packet"].get<double>(), r["latency_us"].get<double>(),
                r["lost"].get<unsigned long long>(), r["changed"].get<unsigned long long>(),
                r["reordered"].get<unsigned long long>(), r["reordered_in_flow"].get<unsigned long long>());
  }
}

void print(const nlohmann::json& report) {
  std::printf("The ring driver on CPU lanes against the soft NIC, %llu packets each; not run on a GPU\n\n",
              report["packets"].get<unsigned long long>());
  std::printf(
      "One thread: engines, NIC model and far end in lock-step; CPU time. \"echo\": the far end makes and judges\n");
  print_rows(report["lock_step"]);
  if (!report.contains("threads")) return;
  std::printf("\nA thread for each engine and one for the NIC; wall time; %u cores, cache line round trip %.0f ns\n",
              std::thread::hardware_concurrency(), report["round_trip_ns"].get<double>());
  print_rows(report["threads"]);
}

// Returns false if a run lost, changed or leaked something.
bool is_sound(const nlohmann::json& report) {
  for (const char* part : {"lock_step", "threads"}) {
    if (!report.contains(part)) continue;
    for (const auto& r : report[part]) {
      for (const char* key : {"lost", "changed", "driver_faults", "rings_with_leaked_slots"}) {
        if (r[key] != 0) return false;
      }
      const bool spread = r.value("varied_ports", false) && r["rings"] > 1;  // a bearer is on several rings
      if (r["reordered_in_flow"] != 0 && !spread) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"Packets per second of the GPU ring driver on CPU lanes, against the soft NIC."};
  splitplane::bench::Options options;
  bool no_threads = false;
  app.add_option("--packets", options.packets, "packets of each row (of threads: a quarter)");
  app.add_option("--core", options.core, "core that is measured");
  app.add_flag("--lock-step-only", no_threads, "no rows with threads");
  app.add_flag("--numbering", options.numbering, "only: one table of bearers for all rings, and one for each");
  app.add_flag("--json", options.json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  options.threads = !no_threads;
  splitplane::bench::pin(options.core);
  try {
    const nlohmann::json report = splitplane::bench::run(options);
    if (options.json) {
      std::printf("%s\n", report.dump().c_str());
    } else {
      splitplane::bench::print(report);
    }
    if (splitplane::bench::is_sound(report)) return 0;
    std::fprintf(stderr, "gpu_bench: a run lost, changed or leaked packets\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
  }
  return 1;
}
