#include "full_real_slots.h"

#include "base/histogram.h"
#include "phy/slots/monotonic_time.h"
#include "phy/slots/slot_source.h"

namespace splitplane::bench {
namespace {

using nlohmann::json;
using phy::Ns;

constexpr unsigned kBytes = 1500;
constexpr std::uint64_t kSlotsOfATurn = 400;
const Kind kKind{"nea2", {.cipher = ran::Cipher::kNea2, .integrity = ran::Integrity::kNone}};
constexpr Load kRealLoad{8, 10, true};  // 80 SDUs of 1500 octets a slot: 1.9 Gbit/s at 0.5 ms, 7.7 at 0.125 ms
constexpr Load kSteppedLoads[] = {{1, 10, true}, {1, 40, true}, {1, 80, true}, {8, 10, true},
                                  {20, 4, true}, {40, 2, true}, {40, 1, true}};

struct Side {
  std::uint64_t slots = 0, late = 0;
  Histogram late_look;  // how long after its begin a slot was looked at
};

class RealLoop {
 public:
  RealLoop(phy::Numerology numerology, Slots& work)
      : slots_(time_, phy::Slot{numerology, 0, 0}, time_.now() + 1'000'000), work_(work) {}

  void turn_without_work() {
    for (std::uint64_t end = next_ + kSlotsOfATurn; next_ < end;) {
      const phy::Tick tick = wait(empty_);
      empty_.late += tick.missed;
      next_ = tick.number + 1;
    }
  }
  // The frames of a slot are there when it begins. The blocks of missed slots are late.
  void turn_with_work() {
    for (std::uint64_t end = next_ + kSlotsOfATurn; next_ < end;) {
      work_.prepare();
      const phy::Tick tick = wait(loaded_);
      const Ns begin = time_.now();
      work_.queue();
      work_.build();
      const Ns built = time_.now();
      build_.record(built - begin);
      loaded_.late += tick.missed + (built > tick.begin + slots_.clock().duration() ? 1 : 0);
      work_.prepare_status();
      work_.acknowledge();
      next_ = tick.number + 1;
    }
  }
  [[nodiscard]] json result() const {
    return {{"slots", loaded_.slots},
            {"late", loaded_.late},
            {"empty_slots", empty_.slots},
            {"empty_missed", empty_.late},
            {"build_ns",
             {{"p50", build_.percentile(50)},
              {"p99", build_.percentile(99)},
              {"p99.99", build_.percentile(99.99)},
              {"max", build_.max()}}},
            {"late_look_ns_p99.99", {loaded_.late_look.percentile(99.99), empty_.late_look.percentile(99.99)}}};
  }

 private:
  phy::Tick wait(Side& side) {
    const phy::Tick tick = slots_.wait();
    side.slots += tick.missed + 1;
    side.late_look.record(tick.late);
    return tick;
  }

  phy::MonotonicTime time_{phy::MonotonicTime::kNever};
  phy::RealSlots<phy::MonotonicTime> slots_;
  Slots& work_;
  std::uint64_t next_ = 0;
  Side empty_, loaded_;
  Histogram build_;  // from the begin of the work to the last block
};

}  // namespace

json real_slots(double seconds, rte_mempool* pool, const std::shared_ptr<datapath::BearerKeys>& keys) {
  json all;
  for (const auto& [name, mu] : {std::pair{"0.5ms", 1}, std::pair{"0.125ms", 3}}) {
    const phy::Numerology numerology{static_cast<std::uint8_t>(mu)};
    Slots work(kKind, kRealLoad, kBytes, pool, keys);
    (void)work.run(200);  // warm
    RealLoop loop(numerology, work);
    const auto turns = static_cast<std::uint64_t>(seconds * 1e9) / numerology.slot_ns() / kSlotsOfATurn;
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      loop.turn_without_work();
      loop.turn_with_work();
    }
    if (!work.is_clean()) throw std::runtime_error("packets were dropped, or are held");
    json row = loop.result();
    row["sdus_a_slot"] = work.packets();
    row["gbit_s"] = static_cast<double>(work.packets()) * kBytes * 8 / static_cast<double>(numerology.slot_ns());
    all[name] = std::move(row);
  }
  return all;
}

json stepped_slots(unsigned slots, rte_mempool* pool, const std::shared_ptr<datapath::BearerKeys>& keys) {
  const phy::MonotonicTime time(0);
  json rows = json::array();
  for (const Load& load : kSteppedLoads) {
    Slots work(kKind, load, kBytes, pool, keys);
    (void)work.run(200);
    Histogram spent, build;
    for (unsigned i = 0; i < slots; ++i) {
      work.prepare();
      const Ns begin = time.now();
      work.queue();
      const Ns queued = time.now();
      work.build();
      const Ns built = time.now();
      build.record(built - queued);
      work.prepare_status();
      const Ns heard = time.now();
      work.acknowledge();
      spent.record(built - begin + time.now() - heard);
    }
    if (!work.is_clean()) throw std::runtime_error("packets were dropped, or are held");
    rows.push_back(
        {{"ues", load.ues},
         {"sdus_a_slot", work.packets()},
         {"slot_ns", {{"p50", spent.percentile(50)}, {"p99.99", spent.percentile(99.99)}, {"max", spent.max()}}},
         {"build_ns", {{"p50", build.percentile(50)}, {"p99.99", build.percentile(99.99)}, {"max", build.max()}}}});
  }
  return rows;
}

}  // namespace splitplane::bench
