#include "traffic/control/run.h"

#include <rte_ethdev.h>
#include <rte_lcore.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/log.h"
#include "runtime/start_up.h"
#include "runtime/stop_flag.h"
#include "traffic/clock.h"
#include "traffic/control/flows.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kGraceNs = 10'000'000;        // for what was due at the very end
constexpr std::chrono::milliseconds kUntilTaken{50};  // for the last packets, before the port closes
constexpr std::chrono::milliseconds kDrain{300};      // for packets under way, unless sink.idle_s says otherwise
constexpr std::chrono::seconds kPatienceForLinks{5};  // memif and vhost come up when the other side does

traffic::MakerSettings maker_settings(const GenConfig& gen, const MacAddress& from, std::uint32_t run) {
  traffic::MakerSettings settings{.direction = gen.direction,
                                  .from = from,
                                  .to = gen.peer_mac,
                                  .server_ipv4 = gen.server_ipv4,
                                  .server_ipv6 = gen.server_ipv6,
                                  .run = run};
  for (const auto& size : gen.sizes) settings.sizes.push_back(size.bytes);
  return settings;
}

std::vector<std::uint32_t> weights_of(const GenConfig& gen) {
  std::vector<std::uint32_t> weights;
  for (const auto& size : gen.sizes) weights.push_back(size.weight);
  return weights;
}

}  // namespace

Expected<std::unique_ptr<TrafficRun>> TrafficRun::make(const TrafficConfig& config, const TrafficOptions& options) {
  std::vector<unsigned> cores;
  if (config.gen) cores.push_back(config.gen->core);
  if (config.sink && (!config.gen || config.sink->core != config.gen->core)) cores.push_back(config.sink->core);
  auto eal = start_eal(config, cores);
  if (!eal) return tl::unexpected(eal.error());
  return make_on(std::move(*eal), config, options);
}

Expected<std::unique_ptr<TrafficRun>> TrafficRun::make_on(std::optional<datapath::Eal> eal, const TrafficConfig& config,
                                                          const TrafficOptions& options) {
  std::unique_ptr<TrafficRun> run(new TrafficRun(config, std::move(eal)));
  for (const auto& port : config.ports) {
    if (const auto opened = run->open_port(port); !opened) return tl::unexpected(opened.error());
  }
  run->run_ = std::random_device{}();
  if (config.gen) {
    if (const auto made = run->make_generator(options); !made) return tl::unexpected(made.error());
  }
  if (config.sink) run->make_sink();
  return run;
}

Expected<void> TrafficRun::open_port(const PortConfig& config) {
  auto pool = make_pool("port " + config.name, config.name, config_.memory);
  if (!pool) return tl::unexpected(pool.error());
  pools_.push_back(*std::move(pool));
  auto opened = datapath::Port::open(port_settings(config), pools_.back().get());
  if (!opened) return tl::unexpected(opened.error());
  ports_.push_back(*std::move(opened));
  return {};
}

datapath::Port& TrafficRun::port(const std::string& name) {
  return **std::find_if(ports_.begin(), ports_.end(), [&](const auto& port) { return port->name() == name; });
}

Expected<void> TrafficRun::make_generator(const TrafficOptions& options) {
  const GenConfig& gen = *config_.gen;
  datapath::Port& out = port(gen.port);
  const auto index = static_cast<std::size_t>(
      std::find_if(ports_.begin(), ports_.end(), [&](const auto& p) { return p.get() == &out; }) - ports_.begin());
  const double seconds = options.duration_s.value_or(gen.duration_s);
  duration_ns_ = static_cast<std::uint64_t>(seconds * 1e9);
  const traffic::GeneratorSettings settings{.port = out.id(),
                                            .pool = pools_[index].get(),
                                            .packets = options.packets.value_or(gen.packets),
                                            .duration_ns = duration_ns_,
                                            .late_ns = std::uint64_t{gen.late_us} * 1000,
                                            .retry = gen.retry};
  const std::uint32_t rate = options.rate.value_or(gen.rate);
  if (gen.replay.empty()) {
    auto flows = make_flows(gen);
    if (!flows) return tl::unexpected(flows.error());
    packets_.emplace(maker_settings(gen, out.mac(), run_), *flows);
    generator_ = std::make_unique<traffic::Generator<traffic::PacketMaker>>(
        settings, *packets_, traffic::Schedule(gen.arrivals, rate, gen.seed),
        traffic::Mix(packets_->flows(), gen.order, weights_of(gen), gen.seed + 1));
    return {};
  }
  auto replay = traffic::Replay::load(gen.replay, config_.memory.mbuf_data_bytes);
  if (!replay) return fail("gen.replay: {}", replay.error().message);
  replay_.emplace(*std::move(replay));
  traffic::Arrivals arrivals = gen.arrivals;
  if (rate == 0 && replay_->times_ns().back() == 0) {
    return fail("gen.replay: all frames of {} have one time; allowed: with rate", gen.replay);
  }
  if (rate == 0) arrivals = traffic::Recorded{replay_->times_ns(), gen.speed_percent / 100.0};
  generator_ = std::make_unique<traffic::Generator<traffic::Replay>>(
      settings, *replay_, traffic::Schedule(std::move(arrivals), std::max(rate, 1U), gen.seed),
      traffic::Mix(replay_->flows(), traffic::Mix::Order::kInTurn, {1}, 0));
  return {};
}

