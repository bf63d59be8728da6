#include "bypass/wire_loop.h"

#include <thread>

#include "gpu/rings/launch.h"
#include "gpu/rings/watchdog.h"

namespace splitplane::bypass {
namespace {

constexpr std::uint64_t kQuietNs = 1'000'000'000;  // after this time without a frame none will leave
// The limit even if frames leave: a real NIC also counts frames of others (its firmware's), and the user waits for the
// end.
constexpr std::uint64_t kAllOutNs = 5'000'000'000;

Live live(const NicBooks& books, Driver& driver, std::uint64_t begin_ns) {
  return {.seconds = static_cast<double>(gpu::steady_ns() - begin_ns) * 1e-9,
          .sent = books.arrived,
          .received = books.sent,
          .lost_at_nic = books.all_lost(),
          .dropped = driver.dropped(),
          .doorbells = driver.doorbells(),
          .link_up = books.link_up};
}

// No frame arrives any more: waits until every frame has left or counts as lost.
void wait_until_out(WireNic& nic, Driver& driver, std::chrono::milliseconds look) {
  const std::uint64_t begin = gpu::steady_ns();
  std::uint64_t left = 0, since = begin;
  for (std::uint64_t now = begin; now - since < kQuietNs && now - begin < kAllOutNs; now = gpu::steady_ns()) {
    const NicBooks books = nic.books();
    if (!books.gone.empty() || books.arrived == books.sent + driver.dropped() + books.all_lost()) return;
    if (books.sent != left) {
      left = books.sent;
      since = gpu::steady_ns();
    }
    std::this_thread::sleep_for(look / 4);
  }
}

}  // namespace

std::uint64_t NicBooks::all_lost() const {
  std::uint64_t all = 0;
  for (const auto& [name, count] : lost) all += count;
  return all;
}

WireRunResult run_loop(const Scenario& scenario, WireNic& nic, const DrivenNic& rings, Driver& driver,
                       const Observer& observer, std::chrono::milliseconds look) {
  WireRunResult result;
  const auto keep = [&result](const Expected<void>& done) {
    if (!done) note(result.findings, done.error().message);
  };
  gpu::Watchdog watchdog(rings.view(), scenario.rings, kWatchdogNs);
  const std::uint64_t begin = gpu::steady_ns();
  NicBooks books = nic.books();
  while (books.gone.empty() && observer(live(books, driver, begin))) {
    std::this_thread::sleep_for(look);
    books = nic.books();
    for (const gpu::Finding& finding : watchdog.look(gpu::steady_ns(), books.no_descriptor)) {
      note(result.findings, finding.sentence());
    }
  }
  result.seconds = static_cast<double>(gpu::steady_ns() - begin) * 1e-9;
  if (books.gone.empty()) {
    keep(nic.shut());
    wait_until_out(nic, driver, look);
  }
  const auto stopped = driver.stop();
  keep(stopped);

  books = nic.books();
  if (!books.gone.empty()) note(result.findings, books.gone);
  keep(nic.stop());
  result.notes = rings.notes();
  result.arrived = books.arrived;
  result.delivered = books.delivered;
  result.sent = books.sent;
  for (const auto& [name, count] : books.lost) {
    if (count != 0) result.lost_at_nic.emplace_back(name, count);
  }
  result.dropped = driver.dropped();
  result.held = rings.sums().held() + rings.untaken();
  result.doorbells = driver.doorbells();
  result.driver_packets = driver.packets();
  for (std::size_t v = 1; v < gpu::kVerdictCount; ++v) {
    const std::uint64_t n = rings.sums().dropped_as(v);
    if (n != 0) result.verdicts.emplace_back(gpu::kVerdictNames[v], n);
  }
  result.slots_sound = stopped && driver.slots_are_sound();  // engines that still run cannot be counted
  return result;
}

}  // namespace splitplane::bypass
