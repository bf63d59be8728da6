#include "runtime/instance_place.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "config/yaml/yaml_value.h"
#include "runtime/config/read.h"

namespace splitplane::app {
namespace {

constexpr const char* kVariable = "SPLITPLANE_INSTANCE";
constexpr const char* kDefault = "splitplane";

}  // namespace

void add_instance_options(CLI::App& command, InstancePlace& place, CLI::Option* config) {
  CLI::Option* instance = command.add_option(
      "-i,--instance,--prefix", place.instance,
      fmt::format("The instance of this name (its file_prefix); without it ${}, else {}", kVariable, kDefault));
  CLI::Option* socket = command.add_option("--socket,--control", place.socket, "Its control socket");
  socket->excludes(instance);
  if (config == nullptr) return;
  config->excludes(socket)->excludes(instance);
}

Expected<std::string> control_socket_of(const InstancePlace& place) {
  if (!place.config.empty()) return control_of_file(place.config);
  if (!place.socket.empty()) return place.socket;
  const char* said = std::getenv(kVariable);
  const bool by_variable = place.instance.empty() && said != nullptr && *said != '\0';
  const std::string name = by_variable ? std::string(said) : place.instance.empty() ? kDefault : place.instance;
  if (!is_name(name, 32)) {
    return fail("{}: '{}' is no name of an instance; allowed: its file_prefix (a file goes to --config)",
                by_variable ? kVariable : "-i", printable(name, 60));
  }
  return control_path(name);
}

std::vector<std::string> running_instances(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.path().extension() != ".lock") continue;
    std::string name = entry.path().stem().string();
    if (InstanceLock::holder(name, directory) == 0) continue;  // left by an instance that was killed
    if (std::filesystem::is_socket(fmt::format("{}/{}.sock", directory, name), ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Error with_who_runs(const Error& why, const std::string& directory) {
  if (!why.message.starts_with("nothing runs at ")) return why;  // as connect_to() says it
  const auto names = running_instances(directory);
  for (const std::string& name : names) {
    if (!why.message.ends_with(fmt::format(" {}/{}.sock", directory, name))) continue;
    return {
        fmt::format("{}; its process {} begins or ends just now", why.message, InstanceLock::holder(name, directory))};
  }
  if (names.empty()) return {why.message + "; no instance runs"};
  return {fmt::format("{}; running: {} (choose by -i NAME)", why.message, fmt::join(names, ", "))};
}

}  // namespace splitplane::app
