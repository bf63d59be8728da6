#include "card/control/ports.h"

#include <algorithm>

#include "base/log.h"
#include "runtime/config/lookup.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kUnconnectedEntries = 64;

}  // namespace

void add(datapath::PortCounters& sum, const datapath::PortCounters& more) {
#define SPLITPLANE_ADD_NUMBER(field, unit, help) sum.field += more.field;
  SPLITPLANE_PORT_COUNTERS(SPLITPLANE_ADD_NUMBER)
#undef SPLITPLANE_ADD_NUMBER
}

Expected<void> CardPorts::open(int socket, const std::vector<std::string>& later) {
  auto pool = make_pool("card " + config_.name, config_.name, config_.memory, socket);
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  for (const auto& config : config_.ports) {
    if (std::ranges::find(later, config.name) != later.end()) continue;
    auto device = open_device(config);
    if (!device) return tl::unexpected(device.error());
    devices_[config.name] = *std::move(device);
  }
  return {};
}

Expected<std::unique_ptr<datapath::Port>> CardPorts::open_device(const PortConfig& config) {
  datapath::PortSettings settings = port_settings(config);
  settings.checksums = datapath::ChecksumMode::off;  // the host's, behind the card
  auto port = datapath::Port::open(settings, pool_.get());
  if (!port) return port;
  const std::string mac = (*port)->mac().to_string();
  log::write(spdlog::level::info, {{"port", config.name}, {"device", config.device}, {"mac", mac}},
             fmt::format("port {}: {} ({})", config.name, config.device, mac));
  return port;
}

Expected<void> CardPorts::make_endpoints() {
  const auto ring = [&](const char* end) -> rte_ring* {
    Ring made(rte_ring_create(fmt::format("{}.{}{}", config_.name, end, rings_.size()).c_str(), kUnconnectedEntries,
                              SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ));
    rings_.push_back(std::move(made));
    return rings_.back().get();
  };
  const auto connect = [&](const std::string& name, std::uint16_t queue, const std::string& shown) {
    const auto port = devices_.find(name);
    endpoints_.push_back({.port = port == devices_.end() ? nic::kNoDevice : port->second->id(), .queue = queue});
    endpoint_ports_.push_back(name);
    names_.push_back(shown);
  };
  const auto leave = [&] {
    endpoints_.push_back({.in = ring("in"), .out = ring("out")});
    endpoint_ports_.emplace_back();
    names_.emplace_back();
  };
  for (const auto& name : {config_.n3, config_.air}) name.empty() ? leave() : connect(name, 0, name);
  for (const auto& name : config_.vfs) {
    const std::uint16_t queues = find_port(config_, name)->rx_queues;
    for (std::uint16_t queue = 0; queue < queues; ++queue)
      connect(name, queue, queues == 1 ? name : fmt::format("{}/{}", name, queue));
  }
  if (config_.vfs.empty()) leave();
  for (const Ring& made : rings_) {
    if (!made) return fail("card {}: no memory for its rings; allowed: a larger memory.megabytes", config_.name);
  }
  return {};
}

void CardPorts::put(const std::string& name, std::unique_ptr<datapath::Port> device) {
  devices_[name] = std::move(device);
}

std::unique_ptr<datapath::Port> CardPorts::take(const std::string& name) {
  auto device = std::move(devices_.at(name));
  devices_.erase(name);
  add(earlier_[name], device->counters());
  return device;
}

void CardPorts::use_device(const std::string& name, std::uint16_t id) {
  for (std::size_t i = 0; i < endpoints_.size(); ++i) {
    if (endpoint_ports_[i] == name) endpoints_[i].port = id;
  }
}

bool CardPorts::passes_mbufs() const {
  return std::ranges::any_of(devices_, [](const auto& device) { return device.second->passes_mbufs(); });
}

unsigned CardPorts::first_vf(const std::string& port) const {
  unsigned first = 0;
  for (const auto& name : config_.vfs) {
    if (name == port) break;
    first += find_port(config_, name)->rx_queues;
  }
  return first;
}

std::vector<PortObservation> CardPorts::observe(const nic::CardCounters& counters) const {
  std::vector<PortObservation> rows;
  for (const auto& config : config_.ports) {
    PortObservation row{config.name, {}, 0, 0};
    if (const auto port = devices_.find(config.name); port != devices_.end()) row.driver = port->second->counters();
    if (const auto before = earlier_.find(config.name); before != earlier_.end()) add(row.driver, before->second);
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      if (endpoint_ports_[i] != config.name) continue;
      const auto& c = counters.ports[i];
      row.workers_received += c.in;
      row.workers_transmitted += c.out + c.clones - c.tx_full;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace splitplane::app
