#include "gnb/place/place_methods.h"

#include <algorithm>

#include "control/field_params.h"
#include "gnb/config/fields.h"

namespace splitplane::gnb {
namespace {

constexpr std::size_t kMostPerRequest = 4096;

std::vector<BearerId> read_ids(Params& params) {
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
  return ids;
}

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
  return {{"moved", moved},
          {"there", there},
          {"stayed", std::move(stayed)},
          {"with_packets", with_packets},
          {"packets", packets},
          {"longest_hold_us", longest}};
}

Json to_json(const placement::Settings& settings) {
  Json json = Json::object();
  app::write_fields(json, app::placement_fields(), settings);
  return json;
}

Json show(Placing& placing, std::span<const BearerId> ids) {
  const placement::View view = placing.view();
  Json bearers = Json::array();
  for (const Placing::Why& why : placing.explain(ids)) {
    bearers.push_back({{"id", why.id.value},
                       {"place", why.place},
                       {"why", why.reason},
                       {"load", why.load},
                       {"pinned", !why.pinned_by.empty()},
                       {"pinned_by", why.pinned_by}});
  }
  Json workers = Json::array();
  for (const Consolidating::Row& row : placing.consolidating().rows())
    workers.push_back({{"worker", row.worker},
                       {"core", row.core},
                       {"host", row.host},
                       {"state", row.is_stuck       ? "stuck"
                                 : row.host.empty() ? "runs"
                                                    : "parked"},
                       {"busy", row.busy ? Json(*row.busy) : Json(nullptr)}});
  const Consolidating::Counters cores = placing.consolidating().counters();
  return {{"settings", to_json(placing.settings())},
          {"bearers", std::move(bearers)},
          {"workers", std::move(workers)},
          {"cores",
           {{"parked", cores.parked},
            {"woken", cores.woken},
            {"not_parked", cores.not_parked},
            {"longest_us", cores.longest_us}}},
          {"now",
           {{"bearers", view.bearers},
            {"movable", view.movable},
            {"on_cards", view.on_cards},
            {"pinned", view.pinned},
            {"load", view.load},
            {"load_on_cards", view.load_on_cards}}},
          {"moves",
           {{"to_card", view.to_card},
            {"to_host", view.to_host},
            {"failed", view.failed},
            {"refused", view.refused},
            {"with_packets", view.with_packets},
            {"packets", view.packets},
            {"longest_hold_us", view.longest_hold_us},
            {"decisions", view.decisions}}}};
}

}  // namespace

void add_place_methods(app::MethodRegistry& registry, Placing& placing) {
  registry.add("place.show", [&placing](Params& params) -> Expected<Json> {
    const auto ids = read_ids(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return show(placing, ids);
  });
  registry.add("place.set", [&placing](Params& params) -> Expected<Json> {
    placement::Settings wanted = placing.settings();
    app::read_fields(params, app::placement_fields(), wanted);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing.set(wanted).map([&wanted] { return to_json(wanted); });
  });
  const auto goal = [](Params& params) {
    params.require("ids");
    params.require("to");
    return std::pair{read_ids(params), params.text("to")};
  };
  registry.add("place.move", [&placing, goal](Params& params) -> Expected<Json> {
    const auto [ids, to] = goal(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing.move(ids, *to).map([](const std::vector<MoveResult>& results) { return to_json(results); });
  });
  registry.add("place.pin", [&placing, goal](Params& params) -> Expected<Json> {
    const auto [ids, to] = goal(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    const std::size_t count = ids.size();
    return placing.pin(ids, *to).map([count] { return Json{{"pinned", count}}; });
  });
  registry.add("place.park", [&placing](Params& params) -> Expected<Json> {
    params.require("worker");
    params.require("on");
    const auto worker = params.text("worker"), on = params.text("on");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing.consolidating().park(*worker, *on).map([&] { return Json{{"worker", *worker}, {"host", *on}}; });
  });
  registry.add("place.wake", [&placing](Params& params) -> Expected<Json> {
    params.require("worker");
    const auto worker = params.text("worker");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing.consolidating().wake(*worker).map([&] { return Json{{"worker", *worker}, {"host", ""}}; });
  });
  registry.add("place.unpin", [&placing](Params& params) -> Expected<Json> {
    params.require("ids");
    const auto ids = read_ids(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing.unpin(ids).map([](std::size_t unpinned) { return Json{{"unpinned", unpinned}}; });
  });
}

}  // namespace splitplane::gnb
