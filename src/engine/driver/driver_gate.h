// Keeps a driver's own thread and the polling workers apart. DPDK's memif driver removes a port's shared memory on the
// interrupt thread when the other end leaves. The vhost driver does so on its own thread. A worker may be reading from
// that memory. So each queue of such a port has a slot, which the worker holds during a burst. The driver's handler
// runs with all slots held. Ports of other drivers have no slots and pay nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

namespace splitplane::datapath {

class DriverGate {
 public:
  // A queue's slot in the gate. Only the worker of that queue calls enter() and leave().
  class alignas(64) Slot {
   public:
    explicit Slot(const DriverGate& gate) : gate_(gate) {}
    // Returns false if a handler runs; the worker must then leave the queue alone. It never waits.
    [[nodiscard]] bool enter() {
      return !gate_.closing_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
    }
    void leave() { held_.store(false, std::memory_order_release); }

   private:
    friend class DriverGate;
    const DriverGate& gate_;
    std::atomic<bool> held_{false};
  };

  // One gate per driver in the process, because handlers do not say which port they are about.
  static DriverGate& memif();
  static DriverGate& vhost();
  static DriverGate& virtio();

  // For the thread that removes memory (by std::lock_guard). lock() returns once no worker is in a queue, and no worker
  // enters until unlock().
  void lock();
  void unlock();

  [[nodiscard]] Slot& add_slot();
  void remove_slot(Slot& slot);

  // Handlers are skipped while no port listens and while one is being closed, because the memory that they would touch
  // is going away.
  void begin_to_listen() { (void)change_ports(1, 0); }
  void begin_to_close();
  // Returns true if that was the last port.
  bool end_to_close() { return change_ports(-1, -1) == 0; }
  [[nodiscard]] bool listens() const { return ports_ > 0 && closing_ports_ == 0; }
  // Call these around a handler. begin_handler() returns false if the handler is to be skipped. begin_to_close() waits
  // for a running handler, but not for ever: the handler may wait for another process.
  [[nodiscard]] bool begin_handler();
  void end_handler() { --running_; }

 private:
  int change_ports(int ports, int closing);  // returns the number of ports after the change

  std::mutex mutex_;  // held by the threads that lock the gate
  std::list<Slot> slots_;
  std::atomic<bool> closing_{false};  // a hint, so that a worker that polls without pause lets the handler in
  std::atomic<int> ports_{0}, closing_ports_{0}, running_{0};
};

}  // namespace splitplane::datapath
