#include "cli/traffic.h"

#include <cmath>
#include <memory>

#include "base/plain_file.h"
#include "base/text.h"

namespace splitplane::app {
namespace {

std::string seconds(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value > 0 && value <= 1e6) return {};
  return "'" + printable(text) + "' is no number of seconds; allowed: above 0, up to 1000000";
}

CLI::App& add(CLI::App& app, const char* name, const char* does, LaunchRequest& request) {
  CLI::App& command = *app.add_subcommand(name, does);
  TrafficOptions& options = request.traffic;
  command.add_option("CONFIG", request.file, "Configuration file (YAML)");
  command
      .add_option_function<double>(
          "--duration", [&](double s) { options.duration_s = s; }, "Seconds, instead of the file's")
      ->check(CLI::Validator(&seconds, "SECONDS"));
  command.add_option("--json", options.json, "Writes the results to this file");
  command.add_flag("--strict", options.strict, "Exit code 1 unless every packet came, once and in order");
  command.add_flag("--quiet", options.quiet, "No progress");
  command.add_option("--log-level", request.log_level, "Instead of the file's")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
  return command;
}

}  // namespace

void add_traffic(CLI::App& app, LaunchRequest& request, const Commands& commands,
                 std::function<int(CliOutput&)>& action) {
  CLI::App& gen = add(app, "gen", "Sends stamped traffic, and checks it where the file has a sink", request);
  auto self_test = std::make_shared<bool>(false);
  CLI::Option* rate =
      gen.add_option_function<std::uint32_t>(
             "--rate", [&](std::uint32_t n) { request.traffic.rate = n; }, "Packets a second, instead of the file's")
          ->check(CLI::Range(1U, 200'000'000U));
  CLI::Option* packets =
      gen.add_option_function<std::uint64_t>(
             "--packets", [&](std::uint64_t n) { request.traffic.packets = n; }, "How many, instead of the file's")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62));
  CLI::Option* loop =
      gen.add_flag("--sink", request.traffic.loop, "Checks what comes back on the generator's own port");
  gen.add_flag("--self-test", *self_test, "No CONFIG: how fast and how exact generator and sink are on this machine")
      ->excludes(rate)
      ->excludes(packets)
      ->excludes(loop)
      ->excludes(gen.get_option("--strict"));
  gen.footer(
      "Example:\n  splitplane gen config/gen-loop.yaml --rate 100000 --duration 10 --json gen.json\n"
      "  splitplane gen --self-test");
  gen.callback([&, self_test] {
    if (*self_test != request.file.empty()) {
      throw CLI::ValidationError(*self_test ? "--self-test takes no CONFIG" : "CONFIG is required");
    }
    request.command = LaunchRequest::Command::kGen;
    action = [&, self_test](CliOutput& output) {
      if (!*self_test) return launch(request, commands, output.err);
      if (const auto refused = refuse_result_path(request.traffic.json)) {
        output.err << "--json: " << *refused << '\n';
        return kExitBadUsage;
      }
      return commands.self_test(request.traffic);
    };
  });

  CLI::App& sink = add(app, "sink", "Checks stamped traffic that a generator elsewhere sends", request);
  sink.footer("Example:\n  splitplane sink config/gen-sink.yaml --duration 60 --json sink.json");
  sink.callback([&] {
    if (request.file.empty()) throw CLI::ValidationError("CONFIG is required");
    request.command = LaunchRequest::Command::kSink;
    action = [&](CliOutput& output) { return launch(request, commands, output.err); };
  });
}

}  // namespace splitplane::app
