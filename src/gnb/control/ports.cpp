// What is behind the ports while the user plane runs.
#include "engine/dpdk_log.h"
#include "gnb/control/instance.h"

namespace splitplane::app {

void UserPlane::watch_ports(std::chrono::steady_clock::time_point now) {
  datapath::say_dpdk_repeats();
  const std::lock_guard guard(mutex_);
  const auto changed = watch_.look(now);
  for (const WatchedPort& port : changed) mtus_to_tell_[port.name] = port.mtu();
  if (mtus_to_tell_.empty() || (changed.empty() && now < next_mtu_)) return;
  next_mtu_ = now + std::chrono::milliseconds(200);  // a worker that did not listen is asked again
  std::erase_if(mtus_to_tell_, [this](const auto& row) { return take_mtu(row.first, row.second); });
}

// From now on the workers drop what is longer, instead of having the kernel drop what they count as transmitted.
// False: a worker did not listen, and the rest is not told.
bool UserPlane::take_mtu(const std::string& port, unsigned mtu) {
  for (auto& n3 : n3_) {
    if (n3.config.port != port) continue;
    for (WorkerRuntime* worker : n3.workers) {
      if (worker->gnb->n3.mtu == mtu) continue;
      datapath::N3Addresses own = worker->gnb->n3;
      own.mtu = static_cast<std::uint16_t>(mtu);
      for (std::size_t i = 0; i < worker->peers.size(); ++i) {
        if (worker->peers[i].bearers == 0) continue;
        const IpAddress& upf = worker->peers[i].upf;
        const datapath::N3Peer peer = datapath::make_peer(own, upf, mac_of(n3, upf));
        if (!worker->execute([gnb = worker->gnb.get(), peer, i] { gnb->peers[i] = peer; })) return false;
      }
      if (!worker->execute([gnb = worker->gnb.get(), mtu = own.mtu] { gnb->n3.mtu = mtu; })) return false;
    }
  }
  for (auto& worker : workers_) {
    if (!worker->gnb || worker->config.air != port) continue;
    const bool done = worker->execute([gnb = worker->gnb.get(), mtu] {
      gnb->air_frame_bytes = static_cast<unsigned>(wire::ethernet::kHeaderBytes + mtu);
    });
    if (!done) return false;
  }
  return true;
}

}  // namespace splitplane::app
