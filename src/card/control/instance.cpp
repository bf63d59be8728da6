#include "card/control/instance.h"

#include <algorithm>
#include <random>

#include "base/log.h"
#include "card/control/spec.h"
#include "config/check.h"
#include "power/governor/loan.h"
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

CardPlane::CardPlane(const Config& config, datapath::Eal eal)
    : config_(config), settings_(*config_.card), eal_(std::move(eal)), boot_(random_name()) {}

Expected<std::unique_ptr<CardPlane>> CardPlane::start(const Config& config) {
  auto eal = start_eal(config, config.card->cores);
  if (!eal) return tl::unexpected(eal.error());
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    if (!loan.in_use) log::info("{}: given back what an earlier run had set", loan.name);
  }
  std::unique_ptr<CardPlane> plane(new CardPlane(config, std::move(*eal)));
  const PlacementPlan plan = plan_placement(config, config.sysfs_root);
  for (const auto& warning : plan.warnings) log::warn("{}", warning);
  if (auto done = plane->open_ports(plan); !done) return tl::unexpected(done.error());
  if (auto done = plane->make_cards(plan); !done) return tl::unexpected(done.error());
  if (auto done = plane->make_endpoints(); !done) return tl::unexpected(done.error());
  if (auto done = plane->make_functions(); !done) return tl::unexpected(done.error());
  plane->keep_vfs();
  if (auto done = plane->launch(); !done) return tl::unexpected(done.error());
  plane->start_vf_thread();
  return plane;
}

Expected<void> CardPlane::open_ports(const PlacementPlan& plan) {
  auto pool = make_pool("card " + settings_.name, settings_.name, config_.memory, socket_of(plan.cards.front().node));
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  const auto kept = kept_vfs();
  for (const auto& config : config_.ports) {
    if (std::ranges::any_of(kept, [&](const auto& vf) { return vf.port == config.name; })) continue;
    auto port = open_port(config);
    if (!port) return tl::unexpected(port.error());
    ports_[config.name] = *std::move(port);
  }
  return {};
}

Expected<std::unique_ptr<datapath::Port>> CardPlane::open_port(const PortConfig& config) {
  datapath::PortSettings settings = port_settings(config);
  settings.checksums = datapath::ChecksumMode::off;  // the host's, behind the card
  auto port = datapath::Port::open(settings, pool_.get());
  if (!port) return port;
  const std::string mac = (*port)->mac().to_string();
  log::write(spdlog::level::info, {{"port", config.name}, {"device", config.device}, {"mac", mac}},
             fmt::format("port {}: {} ({})", config.name, config.device, mac));
  return port;
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

Expected<void> CardPlane::make_cards(const PlacementPlan& plan) {
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
  nic::CardSettings card{.name = settings_.name,
                         .vfs = std::max(vf_count(config_), 1U),
                         .punt_n3 = first_vf(punt_n3),
                         .punt_air = first_vf(punt_air),
                         .verify_checksum = settings_.verify_udp_checksum,
                         .air_frame_bytes = kEthernetBytes + air_mtu,
                         .capacity = static_cast<std::uint32_t>(settings_.max_bearers),
                         .cores = static_cast<unsigned>(settings_.cores.size()),
                         .copy_clones = hands_on,
                         .numa_node = socket_of(plan.cards.front().node)};
  for (const unsigned core : settings_.cores) {
    CardLoop& loop = loops_.emplace_back(
        card.cores == 1 ? settings_.name : fmt::format("{}.{}", settings_.name, card.core), core, settings_.policy);
    auto made = nic::Card::make(*spec, card);
    if (!made) return tl::unexpected(made.error());
    loop.card = *std::move(made);
    if (auto done = set_wires(*loop.card); !done) return done;
    ++card.core;
  }
  return {};
}

Expected<void> CardPlane::set_wires(nic::Card& card) {
  if (settings_.marks) {
    const std::uint64_t to_host = *settings_.marks == kMarkCount ? 0 : ~std::uint64_t{0} << *settings_.marks;
    const auto& punt = settings_.punt_n3.empty() ? settings_.vfs.front() : settings_.punt_n3;
    if (auto done = card.set_markers(to_host, first_vf(punt)); !done) return done;
  }
  if (settings_.program != CardConfig::Program::kP4wire) return {};
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

}  // namespace splitplane::app
