#include "card/link/vf_links.h"

#include <fmt/format.h>
#include <rte_ethdev.h>

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kLook{100};

}  // namespace

bool VfLinks::is_up(std::uint16_t id) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

std::optional<std::string> VfLinks::look(Clock::time_point now) {
  if (now < next_) return std::nullopt;
  next_ = now + kLook;
  std::vector<std::string> down;
  for (const VfLink& link : links_) {
    if (!look_(link.id)) down.push_back(link.port);
  }
  if (down.empty()) return std::string{};
  return fmt::format("it answers, but {} {} not connected to it, so no packet passes there", fmt::join(down, ", "),
                     down.size() == 1 ? "is" : "are");
}

}  // namespace splitplane::app
