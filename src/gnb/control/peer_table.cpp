#include "gnb/control/peer_table.h"

#include <algorithm>

namespace splitplane::gnb {

void PeerTable::add_interface(const N3Config& config, const MacAddress& mac) {
  n3_.push_back({config, {config.ipv4, config.ipv6, mac, config.vlan}, {}, {}, GtpuRuntime(config)});
}

N3Interface& PeerTable::n3_of(const WorkerRuntime& worker) {
  return *std::find_if(n3_.begin(), n3_.end(), [&](const auto& n3) { return n3.config.port == worker.config.n3; });
}

IpAddress PeerTable::next_hop(const N3Interface& n3, const IpAddress& upf) {
  return (upf.is_v6() ? n3.config.gateway_ipv6 : n3.config.gateway_ipv4).value_or(upf);
}

std::optional<MacAddress> PeerTable::mac_of(const N3Interface& n3, const IpAddress& upf) {
  return n3.config.peer_mac ? n3.config.peer_mac : n3.neighbors.mac_of(next_hop(n3, upf));
}

Expected<PeerTable::Joined> PeerTable::join(const Locked& /*locked*/, WorkerRuntime& worker, const IpAddress& upf) {
  const N3Interface& n3 = n3_of(worker);
  const auto mac = mac_of(n3, upf);
  const auto known = worker.upfs.find(upf);
  const auto number = known ? known : worker.upfs.free_below(datapath::kMaxPeers);
  if (!number) {
    return fail("upf: worker {} sends to {} UPFs already, which is the limit", worker.config.name, datapath::kMaxPeers);
  }
  if (!known) {
    if (upf.is_v6() ? !n3.own.ipv6 : !n3.own.ipv4) {
      return fail("upf: {} cannot be reached: N3 port {} has no address of that family", upf.to_string(),
                  n3.config.port);
    }
    const datapath::N3Peer peer = datapath::make_peer(worker.gnb->n3, upf, mac);
    if (!worker.execute([&] { worker.gnb->peers[*number] = peer; })) {
      return fail("worker {} does not answer; nothing was changed", worker.config.name);
    }
  }
  const bool is_first = worker.upfs.join(*number, upf);
  return Joined{PeerId{static_cast<std::uint16_t>(*number)}, is_first && !mac};
}

void PeerTable::leave(const Locked& /*locked*/, WorkerRuntime& worker, const IpAddress& upf) {
  (void)worker.upfs.leave(upf);
}

bool PeerTable::tell(const Locked& /*locked*/, N3Interface& n3, const IpAddress& hop,
                     const std::optional<MacAddress>& mac) {
  bool told = true;
  for (WorkerRuntime* worker : n3.workers) {
    const auto& rows = worker->upfs.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].bearers == 0 || next_hop(n3, rows[i].upf) != hop) continue;
      const datapath::N3Peer peer = datapath::make_peer(worker->gnb->n3, rows[i].upf, mac);
      told = worker->execute([&] { worker->gnb->peers[i] = peer; }) && told;
    }
  }
  return told;
}

bool PeerTable::take_mtu(const Locked& /*locked*/, const std::string& port, unsigned mtu) {
  for (auto& n3 : n3_) {
    if (n3.config.port != port) continue;
    for (WorkerRuntime* worker : n3.workers) {
      if (worker->gnb->n3.mtu == mtu) continue;
      datapath::N3Addresses own = worker->gnb->n3;
      own.mtu = static_cast<std::uint16_t>(mtu);
      const auto& rows = worker->upfs.rows();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].bearers == 0) continue;
        const datapath::N3Peer peer = datapath::make_peer(own, rows[i].upf, mac_of(n3, rows[i].upf));
        if (!worker->execute([gnb = worker->gnb.get(), peer, i] { gnb->peers[i] = peer; })) return false;
      }
      if (!worker->execute([gnb = worker->gnb.get(), mtu = own.mtu] { gnb->n3.mtu = mtu; })) return false;
    }
  }
  return true;
}

PeerTable::Addresses PeerTable::upfs(const N3Interface& n3) {
  Addresses all;
  for (const WorkerRuntime* worker : n3.workers) {
    for (const auto& row : worker->upfs.rows()) {
      if (row.bearers != 0) all.insert(row.upf);
    }
  }
  return all;
}

PeerTable::Addresses PeerTable::next_hops(const N3Interface& n3) {
  Addresses hops;
  for (const IpAddress& upf : upfs(n3)) hops.insert(next_hop(n3, upf));
  return hops;
}

std::size_t PeerTable::bearers_towards(const N3Interface& n3, const IpAddress& upf) {
  std::size_t bearers = 0;
  for (const WorkerRuntime* worker : n3.workers) {
    for (const auto& row : worker->upfs.rows()) bearers += row.upf == upf ? row.bearers : 0;
  }
  return bearers;
}

}  // namespace splitplane::gnb
