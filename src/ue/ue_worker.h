// The thread that carries the UE side's packets, with its bearers, counters and mailbox. It is started on an lcore and
// stopped.
#pragma once

#include <atomic>
#include <functional>

#include "engine/mailbox.h"
#include "engine/worker_power.h"
#include "ue/ue_function.h"

namespace splitplane::ue {

class UeWorker {
 public:
  explicit UeWorker(const UeFunction::Ends& ends)
      : function_(bearers_, ends, stats_, worker_stats_), air_{ends.air_in.link, ends.air_out.link} {}
  ~UeWorker() { stop(); }
  UeWorker(const UeWorker&) = delete;
  UeWorker& operator=(const UeWorker&) = delete;

  [[nodiscard]] Expected<void> start(unsigned lcore, const power::Settings& policy);
  void stop();

  // Executes a command on the worker's thread between two rounds, or on this thread while the worker does not run.
  // Returns false if the worker does not answer; the command is then taken back.
  [[nodiscard]] bool execute(std::function<void(UeBearers&)> command);

  // In execute() only.
  [[nodiscard]] datapath::WorkerPower& power() { return power_; }
  // Makes the RLC entities of an acknowledged bearer, for change().
  [[nodiscard]] std::unique_ptr<datapath::ArqBearer> make_arq(const ran::BearerConfig& config, std::uint8_t epoch) {
    return function_.make_arq(config, epoch);
  }
  // As UeFunction::take_mtu; in execute() only.
  void take_mtu(std::uint16_t mtu) { function_.take_mtu(mtu); }
  // As UeFunction::failed; in execute() only.
  [[nodiscard]] std::vector<BearerId> failed() const { return function_.failed(); }
  // As UeFunction::change; in execute() only.
  UeEntities change(const BearerChange& change, UeEntities fresh) { return function_.change(change, std::move(fresh)); }
  // As UeFunction::take_pdcp; before start().
  void take_pdcp(std::unique_ptr<datapath::WorkerPdcp> pdcp) { function_.take_pdcp(std::move(pdcp)); }
  // Absent: no file of keys. Its make() and keys() are for the control thread.
  [[nodiscard]] datapath::WorkerPdcp* pdcp() { return function_.pdcp(); }

  // Absent if nothing is between the port and the UE side. In execute() only.
  struct Air {
    phy::AirLink *downlink = nullptr, *uplink = nullptr;
  };
  [[nodiscard]] const Air& air() const { return air_; }
  [[nodiscard]] const UeStats& stats() const { return stats_; }
  [[nodiscard]] const datapath::WorkerStats& worker_stats() const { return worker_stats_; }

 private:
  void loop();

  UeBearers bearers_;
  UeStats stats_;
  datapath::WorkerStats worker_stats_;
  UeFunction function_;
  Air air_;
  datapath::WorkerPower power_;
  datapath::Mailbox mailbox_{&power_.wakeup()};
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false};
  unsigned lcore_ = 0;
};

}  // namespace splitplane::ue
