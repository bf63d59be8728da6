#include "ue/ue_addresses.h"

#include "base/log.h"

namespace splitplane::ue {

void UeAddresses::follow(const std::vector<BearerChange>& changes) {
  for (const bool releases : {false, true}) {
    for (const BearerChange& one : changes) {
      if ((one.kind == BearerChange::Kind::kRelease) == releases) follow(one);
    }
  }
}

void UeAddresses::follow(const BearerChange& change) {
  if (change.kind == BearerChange::Kind::kRelease) return remove(change.config);
  const bool known = change.before.id.value != 0;
  if (known && change.before.ue_ipv4 == change.config.ue_ipv4 && change.before.ue_ipv6 == change.config.ue_ipv6) return;
  if (known) remove(change.before);
  add(change.config);
}

void UeAddresses::add(const ran::BearerConfig& bearer) {
  for (const auto& address : {bearer.ue_ipv4, bearer.ue_ipv6}) {
    if (!address) continue;
    const auto added = tun_.add_address(*address);
    if (!added) log::warn("{}", added.error().message);
    if (!added || *added || said_full_) continue;
    log::info("TUN device {} has {} addresses, the limit: UEs from {} on live on the air only", tun_.name(),
              Tun::kMaxAddresses, address->to_string());
    said_full_ = true;
  }
}

void UeAddresses::remove(const ran::BearerConfig& bearer) {
  for (const auto& address : {bearer.ue_ipv4, bearer.ue_ipv6}) {
    if (!address) continue;
    if (const auto removed = tun_.remove_address(*address); !removed) log::warn("{}", removed.error().message);
  }
}

}  // namespace splitplane::ue
