// Cycles per packet of the guard on cold buffers, on one core, in each mode and for each kind of packet; of forwarding
// alone in the same run; and the memory of its tables. Prints one JSON object. The guard decides every packet of a
// row alike, or the program fails.
#include <rte_cycles.h>
#include <rte_malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "engine/l2fwd.h"
#include "guard/guard_function.h"
#include "guard_frames.h"
#include "on_core.h"
#include "quiet.h"

namespace splitplane::bench {
namespace {

using guard::Mode;
using guard::Outcome;
using guard::Side;
namespace tcp = wire::tcp;

// Memory of the tables, on huge pages where there are some.
class TableMemory {
 public:
  explicit TableMemory(std::size_t bytes)
      : memory_(static_cast<std::uint8_t*>(rte_zmalloc("guard", bytes, 64)), rte_free), bytes_(bytes) {
    if (memory_ == nullptr) throw std::runtime_error("not enough memory for the guard's tables");
  }
  [[nodiscard]] std::span<std::uint8_t> octets() const { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::uint8_t, void (*)(void*)> memory_;
  std::size_t bytes_;
};

constexpr std::uint32_t kTableEntries = 1U << 21;  // room for a million sources and connections
constexpr std::uint64_t kSecret = 7;

// Tables of the usual size, or `big` ones.
guard::GuardSettings settings_of(datapath::ChecksumMode checksums, bool big) {
  guard::GuardSettings s;
  if (big) s.sources.entries = s.flows.entries = kTableEntries;
  s.sources.syn_per_second = 32767;
  s.key_seconds = 3600;
  s.replies_per_second = 4'000'000'000;
  s.unproven_per_second = 1;
  s.checksums = checksums;
  return s;
}

// A guard with one protected server and tables of its own.
class Rig {
 public:
  using Function = guard::GuardFunction<GuardSource, GuardSink>;

  Rig(GuardBuffers& buffers, bool is_v6, Mode mode, datapath::ChecksumMode checksums, bool big = false)
      : buffers_(buffers),
        is_v6_(is_v6),
        settings_(settings_of(checksums, big)),
        sources_(guard::SourceTable::memory_bytes(settings_.sources)),
        flows_(guard::FlowTable::memory_bytes(settings_.flows)),
        guard_(std::make_unique<guard::WorkerGuard>(
            settings_, guard::GuardMemory{sources_.octets(), flows_.octets(), &keys_, kSecret})) {
    guard::ServerRule rule;
    rule.name = "server";
    rule.address = is_v6 ? IpAddress::v6(tuple_of(true, 0).server) : IpAddress::v4({192, 0, 2, 80});
    rule.prefix = is_v6 ? 128 : 32;
    rule.first_port = rule.last_port = 443;
    rule.mode = mode;
    rule.arm = guard::Arm::kAlways;
    rule.mss = 1460;
    rule.window_scale = 7;
    if (auto put = guard_->put_server(rule); !put) throw std::runtime_error(put.error().message);
    const guard::GuardClock clock(rte_get_tsc_hz(), rte_rdtsc(), 1'000'000);
    function_ = std::make_unique<Function>(
        *guard_, clock, Function::Ends{{&buffers, &next_[0]}, {&buffers, &next_[1]}, {&frees_}, {&frees_}});
  }

  // All buffers through the guard; cycles per packet. Throws unless all had this outcome.
  double pass(Side side, Outcome expected, bool frees = false) {
    frees_ = frees;
    next_ = {buffers_.count(), buffers_.count()};
    next_[static_cast<std::size_t>(side)] = 0;
    auto& queue = function_->queues()[static_cast<std::size_t>(side)];
    const std::uint64_t before = guard_->stats.of(side, expected).get();
    datapath::Burst burst;
    const std::uint64_t begin = rte_rdtsc_precise();
    while (queue.receive(burst) != 0) {
      function_->process(queue, burst);
      function_->flush();
    }
    const double cycles = static_cast<double>(rte_rdtsc_precise() - begin) / buffers_.count();
    const std::uint64_t same = guard_->stats.of(side, expected).get() - before;
    if (same + tolerated_ < buffers_.count()) {
      std::string what;
      for (std::size_t i = 0; i < guard::kOutcomeCount; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (const auto n = guard_->stats.of(side, outcome).get(); n != 0)
          what += ", " + std::string(guard::name_of(outcome)) + " " + std::to_string(n);
      }
      throw std::runtime_error("only " + std::to_string(same) + " packets of a pass were " +
                               std::string(guard::name_of(expected)) + what);
    }
    return cycles;
  }
  // `packets` of a pass may have another outcome.
  void tolerate(unsigned packets) { tolerated_ = packets; }

