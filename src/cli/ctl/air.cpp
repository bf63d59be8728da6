#include "cli/ctl/air.h"

#include <algorithm>
#include <array>
#include <memory>

#include "cli/command/answer.h"
#include "cli/ctl/table.h"
#include "phy/channel/impairment.h"

namespace splitplane::app {
namespace {

constexpr std::array<const char*, 2> kDirections{"downlink", "uplink"};

struct AirOptions {
  std::array<std::array<double, phy::kImpairments.size()>, kDirections.size()> value{};
  double dci_loss = 0;
};

// --downlink-loss for loss_percent of downlink, --uplink-delay-us for delay_us of uplink.
std::string option_name(const char* direction, std::string_view row) {
  if (row.ends_with("_percent")) row.remove_suffix(8);
  std::string name = fmt::format("--{}-{}", direction, row);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Json set_params(const AirOptions& o, const CLI::App& command) {
  Json params = Json::object();
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    for (std::size_t i = 0; i < phy::kImpairments.size(); ++i) {
      const std::string_view row = phy::kImpairments[i].name;
      if (command.count(option_name(kDirections[d], row)) == 0) continue;
      params[kDirections[d]][std::string(row)] = o.value[d][i];
    }
  }
  if (command.count("--dci-loss") != 0) params["dci_loss_percent"] = o.dci_loss;
  return params;
}

std::string render(const Json& result) {
  std::vector<std::string> columns{"direction"};
  for (const auto& row : phy::kImpairments) columns.emplace_back(row.name);
  Table table(columns);
  for (const char* direction : kDirections) {
    std::vector<std::string> cells{direction};
    for (const auto& row : phy::kImpairments) {  // the air of a PHY knows some of them
      const Json& value = member(member(result, direction), std::string(row.name));
      cells.push_back(value.is_number() ? fmt::format("{}", value.get<double>()) : "-");
    }
    table.add(cells);
  }
  const Json& dci_loss = member(result, "dci_loss_percent");
  const std::string below =
      dci_loss.is_number() ? fmt::format("DCIs that are lost, in percent: {}\n", dci_loss.get<double>()) : "";
  return table.to_string() + below;
}

}  // namespace

void add_air_commands(CLI::App& ctl, const CtlAsk& ask, std::function<int(CliOutput&)>& action) {
  const auto o = std::make_shared<AirOptions>();
  CLI::App* air = ctl.add_subcommand("air", "The air of a UE side, or of `splitplane phy`: set")
                      ->require_subcommand(1)
                      ->fallthrough();
  air->footer("Example:\n  splitplane ctl --config config/ue-demo.yaml air set --downlink-loss 5");
  CLI::App* set =
      air->add_subcommand("set", "Changes what is given, from the next frame or block on; shows all")->fallthrough();
  for (std::size_t d = 0; d < kDirections.size(); ++d) {
    for (std::size_t i = 0; i < phy::kImpairments.size(); ++i) {
      const phy::ImpairmentRow& row = phy::kImpairments[i];
      set->add_option(option_name(kDirections[d], row.name), o->value[d][i], std::string(row.help));
    }
  }
  set->add_option("--dci-loss", o->dci_loss, "Of `splitplane phy`: DCIs lost, in percent");
  set->footer(
      "Example:\n  splitplane ctl --config config/ue-demo.yaml air set --downlink-loss 5 --uplink-delay-us 200");
  set->callback([o, set, ask, &action] {
    action = [o, set, ask](CliOutput& out) { return ask(out, "air.set", set_params(*o, *set), render); };
  });
}

}  // namespace splitplane::app
