// Keeps the addresses of the TUN device equal to those of the UEs that have a bearer. It runs on the control thread.
#pragma once

#include <vector>

#include "ue/bearer_watch.h"
#include "ue/tun.h"

namespace splitplane::ue {

class UeAddresses {
 public:
  explicit UeAddresses(Tun& tun) : tun_(tun) {}
  // The log reports what the kernel refuses; the bearer works without it. Releases come last: an address that goes from
  // one bearer to another stays at the device, with the kernel's routes.
  void follow(const std::vector<BearerChange>& changes);
  void follow(const BearerChange& change);

 private:
  void add(const ran::BearerConfig& bearer);
  void remove(const ran::BearerConfig& bearer);
  Tun& tun_;
  bool said_full_ = false;
};

}  // namespace splitplane::ue
