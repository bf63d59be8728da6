// The UE side as a worker's function. Frames from the air port go down to the kernel, packets from the TUN device go up
// to the air, and STATUS PDUs answer polls. Each read or write of the TUN device is a system call for one packet: this
// is the emulator, not the user plane under test.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/counter.h"
#include "engine/burst.h"
#include "phy/air_ends.h"
#include "secured/rekey.h"
#include "ue/bearer_watch.h"
#include "ue/tun.h"
#include "ue/ue_downlink.h"
#include "ue/ue_sessions.h"
#include "ue/ue_uplink.h"

namespace splitplane::ue {

// One outcome for every frame of the air port (downlink) and every packet of the TUN device (uplink). So in both
// directions received = sum of outcomes.
struct UeStats {
  std::array<Counter, kUeOutcomeCount> downlink, uplink;
  Counter end_markers;               // SDAP control PDUs of sessions with several bearers: taken by the port
  Counter status_sent, status_lost;  // answers to polls: taken by the port; without a buffer or queue full
  // Of acknowledged bearers: STATUS PDUs and retransmissions, and how many of both the port took and refused.
  Counter arq_status, arq_retransmitted, arq_sent, arq_lost, arq_status_stale, arq_status_malformed, arq_max_retx;
  Counter arq_unacked;  // not a sum: SDUs kept for retransmission now
  Counter pdcp_held;    // not a sum: downlink SDUs of secured bearers that wait for SDUs before them now
  Counter no_buffer;    // rounds that left the kernel's packets waiting because no buffer was free

  void add_downlink(UeOutcome outcome) { downlink[static_cast<std::size_t>(outcome)].add(1); }
  void add_uplink(UeOutcome outcome) { uplink[static_cast<std::size_t>(outcome)].add(1); }
};

// A port queue or the TUN device, read in bursts.
class UeQueue {
 public:
  explicit UeQueue(phy::AirSource air) : air_(air) {}
  UeQueue(Tun& tun, rte_mempool* pool, UeStats& stats) : tun_(&tun), pool_(pool), stats_(&stats) {}
  UeQueue(const UeQueue&) = delete;
  UeQueue& operator=(const UeQueue&) = delete;
  ~UeQueue() { rte_pktmbuf_free(spare_); }

  [[nodiscard]] bool is_tun() const { return tun_ != nullptr; }
  [[nodiscard]] unsigned receive(datapath::Burst& burst) { return is_tun() ? receive_tun(burst) : air_.receive(burst); }
  // When the air has the next frame for this queue.
  [[nodiscard]] std::uint64_t next_due() const { return air_.next_due(); }
  // The frames that the air still holds at the end. From the TUN device no packet is received ahead.
  [[nodiscard]] unsigned take_left(datapath::Burst& burst) { return is_tun() ? burst.size = 0 : air_.take_left(burst); }

 private:
  unsigned receive_tun(datapath::Burst& burst);

  phy::AirSource air_;
  Tun* tun_ = nullptr;
  rte_mempool* pool_ = nullptr;
  UeStats* stats_ = nullptr;
  rte_mbuf* spare_ = nullptr;  // for the next packet, because most reads find none
};

// The entities of a bearer beside its line: absent where it has none.
struct UeEntities {
  std::unique_ptr<datapath::ArqBearer> arq;          // acknowledged
  std::unique_ptr<datapath::SecuredBearer> secured;  // with security
  // For kRekey: the new keys, with the COUNTs that this side used with them before. change() returns what to destroy,
  // and what was used of the keys before.
  std::optional<datapath::NewKeys> keys;
  bool was_rekeyed = false, keys_refused = false;
  datapath::BearerKeys::Used used_before;
};

class UeFunction {
 public:
  struct Ends {
    phy::AirSource air_in;
    phy::AirSink air_out;
    AirLink link;
    Tun& tun;
    rte_mempool* pool;
  };

  UeFunction(UeBearers& bearers, const Ends& ends, UeStats& stats, datapath::WorkerStats& worker)
      : queues_{{UeQueue(ends.air_in), UeQueue(ends.tun, ends.pool, stats)}},
        arq_(arq_settings(ends)),
        bearers_(bearers),
        sessions_(kRuleLifetimeS * rte_get_tsc_hz()),
        downlink_(bearers, arq_, sessions_.due),
        uplink_(bearers, ends.link),
        air_(ends.air_out),
        tun_(ends.tun),
        pool_(ends.pool),
        stats_(stats),
        worker_(worker) {}

