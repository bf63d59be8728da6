// Keeps the addresses of the TUN device those of the UEs that have a bearer. Control thread.
#pragma once

#include "ue/bearer_watch.h"
#include "ue/tun.h"

namespace splitplane::ue {

class UeAddresses {
 public:
  explicit UeAddresses(Tun& tun) : tun_(tun) {}
  // What the kernel refuses is said in the log; the bearer works without.
  void follow(const BearerChange& change);

 private:
  void add(const ran::BearerConfig& bearer);
  void remove(const ran::BearerConfig& bearer);
  Tun& tun_;
  bool said_full_ = false;
};

}  // namespace splitplane::ue
