#include "gnb/config/check_bearers.h"

#include <algorithm>
#include <array>
#include <map>

#include "gnb/config/full_mode.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

// An entry of `bearers` or `sessions`, as a user finds it. The tunnel of a session is that of its first bearer.
struct BearerEntry {
  std::string name;  // "bearers[0]"
  ran::BearerGroup group;
  std::size_t places = 1;  // of one of its group
};

std::vector<BearerEntry> entries_of(const GnbConfig& config) {
  std::vector<BearerEntry> entries;
  for (std::size_t i = 0; i < config.bearers.size(); ++i) {
    entries.push_back({fmt::format("bearers[{}]", i), config.bearers[i]});
  }
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    const ran::WantedSession& session = config.sessions[i];
    entries.push_back({fmt::format("sessions[{}]", i),
                       {.count = 1, .first = session.config.bearers.front().config, .shard = session.shard},
                       session.config.bearers.size() + 1});  // and the session line
  }
  return entries;
}

// Each bearer, also those of sessions.
std::vector<BearerEntry> single_bearers_of(const GnbConfig& config, std::vector<BearerEntry> entries) {
  std::erase_if(entries, [](const BearerEntry& entry) { return entry.places != 1; });
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    const auto& bearers = config.sessions[i].config.bearers;
    for (std::size_t j = 0; j < bearers.size(); ++j) {
      entries.push_back({fmt::format("sessions[{}].bearers[{}]", i, j),
                         {.count = 1, .first = bearers[j].config, .shard = config.sessions[i].shard}});
    }
  }
  return entries;
}

// First and last value of one number of an entry; two entries may not meet.
struct Range {
  std::string first, last;  // comparable as octets
  std::size_t entry = 0;
};

// The key that says how many there are.
const char* many_of(const BearerEntry& entry) {
  return entry.places == 1 ? ".count" : ".bearers";
}

bool may_own(const WorkerConfig& worker, const ran::BearerGroup& group) {
  return worker.function == Function::kGnb &&
         (!group.shard || (*group.shard >= worker.shard_first && *group.shard <= worker.shard_last));
}

std::string octets(const IpAddress& a) {
  return {a.octets().begin(), a.octets().end()};
}

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::optional<Finding> overlap(const std::vector<BearerEntry>& entries, std::vector<Range> ranges, const char* key,
                               const char* what) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[i - 1].last) {
      continue;
    }
    const auto [low, high] = std::minmax(ranges[i - 1].entry, ranges[i].entry);
    return Finding{fmt::format("{}.{}", entries[high].name, key),
                   fmt::format("{} that {} has too; allowed: ranges (first value, count) that do not meet", what,
                               entries[low].name)};
  }
  return std::nullopt;
}

std::optional<Finding> check_ranges(const std::vector<BearerEntry>& entries) {
  std::map<std::string, std::vector<Range>> teids;  // by UPF
  std::vector<Range> ipv4, ipv6, foreign;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& group = entries[i].group;
    const ran::BearerConfig first = group.first;
    const ran::BearerConfig last = bearer_at(group, group.count - 1);
    const auto wraps = [&](const char* key) {
      return Finding{fmt::format("{}.{}", entries[i].name, key),
                     fmt::format("with count {} it runs past the last value; allowed: a lower one", group.count)};
    };
    if (last.uplink_teid < first.uplink_teid) return wraps("ul_teid");
    if (first.dl_teid) {
      if (*last.dl_teid < *first.dl_teid) return wraps("dl_teid");
      foreign.push_back({big_endian(first.dl_teid->value), big_endian(last.dl_teid->value), i});
    }
    teids[first.upf.to_string()].push_back(
        {big_endian(first.uplink_teid.value), big_endian(last.uplink_teid.value), i});
    for (const auto& [key, from, to, into] :
         {std::tuple{"ue_ipv4", first.ue_ipv4, last.ue_ipv4, &ipv4}, {"ue_ipv6", first.ue_ipv6, last.ue_ipv6, &ipv6}}) {
      if (!from) continue;
      if (octets(*to) < octets(*from)) return wraps(key);
      into->push_back({octets(*from), octets(*to), i});
    }
  }
  for (auto& [upf, ranges] : teids) {
    if (auto finding = overlap(entries, std::move(ranges), "ul_teid", "holds a TEID of the same UPF")) return finding;
  }
  if (auto finding = overlap(entries, std::move(foreign), "dl_teid", "holds a downlink TEID")) return finding;
  if (auto finding = overlap(entries, std::move(ipv4), "ue_ipv4", "holds a UE address")) return finding;
  return overlap(entries, std::move(ipv6), "ue_ipv6", "holds a UE address");
}

std::optional<Finding> check_entry(const GnbConfig& config, const BearerEntry& entry,
                                   std::array<std::size_t, ran::kShards>& in_shard) {
  const auto& group = entry.group;
  const bool v6 = group.first.upf.is_v6();
  bool owned = false;
  for (const auto& worker : config.workers) {
    if (!may_own(worker, group)) continue;
    owned = true;
    const auto n3 =
        std::find_if(config.n3.begin(), config.n3.end(), [&](const N3Config& n) { return n.port == worker.n3; });
    if (n3 == config.n3.end() || (v6 ? n3->ipv6 : n3->ipv4)) continue;
    return Finding{
        entry.name + ".upf",
        fmt::format("{} is IPv{}, but n3 port {} of worker {} has no such address; allowed: the family of our address",
                    group.first.upf.to_string(), v6 ? 6 : 4, worker.n3, worker.name)};
  }
  if (!owned) {
    return Finding{entry.name + (group.shard ? ".shard" : ""),
                   "no gnb worker would own them; allowed: a shard within some gnb worker's shards"};
  }
  if (group.shard && (in_shard[*group.shard] += group.count * entry.places) > config.max_bearers / ran::kShards) {
    return Finding{entry.name + many_of(entry),
                   fmt::format("makes {} bearers in shard {}; allowed: at most max_bearers / {} = {}",
                               in_shard[*group.shard], *group.shard, ran::kShards, config.max_bearers / ran::kShards)};
  }
  return std::nullopt;
}

