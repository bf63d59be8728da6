#include "cli/explain.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "cli/config/any_config.h"
#include "explain/input.h"
#include "explain/running.h"
#include "explain/words.h"
#include "runtime/instance_place.h"

namespace splitplane::app {
namespace {

struct ExplainOptions {
  std::string input, config, port = "n3";
  std::size_t only = 0;
  bool json = false, hex = false, running = false;
};

int refused(CliOutput& output, const std::string& sentence) {
  output.err << "splitplane explain: " << sentence << '\n';
  return kExitBadUsage;
}

std::string headline(const GivenPacket& packet, const ExplainOptions& o, const Outcome& outcome) {
  std::string text =
      fmt::format("#{} from {}, {} octets", packet.number, o.port == "n3" ? "N3" : "the air", packet.original_bytes);
  if (packet.captured_bytes < packet.original_bytes)
    text += fmt::format(" ({} captured, zeros for the rest)", packet.captured_bytes);
  return outcome.worker.empty() ? text : text + ", worker " + outcome.worker;
}

// A packet that the gNB sent, as a tap says: the pipeline decides nothing about it.
void tell_sent(const ExplainOptions& o, const GivenPacket& packet, CliOutput& output) {
  if (o.json) {
    output.out
        << Json{{"packet", packet.number}, {"from", o.port}, {"octets", packet.original_bytes}, {"sent", true}}.dump()
        << '\n';
    return;
  }
  output.out << fmt::format("#{} to {}, {} octets: the gNB sent it; nothing is decided about it\n", packet.number,
                            o.port == "n3" ? "N3" : "the air", packet.original_bytes);
}

int explain(const ExplainOptions& o, CliOutput& output) {
  auto any = load_any(o.config);
  if (!any) {
    output.err << any.error().message << '\n';
    return kExitBadUsage;
  }
  auto* const config = std::get_if<GnbConfig>(&*any);
  if (config == nullptr) {
    return refused(output, fmt::format("{} is a file for `splitplane {}`; allowed: one for `splitplane run`", o.config,
                                       command_of(*any)));
  }
  // The input is looked at before DPDK starts: most mistakes are there.
  std::size_t packets = 0;
  const auto readable = for_each_packet(o.input, [&](const GivenPacket&) { return ++packets != o.only; });
  if (!readable) return refused(output, readable.error().message);
  if (packets < o.only) return refused(output, fmt::format("there are {} packets; allowed: --only 1 to that", packets));
  std::optional<ExplainPlane::Neighbors> neighbors;
  if (o.running) {
    auto client = ControlClient::connect(config->control);
    if (!client) {
      output.err << "splitplane explain: --running: " << with_who_runs(client.error()).message << '\n';
      return kExitFailed;
    }
    auto found = take_from_running(*client, *config);
    if (!found) return refused(output, "--running: " + found.error().message);
    neighbors = std::move(*found);
  }
  auto plane = ExplainPlane::make(*config, neighbors);
  if (!plane) return refused(output, plane.error().message);

  // A reader that closes the pipe (head, less) must not end us here: DPDK's files are still to be removed.
  (void)std::signal(SIGPIPE, SIG_IGN);
  const Direction direction = o.port == "n3" ? Direction::kDownlink : Direction::kUplink;
  Expected<void> ran;
  int write_error = 0;
  const auto again = for_each_packet(o.input, [&](const GivenPacket& packet) {
    if (packet.direction == PacketDirection::kOut) {
      if (o.only == 0 || packet.number == o.only) tell_sent(o, packet, output);
      return output.out && packet.number != o.only;
    }
    // Earlier packets run as well: sequence numbers depend on them.
    const auto outcome = (*plane)->run(packet.octets, direction);
    if (!outcome) {
      ran = fail("packet {}: {}", packet.number, outcome.error().message);
      return false;
    }
    if (o.only != 0 && packet.number != o.only) return true;
    const Story story = tell(*outcome, packet.octets);
    if (o.json) {
      Json json = to_json(story, *outcome);
      json["packet"] = packet.number;
      json["from"] = o.port;
      json["octets"] = packet.original_bytes;
      output.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    } else {
      output.out << render(story, *outcome, headline(packet, o, *outcome), o.hex);
    }
    errno = 0;
    if (!output.out.flush()) write_error = errno;
    return output.out && packet.number != o.only;
  });
  if (!again) return refused(output, again.error().message);
  if (!output.out) {
    if (write_error == EPIPE) return kExitFailed;  // the reader has seen enough
    output.err << "splitplane explain: the output could not be written: " << std::strerror(write_error) << '\n';
    return kExitFailed;
  }
  return ran ? kExitGood : refused(output, ran.error().message);
}

}  // namespace

void add_explain(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Says what the user plane would do with packets, and why");
  command->add_option("INPUT", o->input, "pcap or pcapng file, or a frame in hexadecimal digits")->required();
  command->add_option("--config", o->config, "Configuration file (YAML)")->required();
  command->add_option("--port", o->port, "Where the packets come in: n3 or air")
      ->capture_default_str()
      ->check(CLI::IsMember({"n3", "air"}));
  command->add_option("--only", o->only, "Prints this packet only; those before it still count")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40));
  command->add_flag("--running", o->running,
                    "With the bearers and neighbours of the instance that runs CONFIG, not those of the file");
  command->add_flag("--hex", o->hex, "Also the octets that go out");
  command->add_flag("--json", o->json, "A JSON object a line, for machines");
  command->footer(
      "Example:\n  splitplane explain out/n3.pcapng --config config/demo.yaml --only 3 --hex\n"
      "  splitplane explain n3.pcapng --config config/minimal.yaml --running");
  command->callback([o, &action] { action = [o](CliOutput& output) { return explain(*o, output); }; });
}

}  // namespace splitplane::app
