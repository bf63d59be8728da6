#include "phy/control/loss.h"

#include <utility>

namespace splitplane::app {
namespace {

LossPatch::Values read_block_loss(Params& params, std::string_view direction) {
  LossPatch::Values values;
  if (auto members = params.object(direction)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const phy::BlockLossRow& row = phy::kBlockLosses[i];
      values[i] = members->number(row.name, row.min, row.max);
    }
    if (const auto fault = members->fault()) params.refuse(direction, *fault);
  }
  return values;
}

void apply(phy::BlockLoss& loss, const LossPatch::Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) loss.*phy::kBlockLosses[i].field = *values[i];
  }
}

Json json_of(const phy::BlockLoss& loss) {
  Json json = Json::object();
  for (const auto& row : phy::kBlockLosses) json[std::string(row.name)] = loss.*row.field;
  return json;
}

}  // namespace

phy::AirLoss LossPatch::applied_to(phy::AirLoss loss) const {
  apply(loss.downlink, downlink);
  apply(loss.uplink, uplink);
  loss.dci_loss_percent = dci_loss_percent.value_or(loss.dci_loss_percent);
  return loss;
}

MethodRegistry::Handler loss_set(std::function<Expected<Json>(const LossPatch& patch)> set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    LossPatch patch;
    patch.downlink = read_block_loss(params, "downlink");
    patch.uplink = read_block_loss(params, "uplink");
    patch.dci_loss_percent = params.number(phy::kDciLossName, 0, 100);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return set(patch);
  };
}

Json json_of(const phy::AirLoss& loss) {
  return {{"downlink", json_of(loss.downlink)},
          {"uplink", json_of(loss.uplink)},
          {std::string(phy::kDciLossName), loss.dci_loss_percent}};
}

}  // namespace splitplane::app
