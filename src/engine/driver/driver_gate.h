// Keeps a driver's own thread and the polling workers out of each other's way. DPDK's memif driver takes a port's
// shared memory away on the interrupt thread when the other end leaves, and its vhost driver does so on a thread of its
// own, while a worker may be reading from it. Each queue of such a port has a slot that the worker holds during a
// burst; the driver's handler runs with all slots held. Ports of other drivers have no slots and pay nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

namespace splitplane::datapath {

class DriverGate {
 public:
  // A queue's place in the gate. enter() and leave() belong to the worker of that queue.
  class alignas(64) Slot {
   public:
    explicit Slot(const DriverGate& gate) : gate_(gate) {}
    // False: a handler runs, and the queue must be left alone. Never waits.
    [[nodiscard]] bool enter() {
      return !gate_.closing_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
    }
    void leave() { held_.store(false, std::memory_order_release); }

   private:
    friend class DriverGate;
    const DriverGate& gate_;
    std::atomic<bool> held_{false};
  };

  // Of the process, one a driver: handlers do not say which port they are about.
  static DriverGate& memif();
  static DriverGate& vhost();
  static DriverGate& virtio();

  // For the side that takes memory away (a std::lock_guard): lock() returns once no worker is in a queue, and none
  // enters until unlock().
  void lock();
  void unlock();

  [[nodiscard]] Slot& add_slot();
  void remove_slot(Slot& slot);

  // Handlers are passed over while no port listens, and while one is being closed: what they would touch is going.
  void begin_to_listen() { (void)change_ports(1, 0); }
  void begin_to_close();
  // True: that was the last one.
  bool end_to_close() { return change_ports(-1, -1) == 0; }
  [[nodiscard]] bool listens() const { return ports_ > 0 && closing_ports_ == 0; }
  // Around a handler. False: it is passed over. begin_to_close() waits for one that runs, but not for ever: it may wait
  // for another process itself.
  [[nodiscard]] bool begin_handler();
  void end_handler() { --running_; }

 private:
  int change_ports(int ports, int closing);  // how many there are then

  std::mutex mutex_;  // of those who lock the gate
  std::list<Slot> slots_;
  std::atomic<bool> closing_{false};  // a hint, so that a worker that polls without rest lets the handler in
  std::atomic<int> ports_{0}, closing_ports_{0}, running_{0};
};

}  // namespace splitplane::datapath
