// Compares what the gNB says about its bearers with what the UE side knows, as RRC would tell a UE: which are new,
// which changed, which are gone, and which started anew. Control thread; touches no packet.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ue/ue_bearer.h"

namespace splitplane::ue {

struct BearerChange {
  enum class Kind : std::uint8_t { kEstablish, kReestablish, kUpdate, kRelease };  // kReestablish: RLC AM alone
  Kind kind = Kind::kEstablish;
  ran::BearerConfig config;  // kRelease: as it was
  ran::BearerConfig before;  // kUpdate, and kEstablish of a bearer that was known: as it was; else id 0
  Numbers numbers;           // kEstablish
};

class BearerWatch {
 public:
  // One bearer of the gNB's list. A bearer whose modes changed, or whose numbers went back, was released and made anew.
  void see(const ran::BearerConfig& config, const Numbers& numbers);
  // The list is complete: what has to change; bearers that were not seen since the last time are gone.
  [[nodiscard]] std::vector<BearerChange> finish();
  // The list broke off: nothing is known to be gone; the changes seen so far.
  [[nodiscard]] std::vector<BearerChange> break_off();

  // The bearer is seen as new the next time: what was to be done could not be done.
  void forget(BearerId id) { known_.erase(id); }

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    ran::BearerConfig config;
    Numbers numbers;
    std::uint64_t round = 0;
  };
  std::unordered_map<BearerId, Known> known_;
  std::vector<BearerChange> changes_;
  std::uint64_t round_ = 1;
};

}  // namespace splitplane::ue
