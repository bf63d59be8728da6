// The UPFs that bearers go to, and how they are reached: for each worker the number (PeerId) of a UPF in its table, and
// for each N3 interface the next hop and its MAC address. Bearers take and give back their UPF here; N3Control says
// which MAC addresses it has learned.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gnb/control/control_lock.h"
#include "gnb/control/n3_interface.h"
#include "gnb/control/worker.h"

namespace splitplane::gnb {

class PeerTable {
 public:
  using Addresses = std::set<IpAddress, datapath::IpLess>;
  struct Joined {
    PeerId id{};
    bool must_be_asked = false;  // the first bearer towards it, and its MAC address is not known yet
  };

  // At the start: an interface on a port with this MAC address, and then the gnb workers that send there.
  void add_interface(const N3Config& config, const MacAddress& mac);
  void add_sender(WorkerRuntime& worker) { n3_of(worker).workers.push_back(&worker); }

  [[nodiscard]] std::vector<N3Interface>& interfaces(const Locked& /*locked*/) { return n3_; }
  [[nodiscard]] const std::vector<N3Interface>& interfaces(const Locked& /*locked*/) const { return n3_; }
  // The interface of a gnb or dispatching worker.
  [[nodiscard]] N3Interface& n3_of(const WorkerRuntime& worker);
  [[nodiscard]] static IpAddress next_hop(const N3Interface& n3, const IpAddress& upf);
  // Absent: not resolved.
  [[nodiscard]] static std::optional<MacAddress> mac_of(const N3Interface& n3, const IpAddress& upf);

  // One bearer more from this worker to this UPF, and one less. Error: the limit, no address of that family, or the
  // worker does not answer; then nothing was changed.
  Expected<Joined> join(const Locked& locked, WorkerRuntime& worker, const IpAddress& upf);
  void leave(const Locked& locked, WorkerRuntime& worker, const IpAddress& upf);

  // Gives the workers that send by way of `hop` its MAC address, or takes it from them. True if all of them listened.
  [[nodiscard]] bool tell(const Locked& locked, N3Interface& n3, const IpAddress& hop,
                          const std::optional<MacAddress>& mac);
  // From now on workers that send on `port` drop what is longer, instead of having the kernel drop what they count as
  // transmitted. False: a worker did not listen, and those after it were not told.
  [[nodiscard]] bool take_mtu(const Locked& locked, const std::string& port, unsigned mtu);

  // The UPFs that have bearers, and their next hops: a gateway stands for many UPFs.
  [[nodiscard]] static Addresses upfs(const N3Interface& n3);
  [[nodiscard]] static Addresses next_hops(const N3Interface& n3);
  [[nodiscard]] static std::size_t bearers_towards(const N3Interface& n3, const IpAddress& upf);

 private:
  std::vector<N3Interface> n3_;
};

}  // namespace splitplane::gnb