  [[nodiscard]] guard::WorkerGuard& guard() { return *guard_; }
  [[nodiscard]] GuardBuffers& buffers() { return buffers_; }
  [[nodiscard]] bool is_v6() const { return is_v6_; }

 private:
  GuardBuffers& buffers_;
  bool is_v6_;
  guard::GuardSettings settings_;
  guard::CookieJar::Keys keys_ = guard::CookieJar::random_keys();
  TableMemory sources_, flows_;
  std::unique_ptr<guard::WorkerGuard> guard_;
  std::array<unsigned, 2> next_{};
  bool frees_ = false;
  unsigned tolerated_ = 0;
  std::unique_ptr<Function> function_;
};

// Which client stands at place `i` of pass `pass`, of `count` clients: all in turn, over some passes.
std::uint32_t client_at(unsigned pass, unsigned i, std::uint32_t count) {
  return (pass * kGuardBuffers + i) * 2654435761U % count;
}

constexpr std::uint32_t kClientIsn = 1000, kServerIsn = 5000, kServerTs = 77'000'000, kClientTs = 1'234'567;
constexpr std::array<std::uint32_t, 2> kCounts{1024, 1U << 20};

tcp::SynOptions linux_options() {
  return {.mss = 1460, .window_scale = 7, .sack_permitted = true, .has_timestamps = true, .ts_value = kClientTs};
}

std::vector<std::uint8_t> syn_options(const tcp::SynOptions& options) {
  std::vector<std::uint8_t> octets(tcp::kMaxSynOptionBytes);
  octets.resize(tcp::write_syn_options(octets, options));
  return octets;
}

std::array<std::uint8_t, 12> timestamps(std::uint32_t value, std::uint32_t echo) {
  std::array<std::uint8_t, 12> octets{};
  wire::store_be32(octets.data(), 0x0101080A);
  wire::store_be32(octets.data() + 4, value);
  wire::store_be32(octets.data() + 8, echo);
  return octets;
}

class GuardBench {
 public:
  // `only`: rows whose names contain it.
  GuardBench(rte_mempool* pool, unsigned buffers, unsigned passes, std::string only)
      : buffers_(pool, buffers), passes_(passes), only_(std::move(only)) {}

  // Of each row the median and the least cycles per packet.
  nlohmann::json run() {
    for (const bool is_v6 : {false, true}) {
      version_ = is_v6 ? "v6." : "v4.";
      if (may_want("l2fwd")) forwarding(is_v6);
      for (const Mode mode : {Mode::kBypass, Mode::kObserve}) {
        if (may_want(guard::name_of(mode))) not_acting(is_v6, mode);
      }
      if (may_want("auth")) auth(is_v6);
      if (may_want("proxy")) proxy(is_v6);
    }
    return rows_;
  }

 private:
  // Whether `only` may ask for rows of this mode and IP version: it names no other one.
  [[nodiscard]] bool may_want(std::string_view mode) const {
    for (const std::string_view other : {"v4.", "v6.", "l2fwd", "bypass", "observe", "auth", "proxy"}) {
      if (other != mode && other != version_ && only_.find(other) != std::string::npos) return false;
    }
    return true;
  }
  // The median over the passes; `prepare(pass)` writes the buffers, and is not timed.
  void row(const std::string& name, const std::function<void(unsigned)>& prepare, const std::function<double()>& pass) {
    if ((version_ + name).find(only_) == std::string::npos) return;
    std::vector<double> cycles;
    for (unsigned n = 0; n < passes_; ++n) {
      prepare(n);
      cycles.push_back(pass());
    }
    add_row(name, cycles);
  }
  void add_row(const std::string& name, std::vector<double>& cycles) {
    std::sort(cycles.begin(), cycles.end());
    rows_["cycles"][version_ + name] = cycles[cycles.size() / 2];
    rows_["best"][version_ + name] = cycles.front();
  }

