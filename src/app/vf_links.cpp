#include "app/vf_links.h"

#include <fmt/core.h>
#include <rte_ethdev.h>

#include "app/config_check_device.h"

namespace splitplane::app {

std::optional<VfLink> vf_link(const PortConfig& port, std::uint16_t id) {
  const auto device = parse_device(port.device);
  if (!device) return std::nullopt;
  // Its link is what its own thread noted down last; nobody may be there yet.
  if (device->driver == Driver::kVhost) return VfLink{port.name, id, true, false};
  const bool connects = device->driver == Driver::kVirtioUser && device->arg("server").value_or("0") != "1";
  return connects ? std::optional(VfLink{port.name, id, false, true}) : std::nullopt;
}

bool VfLinks::is_up(std::uint16_t id) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

std::string to_string(const VfLink& link) {
  if (link.up) return fmt::format("port {}: its link is up: the host is there", link.port);
  return fmt::format("port {}: its link is down: its host is gone{}", link.port,
                     link.comes_back ? "" : "; start the card again when the host is back");
}

std::vector<VfLink> VfLinks::look(Clock::time_point now) {
  std::vector<VfLink> changed;
  if (now < next_) return changed;
  next_ = now + std::chrono::seconds(1);
  for (VfLink& link : links_) {
    // Of one that connects once there is nothing more to learn, and DPDK would log an error at every look.
    if (!link.up && !link.comes_back) continue;
    if (look_(link.id) == link.up) continue;
    link.up = !link.up;
    changed.push_back(link);
  }
  return changed;
}

}  // namespace splitplane::app
