// The shared part of the runs whose rings and slots are in the device's memory (gpu_e1, gpu_e3, gpu_e4). It has that
// memory, and the way from the first launch to the figures if the wire is on a CPU thread. It has not run on a GPU so
// far.
#pragma once

#include <thread>

#include "bypass/bench_wire.h"
#include "bypass/nic_thread.h"
#include "gpu/cuda/persistent.cuh"
#include "gpu/cuda/pinned_memory.h"
#include "gpu/rings/launch.h"

namespace splitplane::gpu {

// The kernels end without a command 10 s after the planned end of the run.
[[nodiscard]] inline std::uint64_t limit_of(const bypass::Scenario& s) {
  return static_cast<std::uint64_t>((s.warm_up_seconds + s.seconds + 10) * 1e9);
}

// Rings on the device. Counters are where the host can read them, and tails too, or on the device.
class RingsOnDevice {
 public:
  enum class Tails : std::uint8_t { kOnDevice, kOnHost };

  RingsOnDevice(const bypass::Scenario& s, Tails tails) {
    const RingMemoryNeeds need = needs(s.ring, s.rings);
    const MemoryPiece dma = piece(device_, need.dma), local = piece(device_, need.local);
    const MemoryPiece shared = piece(pinned_, need.shared);
    const std::size_t lines = std::size_t{kLine} * s.rings;
    const MemoryPiece words = tails == Tails::kOnHost ? piece(pinned_, lines) : piece(device_, lines);
    std::vector<Doorbells> of_engines;
    for (std::uint32_t i = 0; i < s.rings; ++i) {
      of_engines.push_back(line(words.engine, i));
      if (tails == Tails::kOnHost) host_tails_.push_back(line(words.host, i));
    }
    rings_ = lay_out(s.ring, dma, local, shared, of_engines);
    view_ = shared_view(shared.host, s.rings);
  }

  [[nodiscard]] const std::vector<Ring>& rings() const { return rings_; }
  [[nodiscard]] const SharedView& view() const { return view_; }
  // The host's addresses of tails that are in host memory.
  [[nodiscard]] const std::vector<Doorbells>& host_tails() const { return host_tails_; }

 private:
  static constexpr std::size_t kLine = 128;

  static MemoryPiece piece(MemoryProvider& provider, std::size_t bytes) {
    auto made = provider.allocate(bytes);
    if (!made) throw std::runtime_error(made.error().message);
    return *made;
  }
  // RDT and TDT of ring i: a line for each ring, with half of it for each word.
  static Doorbells line(std::uint8_t* words, std::uint32_t i) {
    auto* const first = reinterpret_cast<std::uint32_t*>(words + kLine * i);
    return {.rdt = first, .tdt = first + 16};
  }

  PinnedMemory pinned_;
  DeviceMemory device_;
  std::vector<Ring> rings_;
  std::vector<Doorbells> host_tails_;
  SharedView view_;
};

// `nic` has step(now) and lost(), and start() and stop() if it has kernels too. Nothing runs yet.
template <class Nic>
[[nodiscard]] Expected<bypass::Result> run_beside(const bypass::Scenario& s, bypass::BenchWire& wire,
                                                  Persistent& driver, Nic& nic, const bypass::Observer& observer) {
  constexpr bool kHasKernels = requires { nic.start(); };
  driver.start();
  if constexpr (kHasKernels) nic.start();
  bypass::NicThread thread(s, [&](std::uint64_t now) { return nic.step(now); }, wire,
                           {.lost = [&] { return driver.dropped() + nic.lost(); },
                            .cpu_seconds = [&] { return driver.cpu_seconds(); },
                            .doorbells = [&] { return driver.doorbells(); },
                            .packets = [&] { return driver.packets(); }});
  const std::uint64_t begin = steady_ns();
  thread.start();
  while (!thread.is_done()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto& c = (thread.is_measuring() ? wire.measured() : wire.warm_up()).counters();
    const bypass::Live live{.seconds = static_cast<double>(steady_ns() - begin) * 1e-9,
                            .sent = c.sent.get(),
                            .received = c.returned.get(),
                            .lost_at_nic = nic.lost(),
                            .dropped = driver.dropped(),
                            .doorbells = driver.doorbells(),
                            .warming_up = !thread.is_measuring()};
    if (observer && !observer(live)) thread.cancel();
  }
  thread.join();
  bypass::Result result{.scenario = s};
  const auto stopped = driver.stop();  // its senders wait for the NIC, whose kernels run until they are done
  Expected<void> nic_stopped;
  if constexpr (kHasKernels) nic_stopped = nic.stop();
  if (!thread.failure().empty()) return fail("{}", thread.failure());
  if (!stopped) bypass::note(result.findings, stopped.error().message);
  if (!nic_stopped) bypass::note(result.findings, nic_stopped.error().message);
  thread.fill(result);
  result.lost_at_nic = nic.lost();
  result.dropped = driver.dropped();
  result.slots_sound = stopped && driver.slots_are_sound();
  return result;
}

}  // namespace splitplane::gpu