  void write_syns(bool is_v6, unsigned pass, std::uint32_t count) {
    const auto options = syn_options(linux_options());
    buffers_.write([&](unsigned i) {
      return GuardFrame{.is_v6 = is_v6,
                        .number = client_at(pass, i, count),
                        .flags = tcp::kSyn,
                        .sequence = kClientIsn,
                        .options = options};
    });
  }
  void write_acks(bool is_v6, unsigned pass, std::uint32_t count) {
    const auto options = timestamps(kClientTs + 50, kServerTs);
    buffers_.write([&](unsigned i) {
      return GuardFrame{.is_v6 = is_v6,
                        .number = client_at(pass, i, count),
                        .flags = tcp::kAck,
                        .sequence = kClientIsn + 1,
                        .acknowledgment = kServerIsn + 1,
                        .options = options};
    });
  }

  void forwarding(bool is_v6) {
    datapath::WorkerStats stats;
    unsigned next = 0;
    const bool frees = false;
    const auto syns = [&](unsigned n) {
      write_syns(is_v6, n, 1U << 20);
      next = 0;
    };
    row("l2fwd", syns, [&] {
      datapath::L2fwd<GuardSource, GuardSink> l2fwd({&buffers_, &next}, {&frees}, stats);
      datapath::Burst burst;
      const std::uint64_t begin = rte_rdtsc_precise();
      while (l2fwd.queues()[0].receive(burst) != 0) l2fwd.process(l2fwd.queues()[0], burst);
      return static_cast<double>(rte_rdtsc_precise() - begin) / buffers_.count();
    });
  }

  void not_acting(bool is_v6, Mode mode) {
    Rig rig(buffers_, is_v6, mode, datapath::ChecksumMode::offload);
    const std::string name(guard::name_of(mode));
    row(
        name + ".syn", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
        [&] { return rig.pass(Side::kClient, Outcome::passed_unarmed); });
  }

  void auth(bool is_v6) {
    {
      Rig rig(buffers_, is_v6, Mode::kAuth, datapath::ChecksumMode::software);
      row(
          "auth.checked_syn", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
          [&] { return rig.pass(Side::kClient, Outcome::challenged_rst); });
    }
    Rig rig(buffers_, is_v6, Mode::kAuth, datapath::ChecksumMode::offload);
    row(
        "auth.syn", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
        [&] { return rig.pass(Side::kClient, Outcome::challenged_rst); });
    rig.tolerate(64);  // those within the limit
    row(
        "auth.unknown_ack", [&](unsigned n) { write_acks(is_v6, n, 1U << 20); },
        [&] { return rig.pass(Side::kClient, Outcome::unproven); });
    rig.tolerate(0);
    row(
        "auth.forged_rst", [&](unsigned n) { write_rsts(rig, n, 1); },
        [&] { return rig.pass(Side::kClient, Outcome::forged_rst); });
    run_known_auth(is_v6);
  }
  // Of clients that have proven themselves, in tables for a million of them.
  void run_known_auth(bool is_v6) {
    Rig rig(buffers_, is_v6, Mode::kAuth, datapath::ChecksumMode::offload, true);
    row(
        "auth.syn_with_big_tables", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
        [&] { return rig.pass(Side::kClient, Outcome::challenged_rst); });
    row(
        "auth.proof",
        [&](unsigned n) {
          if (n % 16 == 0) rig.guard().sources.clear();
          write_rsts(rig, n, 0);
        },
        [&] { return rig.pass(Side::kClient, Outcome::proved_rst); });
    for (const std::uint32_t count : kCounts) {
      rig.guard().sources.clear();
      for (std::uint32_t n = 0; n < count; ++n) {
        const auto key = guard::SourceTable::key_of(tuple_of(is_v6, n));
        if (!rig.guard().sources.put(key, guard::Proof::kCookie, rig.guard().time.seconds))
          throw std::runtime_error("the allow-list has no room for the bench's clients");
      }
      const std::string of = "." + std::to_string(count);
      row(
          "auth.known_ack" + of, [&](unsigned n) { write_acks(is_v6, n, count); },
          [&] { return rig.pass(Side::kClient, Outcome::passed_proven); });
      row(
          "auth.known_syn" + of, [&](unsigned n) { write_syns(is_v6, n, count); },
          [&] { return rig.pass(Side::kClient, Outcome::passed_proven); });
      row(
          "auth.server_ack" + of, [&](unsigned n) { write_server_acks(is_v6, n, count); },
          [&] { return rig.pass(Side::kServer, Outcome::passed_server); });
    }
  }

