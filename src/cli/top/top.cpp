#include "cli/top/top.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"
#include "cli/top/screen.h"
#include "runtime/instance_place.h"

namespace splitplane::app {
namespace {

struct TopOptions : InstancePlace {
  std::string page = "all", sort = "name";
  double interval = 1.0;
  bool once = false;
  std::size_t batch = 0, bearers = 1000;
};

TopPage page_named(const std::string& name) {
  for (std::size_t i = 0; i < kTopPageNames.size(); ++i) {
    if (kTopPageNames[i] == name) return static_cast<TopPage>(i);
  }
  return TopPage::kAll;
}

// Blocks of plain text, each made from two looks an interval apart.
int print_blocks(TopSource& source, TopState& state, const TopOptions& options, CliOutput& output) {
  constexpr std::size_t kNoLimit = 1000;  // columns
  const TopPage page = page_named(options.page);
  const std::size_t blocks = options.once ? 1 : options.batch;
  for (std::size_t done = 0; done < blocks;) {
    const auto seen = source.look(state, page == TopPage::kBearers);
    if (!seen) {
      output.err << "splitplane top: " << with_who_runs(seen.error()).message << '\n';
      return kExitFailed;
    }
    if (source.has_rates()) {
      output.out << fmt::format("{}{}: {}, over {:.1f} s, {}\n", done == 0 ? "" : "\n", printable(source.socket(), 107),
                                what_it_has(state.rates), state.rates.seconds,
                                state.rates.balanced ? "every packet is accounted for" : "THE COUNTERS DO NOT ADD UP");
      for (const auto& line : top_lines(state, page, kNoLimit)) output.out << line.text << '\n';
      output.out.flush();
      ++done;
    }
    if (done < blocks) std::this_thread::sleep_for(std::chrono::duration<double>(options.interval));
  }
  return kExitGood;
}

int top(const TopOptions& options, CliOutput& output) {
  const auto socket = control_socket_of(options);
  if (!socket) {
    output.err << (options.config.empty() ? "splitplane top: " : "") << socket.error().message << '\n';
    return kExitBadUsage;
  }
  TopSource source(*socket, options.bearers);
  TopState state;
  state.by_rate = options.sort == "rate";
  if (options.once || options.batch > 0) return print_blocks(source, state, options, output);
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    output.err << "splitplane top: this is no terminal; allowed: --once or --batch N\n";
    return kExitBadUsage;
  }
  const auto interval = std::chrono::milliseconds(static_cast<long>(options.interval * 1000));
  return run_top_screen(source, state, page_named(options.page), interval, output.err);
}

}  // namespace

void add_top(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<TopOptions>();
  CLI::App* top_command = app.add_subcommand("top", "Shows what a running instance does, live");
  add_instance_options(*top_command, *o,
                       top_command->add_option("CONFIG", o->config, "The instance that runs this configuration"));
  top_command->add_option("--interval", o->interval, "Seconds between two looks")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  CLI::Option* once = top_command->add_flag("--once", o->once, "One block of plain text, then it ends");
  top_command->add_option("--batch", o->batch, "Blocks of plain text, then it ends")
      ->check(CLI::Range(1, 1 << 30))
      ->excludes(once);
  top_command->add_option("--page", o->page, "all, stages, ports, drops, bearers or guard")
      ->capture_default_str()
      ->check(CLI::IsMember({"all", "stages", "ports", "drops", "bearers", "guard"}));
  top_command->add_option("--sort", o->sort, "name, or rate: the busiest first")
      ->capture_default_str()
      ->check(CLI::IsMember({"name", "rate"}));
  top_command->add_option("--bearers", o->bearers, "Most bearers on their page")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  top_command->footer("Example:\n  splitplane top config/demo.yaml\n  splitplane top --once --page drops");
  top_command->callback([o, &action] { action = [o](CliOutput& output) { return top(*o, output); }; });
}

}  // namespace splitplane::app
