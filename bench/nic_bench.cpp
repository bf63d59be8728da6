// The cost of the software card: each program and feature set on a card, compared with the host on the same cold
// buffers in the same run, on one core. The program runs in DPDK's interpreter, compiled ahead of time, and compiled
// without prefetching. Also how long 65,536 bearers take to install. Prints a table, or JSON.
//
// It measures CPU time of the thread, so other load on the machine disturbs less. It does not include the host's work
// with a card's clones and punted frames: every output is emptied at once. Two cores are compared with one over rings,
// each a thread, also by wall-clock time.
#include <rte_lcore.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "card/card.h"
#include "card_pass.h"
#include "host_pass.h"
#include "on_core.h"
#include "quiet.h"

namespace splitplane::nic {
CompiledPrograms programs_without_prefetch();  // cmake/programs.cmake makes it
}

namespace splitplane::bench {
namespace {

struct Options {
  unsigned passes = 5;
  unsigned core = 0, second = 1;
  std::string specs;
  bool json = false;
};

double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// As the host's table has them.
std::vector<nic::CardBearer> card_bearers(const std::vector<std::uint32_t>& teids, std::uint32_t n3_ipv4,
                                          unsigned copies_vf) {
  std::vector<nic::CardBearer> bearers(teids.size());
  for (std::size_t i = 0; i < teids.size(); ++i) {
    nic::CardBearer& b = bearers[i];
    b.id = BearerId{teids[i]};
    b.teid = Teid{teids[i]};
    b.rlc_sn_bits = i % 4 == 1 ? 12 : 18;
    b.pdcp_sn_bits = i % 4 == 2 ? 12 : 18;
    b.sdap_dl = i % 4 != 3;
    b.n3_ipv4 = n3_ipv4;
    b.lease = 1;  // extended as far as possible later
    b.copies_vf = copies_vf;
  }
  return bearers;
}

// How a card runs its program: a column of the table.
struct Way {
  std::string key, name;
  nic::Execution execution = nic::Execution::kCompiled;
  nic::CompiledPrograms (*programs)() = nic::compiled_programs;
};
const std::array<Way, 3> kWays{
    {{"card_interpreted", "interpreted", nic::Execution::kInterpreted},
     {"card_without_prefetch", "without prefetch", nic::Execution::kCompiled, nic::programs_without_prefetch},
     {"card", "compiled"}}};

// A card with a program, and the bearers of the host's table.
class BenchCard {
 public:
  BenchCard(const std::string& specs, const std::string& program, const std::vector<std::uint32_t>& teids,
            std::uint32_t n3_ipv4, const Way& way) {
    const auto spec = nic::read_spec(nic::spec_path(specs, program));
    if (!spec) throw std::runtime_error(spec.error().message);
    auto card =
        nic::Card::make(*spec, {.name = program, .vfs = 4, .execution = way.execution, .programs = way.programs()});
    if (!card) throw std::runtime_error(card.error().message);
    card_ = std::move(*card);
    if (card_->is_compiled() != (way.execution == nic::Execution::kCompiled))
      throw std::runtime_error(program + " was not compiled with the bench");
    if (spec->program == "p4wire") {
      for (const auto& done : {card_->wire(nic::kN3Port, nic::kFirstVf), card_->wire(nic::kFirstVf, nic::kN3Port)}) {
        if (!done) throw std::runtime_error(done.error().message);
      }
    }
    if (spec->program != "gnb") return;
    const std::vector<nic::CardBearer> bearers = card_bearers(teids, n3_ipv4, 3);
    const double begin = thread_ns();
    const auto done = card_->install(bearers);
    install_ms_ = (thread_ns() - begin) / 1e6;
    if (!done) throw std::runtime_error(done.error().message);
    std::vector<nic::CardLease> leases;
    for (const nic::CardBearer& b : bearers) leases.emplace_back(b.id, 0x7fffffff);
    if (const auto leased = card_->set_leases(leases); !leased) throw std::runtime_error(leased.error().message);
  }

  // Sends all buffers once through the card, as they come from N3.
  void pass(Buffers& buffers) {
    datapath::Lookahead<BufferSource> source(BufferSource{&buffers});
    datapath::Burst burst;
    while (source.receive(burst) != 0) {
      card_->process(burst.mbuf.data(), burst.size, nic::kN3Port, {burst.ahead, burst.ahead_size});
      for (const std::uint16_t port : card_->pending()) {
        auto& mbufs = card_->out(port).mbufs;
        for (rte_mbuf* m : mbufs) release(m, buffers.frame());
        mbufs.clear();
      }
      card_->pending().clear();
    }
  }
  [[nodiscard]] double install_ms() const { return install_ms_; }
  [[nodiscard]] nic::CardCounters counters() const { return card_->counters(); }

