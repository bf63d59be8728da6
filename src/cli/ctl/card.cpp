#include "cli/ctl/card.h"

#include <algorithm>

#include "base/text.h"
#include "card/punt_reason.h"
#include "cli/command/answer.h"
#include "cli/ctl/table.h"

namespace splitplane::app {
namespace {

std::uint64_t sum_of(const Json& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, n] : counts.items()) sum += n.is_number_unsigned() ? n.get<std::uint64_t>() : 0;
  return sum;
}

std::string ports_table(const Json& ports) {
  Table table({"port", "in", "out", "clones", "tx full"});
  bool any = false;
  for (const auto& port : ports) {
    if (number(port, "in") + number(port, "out") + number(port, "clones") == 0) continue;
    table.add({grouped_text(port, "name"), grouped_text(port, "in"), grouped_text(port, "out"),
               grouped_text(port, "clones"), grouped_text(port, "tx_full")});
    any = true;
  }
  return any ? "\n" + table.to_string() : "";
}

template <std::size_t N>
std::string reasons_table(const char* title, const Json& counts, const std::array<std::string_view, N>& names,
                          const std::array<std::string_view, N>& texts) {
  if (!counts.is_object() || counts.empty()) return {};
  Table table({title, "packets", "which means"});
  for (const auto& [name, n] : counts.items()) {
    const auto at = std::find(names.begin(), names.end(), name);
    table.add({printable(name), grouped(n),
               at == names.end() ? "" : std::string(texts[static_cast<std::size_t>(at - names.begin())])});
  }
  return "\n" + table.to_string();
}

// Bearers in the card's table that it passes to their workers on the host; nothing from an instance that does not say.
std::string passes(const Json& card) {
  const std::uint64_t all = number(card, "bearers"), serves = number(card, "serves");
  return member(card, "serves").is_number() ? grouped(all - std::min(all, serves)) : "-";
}

// The cards in front of a host, as it sees them.
std::string links_table(const Json& links) {
  Table table({"card", "state", "program", "serves", "passes", "waiting", "absent", "restarts", "leases renewed",
               "punted", "why"});
  for (const auto& link : links) {
    table.add({grouped_text(link, "name"), grouped_text(link, "state"), grouped_text(link, "program"),
               grouped_text(link, "serves"), passes(link), grouped_text(link, "waiting"), grouped_text(link, "absent"),
               grouped_text(link, "restarts"), grouped_text(link, "leases_renewed"), grouped_text(link, "punted"),
               printable(link.value("reason", ""), 240)});
  }
  return table.to_string();
}

}  // namespace

std::string render_card(const Json& card) {
  if (card.contains("cards")) return links_table(card["cards"]);
  const Json& totals = member(card, "totals");
  Table table({"card", "program", "runs", "features", "vfs", "serves", "passes", "packets", "punts", "drops"});
  Json drops = member(card, "drops");
  if (const auto n = number(card, "tx_full"); n != 0) drops["tx_full"] = n;
  table.add({grouped_text(card, "name"), grouped_text(card, "program"), grouped_text(card, "execution"),
             grouped_text(card, "features"), std::to_string(member(card, "vfs").size()), grouped_text(card, "serves"),
             passes(card), grouped_text(totals, "received"), grouped(sum_of(member(card, "punts"))),
             grouped(sum_of(drops))});
  return table.to_string() + ports_table(member(card, "ports")) +
         reasons_table("to the host because", member(card, "punts"), nic::kPuntReasonNames, nic::kPuntReasonTexts) +
         reasons_table("dropped because", drops, nic::kCardDropNames, nic::kCardDropTexts);
}

void add_card_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  CLI::App* card = ctl.add_subcommand("card",
                                      "A card: program, VFs, bearers, packets, punts and drops; of a "
                                      "host, the state of the cards in front of it")
                       ->fallthrough();
  card->footer("Example:\n  splitplane ctl --config config/nic-demo.yaml card");
  card->callback([ask, &action] {
    action = [ask](CliOutput& out) { return ask(out, "card.show", Json::object(), render_card); };
  });
}

}  // namespace splitplane::app
