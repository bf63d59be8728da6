#include "gnb/config/full_mode.h"

#include <algorithm>
#include <map>
#include <tuple>

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

// Each DCI needs a CCE of the CORESET, which is one symbol of the slot.
std::optional<Finding> refuse_cell(const std::string& worker, const PhyConfig& phy) {
  const unsigned dcis = phy.prbs / 6U;
  if (2U * phy.max_grants <= dcis) {
    // In the worst slot: a PUSCH or a HARQ-ACK for each grant, and chances to ask for a grant.
    const unsigned room = std::min(255U, 3U * phy.prbs),
                   chances = (phy.max_ues + phy.request_slots - 1U) / phy.request_slots;
    if (chances + 2U * phy.max_grants <= room) return std::nullopt;
    return Finding{fmt::format("workers.{}.phy.max_ues", worker),
                   fmt::format("with request_slots {} a slot has {} chances to ask for a grant and {} places for them; "
                               "allowed: at most {}, or more request_slots",
                               phy.request_slots, chances, room - 2U * phy.max_grants,
                               (room - 2U * phy.max_grants) * phy.request_slots)};
  }
  return Finding{fmt::format("workers.{}.phy.max_grants", worker),
                 fmt::format("a slot of {} PRBs has room for {} DCIs of both directions; allowed: at most {}, or more "
                             "prbs",
                             phy.prbs, dcis, dcis / 2)};
}

// Each worker's PHY is another one, and so are our ports towards it.
std::optional<Finding> check_phys(const GnbConfig& config) {
  std::map<std::pair<std::string, unsigned>, std::string> taken;
  for (const WorkerConfig& worker : config.workers) {
    if (!worker.phy) continue;
    const PhyConfig& phy = *worker.phy;
    if (auto finding = refuse_cell(worker.name, phy)) return finding;
    if (phy.address.is_v6() != phy.local.is_v6())
      return Finding{fmt::format("workers.{}.phy.local", worker.name),
                     fmt::format("{} is of another family than the PHY's address {}; allowed: one of its family",
                                 phy.local.to_string(), phy.address.to_string())};
    for (const auto& [key, address, port] : {std::tuple{"p5_port", phy.address, phy.p5_port},
                                             {"p7_port", phy.address, phy.p7_port},
                                             {"local_p5_port", phy.local, phy.local_p5_port},
                                             {"local_p7_port", phy.local, phy.local_p7_port}}) {
      const std::string name = fmt::format("workers.{}.phy.{}", worker.name, key);
      const auto [at, free] = taken.emplace(std::pair{address.to_string(), unsigned{port}}, name);
      if (!free)
        return Finding{
            name, fmt::format("{} port {} is {} too; allowed: another port", address.to_string(), port, at->second)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_full_mode(const GnbConfig& config) {
  for (const WorkerConfig& worker : config.workers) {
    if (worker.function != WorkerConfig::Function::kGnb || worker.features != datapath::FeatureSet::full) continue;
    if (const auto refused = refuse_worker(config, worker))
      return Finding{fmt::format("workers.{}.features", worker.name), *refused};
  }
  return check_phys(config);
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
