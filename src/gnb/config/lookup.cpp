#include "gnb/config/lookup.h"

#include <algorithm>

namespace splitplane::app {

const CardLinkConfig* card_before(const GnbConfig& config, const std::string& port) {
  const auto at =
      std::ranges::find_if(config.cards, [&](const CardLinkConfig& c) { return c.n3 == port || c.air == port; });
  return at == config.cards.end() ? nullptr : &*at;
}

const CardLinkConfig* find_card(const GnbConfig& config, const std::string& name) {
  const auto at = std::ranges::find(config.cards, name, &CardLinkConfig::name);
  return at == config.cards.end() ? nullptr : &*at;
}

bool is_fed(const GnbConfig& config, const WorkerConfig& worker) {
  return std::any_of(config.workers.begin(), config.workers.end(), [&](const WorkerConfig& other) {
    return other.function == WorkerConfig::Function::kDispatch &&
           std::count(other.to.begin(), other.to.end(), worker.name) != 0;
  });
}

}  // namespace splitplane::app
