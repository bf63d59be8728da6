#include "ran/control/session_methods.h"

#include <utility>

#include "ran/control/session_json.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxSessions = 100;  // in an answer, which has eight bearers each at most

Teid read_teid(Params& params) {
  params.require("id");
  return Teid{static_cast<std::uint32_t>(params.integer("id", 0, 0xffffffff).value_or(0))};
}

}  // namespace

MethodRegistry::Handler session_add(AddSession add, WaitForDisk wait_for_disk) {
  return [add = std::move(add), wait_for_disk = std::move(wait_for_disk)](Params& params) -> Expected<Json> {
    const ran::WantedSession wanted = read_session(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    if (const auto wrong = ran::refuse_wanted(wanted.config)) return fail("{}", *wrong);
    const auto added = add(wanted);
    if (!added) return tl::unexpected(added.error());
    if (!added->existed) {
      if (const auto settled = wait_for_disk(); !settled) return tl::unexpected(settled.error());
    }
    return Json{{"existed", added->existed}, {"session", to_json(added->session)}};
  };
}

MethodRegistry::Handler session_release(ReleaseSession release, WaitForDisk wait_for_disk) {
  return [release = std::move(release), wait_for_disk = std::move(wait_for_disk)](Params& params) -> Expected<Json> {
    const Teid teid = read_teid(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return release(teid).and_then(
        [&](bool existed) { return wait_for_disk().map([&] { return Json{{"existed", existed}}; }); });
  };
}

MethodRegistry::Handler session_flow(MoveFlow move, WaitForDisk wait_for_disk) {
  return [move = std::move(move), wait_for_disk = std::move(wait_for_disk)](Params& params) -> Expected<Json> {
    const Teid teid = read_teid(params);
    params.require("qfi");
    params.require("drb");
    const Qfi qfi{static_cast<std::uint8_t>(params.integer("qfi", 0, ran::sdap::kFlows - 1).value_or(0))};
    const ran::sdap::DrbId drb{static_cast<std::uint8_t>(params.integer("drb", 1, ran::sdap::kMaxDrb).value_or(0))};
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return move(teid, qfi, drb).and_then([&](const ran::SessionConfig& session) {
      return wait_for_disk().map([&] { return Json{{"session", to_json(session)}}; });
    });
  };
}

MethodRegistry::Handler session_rekey(RekeySession rekey) {
  return [rekey = std::move(rekey)](Params& params) -> Expected<Json> {
    const Teid teid = read_teid(params);
    const std::uint32_t key = read_new_key(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return rekey(teid, key).map([&](const std::vector<RekeyedBearer>& bearers) {
      Json rows = Json::array();
      for (const RekeyedBearer& one : bearers) {
        rows.push_back(
            {{"id", one.id.value}, {"drb", one.drb.value}, {"epoch", one.now.epoch}, {"changed", one.now.changed}});
      }
      return Json{{"id", teid.value}, {"security", {{"key", key}}}, {"bearers", std::move(rows)}};
    });
  };
}

MethodRegistry::Handler session_show(ShowSession show) {
  return [show = std::move(show)](Params& params) -> Expected<Json> {
    const Teid teid = read_teid(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return show(teid).map([](const SessionView& view) { return to_json(view); });
  };
}

MethodRegistry::Handler session_list(ListSessions list) {
  return [list = std::move(list)](Params& params) -> Expected<Json> {
    const auto after = static_cast<std::uint32_t>(params.integer("after", 0, 0xffffffff).value_or(0));
    const std::size_t limit = params.integer("limit", 1, kMaxSessions).value_or(kMaxSessions);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    const auto views = list(after, limit);
    if (!views) return tl::unexpected(views.error());
    Json sessions = Json::array();
    for (const auto& view : *views) sessions.push_back(to_json(view));
    const bool more = !views->empty() && views->size() >= limit;
    return Json{{"sessions", std::move(sessions)},
                {"next", more ? Json(views->back().config.teid().value) : Json(nullptr)}};
  };
}

}  // namespace splitplane::app
