#include "cli/ctl/ctl.h"

#include <vector>

#include "cli/command/ask.h"
#include "cli/command/field_options.h"
#include "cli/ctl/air.h"
#include "cli/ctl/baas.h"
#include "cli/ctl/card.h"
#include "cli/ctl/guard.h"
#include "cli/ctl/phy.h"
#include "cli/ctl/place.h"
#include "cli/ctl/session.h"
#include "cli/ctl/stats.h"
#include "cli/ctl/table.h"
#include "cli/ctl/tap.h"
#include "ran/bearer_fields.h"
#include "ran/control/bearer_json.h"

namespace splitplane::app {
namespace {

// What the options of ctl and its subcommands hold; shared by the callbacks.
struct CtlOptions : InstancePlace {
  bool json = false;
  std::size_t count = 1, limit = 100;
  std::uint32_t after = 0, shard = 0, id = 0, key = 0;
  std::vector<std::uint32_t> ids;
};

int failed(CliOutput& output, const Error& error, int code) {
  output.err << "splitplane ctl: " << error.message << '\n';
  return code;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int with_client(const CtlOptions& options, CliOutput& output,
                const std::function<Expected<std::string>(ControlClient&)>& ask) {
  return ask_control(options, "splitplane ctl", output, ask);
}

int simple(const CtlOptions& options, CliOutput& output, const std::string& method, const Json& params,
           const std::function<std::string(const Json&)>& for_people) {
  return with_client(options, output, [&](ControlClient& client) {
    return client.call(method, params).map([&](const Json& result) {
      return options.json ? dump(result) : for_people(result);
    });
  });
}

int bearer_add(const CtlOptions& options, const FieldOptions& keys, CliOutput& output, const CLI::App& command) {
  Json params = keys.given();
  if (const auto good = bearer_from_json(params); !good) return failed(output, good.error(), kExitBadUsage);
  if (command.count("--count") != 0) params["count"] = options.count;
  if (command.count("--shard") != 0) params["shard"] = options.shard;
  return simple(options, output, "bearer.add", params, [](const Json& result) {
    std::vector<Json> rows{result.value("first", Json::object())};
    if (result.value("count", 1U) > 1) rows.push_back(result.value("last", Json::object()));
    return fmt::format(
        "{}; first{}:\n{}",
        added_sentence(result.value("count", std::uint64_t{0}), result.value("existed", std::uint64_t{0})),
        rows.size() > 1 ? " and last" : "", render_bearers(rows));
  });
}

int bearer_modify(const CtlOptions& o, const FieldOptions& keys, CliOutput& output) {
  Json params = keys.given();
  Params reader(params);
  (void)read_patch(reader);
  if (const auto fault = reader.fault()) return failed(output, {*fault}, kExitBadUsage);
  if (params.empty()) return failed(output, {"nothing to change; allowed: " + keys.names()}, kExitBadUsage);
  params["id"] = o.id;
  return simple(o, output, "bearer.modify", params,
                [](const Json& bearer) { return "modified:\n" + render_bearers({bearer}); });
}

int bearer_release(const CtlOptions& options, CliOutput& output) {
  return with_client(options, output, [&](ControlClient& client) -> Expected<std::string> {
    std::string text;
    for (const std::uint32_t id : options.ids) {
      const auto result = client.call("bearer.release", {{"id", id}});
      if (!result) return tl::unexpected(result.error());
      const bool existed = result->value("existed", false);
      text += options.json ? dump({{"id", id}, {"existed", existed}})
                           : fmt::format("{:#010x} {}\n", id, existed ? "released" : "was not there");
    }
    return text;
  });
}

int bearer_list(const CtlOptions& options, CliOutput& output) {
  return with_client(options, output, [&](ControlClient& client) -> Expected<std::string> {
    std::vector<Json> rows;
    const auto next =
        client.for_each_bearer(options.after, options.limit, [&](const Json& bearer) { rows.push_back(bearer); });
    if (!next) return tl::unexpected(next.error());
    if (options.json) return dump({{"bearers", rows}, {"next", *next == 0 ? Json(nullptr) : Json(*next)}});
    if (rows.empty()) return "no bearers\n";
    return render_bearers(rows) + (*next == 0 ? "" : fmt::format("there may be more: --after {:#010x}\n", *next));
  });
}

void add_bearer_commands(CLI::App& ctl, const std::shared_ptr<CtlOptions>& o, std::function<int(CliOutput&)>& action) {
  CLI::App* bearer = ctl.add_subcommand("bearer", "Bearers: add, modify, release, reestablish, rekey, list, show")
                         ->require_subcommand(1)
                         ->fallthrough();
  bearer->footer("Example:\n  splitplane ctl bearer list --limit 10");

  CLI::App* add = bearer->add_subcommand("add", "Adds bearers; the gNB chooses their identities")->fallthrough();
  const auto added = std::make_shared<FieldOptions>(*add, keys_of(ran::bearer_fields(ran::kInRequest)),
                                                    FieldOptions::Defaults::kShown);
  add->add_option("--count", o->count, "How many; TEIDs and UE addresses go up by one each")
      ->check(CLI::Range(1, 65536));
  add->add_option("--shard", o->shard, "Put them in this shard, 0 to 255")->check(CLI::Range(0, 255));
  add->footer("Example:\n  splitplane ctl bearer add --upf 10.100.0.2 --ul-teid 0x2001 --count 4 --ue-ipv4 10.45.1.2");
  add->callback([o, added, add, &action] {
    action = [o, added, add](CliOutput& out) { return bearer_add(*o, *added, out, *add); };
  });

  CLI::App* modify = bearer->add_subcommand("modify", "Changes what is given, while packets flow")->fallthrough();
  modify->add_option("ID", o->id, "Identity (downlink TEID) of the bearer")->required();
  const auto changed = std::make_shared<FieldOptions>(*modify, keys_of(ran::bearer_fields(ran::kInChange)),
                                                      FieldOptions::Defaults::kHidden);
  modify->footer("Example:\n  splitplane ctl bearer modify 0x04000000 --ul-teid 0x3001");
  modify->callback(
      [o, changed, &action] { action = [o, changed](CliOutput& out) { return bearer_modify(*o, *changed, out); }; });

  CLI::App* release =
      bearer->add_subcommand("release", "Releases bearers (also: delete); one that is not there is no error")
          ->alias("delete")
          ->fallthrough();
  release->add_option("ID", o->ids, "Identities")->required();
  release->footer("Example:\n  splitplane ctl bearer release 0x04000000 0x04040000");
  release->callback([o, &action] { action = [o](CliOutput& out) { return bearer_release(*o, out); }; });

  CLI::App* again =
      bearer->add_subcommand("reestablish", "Lets RLC AM of a bearer begin anew, nothing lost")->fallthrough();
  again->add_option("ID", o->id, "Identity (downlink TEID) of the bearer")->required();
  again->footer("Example:\n  splitplane ctl bearer reestablish 0x04000000");
  again->callback([o, &action] {
    action = [o](CliOutput& out) {
      return simple(*o, out, "bearer.reestablish", {{"id", o->id}},
                    [](const Json& r) { return fmt::format("{:#010x} re-established\n", r.value("id", 0U)); });
    };
  });

  CLI::App* rekey =
      bearer->add_subcommand("rekey", "Gives a secured bearer other keys while packets flow")->fallthrough();
  rekey->add_option("ID", o->id, "Identity (downlink TEID) of the bearer")->required();
  rekey->add_option("--key", o->key, "Number of its new keys in both files of keys, above its present one")
      ->required()
      ->check(CLI::Range(1U, 0xffffffffU));
  rekey->footer("Example:\n  splitplane ctl bearer rekey 0x04000000 --key 7");
  rekey->callback([o, &action] {
    action = [o](CliOutput& out) {
      return simple(*o, out, "bearer.rekey", {{"id", o->id}, {"security", {{"key", o->key}}}}, [o](const Json& r) {
        return fmt::format("{:#010x} {} the keys with number {}\n", r.value("id", 0U),
                           r.value("changed", false) ? "has" : "had already", o->key);
      });
    };
  });

  CLI::App* list = bearer->add_subcommand("list", "Lists bearers in order of identity")->fallthrough();
  list->add_option("--after", o->after, "Begin behind this identity");
  list->add_option("--limit", o->limit, "Most bearers in the answer")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 26));
  list->footer("Example:\n  splitplane ctl --json bearer list --limit 10");
  list->callback([o, &action] { action = [o](CliOutput& out) { return bearer_list(*o, out); }; });