  // RSTs that return the cookie, and something else with `wrong`.
  void write_rsts(Rig& rig, unsigned pass, std::uint32_t wrong) {
    buffers_.write([&](unsigned i) {
      const std::uint32_t number = client_at(pass, i, 1U << 20);
      return GuardFrame{.is_v6 = rig.is_v6(),
                        .number = number,
                        .flags = tcp::kRst,
                        .sequence = rig.guard().jar.rst_cookie(tuple_of(rig.is_v6(), number)) ^ wrong,
                        .window = 0};
    });
  }
  void write_server_acks(bool is_v6, unsigned pass, std::uint32_t count) {
    const auto options = timestamps(kServerTs + 50, kClientTs);
    buffers_.write([&](unsigned i) {
      return GuardFrame{.is_v6 = is_v6,
                        .from = Side::kServer,
                        .number = client_at(pass, i, count),
                        .flags = tcp::kAck,
                        .sequence = kServerIsn + 1,
                        .acknowledgment = kClientIsn + 1,
                        .options = options};
    });
  }

  void proxy(bool is_v6) {
    {
      Rig rig(buffers_, is_v6, Mode::kProxy, datapath::ChecksumMode::software);
      row(
          "proxy.checked_syn", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
          [&] { return rig.pass(Side::kClient, Outcome::challenged_syn); });
    }
    for (const std::uint32_t count : kCounts) {
      Rig rig(buffers_, is_v6, Mode::kProxy, datapath::ChecksumMode::offload, count != kCounts[0]);
      if (count == kCounts[0]) {
        row(
            "proxy.syn", [&](unsigned n) { write_syns(is_v6, n, 1U << 20); },
            [&] { return rig.pass(Side::kClient, Outcome::challenged_syn); });
        rig.tolerate(64);  // those within the limit
        row(
            "proxy.forged_ack", [&](unsigned n) { write_acks(is_v6, n, 1U << 20); },
            [&] { return rig.pass(Side::kClient, Outcome::forged_ack); });
        rig.tolerate(0);
      }
      establish(rig, count);
      const std::string of = "." + std::to_string(count);
      row(
          "proxy.client_ack" + of, [&](unsigned n) { write_acks(is_v6, n, count); },
          [&] { return rig.pass(Side::kClient, Outcome::translated); });
      row(
          "proxy.server_ack" + of, [&](unsigned n) { write_server_acks(is_v6, n, count); },
          [&] { return rig.pass(Side::kServer, Outcome::translated); });
      if (count != kCounts[0]) {
        row(
            "proxy.syn_beside_flows", [&](unsigned n) { write_new_syns(is_v6, n); },
            [&] { return rig.pass(Side::kClient, Outcome::challenged_syn); });
      }
    }
  }
  // Of clients without a connection.
  void write_new_syns(bool is_v6, unsigned pass) {
    const auto options = syn_options(linux_options());
    buffers_.write([&](unsigned i) {
      return GuardFrame{.is_v6 = is_v6,
                        .number = (1U << 20) + client_at(pass, i, 1U << 20),
                        .flags = tcp::kSyn,
                        .sequence = kClientIsn,
                        .options = options};
    });
  }

