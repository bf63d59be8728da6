#include "control/methods/methods.h"

#include <unistd.h>

#include <array>
#include <exception>
#include <utility>

#include "base/shallow_json.h"
#include "base/text.h"
#include "base/version.h"
#include "config/config.h"
#include "control/methods/air.h"
#include "control/methods/bearer_json.h"
#include "control/methods/card.h"
#include "control/methods/power.h"
#include "control/methods/taps.h"
#include "control/reply.h"

namespace splitplane::app {
namespace {

Expected<Json> add(Params& params, ControlBackend& backend) {
  BearerGroupConfig group;
  group.first = read_bearer(params);
  group.count = params.integer("count", 1, kMaxBearersPerRequest).value_or(1);
  if (const auto v = params.integer("shard", 0, ran::kShards - 1)) group.shard = static_cast<unsigned>(*v);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  if (const auto wrong = ran::refuse(group.first)) return fail("{}", *wrong);
  if (group.first.id.value != 0 && group.count != 1) return fail("id: allowed with count 1 only");
  if (group.first.id.value != 0 && group.shard && *group.shard != ran::shard_of(group.first.id.value).value)
    return fail("shard: the id says shard {}; allowed: that one, or none", ran::shard_of(group.first.id.value).value);
  if (bearer_at(group, group.count - 1).uplink_teid < group.first.uplink_teid)
    return fail("ul_teid: with this count it runs past 0xffffffff");
  Json first, last;
  std::size_t existed = 0;
  std::vector<ran::BearerConfig> batch;
  for (std::size_t done = 0; done < group.count; done += batch.size()) {
    batch.clear();
    while (batch.size() < ControlBackend::kBearersPerBatch && done + batch.size() < group.count) {
      batch.push_back(bearer_at(group, done + batch.size()));
    }
    const auto added = backend.add_bearers(batch, group.shard);
    if (!added)
      return done == 0 ? fail("{}", added.error().message)
                       : fail("after {} of {}: {}", done, group.count, added.error().message);
    if (done == 0) first = to_json(added->bearers.front());
    last = to_json(added->bearers.back());
    existed += added->existed;
  }
  if (existed != group.count) {
    if (const auto settled = backend.settle(); !settled) return tl::unexpected(settled.error());
  }
  return Json{{"count", group.count}, {"existed", existed}, {"first", first}, {"last", last}};
}

BearerId read_id(Params& params) {
  params.require("id");
  return BearerId{static_cast<std::uint32_t>(params.integer("id", 0, 0xffffffff).value_or(0))};
}

Expected<Json> modify(Params& params, ControlBackend& backend) {
  const BearerId id = read_id(params);
  const BearerPatch patch = read_patch(params);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  if (!patch.uplink_teid && !patch.upf && !patch.qfi && !patch.poll_pdu) {
    return fail("nothing to change; allowed: upf, ul_teid, qfi, poll_pdu");
  }
  return backend.modify_bearer(id, patch).and_then(
      [&](const ran::BearerConfig& b) { return backend.settle().map([&] { return to_json(b); }); });
}

Expected<Json> release(Params& params, ControlBackend& backend) {
  const BearerId id = read_id(params);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.release_bearer(id).and_then(
      [&](bool existed) { return backend.settle().map([&] { return Json{{"existed", existed}}; }); });
}

Expected<Json> reestablish(Params& params, ControlBackend& backend) {
  const BearerId id = read_id(params);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.reestablish_bearer(id).map(
      [&](std::uint8_t epoch) { return Json{{"id", id.value}, {"epoch", epoch}}; });
}

Expected<Json> show(Params& params, ControlBackend& backend) {
  const BearerId id = read_id(params);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.show_bearer(id).map([](const BearerView& view) { return to_json(view); });
}

Expected<Json> list(Params& params, ControlBackend& backend) {
  const auto after = static_cast<std::uint32_t>(params.integer("after", 0, 0xffffffff).value_or(0));
  const std::size_t limit = params.integer("limit", 1, kMaxListLimit).value_or(100);
  if (const auto fault = params.fault()) return fail("{}", *fault);
  const auto views = backend.list_bearers(after, limit);
  if (!views) return tl::unexpected(views.error());
  Json bearers = Json::array();
  for (const auto& view : *views) bearers.push_back(to_json(view));
  // A full page may be followed by another; `next` is what to ask `after`.
  const bool more = !views->empty() && views->size() >= limit;
  return Json{{"bearers", std::move(bearers)}, {"next", more ? Json(views->back().config.id.value) : Json(nullptr)}};
}

Expected<Json> stats(Params& params, ControlBackend& backend) {
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.stats();
}

Expected<Json> peers(Params& params, ControlBackend& backend) {
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return backend.peers().map([](Json rows) { return Json{{"peers", std::move(rows)}}; });
}

Expected<Json> ping(Params& params, ControlBackend&) {
  if (const auto fault = params.fault()) return fail("{}", *fault);
  return Json{{"process", ::getpid()}, {"version", kVersion}};
}

struct Method {
  std::string_view name;
  Expected<Json> (*run)(Params&, ControlBackend&);
};
constexpr std::array<Method, 22> kMethods{{{"ping", ping},
                                           {"bearer.add", add},
                                           {"bearer.modify", modify},
                                           {"bearer.release", release},
                                           {"bearer.reestablish", reestablish},
                                           {"bearer.list", list},
                                           {"bearer.show", show},
                                           {"peer.list", peers},
                                           {"stats", stats},
                                           {"tap.on", tap_on_method},
                                           {"tap.off", tap_off_method},
                                           {"tap.list", tap_list_method},
                                           {"air.set", air_set_method},
                                           {"power.show", power_show_method},
                                           {"power.set", power_set_method},
                                           {"card.show", card_show_method},
                                           {"card.install", card_install_method},
                                           {"card.remove", card_remove_method},
                                           {"card.peer", card_peer_method},
                                           {"card.peer_gone", card_peer_gone_method},
                                           {"card.lease", card_lease_method},
                                           {"card.numbers", card_numbers_method}}};
// And stop, which is not the backend's.
constexpr auto kMethodNames = [] {
  std::array<std::string_view, kMethods.size() + 1> names;
  for (std::size_t i = 0; i < kMethods.size(); ++i) names[i] = kMethods[i].name;
  names.back() = "stop";
  return names;
}();

Expected<Json> call(const Json& request, ControlBackend& backend, const std::function<void()>& stop) {
  Params members(request);
  const auto method = members.text("method");
  members.require("method");
  const auto id = request.find("id");
  if (id != request.end() && !id->is_number_integer() && !id->is_string() && !id->is_null()) {
    return fail("id: allowed is an integer or a text");
  }
  for (const auto& [key, value] : request.items()) {
    if (key != "id" && key != "method" && key != "params")
      return fail("{}: unknown; allowed: id, method, params", printable(key));
  }
  if (!method) return fail("{}", members.fault().value_or("method: is missing"));
  static const Json kNone;
  Params params(request.contains("params") ? request["params"] : kNone);
  if (*method == "stop") {
    if (const auto fault = params.fault()) return fail("{}", *fault);
    stop();
    return Json{{"stopping", true}};
  }
  for (const auto& row : kMethods) {
    if (row.name == *method) return row.run(params, backend);
  }
  const auto near = closest(*method, kMethodNames);
  return fail("method '{}' is unknown{}; allowed: {}", printable(*method),
              near ? fmt::format(", did you mean '{}'?", *near) : "", comma_list(kMethodNames));
}

// A sentence about this instance, not about the request: its client need not look for a mistake of its own.
bool is_failure(const std::string& sentence) {
  return sentence.find("does not answer") != std::string::npos;
}

}  // namespace

std::string answer(std::string_view line, ControlBackend& backend, const std::function<void()>& stop) {
  const Json request = parse_shallow_json(line);
  if (!request.is_object())
    return error_reply("no request; allowed is one JSON object a line, such as {\"id\":1,\"method\":\"ping\"}");
  Expected<Json> result = Json{};
  bool thrown = false;
  try {
    result = call(request, backend, stop);
  } catch (const std::exception& error) {  // a backend out of memory must not end the packet path
    result = fail("failed: {}", error.what());
    thrown = true;
  }
  const auto id = request.find("id");
  Json reply{{"id", id != request.end() && (id->is_number_integer() || id->is_string()) ? *id : Json(nullptr)}};
  if (result) {
    reply["result"] = *std::move(result);
  } else {
    reply["error"] = result.error().message;
    if (thrown || is_failure(result.error().message)) reply["failed"] = true;
  }
  return text_of(reply);
}

ControlServer::Answer answers_of(ControlBackend& backend, std::function<void()> stop) {
  return [&backend, stop = std::move(stop)](std::string_view line) { return answer(line, backend, stop); };
}

}  // namespace splitplane::app
