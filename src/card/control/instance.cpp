#include "card/control/instance.h"

#include <rte_cycles.h>

#include <algorithm>
#include <random>

#include "base/log.h"
#include "base/text.h"
#include "card/config/fields.h"
#include "card/control/spec.h"
#include "card/protocol/show.h"
#include "power/governor/loan.h"
#include "runtime/config/lookup.h"
#include "runtime/instance_lock.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kEthernetBytes = 14;

static_assert(kMaxVfs == nic::kMaxVfs);

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

CardPlane::CardPlane(const CardConfig& config, std::optional<datapath::Eal> eal)
    : config_(config),
      eal_(std::move(eal)),
      boot_(random_name()),
      ports_(config_),
      loops_(config_),
      vfs_(config_, ports_, loops_, mutex_) {}

Expected<std::unique_ptr<CardPlane>> CardPlane::start(const CardConfig& config) {
  auto eal = start_eal(config, config.cores);
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  return start_on(std::move(*eal), config);
}

Expected<std::unique_ptr<CardPlane>> CardPlane::start_on(std::optional<datapath::Eal> eal, const CardConfig& config) {
  std::unique_ptr<CardPlane> plane(new CardPlane(config, std::move(eal)));
  const PlacementPlan plan = plan_placement(config, config.sysfs_root);
  for (const auto& warning : plan.warnings) log::warn("{}", warning);
  std::vector<std::string> later;
  for (const auto& vf : kept_vfs(config)) later.push_back(vf.port);
  if (auto done = plane->ports_.open(socket_of(plan.cards.front().node), later); !done)
    return tl::unexpected(done.error());
  if (auto done = plane->make_cards(plan); !done) return tl::unexpected(done.error());
  if (auto done = plane->ports_.make_endpoints(); !done) return tl::unexpected(done.error());
  if (auto done = plane->loops_.connect(plane->ports_.endpoints()); !done) return tl::unexpected(done.error());
  plane->vfs_.connect_present();
  if (auto done = plane->loops_.launch(); !done) return tl::unexpected(done.error());
  plane->vfs_.start();
  return plane;
}

void CardPlane::stop() {
  vfs_.stop();
  const std::lock_guard guard(mutex_);
  loops_.stop();
}

Expected<void> CardPlane::make_cards(const PlacementPlan& plan) {
  auto spec = load_spec(config_);
  if (!spec) return fail("card.program: {}", spec.error().message);
  program_ = spec_name(config_);
  source_hash_ = spec->source_hash;
  const auto& vfs = config_.vfs;
  const std::string punt_n3 = config_.punt_n3.empty() && !vfs.empty() ? vfs.front() : config_.punt_n3;
  const std::string punt_air = config_.punt_air.empty() && !vfs.empty() ? vfs[vfs.size() > 1] : config_.punt_air;
  const std::uint16_t air_mtu = config_.air.empty() ? 1500 : find_port(config_, config_.air)->mtu;
  nic::CardSettings card{.name = config_.name,
                         .vfs = std::max(vf_count(config_), 1U),
                         .punt_n3 = ports_.first_vf(punt_n3),
                         .punt_air = ports_.first_vf(punt_air),
                         .verify_checksum = config_.verify_udp_checksum,
                         .air_frame_bytes = kEthernetBytes + air_mtu,
                         .capacity = static_cast<std::uint32_t>(config_.max_bearers),
                         .cores = static_cast<unsigned>(config_.cores.size()),
                         .copy_clones = ports_.passes_mbufs(),
                         .numa_node = socket_of(plan.cards.front().node),
                         .execution = config_.execution};
  for (; card.core < card.cores; ++card.core) {
    auto made = nic::Card::make(*spec, card);
    if (!made) return tl::unexpected(made.error());
    if (auto done = set_wires(**made); !done) return done;
    loops_.add(*std::move(made));
  }
  return {};
}

Expected<void> CardPlane::set_wires(nic::Card& card) {
  if (config_.marks) {
    const std::uint64_t to_host = *config_.marks == kMarkCount ? 0 : ~std::uint64_t{0} << *config_.marks;
    const auto& punt = config_.punt_n3.empty() ? config_.vfs.front() : config_.punt_n3;
    if (auto done = card.set_markers(to_host, ports_.first_vf(punt)); !done) return done;
  }
  if (config_.spread != nic::VfSpread::kBearer) {
    for (const auto& [name, fallback] : {std::pair{config_.punt_n3, 0U}, {config_.punt_air, 1U}}) {
      const auto& port = !name.empty() ? name : config_.vfs[std::min<std::size_t>(fallback, config_.vfs.size() - 1)];
      const unsigned queues = find_port(config_, port)->rx_queues;
      if (auto done = card.set_spread(ports_.first_vf(port), queues, config_.spread); !done) return done;
    }
  }
  if (config_.program != CardConfig::Program::kP4wire) return {};
  const auto wire = [&](unsigned from, const WireTarget& target) -> Expected<void> {
    switch (target.kind) {
      case WireTarget::Kind::kN3:
        return card.wire(from, nic::kN3Port);
      case WireTarget::Kind::kAir:
        return card.wire(from, nic::kAirPort);
      case WireTarget::Kind::kVf:
        return card.wire(from, nic::kFirstVf + target.vf);
      case WireTarget::Kind::kSpread:
        break;
    }
    return card.spread(from);
  };
  if (config_.wire_n3) {
    if (auto done = wire(nic::kN3Port, *config_.wire_n3); !done) return done;
  }
  if (config_.wire_air) {
    if (auto done = wire(nic::kAirPort, *config_.wire_air); !done) return done;
  }
  const auto& targets = config_.wire_vfs;
  for (unsigned vf = 0; !targets.empty() && vf < vf_count(config_); ++vf) {
    if (auto done = wire(nic::kFirstVf + vf, targets[targets.size() == 1 ? 0 : vf]); !done) return done;
  }
  return {};
}

