#include "bypass/wire_run.h"

#include <atomic>

#include "bypass/cpu_drivers.h"
#include "bypass/wire_loop.h"

namespace splitplane::bypass {
namespace {

constexpr std::chrono::milliseconds kLook{20};

class Gate final : public nicmodel::Wire {
 public:
  explicit Gate(nicmodel::Wire& wire) : wire_(wire) {}
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override {
    return closed_.load(std::memory_order_relaxed) ? 0 : wire_.arrive(frames, max, now_ns);
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override {
    return wire_.leave(frames, n, now_ns);
  }
  void close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  nicmodel::Wire& wire_;
  std::atomic<bool> closed_{false};
};

// The model counts more than a card's registers do: why it lost each frame.
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

Expected<WireRunResult> run_on_wire(const Scenario& scenario, nicmodel::Wire& wire, const Observer& observer) {
  if (auto good = check(scenario); !good) return tl::unexpected(good.error());
  Gate gate(wire);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, scenario);
  if (!memory) return tl::unexpected(memory.error());
  auto made = Bed::make(scenario, *memory, gate);
  if (!made) return tl::unexpected(made.error());
  Bed& bed = **made;
  GnbBearers bearers(scenario);
  const auto driver = make_cpu_driver(scenario, bed.nic(), bearers);
  driver->start();
  if (auto open = bed.open(); !open) return tl::unexpected(open.error());
  bed.model().start();
  SoftNic nic(bed, gate);
  return run_loop(scenario, nic, bed.nic(), *driver, observer, kLook);
}

}  // namespace splitplane::bypass
