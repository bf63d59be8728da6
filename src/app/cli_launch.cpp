// `run`, `ue` and `check`: everything before the first packet.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cli.h"
#include "app/cli_suggest.h"
#include "app/config_check.h"
#include "app/instance_lock.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

std::optional<Error> refuse_stats_path(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Error{fmt::format("--stats-json: {} is a directory; allowed: a file", printable(path, 120))};
  if (::access(directory.empty() ? "." : directory.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return Error{fmt::format("--stats-json: {}: {}; allowed: a file in a directory we may write", printable(path, 120),
                           std::strerror(errno))};
}

std::string count_of(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::size_t bearers_in(const Config& config) {
  std::size_t n = 0;
  for (const auto& group : config.bearers) n += group.count;
  return n;
}

}  // namespace

int launch(const LaunchRequest& request, const Commands& commands, std::ostream& err) {
  const auto config = load_config(request.file);
  if (!config) {
    err << config.error().message << '\n';
    return kExitBadUsage;
  }
  if (config->ue.has_value() != request.ue) {
    err << fmt::format("{}: is a file for `splitplane {}`; allowed: one with the section {}\n", config->file,
                       request.ue ? "run" : "ue", request.ue ? "ue" : "workers");
    return kExitBadUsage;
  }
  if (const auto refused = refuse_stats_path(request.options.stats_json)) {
    err << refused->message << '\n';
    return kExitBadUsage;
  }
  const bool json = request.log_format.empty() ? config->log_json : request.log_format == "json";
  log::init(request.log_level.empty() ? config->log_level : request.log_level,
            json ? log::Format::kJson : log::Format::kHuman);
  if (const auto good = check_machine(*config); !good) {
    err << good.error().message << '\n';
    return kExitBadUsage;
  }
  const auto lock = InstanceLock::acquire(config->file_prefix);
  if (!lock) {
    err << located(*config, {"file_prefix", lock.error().message + "; allowed: one instance a file_prefix"}) << '\n';
    return kExitBadUsage;
  }
  return (request.ue ? commands.ue : commands.run)(*config, request.options);
}

int check(const std::string& file, bool file_only, const CliOutput& output) {
  const auto config = load_config(file);
  auto good = config ? Expected<void>{} : Expected<void>{tl::unexpected(config.error())};
  if (good && !file_only) good = check_machine(*config);
  if (!good) {
    output.err << good.error().message << '\n';
    return kExitBadUsage;
  }
  if (output.json) {
    output.out << nlohmann::json{{"file", config->file},
                                 {"command", config->ue ? "ue" : "run"},
                                 {"machine_checked", !file_only},
                                 {"ports", config->ports.size()},
                                 {"workers", config->workers.size()},
                                 {"bearers", bearers_in(*config)}}
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
               << '\n';
  } else {
    output.out << fmt::format("{}: good for `splitplane {}`{}: {}, {}, {}\n", config->file, config->ue ? "ue" : "run",
                              file_only ? " (this machine not looked at)" : "", count_of(config->ports.size(), "port"),
                              count_of(config->workers.size(), "worker"), count_of(bearers_in(*config), "bearer"));
  }
  return kExitGood;
}

}  // namespace splitplane::app
