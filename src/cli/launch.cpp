#include "cli/launch.h"

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/plain_file.h"
#include "cli/preflight/machine.h"
#include "cli/preflight/power_notes.h"
#include "config/card.h"
#include "config/finding.h"
#include "config/load.h"
#include "placement/numa_plan.h"
#include "runtime/descriptor_limit.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {
namespace {

std::string count_of(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::size_t bearers_in(const Config& config) {
  std::size_t n = 0;
  for (const auto& group : config.bearers) n += group.count;
  return n;
}

bool is_for(const Config& config, LaunchRequest::Command command) {
  switch (command) {
    case LaunchRequest::Command::kUe:
      return config.ue.has_value();
    case LaunchRequest::Command::kCard:
      return config.card.has_value();
    case LaunchRequest::Command::kGen:
      return config.gen.has_value();
    case LaunchRequest::Command::kSink:
      return config.sink.has_value();
    default:
      return !config.ue && !config.card && !config.is_traffic();
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
    case LaunchRequest::Command::kCard:
      return {"card", "card"};
    case LaunchRequest::Command::kGen:
      return {"gen", "gen"};
    case LaunchRequest::Command::kSink:
      return {"sink", "sink"};
    default:
      return {"run", "workers"};
  }
}

const char* command_of(const Config& config) {
  if (config.card) return "card";
  if (config.gen) return "gen";
  if (config.sink) return "sink";
  return config.ue ? "ue" : "run";
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

}  // namespace

int launch(const LaunchRequest& request, const Commands& commands, std::ostream& err) {
  const auto config = load_config(request.file);
  if (!config) {
    err << config.error().message << '\n';
    return kExitBadUsage;
  }
  if (!is_for(*config, request.command)) {
    err << fmt::format("{}: is a file for `splitplane {}`; allowed: one with the section {}\n", config->file,
                       command_of(*config), words_of(request.command).section);
    return kExitBadUsage;
  }
  for (const auto& [option, path] :
       {std::pair{"--stats-json", request.options.stats_json}, {"--json", request.traffic.json}}) {
    if (const auto refused = refuse_result_path(path)) {
      err << "splitplane " << words_of(request.command).command << ": " << option << ": " << *refused << '\n';
      return kExitBadUsage;
    }
  }
  if (request.traffic.strict && !config->sink && !request.traffic.loop) {
    err << fmt::format("--strict: {} has no sink that could tell; allowed: with the section sink, or with --sink\n",
                       config->file);
    return kExitBadUsage;
  }
  const bool json = request.log_format.empty() ? config->log_json : request.log_format == "json";
  log::init(request.log_level.empty() ? config->log_level : request.log_level,
            json ? log::Format::kJson : log::Format::kHuman);
  if (const auto enough = raise_descriptor_limit(descriptors_for(*config)); !enough) {
    err << config->file << ": " << enough.error().message << '\n';
    return kExitBadUsage;
  }
  if (const auto good = check_machine(*config); !good) {
    err << good.error().message << '\n';
    return kExitBadUsage;
  }
  const auto lock = InstanceLock::acquire(config->file_prefix);
  if (!lock) {
    err << located(*config, {"file_prefix", lock.error().message + "; allowed: one instance a file_prefix"}) << '\n';
    return kExitBadUsage;
  }
  for (const auto& path : remove_left_sockets(*config)) log::info("removed {}, which an earlier run left", path);
  switch (request.command) {
    case LaunchRequest::Command::kUe:
      return commands.ue(*config, request.options);
    case LaunchRequest::Command::kCard:
      return commands.nic(*config, request.options);
    case LaunchRequest::Command::kGen:
      return commands.gen(*config, request.traffic);
    case LaunchRequest::Command::kSink:
      return commands.sink(*config, request.traffic);
    default:
      return commands.run(*config, request.options);
  }
}

int check(const std::string& file, bool file_only, const CliOutput& output) {
  const auto config = load_config(file);
  auto good = config ? Expected<void>{} : Expected<void>{tl::unexpected(config.error())};
  if (good && !file_only) good = check_machine(*config);
  if (!good) {
    output.err << good.error().message << '\n';
    return kExitBadUsage;
  }
  const std::vector<std::string> notes = file_only ? std::vector<std::string>{} : power_notes(*config);
  PlacementPlan plan;
  if (!file_only) plan = plan_placement(*config, config->sysfs_root);
  if (output.json) {
    output.out << nlohmann::json{{"file", config->file},
                                 {"command", command_of(*config)},
                                 {"machine_checked", !file_only},
                                 {"ports", config->ports.size()},
                                 {"workers", config->workers.size()},
                                 {"bearers", bearers_in(*config)},
                                 {"placement", placement_json(plan)},
                                 {"notes", notes}}
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
               << '\n';
  } else {
    output.out << fmt::format(
                      "{}: good for `splitplane {}`{}: {}, {}, {}\n", config->file, command_of(*config),
                      file_only ? " (this machine not looked at)" : "", count_of(config->ports.size(), "port"),
                      count_of(config->card ? 1 : config->workers.size(), config->card ? "card" : "worker"),
                      config->card ? count_of(vf_count(*config), "VF") : count_of(bearers_in(*config), "bearer"))
               << to_string(plan);
    for (const auto& note : notes) output.out << "  " << note << '\n';
  }
  return kExitGood;
}

}  // namespace splitplane::app
