#include "card/control/vf_connections.h"

#include <rte_alarm.h>
#include <rte_ethdev.h>

#include "base/log.h"
#include "runtime/config/device.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kTurn{20};
constexpr std::chrono::seconds kEnd{2};
constexpr unsigned kFenceUs = 5000;

// virtio_user records a broken connection in an alarm, which holds pointers into the device. When two alarms of this
// function have run, one after the other, that alarm has run, too, and no further one can be set.
void wait_for_alarms() {
  for (int i = 0; i < 2; ++i) {
    auto* ran = new std::promise<void>;
    auto done = ran->get_future();
    const auto run = [](void* argument) {
      const std::unique_ptr<std::promise<void>> promise(static_cast<std::promise<void>*>(argument));
      promise->set_value();
    };
    if (rte_eal_alarm_set(kFenceUs, run, ran) != 0) {
      delete ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      continue;
    }
    done.wait();
  }
}

}  // namespace

std::vector<VfKeeper::Vf> kept_vfs(const CardConfig& config) {
  std::vector<VfKeeper::Vf> vfs;
  for (const auto& name : config.vfs) {
    const auto device = parse_device(find_port(config, name)->device);
    if (!device || device->driver != Driver::kVirtioUser) continue;
    vfs.push_back({name, device->arg("path").value_or("")});
  }
  return vfs;
}

VfConnections::VfConnections(const CardConfig& config, CardPorts& ports, CardLoops& loops, std::mutex& mutex)
    : config_(config),
      ports_(ports),
      loops_(loops),
      mutex_(mutex),
      keeper_(kept_vfs(config), VfKeeper::Ways{.host_answers = vhost_answers,
                                               .connect = [this](const auto& port) { return connect(port); },
                                               .is_up = [this](const auto& port) { return is_up(port); },
                                               .disconnect = [this](const auto& port) { disconnect(port); }}) {}

void VfConnections::connect_present() {
  keeper_.turn(VfKeeper::Clock::now());
}

void VfConnections::start() {
  std::promise<void> end;
  end_ = end.get_future();
  thread_ = std::thread([this, end = std::move(end)]() mutable {
    while (!stop_.load(std::memory_order_relaxed)) {
      keeper_.turn(VfKeeper::Clock::now());
      std::this_thread::sleep_for(kTurn);
    }
    end.set_value();
  });
}

void VfConnections::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);
  if (end_.wait_for(kEnd) == std::future_status::ready) return thread_.join();
  log::warn("card {}: a host that hangs keeps a VF of it; the card ends without removing its ports", config_.name);
  thread_.detach();
  stuck_ = true;
}

void VfConnections::use_device(const std::string& name, std::uint16_t id) {
  {
    const std::lock_guard guard(mutex_);
    ports_.use_device(name, id);
  }
  // Only this thread changes endpoints, so the loops read them without the lock.
  loops_.on_all(mutex_, [&](CardLoop& loop) {
    for (unsigned i = 0; i < ports_.endpoints().size(); ++i) {
      if (ports_.endpoint_ports()[i] == name) loop.set_endpoint(i, ports_.endpoints()[i]);
    }
  });
}

Expected<void> VfConnections::connect(const std::string& name) {
  auto port = ports_.open_device(*find_port(config_, name));
  if (!port) return tl::unexpected(port.error());
  const std::uint16_t id = (*port)->id();
  {
    const std::lock_guard guard(mutex_);
    ports_.put(name, *std::move(port));
  }
  use_device(name, id);
  return {};
}

// Only this thread changes the devices, so it reads them without the lock.
bool VfConnections::is_up(const std::string& name) const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(ports_.device(name).id(), &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

void VfConnections::disconnect(const std::string& name) {
  use_device(name, nic::kNoDevice);
  // In the round after that one a loop has given up the interrupts of the device, too.
  loops_.on_all(mutex_, [](CardLoop&) {});
  std::unique_ptr<datapath::Port> device;
  {
    const std::lock_guard guard(mutex_);
    device = ports_.take(name);
  }
  wait_for_alarms();
}

}  // namespace splitplane::app
