// Carries out on the UE side of full mode what the gNB's list of bearers changed. The control thread owns it: entities
// are made and destroyed there, and put to work on the thread of the UEs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ue/terminal/full_ue.h"
#include "ue/ue_addresses.h"

namespace splitplane::ue {

class FullChanges {
 public:
  // Executes a command on the thread of the UEs between two rounds, and waits for it. False: that thread does not
  // answer, and the command is taken back.
  using Execute = std::function<bool(std::function<void()>)>;

  // `addresses`: of the TUN device; nullptr: there is none.
  FullChanges(FullUe& ues, UeAddresses* addresses, Execute execute)
      : ues_(ues), addresses_(addresses), execute_(std::move(execute)) {}

  // Returns the changes that could not be made: they are tried again with the next list. As BearerFollower::Ways.
  [[nodiscard]] std::vector<BearerChange> carry_out(const std::vector<BearerChange>& wanted);

 private:
  [[nodiscard]] std::optional<BearerChange> possible(const BearerChange& change) const;
  [[nodiscard]] std::unique_ptr<datapath::SecuredBearer> make_secured(const BearerChange& change);
  void note_used(const FullUe::Entities& old);
  [[nodiscard]] bool refused(const BearerChange& change, const FullUe::Entities& old);

  FullUe& ues_;
  UeAddresses* addresses_;
  Execute execute_;
  std::set<BearerId> refused_;  // the log has it already
};

}  // namespace splitplane::ue
