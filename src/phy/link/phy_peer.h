// The PHY's end of nFAPI: it answers P5 by a PhyMachine, sends SLOT.indication at each tick of its owner's clock, and
// gives the messages of slots that came in time. One thread owns it and calls poll() and begin_slot(); no other may
// call it, but for counters.
#pragma once

#include "phy/fapi/dl_tti.h"
#include "phy/fapi/phy_machine.h"
#include "phy/fapi/uci.h"
#include "phy/fapi/ul_dci.h"
#include "phy/fapi/ul_tti.h"
#include "phy/fapi/uplink_data.h"
#include "phy/link/p5_channel.h"
#include "phy/link/p7_channel.h"

namespace splitplane::phy {

// clang-format off
#define SPLITPLANE_PHY_PEER_COUNTERS(X)                                             \
  X(configs, "CONFIG.requests taken")                                               \
  X(starts, "START.requests taken")                                                 \
  X(stops, "STOP.requests taken")                                                   \
  X(slots, "slots begun")                                                           \
  X(delivered, "messages of slots given to the owner")                              \
  X(out_of_slot, "messages of slots dropped: too late, too early, or not running")  \
  X(errors_sent, "ERROR.indications sent")                                          \
  X(errors_withheld, "ERROR.indications not sent because a poll sent many already") \
  X(silences, "times that the L2 of a running PHY sent nothing for long")           \
  X(not_running, "indications not sent because the PHY does not run")
// clang-format on

struct PhyPeerCounters {
  SPLITPLANE_PHY_PEER_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_PHY_PEER_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

// What the PHY's end tells its owner, on its thread, out of poll(). Messages and their payloads are valid during the
// call. The owner may send from a call.
class PhyPeerOwner {
 public:
  virtual ~PhyPeerOwner() = default;
  virtual void phy_starts(const fapi::ConfigRequest& config) = 0;  // the owner begins to call begin_slot()
  virtual void phy_stops() = 0;
  virtual void l2_is_away() = 0;  // the PHY runs on; the owner decides
  virtual void receive(const fapi::DlTtiRequest& message) = 0;
  virtual void receive(const fapi::UlTtiRequest& message) = 0;
  virtual void receive(const fapi::TxDataRequest& message) = 0;
  virtual void receive(const fapi::UlDciRequest& message) = 0;
};

class PhyPeer {
 public:
  struct Settings {
    std::uint16_t phy_id = 0;
    P7Settings p7;
    fapi::ParamResponse capabilities;
    unsigned slots_early = 8;  // that a message may be ahead of its slot, where CONFIG.request has no timing_window
    Time silence = 500'000;    // after which the L2 of a running PHY counts as away
    unsigned datagrams_at_once = 256;  // that a poll fetches from each socket
  };
  static constexpr unsigned kErrorsAtOnce = 16;  // that a poll sends: an L2 learns no more from further ones

  PhyPeer(const Settings& settings, DatagramSocket p5, DatagramSocket p7, PhyPeerOwner& owner);

  // Takes what came and answers it. It never waits.
  void poll(Time now);
  // The clock's tick: the next slot begins. Returns it if the PHY runs.
  std::optional<fapi::SlotIndication> begin_slot(Time now);

  [[nodiscard]] SendOutcome send(const fapi::RxDataIndication& message, Time now) { return send_running(message, now); }
  [[nodiscard]] SendOutcome send(const fapi::CrcIndication& message, Time now) { return send_running(message, now); }
  [[nodiscard]] SendOutcome send(const fapi::UciIndication& message, Time now) { return send_running(message, now); }

  [[nodiscard]] fapi::PhyState state() const { return machine_.state(); }
  [[nodiscard]] bool l2_away() const { return l2_away_; }
  [[nodiscard]] const PhyPeerCounters& counters() const { return counters_; }
  [[nodiscard]] const P5Channel& p5() const { return p5_; }
  [[nodiscard]] const P7Channel& p7() const { return p7_; }

 private:
  template <class Message>
  [[nodiscard]] SendOutcome send_running(const Message& message, Time now) {
    if (state() == fapi::PhyState::kRunning) return p7_.send(message, now);
    counters_.not_running.add(1);
    return SendOutcome::not_running;
  }
  void send_error(const fapi::ErrorIndication& error);
  void is_there(Time now);

  void take_p5(std::uint16_t id, wire::Octets body, Time now);
  void answer(const fapi::ParamRequest& request);
  void answer(const fapi::ConfigRequest& request);
  void answer(const fapi::StartRequest& request);
  void answer(const fapi::StopRequest& request);
  void take_p7(std::uint16_t id, wire::Octets body, Time now);
  template <class Message>
  [[nodiscard]] bool take_as(Message& message, std::uint16_t id, wire::Octets body, Time now);

  Settings settings_;
  P5Channel p5_;
  P7Channel p7_;
  PhyPeerOwner& owner_;
  fapi::PhyMachine machine_;
  std::unique_ptr<fapi::DlTtiRequest> dl_tti_ = std::make_unique<fapi::DlTtiRequest>();
  std::unique_ptr<fapi::UlTtiRequest> ul_tti_ = std::make_unique<fapi::UlTtiRequest>();
  std::unique_ptr<fapi::TxDataRequest> tx_data_ = std::make_unique<fapi::TxDataRequest>();
  std::unique_ptr<fapi::UlDciRequest> ul_dci_ = std::make_unique<fapi::UlDciRequest>();
  unsigned errors_left_ = kErrorsAtOnce;
  Time last_arrival_ = 0;
  bool l2_away_ = false;
  PhyPeerCounters counters_;
};

}  // namespace splitplane::phy
