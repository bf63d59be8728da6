// The L2's end of nFAPI: it configures and starts a PHY, says in which slot the PHY is, sends the messages of slots and
// gives what the PHY received. One thread owns it and calls poll(); no other may call it, but for counters and state.
//
//            PARAM.response      CONFIG.response     SLOT.indication
//   away -> param ----------> config ----------> start ----------> running
//    ^        ^ |               |                                   |  |
//    |        | '--> stop <-----'  MSG_INVALID_STATE: it still runs |  '-> silent, or no answer to all tries: away
//    |        '------'  STOP.indication                             '----> ERROR MSG_INVALID_STATE: it began again:
//    param
#pragma once

#include <atomic>

#include "phy/fapi/dl_tti.h"
#include "phy/fapi/p5.h"
#include "phy/fapi/slot_indication.h"
#include "phy/fapi/uci.h"
#include "phy/fapi/ul_dci.h"
#include "phy/fapi/ul_tti.h"
#include "phy/fapi/uplink_data.h"
#include "phy/link/p5_channel.h"
#include "phy/link/p7_channel.h"

namespace splitplane::phy {

#define SPLITPLANE_PHY_LINK_STATES(X)           \
  X(away, "waits before it asks the PHY again") \
  X(param, "PARAM.request is sent")             \
  X(config, "CONFIG.request is sent")           \
  X(start, "START.request is sent")             \
  X(running, "the PHY counts slots")            \
  X(stop, "STOP.request is sent")               \
  X(ended, "end() was called, and the PHY stopped or is silent")

SPLITPLANE_OUTCOMES(PhyLinkState, SPLITPLANE_PHY_LINK_STATES)

// clang-format off
#define SPLITPLANE_PHY_LINK_COUNTERS(X)                                        \
  X(starts, "times that the PHY began to run")                                 \
  X(retries, "P5 requests sent again because no answer came in time")          \
  X(unanswered, "P5 requests given up after all tries")                        \
  X(config_refused, "CONFIG.responses with an error")                          \
  X(silences, "times that a running PHY sent nothing for as long as allowed")  \
  X(restarts, "times that a running PHY was found to have stopped")            \
  X(errors, "ERROR.indications received")                                      \
  X(slots, "SLOT.indications received while the PHY runs")                     \
  X(slots_missed, "slots without a SLOT.indication between two that have one") \
  X(not_running, "messages of slots not sent because the PHY does not run")
// clang-format on

struct PhyLinkCounters {
  SPLITPLANE_PHY_LINK_COUNTERS(SPLITPLANE_LINK_MEMBER)
  template <class F>
  void for_each(F f) const {
    SPLITPLANE_PHY_LINK_COUNTERS(SPLITPLANE_LINK_VISIT)
  }
};

// What a link tells its owner, on the link's thread, out of poll(). Messages and their payloads are valid during the
// call. The owner may send from a call.
class PhyLinkOwner {
 public:
  virtual ~PhyLinkOwner() = default;
  virtual void phy_runs(const fapi::ParamResponse& capabilities) = 0;
  virtual void phy_is_away() = 0;  // after phy_runs() only
  virtual void config_is_refused(const fapi::ConfigResponse& response) = 0;
  virtual void slot_begins(const fapi::SlotIndication& slot) = 0;
  virtual void receive(const fapi::RxDataIndication& message) = 0;
  virtual void receive(const fapi::CrcIndication& message) = 0;
  virtual void receive(const fapi::UciIndication& message) = 0;
  virtual void receive(const fapi::ErrorIndication& message) = 0;
};

class PhyLink {
 public:
  struct Settings {
    std::uint16_t phy_id = 0;
    P7Settings p7;
    fapi::ConfigRequest config;  // what the PHY shall be configured with
    Time answer_timeout = 200'000;
    unsigned tries = 5;                // of each request, before the link goes away
    Time away_time = 1'000'000;        // before it begins again
    Time silence = 500'000;            // after which a running PHY counts as away
    unsigned datagrams_at_once = 256;  // that a poll fetches from each socket
  };

  PhyLink(const Settings& settings, DatagramSocket p5, DatagramSocket p7, PhyLinkOwner& owner);

  // Takes what came, sends again what was not answered. It never waits.
  void poll(Time now);

  // Messages of slots. Pieces of TX_DATA are read before this returns.
  [[nodiscard]] SendOutcome send(const fapi::DlTtiRequest& message, Time now) { return send_running(message, now); }
  [[nodiscard]] SendOutcome send(const fapi::UlTtiRequest& message, Time now) { return send_running(message, now); }
  [[nodiscard]] SendOutcome send(const fapi::TxDataRequest& message, Time now) { return send_running(message, now); }
  [[nodiscard]] SendOutcome send(const fapi::UlDciRequest& message, Time now) { return send_running(message, now); }

  // Stops the PHY if it runs. poll() goes on until the state is `ended`.
  void end(Time now);

  [[nodiscard]] PhyLinkState state() const { return state_.load(std::memory_order_relaxed); }
  [[nodiscard]] const PhyLinkCounters& counters() const { return counters_; }
  [[nodiscard]] const P5Channel& p5() const { return p5_; }
  [[nodiscard]] const P7Channel& p7() const { return p7_; }

 private:
  template <class Message>
  [[nodiscard]] SendOutcome send_running(const Message& message, Time now) {
    if (state() == PhyLinkState::running) return p7_.send(message, now);
    counters_.not_running.add(1);
    return SendOutcome::not_running;
  }
  void ask(PhyLinkState state, Time now);
  void send_request();
  void leave_running();
  void go_away(Time now);
  void keep_time(Time now);

  void take_p5(std::uint16_t id, wire::Octets body, Time now);
  void take(const fapi::ParamResponse& response, Time now);
  void take(const fapi::ConfigResponse& response, Time now);
  void take(const fapi::StopIndication& indication, Time now);
  void take(const fapi::ErrorIndication& error, Time now);
  void take_p7(std::uint16_t id, wire::Octets body, Time now);
  void take(const fapi::SlotIndication& slot, Time now);

  Settings settings_;
  P5Channel p5_;
  P7Channel p7_;
  PhyLinkOwner& owner_;
  std::unique_ptr<fapi::RxDataIndication> rx_data_ = std::make_unique<fapi::RxDataIndication>();
  std::unique_ptr<fapi::CrcIndication> crc_ = std::make_unique<fapi::CrcIndication>();
  std::unique_ptr<fapi::UciIndication> uci_ = std::make_unique<fapi::UciIndication>();
  std::atomic<PhyLinkState> state_ = PhyLinkState::away;
  bool ending_ = false;
  unsigned tries_ = 0;
  Time next_try_ = 0;
  Time last_arrival_ = 0;
  fapi::ParamResponse capabilities_;
  fapi::SlotIndication slot_;
  PhyLinkCounters counters_;
};

}  // namespace splitplane::phy
