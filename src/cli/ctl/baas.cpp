#include "cli/ctl/baas.h"

#include "cli/command/answer.h"
#include "cli/ctl/table.h"

namespace splitplane::app {
namespace {

std::string process_of(const Json& service) {
  const Json& process = member(service, "process");
  return process.is_number_integer() ? process.dump() : "-";
}

}  // namespace

std::string render_service(const Json& service) {
  Table table({"state", "process", "for s", "begun", "ended"});
  const Json& since = member(service, "since_s");
  table.add({grouped_text(service, "state"), process_of(service),
             since.is_number() ? fmt::format("{:.1f}", since.get<double>()) : "-", grouped_text(service, "begun"),
             grouped_text(service, "ended")});
  const Json& workers = member(service, "workers");
  if (!workers.is_array()) return table.to_string();
  Table rows({"worker", "held", "copies told", "told again", "STATUS lost"});
  for (const auto& worker : workers) {
    rows.add({grouped_text(worker, "name"), grouped_text(worker, "held"), grouped_text(worker, "told"),
              grouped_text(worker, "told_again"), grouped_text(worker, "status_lost")});
  }
  return table.to_string() + "\n" + rows.to_string();
}

void add_baas_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  CLI::App* baas =
      ctl.add_subcommand("baas", "The buffering service: whether one serves, and what waits for it")->fallthrough();
  baas->footer("Example:\n  splitplane ctl --config config/demo.yaml baas");
  baas->callback([ask, &action] {
    action = [ask](CliOutput& out) { return ask(out, "baas.show", Json::object(), render_service); };
  });
}

}  // namespace splitplane::app
