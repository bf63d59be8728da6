#include "power/replay/arrivals.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "base/plain_file.h"

namespace splitplane::power::replay {
namespace {

using traffic::Schedule;

class FromSchedule {
 public:
  FromSchedule(const traffic::Arrivals& arrivals, const ArrivalsSettings& s) : schedule_(arrivals, s.rate, s.seed) {}
  std::uint64_t next() { return schedule_.next(); }

 private:
  Schedule schedule_;
};

// A Poisson process in a time that advances only in the windows.
class FromTdd {
 public:
  FromTdd(const Tdd& tdd, const ArrivalsSettings& s)
      : tdd_(tdd), downlink_(downlink_slots(tdd)), schedule_(traffic::Poisson{}, s.rate / share(), s.seed) {}
  std::uint64_t next() {
    const std::uint64_t open = schedule_.next(), window = open / tdd_.window_ns;
    const std::uint64_t slot = window / downlink_.size() * tdd_.pattern.size() + downlink_[window % downlink_.size()];
    return slot * tdd_.slot_ns + open % tdd_.window_ns;
  }

 private:
  static std::vector<std::size_t> downlink_slots(const Tdd& tdd) {
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < tdd.pattern.size(); ++i) {
      if (tdd.pattern[i] != 'U') slots.push_back(i);
    }
    return slots;
  }
  // The share of windows in all time.
  double share() const {
    return static_cast<double>(downlink_.size() * tdd_.window_ns) /
           static_cast<double>(tdd_.pattern.size() * tdd_.slot_ns);
  }

  Tdd tdd_;
  std::vector<std::size_t> downlink_;
  Schedule schedule_;
};

// A Poisson process at the peak rate, of which each packet is kept with the curve's probability (thinning).
class FromDiurnal {
 public:
  FromDiurnal(const Diurnal& diurnal, const ArrivalsSettings& s)
      : low_(diurnal.low),
        day_ns_(static_cast<double>(s.duration_ns)),
        schedule_(traffic::Poisson{}, s.rate, s.seed),
        kept_(~s.seed) {}
  std::uint64_t next() {
    while (true) {
      const std::uint64_t at = schedule_.next();
      const double curve = (1 - std::cos(2 * std::numbers::pi * static_cast<double>(at) / day_ns_)) / 2;
      if (kept_.unit() <= low_ + (1 - low_) * curve) return at;
    }
  }

 private:
  double low_, day_ns_;
  Schedule schedule_;
  Random kept_;
};

class FromTrains {
 public:
  FromTrains(const Trains& trains, const ArrivalsSettings& s)
      : packets_(trains.packets), schedule_(traffic::Poisson{}, s.rate / packets_, s.seed) {}
  std::uint64_t next() {
    if (left_ == 0) {
      left_ = packets_;
      at_ = schedule_.next();
    }
    --left_;
    return at_;
  }

 private:
  std::uint32_t packets_, left_ = 0;
  std::uint64_t at_ = 0;
  Schedule schedule_;
};

tl::unexpected<Error> too_many() {
  return fail("more than {} packets; allowed: a lower rate or a shorter duration", kMostPackets);
}

std::uint64_t at_rate(double rate, const ArrivalsSettings& s) {
  return static_cast<std::uint64_t>(rate * static_cast<double>(s.duration_ns) / 1e9);
}

template <class Source>
Expected<std::vector<std::uint64_t>> take(Source source, std::uint64_t expected, const ArrivalsSettings& settings) {
  std::vector<std::uint64_t> times;
  if (expected > kMostPackets) return too_many();
  times.reserve(expected);
  for (std::uint64_t at = source.next(); at < settings.duration_ns; at = source.next()) {
    if (times.size() == kMostPackets) return too_many();
    times.push_back(at);
  }
  return times;
}

Expected<std::vector<std::uint64_t>> make(const traffic::Arrivals& arrivals, const ArrivalsSettings& s) {
  const bool recorded = std::holds_alternative<traffic::Recorded>(arrivals);
  return take(FromSchedule(arrivals, s), recorded ? 0 : at_rate(s.rate, s), s);
}

Expected<std::vector<std::uint64_t>> make(const Tdd& tdd, const ArrivalsSettings& s) {
  if (tdd.pattern.find_first_not_of("DSU") != std::string::npos ||
      tdd.pattern.find_first_of("DS") == std::string::npos) {
    return fail("slot pattern '{}'; allowed: letters D, S and U, not U alone", tdd.pattern);
  }
  if (tdd.window_ns == 0 || tdd.window_ns > tdd.slot_ns) {
    return fail("packets over {} ns of a slot of {} ns; allowed: above 0, at most the slot", tdd.window_ns,
                tdd.slot_ns);
  }
  return take(FromTdd(tdd, s), at_rate(s.rate, s), s);
}

Expected<std::vector<std::uint64_t>> make(const Trains& trains, const ArrivalsSettings& s) {
  if (trains.packets == 0) return fail("trains of 0 packets; allowed: 1 or more");
  return take(FromTrains(trains, s), at_rate(s.rate, s), s);
}

Expected<std::vector<std::uint64_t>> make(const Diurnal& diurnal, const ArrivalsSettings& s) {
  return take(FromDiurnal(diurnal, s), at_rate(s.rate * (1 + diurnal.low) / 2, s), s);
}

}  // namespace

Expected<traffic::Recorded> load_times(const std::string& path) {
  if (const auto refused = refuse_to_read(path)) return fail("{}: {}; allowed: a pcap or pcapng file", path, *refused);
  char why[PCAP_ERRBUF_SIZE] = {};
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> file(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, why), &pcap_close);
  if (!file) return fail("{}", std::string_view(why).starts_with(path) ? std::string(why) : path + ": " + why);
  traffic::Recorded recorded;
  pcap_pkthdr* header = nullptr;
  const std::uint8_t* data = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file.get(), &header, &data)) == 1) {
    if (recorded.times_ns.size() == kMostPackets) return fail("{}: more than {} packets", path, kMostPackets);
    recorded.times_ns.push_back(static_cast<std::uint64_t>(header->ts.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(header->ts.tv_usec));  // ns, as asked for above
  }
  if (status == PCAP_ERROR) return fail("{}: {}", path, pcap_geterr(file.get()));
  if (recorded.times_ns.empty()) return fail("{}: holds no packet", path);
  // Captures of several queues are not always in order.
  std::sort(recorded.times_ns.begin(), recorded.times_ns.end());
  const std::uint64_t first = recorded.times_ns.front();
  for (std::uint64_t& time : recorded.times_ns) time -= first;
  return recorded;
}

Expected<std::vector<std::uint64_t>> make_arrivals(const ArrivalsSettings& settings) {
  return std::visit([&](const auto& kind) { return make(kind, settings); }, settings.kind);
}

}  // namespace splitplane::power::replay
