// Cycles per packet of every feature set on cold buffers, on one core, and of the baselines in the same run: our l2fwd
// and io on net_null. Prints one JSON object. run.py repeats it interleaved with dpdk-testpmd and takes medians.
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/port.h"
#include "engine/worker.h"
#include "gnb/datapath/gnb.h"
#include "host_pass.h"
#include "on_core.h"
#include "quiet.h"

namespace splitplane::bench {
namespace {

// The same bearers under TEIDs that another node assigned, while this object lives.
class ForeignTeids {
 public:
  ForeignTeids(datapath::BearerLookup& keys, const std::vector<std::uint32_t>& identities) : keys_(keys) {
    const std::size_t bytes = datapath::BearerLookup::Short::bytes_needed(identities.size());
    memory_ = static_cast<std::byte*>(rte_zmalloc("keys", bytes, 64));
    if (memory_ == nullptr) throw std::runtime_error("not enough memory for the foreign TEIDs");
    keys_.teids.emplace(std::move(*datapath::BearerLookup::Short::create({memory_, bytes}, identities.size(), 42)));
    for (const std::uint32_t id : identities) {
      teids_.push_back(id * 2654435761U | 0x80000000U);
      if (keys_.teids->insert(teids_.back(), id) == ran::KeyInsert::full) throw std::runtime_error("a table is full");
    }
  }
  ~ForeignTeids() {
    keys_.teids.reset();
    rte_free(memory_);
  }
  ForeignTeids(const ForeignTeids&) = delete;
  ForeignTeids& operator=(const ForeignTeids&) = delete;
  [[nodiscard]] const std::vector<std::uint32_t>& teids() const { return teids_; }

 private:
  datapath::BearerLookup& keys_;
  std::byte* memory_ = nullptr;
  std::vector<std::uint32_t> teids_;
};

// A function that stops its worker loop at a given time, because the loop is what is timed.
template <class Function>
struct StopAfter {
  Function& inner;
  std::uint64_t end;
  std::atomic<bool>& stop;
  unsigned rounds = 0;