Expected<CardSeen> CardPlane::look() {
  const std::lock_guard guard(mutex_);
  CardSeen seen;
  bool stopped = true;
  const auto done = loops_.cards().on_each([&](unsigned core, nic::Card& card) -> Expected<void> {
    const CardLoop& loop = loops_[core];
    CoreCounts& counts = seen.cores.emplace_back();
    counts.card = card.counters();
    if (loop.together) counts.moved = loop.together->counters();
    WorkerObservation& worker = seen.workers.emplace_back();
    worker.name = loop.name;
    worker.core = loop.core;
    worker.counters = take_snapshot(loop.stats);
    worker.policy = loop.policy.kind;
    worker.cpu_cycles = loop.thread.cpu_cycles();
    add(seen.card, counts.card);
    stopped = stopped && !loop.thread.running;
    seen.bearers += card.bearer_count();
    seen.serves += card.served_count();
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  seen.totals = sums_over(seen.cores, stopped);
  return seen;
}

std::vector<PortObservation> CardPlane::observe_ports(const nic::CardCounters& counters) {
  const std::lock_guard guard(mutex_);
  return ports_.observe(counters);
}

Expected<Observation> CardPlane::observe() {
  auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  Observation all{.file_prefix = config_.file_prefix, .bearers = seen->bearers, .tsc_hz = rte_get_tsc_hz()};
  all.ports = observe_ports(seen->card);
  all.workers = std::move(seen->workers);
  all.cards.push_back({config_.name, ports_.names(), std::move(seen->card)});
  all.log = log::unwritten();
  return all;
}

Expected<Json> CardPlane::stats() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  return stats_json(*seen, observe_ports(seen->card), {config_.name, program_, ports_.names()});
}

Expected<Json> CardPlane::show_power() {
  const std::lock_guard guard(mutex_);
  Json rows = Json::array();
  for (unsigned core = 0; core < loops_.size(); ++core) {
    auto row = loops_.power_of(core).show();
    if (!row) return row;
    rows.push_back(*std::move(row));
  }
  return rows;
}

// The card's name is all of its loops.
Expected<Json> CardPlane::set_power(const std::string& worker, const power::Settings& settings) {
  const std::lock_guard guard(mutex_);
  Expected<Json> last =
      fail("worker: there is no '{}'; allowed: {}{}", printable(worker), config_.name,
           loops_.size() == 1 ? "" : fmt::format(", {0}.0 to {0}.{1}", config_.name, loops_.size() - 1));
  if (worker == config_.name) {
    if (auto there = loops_.cards().all_answer(); !there) return tl::unexpected(there.error());
  }
  for (unsigned core = 0; core < loops_.size(); ++core) {
    if (worker != config_.name && worker != loops_[core].name) continue;
    last = loops_.power_of(core).set(settings);
    if (!last) break;
  }
  return last;
}

Expected<Json> CardPlane::show_card() {
  const auto seen = look();
  if (!seen) return tl::unexpected(seen.error());
  const auto& names = ports_.names();
  const bool gnb = config_.program == CardConfig::Program::kGnb;
  CardShow show{.boot = boot_,
                .program = program_,
                .features = gnb ? std::string(datapath::name_of(config_.features)) : "",
                .lookup = config_.lookup == CardConfig::Lookup::kTeid ? "teid" : "ue_address",
                .max_bearers = gnb ? config_.max_bearers : 0,
                .vfs = {},
                .punt_n3 = loops_[0].card->settings().punt_n3,
                .punt_air = loops_[0].card->settings().punt_air};
  if (!config_.vfs.empty()) show.vfs.assign(names.begin() + nic::kFirstVf, names.end());
  Json card = counters_json(*seen, names);
  write_show(card, show);
  card.update({{"name", config_.name},
               {"source_hash", source_hash_},
               {"execution", kExecutionNames[loops_[0].card->is_compiled() ? 0 : 1]},
               {"marks", config_.marks ? Json(*config_.marks) : Json(nullptr)},
               {"cores", config_.cores},
               {"waiting_vfs", vfs_.waiting()},
               {"bearers", seen->bearers},
               {"serves", seen->serves}});
  return card;
}

Expected<void> CardPlane::install_on_card(std::span<const nic::CardBearer> bearers, bool restart) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().install(bearers, restart);
}

Expected<void> CardPlane::remove_from_card(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().remove(ids);
}

Expected<void> CardPlane::set_card_peer(const nic::CardPeer& peer) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().set_peer(peer);
}

Expected<void> CardPlane::unset_card_peer(unsigned number) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().unset_peer(number);
}

Expected<void> CardPlane::set_card_marks(const nic::CardMarks& tos) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().set_marks(tos);
}

Expected<void> CardPlane::set_leases(std::span<const nic::CardLease> leases) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().set_leases(leases);
}

Expected<void> CardPlane::begin_on_card(std::span<const nic::CardBeginning> bearers) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().begin(bearers);
}

Expected<FencedByCard> CardPlane::fence_card(std::span<const BearerId> ids, std::uint64_t token) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().fence(ids, token, ports_.pool()).map([](nic::CardCores::Fenced done) {
    return FencedByCard{done.fences.n3, done.fences.copies, std::move(done.numbers)};
  });
}

Expected<std::vector<nic::BearerNumbers>> CardPlane::card_numbers(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().numbers(ids);
}

Expected<std::vector<nic::BearerNumbers>> CardPlane::card_numbers_after(std::uint32_t after, std::size_t limit) {
  const std::lock_guard guard(mutex_);
  return loops_.cards().numbers_after(after, limit);
}

}  // namespace splitplane::app
