#include "engine/driver/driver_gate.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace splitplane::datapath {
namespace {

constexpr std::chrono::seconds kPatience{5};  // to wait for a handler that waits for another process

}  // namespace

DriverGate& DriverGate::memif() {
  static DriverGate gate;
  return gate;
}

DriverGate& DriverGate::vhost() {
  static DriverGate gate;
  return gate;
}

DriverGate& DriverGate::virtio() {
  static DriverGate gate;
  return gate;
}

void DriverGate::lock() {
  mutex_.lock();
  closing_.store(true, std::memory_order_relaxed);
  for (Slot& slot : slots_) {
    // A worker stays in a burst for some microseconds, or longer if the kernel takes its core.
    while (slot.held_.exchange(true, std::memory_order_acquire))
      std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
}

void DriverGate::unlock() {
  for (Slot& slot : slots_) slot.held_.store(false, std::memory_order_release);
  closing_.store(false, std::memory_order_relaxed);
  mutex_.unlock();
}

DriverGate::Slot& DriverGate::add_slot() {
  const std::lock_guard guard(mutex_);
  return slots_.emplace_back(*this);
}

void DriverGate::remove_slot(Slot& slot) {
  const std::lock_guard guard(mutex_);
  slots_.remove_if([&](const Slot& each) { return &each == &slot; });
}

bool DriverGate::begin_handler() {
  ++running_;
  if (listens()) return true;
  --running_;
  return false;
}

void DriverGate::begin_to_close() {
  (void)change_ports(0, 1);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (running_ != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

int DriverGate::change_ports(int ports, int closing) {
  closing_ports_ += closing;
  return ports_ += ports;
}

}  // namespace splitplane::datapath
