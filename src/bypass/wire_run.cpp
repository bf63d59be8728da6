#include "bypass/wire_run.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "bypass/cpu_drivers.h"
#include "bypass/wire_loop.h"
#include "gpu/nic/host_memory.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kLookAtWire{20};

// Stands in front of the wire. It admits as many frames as the window has room for, and none once it is closed.
class Gate final : public nicmodel::Wire {
 public:
  Gate(nicmodel::Wire& wire, std::uint32_t window) : wire_(wire), window_(window) {}
  // Call it before the model runs. `gone` counts frames that will not leave because they were lost or dropped.
  void count_gone(std::function<std::uint64_t()> gone) { gone_ = std::move(gone); }
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override {
    if (closed_.load(std::memory_order_relaxed)) return 0;
    const std::uint32_t n = wire_.arrive(frames, window_ == 0 ? max : std::min(max, room()), now_ns);
    arrived_ += n;
    return n;
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override {
    const std::uint32_t taken = wire_.leave(frames, n, now_ns);
    left_ += taken;
    return taken;
  }
  void close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  // Calls `gone` only if there seems to be no room, because that is a sum over all rings.
  [[nodiscard]] std::uint32_t room() {
    const auto under_way = [this] { return arrived_ - left_ - known_gone_; };
    if (under_way() >= window_) known_gone_ = gone_();
    return under_way() >= window_ ? 0 : window_ - static_cast<std::uint32_t>(under_way());
  }

  nicmodel::Wire& wire_;
  std::uint32_t window_;
  std::function<std::uint64_t()> gone_;
  std::uint64_t arrived_ = 0, left_ = 0, known_gone_ = 0;
  std::atomic<bool> closed_{false};
};

// The model counts more than the registers of a real NIC: why it lost each frame.
class SoftNic final : public WireNic {
 public:
  SoftNic(Bed& bed, Gate& gate) : bed_(bed), gate_(gate) {}
  NicBooks books() override {
    const nicmodel::NicCounters& c = bed_.model().counters();
    NicBooks books{.arrived = c.arrived.get(), .delivered = c.delivered.get(), .sent = c.left.get()};
    for (std::size_t i = 0; i < nicmodel::kNicDropCount; ++i) {
      books.lost.emplace_back(nicmodel::kNicDropNames[i], c.dropped[i].get());
    }
    books.no_descriptor = bed_.no_descriptor();
    return books;
  }
  Expected<void> shut() override {
    gate_.close();
    return {};
  }
  Expected<void> stop() override {
    bed_.model().stop();
    return bed_.close();
  }

 private:
  Bed& bed_;
  Gate& gate_;
};

}  // namespace

Expected<WireRunResult> run_on_wire(const Scenario& scenario, nicmodel::Wire& wire, const Observer& observer,
                                    std::uint32_t window) {
  if (auto good = check_driver(scenario); !good) return tl::unexpected(good.error());
  Gate gate(wire, window);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, scenario);
  if (!memory) return tl::unexpected(memory.error());
  auto made = Bed::make(scenario, *memory, gate);
  if (!made) return tl::unexpected(made.error());
  Bed& bed = **made;
  GnbBearers bearers(scenario);
  const auto driver = make_cpu_driver(scenario, bed.nic(), bearers);
  gate.count_gone([&] { return driver->dropped() + bed.lost_at_nic(); });
  driver->start();
  if (auto open = bed.open(); !open) return tl::unexpected(open.error());
  bed.model().start();
  SoftNic nic(bed, gate);
  return run_loop(scenario, nic, bed.nic(), *driver, observer, kLookAtWire);
}

}  // namespace splitplane::bypass
