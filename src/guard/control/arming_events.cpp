#include "guard/control/arming_events.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace splitplane::app {
namespace {

using Time = std::chrono::system_clock::time_point;

const char* word_of(const ArmedNow& now) {
  return now.armed ? "armed" : "at rest";
}

std::string line_of(const ArmedNow& now) {
  if (!now.armed) return fmt::format("server {}: its guard rests again (worker {})", now.server, now.worker);
  return fmt::format("server {}: armed: {} SYNs a second of unknown clients, {} % of them half open (worker {})",
                     now.server, now.syns_per_second, now.half_open_percent, now.worker);
}

std::string utc(Time time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time)), ms);
}

}  // namespace

std::vector<std::string> ArmingEvents::look(const std::vector<ArmedNow>& servers, Time now) {
  std::vector<std::string> lines;
  begin_while(now, lines);
  std::map<std::pair<std::string, std::string>, Seen> seen;
  for (const ArmedNow& server : servers) {
    const auto key = std::pair(server.worker, server.server);
    const auto before = seen_.find(key);
    const Seen then = before == seen_.end() ? Seen{} : before->second;
    if (server.armed != then.armed) {
      add(server, now, lines);
    } else if (before != seen_.end() && server.armings > then.armings) {  // it changed twice since the last look
      ArmedNow between = server;
      between.armed = !server.armed;
      add(between, now, lines);
      add(server, now, lines);
    }
    seen[key] = {server.armed, server.armings};
  }
  seen_ = std::move(seen);  // without servers that were removed
  return lines;
}

void ArmingEvents::begin_while(Time now, std::vector<std::string>& lines) {
  if (now - while_began_ < kWhile && now >= while_began_) return;
  while_began_ = now;
  said_ = 0;
  if (unsaid_ != 0) lines.push_back(fmt::format("{} more times a guard was armed or came to rest", unsaid_));
  unsaid_ = 0;
}

void ArmingEvents::add(const ArmedNow& now, Time time, std::vector<std::string>& lines) {
  ++count_;
  kept_.push_back({time, now});
  if (kept_.size() > kKept) kept_.pop_front();
  if (said_ < kLines) {
    ++said_;
    lines.push_back(line_of(now));
  } else {
    ++unsaid_;
  }
}

Json json_of(const ArmingEvents& events) {
  Json rows = Json::array();
  for (const ArmingEvent& event : events.kept()) {
    rows.push_back({{"time", utc(event.time)},
                    {"worker", event.now.worker},
                    {"server", event.now.server},
                    {"what", word_of(event.now)},
                    {"syns_per_second", event.now.syns_per_second},
                    {"half_open_percent", event.now.half_open_percent}});
  }
  return {{"before", events.count() - events.kept().size()}, {"events", std::move(rows)}};
}

}  // namespace splitplane::app
