#include "guard/control/protected_servers.h"

#include <algorithm>

#include "base/text.h"
#include "guard/config/check.h"
#include "guard/config/server_text.h"

namespace splitplane::app {
namespace {

bool is_same(const guard::ArmingSettings& a, const guard::ArmingSettings& b) {
  return a.arm_syns_per_second == b.arm_syns_per_second && a.arm_half_open_percent == b.arm_half_open_percent &&
         a.always_syns_per_second == b.always_syns_per_second && a.disarm_syns_per_second == b.disarm_syns_per_second &&
         a.hold_seconds == b.hold_seconds && a.rearm_seconds == b.rearm_seconds &&
         a.max_hold_seconds == b.max_hold_seconds;
}

bool is_same(const guard::ServerRule& a, const guard::ServerRule& b) {
  return a.name == b.name && same_place(a, b) && a.mode == b.mode && a.arm == b.arm && is_same(a.arming, b.arming) &&
         a.mss == b.mss && a.window_scale == b.window_scale;
}

// A sentence that begins with the key.
Expected<void> check_beside(const guard::ServerRule& rule, const std::vector<guard::ServerRule>& others) {
  const auto finding = check_server(rule, others);
  return finding ? fail("{}: {}", finding->key, finding->text) : Expected<void>{};
}

}  // namespace

Expected<bool> ProtectedServers::add(const guard::ServerRule& rule) {
  const auto there = find(rule.name);
  if (there != servers_.end() && is_same(there->rule, rule)) return false;
  if (auto good = check_beside(rule, rules()); !good) return tl::unexpected(good.error());
  if (servers_.size() == guard::kMaxServers)
    return fail("the guard protects {} servers already; allowed: at most that many", servers_.size());
  Server server{.rule = rule, .places = {}};
  if (auto done = put(server); !done) return tl::unexpected(done.error());
  servers_.push_back(std::move(server));
  return true;
}

Expected<guard::ServerRule> ProtectedServers::change(const std::string& name,
                                                     const std::function<void(guard::ServerRule& rule)>& change) {
  const auto at = find(name);
  if (at == servers_.end()) return fail("name: there is no server '{}'", printable(name));
  Server changed = *at;
  change(changed.rule);
  std::vector<guard::ServerRule> others = rules();
  std::erase_if(others, [&](const guard::ServerRule& rule) { return rule.name == name; });
  if (auto good = check_beside(changed.rule, others); !good) return tl::unexpected(good.error());
  if (auto done = put(changed); !done) return tl::unexpected(done.error());
  *at = std::move(changed);
  return at->rule;
}

Expected<bool> ProtectedServers::remove(const std::string& name) {
  const auto at = find(name);
  if (at == servers_.end()) return false;
  // A worker may have lost it already, when an earlier removal did not reach all of them.
  auto done = loops_.on_all([&](GuardLoop&, guard::WorkerGuard& guard) { (void)guard.remove_server(name); });
  if (!done) return tl::unexpected(done.error());
  servers_.erase(at);
  return true;
}

Expected<void> ProtectedServers::put(Server& server) {
  server.places.assign(loops_.size(), 0);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    const auto place = loops_[i].worker->put_server(server.rule);
    if (!place) return fail("worker {}: {}", loops_[i].name, place.error().message);
    server.places[i] = *place;
  }
  return {};
}

std::vector<ProtectedServers::Server>::iterator ProtectedServers::find(const std::string& name) {
  return std::ranges::find(servers_, name, [](const Server& server) { return server.rule.name; });
}

std::vector<guard::ServerRule> ProtectedServers::rules() const {
  std::vector<guard::ServerRule> rules;
  for (const Server& server : servers_) rules.push_back(server.rule);
  return rules;
}

std::vector<ArmedNow> ProtectedServers::armed_now() const {
  std::vector<ArmedNow> all;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    for (const Server& server : servers_) {
      const guard::ServerLine& line = loops_[i].worker->stats().servers[server.places[i]];
      all.push_back({.worker = loops_[i].name,
                     .server = server.rule.name,
                     .armed = line.armed.get() != 0,
                     .armings = line.armings.get(),
                     .syns_per_second = line.syns_per_second.get(),
                     .half_open_percent = line.half_open_percent.get()});
    }
  }
  return all;
}

}  // namespace splitplane::app
