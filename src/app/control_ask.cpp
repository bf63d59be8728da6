#include "app/control_ask.h"

#include "app/config.h"
#include "app/instance_lock.h"

namespace splitplane::app {

int ask_control(const ControlPlace& place, std::string_view command, CliOutput& output,
                const std::function<Expected<std::string>(ControlClient&)>& ask) {
  std::string path = place.socket.empty() ? control_path(place.prefix) : place.socket;
  if (!place.config.empty()) {
    const auto config = load_config(place.config);
    if (!config) {
      output.err << config.error().message << '\n';
      return kExitBadUsage;
    }
    path = config->control;
  }
  const auto failed = [&](const Error& error) {
    output.err << command << ": " << error.message << '\n';
    return kExitFailed;
  };
  auto client = ControlClient::connect(path);
  if (!client) return failed(client.error());
  const auto text = ask(*client);
  if (!text) return failed(text.error());
  output.out << *text;
  return kExitGood;
}

}  // namespace splitplane::app