void TrafficRun::make_sink() {
  const SinkConfig& sink = *config_.sink;
  traffic::SinkSettings settings{.port = port(sink.port).id(), .flows = sink.flows, .window = sink.window};
  if (packets_) {
    settings.run = run_;
    settings.flows = packets_->flows();
  }
  sink_ = std::make_unique<traffic::Sink>(settings);
}

template <class Maker>
void TrafficRun::loop(traffic::Generator<Maker>* generator, traffic::Sink* sink) {
  const traffic::MonotonicClock clock;
  std::uint64_t end = ~0ULL;
  if (generator != nullptr) {
    const std::uint64_t now = clock();
    generator->start(now);
    if (duration_ns_ != 0) end = now + duration_ns_ + kGraceNs;
  }
  bool generating = generator != nullptr;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (generating) {
      const std::uint64_t now = clock();
      generator->poll(now);
      if (generator->finished() || now >= end) [[unlikely]] {
        generator->end(now);
        generating = false;
        done_.store(true, std::memory_order_release);
        if (sink == nullptr) return;
      }
    }
    if (sink != nullptr) sink->poll(clock);
  }
  if (generating) generator->end(clock());
}

int TrafficRun::run_generator(void* self) {
  auto& run = *static_cast<TrafficRun*>(self);
  if (auto* replay = std::get_if<Owned<traffic::Replay>>(&run.generator_)) {
    run.loop(replay->get(), nullptr);
  } else {
    run.loop(std::get<Owned<traffic::PacketMaker>>(run.generator_).get(), nullptr);
  }
  return 0;
}

int TrafficRun::run_sink(void* self) {
  auto& run = *static_cast<TrafficRun*>(self);
  run.loop<traffic::PacketMaker>(nullptr, run.sink_.get());
  return 0;
}

int TrafficRun::run_both(void* self) {
  auto& run = *static_cast<TrafficRun*>(self);
  if (auto* replay = std::get_if<Owned<traffic::Replay>>(&run.generator_)) {
    run.loop(replay->get(), run.sink_.get());
  } else {
    run.loop(std::get<Owned<traffic::PacketMaker>>(run.generator_).get(), run.sink_.get());
  }
  return 0;
}

void TrafficRun::launch(unsigned lcore, int (*function)(void*)) {
  if (const int error = rte_eal_remote_launch(function, this, lcore); error != 0) {
    log::error("the thread on lcore {} did not start ({})", lcore, rte_strerror(-error));
    done_.store(true, std::memory_order_release);
  }
}

void TrafficRun::start() {
  const auto begin = Clock::now();
  for (const auto& port : ports_) {
    rte_eth_link link{};
    while (rte_eth_link_get_nowait(port->id(), &link) == 0 && link.link_status == RTE_ETH_LINK_DOWN &&
           Clock::now() - begin < kPatienceForLinks && !StopFlag::instance().wait_for(std::chrono::milliseconds(10))) {
    }
    if (link.link_status == RTE_ETH_LINK_DOWN) log::warn("port {}: its link is down", port->name());
  }
  running_ = true;
  last_change_ = Clock::now();
  if (has_generator() && sink_ && config_.gen->core == config_.sink->core) {
    launch(1, &run_both);
    return;
  }
  if (sink_) launch(has_generator() ? 2 : 1, &run_sink);
  if (has_generator()) launch(1, &run_generator);
}

void TrafficRun::stop() {
  if (!running_) return;
  stop_.store(true, std::memory_order_relaxed);
  rte_eal_mp_wait_lcore();
  // What the other end of a memif or of a vhost queue has not taken when it closes is lost.
  if (has_generator()) std::this_thread::sleep_for(kUntilTaken);
  running_ = false;
}

bool TrafficRun::received(Clock::time_point now) {
  const std::uint64_t seen = sink_ ? sink_->stamped() : 0;
  if (seen != last_seen_) {
    last_seen_ = seen;
    last_change_ = now;
  }
  const std::chrono::seconds idle(config_.sink ? config_.sink->idle_s : 0);
  const bool has_idle = idle.count() != 0;
  if (has_generator()) {
    if (!generated()) last_change_ = now;
    return generated() && now - last_change_ >= (has_idle ? Clock::duration(idle) : Clock::duration(kDrain));
  }
  return has_idle && seen != 0 && now - last_change_ >= idle;
}

const traffic::GeneratorStats& TrafficRun::generator_stats() const {
  if (const auto* replay = std::get_if<Owned<traffic::Replay>>(&generator_)) return (*replay)->stats();
  return std::get<Owned<traffic::PacketMaker>>(generator_)->stats();
}

GeneratorView TrafficRun::generator() const {
  const auto view = [&](const auto& g, bool replay, std::uint32_t flows) {
    return GeneratorView{.stats = g.stats(),
                         .lateness = g.lateness(),
                         .started_ns = g.started_ns(),
                         .last_sent_ns = g.last_sent_ns(),
                         .flows = flows,
                         .rate = config_.gen->rate,
                         .downlink = config_.gen->direction == Direction::kDownlink,
                         .replay = replay};
  };
  if (const auto* replay = std::get_if<Owned<traffic::Replay>>(&generator_)) {
    return view(**replay, true, replay_->flows());
  }
  return view(*std::get<Owned<traffic::PacketMaker>>(generator_), false, packets_->flows());
}

}  // namespace splitplane::app
