// For tests of card/ only: seeded random packets for both sides of a gNB. Each packet says what it is and whether a
// card must serve it itself.
#pragma once

#include "card/test_downlink.h"
#include "card/test_uplink.h"

namespace splitplane::nic::test {

class PacketMaker {
 public:
  PacketMaker(const std::vector<TestBearer>& bearers, std::uint64_t seed)
      : random_(seed), downlink_(bearers, random_), uplink_(bearers, random_) {}

  Packet next_usual() { return random_() % 10 < 6 ? downlink_.usual() : uplink_.usual(); }
  Packet next() {
    Packet p = random_() % 10 < 6 ? downlink_.next() : uplink_.next();
    if (!p.valid && random_() % 40 == 0 && p.octets.size() > 20) {
      p.segments_at = 1 + random_() % (p.octets.size() - 1);
      p.what += ", two segments";
    }
    return p;
  }

 private:
  Random random_;
  DownlinkMaker downlink_;
  UplinkMaker uplink_;
};

}  // namespace splitplane::nic::test
