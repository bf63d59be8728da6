#include "ue/control/bearer_follower.h"

#include <time.h>

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "ran/control/bearer_json.h"
#include "ran/control/session_json.h"

namespace splitplane::app {
namespace {

using Clock = BearerFollower::Clock;

constexpr std::size_t kChangesAtOnce = 256;  // carried out between two rounds of the worker

// The CPU time of this thread so far: a wait for a busy machine does not count.
Clock::duration thread_cpu() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

std::uint32_t number(const Json& bearer, const char* key) {
  const auto at = bearer.find(key);
  return at != bearer.end() && at->is_number_unsigned() ? at->get<std::uint32_t>() : 0;
}

// A member of a bearer's `rlc_am`, 0 if it has none; true counts as 1.
std::uint32_t rlc_am(const Json& bearer, const char* key) {
  const auto am = bearer.find("rlc_am");
  if (am == bearer.end() || !am->is_object() || !am->contains(key)) return 0;
  const Json& value = (*am)[key];
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number_unsigned() ? value.get<std::uint32_t>() : 0;
}

// A gNB that has just been started has not asked the card yet for the numbers of its bearers. It then says 0, as if
// they began anew.
bool numbers_unknown(const Json& bearer) {
  const auto on_card = bearer.find("on_card");
  return on_card != bearer.end() && on_card->is_object() && !on_card->value("installed", false);
}

}  // namespace

bool BearerFollower::follow(Clock::time_point now) {
  const std::uint64_t unknown = ways_.unknown();
  const Clock::duration pause = unknown != unknown_seen_
                                    ? std::max<Clock::duration>(std::chrono::milliseconds(100), 10 * asking_took_)
                                    : std::max<Clock::duration>(std::chrono::seconds(1), 20 * asking_took_);
  if (now - last_asked_ < pause) return !gnb_silent_;
  unknown_seen_ = unknown;
  const Clock::duration before = thread_cpu();
  const auto asked = ask_gnb();
  last_asked_ = Clock::now();
  if (asked) asking_took_ = thread_cpu() - before;
  if (!asked && !gnb_silent_) log::warn("the gNB's bearers are not known: {}; asking again", asked.error().message);
  gnb_silent_ = !asked;
  return asked.has_value();
}

Expected<void> BearerFollower::ask_gnb() {
  if (!gnb_) {
    auto client = ControlClient::connect(gnb_control_, std::chrono::seconds(2));
    if (!client) return tl::unexpected(client.error());
    gnb_.emplace(*std::move(client));
  }
  std::optional<Error> strange;
  bool complete = true;
  std::vector<BearerId> failed = ways_.failed();
  const auto listed = gnb_->for_each_bearer(0, std::numeric_limits<std::size_t>::max(), [&](const Json& json) {
    const auto bearer = bearer_from_json(json);
    const auto session = session_of(json);
    if (!bearer || !session) {
      strange = bearer ? session.error() : bearer.error();
      return;
    }
    if (numbers_unknown(json)) {
      complete = false;
      return;
    }
    watch_.see(*bearer,
               {.pdcp_downlink = number(json, "pdcp_tx_next"),
                .rlc_downlink = number(json, "rlc_tx_next"),
                .pdcp_uplink = number(json, "pdcp_rx_next"),
                .rlc_uplink = number(json, "rlc_rx_next"),
                .rlc_epoch = static_cast<std::uint8_t>(std::max(rlc_am(json, "epoch"), number(json, "epoch"))),
                .rlc_unacked = rlc_am(json, "tx_next") - rlc_am(json, "tx_next_ack")},
               *session);
    if (rlc_am(json, "failed") != 0) failed.push_back(bearer->id);
  });
  apply(listed && complete ? watch_.finish() : watch_.break_off());
  const Clock::time_point now = Clock::now();
  for (const BearerId id : failed) {
    // Epochs would go round, and a frame of other keys would count as one of these.
    if (without_keys_.contains(id)) continue;
    if (!reestablish_limit_.allows(id, now)) continue;
    log::warn("bearer {:#010x}: RLC AM failed (max_retx reached, or no poll answered); both ends begin anew", id.value);
    (void)reestablish(id);  // the next list has its new epoch
  }
  if (listed && !strange) return {};
  if (!listed) gnb_.reset();
  return tl::unexpected(listed ? *strange : listed.error());
}

void BearerFollower::apply(const std::vector<ue::BearerChange>& changes) {
  for (std::size_t first = 0; first < changes.size(); first += kChangesAtOnce) {
    const auto begin = changes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kChangesAtOnce, changes.size() - first));
    std::vector<ue::BearerChange> some;
    for (auto change = begin; change != end; ++change) {
      some.push_back(*change);
      if (!begin_acknowledged(some.back())) some.pop_back();
    }
    for (const ue::BearerChange& one : some) without_keys_.erase(one.config.id);
    for (const ue::BearerChange& one : ways_.change(some)) keep_back(one);
  }
}

// The next list brings the change again.
void BearerFollower::keep_back(const ue::BearerChange& change) {
  watch_.undo(change);
  if (change.kind == ue::BearerChange::Kind::kRekey) without_keys_.insert(change.config.id);
}

// This control connection plays RRC: the gNB's entities begin anew, with another epoch.
std::optional<std::uint8_t> BearerFollower::reestablish(BearerId id) {
  const auto answer = gnb_->call("bearer.reestablish", {{"id", id.value}});
  if (answer) return static_cast<std::uint8_t>(number(*answer, "epoch"));
  log::warn("bearer {:#010x} is not re-established: {}; asking again", id.value, answer.error().message);
  return std::nullopt;
}

// Where PDUs of an acknowledged bearer have passed before this side learns of it, both ends begin anew. Returns false
// if that is not possible now; the next list brings the bearer again.
bool BearerFollower::begin_acknowledged(ue::BearerChange& change) {
  if (change.kind != ue::BearerChange::Kind::kEstablish || !change.config.acknowledged) return true;
  if (change.numbers.rlc_downlink == 0 && change.numbers.rlc_uplink == 0) return true;
  log::info("bearer {:#010x}: PDUs have passed before this side knew of it; both ends begin anew",
            change.config.id.value);
  const auto epoch = reestablish(change.config.id);
  if (!epoch) {
    watch_.undo(change);
    return false;
  }
  change.numbers.rlc_epoch = *epoch;
  return true;
}

}  // namespace splitplane::app
