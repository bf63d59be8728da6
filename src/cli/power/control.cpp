#include "cli/power/control.h"

#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/command/ask.h"
#include "cli/power/screen.h"
#include "power/governor/loan.h"
#include "power/settings_table.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {
namespace {

struct PowerOptions : InstancePlace {
  std::string worker, kind;
  std::vector<std::string> words;  // of set: CONFIG if it names the instance, WORKER, KIND
  std::vector<std::string> values;
  double over_s = 1;
  bool json = false, markdown = false;
};

int failed(CliOutput& output, const std::string& sentence, int code) {
  output.err << "splitplane power: " << sentence << '\n';
  return code;
}

int with_client(const PowerOptions& options, CliOutput& output,
                const std::function<Expected<std::string>(ControlClient&)>& ask) {
  return ask_control(options, "splitplane power", output, ask);
}

int status(const PowerOptions& options, CliOutput& output) {
  return with_client(options, output, [&](ControlClient& client) -> Expected<std::string> {
    Json before;
    if (options.over_s > 0) {
      auto first = client.call("power.show");
      if (!first) return tl::unexpected(first.error());
      before = *std::move(first);
      std::this_thread::sleep_for(std::chrono::duration<double>(options.over_s));
    }
    auto now = client.call("power.show");
    if (!now) return tl::unexpected(now.error());
    add_shares(*now, before);
    return options.json ? now->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : render_power(*now);
  });
}

int set(const PowerOptions& given, CliOutput& output) {
  PowerOptions options = given;
  if (options.words.size() == 3) {
    if (!options.instance.empty() || !options.socket.empty())
      return failed(output, "CONFIG and the name or socket of an instance; allowed: one of them", kExitBadUsage);
    options.config = options.words[0];
  }
  options.kind = options.words.back();
  options.worker = options.words[options.words.size() - 2];
  const auto kind = power::kind_named(options.kind);
  if (!kind) {
    const auto near = closest(options.kind, power::kKindNames);
    return failed(output,
                  fmt::format("policy '{}' is unknown{}; allowed: {}", printable(options.kind),
                              near ? fmt::format(", did you mean '{}'?", *near) : "", comma_list(power::kKindNames)),
                  kExitBadUsage);
  }
  power::Settings settings{.kind = *kind};
  if (const auto good = power::assign_all(settings, options.values); !good)
    return failed(output, printable(good.error().message, 300), kExitBadUsage);
  Json params{{"worker", options.worker}, {"kind", options.kind}};
  for (const auto& row : power::settings_of(*kind)) {
    const double value = row.get(settings);
    params[std::string(row.name)] = row.whole ? Json(static_cast<std::uint64_t>(value)) : Json(value);
  }
  return with_client(options, output, [&](ControlClient& client) -> Expected<std::string> {
    const auto result = client.call("power.set", params);
    if (!result) return tl::unexpected(result.error());
    return options.json ? result->dump() + "\n"
                        : fmt::format("{}: {}\n", printable(options.worker), policy_text(result->at("policy")));
  });
}

int restore(const PowerOptions& options, CliOutput& output) {
  if (const auto ours = make_private_directory(runtime_directory()); !ours)
    return failed(output, ours.error().message, kExitFailed);
  Json rows = Json::array();
  std::string text;
  bool good = true;
  for (const auto& loan : governor::restore_all(runtime_directory())) {
    good = good && loan.refused.empty();
    rows.push_back({{"name", loan.name}, {"root", loan.root}, {"in_use", loan.in_use}, {"refused", loan.refused}});
    text += fmt::format("{}: {}\n", loan.name,
                        loan.in_use            ? "in use by a running instance, left alone"
                        : loan.refused.empty() ? "as it was before"
                                               : fmt::format("{}", fmt::join(loan.refused, "; ")));
  }
  if (rows.empty()) text = "nothing was left\n";
  output.out << (options.json ? rows.dump() + "\n" : text);
  return good ? kExitGood : kExitFailed;
}

}  // namespace

void add_power_control(CLI::App& power, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<PowerOptions>();
  const auto command = [&](const char* name, const char* help, int (*run)(const PowerOptions&, CliOutput&)) {
    CLI::App* sub = power.add_subcommand(name, help);
    sub->add_flag("--json", o->json, "JSON for machines");
    sub->callback([o, run, &action] { action = [o, run](CliOutput& output) { return run(*o, output); }; });
    return sub;
  };
  CLI::App* status_command = command("status", "Each worker's policy, its state, and where its time goes", status);
  add_instance_options(*status_command, *o,
                       status_command->add_option("CONFIG", o->config, "The instance that runs this configuration"));
  status_command->add_option("--over", o->over_s, "Shares of this many seconds from now; 0: since the start")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  status_command->footer("Example:\n  splitplane power status config/demo.yaml");

  CLI::App* set_command = command("set", "Gives a worker another policy, while packets flow", set);
  set_command
      ->add_option("WORKER-KIND", o->words,
                   "The configuration that the instance runs (not with -i), the worker's name, and the policy: busy, "
                   "yield, paper, paper_printed, l3fwd, metronome or budget")
      ->option_text("[CONFIG] WORKER KIND")
      ->required()
      ->expected(2, 3);
  add_instance_options(*set_command, *o, nullptr);
  set_command->add_option("--set", o->values, "KEY=VALUE of that policy (splitplane power kinds); default: its default")
      ->take_all();
  set_command->footer(
      "Example:\n  splitplane power set config/demo.yaml w0 budget --set latency_us=200\n"
      "  splitplane power set -i splitplane w0 budget");

  CLI::App* restore_command =
      command("restore", "Gives back frequencies and limits of cores that a crash left changed", restore);
  restore_command->footer("Example:\n  splitplane power restore");

  CLI::App* kinds =
      command("kinds", "Lists the policies and their settings", [](const PowerOptions& options, CliOutput& output) {
        output.out << (options.json ? kinds_json().dump() + "\n" : kinds_table(options.markdown));
        return kExitGood;
      });
  kinds->add_flag("--markdown", o->markdown, "As in docs/operate/power.md");
  kinds->footer("Example:\n  splitplane power kinds");
}

}  // namespace splitplane::app
