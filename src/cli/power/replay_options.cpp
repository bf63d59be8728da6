#include "cli/power/replay_options.h"

#include <cmath>

#include "cli/power/words.h"
#include "power/settings_table.h"

namespace splitplane::app {
namespace {

using power::replay::ArrivalsSettings;

constexpr double kDefaultSeconds = 10, kMostSeconds = 1e6;

std::uint64_t whole_ns(double us) {
  return static_cast<std::uint64_t>(std::llround(us * 1000));
}

ArrivalsSettings generated(const ReplayOptions& o) {
  ArrivalsSettings settings{.rate = o.rate, .duration_ns = o.duration_ns, .seed = o.seed};
  if (o.kind == "constant") {
    settings.kind = traffic::Arrivals{traffic::Constant{}};
  } else if (o.kind == "bursts") {
    settings.kind = traffic::Arrivals{traffic::Bursts{o.burst_packets}};
  } else if (o.kind == "tdd") {
    settings.kind =
        power::replay::Tdd{.pattern = o.pattern, .slot_ns = whole_ns(o.slot_us), .window_ns = whole_ns(o.window_us)};
  } else if (o.kind == "diurnal") {
    settings.kind = power::replay::Diurnal{.low = o.low};
  }
  return settings;
}

}  // namespace

void add_replay_options(CLI::App& command, ReplayOptions& o) {
  CLI::Option* trace =
      command.add_option("TRACE", o.trace, "Recorded arrivals: a pcap or pcapng file, as of tcpdump or `ctl tap on`");
  command.add_option("--arrivals", o.kind, "Generated: constant, poisson, bursts, tdd or diurnal")
      ->capture_default_str()
      ->check(CLI::IsMember({"constant", "poisson", "bursts", "tdd", "diurnal"}))
      ->excludes(trace);
  command.add_option("--rate", o.rate, "Packets a second; of diurnal the peak")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e8))
      ->excludes(trace);
  command.add_option("--duration", o.duration_s, "Simulated seconds; else 10, or the trace's own length")
      ->check(CLI::Range(0.001, kMostSeconds));
  command.add_option("--speed", o.speed, "2 plays a trace twice as fast")
      ->check(CLI::Range(0.001, 1000.0))
      ->needs(trace);
  command.add_option("--burst-packets", o.burst_packets, "bursts: packets at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->excludes(trace);
  command.add_option("--pattern", o.pattern, "tdd: slots; packets come at the beginning of each D and S")
      ->capture_default_str()
      ->excludes(trace);
  command.add_option("--slot-us", o.slot_us, "tdd: length of a slot")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e6))
      ->excludes(trace);
  command.add_option("--window-us", o.window_us, "tdd: packets come so long from the beginning of a slot")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(trace);
  command.add_option("--low", o.low, "diurnal: lowest rate, of the peak")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0))
      ->excludes(trace);
  command.add_option("--seed", o.seed, "The same seed gives the same arrivals and the same run")->capture_default_str();
  command.add_option("--queues", o.core.queues, "Receive queues of the worker")
      ->capture_default_str()
      ->check(CLI::Range(1U, power::kMaxQueues));
  command.add_option("--ring", o.core.ring, "Entries of each queue; a packet that finds them full is lost")
      ->capture_default_str()
      ->check(CLI::Range(32, 65'536));
  command.add_option("--p-states", o.core.p_states, "How many P-states the core has; 1: its clock is fixed")
      ->capture_default_str()
      ->check(CLI::Range(1, 32));
  command.add_option("--slowest", o.core.slowest, "Speed of the lowest P-state, of the highest")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 1.0));
  command.add_flag("--tpause", o.core.timed_pause, "The core has tpause (WAITPKG)");
  command.add_flag("--no-c6", o.no_c6, "A PM QoS request keeps the core in C1 when idle");
  command.add_flag("--no-interrupts", o.no_interrupts, "The driver has no receive interrupts");
  command.add_option("--set", o.settings, "POLICY.NAME=VALUE; see below. Repeatable")->type_name("SETTING");
  command.add_option("--cost", o.costs, "NAME=NANOSECONDS; see below. Repeatable")->type_name("COST");
  command.add_flag("--json", o.json, "JSON for machines");
}

Expected<void> prepare(ReplayOptions& o) {
  for (const double number : {o.rate, o.duration_s, o.speed, o.slot_us, o.window_us, o.low, o.core.slowest}) {
    if (!std::isfinite(number)) return fail("'{}' is no number; allowed: one within the limits of --help", number);
  }
  for (const std::string& word : o.settings) {
    if (auto done = apply_setting(word, o.policy); !done) return fail("--set {}", done.error().message);
  }
  for (std::size_t kind = 0; kind < power::kKindNames.size(); ++kind) {
    o.policy.kind = static_cast<power::Kind>(kind);
    if (const auto c = power::conflict(o.policy)) {
      return fail("--set {}.{}: it {}; allowed: {}", power::kKindNames[kind], c->name, c->wrong, c->allowed);
    }
  }
  for (const std::string& word : o.costs) {
    if (auto done = apply_cost(word, o.core.costs); !done) return fail("--cost {}", done.error().message);
  }
  o.core.interrupts = !o.no_interrupts;
  o.core.deep_idle = !o.no_c6;
  o.core.seed = o.seed;
  o.duration_ns = whole_ns((o.duration_s > 0 ? o.duration_s : kDefaultSeconds) * 1e6);
  ArrivalsSettings settings = generated(o);
  if (!o.trace.empty()) {
    auto recorded = power::replay::load_times(o.trace);
    if (!recorded) return fail("{}", recorded.error().message);
    recorded->speed = o.speed;
    const double length_s = static_cast<double>(recorded->times_ns.back()) / o.speed / 1e9;
    if (length_s > kMostSeconds) {
      return fail("{}: lasts {:.0f} s at --speed {}; allowed: at most {:.0f} s from its earliest packet to its latest",
                  o.trace, length_s, o.speed, kMostSeconds);
    }
    if (o.duration_s == 0) {  // once, and a millisecond to process what comes last
      o.duration_ns = whole_ns(length_s * 1e6) + 1'000'000;
      for (const std::uint64_t time : recorded->times_ns)
        o.arrivals.push_back(static_cast<std::uint64_t>(static_cast<double>(time) / o.speed));
      return {};
    }
    settings.duration_ns = o.duration_ns;
    settings.kind = traffic::Arrivals{*std::move(recorded)};
  }
  auto arrivals = power::replay::make_arrivals(settings);
  if (!arrivals) return fail("{}", arrivals.error().message);
  o.arrivals = *std::move(arrivals);
  return {};
}

std::string describe_arrivals(const ReplayOptions& o) {
  const std::string what = o.trace.empty() ? fmt::format("{}, {} packets/s, seed {}", o.kind, o.rate, o.seed) : o.trace;
  return fmt::format("{}: {} packets in {} s", what, o.arrivals.size(), static_cast<double>(o.duration_ns) / 1e9);
}

}  // namespace splitplane::app
