#include "cli/launch.h"

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/plain_file.h"
#include "cli/preflight/machine.h"
#include "cli/preflight/placement_notes.h"
#include "cli/preflight/power_notes.h"
#include "config/finding.h"
#include "engine/eal.h"
#include "guard/config/read.h"
#include "placement/numa_plan.h"
#include "runtime/descriptor_limit.h"
#include "runtime/instance_lock.h"
#include "runtime/left_hugepages.h"

namespace splitplane::app {
namespace {

std::string count_of(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// What `check` says of a file, and what a program needs at its start.
struct Facts {
  std::size_t workers = 0, bearers = 0, taps = 0;
  std::optional<unsigned> vfs;  // of a card
  std::size_t loops = 0;
  PlacementPlan placement;
  std::vector<std::string> notes;
};

Facts facts_of(const GnbConfig& config, bool of_machine) {
  Facts facts{.workers = config.workers.size(), .taps = config.taps.size(), .loops = config.workers.size()};
  for (const auto& group : config.bearers) facts.bearers += group.count;
  for (const auto& session : config.sessions) facts.bearers += session.config.bearers.size();
  facts.notes = placement_notes(config);
  if (!of_machine) return facts;
  facts.placement = plan_placement(config, config.sysfs_root);
  for (auto& note : power_notes(config)) facts.notes.push_back(std::move(note));
  return facts;
}
Facts facts_of(const CardConfig& card, bool of_machine) {
  Facts facts{.vfs = vf_count(card), .loops = card.cores.size()};
  if (of_machine) facts.placement = plan_placement(card, card.sysfs_root);
  return facts;
}
Facts facts_of(const UeConfig& /*config*/, bool /*of_machine*/) {
  return {};
}
Facts facts_of(const PhyProgramConfig& config, bool /*of_machine*/) {
  return {.taps = config.phy.capture ? 1U : 0U, .loops = 1};
}
Facts facts_of(const GuardConfig& config, bool /*of_machine*/) {
  return {.workers = config.workers.size(), .loops = config.workers.size()};
}
Facts facts_of(const TrafficConfig& config, bool /*of_machine*/) {
  Facts facts;
  if (!config.gen) return facts;
  for (const auto& group : config.gen->bearers) facts.bearers += group.count;
  return facts;
}
Facts facts_of(const AnyConfig& config, bool of_machine) {
  return std::visit([&](const auto& one) { return facts_of(one, of_machine); }, config);
}

const std::optional<SinkConfig>& sink_of(const AnyConfig& config) {
  static const std::optional<SinkConfig> kNone;
  const auto* const traffic = std::get_if<TrafficConfig>(&config);
  return traffic != nullptr ? traffic->sink : kNone;
}

bool is_for(const AnyConfig& config, LaunchRequest::Command command) {
  switch (command) {
    case LaunchRequest::Command::kUe:
      return std::holds_alternative<UeConfig>(config);
    case LaunchRequest::Command::kPhy:
      return std::holds_alternative<PhyProgramConfig>(config);
    case LaunchRequest::Command::kCard:
      return std::holds_alternative<CardConfig>(config);
    case LaunchRequest::Command::kGuard:
      return std::holds_alternative<GuardConfig>(config);
    case LaunchRequest::Command::kGen: {
      const auto* const traffic = std::get_if<TrafficConfig>(&config);
      return traffic != nullptr && traffic->gen;
    }
    case LaunchRequest::Command::kSink:
      return sink_of(config).has_value();
    case LaunchRequest::Command::kBaas: {
      const auto* const gnb = std::get_if<GnbConfig>(&config);
      return gnb != nullptr && gnb->baas;
    }
    default:
      return std::holds_alternative<GnbConfig>(config);
  }
}

// What a command is called, and the section by which its files are known.
struct Words {
  const char* command;
  const char* section;
};

Words words_of(LaunchRequest::Command command) {
  switch (command) {
    case LaunchRequest::Command::kUe:
      return {"ue", "ue"};
    case LaunchRequest::Command::kPhy:
      return {"phy", "phy"};
    case LaunchRequest::Command::kCard:
      return {"card", "card"};
    case LaunchRequest::Command::kGuard:
      return {"guard", "guard"};
    case LaunchRequest::Command::kGen:
      return {"gen", "gen"};
    case LaunchRequest::Command::kSink:
      return {"sink", "sink"};
    case LaunchRequest::Command::kBaas:
      return {"baas", "baas"};
    default:
      return {"run", "workers"};
  }
}

nlohmann::json placement_json(const PlacementPlan& plan) {
  const auto node_of = [](NumaNode node) { return node ? nlohmann::json(*node) : nlohmann::json(nullptr); };
  nlohmann::json cards = nlohmann::json::array();
  for (const auto& card : plan.cards) {
    nlohmann::json workers = nlohmann::json::array(), vfs = nlohmann::json::object();
    for (const auto& loop : card.loops)
      workers.push_back({{"name", loop.name}, {"core", loop.core}, {"node", node_of(loop.node)}});
    for (const auto& port : card.vfs) vfs[port] = node_of(plan.pools.at(port));
    cards.push_back({{"name", card.name},
                     {"node", node_of(card.node)},
                     {"from", card.from},
                     {"workers", std::move(workers)},
                     {"vf_buffers", std::move(vfs)}});
  }
  return {{"cards", std::move(cards)}, {"warnings", plan.warnings}};
}

// It opens no port and takes no memory: the gNB did.
int launch_baas(const GnbConfig& config, const LaunchRequest& request, const Commands& commands, std::ostream& err) {
  const auto lock = InstanceLock::acquire(baas_instance(config));
  if (lock) return commands.baas(config, request.options);
  err << located(config, {"baas", lock.error().message + "; allowed: one buffering service an instance"}) << '\n';
  return kExitBadUsage;
}

}  // namespace

int launch(const LaunchRequest& request, const Commands& commands, std::ostream& err) {
  const auto any = load_any(request.file);
  if (!any) {
    err << any.error().message << '\n';
    return kExitBadUsage;
  }
  const ProgramConfig& shared = shared_part(*any);
  if (!is_for(*any, request.command)) {
    err << fmt::format("{}: is a file for `splitplane {}`; allowed: one with the section {}\n", shared.file,
                       command_of(*any), words_of(request.command).section);
    return kExitBadUsage;
  }
  for (const auto& [option, path] :
       {std::pair{"--stats-json", request.options.stats_json}, {"--json", request.traffic.json}}) {
    if (const auto refused = refuse_result_path(path)) {
      err << "splitplane " << words_of(request.command).command << ": " << option << ": " << *refused << '\n';
      return kExitBadUsage;
    }
  }
  if (request.traffic.strict && !sink_of(*any) && !request.traffic.loop) {
    err << fmt::format("--strict: {} has no sink that could tell; allowed: with the section sink, or with --sink\n",
                       shared.file);
    return kExitBadUsage;
  }
  const bool json = request.log_format.empty() ? shared.log_json : request.log_format == "json";
  log::init(request.log_level.empty() ? shared.log_level : request.log_level,
            json ? log::Format::kJson : log::Format::kHuman);
  if (request.command == LaunchRequest::Command::kBaas)
    return launch_baas(std::get<GnbConfig>(*any), request, commands, err);
  for (const auto& folder : datapath::Eal::hugepage_folders()) {
    if (const std::size_t freed = free_left_hugepages(folder); freed != 0)
      log::info("{} MiB of hugepages freed in {}, which killed processes left", freed >> 20, folder.string());
  }
  const Facts facts = facts_of(*any, false);
  if (const auto enough = raise_descriptor_limit(descriptors_for(shared, facts.loops, facts.taps)); !enough) {
    err << shared.file << ": " << enough.error().message << '\n';
    return kExitBadUsage;
  }
  if (const auto good = check_machine(*any); !good) {
    err << good.error().message << '\n';
    return kExitBadUsage;
  }
  const auto lock = InstanceLock::acquire(shared.file_prefix);
  if (!lock) {
    err << located(shared, {"file_prefix", lock.error().message + "; allowed: one instance a file_prefix"}) << '\n';
    return kExitBadUsage;
  }
  for (const auto& path : remove_left_sockets(shared)) log::info("removed {}, which an earlier run left", path);
  switch (request.command) {
    case LaunchRequest::Command::kUe:
      return commands.ue(std::get<UeConfig>(*any), request.options);
    case LaunchRequest::Command::kPhy:
      return commands.phy(std::get<PhyProgramConfig>(*any), request.options);
    case LaunchRequest::Command::kCard:
      return commands.nic(std::get<CardConfig>(*any), request.options);
    case LaunchRequest::Command::kGuard:
      return commands.guard(std::get<GuardConfig>(*any), request.options);
    case LaunchRequest::Command::kGen:
      return commands.gen(std::get<TrafficConfig>(*any), request.traffic);
    case LaunchRequest::Command::kSink:
      return commands.sink(std::get<TrafficConfig>(*any), request.traffic);
    default:
      return commands.run(std::get<GnbConfig>(*any), request.options);
  }
}

int check(const std::string& file, bool file_only, const CliOutput& output) {
  const auto config = load_any(file);
  auto good = config ? Expected<void>{} : Expected<void>{tl::unexpected(config.error())};
  if (good && !file_only) good = check_machine(*config);
  if (!good) {
    output.err << good.error().message << '\n';
    return kExitBadUsage;
  }
  const ProgramConfig& shared = shared_part(*config);
  const Facts facts = facts_of(*config, !file_only);
  if (output.json) {
    output.out << nlohmann::json{{"file", shared.file},
                                 {"command", command_of(*config)},
                                 {"machine_checked", !file_only},
                                 {"ports", shared.ports.size()},
                                 {"workers", facts.workers},
                                 {"bearers", facts.bearers},
                                 {"placement", placement_json(facts.placement)},
                                 {"notes", facts.notes}}
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
               << '\n';
  } else {
    std::vector<std::string> counts;
    if (!shared.ports.empty()) counts.push_back(count_of(shared.ports.size(), "port"));
    if (const auto* const phy = std::get_if<PhyProgramConfig>(&*config))
      counts.push_back(
          fmt::format("nFAPI between {} and {}", phy->phy.local.to_string(), phy->phy.address.to_string()));
    if (facts.vfs) counts.push_back(count_of(1, "card"));
    if (facts.vfs) counts.push_back(count_of(*facts.vfs, "VF"));
    if (facts.workers != 0) counts.push_back(count_of(facts.workers, "worker"));
    if (const auto* const guard = std::get_if<GuardConfig>(&*config)) {
      counts.push_back(count_of(guard->servers.size(), "server"));
      const GuardTableBytes tables = table_bytes(*guard);
      counts.push_back(fmt::format("{} MiB of tables", guard->workers.size() * (tables.sources + tables.flows) >> 20));
    }
    if (facts.bearers != 0) counts.push_back(count_of(facts.bearers, "bearer"));
    output.out << fmt::format("{}: good for `splitplane {}`{}: {}\n", shared.file, command_of(*config),
                              file_only ? " (this machine not looked at)" : "", fmt::join(counts, ", "))
               << to_string(facts.placement);
    for (const auto& note : facts.notes) output.out << "  " << note << '\n';
  }
  return kExitGood;
}

}  // namespace splitplane::app
