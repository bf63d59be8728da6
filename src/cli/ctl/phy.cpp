#include "cli/ctl/phy.h"

#include "cli/command/answer.h"
#include "cli/ctl/table.h"

namespace splitplane::app {
namespace {

void add_direction(Table& table, const Json& phy, const char* direction, const char* first) {
  const Json& slots = member(member(phy, "slots"), direction);
  const Json& harq = member(slots, "harq");
  table.add({grouped_text(phy, "worker"), direction, grouped_text(harq, "blocks"), grouped_text(harq, first),
             grouped_text(harq, "retransmissions"), grouped_text(harq, "no_feedback"), grouped_text(harq, "given_up"),
             grouped_text(slots, "no_place")});
}

}  // namespace

std::string render_phys(const Json& phys) {
  Table links({"worker", "state", "slots", "missed", "plans sent", "messages dropped", "starts", "silences"});
  Table blocks(
      {"worker", "direction", "blocks", "acked", "sent again", "no feedback", "given up", "UEs without place"});
  if (!phys.is_array()) return links.to_string();
  for (const auto& phy : phys) {
    const Json& link = member(phy, "link");
    links.add({grouped_text(phy, "worker"), grouped_text(phy, "state"), grouped_text(link, "slots"),
               grouped_text(link, "slots_missed"), grouped_text(phy, "plans_sent"),
               grouped_text(phy, "messages_dropped"), grouped_text(link, "starts"), grouped_text(link, "silences")});
    add_direction(blocks, phy, "downlink", "acked");
    add_direction(blocks, phy, "uplink", "acked");
  }
  return links.to_string() + "\n" + blocks.to_string();
}

void add_phy_command(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  CLI::App* phy =
      ctl.add_subcommand("phy", "The PHYs of workers in full mode: whether they run, and what became of blocks")
          ->fallthrough();
  phy->footer("Example:\n  splitplane ctl --config config/full-mode.yaml phy");
  phy->callback(
      [ask, &action] { action = [ask](CliOutput& out) { return ask(out, "phy.show", Json::object(), render_phys); }; });
}

}  // namespace splitplane::app