 private:
  std::unique_ptr<nic::Card> card_;
  double install_ms_ = 0;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    context_->n3.ipv4 = __builtin_bswap32(0x0a640001);
    context_->copies = rte_ring_create("copies", 131072, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
    pool_ = rte_pktmbuf_pool_create("bench", 131071, 512, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (pool_ == nullptr || context_->copies == nullptr) throw std::runtime_error("no memory for the bench's buffers");
    context_->pool = pool_;
    context_->air_header = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    frame_ = make_frame_template(context_->n3);
    bearers_.emplace(context_->bearers, 65536);
    context_->fixed_bearer = ran::make_downlink({.id = BearerId{bearers_->teids().front()}});
    buffers_.emplace(pool_, kBuffers, bearers_->teids(), frame_, 42);
  }

  nlohmann::json run() {
    restore_ = restore_cost(*buffers_) * 1e9 / static_cast<double>(rte_get_tsc_hz());
    host<FeatureSet::drop>("drop");
    host<FeatureSet::l2fwd>("l2fwd");
    host<FeatureSet::decap>("decap");
    host<FeatureSet::headers>("headers");
    host<FeatureSet::mat>("mat");
    host<FeatureSet::clone_drop>("clone_drop");
    host<FeatureSet::clone>("clone");
    for (const Way& way : kWays) {
      card("l2fwd", "l2fwd", way);
      card("p4wire", "p4wire", way);
      for (const char* features : {"drop", "decap", "headers", "mat", "clone_drop", "clone"}) {
        card(features, std::string("gnb-") + features, way);
      }
    }
    out_["restore_ns"] = restore_;
    cores("one", {options_.core});
    if (options_.second != options_.core && options_.second < std::thread::hardware_concurrency())
      cores("two", {options_.core, options_.second});
    return out_;
  }

 private:
  // Nanoseconds of CPU time for each packet of a pass, minus the cost of the harness.
  double timed(const std::function<void()>& pass) {
    std::vector<double> ns;
    for (unsigned i = 0; i < options_.passes; ++i) {
      const double begin = thread_ns();
      pass();
      ns.push_back((thread_ns() - begin) / kBuffers);
      if (buffers_->damaged() != 0)
        throw std::runtime_error("a pass of " + row_ + " did not give every buffer back as it was");
    }
    return median(ns) - restore_;
  }
  // Dropped packets are freed. So their buffers are held a second time, and restored outside the measured time.
  double timed_drop(const std::function<void()>& pass) {
    const double restore = std::exchange(restore_, 0);
    std::vector<double> ns;
    for (unsigned i = 0; i < options_.passes; ++i) {
      for (unsigned b = 0; b < kBuffers; ++b) rte_mbuf_refcnt_set(buffers_->order()[b], 2);
      const double begin = thread_ns();
      pass();
      ns.push_back((thread_ns() - begin) / kBuffers);
      for (unsigned b = 0; b < kBuffers; ++b) release(buffers_->order()[b], frame_);
    }
    restore_ = restore;
    return median(ns);
  }
  template <FeatureSet F>
  void host(const std::string& name) {
    const auto pass = [&] { one_pass<F>(*context_, *buffers_, RestoringSink{&frame_}, F == FeatureSet::clone); };
    row_ = "host " + name;
    out_["host"][name] = F == FeatureSet::drop ? timed_drop(pass) : timed(pass);
  }
  void card(const std::string& name, const std::string& program, const Way& way) {
    BenchCard card(options_.specs, program, bearers_->teids(), context_->n3.ipv4, way);
    const auto pass = [&] { card.pass(*buffers_); };
    row_ = fmt::format("card {}, {}", name, way.name);
    out_[way.key][name] = name == "drop" ? timed_drop(pass) : timed(pass);
    if (card.install_ms() > 0 && way.key == "card") out_["install_ms"][program] = card.install_ms();
    const nic::CardCounters counted = card.counters();
    std::uint64_t punted = 0;
    for (const std::uint64_t n : counted.punts) punted += n;
    out_["card_unexpected"][fmt::format("{} {}", name, way.name)] = punted + (name == "drop" ? 0 : counted.dropped);
  }

  // Packets per second, with the harness's work. By wall-clock time, and by the CPU time of the busiest core; the two
  // agree if the cores serve only the card.
  void cores(const std::string& name, const std::vector<unsigned>& on) {
    const auto spec = nic::read_spec(nic::spec_path(options_.specs, "gnb-mat"));
    if (!spec) throw std::runtime_error(spec.error().message);
    RingCard card(*spec, on);
    row_ = "card on cores " + name;
    auto& row = out_["cores"][name];
    row["install_ms"] = card.install(card_bearers(bearers_->teids(), context_->n3.ipv4, 0));
    std::vector<double> wall, busy;
    for (unsigned i = 0; i < options_.passes; ++i) {
      const RingCard::Took took = card.pass(*buffers_);
      wall.push_back(kBuffers * 1e3 / took.wall_ns);
      busy.push_back(kBuffers * 1e3 / took.busy_ns);
      if (buffers_->damaged() != 0)
        throw std::runtime_error("a pass of " + row_ + " did not give every buffer back as it was");
    }
    row["mpps"] = median(wall);
    row["busy_mpps"] = median(busy);
    row["handed_share"] = static_cast<double>(card.handed()) / kBuffers / options_.passes;
    const nic::CardCounters counted = card.counters();
    std::uint64_t unexpected = counted.dropped + counted.tx_full;
    for (const std::uint64_t n : counted.punts) unexpected += n;
    out_["card_unexpected"]["cores_" + name] = unexpected;
  }

  Options options_;
  std::unique_ptr<datapath::GnbContext> context_ = std::make_unique<datapath::GnbContext>();
  rte_mempool* pool_ = nullptr;
  FrameTemplate frame_;
  std::optional<Bearers> bearers_;
  std::optional<Buffers> buffers_;
  double restore_ = 0;
  std::string row_;  // the row that is measured now
  nlohmann::json out_;
};

void print(const nlohmann::json& report) {
  std::printf("One core, 128-octet packets, 65,536 bearers, 65,536 cold buffers in random order; CPU time\n\n");
  std::printf("  %-12s %10s %22s %22s %22s %22s\n", "", "host", "card: interpreted", "compiled, no prefetch",
              "compiled", "compiled against");
  std::printf("  %-12s %10s %12s %9s %12s %9s %12s %9s %12s %9s\n", "", "ns", "ns", "Mpps", "ns", "Mpps", "ns", "Mpps",
              "interpreted", "host");
  for (const char* name : {"drop", "l2fwd", "p4wire", "decap", "headers", "mat", "clone_drop", "clone"}) {
    const bool has_host = report["host"].contains(name);
    const double host = has_host ? report["host"][name].get<double>() : 0;
    std::printf("  %-12s %10s", name, has_host ? fmt::format("{:.1f}", host).c_str() : "");
    for (const Way& way : kWays) {
      const double ns = report[way.key][name];
      std::printf(" %12.1f %9.2f", ns, 1e3 / ns);
    }
    const double compiled = report["card"][name], interpreted = report["card_interpreted"][name];
    std::printf(" %11.1fx %9s\n", interpreted / compiled,
                has_host ? fmt::format("{:.1f}", compiled / host).c_str() : "");
  }
  for (const auto& [row, frames] : report["card_unexpected"].items()) {
    if (frames != 0) std::printf("  %s: %s frames punted or dropped\n", row.c_str(), frames.dump().c_str());
  }
  std::printf("\n");
  for (const auto& [program, ms] : report["install_ms"].items()) {
    std::printf("  65,536 bearers into %s: %.1f ms\n", program.c_str(), ms.get<double>());
  }
  for (const auto& [cores, row] : report["cores"].items()) {
    std::printf("  mat over rings on %s core%s: %.2f Mpps, by the clock on the wall %.2f; %.0f %% cross; %s %.1f ms\n",
                cores.c_str(), cores == "one" ? "" : "s", row["busy_mpps"].get<double>(), row["mpps"].get<double>(),
                100 * row["handed_share"].get<double>(), "65,536 bearers:", row["install_ms"].get<double>());
  }
  std::printf("  time lost to others: %.1f %%\n", report["jitter_percent"].get<double>());
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"Packets per second and core of the software SmartNIC's programs beside the host's pipeline."};
  splitplane::bench::Options options;
  app.add_option("--passes", options.passes, "passes over 65,536 buffers per row, median");
  app.add_option("--core", options.core, "core that is measured");
  app.add_option("--second", options.second, "the other core where a card of two cores is measured");
  app.add_option("--specs", options.specs, "directory of .spec files, by default that of the sources");
  app.add_flag("--json", options.json, "print JSON");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("nic_bench", options.core, {.file_prefix = "splitbenchnic", .megabytes = 1024}, [&](bool hugepages) {
    const auto jitter = measure_jitter(100);
    nlohmann::json report = Bench(options).run();
    report["jitter_percent"] = jitter.lost_percent;
    report["hugepages"] = hugepages;
    if (options.json) {
      std::printf("%s\n", report.dump().c_str());
    } else {
      print(report);
    }
  });
}
