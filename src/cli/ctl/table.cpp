#include "cli/ctl/table.h"

#include <algorithm>

#include "base/text.h"
#include "cli/command/answer.h"

namespace splitplane::app {
namespace {

std::string cell(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number()) return grouped(value);
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Identities and TEIDs as everywhere else in hexadecimal digits, what was counted in groups of decimal ones.
std::string cell(const std::string& key, const Json& value) {
  const bool name = key == "id" || key == "ul_teid" || key == "dl_teid";
  return name && value.is_number_unsigned() ? fmt::format("{:#010x}", value.get<std::uint64_t>()) : cell(value);
}

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_object(); });
}

// Scalar members of the rows as columns, `name` first, the others in order of appearance.
std::string object_table(const Json& rows, const std::string& indent) {
  std::vector<std::string> columns;
  const auto note = [&](const std::string& key) {
    if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
  };
  for (const auto& row : rows) {
    if (row.contains("name")) note("name");
  }
  for (const auto& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (!value.is_structured()) note(key);
    }
  }
  if (columns.empty() || (columns.size() == 1 && columns[0] == "name")) return {};  // the parts below carry the names
  std::vector<std::string> titles;
  for (const auto& column : columns) titles.push_back(printable(column));
  Table table(std::move(titles));
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : columns) cells.push_back(row.contains(column) ? cell(column, row[column]) : "-");
    table.add(std::move(cells));
  }
  return table.to_string(indent);
}

constexpr std::size_t kMaxDepth = 8;  // deeper than any answer of ours

void render(const Json& value, const std::string& title, std::size_t depth, std::string& out) {
  const std::string indent(2 * depth, ' ');
  if (depth > kMaxDepth) return;
  if (!title.empty()) out += std::string(2 * (depth - 1), ' ') + title + "\n";
  if (is_table(value)) {
    out += object_table(value, indent);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string name = value[i].contains("name") ? cell(value[i]["name"]) : std::to_string(i);
      for (const auto& [key, member] : value[i].items()) {
        if (member.is_structured() && !member.empty()) render(member, name + " " + printable(key), depth + 1, out);
      }
    }
    return;
  }
  Table scalars({});
  for (const auto& [key, member] : value.items()) {
    if (!member.is_structured()) scalars.add({printable(key), cell(key, member)});
  }
  out += scalars.to_string(indent);
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured() && !member.empty()) render(member, printable(key), depth + 1, out);
  }
}

std::string text_of(const Json& bearer, const char* key) {
  return bearer.contains(key) ? cell(bearer[key]) : "-";
}

std::string hex_of(const Json& bearer, const char* key) {
  const auto at = bearer.find(key);
  return at != bearer.end() && at->is_number_unsigned() ? fmt::format("{:#010x}", at->get<std::uint64_t>()) : "-";
}

std::string count_of(const Json& bearer, const char* direction, const char* key) {
  const auto at = bearer.find(direction);
  return at != bearer.end() && at->is_object() ? text_of(*at, key) : "-";
}

}  // namespace

std::string grouped(const Json& number) {
  if (number.is_number_float()) return fmt::format("{:.2f}", number.get<double>());
  const std::string digits = number.dump();
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool group = i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-';
    if (group) out += ',';
    out += digits[i];
  }
  return out;
}

std::string added_sentence(std::uint64_t count, std::uint64_t existed) {
  if (existed == 0) return fmt::format("added {}", grouped(count));
  const std::string there = fmt::format("{} {} there already", grouped(existed), existed == 1 ? "was" : "were");
  return existed == count ? "added none: " + there : fmt::format("added {}: {}", grouped(count - existed), there);
}

std::string render_tree(const Json& tree) {
  if (!tree.is_structured()) return cell(tree) + "\n";
  std::string out;
  render(tree, "", 0, out);
  return out;
}

std::string render_bearers(const std::vector<Json>& bearers) {
  Table table({"id", "session", "drb", "worker", "card", "ul_teid", "upf", "qfi", "rlc", "ue_ipv4", "ue_ipv6",
               "dl sent", "dl drop", "ul sent", "ul drop", "ul state"});
  for (const auto& b : bearers) {
    const Json session = b.value("session", Json::object());  // of several bearers
    table.add({hex_of(b, "id"), hex_of(session, "id"), text_of(session, "drb"), text_of(b, "worker"),
               b.contains("card") ? text_of(b, "card") : "-", hex_of(b, "ul_teid"), text_of(b, "upf"),
               text_of(b, "qfi"), text_of(b, "rlc"), text_of(b, "ue_ipv4"), text_of(b, "ue_ipv6"),
               count_of(b, "downlink", "transmitted"), count_of(b, "downlink", "dropped"),
               count_of(b, "uplink", "transmitted"), count_of(b, "uplink", "dropped"),
               b.contains("uplink_state") ? text_of(b, "uplink_state") : "active"});
  }
  return table.without_empty_columns().to_string();
}

std::string render_peers(const Json& answer) {
  const auto peers = answer.find("peers");
  if (peers == answer.end() || !peers->is_array() || peers->empty()) return "no peers\n";
  Table table({"upf", "port", "state", "cause", "mac", "bearers", "rtt us", "restart counter", "restarts", "times down",
               "echo sent", "answered", "lost"});
  for (const auto& p : *peers) {
    table.add({text_of(p, "name"), text_of(p, "port"), text_of(p, "state"), text_of(p, "cause"), text_of(p, "mac"),
               text_of(p, "bearers"), text_of(p, "rtt_us"), text_of(p, "restart_counter"), text_of(p, "restarts"),
               text_of(p, "times_down"), text_of(p, "echo_sent"), text_of(p, "echo_answered"),
               text_of(p, "echo_lost")});
  }
  return table.to_string();
}

std::string grouped_text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (value.is_string()) return printable(value.get<std::string>());
  return value.is_number() ? grouped(value) : "-";
}

}  // namespace splitplane::app
