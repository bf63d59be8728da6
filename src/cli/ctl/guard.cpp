#include "cli/ctl/guard.h"

#include <memory>
#include <vector>

#include "base/text.h"
#include "cli/command/answer.h"
#include "cli/command/field_options.h"
#include "cli/ctl/table.h"
#include "guard/config/fields.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMostFlows = 1000;  // in an answer

struct GuardOptions {
  std::string name, address;
  std::size_t limit = 20;
  bool allow = false, forget = false;
};

std::string percent(const Json& of, const char* key) {
  const Json& value = member(of, key);
  return value.is_number() ? fmt::format("{:.0f} %", value.get<double>()) : "-";
}

void add_server(Table& table, const Json& server) {
  table.add({grouped_text(server, "name"), grouped_text(server, "address"), grouped_text(server, "ports"),
             grouped_text(server, "mode"), grouped_text(server, "state"), grouped_text(server, "syns_per_second"),
             percent(server, "half_open_percent"), grouped_text(server, "syns"), grouped_text(server, "challenged"),
             grouped_text(server, "proved"), grouped_text(server, "connected"), grouped_text(server, "dropped"),
             grouped_text(server, "armings")});
}

Table server_table() {
  return Table({"server", "address", "ports", "mode", "state", "unknown SYNs/s", "half open", "SYNs", "challenged",
                "proved", "connected", "dropped", "armed"});
}

int set(const GuardOptions& o, const FieldOptions& keys, const CtlAsk& ask, CliOutput& output) {
  Json params = keys.given();
  if (params.empty()) {
    output.err << "splitplane ctl: nothing to change; allowed: " << keys.names() << '\n';
    return kExitBadUsage;
  }
  params["name"] = o.name;
  return ask(output, "guard.set", params, render_guard_server);
}

int add(const GuardOptions& o, const FieldOptions& keys, const CtlAsk& ask, CliOutput& output) {
  Json params = keys.given();
  params["name"] = o.name;
  return ask(output, "guard.add", params, [](const Json& answer) {
    return std::string(answer.value("existed", false) ? "was there already:\n" : "added:\n") +
           render_guard_server(answer);
  });
}

int source(const GuardOptions& o, const CtlAsk& ask, CliOutput& output) {
  Json params = Json::object();
  if (!o.address.empty()) params["address"] = o.address;
  if ((o.allow || o.forget) && o.address.empty()) {
    output.err << "splitplane ctl: --" << (o.allow ? "allow" : "forget") << " needs an address\n";
    return kExitBadUsage;
  }
  if (o.allow || o.forget) params["action"] = o.allow ? "allow" : "forget";
  return ask(output, "guard.sources", params, render_guard_sources);
}

// A subcommand that asks for something without params.
void add_plain(CLI::App& guard, const char* name, const char* help, const char* method,
               std::string (*render)(const Json&), const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  CLI::App* command = guard.add_subcommand(name, help)->fallthrough();
  command->footer(fmt::format("Example:\n  splitplane ctl -i splitplane-guard guard {}", name));
  command->callback([ask, method, render, &action] {
    action = [ask, method, render](CliOutput& out) { return ask(out, method, Json::object(), render); };
  });
}

}  // namespace

std::string render_guard(const Json& guard) {
  std::string text;
  const Json& servers = member(guard, "servers");
  if (servers.is_array() && !servers.empty()) {
    Table table = server_table();
    for (const Json& server : servers) add_server(table, server);
    text = table.without_empty_columns().to_string() + "\n";
  } else {
    text = "no server is protected\n\n";
  }
  const Json &sources = member(guard, "sources"), &flows = member(guard, "flows");
  Table tables({"table", "entries", "in use", "inserted", "refused", "pushed out"});
  tables.add({"clients", grouped_text(sources, "entries"), grouped_text(sources, "live"),
              grouped_text(sources, "inserted"), grouped_text(sources, "refused"), grouped_text(sources, "evicted")});
  tables.add({"connections", grouped_text(flows, "entries"), grouped_text(flows, "used"),
              grouped_text(flows, "inserted"), grouped_text(flows, "refused"), "-"});
  text += tables.to_string();
  const Json& keys = member(guard, "keys");
  return text + fmt::format("\nkeys: a new one every {} s, {} so far; events: {}\n", grouped_text(keys, "seconds"),
                            grouped_text(keys, "rotations"), grouped_text(guard, "events"));
}

std::string render_guard_server(const Json& answer) {
  Table table = server_table();
  add_server(table, member(answer, "server"));
  return table.without_empty_columns().to_string();
}

std::string render_guard_sources(const Json& sources) {
  if (!sources.is_object() || !sources.contains("address")) {
    Table table({"worker", "entries", "proven now", "inserted", "refused", "pushed out"});
    const Json& workers = member(sources, "workers");
    for (const Json& worker : workers.is_array() ? workers : Json::array()) {
      table.add({grouped_text(worker, "name"), grouped_text(worker, "entries"), grouped_text(worker, "live"),
                 grouped_text(worker, "inserted"), grouped_text(worker, "refused"), grouped_text(worker, "evicted")});
    }
    return table.to_string();
  }
  std::string text;
  const Json& workers = member(sources, "workers");
  for (const Json& worker : workers.is_array() ? workers : Json::array()) {
    text += fmt::format("{} on {}: {}\n", grouped_text(sources, "address"), grouped_text(worker, "name"),
                        grouped_text(worker, "proof"));
  }
  return text;
}