  CLI::App* show = bearer->add_subcommand("show", "Everything about one bearer")->fallthrough();
  show->add_option("ID", o->id, "Identity (downlink TEID) of the bearer")->required();
  show->footer("Example:\n  splitplane ctl bearer show 0x04000000");
  show->callback([o, &action] {
    action = [o](CliOutput& out) { return simple(*o, out, "bearer.show", {{"id", o->id}}, render_tree); };
  });
}

}  // namespace

void add_ctl(CLI::App& app, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<CtlOptions>();
  CLI::App* ctl = app.add_subcommand("ctl", "Asks or changes a running instance")->require_subcommand(1);
  add_instance_options(*ctl, *o, ctl->add_option("--config", o->config, "The instance that runs this configuration"));
  ctl->add_flag("--json", o->json, "JSON for machines instead of tables");
  ctl->footer("Example:\n  splitplane ctl --config config/demo.yaml stats\n  splitplane ctl -i splitplane-demo stats");

  add_bearer_commands(*ctl, o, action);
  const CtlAsk ask = [o](CliOutput& output, const std::string& method, const Json& params,
                         const std::function<std::string(const Json&)>& for_people) {
    return simple(*o, output, method, params, for_people);
  };
  add_session_commands(*ctl, ask, action);
  add_tap_commands(*ctl, ask, action);
  add_air_commands(*ctl, ask, action);
  add_baas_command(*ctl, ask, action);
  add_phy_command(*ctl, ask, action);
  add_card_command(*ctl, ask, action);
  add_place_commands(*ctl, ask, action);
  add_guard_commands(*ctl, ask, action);
  const auto plain = [&](const char* method, const char* help, std::function<std::string(const Json&)> render) {
    CLI::App* command = ctl->add_subcommand(method, help)->fallthrough();
    command->footer(fmt::format("Example:\n  splitplane ctl -i splitplane {}", method));
    command->callback([o, method, render = std::move(render), &action] {
      action = [o, method, render](CliOutput& out) { return simple(*o, out, method, Json::object(), render); };
    });
  };
  add_stats_command(
      *ctl,
      [o](CliOutput& output, const std::function<Expected<std::string>(ControlClient&)>& talk) {
        return with_client(*o, output, talk);
      },
      o->json, action);
  CLI::App* peer = ctl->add_subcommand("peer", "UPFs: list")->require_subcommand(1)->fallthrough();
  peer->footer("Example:\n  splitplane ctl peer list");
  CLI::App* peers =
      peer->add_subcommand("list", "UPFs with bearers: whether they answer Echo Requests, and restarts")->fallthrough();
  peers->footer("Example:\n  splitplane ctl --json peer list");
  peers->callback([o, &action] {
    action = [o](CliOutput& out) { return simple(*o, out, "peer.list", Json::object(), render_peers); };
  });
  plain("stop", "Ends the instance", [](const Json&) { return "stopping\n"; });
  plain("ping", "Says whether it answers", [](const Json& result) {
    return fmt::format("process {}, version {}\n", result.value("process", 0), result.value("version", ""));
  });
}

}  // namespace splitplane::app
