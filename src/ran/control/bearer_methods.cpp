#include "ran/control/bearer_methods.h"

#include <utility>

#include "base/text.h"
#include "ran/bearer_fields.h"
#include "ran/bearer_group.h"
#include "ran/control/bearer_json.h"

namespace splitplane::app {
namespace {

using Handler = MethodRegistry::Handler;

Expected<ran::BearerGroup> read_group(Params& params) {
  ran::BearerGroup group;
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
  return group;
}

Expected<Json> add_group(const ran::BearerGroup& group, const AddBearers& add, const WaitForDisk& wait_for_disk) {
  Json first, last;
  std::size_t existed = 0;
  std::vector<ran::BearerConfig> batch;
  for (std::size_t done = 0; done < group.count; done += batch.size()) {
    batch.clear();
    while (batch.size() < kBearersPerBatch && done + batch.size() < group.count) {
      batch.push_back(bearer_at(group, done + batch.size()));
    }
    const auto added = add(batch, group.shard);
    if (!added)
      return done == 0 ? fail("{}", added.error().message)
                       : fail("after {} of {}: {}", done, group.count, added.error().message);
    if (done == 0) first = to_json(added->bearers.front());
    last = to_json(added->bearers.back());
    existed += added->existed;
  }
  if (existed != group.count) {
    if (const auto settled = wait_for_disk(); !settled) return tl::unexpected(settled.error());
  }
  return Json{{"count", group.count}, {"existed", existed}, {"first", first}, {"last", last}};
}

BearerId read_id(Params& params) {
  params.require("id");
  return BearerId{static_cast<std::uint32_t>(params.integer("id", 0, 0xffffffff).value_or(0))};
}

// A method whose only param is the identity of a bearer.
template <class Do>
Handler with_id(Do act) {
  return [act = std::move(act)](Params& params) -> Expected<Json> {
    const BearerId id = read_id(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return act(id);
  };
}

}  // namespace

Handler bearer_add(AddBearers add, WaitForDisk wait_for_disk) {
  return [add = std::move(add), wait_for_disk = std::move(wait_for_disk)](Params& params) {
    return read_group(params).and_then(
        [&](const ran::BearerGroup& group) { return add_group(group, add, wait_for_disk); });
  };
}

Handler bearer_modify(ModifyBearer modify, WaitForDisk wait_for_disk) {
  return [modify = std::move(modify), wait_for_disk = std::move(wait_for_disk)](Params& params) -> Expected<Json> {
    const BearerId id = read_id(params);
    const BearerPatch patch = read_patch(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    if (patch.changes.empty()) {
      return fail("nothing to change; allowed: {}", comma_list(ran::bearer_fields(ran::kInChange).names()));
    }
    return modify(id, patch).and_then(
        [&](const ran::BearerConfig& bearer) { return wait_for_disk().map([&] { return to_json(bearer); }); });
  };
}

Handler bearer_release(ReleaseBearer release, WaitForDisk wait_for_disk) {
  return with_id([release = std::move(release), wait_for_disk = std::move(wait_for_disk)](BearerId id) {
    return release(id).and_then(
        [&](bool existed) { return wait_for_disk().map([&] { return Json{{"existed", existed}}; }); });
  });
}

Handler bearer_reestablish(ReestablishBearer reestablish) {
  return with_id([reestablish = std::move(reestablish)](BearerId id) {
    return reestablish(id).map([&](std::uint8_t epoch) { return Json{{"id", id.value}, {"epoch", epoch}}; });
  });
}

std::uint32_t read_new_key(Params& params) {
  params.require("security");
  std::uint64_t key = 0;
  if (auto security = params.object("security")) {
    security->require("key");
    key = security->integer("key", 1, 0xffffffff).value_or(0);
    if (const auto fault = security->fault()) params.refuse("security", *fault);
  }
  return static_cast<std::uint32_t>(key);
}

Handler bearer_rekey(RekeyBearer rekey) {
  return [rekey = std::move(rekey)](Params& params) -> Expected<Json> {
    const BearerId id = read_id(params);
    const std::uint32_t key = read_new_key(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return rekey(id, key).map([&](const Rekeyed& now) {
      return Json{{"id", id.value}, {"security", {{"key", now.key}}}, {"epoch", now.epoch}, {"changed", now.changed}};
    });
  };
}

Handler bearer_show(ShowBearer show) {
  return with_id([show = std::move(show)](BearerId id) {
    return show(id).map([](const BearerView& view) { return to_json(view); });
  });
}

Handler bearer_list(ListBearers list) {
  return [list = std::move(list)](Params& params) -> Expected<Json> {
    const auto after = static_cast<std::uint32_t>(params.integer("after", 0, 0xffffffff).value_or(0));
    const std::size_t limit = params.integer("limit", 1, kMaxListLimit).value_or(100);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    const auto views = list(after, limit);
    if (!views) return tl::unexpected(views.error());
    Json bearers = Json::array();
    for (const auto& view : *views) bearers.push_back(to_json(view));
    // A full page may be followed by another; `next` is what to ask `after`.
    const bool more = !views->empty() && views->size() >= limit;
    return Json{{"bearers", std::move(bearers)}, {"next", more ? Json(views->back().config.id.value) : Json(nullptr)}};
  };
}

}  // namespace splitplane::app
