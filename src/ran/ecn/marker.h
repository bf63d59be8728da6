// Marks the SDUs of one bearer: the time that they wait below PDCP, and the law for it. The bearer's worker owns it.
#pragma once

#include "ran/ecn/law.h"
#include "ran/ecn/sojourn.h"

namespace splitplane::ran::ecn {

struct Counters {
  std::uint64_t ect0 = 0, ect1 = 0;                // packets that could be marked
  std::uint64_t marked_ect0 = 0, marked_ect1 = 0;  // those of them that were
  Time queueing_most = 0;                          // the longest queueing time that a packet found
};

class Marker {
 public:
  struct Settings {
    Sojourn::Settings sojourn;
    Law::Settings law;
  };

  explicit Marker(const Settings& settings) : sojourn_(settings.sojourn), law_(settings.law) {}

  // An SDU that is about to go to RLC, where it gets number `sn` or a higher one. Sets CE in it if the law says so.
  // Returns true if it did.
  bool offer(wire::MutableOctets sdu, std::uint32_t sn, Time now);
  void acknowledged(const Acknowledgement& ack, Time now) { sojourn_.acknowledged(ack, now); }
  void restart() { sojourn_.restart(); }

  [[nodiscard]] const Sojourn& sojourn() const { return sojourn_; }
  [[nodiscard]] const Law& law() const { return law_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  Sojourn sojourn_;
  Law law_;
  Counters counters_;
};

}  // namespace splitplane::ran::ecn
