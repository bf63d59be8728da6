#include "gnb/place/place_methods.h"

#include <algorithm>

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

template <std::size_t N>
void read_word(Params& params, std::string_view key, const std::array<std::string_view, N>& words, auto& into) {
  const auto word = params.text(key);
  if (!word) return;
  const auto at = std::ranges::find(words, *word);
  if (at == words.end()) return params.refuse(key, fmt::format("allowed: {}", fmt::join(words, ", ")));
  into = static_cast<std::remove_reference_t<decltype(into)>>(at - words.begin());
}

void read_number(Params& params, std::string_view key, std::uint64_t least, std::uint64_t most, unsigned& into) {
  if (const auto number = params.integer(key, least, most)) into = static_cast<unsigned>(*number);
}

Json to_json(const placement::Settings& s) {
  return {{"mode", placement::kModeNames[static_cast<std::size_t>(s.mode)]},
          {"ratio", s.ratio_percent},
          {"ratio_of", placement::kRatioOfNames[static_cast<std::size_t>(s.ratio_of)]},
          {"load_of", placement::kLoadOfNames[static_cast<std::size_t>(s.load_of)]},
          {"period_ms", s.period_ms},
          {"most_moves_per_second", s.most_moves_per_second},
          {"min_stay_ms", s.min_stay_ms},
          {"hysteresis_percent", s.hysteresis_percent}};
}

Json show(Placing& placing, std::span<const BearerId> ids) {
  const placement::View view = placing.view();
  Json bearers = Json::array();
  for (const Placing::Why& why : placing.explain(ids)) {
    bearers.push_back({{"id", why.id.value},
                       {"place", why.place},
                       {"why", why.reason},
                       {"load", why.load},
                       {"pinned", why.is_pinned}});
  }
  return {{"settings", to_json(placing.settings())}, {"bearers", std::move(bearers)},
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
    placement::Settings read;
    const auto given = [&params](std::string_view key) { return params.has(key); };
    const bool mode = given("mode"), ratio = given("ratio"), ratio_of = given("ratio_of"), load_of = given("load_of"),
               period = given("period_ms"), most = given("most_moves_per_second"), stay = given("min_stay_ms"),
               hysteresis = given("hysteresis_percent");
    read_word(params, "mode", placement::kModeNames, read.mode);
    read_number(params, "ratio", 0, 100, read.ratio_percent);
    read_word(params, "ratio_of", placement::kRatioOfNames, read.ratio_of);
    read_word(params, "load_of", placement::kLoadOfNames, read.load_of);
    read_number(params, "period_ms", 10, 60000, read.period_ms);
    read_number(params, "most_moves_per_second", 1, 1000000, read.most_moves_per_second);
    read_number(params, "min_stay_ms", 0, 3600000, read.min_stay_ms);
    read_number(params, "hysteresis_percent", 0, 1000, read.hysteresis_percent);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return placing
        .set([&](placement::Settings& s) {
          if (mode) s.mode = read.mode;
          if (ratio) s.ratio_percent = read.ratio_percent;
          if (ratio && !mode) s.mode = placement::Mode::kRatio;  // `ctl place ratio 50`
          if (ratio_of) s.ratio_of = read.ratio_of;
          if (load_of) s.load_of = read.load_of;
          if (period) s.period_ms = read.period_ms;
          if (most) s.most_moves_per_second = read.most_moves_per_second;
          if (stay) s.min_stay_ms = read.min_stay_ms;
          if (hysteresis) s.hysteresis_percent = read.hysteresis_percent;
        })
        .map([](const placement::Settings& s) { return to_json(s); });
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
    return placing.pin(ids, *to).map([&ids] { return Json{{"pinned", ids.size()}}; });
  });
  registry.add("place.unpin", [&placing](Params& params) -> Expected<Json> {
    params.require("ids");
    const auto ids = read_ids(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    placing.unpin(ids);
    return Json{{"unpinned", ids.size()}};
  });
}

}  // namespace splitplane::gnb
