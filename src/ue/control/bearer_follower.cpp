#include "ue/control/bearer_follower.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

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

// A member of an object of a bearer, `rlc_am` or `rlc_full`, 0 if it has none; true counts as 1.
std::uint32_t member(const Json& bearer, const char* object, const char* key) {
  const auto at = bearer.find(object);
  if (at == bearer.end() || !at->is_object() || !at->contains(key)) return 0;
  const Json& value = (*at)[key];
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_number_unsigned() ? value.get<std::uint32_t>() : 0;
}

// SDUs that the gNB's RLC has: those that it may send again, in full mode also those that it has not sent.
std::uint32_t kept(const Json& bearer) {
  return member(bearer, "rlc_am", "tx_next") - member(bearer, "rlc_am", "tx_next_ack") +
         member(bearer, "rlc_full", "held");
}

// Full mode: where the bearer is on the air.
std::optional<ue::RadioPlace> radio_of(const Json& bearer) {
  const std::uint32_t rnti = member(bearer, "rlc_full", "rnti"), lcid = member(bearer, "rlc_full", "lcid");
  if (rnti == 0 || rnti > 0xffff) return std::nullopt;
  return ue::RadioPlace{static_cast<std::uint16_t>(rnti), lcid};
}

// A gNB that has just been started has not asked the card yet for the numbers of its bearers. It then says 0, as if
// they began anew.
bool numbers_unknown(const Json& bearer) {
  const auto on_card = bearer.find("on_card");
  return on_card != bearer.end() && on_card->is_object() && member(bearer, "on_card", "installed") == 0;
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
    if (worker_ && number(json, "worker") != *worker_) return;
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
    watch_.see(
        *bearer,
        {.pdcp_downlink = number(json, "pdcp_tx_next"),
         .rlc_downlink = number(json, "rlc_tx_next"),
         .pdcp_uplink = number(json, "pdcp_rx_next"),
         .rlc_uplink = number(json, "rlc_rx_next"),
         .rlc_epoch = static_cast<std::uint8_t>(std::max(member(json, "rlc_am", "epoch"), number(json, "epoch"))),
         .rlc_unacked = kept(json)},
        *session, radio_of(json));
    if (member(json, "rlc_am", "failed") + member(json, "rlc_full", "failed") != 0) failed.push_back(bearer->id);
  });
  apply(listed && complete ? watch_.finish() : watch_.break_off());
  const Clock::time_point now = Clock::now();
  for (const BearerId id : failed) {
    if (ways_.stopped()) break;
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
  std::unordered_map<std::uint32_t, std::uint16_t> moved;  // C-RNTIs of UEs with a session that begin_anew() moved
  for (std::size_t first = 0; first < changes.size(); first += kChangesAtOnce) {
    const auto begin = changes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kChangesAtOnce, changes.size() - first));
    std::vector<ue::BearerChange> some;
    for (auto change = begin; change != end; ++change) {
      if (ways_.stopped()) return;
      some.push_back(*change);
      if (!begin_anew(some.back())) {
        some.pop_back();
      } else if (change->session && some.back().radio != change->radio) {
        moved[change->session->teid.value] = some.back().radio->rnti;
      }
    }
    for (ue::BearerChange& one : some) {
      if (!one.session || !one.radio) continue;
      if (const auto at = moved.find(one.session->teid.value); at != moved.end()) one.radio->rnti = at->second;
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

// Where PDUs of an acknowledged bearer, or of one in full mode, have passed before this side learns of it, both ends
// begin anew. That goes for RLC UM of full mode, too: its receiver drops segments that are outside its window, which
// may be half of all numbers. Returns false if it is not possible now; the next list brings the bearer again.
bool BearerFollower::begin_anew(ue::BearerChange& change) {
  if (change.kind != ue::BearerChange::Kind::kEstablish || (!change.config.acknowledged && !change.radio)) return true;
  if (change.numbers.rlc_downlink == 0 && change.numbers.rlc_uplink == 0) return true;
  log::info("bearer {:#010x}: PDUs have passed before this side knew of it; both ends begin anew",
            change.config.id.value);
  const auto epoch = reestablish(change.config.id);
  if (epoch) change.numbers.rlc_epoch = *epoch;
  if (!epoch || (change.radio && !take_new_place(change))) {
    watch_.undo(change);
    return false;
  }
  return true;
}

// Full mode: the UE has got another C-RNTI, with all bearers of its session, and the gNB's RLC has dropped what it had.
bool BearerFollower::take_new_place(ue::BearerChange& change) {
  const auto shown = gnb_->call("bearer.show", {{"id", change.config.id.value}});
  if (!shown) return false;
  change.radio = radio_of(*shown);
  change.numbers.rlc_unacked = 0;
  return change.radio.has_value();
}

}  // namespace splitplane::app
