#include "bypass/card_run.h"

#include <algorithm>
#include <thread>

#include "bypass/cpu_drivers.h"
#include "bypass/wire_loop.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"

namespace splitplane::bypass {
namespace {

// A look reads 65 registers, each a round trip over PCIe.
constexpr std::chrono::milliseconds kLookAtCard{100};

class CardNic final : public WireNic {
 public:
  CardNic(std::unique_ptr<DrivenNic> nic, gpu::Bar& bar, gpu::MemoryProvider& memory)
      : nic_(std::move(nic)), name_(bar.name()), memory_(memory) {}
  ~CardNic() override { static_cast<void>(stop()); }

  [[nodiscard]] DrivenNic& driven() { return *nic_; }

  NicBooks books() override {
    gpu::Nic82599& card = nic_->control();
    const gpu::NicStatistics& s = card.statistics();
    NicBooks books{.arrived = s.received, .sent = s.transmitted};
    for (const std::uint64_t n : s.ring_received) books.delivered += n;
    // GPRC counts missed frames too; the vendor's drivers subtract them from it.
    books.lost = {{"packet_buffer_full", s.missed}, {"no_descriptor", s.no_descriptor}};
    std::ranges::copy(s.ring_no_descriptor, books.no_descriptor.begin());  // set n is ring n: no more than 16 of them
    books.link_up = card.link() != gpu::LinkSpeed::kDown;
    if (card.is_gone()) books.gone = name_ + ": its registers read as ones: the card is gone, or asleep";
    return books;
  }
  Expected<void> shut() override { return nic_->control().stop_receive(); }
  Expected<void> stop() override {
    if (stopped_) return {};
    stopped_ = true;
    auto done = nic_->close();
    if (done) return done;
    memory_.keep();
    return fail("{}; it may still write to its memory, which is kept until this process ends", done.error().message);
  }

 private:
  std::unique_ptr<DrivenNic> nic_;
  std::string name_;
  gpu::MemoryProvider& memory_;
  bool stopped_ = false;
};

// The receive path is open, so frames that come with the link are counted and processed at once. The run's clock begins
// with the link: an observer that limits a run sees second 0 until then.
Expected<void> wait_for_link(CardNic& card, const Observer& observer, const CardSettings& settings) {
  const std::uint64_t begin = gpu::steady_ns();
  const auto within = static_cast<std::uint64_t>(std::chrono::nanoseconds(settings.link_within).count());
  for (std::uint64_t waited = 0; waited < within; waited = gpu::steady_ns() - begin) {
    const NicBooks books = card.books();
    if (!books.gone.empty()) return fail("{}", books.gone);
    if (books.link_up) return {};
    if (!observer({.link_up = false})) return {};  // run_loop calls it again at once
    std::this_thread::sleep_for(std::min(kLookAtCard, settings.link_within));
  }
  return fail(
      "the link did not come up within {} ms: no cable, no far end, or a module in an SFP+ slot, whose setup from the "
      "EEPROM this driver lacks",
      settings.link_within.count());
}

}  // namespace

Expected<WireRunResult> run_on_card(const Scenario& scenario, gpu::Bar& bar, gpu::MemoryProvider& memory,
                                    const Observer& observer, const CardSettings& settings) {
  if (auto good = check_driver(scenario); !good) return tl::unexpected(good.error());
  gpu::HostMemory own({.hugepages = false});  // memory that the NIC never accesses
  const auto pieces = allocate(memory, own, scenario);
  if (!pieces) return tl::unexpected(pieces.error());
  // If this fails, the receive path was never open: the NIC wrote nothing to this memory, and never will.
  auto made = DrivenNic::bring_up(bar, scenario, *pieces, {.wait_for_link = false, .sfp_plus = settings.sfp_plus});
  if (!made) return tl::unexpected(made.error());
  CardNic card(*std::move(made), bar, memory);
  GnbBearers bearers(scenario);
  const auto driver = make_cpu_driver(scenario, card.driven(), bearers);
  driver->start();
  auto open = card.driven().open();
  if (open) open = wait_for_link(card, observer, settings);
  if (!open) {
    static_cast<void>(driver->stop());
    const auto stopped = card.stop();
    return stopped ? Expected<WireRunResult>(tl::unexpected(open.error()))
                   : fail("{}; {}", open.error().message, stopped.error().message);
  }
  return run_loop(scenario, card, card.driven(), *driver, observer, kLookAtCard);
}

}  // namespace splitplane::bypass
