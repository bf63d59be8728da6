// The uplink of sessions with several bearers: SDUs of a QoS flow keep their order when the UE moves the flow to
// another bearer (TS 37.324 5.3). A worker owns it. Bearers that are sessions by themselves never come here.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "arq/arq.h"
#include "ran/bearer.h"
#include "ran/sdap/uplink_order.h"
#include "ran/session_config.h"
#include "sessions/flow_counters.h"

namespace splitplane::datapath {

class SessionUplinks {
 public:
  // An SDU that may go to N3: its frame as it came from the air.
  struct Ready {
    rte_mbuf* m = nullptr;
    ran::BearerUplink* line = nullptr;
    std::uint8_t qfi = 0;
  };
  // How long SDUs of a moved flow wait for its end marker, and how many of a session. RLC AM repairs a loss within that
  // time. An end marker on UM may be lost.
  static constexpr std::uint64_t kHoldMs = 500;
  static constexpr std::size_t kMostHeld = 1024;
  static constexpr std::size_t kMostHeldByAll = 4096;  // of all sessions, unless limit() says less

  // Each SDU that becomes ready is counted in `flows`, which outlives this object.
  explicit SessionUplinks(const FlowCounters& flows) : flows_(flows) {}
  SessionUplinks(const SessionUplinks&) = delete;
  SessionUplinks& operator=(const SessionUplinks&) = delete;
  ~SessionUplinks();

  void limit(std::size_t most) { most_ = std::min(most, kMostHeldByAll); }
  // In a command of the control thread: the bearers of a session are there now.
  void open(const ran::SessionConfig& session, std::uint64_t tsc_hz);
  // They are gone. Returns how many SDUs waited, which are dropped.
  std::uint64_t close(const ran::SessionConfig& session);

  // An SDU that RLC and PDCP delivered. It is ready now, or waits for the end marker of its flow on another bearer.
  void receive(ran::BearerUplink& line, std::uint8_t qfi, rte_mbuf* m, std::uint64_t now);
  // An end marker of that flow came on the bearer. `arq`: RLC of an acknowledged bearer that delivers as PDUs come.
  // There the marker counts when all PDUs before it have come.
  void end(std::uint32_t id, std::uint8_t qfi, const ArqBearer* arq);
  // Call it after each PDU of such a bearer.
  void look_at_ends(const ArqBearer& arq);
  // In a command: RLC of the bearer begins anew, maybe with other keys. The UE follows first, and then sends again what
  // it has there, so the wait for end markers of that session begins anew.
  void wait_again(std::uint32_t id, std::uint64_t now);
  // Once per round: gives up what waited long enough.
  void tick(std::uint64_t now);

  // The caller sends what is ready, and clears it.
  std::vector<Ready> ready;

  [[nodiscard]] bool waits() const { return held_ != 0; }
  [[nodiscard]] std::uint64_t held() const { return held_; }
  [[nodiscard]] std::uint64_t held(BearerId id) const;
  // When tick() has work.
  [[nodiscard]] std::uint64_t next_work() const;
  // How often an end marker did not come in time, or too much waited for it.
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }

 private:
  struct Member;
  struct Sdu {
    rte_mbuf* m;
    Member* from;
    ran::BearerUplink* line;
  };
  struct Session {
    Session(Teid its, ran::sdap::OrderLimits limits) : teid(its), order(map, limits) {}
    Teid teid;
    ran::sdap::FlowMap map;  // which bearers can carry end markers
    ran::sdap::UplinkOrder<Sdu> order;
  };
  // An end marker that came before PDUs before it.
  struct EarlyEnd {
    std::uint8_t qfi;
    std::uint8_t epoch;
    std::uint32_t until;  // RX_Next when all of them have come
  };
  struct Member {
    std::shared_ptr<Session> session;
    ran::sdap::DrbId drb;
    std::uint64_t held = 0;
    std::vector<EarlyEnd> ends;
  };
  [[nodiscard]] auto to_ready() {
    return [this](Qfi qfi, Sdu sdu) {
      --sdu.from->held;
      --held_;
      const std::size_t octets = sdu.m->data_len - kAirRlcOffset - sdu.line->header_bytes;
      flows_.count_uplink(sdu.from->session->teid.value, qfi.value, octets);
      ready.push_back({sdu.m, sdu.line, qfi.value});
    };
  }
  [[nodiscard]] Member* find(std::uint32_t id) const;
  void note_waiting(Session& session);
  void give_up(Session& session);

  const FlowCounters& flows_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Member>> members_;  // by the bearer's identity
  std::vector<Session*> waiting_;                                       // sessions with SDUs that wait
  std::uint64_t held_ = 0, given_up_ = 0;
  std::size_t most_ = kMostHeldByAll;
};

}  // namespace splitplane::datapath
