#include "cli/ctl/session.h"

#include <vector>

#include "cli/command/field_options.h"
#include "cli/ctl/table.h"
#include "ran/bearer_fields.h"
#include "ran/control/session_json.h"
#include "ran/session_fields.h"

namespace splitplane::app {
namespace {

struct SessionOptions {
  std::uint32_t id = 0, after = 0;
  std::size_t limit = 100;
  std::uint32_t key = 0;
  unsigned default_drb = 0, shard = 0, qfi = 0, drb = 0;
  std::vector<std::string> bearers;  // one JSON object each
};

int add_one(const SessionOptions& o, const FieldOptions& tunnel, const CtlAsk& ask, CliOutput& output,
            const CLI::App& command) {
  Json params = tunnel.given();
  params["default_drb"] = o.default_drb;
  if (command.count("--shard") != 0) params["shard"] = o.shard;
  Json& bearers = params["bearers"] = Json::array();
  const auto refuse = [&](const std::string& why) {
    output.err << "splitplane ctl: " << why << '\n';
    return kExitBadUsage;
  };
  for (const std::string& text : o.bearers) {
    Json bearer = Json::parse(text, nullptr, false);
    if (!bearer.is_object()) {
      return refuse("--bearer: is no JSON object; allowed is a form such as {\"drb\": 2, \"flows\": [5, 6]}");
    }
    bearers.push_back(std::move(bearer));
  }
  Params reader(params);
  const ran::WantedSession wanted = read_session(reader);
  if (const auto fault = reader.fault()) return refuse(*fault);
  if (const auto wrong = ran::refuse_wanted(wanted.config)) return refuse(*wrong);
  return ask(output, "session.add", params, [](const Json& result) {
    const bool existed = result.value("existed", false);
    return std::string(existed ? "was there already:\n" : "added:\n") + render_sessions({result.at("session")});
  });
}

std::string session_flows(const Json& bearer, const Json& session) {
  std::string text;
  for (const Json& qfi : bearer.value("flows", Json::array())) text += (text.empty() ? "" : ",") + qfi.dump();
  if (bearer.value("drb", 0U) == session.value("default_drb", 0U)) text += text.empty() ? "others" : ",others";
  return text.empty() ? "-" : text;
}

std::string session_count(const Json& bearer, const char* direction, const char* key) {
  const auto at = bearer.find(direction);
  return at == bearer.end() ? "-" : grouped(at->value(key, Json(0)));
}

}  // namespace

std::string render_sessions(const std::vector<Json>& sessions) {
  Table table(
      {"session", "upf", "ul_teid", "drb", "flows", "bearer", "rlc", "dl sent", "dl drop", "ul sent", "ul drop"});
  for (const Json& session : sessions) {
    for (const Json& b : session.value("bearers", Json::array())) {
      table.add({fmt::format("{:#010x}", session.value("id", 0U)), session.value("upf", ""),
                 fmt::format("{:#010x}", session.value("ul_teid", 0U)), b.value("drb", Json(0)).dump(),
                 session_flows(b, session), fmt::format("{:#010x}", b.value("id", 0U)), b.value("rlc", ""),
                 session_count(b, "downlink", "transmitted"), session_count(b, "downlink", "dropped"),
                 session_count(b, "uplink", "transmitted"), session_count(b, "uplink", "dropped")});
    }
  }
  return table.to_string();
}

std::string render_session(const Json& session) {
  Json others = session;
  others.erase("flows_counted");
  const Json flows = session.value("flows_counted", Json::array());
  if (flows.empty()) return render_tree(others);
  Table table({"qfi", "drb", "dl sdus", "dl bytes", "ul sdus", "ul bytes"});
  for (const Json& flow : flows) {
    table.add({flow.value("qfi", Json(0)).dump(), flow.value("drb", Json(0)).dump(),
               session_count(flow, "downlink", "sdus"), session_count(flow, "downlink", "bytes"),
               session_count(flow, "uplink", "sdus"), session_count(flow, "uplink", "bytes")});
  }
  return render_tree(others) + "flows_counted\n" + table.to_string("  ");
}

void add_session_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<SessionOptions>();
  CLI::App* session =
      ctl.add_subcommand("session", "Sessions with several bearers: add, release, flow, rekey, list, show")
          ->require_subcommand(1)
          ->fallthrough();
  session->footer("Example:\n  splitplane ctl session list");

