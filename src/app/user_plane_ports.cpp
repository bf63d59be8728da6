// What is behind the ports while the user plane runs.
#include "app/user_plane.h"
#include "datapath/dpdk_log.h"

namespace splitplane::app {

void UserPlane::watch_ports(std::chrono::steady_clock::time_point now) {
  datapath::say_dpdk_repeats();
  const std::lock_guard guard(mutex_);
  for (const WatchedPort& port : watch_.look(now)) take_mtu(port.name, port.mtu());
}

// From now on the workers drop what is longer, instead of having the kernel drop what they count as transmitted.
void UserPlane::take_mtu(const std::string& port, unsigned mtu) {
  for (auto& n3 : n3_) {
    if (n3.config.port != port) continue;
    for (WorkerRuntime* worker : n3.workers) {
      if (worker->gnb->n3.mtu == mtu) continue;
      (void)worker->execute([gnb = worker->gnb.get(), mtu] { gnb->n3.mtu = static_cast<std::uint16_t>(mtu); });
      for (std::size_t i = 0; i < worker->peers.size(); ++i) {
        if (worker->peers[i].bearers == 0) continue;
        const IpAddress& upf = worker->peers[i].upf;
        const datapath::N3Peer peer = datapath::make_peer(worker->gnb->n3, upf, mac_of(n3, upf));
        (void)worker->execute([gnb = worker->gnb.get(), peer, i] { gnb->peers[i] = peer; });
      }
    }
  }
  for (auto& worker : workers_) {
    if (!worker->gnb || worker->config.air != port) continue;
    (void)worker->execute([gnb = worker->gnb.get(), mtu] {
      gnb->air_frame_bytes = static_cast<unsigned>(wire::ethernet::kHeaderBytes + mtu);
    });
  }
}

}  // namespace splitplane::app