  auto& queues() { return inner.queues(); }
  template <class Queue>
  void process(Queue& queue, datapath::Burst& burst) {
    inner.process(queue, burst);
  }
  void flush() {
    inner.flush();
    if (++rounds % 1024 == 0 && rte_rdtsc() > end) stop.store(true, std::memory_order_relaxed);
  }
};

// The worker loop on a real net_null port for `milliseconds`; returns cycles per packet.
template <class Function>
double on_null_port(Function& function, datapath::WorkerStats& stats, unsigned milliseconds) {
  const std::uint64_t packets_before = stats.transmitted_air.get();
  const std::uint64_t begin = rte_rdtsc_precise();
  std::atomic<bool> stop{false};
  datapath::Mailbox mailbox;
  StopAfter<Function> timed{function, begin + rte_get_tsc_hz() / 1000 * milliseconds, stop};
  datapath::WorkerPower power(power::Settings{.kind = power::Kind::busy});
  datapath::run_worker(timed, power, mailbox, stats, stop);
  const double cycles = static_cast<double>(rte_rdtsc_precise() - begin);
  return cycles / static_cast<double>(stats.transmitted_air.get() - packets_before);
}

// Receives and sends only: the cost that any function on this port has.
struct Io {
  struct Queue {
    datapath::EthSource source;
    unsigned receive(datapath::Burst& burst) { return source.receive(burst); }
    static unsigned take_left(datapath::Burst&) { return 0; }
  };
  std::array<Queue, 1> queue;
  datapath::EthSink sink;
  datapath::WorkerStats& stats;
  std::array<Queue, 1>& queues() { return queue; }
  void process(Queue&, datapath::Burst& burst) { stats.transmitted_air.add(sink.send(burst.mbuf.data(), burst.size)); }
  void flush() {}
};

// The same pass with the consumer of copies on another core. Buffers come back from there, so a pass waits for it.
double two_core_clone(datapath::GnbContext& context, Buffers& buffers, unsigned lcore) {
  struct Consumer {
    datapath::GnbContext* context;
    Buffers* buffers;
    std::atomic<bool> stop{false};
    datapath::WorkerStats stats;
  } consumer{&context, &buffers, {}, {}};
  rte_eal_remote_launch(
      [](void* argument) {
        auto& c = *static_cast<Consumer*>(argument);
        const ReleaseCopies release{&c.buffers->frame()};
        while (!c.stop.load(std::memory_order_relaxed)) datapath::consume_copies(c.context->copies, c.stats, release);
        while (datapath::consume_copies(c.context->copies, c.stats, release) != 0) {
        }
        return 0;
      },
      &consumer, lcore);
  const double cycles = one_pass<FeatureSet::clone>(context, buffers, RestoringSink{&buffers.frame()}, false);
  consumer.stop = true;
  rte_eal_wait_lcore(lcore);
  return cycles;
}

struct Options {
  unsigned passes = 4;
  unsigned null_ms = 200;
  unsigned core = 0, other_core = 1;
  bool two_cores = true;
};

nlohmann::json run(const Options& options) {
  nlohmann::json rows = nlohmann::json::object();
  rte_mempool* pool = rte_pktmbuf_pool_create("bench", 131071, 512, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
  auto context = std::make_unique<datapath::GnbContext>();
  context->n3.ipv4 = __builtin_bswap32(0x0a640001);
  context->n3.source_mask = ~0U;  // each sender is compared with its bearer's UPF
  context->copies = rte_ring_create("copies", 131072, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  context->pool = pool;
  context->air_header = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
  const FrameTemplate frame = make_frame_template(context->n3);
  auto port = datapath::Port::open({.name = "null", .device = "net_null0,size=128", .rx_descriptors = 1024}, pool);
  if (!port) throw std::runtime_error(port.error().message);
  const std::uint16_t null_port = (*port)->id();

  std::vector<std::uint32_t> one{0};
  Buffers buffers(pool, kBuffers, one, frame, 42);
  const RestoringSink sink{&frame};
  const double restore = restore_cost(buffers);
  rows["restore"] = restore;
  unsigned damaged = 0;

  const auto row = [&](const std::string& name, double subtract, auto&& pass) {
    std::vector<double> cycles;
    for (unsigned i = 0; i < options.passes; ++i) cycles.push_back(pass());
    damaged += buffers.damaged();
    std::nth_element(cycles.begin(), cycles.begin() + options.passes / 2, cycles.end());
    rows[name] = cycles[options.passes / 2] - subtract;
  };
  for (const std::size_t count : {std::size_t{1024}, std::size_t{65536}, std::size_t{1} << 20}) {
    Bearers bearers(context->bearers, count);
    context->fixed_bearer = ran::make_downlink({.id = BearerId{bearers.teids().front()}});
    buffers.assign(bearers.teids(), 7);
    const std::string suffix = "." + std::to_string(count);
    if (count == 65536) {
      row("drop", 0, [&] { return one_drop_pass(*context, buffers); });
      row("l2fwd", restore, [&] { return one_pass<FeatureSet::l2fwd>(*context, buffers, sink, false); });
      row("decap", restore, [&] { return one_pass<FeatureSet::decap>(*context, buffers, sink, false); });
      row("headers", restore, [&] { return one_pass<FeatureSet::headers>(*context, buffers, sink, false); });
      row("clone_drop", restore, [&] { return one_pass<FeatureSet::clone_drop>(*context, buffers, sink, false); });
      row("clone", restore, [&] { return one_pass<FeatureSet::clone>(*context, buffers, sink, true); });
      row("l2fwd_on_null", restore,
          [&] { return one_pass<FeatureSet::l2fwd>(*context, buffers, NullPortSink{&frame, null_port}, false); });
      row("mat_on_null", restore,
          [&] { return one_pass<FeatureSet::mat>(*context, buffers, NullPortSink{&frame, null_port}, false); });
    }
    row("mat" + suffix, restore, [&] { return one_pass<FeatureSet::mat>(*context, buffers, sink, false); });
    ForeignTeids foreign(context->keys, bearers.teids());
    buffers.assign(foreign.teids(), 7);
    row("mat_foreign_teid" + suffix, restore,
        [&] { return one_pass<FeatureSet::mat>(*context, buffers, sink, false); });
  }
  for (const std::size_t count : {std::size_t{1024}, std::size_t{65536}}) {
    Sessions sessions(*context, count, Qfi{9});  // the flow of the frames
    buffers.assign(sessions.teids(), 7);
    row("mat_session." + std::to_string(count), restore,
        [&] { return one_pass<FeatureSet::mat>(*context, buffers, sink, false); });
  }
  if (options.two_cores) {
    Bearers bearers(context->bearers, 65536);
    buffers.assign(bearers.teids(), 7);
    rows["round_trip_ns_before"] = measure_round_trip_ns(options.other_core);
    row("clone_two_cores", 0, [&] { return two_core_clone(*context, buffers, 1); });
    rows["round_trip_ns_after"] = measure_round_trip_ns(options.other_core);
  }
  rows["copies_lost"] = context->stats.copies_lost.get();
  rows["unexpected_drops"] = context->stats.dropped() -
                             context->stats.drops[static_cast<std::size_t>(datapath::DropReason::feature_drop)].get();
  rows["damaged_buffers"] = damaged;

  datapath::WorkerStats stats;
  Io io{{{{{null_port, 0}}}}, {null_port, 0, false}, stats};
  rows["io_null"] = on_null_port(io, stats, options.null_ms);
  datapath::L2fwd<datapath::EthSource, datapath::EthSink> l2fwd({null_port, 0}, {null_port, 0, false}, stats);
  rows["l2fwd_null"] = on_null_port(l2fwd, stats, options.null_ms);
  return rows;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app{"Cycles per packet of the pipeline, one core, cold buffers; prints JSON."};
  splitplane::bench::Options options;
  app.add_option("--passes", options.passes, "passes over 65,536 buffers per row, median");
  app.add_option("--null-ms", options.null_ms, "milliseconds per row on the net_null port");
  app.add_option("--core", options.core, "core that is measured");
  app.add_option("--other-core", options.other_core, "core of the consumer in two-core rows");
  app.add_flag("!--one-core", options.two_cores, "leave the two-core rows out");
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("pipeline_bench", options.core,
                 {.file_prefix = "splitbench", .megabytes = 1024, .worker_cores = {options.other_core}},
                 [&](bool hugepages) {
                   const auto before = measure_jitter(100);
                   nlohmann::json report{{"cycles", run(options)}};
                   const auto after = measure_jitter(100);
                   report["tsc_hz"] = rte_get_tsc_hz();
                   report["hugepages"] = hugepages;
                   report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
                   report["jitter_worst_us"] = std::max(before.worst_us, after.worst_us);
                   std::printf("%s\n", report.dump().c_str());
                 });
}