  CLI::App* added =
      session->add_subcommand("add", "Adds a session with all its bearers; the gNB chooses the TEID")->fallthrough();
  const auto tunnel = std::make_shared<FieldOptions>(*added, fields::keys_of(ran::bearer_fields(ran::kOfSession)),
                                                     FieldOptions::Defaults::kShown);
  added->add_option("--shard", o->shard, "Put it in this shard, 0 to 255")->check(CLI::Range(0, 255));
  added->add_option("--default-drb", o->default_drb, "DRB of the flows that have no rule, 1 to 32")
      ->required()
      ->check(CLI::Range(1, 32));
  added
      ->add_option("--bearer", o->bearers,
                   "A bearer as a JSON object with the keys of a session's bearer in a file; once for each, 2 to 8")
      ->required()
      ->allow_extra_args(false);
  added->footer(
      "Example:\n  splitplane ctl session add --upf 10.100.0.2 --ul-teid 0x2001 --default-drb 1 "
      "--bearer '{\"drb\": 1}' --bearer '{\"drb\": 2, \"flows\": [5, 6], \"rlc\": \"um12\"}'");
  added->callback([o, tunnel, added, ask, &action] {
    action = [o, tunnel, added, ask](CliOutput& out) { return add_one(*o, *tunnel, ask, out, *added); };
  });

  CLI::App* release =
      session->add_subcommand("release", "Releases a session with its bearers; none is no error")->fallthrough();
  release->add_option("TEID", o->id, "TEID of the session")->required();
  release->footer("Example:\n  splitplane ctl session release 0x04000000");
  release->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "session.release", {{"id", o->id}}, [o](const Json& result) {
        return fmt::format("{:#010x} {}\n", o->id, result.value("existed", false) ? "released" : "was not there");
      });
    };
  });

  CLI::App* flow = session->add_subcommand("flow", "Gives a QoS flow to another bearer of its session")->fallthrough();
  flow->add_option("TEID", o->id, "TEID of the session")->required();
  flow->add_option("--qfi", o->qfi, "The QoS flow, 0 to 63")->required()->check(CLI::Range(0, 63));
  flow->add_option("--drb", o->drb, "DRB of its new bearer, 1 to 32")->required()->check(CLI::Range(1, 32));
  flow->footer("Example:\n  splitplane ctl session flow 0x04000000 --qfi 5 --drb 2");
  flow->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "session.flow", {{"id", o->id}, {"qfi", o->qfi}, {"drb", o->drb}},
                 [](const Json& result) { return render_sessions({result.at("session")}); });
    };
  });

  CLI::App* rekey =
      session->add_subcommand("rekey", "Gives all secured bearers of a session other keys while packets flow")
          ->fallthrough();
  rekey->add_option("TEID", o->id, "TEID of the session")->required();
  rekey->add_option("--key", o->key, "Number of the new keys in both files of keys, above the present ones")
      ->required()
      ->check(CLI::Range(1U, 0xffffffffU));
  rekey->footer("Example:\n  splitplane ctl session rekey 0x04000000 --key 7");
  rekey->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "session.rekey", {{"id", o->id}, {"security", {{"key", o->key}}}}, [o](const Json& result) {
        std::string text;
        for (const Json& one : result.value("bearers", Json::array())) {
          text += fmt::format("{:#010x} (drb {}) {} the keys with number {}\n", one.value("id", 0U),
                              one.value("drb", 0U), one.value("changed", false) ? "has" : "had already", o->key);
        }
        return text;
      });
    };
  });

  CLI::App* list = session->add_subcommand("list", "Which flow has which bearer, in order of TEIDs")->fallthrough();
  list->add_option("--after", o->after, "Begin behind this TEID");
  list->add_option("--limit", o->limit, "Most sessions in the answer")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  list->footer("Example:\n  splitplane ctl --json session list");
  list->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "session.list", {{"after", o->after}, {"limit", o->limit}}, [](const Json& result) {
        const auto sessions = result.at("sessions").get<std::vector<Json>>();
        if (sessions.empty()) return std::string("no sessions with several bearers\n");
        const Json next = result.value("next", Json(nullptr));
        return render_sessions(sessions) +
               (next.is_null() ? "" : fmt::format("there may be more: --after {:#010x}\n", next.get<std::uint32_t>()));
      });
    };
  });

  CLI::App* show = session->add_subcommand("show", "Everything about one session")->fallthrough();
  show->add_option("TEID", o->id, "TEID of the session")->required();
  show->footer("Example:\n  splitplane ctl session show 0x04000000");
  show->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) { return ask(out, "session.show", {{"id", o->id}}, render_session); };
  });
}

}  // namespace splitplane::app
