#include "n3/path.h"

#include <algorithm>

namespace splitplane::datapath {

void PathSupervisor::watch(const std::vector<IpAddress>& upfs, Time now) {
  std::erase_if(paths_, [&](const auto& entry) { return std::count(upfs.begin(), upfs.end(), entry.first) == 0; });
  for (const IpAddress& upf : upfs) {
    const auto [at, is_new] = paths_.try_emplace(upf);
    if (is_new) at->second.again = now;
  }
}

void PathSupervisor::begin(Path& path, Time now) const {
  path.waiting = true;
  path.left = settings_.retries + 1;
  path.begun = path.again = now;
  path.give_up = now + settings_.timeout * (settings_.retries + 1);
  ++path.sequence_number;
}

void PathSupervisor::ask_now(const IpAddress& upf, Time now) {
  const auto at = paths_.find(upf);
  if (at != paths_.end() && !at->second.waiting) begin(at->second, now);
}

void PathSupervisor::advance(const IpAddress& upf, Path& path, Time now, bool can_send, Turn& turn) const {
  if (settings_.interval.count() == 0 && !path.waiting) return;
  const auto all_sendings = settings_.timeout * (settings_.retries + 1);
  if (!path.waiting) {
    if (now < path.again) return;
    begin(path, now);
  }
  if (now >= path.give_up) {
    path.waiting = false;
    path.again = std::max(now, path.begun + settings_.interval);
    const bool was_down = path.state == PathState::down && !path.unresolved;
    path.unresolved = path.left == settings_.retries + 1;  // the request was never sent
    if (!path.unresolved) ++path.lost;
    if (path.state != PathState::down) ++path.downs;
    path.state = PathState::down;
    if (!was_down && !path.unresolved) turn.events.push_back({upf, Change::kDown});
  } else if (path.left != 0 && can_send && now >= path.again) {
    if (path.left == settings_.retries + 1) path.give_up = now + all_sendings;
    --path.left;
    ++path.sent;
    path.sent_at = now;
    path.again = now + settings_.timeout;
    turn.requests.emplace_back(upf, path.sequence_number);
  }
}

std::optional<PathSupervisor::Change> PathSupervisor::answered(const IpAddress& upf, std::uint16_t sequence_number,
                                                               std::optional<std::uint8_t> restart_counter, Time now) {
  const auto at = paths_.find(upf);
  if (at == paths_.end() || !at->second.waiting || at->second.sequence_number != sequence_number) return std::nullopt;
  Path& path = at->second;
  path.waiting = false;
  path.again = std::max(now, path.begun + settings_.interval);
  ++path.answered;
  path.answered_at = now;
  path.unresolved = false;
  if (path.left == settings_.retries) {  // otherwise it is unknown which sending was answered
    path.rtt = std::chrono::duration_cast<std::chrono::microseconds>(now - path.sent_at);
  }
  const bool restarted = restart_counter && path.restart_counter && *restart_counter != *path.restart_counter;
  const bool came_up = path.state != PathState::up;
  if (restart_counter) path.restart_counter = restart_counter;
  path.state = PathState::up;
  if (restarted) {
    ++path.restarts;
    return Change::kRestarted;
  }
  return came_up ? Change::kUp : Change::kNone;
}

}  // namespace splitplane::datapath
