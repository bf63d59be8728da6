#include "cli/power/replay.h"

#include <memory>

#include "base/text.h"
#include "cli/power/replay_options.h"
#include "cli/power/words.h"
#include "power/replay/replay.h"
#include "power/replay/replay_text.h"
#include "power/replay/tune.h"

namespace splitplane::app {
namespace {

using power::replay::Replayed;

int refused(CliOutput& output, const char* command, const std::string& sentence) {
  output.err << "splitplane power " << command << ": " << printable(sentence, 1000) << '\n';
  return kExitBadUsage;
}

nlohmann::ordered_json to_json(const ReplayOptions& o) {
  nlohmann::ordered_json json;
  json["arrivals"] = describe_arrivals(o);
  json["core"] = {{"queues", o.core.queues},   {"ring", o.core.ring},          {"p_states", o.core.p_states},
                  {"slowest", o.core.slowest}, {"tpause", o.core.timed_pause}, {"interrupts", o.core.interrupts},
                  {"c6", o.core.deep_idle}};
  power::replay::each_cost(o.core.costs, [&](const char* name, std::uint64_t value, std::string_view) {
    json["core"]["costs_ns"][name] = value;
  });
  return json;
}

int replay(ReplayOptions& o, CliOutput& output) {
  const auto kinds = kinds_of(o.policies);
  if (!kinds) return refused(output, "replay", "--policy: " + kinds.error().message);
  if (auto ready = prepare(o); !ready) return refused(output, "replay", ready.error().message);
  std::vector<Replayed> runs;
  for (const power::Kind kind : *kinds) {
    o.policy.kind = kind;
    runs.push_back(power::replay::replay(o.policy, o.core, o.arrivals, o.duration_ns));
  }
  if (o.json) {
    nlohmann::ordered_json json = to_json(o);
    for (const Replayed& run : runs) json["policies"].push_back(power::replay::to_json(run, o.core));
    output.out << json.dump(2) << '\n';
  } else {
    output.out << describe_arrivals(o) << "; a simulated core, no watts\n" << power::replay::table(runs, o.core);
  }
  return kExitGood;
}

int tune(ReplayOptions& o, CliOutput& output) {
  if (auto ready = prepare(o); !ready) return refused(output, "tune", ready.error().message);
  const power::replay::TuneSettings settings{.start = o.policy.paper, .tolerance_packets = o.tolerance_packets};
  const power::replay::Tuned tuned = power::replay::tune(settings, o.core, o.arrivals, o.duration_ns);
  const power::replay::Tried& best = tuned.tried[tuned.best];
  if (o.json) {
    nlohmann::ordered_json json = to_json(o);
    json["tuned"] = power::replay::to_json(tuned);
    output.out << json.dump(2) << '\n';
  } else {
    output.out << describe_arrivals(o) << "; a simulated core, no watts\n" << power::replay::table(tuned) << '\n';
    if (best.good) output.out << power::replay::yaml(best.settings);
  }
  if (best.good) return kExitGood;
  output.err << "splitplane power tune: no thresholds keep the queue within " << o.tolerance_packets
             << " packets of busy's; allowed: a larger --tolerance-packets\n";
  return kExitFailed;
}

}  // namespace

void add_power_replay(CLI::App& power, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<ReplayOptions>();
  CLI::App* command =
      power.add_subcommand("replay", "Runs policies on a simulated core over recorded or generated arrivals");
  add_replay_options(*command, *o);
  command
      ->add_option("--policy", o->policies,
                   "busy, yield, paper, paper_printed, l3fwd, metronome, budget or all. Repeatable")
      ->capture_default_str();
  command->footer(settings_help() + costs_help() +
                  "\nExample:\n  splitplane power replay --arrivals tdd --rate 50000 --policy paper --policy budget");
  command->callback([o, &action] { action = [o](CliOutput& output) { return replay(*o, output); }; });

  const auto t = std::make_shared<ReplayOptions>();
  CLI::App* tuning = power.add_subcommand("tune", "Finds Algorithm 1's thresholds: occupancy against busy-wait");
  add_replay_options(*tuning, *t);
  tuning
      ->add_option("--tolerance-packets", t->tolerance_packets,
                   "Packets by which the queue's p99 may exceed that of a busy core")
      ->capture_default_str()
      ->check(CLI::Range(0, 65'536));
  tuning->footer(settings_help() + costs_help() +
                 "\nExample:\n  splitplane power tune --arrivals tdd --rate 50000 --p-states 13");
  tuning->callback([t, &action] { action = [t](CliOutput& output) { return tune(*t, output); }; });
}

}  // namespace splitplane::app
