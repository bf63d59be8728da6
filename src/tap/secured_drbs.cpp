#include "tap/secured_drbs.h"

namespace splitplane::tap {

void SecuredDrbs::set(BearerId bearer, SecuredDrb drb) {
  const std::lock_guard lock(mutex_);
  drbs_[bearer.value] = drb;
}

void SecuredDrbs::remove(BearerId bearer) {
  const std::lock_guard lock(mutex_);
  drbs_.erase(bearer.value);
}

std::optional<SecuredDrb> SecuredDrbs::find(BearerId bearer) const {
  const std::lock_guard lock(mutex_);
  const auto at = drbs_.find(bearer.value);
  return at == drbs_.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace splitplane::tap
