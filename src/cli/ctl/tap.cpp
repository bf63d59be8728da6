#include "cli/ctl/tap.h"

#include <filesystem>
#include <memory>

#include "base/text.h"
#include "cli/ctl/table.h"

namespace splitplane::app {
namespace {

struct TapOptions {
  std::string port, file, name, worker, view = "ethernet", direction = "both";
  std::uint32_t max_mb = 0, files = 1, snap = 0, buffers = 0, bearer = 0;
};

std::string cell(const Json& tap, const char* key) {
  const auto at = tap.find(key);
  if (at == tap.end()) return "-";
  return at->is_string() ? printable(at->get<std::string>(), 200) : grouped(*at);
}

std::string render_taps(const std::vector<Json>& taps) {
  if (taps.empty()) return "no taps\n";
  Table table({"name", "port", "dir", "view", "state", "packets", "octets", "dropped", "skipped", "file"});
  for (const Json& tap : taps) {
    table.add({cell(tap, "name"), cell(tap, "port"), cell(tap, "direction"), cell(tap, "view"), cell(tap, "state"),
               cell(tap, "packets"), cell(tap, "octets"), cell(tap, "dropped"), cell(tap, "skipped"),
               cell(tap, "file")});
  }
  std::string text = table.to_string();
  for (const Json& tap : taps) {
    if (tap.contains("reason")) text += fmt::format("{} has stopped: {}\n", cell(tap, "name"), cell(tap, "reason"));
  }
  return text;
}

Json on_params(const TapOptions& o, const CLI::App& command) {
  // The instance may run in another folder.
  const std::string file = o.file.empty() ? o.port + ".pcapng" : o.file;
  Json params{{"port", o.port},
              {"file", std::filesystem::absolute(file).lexically_normal().string()},
              {"view", o.view},
              {"direction", o.direction}};
  if (!o.name.empty()) params["name"] = o.name;
  if (!o.worker.empty()) params["worker"] = o.worker;
  const auto number = [&](const char* option, const char* key, std::uint32_t value) {
    if (command.count(option) != 0) params[key] = value;
  };
  number("--max-mb", "max_mb", o.max_mb);
  number("--files", "files", o.files);
  number("--snap", "snap", o.snap);
  number("--buffers", "buffers", o.buffers);
  number("--bearer", "bearer", o.bearer);
  return params;
}

}  // namespace

void add_tap_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<TapOptions>();
  CLI::App* tap =
      ctl.add_subcommand("tap", "Taps: packets of a port into a pcapng file")->require_subcommand(1)->fallthrough();
  tap->footer("Example:\n  splitplane ctl tap on air --view pdcp-nr --file out/air.pcapng");

  CLI::App* on = tap->add_subcommand("on", "Begins to write a port's packets to a file")->fallthrough();
  on->add_option("PORT", o->port, "Port of the configuration")->required();
  on->add_option("--file", o->file, "File to write; without it PORT.pcapng");
  on->add_option("--view", o->view, "ethernet; for the air also rlc-nr and pdcp-nr")
      ->capture_default_str()
      ->check(CLI::IsMember({"ethernet", "rlc-nr", "pdcp-nr"}));
  on->add_option("--direction", o->direction, "in, out or both")
      ->capture_default_str()
      ->check(CLI::IsMember({"in", "out", "both"}));
  on->add_option("--name", o->name, "Name of the tap; without it that of the port and view");
  on->add_option("--worker", o->worker, "Only this worker's end of the port");
  on->add_option("--max-mb", o->max_mb, "Size of a file, in MiB");
  on->add_option("--files", o->files, "Files, of which the newest are kept; without it the tap ends at --max-mb");
  on->add_option("--snap", o->snap, "Octets kept of each packet");
  on->add_option("--buffers", o->buffers, "Packets that may wait for the disk");
  on->add_option("--bearer", o->bearer, "Air: only this bearer");
  on->footer("Example:\n  splitplane ctl tap on n3 --file out/n3.pcapng --max-mb 100 --files 4");
  on->callback([o, on, ask, &action] {
    action = [o, on, ask](CliOutput& out) {
      return ask(out, "tap.on", on_params(*o, *on), [](const Json& result) { return render_taps({result}); });
    };
  });

  CLI::App* off = tap->add_subcommand("off", "Ends a tap; one that is not there is no error")->fallthrough();
  off->add_option("NAME", o->name, "Name of the tap")->required();
  off->footer("Example:\n  splitplane ctl tap off n3");
  off->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "tap.off", {{"name", o->name}}, [o](const Json& result) {
        return result.value("existed", false) ? render_taps({result.at("tap")})
                                              : fmt::format("{} was not there\n", o->name);
      });
    };
  });

  CLI::App* list = tap->add_subcommand("list", "All taps and what they wrote")->fallthrough();
  list->footer("Example:\n  splitplane ctl tap list");
  list->callback([ask, &action] {
    action = [ask](CliOutput& out) {
      return ask(out, "tap.list", Json::object(),
                 [](const Json& result) { return render_taps(result.at("taps").get<std::vector<Json>>()); });
    };
  });
}

}  // namespace splitplane::app
