// The ports of a running card: which device is N3, the air or a VF, and the endpoints that the loops serve, by the
// card's numbers. A VF may get another device when its host comes back. Except for open_device(), the owner has its
// lock held in all calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "card/config/config.h"
#include "card/function.h"
#include "engine/port.h"
#include "observe/observation.h"
#include "runtime/resources.h"

namespace splitplane::app {

// Adds the counters of one device of a port to those of another.
void add(datapath::PortCounters& sum, const datapath::PortCounters& more);

class CardPorts {
 public:
  // `config`, which has a card, must outlive this.
  explicit CardPorts(const CardConfig& config) : config_(config) {}

  // Makes packet buffers on NUMA node `socket`, and opens the devices of all ports but those in `later`.
  [[nodiscard]] Expected<void> open(int socket, const std::vector<std::string>& later);
  [[nodiscard]] Expected<std::unique_ptr<datapath::Port>> open_device(const PortConfig& config);
  // Makes the card's ports in the program's order. A side without a port in the configuration is a pair of rings to
  // which no other thread has access.
  [[nodiscard]] Expected<void> make_endpoints();

  // The devices of a VF, which come and go. The endpoints change only by use_device().
  void put(const std::string& name, std::unique_ptr<datapath::Port> device);
  [[nodiscard]] std::unique_ptr<datapath::Port> take(const std::string& name);
  [[nodiscard]] const datapath::Port& device(const std::string& name) const { return *devices_.at(name); }
  void use_device(const std::string& name, std::uint16_t id);

  // Whether a device passes mbufs to a reader without a copy.
  [[nodiscard]] bool passes_mbufs() const;
  // The number of the first VF of a port of card.vfs.
  [[nodiscard]] unsigned first_vf(const std::string& name) const;
  // N3, air, VF 0 and so on.
  [[nodiscard]] const std::vector<nic::CardEndpoint>& endpoints() const { return endpoints_; }
  // Of each endpoint the port's name, and its name for people; empty: not connected.
  [[nodiscard]] const std::vector<std::string>& endpoint_ports() const { return endpoint_ports_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // Where the control side takes buffers for frames of its own.
  [[nodiscard]] rte_mempool* pool() const { return pool_.get(); }
  // `counters`: of the card, over all its cores.
  [[nodiscard]] std::vector<PortObservation> observe(const nic::CardCounters& counters) const;

 private:
  const CardConfig& config_;
  Pool pool_;
  std::map<std::string, std::unique_ptr<datapath::Port>> devices_;  // those of VFs whose host is there among them
  std::map<std::string, datapath::PortCounters> earlier_;           // of devices that VFs had before
  std::vector<Ring> rings_;                                         // both ends of a side that is not connected
  std::vector<nic::CardEndpoint> endpoints_;
  std::vector<std::string> endpoint_ports_, names_;
};

}  // namespace splitplane::app
