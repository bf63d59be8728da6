#include "explain/guard_words.h"

#include <fmt/format.h>

#include "base/ip_address.h"
#include "explain/guard.h"
#include "guard/config/server_text.h"
#include "wire/tcp_options.h"

namespace splitplane::app {
namespace {

namespace tcp = wire::tcp;
using guard::Side;

std::string end_of(const guard::FourTuple& tuple, Side side) {
  const auto& octets = side == Side::kClient ? tuple.client : tuple.server;
  const std::uint16_t port = side == Side::kClient ? tuple.client_port : tuple.server_port;
  if (tuple.is_v6 != 0) return fmt::format("[{}]:{}", IpAddress::v6(octets).to_string(), port);
  return fmt::format("{}:{}", IpAddress::v4({octets[0], octets[1], octets[2], octets[3]}).to_string(), port);
}

std::string flags_of(std::uint8_t flags) {
  constexpr std::array<std::string_view, 8> kNames{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((flags >> i & 1) != 0) text += fmt::format(" {}", kNames[i]);
  }
  return text.empty() ? " without flags" : text;
}

const char* side_name(Side side) {
  return side == Side::kClient ? "the clients' side" : "the servers' side";
}

std::vector<std::string> parse_words(const GuardOutcome& o) {
  const guard::Segment& s = o.segment;
  switch (s.kind) {
    case guard::Kind::kTcp:
      return {segment_words(s, o.from, o.options)};
    case guard::Kind::kFragment:
      return {"a fragment of a TCP segment to a protected server"};
    case guard::Kind::kIcmpError:
      return {fmt::format("an ICMP error about the connection of {} and {}", end_of(s.tuple, Side::kClient),
                          end_of(s.tuple, Side::kServer))};
    case guard::Kind::kUnsound:
      return {fmt::format("to a protected server, but not sound: {}", text_of(s.reason))};
    default:
      return {"no TCP of a protected server"};
  }
}

std::vector<std::string> server_words(const GuardOutcome& o) {
  const guard::ServerRule& rule = *o.server;
  const bool can_act = rule.mode == guard::Mode::kAuth || rule.mode == guard::Mode::kProxy;
  return {fmt::format("{}: {} ports {}, mode {}{}", rule.name, address_text(rule), ports_text(rule),
                      guard::name_of(rule.mode),
                      !can_act ? ""
                      : o.acts ? ", armed"
                               : ", at rest")};
}

std::string proof_words(guard::Proof proof) {
  return proof == guard::Proof::kNone     ? "has not proven its address"
         : proof == guard::Proof::kCookie ? "has proven its address by a cookie"
                                          : "has proven its address: a server answered its connection";
}

std::string verdict_of(const GuardOutcome& o) {
  return fmt::format("{}: {}", guard::name_of(o.outcome),
                     o.outcome < guard::Outcome::passed ? fmt::format("dropped: {}", guard::text_of(o.outcome))
                                                        : std::string(guard::text_of(o.outcome)));
}

}  // namespace

std::vector<std::string> options_of(wire::Octets segment, const tcp::Header& header) {
  std::vector<std::string> texts;
  tcp::OptionCursor cursor(segment, header);
  tcp::Option option;
  while (cursor.next(option)) {
    const std::uint8_t* const data = segment.data() + option.data_at;
    switch (option.kind) {
      case tcp::kOptionMss:
        texts.push_back(fmt::format("MSS {}", wire::load_be16(data)));
        break;
      case tcp::kOptionWindowScale:
        texts.push_back(fmt::format("window scale {}", data[0]));
        break;
      case tcp::kOptionSackPermitted:
        texts.emplace_back("SACK permitted");
        break;
      case tcp::kOptionSack:
        texts.push_back(fmt::format("SACK of {} block(s)", option.data_bytes / 8));
        break;
      case tcp::kOptionTimestamps:
        texts.push_back(fmt::format("timestamps {} and {}", wire::load_be32(data), wire::load_be32(data + 4)));
        break;
      default:
        texts.push_back(fmt::format("option {}", option.kind));
    }
  }
  if (cursor.reason() != wire::Reason::ok) texts.emplace_back(text_of(cursor.reason()));
  return texts;
}

std::string segment_words(const guard::Segment& s, Side from, const std::vector<std::string>& options) {
  std::string text = fmt::format("TCP{} from {} to {}: sequence {}", flags_of(s.tcp.flags), end_of(s.tuple, from),
                                 end_of(s.tuple, guard::other(from)), s.tcp.sequence);
  if (s.tcp.has(tcp::kAck)) text += fmt::format(", acknowledgment {}", s.tcp.acknowledgment);
  text += fmt::format(", window {}", s.tcp.window);
  if (s.payload_bytes() != 0) text += fmt::format(", {} octets of payload", s.payload_bytes());
  return options.empty() ? text : fmt::format("{}; {}", text, fmt::join(options, ", "));
}

std::string flow_words(const guard::Flow& flow) {
  constexpr std::array<std::string_view, 5> kStates{"free", "connecting", "established", "closing", "closed"};
  return fmt::format("{}; the server's sequence numbers go up by {} towards the client",
                     kStates[std::min(static_cast<std::size_t>(flow.state), kStates.size() - 1)], flow.sequence_delta);
}

Story tell(const GuardOutcome& outcome, const GuardExplainer& explainer) {
  Story story;
  story.steps.push_back({"parse", parse_words(outcome)});
  if (outcome.server) story.steps.push_back({"server", server_words(outcome)});
  const bool has_client = outcome.server && outcome.segment.kind != guard::Kind::kUnsound;
  if (has_client) story.steps.push_back({"client", {proof_words(outcome.proof)}});
  if (outcome.flow) story.steps.push_back({"connection", {flow_words(*outcome.flow)}});
  Step sent{"out", {}};
  for (const GuardFrame& frame : outcome.sent) {
    sent.texts.push_back(fmt::format("to {}, {} octets: {}", side_name(frame.to), frame.octets.size(),
                                     outcome.server ? explainer.words_of(frame) : "unchanged"));
  }
  if (sent.texts.empty()) sent.texts.emplace_back("nothing");
  story.steps.push_back(std::move(sent));
  story.verdict = verdict_of(outcome);
  return story;
}

Json to_json(const Story& story, const GuardOutcome& outcome) {
  Json json = to_json(story);
  json["outcome"] = guard::name_of(outcome.outcome);
  json["from"] = outcome.from == Side::kClient ? "client" : "server";
  json["server"] = outcome.server ? Json(outcome.server->name) : Json(nullptr);
  json["armed"] = outcome.acts;
  json["out"] = Json::array();
  for (const GuardFrame& frame : outcome.sent)
    json["out"].push_back({{"to", frame.to == Side::kClient ? "client" : "server"}, {"hex", hex_of(frame.octets)}});
  return json;
}

}  // namespace splitplane::app
