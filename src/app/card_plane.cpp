#include "app/card_plane.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include <algorithm>
#include <random>

#include "app/card_loop.h"
#include "app/card_spec.h"
#include "app/config_check.h"
#include "app/instance_lock.h"
#include "app/start_up.h"
#include "base/log.h"
#include "power/governor/loan.h"

namespace splitplane::app {
namespace {

constexpr unsigned kLcore = 1;
constexpr unsigned kUnconnectedEntries = 64;
constexpr unsigned kEthernetBytes = 14;

static_assert(kMaxVfs == nic::kMaxVfs);

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

CardPlane::CardPlane(const Config& config, datapath::Eal eal)
    : config_(config), settings_(*config_.card), eal_(std::move(eal)), boot_(random_name()) {}

Expected<std::unique_ptr<CardPlane>> CardPlane::start(const Config& config) {
  auto eal = start_eal(config, {config.card->core});
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  std::unique_ptr<CardPlane> plane(new CardPlane(config, std::move(*eal)));
  const PlacementPlan plan = plan_placement(config, config.sysfs_root);
  for (const auto& warning : plan.warnings) log::warn("{}", warning);
  if (auto done = plane->open_ports(plan); !done) return tl::unexpected(done.error());
  if (auto done = plane->make_card(plan); !done) return tl::unexpected(done.error());
  if (auto done = plane->make_endpoints(); !done) return tl::unexpected(done.error());
  if (auto done = plane->set_wires(); !done) return tl::unexpected(done.error());
  if (auto done = plane->launch(); !done) return tl::unexpected(done.error());
  return plane;
}

Expected<void> CardPlane::open_ports(const PlacementPlan& plan) {
  auto pool = make_pool("card " + settings_.name, settings_.name, config_.memory, socket_of(plan.cards.front().node));
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  for (const auto& config : config_.ports) {
    datapath::PortSettings settings = port_settings(config);
    settings.checksums = datapath::ChecksumMode::off;  // the host's, behind the card
    auto port = datapath::Port::open(settings, pool_.get());
    if (!port) return tl::unexpected(port.error());
    const std::string mac = (*port)->mac().to_string();
    log::write(spdlog::level::info, {{"port", config.name}, {"device", config.device}, {"mac", mac}},
               fmt::format("port {}: {} ({})", config.name, config.device, mac));
    ports_[config.name] = std::move(*port);
  }
  return {};
}

// The number of the first VF of a port of card.vfs.
unsigned CardPlane::first_vf(const std::string& port) const {
  unsigned first = 0;
  for (const auto& name : settings_.vfs) {
    if (name == port) break;
    first += find_port(config_, name)->rx_queues;
  }
  return first;
}

Expected<void> CardPlane::make_card(const PlacementPlan& plan) {
  auto spec = load_spec(settings_);
  if (!spec) return fail("card.program: {}", spec.error().message);
  program_ = spec_name(settings_);
  source_hash_ = spec->source_hash;
  const auto& vfs = settings_.vfs;
  const std::string punt_n3 = settings_.punt_n3.empty() && !vfs.empty() ? vfs.front() : settings_.punt_n3;
  const std::string punt_air = settings_.punt_air.empty() && !vfs.empty() ? vfs[vfs.size() > 1] : settings_.punt_air;
  const bool hands_on =
      std::any_of(ports_.begin(), ports_.end(), [](const auto& p) { return p.second->passes_mbufs(); });
  const std::uint16_t air_mtu = settings_.air.empty() ? 1500 : find_port(config_, settings_.air)->mtu;
  auto card = nic::Card::make(*spec, {.name = settings_.name,
                                      .vfs = std::max(vf_count(config_), 1U),
                                      .punt_n3 = first_vf(punt_n3),
                                      .punt_air = first_vf(punt_air),
                                      .verify_checksum = settings_.verify_udp_checksum,
                                      .air_frame_bytes = kEthernetBytes + air_mtu,
                                      .capacity = static_cast<std::uint32_t>(settings_.max_bearers),
                                      .copy_clones = hands_on,
                                      .numa_node = socket_of(plan.cards.front().node)});
  if (!card) return tl::unexpected(card.error());
  card_ = *std::move(card);
  return {};
}

// The card's ports in the program's order; a side without a port of ours is a pair of rings that nobody else has.
Expected<void> CardPlane::make_endpoints() {
  const auto ring = [&](const char* end) -> rte_ring* {
    Ring made(rte_ring_create(fmt::format("{}.{}{}", settings_.name, end, rings_.size()).c_str(), kUnconnectedEntries,
                              SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ));
    rings_.push_back(std::move(made));
    return rings_.back().get();
  };
  const auto connect = [&](const std::string& name, std::uint16_t queue, const std::string& shown) {
    endpoints_.push_back({.port = ports_.at(name)->id(), .queue = queue});
    port_names_.push_back(shown);
  };
  const auto leave = [&](const std::string& shown) {
    endpoints_.push_back({.in = ring("in"), .out = ring("out")});
    port_names_.push_back(shown);
  };
  for (const auto& [name, side] : {std::pair{settings_.n3, "n3"}, {settings_.air, "air"}})
    name.empty() ? leave(side) : connect(name, 0, name);
  for (const auto& name : settings_.vfs) {
    const std::uint16_t queues = find_port(config_, name)->rx_queues;
    for (std::uint16_t queue = 0; queue < queues; ++queue)
      connect(name, queue, queues == 1 ? name : fmt::format("{}/{}", name, queue));
  }
  if (settings_.vfs.empty()) leave("vf0");
  for (const Ring& made : rings_) {
    if (!made) return fail("card {}: no memory for its rings; allowed: a larger memory.megabytes", settings_.name);
  }
  return {};
}

Expected<void> CardPlane::set_wires() {
  if (settings_.marks) {
    const std::uint64_t to_host = *settings_.marks == kMarkCount ? 0 : ~std::uint64_t{0} << *settings_.marks;
    const auto& punt = settings_.punt_n3.empty() ? settings_.vfs.front() : settings_.punt_n3;
    if (auto done = card_->set_markers(to_host, first_vf(punt)); !done) return done;
  }
  if (settings_.program != CardConfig::Program::kP4wire) return {};
  const auto wire = [&](unsigned from, const WireTarget& target) -> Expected<void> {
    switch (target.kind) {
      case WireTarget::Kind::kN3:
        return card_->wire(from, nic::kN3Port);
      case WireTarget::Kind::kAir:
        return card_->wire(from, nic::kAirPort);
      case WireTarget::Kind::kVf:
        return card_->wire(from, nic::kFirstVf + target.vf);
      case WireTarget::Kind::kSpread:
        break;
    }
    return card_->spread(from);
  };
  if (settings_.wire_n3) {
    if (auto done = wire(nic::kN3Port, *settings_.wire_n3); !done) return done;
  }
  if (settings_.wire_air) {
    if (auto done = wire(nic::kAirPort, *settings_.wire_air); !done) return done;
  }
  const auto& targets = settings_.wire_vfs;
  for (unsigned vf = 0; !targets.empty() && vf < vf_count(config_); ++vf) {
    if (auto done = wire(nic::kFirstVf + vf, targets[targets.size() == 1 ? 0 : vf]); !done) return done;
  }
  return {};
}

Expected<void> CardPlane::launch() {
  power_of().start();
  const auto loop = [](void* argument) {
    auto& self = *static_cast<CardPlane*>(argument);
    apply_schedule(self.settings_.name, self.settings_.schedule);
    run_card(*self.card_, self.endpoints_, self.power_, self.mailbox_, self.stats_, self.stop_);
    return 0;
  };
  if (rte_eal_remote_launch(loop, this, kLcore) != 0)
    return fail("card {}: its thread could not be started on core {}", settings_.name, settings_.core);
  running_ = true;
  power_of().say_what_cannot_wake();
  return {};
}

void CardPlane::stop() {
  const std::lock_guard guard(mutex_);
  if (!running_) return;
  stop_.store(true, std::memory_order_relaxed);
  power_.wakeup().wake();
  rte_eal_wait_lcore(kLcore);
  running_ = false;
}

bool CardPlane::execute(const std::function<void()>& command) {
  if (running_) return mailbox_.execute(command);
  command();
  return true;
}

LoopPower CardPlane::power_of() {
  return {.name = settings_.name,
          .core = settings_.core,
          .sysfs_root = config_.sysfs_root,
          .settings = settings_.policy,
          .governor = governor_,
          .power = power_,
          .stats = stats_,
          .execute = [this](const std::function<void()>& command) { return execute(command); }};
}

}  // namespace splitplane::app
