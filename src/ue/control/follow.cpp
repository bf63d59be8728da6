// The UE side's share of RRC: it follows the bearers that the gNB lists on its control socket, and asks for RLC
// re-establishment where PDUs passed before it knew a bearer, or after a radio link failure.
#include <time.h>

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "ran/control/bearer_json.h"
#include "ue/control/instance.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChangesAtOnce = 256;  // carried out between two rounds of the worker

// What this thread has worked so far: a wait for a busy machine is none.
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

// A gNB that has just been started has not asked the card yet where its bearers stand, and says 0: as if they began
// anew.
bool numbers_unknown(const Json& bearer) {
  const auto on_card = bearer.find("on_card");
  return on_card != bearer.end() && on_card->is_object() && !on_card->value("installed", false);
}

}  // namespace

bool UeSide::follow_bearers(Clock::time_point now) {
  const std::uint64_t unknown = unknown_bearers();
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

Expected<void> UeSide::ask_gnb() {
  if (!gnb_) {
    auto client = ControlClient::connect(config_.ue->gnb_control, std::chrono::seconds(2));
    if (!client) return tl::unexpected(client.error());
    gnb_.emplace(*std::move(client));
  }
  std::optional<Error> strange;
  bool complete = true;
  std::vector<BearerId> failed = failed_bearers();
  const auto listed = gnb_->for_each_bearer(0, std::numeric_limits<std::size_t>::max(), [&](const Json& json) {
    const auto bearer = bearer_from_json(json);
    if (!bearer) {
      strange = bearer.error();
      return;
    }
    if (numbers_unknown(json)) {
      complete = false;
      return;
    }
    watch_.see(*bearer, {.pdcp_downlink = number(json, "pdcp_tx_next"),
                         .rlc_downlink = number(json, "rlc_tx_next"),
                         .pdcp_uplink = number(json, "pdcp_rx_next"),
                         .rlc_uplink = number(json, "rlc_rx_next"),
                         .rlc_epoch = static_cast<std::uint8_t>(rlc_am(json, "epoch"))});
    if (rlc_am(json, "failed") != 0) failed.push_back(bearer->id);
  });
  apply(listed && complete ? watch_.finish() : watch_.break_off());
  const Clock::time_point now = Clock::now();
  for (const BearerId id : failed) {
    if (!reestablish_limit_.allows(id, now)) continue;
    log::warn("bearer {:#010x}: RLC AM failed (max_retx reached, or no poll answered); both ends begin anew", id.value);
    (void)reestablish(id);  // the next list has its new epoch
  }
  if (listed && !strange) return {};
  if (!listed) gnb_.reset();
  return tl::unexpected(listed ? *strange : listed.error());
}

void UeSide::apply(const std::vector<ue::BearerChange>& changes) {
  for (std::size_t first = 0; first < changes.size(); first += kChangesAtOnce) {
    const auto begin = changes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kChangesAtOnce, changes.size() - first));
    // What is destroyed is destroyed here, when the worker has let go of it.
    auto arq = std::make_shared<std::vector<std::unique_ptr<datapath::ArqBearer>>>();
    std::vector<ue::BearerChange> some;
    for (auto change = begin; change != end; ++change) {
      some.push_back(*change);
      arq->emplace_back();
      if (begin_acknowledged(some.back(), arq->back())) continue;
      some.pop_back();
      arq->pop_back();
    }
    const bool done = worker_->execute([this, arq, some](ue::UeBearers&) {
      for (std::size_t i = 0; i < some.size(); ++i) (*arq)[i] = worker_->change(some[i], std::move((*arq)[i]));
    });
    if (!done) log::error("the worker does not answer; {} changes of bearers may come late", end - begin);
    for (const auto& change : some) addresses_->follow(change);
  }
}

// Radio link failure of this side's sender.
std::vector<BearerId> UeSide::failed_bearers() {
  auto ids = std::make_shared<std::vector<BearerId>>();
  const bool done = worker_->execute([this, ids](ue::UeBearers&) { *ids = worker_->failed(); });
  return done ? std::move(*ids) : std::vector<BearerId>{};
}

// This control connection plays RRC: the gNB's entities begin anew, with another epoch.
std::optional<std::uint8_t> UeSide::reestablish(BearerId id) {
  const auto answer = gnb_->call("bearer.reestablish", {{"id", id.value}});
  if (answer) return static_cast<std::uint8_t>(number(*answer, "epoch"));
  log::warn("bearer {:#010x} is not re-established: {}; asking again", id.value, answer.error().message);
  return std::nullopt;
}

// The RLC entities of an acknowledged bearer that this side learns of. Where PDUs have passed before, both ends begin
// anew. False: not now; it is seen as new the next time.
bool UeSide::begin_acknowledged(ue::BearerChange& change, std::unique_ptr<datapath::ArqBearer>& arq) {
  if (change.kind != ue::BearerChange::Kind::kEstablish || !change.config.acknowledged) return true;
  if (change.numbers.rlc_downlink != 0 || change.numbers.rlc_uplink != 0) {
    const auto epoch = reestablish(change.config.id);
    if (!epoch) {
      watch_.forget(change.config.id);
      return false;
    }
    change.numbers.rlc_epoch = *epoch;
  }
  arq = worker_->make_arq(change.config, change.numbers.rlc_epoch);
  return true;
}

std::uint64_t UeSide::unknown_bearers() const {
  return worker_->stats().downlink[static_cast<std::size_t>(ue::UeOutcome::bearer_unknown)].get();
}

}  // namespace splitplane::app
