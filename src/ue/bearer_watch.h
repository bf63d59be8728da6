// Compares the gNB's list of bearers with what the UE side knows, as RRC would tell a UE: which are new, changed, gone
// or restarted. It runs on the control thread and touches no packet.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ran/bearer_view.h"
#include "ue/ue_bearer.h"

namespace splitplane::ue {

struct BearerChange {
  // kReestablish: RLC AM alone; kRekey: other keys, and RLC AM with them.
  enum class Kind : std::uint8_t { kEstablish, kReestablish, kRekey, kUpdate, kRelease };
  Kind kind = Kind::kEstablish;
  ran::BearerConfig config;  // kRelease: the configuration before
  ran::BearerConfig before;  // of a known bearer: the configuration before; otherwise, and for kRelease, id 0
  Numbers numbers;           // kEstablish, kReestablish, kRekey
  std::optional<app::InSession> session = {};  // of several bearers; not with kRelease
};

class BearerWatch {
 public:
  // One bearer of the gNB's list. A bearer whose modes changed, or whose numbers fell, was released and made anew.
  void see(const ran::BearerConfig& config, const Numbers& numbers, const std::optional<app::InSession>& session = {});
  // The list is complete: returns the changes. Bearers that were not seen since the last call are gone.
  [[nodiscard]] std::vector<BearerChange> finish();
  // The list broke off: returns the changes seen so far. No bearer counts as gone.
  [[nodiscard]] std::vector<BearerChange> break_off();

  // The change could not be made, so the bearer is as it was before. The next list brings the change again.
  void undo(const BearerChange& change);

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    ran::BearerConfig config;
    Numbers numbers;
    std::optional<app::InSession> session;
    std::uint64_t round = 0;
    bool is_stale = false;  // its last kUpdate could not be made
  };
  std::unordered_map<BearerId, Known> known_;
  std::vector<BearerChange> changes_;
  std::uint64_t round_ = 1;
};

}  // namespace splitplane::ue
