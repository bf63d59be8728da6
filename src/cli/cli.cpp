#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/version.h"
#include "cli/completion.h"
#include "cli/ctl/ctl.h"
#include "cli/explain.h"
#include "cli/gpu/gpu.h"
#include "cli/keys.h"
#include "cli/power/power.h"
#include "cli/top/top.h"
#include "cli/traffic.h"
#include "guard/control/metrics.h"
#include "observe/metrics.h"

namespace splitplane::app {
namespace {

// The name of a flag's other form stands alone: CLI11 puts "{false}" behind it.
struct HelpFormatter : CLI::Formatter {
  [[nodiscard]] std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    for (std::size_t at = 0; (at = name.find(kFalse)) != std::string::npos;) name.erase(at, kFalse.size());
    return name;
  }
  static constexpr std::string_view kFalse = "{false}";
};

std::string seconds(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0 && value <= 1e9) return {};
  return "'" + printable(text) + "' is no number of seconds; allowed: above 0";
}

struct LaunchWords {
  LaunchRequest::Command command;
  const char *name, *does, *example;
};
constexpr std::array<LaunchWords, 6> kLaunches{
    {{LaunchRequest::Command::kRun, "run", "Runs the user plane of a configuration",
      "splitplane run config/demo.yaml --duration 60 --stats-json out/stats.json"},
     {LaunchRequest::Command::kBaas, "baas",
      "Runs the buffering service of a gNB, which keeps what it sent until the UE acknowledges it",
      "splitplane baas config/demo.yaml"},
     {LaunchRequest::Command::kUe, "ue", "Runs the UE side of the air, with a TUN device",
      "splitplane ue config/ue-demo.yaml --duration 60"},
     {LaunchRequest::Command::kPhy, "phy", "Runs a PHY with its air and the UEs of full mode, with a TUN device",
      "splitplane phy config/full-mode-phy.yaml --duration 60"},
     {LaunchRequest::Command::kCard, "card", "Runs a card: a P4 program between ports and VFs",
      "splitplane card config/nic-l2fwd.yaml --duration 60"},
     {LaunchRequest::Command::kGuard, "guard", "Protects TCP servers behind it against SYN floods",
      "splitplane guard config/guard.yaml --duration 60"}}};

void add_launch(CLI::App& app, const LaunchWords& words, LaunchRequest& request, const Commands& commands,
                std::function<int(CliOutput&)>& action) {
  CLI::App* command = app.add_subcommand(words.name, words.does);
  if (words.command == LaunchRequest::Command::kCard) command->alias("nic");  // its name until 0.1
  command->add_option("CONFIG", request.file, "Configuration file (YAML)")->required();
  command
      ->add_option_function<double>(
          "--duration", [&](double s) { request.options.duration_s = s; }, "Seconds until it ends by itself")
      ->check(CLI::Validator(&seconds, "SECONDS"));
  if (words.command == LaunchRequest::Command::kRun) {
    command->add_flag("--fresh", request.options.fresh,
                      "Forgets what the journal says of bearers: all numbers begin at 0, for UEs with new keys only");
  }
  command->add_option("--stats-json", request.options.stats_json, "Writes the final statistics to this file");
  command->add_option("--log-level", request.log_level, "Instead of the file's")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  command->add_option("--log-format", request.log_format, "Instead of the file's; json: one object a line")
      ->check(CLI::IsMember({"human", "json"}));
  command->footer(fmt::format("Example:\n  {}", words.example));
  command->callback([&request, &commands, &action, which = words.command] {
    request.command = which;
    action = [&](CliOutput& output) { return launch(request, commands, output.err); };
  });
}

// "splitplane ctl bearer": the commands on the line, as far as they were understood.
std::string command_path(const CLI::App& app) {
  std::string path = "splitplane";
  for (auto commands = app.get_subcommands(); !commands.empty(); commands = commands[0]->get_subcommands()) {
    path += " " + commands[0]->get_name();
  }
  return path;
}

