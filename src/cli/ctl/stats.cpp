#include "cli/ctl/stats.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/text.h"
#include "card/punt_reason.h"
#include "cli/command/answer.h"
#include "cli/ctl/table.h"
#include "engine/drop_reason.h"
#include "guard/segment/outcome.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kColumns = 80;
// In the order of the output. Stages and drops are members of the workers in the answer, and sections of their own
// here.
constexpr std::array<std::string_view, 8> kSections{"totals", "ports", "workers", "stages",
                                                    "drops",  "peers", "gtpu",    "cards"};

std::string name_of(const Json& row) {
  const Json& name = member(row, "name");
  return name.is_string() ? name.get<std::string>() : "";
}

std::string stat_cell(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>(), 300);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  return value.is_number() ? grouped(value) : printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Words of `text` on lines of at most 80 characters: the first begins with `head`, the others under the first's text.
std::string wrapped(const std::string& head, const std::string& text) {
  std::string out, line = head;
  bool fresh = true;  // nothing but the head or the indentation stands on the line
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!fresh && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line.assign(head.size(), ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
    at = end + 1;
  }
  return out + line + "\n";
}

// The name on a line of its own, then a line for each member, and one for all counters that are 0.
std::string record(const std::string& title, const Json& row, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  std::string out = title.empty() ? "" : indent + printable(title) + "\n";
  const std::string inner = title.empty() ? indent : indent + "  ";
  std::vector<std::pair<std::string, std::string>> shown;
  std::string zeros;
  for (const auto& [key, value] : row.items()) {
    if (value.is_structured() || key == "name") continue;
    if (value.is_number() && value == 0) {
      zeros += (zeros.empty() ? "" : ", ") + printable(key);
    } else if (!value.is_string() || !value.get<std::string>().empty()) {
      shown.emplace_back(printable(key), stat_cell(value));
    }
  }
  std::size_t key_width = 0, number_width = 0;
  for (const auto& [key, text] : shown) {
    key_width = std::max(key_width, key.size());
    if (member(row, key).is_number()) number_width = std::max(number_width, text.size());
  }
  for (const auto& [key, text] : shown) {
    const std::string head = fmt::format("{}{:<{}}  ", inner, key, key_width);
    out += member(row, key).is_number() ? fmt::format("{}{:>{}}\n", head, text, number_width) : wrapped(head, text);
  }
  if (!zeros.empty()) out += wrapped(inner + "0: ", zeros);
  constexpr std::size_t kDeepest = 6;
  for (const auto& [key, value] : row.items()) {
    if (!value.is_structured() || value.empty() || key == "stages" || key == "drops" || depth > kDeepest) continue;
    if (value.is_object()) {
      out += record(key, value, depth + (title.empty() ? 0 : 1));
      continue;
    }
    for (const auto& item : value) {
      if (item.is_object()) out += record(key + " " + name_of(item), item, depth + (title.empty() ? 0 : 1));
    }
  }
  return out;
}

std::string records(const Json& rows) {
  std::string out;
  for (const auto& row : rows) {
    if (row.is_object()) out += record(name_of(row), row, 1);
  }
  return out;
}

std::string stages_table(const Json& workers) {
  Table table({"worker", "stage", "packets", "cycles a packet"});
  bool any = false;
  for (const auto& worker : workers) {
    for (const auto& stage : member(worker, "stages")) {
      const Json& cycles = member(stage, "cycles_per_packet");
      table.add({printable(name_of(worker)), printable(name_of(stage)), stat_cell(member(stage, "packets")),
                 cycles.is_number() ? fmt::format("{:.1f}", cycles.get<double>()) : "-"});
      any = true;
    }
  }
  return any ? table.to_string("  ") : "  no stage has seen a packet\n";
}

std::string meaning_of(const std::string& reason) {
  const auto in = [&](const auto& names, const auto& texts) {
    const auto at = std::find(names.begin(), names.end(), reason);
    return at == names.end() ? std::string() : std::string(texts[static_cast<std::size_t>(at - names.begin())]);
  };
  const std::string text = in(datapath::kDropReasonNames, datapath::kDropReasonTexts);
  if (!text.empty()) return text;
  const std::string of_card = in(nic::kCardDropNames, nic::kCardDropTexts);
  return of_card.empty() ? in(guard::kOutcomeNames, guard::kOutcomeTexts) : of_card;
}