  // The handshakes of `count` connections through the guard: cookies come back, the server answers. Both steps are
  // rows of their own where there is a connection for each buffer.
  void establish(Rig& rig, std::uint32_t count) {
    const guard::CookieOptions kept{.mss = 1460, .window_scale = 7, .sack_permitted = true, .has_timestamps = true};
    std::vector<double> connect, handshake;
    tcp::SynOptions of_server = linux_options();
    of_server.ts_value = kServerTs;
    of_server.ts_echo = kClientTs + 50;
    const auto server_options = syn_options(of_server);
    const unsigned passes = std::max(1U, count / buffers_.count());
    rig.tolerate(count < buffers_.count() ? buffers_.count()
                                          : 0);  // then only the first of a connection is the expected one
    std::array<std::uint8_t, 12> options{};
    for (unsigned n = 0; n < passes; ++n) {
      const auto client = [&](unsigned i) { return (n * buffers_.count() + i) % count; };
      buffers_.write([&](unsigned i) {
        const auto cookie = rig.guard().jar.syn_cookie(tuple_of(rig.is_v6(), client(i)), kClientIsn, kept, 1'000'000);
        options = timestamps(kClientTs + 50, cookie.ts_value);
        return GuardFrame{.is_v6 = rig.is_v6(),
                          .number = client(i),
                          .flags = tcp::kAck,
                          .sequence = kClientIsn + 1,
                          .acknowledgment = cookie.sequence + 1,
                          .options = options};
      });
      connect.push_back(rig.pass(Side::kClient, Outcome::connected));
      buffers_.write([&](unsigned i) {
        return GuardFrame{.is_v6 = rig.is_v6(),
                          .from = Side::kServer,
                          .number = client(i),
                          .flags = tcp::kSyn | tcp::kAck,
                          .sequence = kServerIsn,
                          .acknowledgment = kClientIsn + 1,
                          .options = server_options};
      });
      handshake.push_back(rig.pass(Side::kServer, Outcome::handshake, true));
    }
    rig.tolerate(0);
    if (count < kGuardBuffers) return;
    add_row("proxy.connect", connect);
    add_row("proxy.handshake", handshake);
  }

  GuardBuffers buffers_;
  unsigned passes_;
  std::string only_, version_;
  nlohmann::json rows_ = nlohmann::json::object();
};

// How many sources and connections the tables take until the first is refused, and the octets that a million need.
nlohmann::json memory() {
  nlohmann::json out;
  const auto per_million = [](std::size_t bytes, std::uint64_t held) {
    return static_cast<double>(bytes) / static_cast<double>(held) * 1e6;
  };
  guard::SourceTable::Settings s;
  s.entries = 1U << 20;
  const TableMemory source_memory(guard::SourceTable::memory_bytes(s));
  guard::SourceTable sources(s, source_memory.octets(), kSecret);
  std::uint32_t n = 0;
  while (sources.put(guard::SourceTable::key_of(tuple_of(false, n)), guard::Proof::kVouched, 1)) ++n;
  out["source_entries"] = s.entries;
  out["sources_held"] = n;
  out["bytes_per_million_sources"] = per_million(source_memory.octets().size(), n);
  guard::FlowTable::Settings f;
  f.entries = 1U << 20;
  const TableMemory flow_memory(guard::FlowTable::memory_bytes(f));
  guard::FlowTable flows(f, flow_memory.octets(), kSecret);
  for (n = 0;; ++n) {
    const guard::FourTuple tuple = tuple_of(false, n);
    if (flows.insert(tuple, flows.hash_of(tuple), 1) == nullptr) break;
  }
  out["flow_entries"] = f.entries;
  out["flows_held"] = n;
  out["bytes_per_million_flows"] = per_million(flow_memory.octets().size(), n);
  return out;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"Cycles per packet of the guard, one core, cold buffers; prints JSON."};
  unsigned passes = 16, core = 0, buffers = splitplane::bench::kGuardBuffers;
  std::string only;
  app.add_option("--passes", passes, "passes over the buffers per row, median")->check(CLI::Range(1U, 1000U));
  app.add_option("--buffers", buffers, "buffers of a pass: 256 are warm, 65,536 are cold")
      ->check(CLI::Range(32U, buffers));
  app.add_option("--only", only, "rows whose names contain this, as v4.auth or proxy.syn");
  app.add_option("--core", core, "core that is measured");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("guard_bench", core, {.file_prefix = "splitguard", .megabytes = 1024}, [&](bool hugepages) {
    rte_mempool* pool = rte_pktmbuf_pool_create("bench", 131071, 512, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
    const auto before = measure_jitter(100);
    nlohmann::json report;
    report["memory"] = memory();
    report.update(GuardBench(pool, buffers, passes, only).run());
    const auto after = measure_jitter(100);
    const auto hz = static_cast<double>(rte_get_tsc_hz());
    for (const auto& [name, cycles] : report["cycles"].items())
      report["million_per_second"][name] = hz / cycles.get<double>() / 1e6;
    report["tsc_hz"] = rte_get_tsc_hz();
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    report["jitter_worst_us"] = std::max(before.worst_us, after.worst_us);
    std::printf("%s\n", report.dump().c_str());
  });
}
