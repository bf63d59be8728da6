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

// Where a bearer of full mode is on the air: the C-RNTI of its UE, and its logical channel there.
struct RadioPlace {
  std::uint16_t rnti = 0;
  std::uint32_t lcid = 0;

  friend bool operator==(const RadioPlace&, const RadioPlace&) = default;
};

struct BearerChange {
  // kReestablish: RLC AM alone; kRekey: other keys, and RLC AM with them. In full mode other keys are another
  // bearer: kEstablish.
  enum class Kind : std::uint8_t { kEstablish, kReestablish, kRekey, kUpdate, kRelease };
  Kind kind = Kind::kEstablish;
  ran::BearerConfig config;  // kRelease: the configuration before
  ran::BearerConfig before;  // of a known bearer: the configuration before; otherwise, and for kRelease, id 0
  Numbers numbers;           // kEstablish, kReestablish, kRekey
  std::optional<app::InSession> session = {};  // of several bearers; not with kRelease
  std::optional<RadioPlace> radio = {};        // full mode; not with kRelease
};

class BearerWatch {
 public:
  // One bearer of the gNB's list. A bearer whose modes changed, or whose numbers fell, was released and made anew.
  // In full mode, bearers of a UE that has another C-RNTI are updated, those whose epoch changed re-established.
  void see(const ran::BearerConfig& config, const Numbers& numbers, const std::optional<app::InSession>& session = {},
           const std::optional<RadioPlace>& radio = {});
  // The list is complete: returns the changes. Bearers that were not seen since the last call are gone; their releases
  // come first, because a new bearer may need their place.
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
    std::optional<RadioPlace> radio;
    std::uint64_t round = 0;
    bool is_stale = false;  // its last kUpdate could not be made
  };
  std::unordered_map<BearerId, Known> known_;
  std::vector<BearerChange> changes_;
  std::uint64_t round_ = 1;
};

}  // namespace splitplane::ue
