// What GTP-U messages did to single bearers: Error Indications of a UPF that does not know an uplink TEID, which stop
// that bearer's uplink for a while (n3/uplink_check.h), and End Markers.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "gnb/control/cards.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/workers.h"
#include "n3/message.h"
#include "n3/uplink_check.h"
#include "ran/bearer_store.h"
#include "ran/bearer_view.h"

namespace splitplane::gnb {

class Uplinks {
 public:
  Uplinks(const BearerStore& store, Workers& workers, PeerTable& peers, Cards& cards)
      : store_(store), workers_(workers), peers_(peers), cards_(cards) {}

  // A valid Error Indication. The UPF does not know the uplink TEID: sending there has no use until it does, or the
  // session management gives another one. Only the UPF itself may say so, and it must say it again after a check.
  void take_error_indication(const Locked& locked, N3Interface& n3, const datapath::N3Message& message, Time now);
  void take_end_marker(const Locked& locked, N3Interface& n3, const datapath::N3Message& message);
  // Uplinks that are checked, stopped or tried again: what is due.
  void serve(const Locked& locked, Time now);

  [[nodiscard]] bool is_stopped(const Locked& locked, BearerId id) const;
  // Until `changed`: an Error Indication may be meant for what a change replaces, so it is not matched.
  void changing(const Locked& /*locked*/, BearerId id) { changing_ = id; }
  void changed(const Locked& /*locked*/) { changing_ = {}; }
  // The bearer has another uplink now: what was said of the one before no longer counts.
  void begin_anew(const Locked& locked, BearerId id);
  void forget(const Locked& /*locked*/, BearerId id) { bearers_.erase(id.value); }
  void add_to(const Locked& locked, BearerView& view) const;

 private:
  struct Uplink {
    datapath::UplinkCheck check;
    Time looked{};  // at an Error Indication
    std::uint64_t error_indications = 0, end_markers = 0, stops = 0;
    [[nodiscard]] bool is_stopped() const { return check.state() == datapath::UplinkState::stopped; }
  };
  // The bearers that send with the same uplink TEID: itself, or all of its session.
  [[nodiscard]] std::vector<std::uint32_t> with_its_tunnel(const ran::BearerConfig& bearer) const;
  [[nodiscard]] std::uint64_t packets(WorkerRuntime& worker, const ran::BearerConfig& bearer);
  [[nodiscard]] bool stop(const Locked& locked, WorkerRuntime& worker, const ran::BearerConfig& bearer, bool stop);

  const BearerStore& store_;
  Workers& workers_;
  PeerTable& peers_;
  Cards& cards_;
  BearerId changing_{};                      // by a request that waits for its card without the mutex
  std::map<std::uint32_t, Uplink> bearers_;  // those that saw such a message
  std::set<std::uint32_t> in_check_;         // of them, those whose uplink is not simply active
};

}  // namespace splitplane::gnb
