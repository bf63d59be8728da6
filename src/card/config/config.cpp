#include "card/config/config.h"

#include <fmt/format.h>

#include "card/config/fields.h"
#include "runtime/config/lookup.h"

namespace splitplane::app {

bool has_marker(const CardConfig& card) {
  return card.marks || card.spread != nic::VfSpread::kBearer;
}

std::string spec_name(const CardConfig& card) {
  if (card.program != CardConfig::Program::kGnb)
    return std::string(kProgramNames[static_cast<std::size_t>(card.program)]);
  const char* variant = has_marker(card) ? "-marker" : card.lookup == CardConfig::Lookup::kUeAddress ? "-ue" : "";
  return fmt::format("gnb-{}{}", datapath::name_of(card.features), variant);
}

unsigned vf_count(const CardConfig& card) {
  unsigned count = 0;
  for (const auto& name : card.vfs) {
    if (const PortConfig* port = find_port(card, name)) count += port->rx_queues;
  }
  return count;
}

}  // namespace splitplane::app