std::optional<Finding> check_security(const GnbConfig& config, const BearerEntry& entry) {
  const auto& group = entry.group;
  if (!group.first.security) return std::nullopt;
  const std::string key = entry.name + ".security";
  if (config.key_file.empty()) return Finding{key, "needs keys; allowed: with key_file, the file that has them"};
  if (config.journal.empty())
    return Finding{key, "needs COUNTs that go on after a restart; allowed: with a journal, not with journal: none"};
  if (bearer_at(group, group.count - 1).security->key < group.first.security->key)
    return Finding{key + ".key",
                   fmt::format("with count {} it runs past the last value; allowed: a lower one", group.count)};
  for (const auto& worker : config.workers) {
    if (may_own(worker, group) && worker.features < datapath::FeatureSet::mat) {
      return Finding{fmt::format("workers.{}.features", worker.name),
                     "looks for no bearers, and would own secured ones; allowed: mat, clone_drop, clone, full"};
    }
  }
  return std::nullopt;
}

// A bearer that a worker in full mode would own.
std::optional<Finding> check_full_mode(const GnbConfig& config, const BearerEntry& entry) {
  for (const auto& worker : config.workers) {
    if (worker.features != datapath::FeatureSet::full || !may_own(worker, entry.group)) continue;
    const auto refused = refuse_in_full_mode(entry.group.first);
    if (!refused) continue;
    const std::size_t colon = refused->find(": ");
    return Finding{entry.name + "." + refused->substr(0, colon), refused->substr(colon + 2)};
  }
  return std::nullopt;
}

// A bearer with marks needs a worker that knows how long SDUs wait.
std::optional<Finding> check_ecn(const GnbConfig& config, const ran::BearerGroup& group, bool has_ecn,
                                 const std::string& key) {
  if (!has_ecn) return std::nullopt;
  for (const auto& worker : config.workers) {
    if (!may_own(worker, group) || worker.baas != WorkerConfig::Baas::kNone) continue;
    return Finding{key, fmt::format("worker {} would own them, and does not keep what the UE has not acknowledged; "
                                    "allowed: baas: inline there",
                                    worker.name)};
  }
  return std::nullopt;
}

std::optional<Finding> check_ecn(const GnbConfig& config) {
  for (std::size_t i = 0; i < config.bearers.size(); ++i) {
    const auto& group = config.bearers[i];
    const auto key = fmt::format("bearers[{}].ecn", i);
    if (auto finding = check_ecn(config, group, group.first.ecn.has_value(), key)) return finding;
  }
  for (std::size_t i = 0; i < config.sessions.size(); ++i) {
    const auto& session = config.sessions[i];
    for (std::size_t j = 0; j < session.config.bearers.size(); ++j) {
      const auto& bearer = session.config.bearers[j].config;
      const auto key = fmt::format("sessions[{}].bearers[{}].ecn", i, j);
      if (auto finding = check_ecn(config, {.first = bearer, .shard = session.shard}, bearer.ecn.has_value(), key))
        return finding;
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_keys(const GnbConfig& config, const std::vector<BearerEntry>& entries) {
  std::size_t foreign = 0;
  for (const BearerEntry& entry : entries) {
    const auto& group = entry.group;
    if (group.first.dl_teid) foreign += group.count;
    if (foreign > config.foreign_teids) {
      return Finding{
          entry.name + ".dl_teid",
          fmt::format("makes {} TEIDs of somebody else's choosing, and foreign_teids is {}; allowed: at most "
                      "that many",
                      foreign, config.foreign_teids)};
    }
    if (config.lookup == GnbConfig::Lookup::kUeAddress && !group.first.ue_ipv4 && !group.first.ue_ipv6) {
      return Finding{"lookup", fmt::format("is ue_address, but {} has no UE address; allowed: teid, or ue_ipv4, "
                                           "ue_ipv6 or both there",
                                           entry.name)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_bearers(const GnbConfig& config) {
  const auto entries = entries_of(config);
  if (auto finding = check_keys(config, entries)) return finding;
  if (auto finding = check_ecn(config)) return finding;
  std::size_t shards = 0;
  for (const auto& worker : config.workers) {
    if (worker.function == Function::kGnb) shards += worker.shard_last - worker.shard_first + 1;
  }
  const std::size_t capacity = config.max_bearers / ran::kShards * shards;
  std::array<std::size_t, ran::kShards> in_shard{};
  std::size_t sum = 0;
  for (const BearerEntry& entry : entries) {
    if (auto finding = check_entry(config, entry, in_shard)) return finding;
    sum += entry.group.count * entry.places;
    if (sum > capacity) {
      return Finding{
          entry.name + many_of(entry),
          fmt::format("makes {} bearers; allowed: at most {} ({} of {} shards of max_bearers {} have a worker)", sum,
                      capacity, shards, ran::kShards, config.max_bearers)};
    }
  }
  for (const BearerEntry& entry : single_bearers_of(config, entries)) {
    if (auto finding = check_security(config, entry)) return finding;
    if (auto finding = check_full_mode(config, entry)) return finding;
  }
  return check_ranges(entries);
}

}  // namespace splitplane::app
