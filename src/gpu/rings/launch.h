// Drives the engines of all rings on the host. It does so step by step in one thread (deterministic, with the least
// overhead), or with two threads for each ring, as a device's kernels run one warp for each.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/expected.h"
#include "gpu/rings/ordered_sender.h"
#include "gpu/rings/ring_engine.h"
#include "gpu/rings/slot_census.h"
#include "gpu/rings/watchdog.h"

namespace splitplane::gpu {

// Nanoseconds of a clock that never goes back.
[[nodiscard]] inline std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// The rings of one NIC with their engines on the host. The stop flag of `rings` must be writable through `stop`.
template <class Function, class Doorbell = ReleaseDoorbell>
class RingSet {
 public:
  using Receiver = RxEngine<CpuLane, Function, Doorbell>;
  using Sender = TxEngine<CpuLane, Doorbell>;
  using AllSender = OrderedSender<Doorbell>;

  // Prepares the memory of each ring. `functions` has one for each ring. With `restore` one sender serves all rings and
  // restores the order of the packets.
  RingSet(std::vector<Ring> rings, const std::vector<Function>& functions, std::uint32_t* stop,
          const std::optional<RestoreSettings>& restore = {})
      : rings_(std::move(rings)), stop_(stop) {
    store_relaxed(stop_, 0U);
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      prepare_ring(CpuLane{}, rings_[i]);
      receivers_.push_back(std::make_unique<Own<Receiver>>(rings_[i], functions[i]));
      if (!restore) senders_.push_back(std::make_unique<Own<Sender>>(rings_[i]));
    }
    if (!restore) return;
    places_.resize(restore->window);
    ordered_ = std::make_unique<Own<AllSender>>(rings_.data(), static_cast<std::uint32_t>(rings_.size()), *restore,
                                                places_.data());
  }
  RingSet(const std::vector<Ring>& rings, const Function& function, std::uint32_t* stop,
          const std::optional<RestoreSettings>& restore = {})
      : RingSet(rings, std::vector<Function>(rings.size(), function), stop, restore) {}
  // Waits for the engines. A function that never returns blocks the program here; the watchdog has reported it.
  ~RingSet() {
    store_relaxed(stop_, 1U);
    join();
  }
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  // Lock-step: one round of every engine. Returns the packets moved.
  std::uint32_t step(std::uint64_t now) {
    std::uint32_t moved = 0;
    for (auto& r : receivers_) moved += r->engine.step({}, now);
    for (auto& s : senders_) moved += s->engine.step({}, now);
    return ordered_ ? moved + ordered_->engine.step({}, now) : moved;
  }

  // In lock-step: true if no packet is between receivers and senders, or at the NIC to be sent.
  [[nodiscard]] bool is_idle() {
    for (auto& s : senders_) {
      if (!s->engine.is_idle({})) return false;
    }
    return !ordered_ || ordered_->engine.is_idle({});
  }

  // Starts two threads for each ring, or one for each receiver and one sender for all, until stop(). Packets under way
  // then have `drain_within_ns` to leave.
  void start(std::uint64_t drain_within_ns = 1'000'000'000) {
    const auto rest = [] { std::this_thread::yield(); };
    const auto send = [this, drain_within_ns, rest](auto* sender) {
      threads_.emplace_back([=] { run_sender(CpuLane{}, sender->engine, drain_within_ns, steady_ns, rest); });
    };
    for (auto& r : receivers_) {
      threads_.emplace_back([r = r.get(), rest] { run_receiver(CpuLane{}, r->engine, steady_ns, rest); });
    }
    for (auto& s : senders_) send(s.get());
    if (ordered_) send(ordered_.get());
  }
  // Tells all engines to stop and waits for them. Engines that did not stop in time continue to try.
  [[nodiscard]] Expected<void> stop(std::chrono::milliseconds within) {
    store_relaxed(stop_, 1U);
    const std::uint64_t deadline = steady_ns() + static_cast<std::uint64_t>(within.count()) * 1'000'000;
    while (!threads_.empty()) {
      const std::size_t running = first_running();
      if (running == rings_.size()) break;
      if (steady_ns() >= deadline) {
        const bool receiver = load_acquire(&rings_[running].rx_counters->stopped) == 0;
        const Finding finding{static_cast<std::uint32_t>(running), receiver, Fault::did_not_stop};
        return fail("{} ({} ms)", finding.sentence(), within.count());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    join();
    return {};
  }

  // The census of a ring at rest: in lock-step between two steps, or after stop().
  [[nodiscard]] SlotCensus census(std::size_t ring) const {
    const std::uint32_t free_taken = receivers_[ring]->engine.free_taken();
    if (ordered_) {
      std::vector<std::uint32_t> with_sender;
      ordered_->engine.for_each_slot([&](std::uint32_t slot) { with_sender.push_back(slot); });
      const auto index = static_cast<std::uint32_t>(ring);
      return count_slots(rings_[ring],
                         {.free_taken = free_taken, .received_taken = ordered_->engine.received_taken(index)},
                         with_sender);
    }
    const Sender& sender = senders_[ring]->engine;
    return count_slots(rings_[ring], {.free_taken = free_taken,
                                      .received_taken = sender.received_taken(),
                                      .first_at_nic = sender.first_at_nic(),
                                      .next_to_nic = sender.next_to_nic()});
  }
  [[nodiscard]] std::size_t rings() const { return rings_.size(); }
  [[nodiscard]] Function& function(std::size_t ring) { return receivers_[ring]->engine.function(); }
  // With `restore` only, while no engine runs.
  [[nodiscard]] const ReorderWindow& window() const { return ordered_->engine.window(); }

 private:
  // Each engine has separate cache lines.
  template <class Engine>
  struct Own {
    template <class... Args>
    explicit Own(const Args&... args) : engine(args...) {}
    alignas(128) Engine engine;
  };

  [[nodiscard]] std::size_t first_running() const {
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      if (load_acquire(&rings_[i].rx_counters->stopped) == 0) return i;
      if (load_acquire(&rings_[i].tx_counters->stopped) == 0) return i;
    }
    return rings_.size();
  }
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  std::vector<Ring> rings_;
  std::uint32_t* stop_;
  std::vector<std::unique_ptr<Own<Receiver>>> receivers_;
  std::vector<std::unique_ptr<Own<Sender>>> senders_;
  std::vector<ReorderWindow::Place> places_;
  std::unique_ptr<Own<AllSender>> ordered_;
  std::vector<std::thread> threads_;
};

}  // namespace splitplane::gpu