// The most frequent first.
std::string drops_list(const Json& workers) {
  struct Drop {
    std::uint64_t packets;
    std::string worker, reason;
  };
  std::vector<Drop> drops;
  for (const auto& worker : workers) {
    for (const auto& [reason, count] : member(worker, "drops").items()) {
      if (count.is_number_unsigned()) drops.push_back({count.get<std::uint64_t>(), name_of(worker), reason});
    }
  }
  if (drops.empty()) return "  nothing was dropped\n";
  std::stable_sort(drops.begin(), drops.end(), [](const Drop& a, const Drop& b) { return a.packets > b.packets; });
  std::size_t count_width = 7, name_width = 6;  // of their heads
  for (const Drop& drop : drops) {
    count_width = std::max(count_width, grouped(drop.packets).size());
    name_width = std::max(name_width, printable(drop.worker).size());
  }
  std::string out = fmt::format("  {:>{}}  {:<{}}  dropped because\n", "packets", count_width, "worker", name_width);
  for (const Drop& drop : drops) {
    const std::string meaning = meaning_of(drop.reason);
    out += wrapped(
        fmt::format("  {:>{}}  {:<{}}  ", grouped(drop.packets), count_width, printable(drop.worker), name_width),
        printable(drop.reason) + (meaning.empty() ? "" : ": " + meaning));
  }
  return out;
}

std::vector<std::string> names_in(const Json& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(name_of(row));
  return names;
}

}  // namespace

Expected<Json> part_of_stats(const Json& stats, const std::string& section, const std::string& name) {
  if (section.empty()) return stats;
  const auto at = std::find_if(kSections.begin(), kSections.end(), [&](std::string_view known) {
    return section == known || (known.ends_with('s') && section == known.substr(0, known.size() - 1));
  });
  if (at == kSections.end()) {
    const auto near = closest(section, kSections);
    return fail("'{}' is no part of the statistics{}; allowed: {}", printable(section),
                near ? fmt::format(", did you mean '{}'?", *near) : "", comma_list(kSections));
  }
  const bool of_workers = *at == "stages" || *at == "drops";
  const std::string key = of_workers ? "workers" : std::string(*at);
  Json part = member(stats, key);
  if (!name.empty()) {
    if (!part.is_array()) return fail("totals have no names; allowed: ctl stats totals");
    Json kept = Json::array();
    for (const auto& row : part) {
      if (name_of(row) == name) kept.push_back(row);
    }
    if (kept.empty()) {
      return fail("there is no '{}' in {}; allowed: {}", printable(name), key, fmt::join(names_in(part), ", "));
    }
    part = std::move(kept);
  }
  if (of_workers) {  // of them only what was asked for
    for (auto& row : part) row = Json{{"name", name_of(row)}, {std::string(*at), member(row, std::string(*at))}};
    return Json{{std::string(*at), std::move(part)}};
  }
  return Json{{key, std::move(part)}};
}

std::string render_stats(const Json& stats) {
  std::string out;
  const auto section = [&](std::string_view title, const std::string& text) {
    if (!text.empty()) out += fmt::format("{}\n{}", title, text);
  };
  std::string head;
  for (const char* key : {"bearers", "tsc_hz"}) {
    if (stats.contains(key)) head += fmt::format("{}  {}\n", key, stat_cell(stats[key]));
  }
  out += head;
  if (stats.contains("totals")) section("totals", record("", stats["totals"], 1));
  const Json& workers = member(stats, "workers");
  for (const char* key : {"ports", "workers"}) section(key, records(member(stats, key)));
  const bool is_all = stats.contains("totals");  // of the workers alone, theirs are sections of their own
  if (stats.contains("stages") || (is_all && !workers.empty()))
    section("stages", stages_table(stats.contains("stages") ? stats["stages"] : workers));
  if (stats.contains("drops") || (is_all && !workers.empty()))
    section("drops", drops_list(stats.contains("drops") ? stats["drops"] : workers));
  for (const char* key : {"peers", "gtpu", "cards"}) section(key, records(member(stats, key)));
  return out;
}

void add_stats_command(CLI::App& ctl, const CtlTalk& talk, const bool& json, std::function<int(CliOutput&)>& action) {
  const auto words = std::make_shared<std::pair<std::string, std::string>>();
  CLI::App* stats =
      ctl.add_subcommand("stats", "Everything counted, or a part of it: `stats drops`, `stats port n3`")->fallthrough();
  stats->add_option("PART", words->first, fmt::format("Only this: {}", comma_list(kSections)));
  stats->add_option("NAME", words->second, "Of that, only the port, worker, UPF or card of this name");
  stats->footer("Example:\n  splitplane ctl -i splitplane stats drops\n  splitplane ctl stats port n3");
  stats->callback([words, talk, &json, &action] {
    action = [words, talk, &json](CliOutput& output) {
      if (const auto known = part_of_stats(Json::object(), words->first, ""); !known) {
        output.err << "splitplane ctl stats: " << known.error().message << '\n';
        return kExitBadUsage;
      }
      bool no_such_name = false;
      const int code = talk(output, [&](ControlClient& client) -> Expected<std::string> {
        const auto all = client.call("stats");
        if (!all) return tl::unexpected(all.error());
        const auto part = part_of_stats(*all, words->first, words->second);
        no_such_name = !part;
        if (!part) return tl::unexpected(part.error());
        return json ? part->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" : render_stats(*part);
      });
      return no_such_name ? kExitBadUsage : code;
    };
  });
}

}  // namespace splitplane::app