std::string render_guard_flows(const Json& flows) {
  const Json& rows = member(flows, "flows");
  std::string text;
  if (rows.is_array() && !rows.empty()) {
    Table table({"client", "server", "state", "silent s", "options", "worker"});
    for (const Json& flow : rows) {
      table.add({grouped_text(flow, "client"), grouped_text(flow, "server"), grouped_text(flow, "state"),
                 grouped_text(flow, "silent_s"), grouped_text(flow, "options"), grouped_text(flow, "worker")});
    }
    text = table.to_string();
  }
  const std::size_t shown = rows.is_array() ? rows.size() : 0;
  return text + fmt::format("{} of {} connections shown\n", shown, grouped_text(flows, "used"));
}

std::string render_guard_events(const Json& events) {
  const Json& rows = member(events, "events");
  if (!rows.is_array() || rows.empty()) return "no events\n";
  Table table({"time", "server", "what", "unknown SYNs/s", "half open", "worker"});
  for (const Json& event : rows) {
    table.add({grouped_text(event, "time"), grouped_text(event, "server"), grouped_text(event, "what"),
               grouped_text(event, "syns_per_second"), percent(event, "half_open_percent"),
               grouped_text(event, "worker")});
  }
  const std::uint64_t before = number(events, "before");
  return table.to_string() + (before == 0 ? "" : fmt::format("{} earlier ones are not kept\n", grouped(Json(before))));
}

void add_guard_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<GuardOptions>();
  CLI::App* guard =
      ctl.add_subcommand("guard", "Of `splitplane guard`: show, set, add, remove, source, flows, rotate, events")
          ->require_subcommand(1)
          ->fallthrough();
  guard->footer("Example:\n  splitplane ctl --config config/guard.yaml guard show");
  add_plain(*guard, "show", "The protected servers, and how full the tables are", "guard.show", render_guard, ask,
            action);

  CLI::App* set_command =
      guard->add_subcommand("set", "Changes what is given of a server, while packets flow")->fallthrough();
  set_command->add_option("NAME", o->name, "Name of the server")->required();
  const auto changed = std::make_shared<FieldOptions>(
      *set_command, fields::keys_of(guard_server_fields().where(kServerChange)), FieldOptions::Defaults::kHidden);
  set_command->footer("Example:\n  splitplane ctl -i splitplane-guard guard set web --mode proxy --arm always");
  set_command->callback([o, changed, ask, &action] {
    action = [o, changed, ask](CliOutput& out) { return set(*o, *changed, ask, out); };
  });

  CLI::App* add_command = guard->add_subcommand("add", "Protects one more server")->fallthrough();
  add_command->add_option("NAME", o->name, "Name of the server")->required();
  const auto added = std::make_shared<FieldOptions>(
      *add_command, fields::keys_of(guard_server_fields().where(kWholeServer)), FieldOptions::Defaults::kShown);
  add_command->footer(
      "Example:\n  splitplane ctl -i splitplane-guard guard add mail --address 10.70.0.3 --ports 25 --mode auth");
  add_command->callback(
      [o, added, ask, &action] { action = [o, added, ask](CliOutput& out) { return add(*o, *added, ask, out); }; });

  CLI::App* remove = guard->add_subcommand("remove", "Protects a server no more; none is no error")->fallthrough();
  remove->add_option("NAME", o->name, "Name of the server")->required();
  remove->footer("Example:\n  splitplane ctl -i splitplane-guard guard remove mail");
  remove->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "guard.remove", {{"name", o->name}}, [o](const Json& answer) {
        return fmt::format("{} {}\n", printable(o->name),
                           answer.value("existed", false) ? "is not protected any more" : "was not there");
      });
    };
  });

  CLI::App* source_command =
      guard->add_subcommand("source", "Counts proven clients; looks one up, allows or forgets it")->fallthrough();
  source_command->add_option("ADDRESS", o->address, "Address of the client; of IPv6 its /64 counts");
  CLI::Option* allow =
      source_command->add_flag("--allow", o->allow, "Counts it as proven, as if it had returned a cookie");
  source_command->add_flag("--forget", o->forget, "It has to prove itself again")->excludes(allow);
  source_command->footer("Example:\n  splitplane ctl -i splitplane-guard guard source 192.0.2.7 --allow");
  source_command->callback([o, ask, &action] { action = [o, ask](CliOutput& out) { return source(*o, ask, out); }; });

  CLI::App* flows = guard->add_subcommand("flows", "Connections that mode proxy translates")->fallthrough();
  flows->add_option("--limit", o->limit, "Most connections in the answer")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{0}, kMostFlows));
  flows->footer("Example:\n  splitplane ctl -i splitplane-guard guard flows --limit 5");
  flows->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) { return ask(out, "guard.flows", {{"limit", o->limit}}, render_guard_flows); };
  });

  add_plain(
      *guard, "rotate", "A new cookie key at once; cookies of the key before stay good", "guard.rotate",
      [](const Json& answer) { return fmt::format("keys so far: {}\n", grouped_text(answer, "rotations")); }, ask,
      action);
  add_plain(*guard, "events", "When servers were armed and came to rest, the last 32 times", "guard.events",
            render_guard_events, ask, action);
}

}  // namespace splitplane::app
