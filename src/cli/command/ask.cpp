#include "cli/command/ask.h"

namespace splitplane::app {

int ask_control(const InstancePlace& place, std::string_view command, CliOutput& output,
                const std::function<Expected<std::string>(ControlClient&)>& ask) {
  const auto path = control_socket_of(place);
  if (!path) {
    if (place.config.empty()) output.err << command << ": ";
    output.err << path.error().message << '\n';
    return kExitBadUsage;
  }
  const auto failed = [&](const Error& error, int code) {
    output.err << command << ": " << error.message << '\n';
    return code;
  };
  auto client = ControlClient::connect(*path);
  if (!client) return failed(with_who_runs(client.error()), kExitFailed);
  const auto text = ask(*client);
  if (!text) return failed(text.error(), client->refused() ? kExitBadUsage : kExitFailed);
  output.out << *text;
  return kExitGood;
}

}  // namespace splitplane::app
