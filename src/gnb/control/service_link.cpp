#include "gnb/control/service_link.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "runtime/instance_lock.h"

namespace splitplane::gnb {

std::vector<WorkerRuntime*> ServiceLink::served() const {
  std::vector<WorkerRuntime*> served;
  for (const auto& worker : workers_.all()) {
    if (worker->gnb && worker->gnb->arq && worker->gnb->arq->service() != nullptr) served.push_back(worker.get());
  }
  return served;
}

Expected<nlohmann::json> ServiceLink::attach(const Locked& locked, int process) {
  if (wiring_.service_memory() == nullptr)
    return fail("no worker here has baas: process; allowed: with one, and with the section baas");
  if (rte_eal_has_hugepages() == 0)
    return fail("this instance runs on ordinary memory, which cannot be shared; allowed: with hugepages");
  serve(locked);
  if (service_.lives() && (serves_ || process != process_))
    return fail("process {} serves already; allowed: one buffering service an instance", process_);
  OtherProcess opened(process);
  // Its number may be another process's by now, but not one that holds the lock.
  if (!opened.is_open() || InstanceLock::holder(baas_instance(config_)) != process)
    return fail("process {} does not hold the lock of instance {}", process, baas_instance(config_));
  end();
  service_ = std::move(opened);
  process_ = process;
  nlohmann::json wakeups = nlohmann::json::array();
  for (WorkerRuntime* const worker : served()) wakeups.push_back(worker->power.wakeup().fd());
  return nlohmann::json{{"process", ::getpid()}, {"wakeups", std::move(wakeups)}};
}

Expected<nlohmann::json> ServiceLink::begin(const Locked& /*locked*/, int process, const std::vector<int>& wakeups,
                                            bool wakes) {
  if (process != process_ || serves_ || !service_.lives())
    return fail("process {} has not attached; allowed: baas.attach first", process);
  const std::size_t cores = config_.baas->cores.size();
  if (wakeups.size() != cores) return fail("wakeups: {} are there; allowed: {}", wakeups.size(), cores);
  drop_wakeups(true);  // of one that began and did not serve
  bool can_wake = true;
  for (const int number : wakeups) {
    wakeups_.push_back(service_.take_descriptor(number));
    can_wake = can_wake && wakeups_.back().get() >= 0;
  }
  std::vector<int> fds;
  for (const Fd& one : wakeups_) fds.push_back(one.get());
  for (WorkerRuntime* const worker : served()) {
    baas::WorkerEnd* const service = worker->gnb->arq->service();
    const bool done = worker->execute([service, fds, can_wake, wakes, memory = wiring_.service_memory()] {
      service->wake = nullptr;
      if (can_wake) service->wake = [fds, memory](std::size_t core) { memory->service[core].wake(fds[core]); };
      service->connect(wakes);
    });
    if (done) continue;
    leave_workers();
    return fail("worker {} does not answer; allowed: again later", worker->config.name);
  }
  wiring_.keep_message_rings();
  serves_ = true;
  wakes_ = wakes;
  is_woken_ = can_wake;
  ++begun_;
  since_ = std::chrono::steady_clock::now();
  log::write(
      spdlog::level::info, {{"process", std::to_string(process_)}},
      fmt::format("buffering service: process {} serves {} worker(s) on {} core(s)", process_, served().size(), cores));
  if (!wakes)
    log::warn("buffering service: it may not wake the workers (pidfd_getfd); these look for its messages each {} ms",
              baas::kBlindSleepMs);
  return nlohmann::json{{"can_wake", can_wake}};
}

// A worker that does not listen may still write to the descriptors: their numbers must not become those of other files.
void ServiceLink::drop_wakeups(bool all_listened) {
  if (!all_listened) std::ranges::move(wakeups_, std::back_inserter(still_used_));
  wakeups_.clear();
}

void ServiceLink::leave_workers() {
  bool all_listened = true;
  for (WorkerRuntime* const worker : served()) {
    baas::WorkerEnd* const service = worker->gnb->arq->service();
    // One that does not listen fills rings that are not read, until the next service begins.
    all_listened = worker->execute([service] {
      service->disconnect();
      service->wake = nullptr;
    }) && all_listened;
  }
  drop_wakeups(all_listened);
}

void ServiceLink::end() {
  if (!serves_) return;
  leave_workers();
  serves_ = false;
  ++ended_;
  since_ = std::chrono::steady_clock::now();
}

void ServiceLink::serve(const Locked& /*locked*/) {
  if (!service_.is_open() || service_.lives()) return;
  const bool served = serves_;
  end();
  service_ = OtherProcess();
  if (served) {
    log::write(spdlog::level::warn, {{"process", std::to_string(process_)}},
               fmt::format("buffering service: process {} has ended; what was sent waits for the next one", process_));
  }
}

nlohmann::json ServiceLink::row(const Locked& /*locked*/) const {
  if (wiring_.service_memory() == nullptr) return nullptr;
  const auto since = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  nlohmann::json workers = nlohmann::json::array();
  for (WorkerRuntime* const worker : served()) {
    const datapath::WorkerStats& stats = worker->gnb->stats;
    workers.push_back({{"name", worker->config.name},
                       {"held", stats.rlc_unacked.get()},
                       {"told", stats.baas_told.get()},
                       {"told_again", stats.baas_told_again.get()},
                       {"status_lost", stats.baas_status_lost.get()}});
  }
  return nlohmann::json{{"state", serves_            ? "serves"
                                  : service_.lives() ? "starts"
                                                     : "absent"},
                        {"process", service_.lives() ? nlohmann::json(process_) : nlohmann::json(nullptr)},
                        {"since_s", begun_ == 0 ? 0.0 : since},
                        {"begun", begun_},
                        {"ended", ended_},
                        {"wakes", {{"service", serves_ && is_woken_}, {"workers", serves_ && wakes_}}},
                        {"workers", std::move(workers)}};
}

}  // namespace splitplane::gnb
