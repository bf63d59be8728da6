#include "cli/ctl/place.h"

#include <memory>
#include <vector>

#include "base/text.h"
#include "cli/command/answer.h"
#include "cli/command/field_options.h"
#include "cli/ctl/table.h"
#include "fields/value_json.h"
#include "gnb/config/fields.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMostReasons = 10;
constexpr std::size_t kLongestReason = 300;  // octets

struct PlaceOptions {
  std::vector<std::uint32_t> ids;
  std::string to;
  unsigned ratio = 0;
  std::string of = "bearers";
  std::string worker, on;
};

// "83.3 %"; "-" of nothing.
std::string share(double part, double whole) {
  return whole <= 0 ? "-" : fmt::format("{:.1f} %", 100 * part / whole);
}

double real(const Json& of, const char* key) {
  const Json& value = member(of, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string setting_text(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string reason_of(const Json& one) {
  const Json& why = member(one, "why");
  return why.is_string() ? printable(why.get<std::string>(), kLongestReason) : "-";
}

// "hysteresis 40, consolidate true": settings that are not as without the section, and that `mode` does not say.
std::string unusual(const Json& settings) {
  std::string text;
  const bool is_ratio = member(settings, "mode") == "ratio";
  for (const fields::Key& key : fields::keys_of(placement_fields())) {
    const std::string name(key.field->name);
    const Json& value = member(settings, name);
    const bool is_said = name == "mode" || (is_ratio && (name == "ratio" || name == "ratio_of"));
    if (is_said || !value.is_primitive() || value == fields::json_of<Json>(key.usual)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, setting_text(value));
  }
  return text;
}

std::string mode_of(const Json& settings) {
  const std::string mode = grouped_text(settings, "mode");
  if (mode != "ratio") return mode;
  return fmt::format("ratio: {} % of {}", grouped_text(settings, "ratio"), grouped_text(settings, "ratio_of"));
}

CLI::App* with_ids(CLI::App* command, const std::shared_ptr<PlaceOptions>& o) {
  command->add_option("ID", o->ids, "Identities of bearers")->required();
  return command;
}

}  // namespace

std::string render_placement(const Json& placement) {
  const Json &now = member(placement, "now"), &moves = member(placement, "moves");
  Table table({"mode", "bearers", "movable", "on cards", "share", "share of load", "pinned"});
  table.add({mode_of(member(placement, "settings")), grouped_text(now, "bearers"), grouped_text(now, "movable"),
             grouped_text(now, "on_cards"), share(real(now, "on_cards"), real(now, "bearers")),
             share(real(now, "load_on_cards"), real(now, "load")), grouped_text(now, "pinned")});
  Table moved({"to a card", "to the host", "failed", "refused", "with packets", "packets", "longest hold"});
  moved.add({grouped_text(moves, "to_card"), grouped_text(moves, "to_host"), grouped_text(moves, "failed"),
             grouped_text(moves, "refused"), grouped_text(moves, "with_packets"), grouped_text(moves, "packets"),
             fmt::format("{:.1f} ms", real(moves, "longest_hold_us") / 1e3)});
  const std::string others = unusual(member(placement, "settings"));
  std::string text =
      table.to_string() + (others.empty() ? "" : "settings: " + others + "\n") + "\n" + moved.to_string();
  if (const Json& workers = member(placement, "workers"); workers.is_array() && workers.size() > 1) {
    Table loops({"worker", "core", "state", "rounds made by", "busy"});
    for (const Json& one : workers) {
      const std::string host = grouped_text(one, "host");
      loops.add({grouped_text(one, "worker"), grouped_text(one, "core"), grouped_text(one, "state"),
                 host.empty() ? "its own core" : host,
                 member(one, "busy").is_number() ? fmt::format("{:.0f} %", 100 * real(one, "busy")) : "-"});
    }
    text += "\n" + loops.to_string();
  }
  const Json& bearers = member(placement, "bearers");
  if (!bearers.is_array() || bearers.empty()) return text;
  Table rows({"bearer", "lives on", "load", "pinned by", "why"});
  for (const Json& one : bearers) {
    const std::string by = grouped_text(one, "pinned_by");
    rows.add({fmt::format("{:#010x}", number(one, "id")), grouped_text(one, "place"),
              fmt::format("{:.0f}/s", real(one, "load")), by.empty() ? "-" : by, reason_of(one)});
  }
  return text + "\n" + rows.to_string();
}

std::string render_settings(const Json& given, const Json& now) {
  std::string text;
  for (const auto& [key, value] : given.items())
    text += fmt::format("{} is now {}\n", key, setting_text(member(now, key)));
  return text;
}

std::string render_moves(const Json& moves) {
  std::string text =
      fmt::format("{} moved, {} were there already", grouped_text(moves, "moved"), grouped_text(moves, "there"));
  if (number(moves, "with_packets") != 0) {
    text += fmt::format("; packets of {} waited, {} in all, {:.1f} ms at most", grouped_text(moves, "with_packets"),
                        grouped_text(moves, "packets"), real(moves, "longest_hold_us") / 1e3);
  }
  text += '\n';
  const Json& stayed = member(moves, "stayed");
  for (std::size_t i = 0; stayed.is_array() && i < stayed.size(); ++i) {
    if (i == kMostReasons) return text + fmt::format("and {} more stayed\n", stayed.size() - i);
    text += fmt::format("{:#010x} stayed: {}\n", number(stayed[i], "id"), reason_of(stayed[i]));
  }
  return text;
}

void add_place_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<PlaceOptions>();
  CLI::App* place =
      ctl.add_subcommand(
             "place",
             "Where bearers live, and on which cores workers run: show, move, pin, unpin, ratio, park, wake, set")
          ->require_subcommand(1)
          ->fallthrough();
  place->footer("Example:\n  splitplane ctl place ratio 50");

  CLI::App* show =
      place->add_subcommand("show", "How it is decided, and of some bearers why they live there")->fallthrough();
  show->add_option("ID", o->ids, "Identities of bearers");
  show->footer("Example:\n  splitplane ctl place show 0x04040000");
  show->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) { return ask(out, "place.show", {{"ids", o->ids}}, render_placement); };
  });

  CLI::App* move = with_ids(place->add_subcommand("move", "Moves bearers while packets pass")->fallthrough(), o);
  move->add_option("--to", o->to, "host, or the name of a card")->required();
  move->footer("Example:\n  splitplane ctl place move 0x04040000 --to card0");
  move->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "place.move", {{"ids", o->ids}, {"to", o->to}}, render_moves);
    };
  });

  CLI::App* pin = with_ids(
      place
          ->add_subcommand(
              "pin",
              "Bearers that shall live there in every mode, also after a restart; they move with the next decision")
          ->fallthrough(),
      o);
  pin->add_option("--to", o->to, "host, or the name of a card")->required();
  pin->footer("Example:\n  splitplane ctl place pin 0x04040000 --to card0");
  pin->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "place.pin", {{"ids", o->ids}, {"to", o->to}},
                 [](const Json& done) { return fmt::format("{} pinned\n", grouped_text(done, "pinned")); });
    };
  });
  CLI::App* unpin =
      with_ids(place->add_subcommand("unpin", "Bearers that live again where the mode says, whatever the file pins")
                   ->fallthrough(),
               o);
  unpin->footer("Example:\n  splitplane ctl place unpin 0x04040000");
  unpin->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "place.unpin", {{"ids", o->ids}},
                 [](const Json& done) { return fmt::format("{} unpinned\n", grouped_text(done, "unpinned")); });
    };
  });

  const auto settings = [](const Json& now) { return fmt::format("mode is now {}\n", mode_of(now)); };
  CLI::App* ratio =
      place->add_subcommand("ratio", "A percentage of the bearers, or of their load, lives on cards")->fallthrough();
  ratio->add_option("PERCENT", o->ratio, "0 to 100")->required()->check(CLI::Range(0, 100));
  ratio->add_option("--of", o->of, "bearers or load")->capture_default_str()->check(CLI::IsMember({"bearers", "load"}));
  ratio->footer("Example:\n  splitplane ctl place ratio 30 --of load");
  ratio->callback([o, ask, settings, &action] {
    action = [o, ask, settings](CliOutput& out) {
      return ask(out, "place.set", {{"mode", "ratio"}, {"ratio", o->ratio}, {"ratio_of", o->of}}, settings);
    };
  });

  CLI::App* park = place->add_subcommand("park", "The core of a worker sleeps, and another worker's makes its rounds")
                       ->fallthrough();
  park->add_option("WORKER", o->worker, "Whose core sleeps")->required();
  park->add_option("--on", o->on, "The worker whose core makes the rounds of both")->required();
  park->footer("Example:\n  splitplane ctl place park w1 --on w0");
  park->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "place.park", {{"worker", o->worker}, {"on", o->on}}, [](const Json& done) {
        return fmt::format("worker {} is parked, {} makes its rounds\n", grouped_text(done, "worker"),
                           grouped_text(done, "host"));
      });
    };
  });
  CLI::App* wake = place->add_subcommand("wake", "A parked worker makes its rounds itself again")->fallthrough();
  wake->add_option("WORKER", o->worker, "That was parked")->required();
  wake->footer("Example:\n  splitplane ctl place wake w1");
  wake->callback([o, ask, &action] {
    action = [o, ask](CliOutput& out) {
      return ask(out, "place.wake", {{"worker", o->worker}}, [](const Json& done) {
        return fmt::format("worker {} makes its rounds itself\n", grouped_text(done, "worker"));
      });
    };
  });
  CLI::App* set = place->add_subcommand("set", "How it is decided from now on; what is not given stays")->fallthrough();
  const auto fields =
      std::make_shared<FieldOptions>(*set, fields::keys_of(placement_fields()), FieldOptions::Defaults::kHidden);
  set->footer("Example:\n  splitplane ctl place set --mode spill");
  set->callback([fields, ask, &action] {
    action = [fields, ask](CliOutput& out) {
      const Json given = fields->given();
      if (given.empty()) {
        out.err << "splitplane ctl: nothing to change; allowed: " << fields->names() << '\n';
        return kExitBadUsage;
      }
      return ask(out, "place.set", given, [&given](const Json& now) { return render_settings(given, now); });
    };
  });
}

}  // namespace splitplane::app