  std::array<UeQueue, 2>& queues() { return queues_; }
  void process(UeQueue& queue, datapath::Burst& burst) { queue.is_tun() ? from_tun(burst) : from_air(burst); }
  void flush() {
    serve_acknowledged();
    serve_reordering();
    if (!sessions_.due.empty()) send_end_markers();
    air_.flush();
  }
  void finish() { air_.finish(); }
  // The time of the next work that no packet announces. A time up to `now` means now.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    const std::uint64_t next = std::min({arq_.next_work(now), air_.next_due(), queues_[0].next_due()});
    return pdcp_ == nullptr ? next : std::min(next, pdcp_->next_work());
  }

  // Not on the worker's thread: makes the RLC entities of an acknowledged bearer, for change().
  [[nodiscard]] std::unique_ptr<datapath::ArqBearer> make_arq(const ran::BearerConfig& config, std::uint8_t epoch) {
    return arq_.make(config, epoch);
  }
  // In a worker's command: sets the MTU of the air port.
  void take_mtu(std::uint16_t mtu) { uplink_.take_mtu(mtu); }
  // In a worker's command: the bearers whose SDUs were sent maxRetxThreshold times.
  [[nodiscard]] std::vector<BearerId> failed() const;
  // Before the worker runs: with a file of keys, PDCP of secured bearers.
  void take_pdcp(std::unique_ptr<datapath::WorkerPdcp> pdcp) {
    pdcp_ = std::move(pdcp);
    downlink_.take_pdcp(*pdcp_);
  }
  [[nodiscard]] datapath::WorkerPdcp* pdcp() { return pdcp_.get(); }
  // In a worker's command: makes a change. `fresh` is for a bearer that is established. Returns what the caller must
  // destroy.
  UeEntities change(const BearerChange& change, UeEntities fresh);

 private:
  // T3583 (TS 24.501 10.3), if the network says nothing else.
  static constexpr std::uint64_t kRuleLifetimeS = 60;

  void from_air(datapath::Burst& burst);
  void from_tun(datapath::Burst& burst);
  void receive_secured();
  // Which packets a burst has for the air: those of the kernel count, end markers do not.
  enum class Sent : std::uint8_t { kPackets, kEndMarkers };
  [[nodiscard]] unsigned send_secured(datapath::Burst& burst, std::array<UeBearer*, datapath::kBurst>& bearers,
                                      unsigned kept, Sent what);
  void send_end_markers();
  [[nodiscard]] bool collect_end_marker(const UeEndMarker& marker, datapath::Burst& burst,
                                        std::array<UeBearer*, datapath::kBurst>& bearers, unsigned& kept);
  void serve_reordering();
  void deliver_sdu(BearerId id, datapath::MbufBuffer sdu);
  [[nodiscard]] UeEntities take_out(BearerId id);
  [[nodiscard]] UeEntities rekey(const BearerChange& change, UeEntities fresh);
  [[nodiscard]] UeOutcome deliver(const UeDownlink::Received& received);
  [[nodiscard]] UeUplink::Framed frame(rte_mbuf* m);
  void answer_polls(std::span<UeBearer* const> polled);
  [[nodiscard]] static datapath::Arq::Settings arq_settings(const Ends& ends);
  void keep(std::span<UeBearer* const> bearers, std::span<rte_mbuf* const> frames);
  void serve_acknowledged();

  std::array<UeQueue, 2> queues_;
  datapath::Arq arq_;
  std::unordered_map<std::uint32_t, std::unique_ptr<datapath::ArqBearer>> arq_bearers_;  // by identity
  std::unique_ptr<datapath::WorkerPdcp> pdcp_;  // above the entities that it made
  std::unordered_map<std::uint32_t, std::unique_ptr<datapath::SecuredBearer>> secured_bearers_;  // by identity
  UeBearers& bearers_;
  UeSessions sessions_;
  UeDownlink downlink_;
  UeUplink uplink_;
  phy::AirSink air_;
  Tun& tun_;
  rte_mempool* pool_;
  UeStats& stats_;
  datapath::WorkerStats& worker_;
};

}  // namespace splitplane::ue
