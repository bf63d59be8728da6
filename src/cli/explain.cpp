#include "cli/explain.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "cli/config/any_config.h"
#include "explain/guard.h"
#include "explain/input.h"
#include "explain/running.h"
#include "explain/words.h"
#include "runtime/instance_place.h"

namespace splitplane::app {
namespace {

struct ExplainOptions {
  std::string input, config, port;  // port empty: n3; of a guard by the packet's addresses
  std::size_t only = 0;
  bool json = false, hex = false, running = false, armed = false;
};

int refused(CliOutput& output, const std::string& sentence) {
  output.err << "splitplane explain: " << sentence << '\n';
  return kExitBadUsage;
}

std::string headline(const GivenPacket& packet, const std::string& port, const Outcome& outcome) {
  std::string text =
      fmt::format("#{} from {}, {} octets", packet.number, port == "n3" ? "N3" : "the air", packet.original_bytes);
  if (packet.captured_bytes < packet.original_bytes)
    text += fmt::format(" ({} captured, zeros for the rest)", packet.captured_bytes);
  return outcome.worker.empty() ? text : text + ", worker " + outcome.worker;
}

// A packet that the gNB sent, as a tap says: the pipeline decides nothing about it.
void tell_sent(const ExplainOptions& o, const std::string& port, const GivenPacket& packet, CliOutput& output) {
  if (o.json) {
    output.out
        << Json{{"packet", packet.number}, {"from", port}, {"octets", packet.original_bytes}, {"sent", true}}.dump()
        << '\n';
    return;
  }
  output.out << fmt::format("#{} to {}, {} octets: the gNB sent it; nothing is decided about it\n", packet.number,
                            port == "n3" ? "N3" : "the air", packet.original_bytes);
}

// Packets of the input in order, until `tell` says that it has no more to say. Returns the command's exit code.
int for_packets(const ExplainOptions& o, CliOutput& output,
                const std::function<Expected<bool>(const GivenPacket&)>& tell) {
  // A reader that closes the pipe (head, less) must not end us here: DPDK's files are still to be removed.
  (void)std::signal(SIGPIPE, SIG_IGN);
  Expected<void> ran;
  int write_error = 0;
  const auto again = for_each_packet(o.input, [&](const GivenPacket& packet) {
    const auto more = tell(packet);
    if (!more) {
      ran = fail("packet {}: {}", packet.number, more.error().message);
      return false;
    }
    errno = 0;
    if (!output.out.flush()) write_error = errno;
    return output.out && *more;
  });
  if (!again) return refused(output, again.error().message);
  if (!output.out) {
    if (write_error == EPIPE) return kExitFailed;  // the reader has seen enough
    output.err << "splitplane explain: the output could not be written: " << std::strerror(write_error) << '\n';
    return kExitFailed;
  }
  return ran ? kExitGood : refused(output, ran.error().message);
}

int explain_guard(const ExplainOptions& o, const GuardConfig& config, CliOutput& output) {
  if (o.running)
    return refused(output, "--running: a guard's tables stay where they are; allowed: for `splitplane run`");
  if (!o.port.empty() && o.port != "client" && o.port != "server")
    return refused(output, fmt::format("--port: a guard has no {}; allowed: client, server", o.port));
  auto explainer = GuardExplainer::make(config, o.armed);
  if (!explainer) return refused(output, explainer.error().message);
  std::optional<guard::Side> from;
  if (!o.port.empty()) from = o.port == "client" ? guard::Side::kClient : guard::Side::kServer;
  return for_packets(o, output, [&](const GivenPacket& packet) -> Expected<bool> {
    // Earlier packets run as well: what the guard knows depends on them.
    const auto outcome = (*explainer)->run(packet.octets, from);
    if (!outcome) return tl::unexpected(outcome.error());
    if (o.only != 0 && packet.number != o.only) return true;
    const Story story = tell(*outcome, **explainer);
    if (o.json) {
      Json json = to_json(story, *outcome);
      json["packet"] = packet.number;
      json["octets"] = packet.original_bytes;
      output.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    } else {
      output.out << render_story(
          story, fmt::format("#{} from the {}s' side, {} octets", packet.number,
                             outcome->from == guard::Side::kClient ? "client" : "server", packet.original_bytes));
      for (const GuardFrame& frame : outcome->sent) {
        if (o.hex) output.out << hex_lines(frame.octets);
      }
    }
    return packet.number != o.only;
  });
}

int tell_of_gnb(const ExplainOptions& o, const std::string& port, const GnbConfig& config,
                const std::optional<ExplainPlane::Neighbors>& neighbors, CliOutput& output) {
  auto plane = ExplainPlane::make(config, neighbors);
  if (!plane) return refused(output, plane.error().message);
  const Direction direction = port == "n3" ? Direction::kDownlink : Direction::kUplink;
  return for_packets(o, output, [&](const GivenPacket& packet) -> Expected<bool> {
    if (packet.direction == PacketDirection::kOut) {
      if (o.only == 0 || packet.number == o.only) tell_sent(o, port, packet, output);
      return packet.number != o.only;
    }
    // Earlier packets run as well: sequence numbers depend on them.
    const auto outcome = (*plane)->run(packet.octets, direction);
    if (!outcome) return tl::unexpected(outcome.error());
    if (o.only != 0 && packet.number != o.only) return true;
    const Story story = tell(*outcome, packet.octets);
    if (o.json) {
      Json json = to_json(story, *outcome);
      json["packet"] = packet.number;
      json["from"] = port;
      json["octets"] = packet.original_bytes;
      output.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    } else {
      output.out << render(story, *outcome, headline(packet, port, *outcome), o.hex);
    }
    return packet.number != o.only;
  });
}

int explain_gnb(const ExplainOptions& o, const GnbConfig& config, CliOutput& output) {
  const std::string port = o.port.empty() ? "n3" : o.port;
  if (port != "n3" && port != "air")
    return refused(output, fmt::format("--port: a gNB has no {}; allowed: n3, air", port));
  if (o.armed) return refused(output, "--armed: a gNB has no guard; allowed: with a file for `splitplane guard`");
  std::optional<ExplainPlane::Neighbors> neighbors;
  if (o.running) {
    auto client = ControlClient::connect(config.control);
    if (!client) {
      output.err << "splitplane explain: --running: " << with_who_runs(client.error()).message << '\n';
      return kExitFailed;
    }
    GnbConfig taken = config;
    auto found = take_from_running(*client, taken);
    if (!found) return refused(output, "--running: " + found.error().message);
    neighbors = std::move(*found);
    return tell_of_gnb(o, port, taken, neighbors, output);
  }
  return tell_of_gnb(o, port, config, neighbors, output);
}

int explain(const ExplainOptions& o, CliOutput& output) {
  const auto any = load_any(o.config);
  if (!any) {
    output.err << any.error().message << '\n';
    return kExitBadUsage;
  }
  const auto* const gnb = std::get_if<GnbConfig>(&*any);
  const auto* const guard = std::get_if<GuardConfig>(&*any);
  if (gnb == nullptr && guard == nullptr) {
    return refused(output, fmt::format("{} is a file for `splitplane {}`; allowed: one for `splitplane run` or "
                                       "`splitplane guard`",
                                       o.config, command_of(*any)));
  }
  // The input is looked at before DPDK starts: most mistakes are there.
  std::size_t packets = 0;
  const auto readable = for_each_packet(o.input, [&](const GivenPacket&) { return ++packets != o.only; });
  if (!readable) return refused(output, readable.error().message);
  if (packets < o.only) return refused(output, fmt::format("there are {} packets; allowed: --only 1 to that", packets));
  return gnb != nullptr ? explain_gnb(o, *gnb, output) : explain_guard(o, *guard, output);
}

}  // namespace

void add_explain(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Says what the user plane would do with packets, and why");
  command->add_option("INPUT", o->input, "pcap or pcapng file, or a frame in hexadecimal digits")->required();
  command->add_option("--config", o->config, "Configuration file (YAML)")->required();
  command
      ->add_option(
          "--port", o->port,
          "Where the packets come in: n3 (usually) or air; of a guard client or server (usually by their addresses)")
      ->check(CLI::IsMember({"n3", "air", "client", "server"}));
  command->add_option("--only", o->only, "Prints this packet only; those before it still count")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
  command->add_flag("--running", o->running,
                    "With the bearers and neighbours of the instance that runs CONFIG, not those of the file");
  command->add_flag("--armed", o->armed, "Of a guard: as during a flood of all servers");
  command->add_flag("--hex", o->hex, "Also the octets that go out");
  command->add_flag("--json", o->json, "A JSON object a line, for machines");
  command->footer(
      "Example:\n  splitplane explain out/n3.pcapng --config config/demo.yaml --only 3 --hex\n"
      "  splitplane explain n3.pcapng --config config/minimal.yaml --running\n"
      "  splitplane explain out/syn.pcapng --config config/guard.yaml --armed");
  command->callback([o, &action] { action = [o](CliOutput& output) { return explain(*o, output); }; });
}

}  // namespace splitplane::app