// Bad usage in one line: the fault, the nearest known word, and where the rest is written.
std::string usage_line(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (auto commands = app.get_subcommands(); !commands.empty(); commands = at->get_subcommands()) at = commands[0];
  std::vector<std::string> words;
  for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(sub->get_name());
  for (const CLI::Option* option : at->get_options()) {
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  }
  const std::vector<std::string_view> known(words.begin(), words.end());
  const std::string path = command_path(app);
  const auto left = app.remaining(true);  // a word that no subcommand knows falls through to those above it
  const bool wants_command = !at->get_subcommands([](const CLI::App*) { return true; }).empty();
  if (wants_command && !left.empty() && !left[0].starts_with('-')) {
    const auto near = closest(left[0], known);
    const std::string hint = near ? fmt::format(", did you mean '{}'?", *near) : "";
    return fmt::format("{}: unknown command '{}'{}; see `{} --help`\n", path, printable(left[0]), hint, path);
  }
  std::string hint;
  for (int i = 1; i < argc && hint.empty(); ++i) {
    const std::string_view word = argv[i];
    if (printable(error.what(), 500).find(word) == std::string::npos || word.size() < 2) continue;
    if (const auto near = closest(word, known); near && *near != word)
      hint = fmt::format(", did you mean '{}'?", *near);
  }
  return fmt::format("{}: {}{}; see `{} --help`\n", path, printable(error.what(), 300), hint, path);
}

int parse_and_act(int argc, const char* const* argv, const Commands& commands, CliOutput& output) {
  CLI::App app("Splitplane: a 5G gNB user plane", "splitplane");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", std::string("splitplane ") + kVersion);
  app.require_subcommand(1);
  app.footer("Example:\n  splitplane check config/demo.yaml && splitplane run config/demo.yaml");

  std::function<int(CliOutput&)> action;
  LaunchRequest request;
  for (const auto& words : kLaunches) add_launch(app, words, request, commands, action);
  add_traffic(app, request, commands, action);

  std::string file;
  bool file_only = false;
  CLI::App* check_command = app.add_subcommand("check", "Checks a configuration and this machine; starts nothing");
  check_command->add_option("CONFIG", file, "Configuration file (YAML)")->required();
  check_command->add_flag("--file-only", file_only, "Only the file, not whether this machine can run it");
  check_command->add_flag("--json", output.json, "JSON for machines");
  check_command->footer("Example:\n  splitplane check config/demo.yaml");
  check_command->callback([&] { action = [&](CliOutput& o) { return check(file, file_only, o); }; });
  add_ctl(app, action);
  add_top(app, action);

  bool markdown = false;
  CLI::App* metrics = app.add_subcommand("metrics", "Lists the metrics of the endpoint and DPDK's telemetry");
  metrics->add_flag("--markdown", markdown, "As the page docs/reference/metrics.md");
  metrics->footer("Example:\n  splitplane metrics --markdown > docs/reference/metrics.md");
  metrics->callback([&] {
    action = [&](CliOutput& o) {
      o.out << (markdown ? metrics_markdown(guard_metrics()) : metrics_table(guard_metrics()));
      return kExitGood;
    };
  });
  add_keys(app, action);
  add_explain(app, action);
  add_power(app, action);
  add_gpu(app, action);
  add_completion(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error, output.out, output.err);
    output.err << usage_line(app, error, argc, argv);
    return kExitBadUsage;
  }
  return action(output);
}

}  // namespace

int cli_main(int argc, const char* const* argv, const Commands& commands, std::ostream& out, std::ostream& err) {
  try {
    CliOutput output{out, err};
    const int code = parse_and_act(argc, argv, commands, output);
    out.flush();
    return code;
  } catch (const std::exception& error) {
    err << "splitplane: " << printable(error.what(), 300) << '\n';
    return kExitFailed;
  }
}

}  // namespace splitplane::app
