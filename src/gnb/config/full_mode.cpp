#include "gnb/config/full_mode.h"

#include <algorithm>

#include "gnb/config/lookup.h"

namespace splitplane::app {
namespace {

std::optional<std::string> refuse_worker(const GnbConfig& config, const WorkerConfig& worker) {
  if (config.key_file.empty()) return "is full, and PDCP needs keys; allowed: with key_file";
  if (config.journal.empty())
    return "is full, and PDCP needs COUNTs that go on after a restart; allowed: with a journal, not with journal: none";
  if (const CardLinkConfig* const card = card_before(config, worker.n3); card != nullptr)
    return fmt::format("is full, and card {} is before its ports; allowed: clone, or ports without a card", card->name);
  if (is_fed(config, worker))
    return "is full, and a dispatch worker feeds it; allowed: clone, or a worker that reads its ports itself";
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_full_mode(const GnbConfig& config) {
  for (const WorkerConfig& worker : config.workers) {
    if (worker.function != WorkerConfig::Function::kGnb || worker.features != datapath::FeatureSet::full) continue;
    if (const auto refused = refuse_worker(config, worker))
      return Finding{fmt::format("workers.{}.features", worker.name), *refused};
  }
  return std::nullopt;
}

std::optional<std::string> refuse_in_full_mode(const ran::BearerConfig& bearer) {
  if (!bearer.security)
    return "security: must be there in full mode, where PDCP puts in order what RLC delivers; allowed: with a key "
           "(cipher nea0 and integrity none protect nothing)";
  if (bearer.arq.max_unacked_octets != 0)
    return "am.max_unacked_octets: does not count in full mode; allowed: 0, with am.max_unacked";
  if (bearer.ecn) return "ecn: full mode marks no packets; allowed: without ecn";
  return std::nullopt;
}

}  // namespace splitplane::app
