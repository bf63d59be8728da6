// The VFs of a running card whose host may go and come back: VfKeeper says when, here is how. A port is taken from the
// loops before it is removed, so no loop ever polls a device that is taken down.
#include <rte_alarm.h>
#include <rte_ethdev.h>

#include <future>
#include <thread>

#include "base/log.h"
#include "card/control/instance.h"
#include "config/check.h"
#include "config/device.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kTurn{20};
constexpr std::chrono::seconds kEnd{2};
constexpr unsigned kFenceUs = 5000;

// virtio_user notes down a connection that broke in an alarm of its own, which holds pointers into the device. When two
// alarms of ours have run, one after the other, that one has, too, and no further one can be set.
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

void add(datapath::PortCounters& sum, const datapath::PortCounters& more) {
#define SPLITPLANE_ADD_NUMBER(field, unit, help) sum.field += more.field;
  SPLITPLANE_PORT_COUNTERS(SPLITPLANE_ADD_NUMBER)
#undef SPLITPLANE_ADD_NUMBER
}

// Those that the card connects itself. Rings and devices of other kinds are there from the start to the end.
std::vector<VfKeeper::Vf> CardPlane::kept_vfs() const {
  std::vector<VfKeeper::Vf> vfs;
  for (const auto& name : settings_.vfs) {
    const auto device = parse_device(find_port(config_, name)->device);
    if (!device || device->driver != Driver::kVirtioUser) continue;
    vfs.push_back({name, device->arg("path").value_or("")});
  }
  return vfs;
}

void CardPlane::keep_vfs() {
  vf_keeper_.emplace(kept_vfs(), VfKeeper::Ways{.host_answers = vhost_answers,
                                                .connect = [this](const auto& port) { return connect_vf(port); },
                                                .is_up = [this](const auto& port) { return is_vf_up(port); },
                                                .disconnect = [this](const auto& port) { disconnect_vf(port); }});
  vf_keeper_->turn(VfKeeper::Clock::now());
}

void CardPlane::start_vf_thread() {
  std::promise<void> end;
  vf_end_ = end.get_future();
  vf_thread_ = std::thread([this, end = std::move(end)]() mutable {
    while (!vf_stop_.load(std::memory_order_relaxed)) {
      vf_keeper_->turn(VfKeeper::Clock::now());
      std::this_thread::sleep_for(kTurn);
    }
    end.set_value();
  });
}

void CardPlane::stop_vf_thread() {
  if (!vf_thread_.joinable()) return;
  vf_stop_.store(true, std::memory_order_relaxed);
  if (vf_end_.wait_for(kEnd) == std::future_status::ready) return vf_thread_.join();
  log::warn("card {}: a host that hangs keeps a VF of it; the card ends without removing its ports", settings_.name);
  vf_thread_.detach();
  stuck_ = true;
}

// Each loop does `change` between two rounds. A loop that hangs is waited for: the device must not go before.
void CardPlane::on_all_loops(const std::function<void(CardLoop&)>& change) {
  for (unsigned core = 0; core < loops_.size(); ++core) {
    for (bool done = false; !done;) {
      const std::lock_guard guard(mutex_);
      done = execute(core, [&] { change(loops_[core]); });
    }
  }
}

void CardPlane::use_device(const std::string& name, std::uint16_t id) {
  {
    const std::lock_guard guard(mutex_);
    for (std::size_t i = 0; i < endpoints_.size(); ++i) {
      if (endpoint_ports_[i] == name) endpoints_[i].port = id;
    }
  }
  on_all_loops([&](CardLoop& loop) {
    for (unsigned i = 0; i < endpoints_.size(); ++i) {
      if (endpoint_ports_[i] == name) loop.set_endpoint(i, endpoints_[i]);
    }
  });
}

Expected<void> CardPlane::connect_vf(const std::string& name) {
  auto port = open_port(*find_port(config_, name));
  if (!port) return tl::unexpected(port.error());
  const std::uint16_t id = (*port)->id();
  {
    const std::lock_guard guard(mutex_);
    ports_[name] = *std::move(port);
  }
  use_device(name, id);
  return {};
}

bool CardPlane::is_vf_up(const std::string& name) const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(ports_.at(name)->id(), &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

void CardPlane::disconnect_vf(const std::string& name) {
  use_device(name, nic::kNoDevice);
  // In the round after that one a loop has given up the interrupts of the device, too.
  on_all_loops([](CardLoop&) {});
  std::unique_ptr<datapath::Port> port;
  {
    const std::lock_guard guard(mutex_);
    port = std::move(ports_.at(name));
    ports_.erase(name);
    add(earlier_[name], port->counters());
  }
  wait_for_alarms();
}

}  // namespace splitplane::app
