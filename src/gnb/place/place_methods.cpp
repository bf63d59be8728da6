#include "gnb/place/place_methods.h"

#include "base/text.h"

namespace splitplane::gnb {
namespace {

constexpr std::size_t kMostPerRequest = 4096;

Json to_json(const std::vector<MoveResult>& results) {
  using What = MoveResult::What;
  Json stayed = Json::array();
  std::uint64_t moved = 0, there = 0, with_packets = 0, packets = 0, longest = 0;
  for (const MoveResult& one : results) {
    if (one.what == What::kMoved) {
      ++moved;
      packets += one.in_flight;
      with_packets += one.in_flight != 0 ? 1 : 0;
      longest = std::max(longest, one.held_us);
    } else if (one.what == What::kThere) {
      ++there;
    } else {
      stayed.push_back({{"id", one.id.value}, {"refused", one.what == What::kRefused}, {"why", one.why}});
    }
  }
  return {{"moved", moved},   {"there", there},           {"stayed", std::move(stayed)}, {"with_packets", with_packets},
          {"packets", packets}, {"longest_hold_us", longest}};
}

}  // namespace

void add_place_methods(app::MethodRegistry& registry, Instance& gnb) {
  registry.add("place.move", [&gnb](Params& params) -> Expected<Json> {
    params.require("ids");
    params.require("to");
    std::vector<BearerId> ids;
    const Json* const list = params.list("ids", kMostPerRequest);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Json& id = (*list)[i];
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() > 0xffffffff) {
        params.refuse("ids", fmt::format("item {}: allowed is an identity, an integer from 0 to 4294967295", i));
        break;
      }
      ids.push_back(BearerId{id.get<std::uint32_t>()});
    }
    const auto to = params.text("to");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return to_json(gnb.move_bearers(ids, *to == "host" ? "" : *to));
  });
}

}  // namespace splitplane::gnb
