#include "card/link/link.h"

#include <algorithm>

#include "base/log.h"
#include "card/link/fit.h"
#include "card/protocol/request.h"

namespace splitplane::app {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t kNumbersPage = 1000;
constexpr std::size_t kInstallBatch = kCardBearersPerRequest;
constexpr std::size_t kInstallMembers = 2000;  // a request line has at most 64 KiB, a member about 25 octets
constexpr std::size_t kIdBatch = 500;
constexpr std::chrono::milliseconds kClonesArrive{5};

}  // namespace

CardLink::CardLink(CardLinkSettings settings) : settings_(std::move(settings)) {
  view_.name = settings_.name;
  view_.control = settings_.control;
  view_.reason = "not asked yet";
}

CardLink::~CardLink() {
  end();
}

void CardLink::end() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  done_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CardLink::begin() {
  thread_ = std::thread([this] { serve(); });
}

// Waits for the card: not if it is away or silent, and not for ever if it is busy.
template <class Done>
void CardLink::wait_for_card(Lock& lock, Clock::time_point end, Done done) {
  while (up_ && !stop_ && !done() && !silent() && Clock::now() < end) done_.wait_for(lock, settings_.patience / 5);
}

bool CardLink::silent() const {
  return asking_since_ && Clock::now() - *asking_since_ >= settings_.patience;
}

CardLink::Asked CardLink::put(std::span<const nic::CardBearer> bearers) {
  const std::lock_guard guard(mutex_);
  Asked asked;
  for (const nic::CardBearer& b : bearers) asked.emplace_back(b.id.value, bearers_.put(b, LinkBearers::Caller::kWaits));
  changed_.notify_all();
  return asked;
}

void CardLink::put_soon(const nic::CardBearer& bearer) {
  const std::lock_guard guard(mutex_);
  (void)bearers_.put(bearer, LinkBearers::Caller::kGoesOn);
  changed_.notify_all();
}

CardLink::Asked CardLink::remove(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  Asked asked;
  for (const BearerId id : ids) {
    asked.emplace_back(id.value, LinkBearers::kRemoval);
    bearers_.remove(id.value);
  }
  changed_.notify_all();
  return asked;
}

Expected<void> CardLink::wait_for(const Asked& asked, Clock::time_point since) {
  Lock lock(mutex_);
  wait_for_card(lock, since + settings_.longest, [&] {
    return std::ranges::all_of(asked, [&](const auto& a) { return bearers_.is_done(a.first, a.second); });
  });
  Expected<void> result;
  for (const auto& [id, version] : asked) {
    const std::string refused = bearers_.take_refusal(id, version);
    if (result && !refused.empty()) result = fail("card {}: {}", settings_.name, refused);
  }
  return result;
}

void CardLink::set_cut_off(const std::string& why) {
  const std::lock_guard guard(mutex_);
  if (why == cut_off_) return;
  if (cut_off_.empty()) cut_off_said_next_ = Clock::now() + settings_.cut_off_after;
  cut_off_ = why;
  changed_.notify_all();
}

void CardLink::set_peer(const nic::CardPeer& peer) {
  const std::lock_guard guard(mutex_);
  peers_.set(peer);
  changed_.notify_all();
}

void CardLink::unset_peer(unsigned number) {
  const std::lock_guard guard(mutex_);
  peers_.unset(number);
  changed_.notify_all();
}

void CardLink::request(std::span<const CardRequest> requests) {
  const std::lock_guard guard(mutex_);
  for (const CardRequest& request : requests) bearers_.request(request);
  changed_.notify_all();
}

// A request that is under way may be about one of the bearers, so it ends first.
Expected<std::uint64_t> CardLink::begin_move(std::span<const BearerId> ids) {
  Lock lock(mutex_);
  wait_for_card(lock, Clock::now() + settings_.patience, [&] { return !asking_since_; });
  if (!up_ || !cut_off_.empty() || stop_) return fail("card {} is {}", settings_.name, client_ ? "cut off" : "away");
  if (asking_since_) return fail("card {} is busy", settings_.name);
  const std::uint64_t run = view_.connects;
  if (const auto obstacle = bearers_.begin_move(ids)) {
    changed_.notify_all();
    if (obstacle->is_full)
      return fail("card {} is full: it serves all bearers that it has entries for", settings_.name);
    return fail("card {} has not taken a change of bearer {:#010x} yet", settings_.name, obstacle->id);
  }
  // What makes room for absent ones goes first.
  const auto going = bearers_.removals(bearers_.size());
  const auto gone = [&] { return std::ranges::none_of(going, [&](auto id) { return bearers_.is_removal(id); }); };
  changed_.notify_all();
  wait_for_card(lock, Clock::now() + settings_.patience, gone);
  const bool same_run = up_ && cut_off_.empty() && !stop_ && view_.connects == run;
  if (same_run && gone()) return run;
  for (const BearerId id : ids) bearers_.give_up_move(id.value);
  changed_.notify_all();
  if (same_run) return fail("card {} does not make room", settings_.name);
  return fail("card {} is {}", settings_.name, client_ ? "cut off" : "away");
}

void CardLink::give_up_move(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  for (const BearerId id : ids) bearers_.give_up_move(id.value);
  changed_.notify_all();
}

LinkBearers::Served CardLink::served(BearerId id, const nic::CardNumbers& numbers) const {
  const std::lock_guard guard(mutex_);
  return bearers_.served(id.value, numbers);
}

std::uint32_t CardLink::visit_served(
    std::uint32_t after, std::size_t limit,
    const std::function<void(std::uint32_t id, const LinkBearers::Served&)>& visit) const {
  const std::lock_guard guard(mutex_);
  return bearers_.visit_served(after, limit, visit);
}

Expected<CardLink::Asked> CardLink::moved_away(std::uint64_t run, std::span<const nic::CardBearer> wants) {
  const std::lock_guard guard(mutex_);
  if (run != view_.connects || !client_) return fail("card {} was away meanwhile", settings_.name);
  Asked asked;
  for (const nic::CardBearer& want : wants) {
    bearers_.moved_away(want);
    asked.emplace_back(want.id.value, bearers_.find(want.id.value)->version);
  }
  changed_.notify_all();
  return asked;
}

Expected<void> CardLink::moved_here(std::uint64_t run, std::span<const Arrival> all) {
  const std::lock_guard guard(mutex_);
  if (run != view_.connects || !client_) return fail("card {} was away meanwhile", settings_.name);
  for (const Arrival& one : all) {
    bearers_.moved_here(one.want, one.beginning, one.before, one.numbers, Clock::now());
  }
  changed_.notify_all();
  return {};
}

void CardLink::arrived(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  for (const BearerId id : ids) bearers_.arrived(id.value, Clock::now());
  changed_.notify_all();
}

// The bearers among `ids` that the card has, as far as this host knows, and which run of the card that is.
Json CardLink::confirmed(std::span<const BearerId> ids, std::uint64_t& run) const {
  const std::lock_guard guard(mutex_);
  run = view_.connects;
  Json found = Json::array();
  for (const BearerId id : ids) {
    const auto* const entry = bearers_.find(id.value);
    if (up_ && !silent() && entry != nullptr && entry->confirmed) found.push_back(id.value);
  }
  return found;
}

// On a separate connection, because the thread's is busy while bearers are installed.
Expected<std::vector<CardNumbersRow>> CardLink::read_numbers(const Json& ids, Clock::time_point end) {
  const auto left = [end] { return std::max(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()), 1ms); };
  if (!reader_) {
    auto client = ControlClient::connect(settings_.control, left());
    if (!client) return tl::unexpected(client.error());
    reader_.emplace(*std::move(client));
  }
  reader_->wait_no_longer_than(left());
  auto rows = reader_->call("card.numbers", {{"ids", ids}}).and_then(numbers_from_json);
  if (!rows) reader_.reset();
  return rows;
}

// Takes at most `patience`, and does not ask again at once after an unanswered request. It retries if the connection
// led to an earlier run of the card, or if a bearer was removed from the card meanwhile.
std::vector<CardBearerView> CardLink::look(std::span<const BearerId> ids) {
  const std::lock_guard reading(reader_mutex_);
  const auto begin = Clock::now(), end = begin + settings_.patience;
  std::uint64_t run = 0;
  std::vector<CardNumbersRow> rows;
  for (int attempt = 0; attempt < 3 && begin >= reader_rests_; ++attempt) {
    const Json asked = confirmed(ids, run);
    if (asked.empty()) break;
    if (auto read = read_numbers(asked, end)) {
      rows = *std::move(read);
      break;
    }
    if (Clock::now() < end) continue;
    reader_rests_ = Clock::now() + 4 * settings_.patience;
    break;
  }
  std::vector<CardBearerView> views;
  const std::lock_guard guard(mutex_);
  // Only the thread gives the bearers new numbers, because they compute rates from them.
  std::map<std::uint32_t, nic::CardNumbers> fresh;
  if (run == view_.connects) {
    for (const CardNumbersRow& row : rows) fresh.emplace(row.id.value, row.numbers);
  }
  for (const BearerId id : ids) {
    const auto* const entry = bearers_.find(id.value);
    CardBearerView& view = views.emplace_back();
    if (entry == nullptr) continue;
    const auto now = fresh.find(id.value);
    view = {up_ && entry->confirmed, entry->want.epoch, entry->lease_end,
            now == fresh.end() ? entry->seen : now->second};
    view.numbers.dl_packets += entry->dl_packets;
    view.numbers.ul_packets += entry->ul_packets;
    view.numbers.dl_octets += entry->dl_octets;
    view.numbers.ul_octets += entry->ul_octets;
  }
  return views;
}

CardLinkView CardLink::view() const {
  const std::lock_guard guard(mutex_);
  CardLinkView view = view_;
  view.up = up_ && cut_off_.empty();
  view.filled = view.up && !announce_;
  view.cut_off = client_ && !cut_off_.empty();
  if (view.cut_off) view.reason = cut_off_;
  view.bearers = bearers_.size();
  const LinkBearers::Counts& counts = bearers_.counts();
  view.serves = static_cast<std::uint32_t>(bearers_.size() - counts.of_host);
  view.fixed = counts.fixed;
  view.absent = counts.absent;
  view.waiting = bearers_.size() - view.absent - (view.up ? counts.confirmed : 0);
  return view;
}

CardLink::Clock::time_point CardLink::next_turn() const {
  if (bearers_.has_requests() || bearers_.has_leases_to_tell()) return Clock::now();
  return std::min(next_show_, bearers_.next_look().value_or(next_show_));
}

void CardLink::serve() {
  Lock lock(mutex_);
  while (!stop_) {
    const auto now = Clock::now();
    if (!client_ && now < next_attempt_) {
      changed_.wait_until(lock, next_attempt_, [&] { return stop_; });
      continue;
    }
    Expected<void> done = client_ ? Expected<void>{} : connect(lock);
    if (done && !cut_off_.empty()) {
      if (done = stay_cut_off(lock); !done) lose(done.error());
      continue;
    }
    if (done && !up_) done = fill(lock);
    if (done) done = push(lock);
    if (done) done = renew(lock);
    if (done) done = look_at_counters(lock);
    if (!done) {
      lose(done.error());
      continue;
    }
    announce();
    changed_.wait_until(lock, next_turn(), [&] {
      return stop_ || has_work() || bearers_.has_requests() || bearers_.has_leases_to_tell() || !cut_off_.empty();
    });
  }
}

// The journal writes without the lock.
Expected<void> CardLink::enter_in_journal(Lock& lock, std::span<const CardNumbering> numberings) {
  if (!settings_.journal || numberings.empty()) return {};
  lock.unlock();
  auto entered = settings_.journal(numberings);
  lock.lock();
  return entered;
}

// The workers are told without the lock.
void CardLink::notify(Lock& lock, std::span<const CardNotice> notices) {
  if (!settings_.notify || notices.empty()) return;
  lock.unlock();
  settings_.notify(notices);
  lock.lock();
}

// Makes the request without the lock. If a request fails but the card then answers a ping, the card has refused the
// request.
Expected<Json> CardLink::ask(Lock& lock, const std::string& method, const Json& params) {
  asking_since_ = Clock::now();
  lock.unlock();
  auto answer = client_->call(method, params);
  const bool late = Clock::now() - *asking_since_ >= settings_.answer;
  const bool refused = !answer && !late && client_->call("ping").has_value();
  lock.lock();
  asking_since_.reset();
  done_.notify_all();
  refusal_ = refused;
  if (!answer) ++view_.failures;
  return answer;
}

Expected<void> CardLink::connect(Lock& lock) {
  lock.unlock();
  auto client = ControlClient::connect(settings_.control, settings_.answer);
  lock.lock();
  if (!client) return tl::unexpected(client.error());
  client_.emplace(*std::move(client));
  const auto show = ask(lock, "card.show", Json::object());
  if (!show) return tl::unexpected(show.error());
  const CardShow card = read_show(*show);
  if (auto fit = fits_host(card, settings_); !fit) return fit;
  const bool restarted = !view_.boot.empty() && card.boot != view_.boot;
  if (restarted) {
    ++view_.restarts;
    punted_ = 0;
    peers_.begin_anew();
    bearers_.begin_anew();
  }
  ++view_.connects;
  view_.boot = card.boot;
  view_.capacity = card.max_bearers;
  // A bearer without an entry keeps its order, because its packets come to the same queue as with one.
  const bool same_queues =
      settings_.punts_to_owner && card.punt_n3 == settings_.punt_n3 && card.punt_air == settings_.punt_air;
  bearers_.set_room(same_queues ? card.max_bearers : 0);
  view_.program = card.program;
  take_counters(*show);
  for (const auto& warning : punt_warnings(card, settings_)) log::warn("{}", warning);
  const auto marked = ask(lock, "card.marks", {{"tos", settings_.marks}});
  if (!marked) return tl::unexpected(marked.error());
  return {};
}

// Compares the card's bearers with the desired ones, after a connection or when the card is no longer cut off.
Expected<void> CardLink::fill(Lock& lock) {
  peers_.send_all();
  if (auto compared = compare(lock); !compared) return compared;
  up_ = announce_ = true;
  return {};
}

// Waits until the next look, or until packets pass again.
Expected<void> CardLink::stay_cut_off(Lock& lock) {
  if (std::exchange(up_, false)) done_.notify_all();
  // The card's bearers stay in use: a card forwards without its host.
  if (auto renewed = renew(lock); !renewed) return renewed;
  if (auto there = look_at_counters(lock); !there) return there;
  if (!cut_off_.empty() && Clock::now() >= cut_off_said_next_) {
    cut_off_said_next_ = Clock::now() + settings_.cut_off_each;
    log::warn("card {} is cut off: {}; nothing is installed on it or taken off it until then, and its {} bearers wait",
              settings_.name, cut_off_, bearers_.size());
  }
  changed_.wait_until(lock, next_turn(), [&] { return stop_ || cut_off_.empty(); });
  return {};
}

// Finds bearers that the card should not have, and those that it lacks.
Expected<void> CardLink::compare(Lock& lock) {
  std::set<std::uint32_t> on_card;
  bool adopted = false;
  for (std::uint32_t after = 0;;) {
    const auto answer =
        ask(lock, "card.numbers", {{"after", after}, {"limit", kNumbersPage}}).and_then(numbers_from_json);
    if (!answer) return tl::unexpected(answer.error());
    const auto now = Clock::now();
    Json leases = Json::array();
    for (const CardNumbersRow& row : *answer) {
      on_card.insert(row.id.value);
      after = std::max(after, row.id.value);
      const auto found = bearers_.found_on_card(row, now);
      adopted = adopted || found.adopted;
      if (found.lease) leases.push_back({row.id.value, *found.lease});
    }
    // Leases that count as given are sent again, because the card may not have executed the first request.
    if (!leases.empty()) {
      const auto told = ask(lock, "card.lease", {{"leases", leases}});
      if (!told) return tl::unexpected(told.error());
    }
    if (answer->size() < kNumbersPage) break;
  }
  if (adopted) peers_.unset_all_first();  // the earlier host had its own numbers of UPFs
  bearers_.compared(on_card);
  return {};
}

void CardLink::lose(const Error& why) {
  client_.reset();
  up_ = false;
  view_.reason = why.message;
  next_attempt_ = Clock::now() + settings_.retry;
  done_.notify_all();
  if (said_away_) return;
  said_away_ = true;
  log::warn("card {} is away: {}; its {} bearers wait for it", settings_.name, why.message, bearers_.size());
}

// Called once the card has everything.
void CardLink::announce() {
  done_.notify_all();
  if (!announce_) return;
  announce_ = said_away_ = false;
  view_.reason.clear();
  log::info("card {} is up ({}): it has {} bearers{}", settings_.name, view_.program, bearers_.size(),
            view_.restarts == 0 ? "" : fmt::format(", run {} of it that this host sees", view_.restarts + 1));
}

Expected<void> CardLink::push(Lock& lock) {
  Expected<void> done;
  while (done && !stop_ && has_work()) {
    done = push_removals(lock);
    if (done) done = push_peers(lock);
    if (done) done = push_bearers(lock);
    if (done) done = push_peers(lock);
  }
  return done;
}

Expected<void> CardLink::push_removals(Lock& lock) {
  while (bearers_.has_removals()) {
    if (const auto unsure = bearers_.unsure_removal()) {
      const auto next = ask(lock, "card.numbers", {{"after", *unsure - 1}, {"limit", 1}}).and_then(numbers_from_json);
      if (!next) return tl::unexpected(next.error());
      bearers_.found_removal(*unsure, !next->empty() && next->front().id.value == *unsure);
      done_.notify_all();
      continue;
    }
    const auto ids = bearers_.removals(kIdBatch);
    const auto answer = ask(lock, "card.remove", {{"ids", ids}});
    if (!answer) return tl::unexpected(answer.error());  // the card's state is compared anew then
    view_.removed += ids.size();
    bearers_.removed(ids);
    done_.notify_all();
  }
  return {};
}

Expected<void> CardLink::push_peers(Lock& lock) {
  while (const auto request = peers_.next(!bearers_.has_dirty() && !bearers_.has_removals())) {
    const auto answer = request->peer ? ask(lock, "card.peer", to_json(*request->peer))
                                      : ask(lock, "card.peer_gone", {{"number", request->number}});
    if (answer) continue;
    peers_.failed(*request);
    return tl::unexpected(answer.error());
  }
  return {};
}

Expected<void> CardLink::push_bearers(Lock& lock) {
  while (bearers_.has_dirty() && !bearers_.has_removals()) {
    const auto ids = bearers_.dirty(kInstallBatch);
    if (auto done = install(lock, ids); done) {
      // Installing many bearers takes long, and bearers that are on the card are in use.
      if (auto renewed = renew(lock); !renewed) return renewed;
      continue;
    } else if (!refusal_) {
      return done;
    }
    // The card refused all or nothing. One by one shows which bearers it refuses.
    for (const std::uint32_t id : ids) {
      if (!bearers_.is_dirty(id) || bearers_.is_removal(id)) continue;  // refused here, or to be removed first
      const std::uint64_t version = bearers_.find(id)->version;
      const auto one = install(lock, {id});
      if (one) continue;
      if (!refusal_) return tl::unexpected(one.error());
      const auto* const entry = bearers_.find(id);
      if (entry == nullptr || entry->version != version) continue;  // removed or put anew meanwhile
      refuse(id, one.error().message);
    }
    done_.notify_all();
  }
  return {};
}

void CardLink::refuse(std::uint32_t id, const std::string& why) {
  ++view_.refused;
  const bool off = bearers_.refuse(id, why);
  log::warn("card {} does not take bearer {:#010x}{}: {}", settings_.name, id, off ? ", which goes off it" : "", why);
}

// RLC of bearers whose workers keep copies begins anew there before it does on the card. Clones of what the card sent
// before are on their way to the worker: they get a moment. A bearer whose worker does not answer comes again later.
void CardLink::begin_at_workers(Lock& lock, const LinkBearers::Ids& ids) {
  const auto all = bearers_.to_begin(ids);
  if (all.empty() || !settings_.begin) return;
  lock.unlock();
  std::this_thread::sleep_for(kClonesArrive);
  std::vector<std::optional<CardLinkSettings::KeptWindow>> begun(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto kept = settings_.begin(all[i].id, all[i].epoch);
    if (!kept) break;  // one that hangs is asked once
    begun[i] = *kept;
  }
  lock.lock();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (begun[i]) {
      bearers_.begun(all[i], *begun[i]);
    } else {
      bearers_.postpone(all[i].id.value);
    }
  }
}

std::optional<unsigned> CardLink::peer_of(BearerId id) const {
  const std::lock_guard guard(mutex_);
  return bearers_.peer_of(id.value);
}

CardLink::Asked CardLink::restart(BearerId id) {
  const std::lock_guard guard(mutex_);
  Asked asked;
  if (const auto version = bearers_.restart(id.value); version != 0) asked.emplace_back(id.value, version);
  changed_.notify_all();
  return asked;
}

Expected<void> CardLink::install(Lock& lock, const LinkBearers::Ids& ids) {
  Json bearers = Json::array();
  std::optional<nic::CardBearer> common;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> versions;
  std::vector<CardNumbering> numberings;
  std::vector<CardNotice> revoked;
  std::size_t members = 0;
  begin_at_workers(lock, ids);
  for (const std::uint32_t id : ids) {
    if (!bearers_.can_prepare(id)) continue;
    if (members > kInstallMembers) break;  // the rest stays dirty
    const auto prepared = bearers_.prepare(id);
    if (!prepared) refuse(id, prepared.error().message);
    if (!prepared || !*prepared) continue;
    const auto& [bearer, version, numbering] = **prepared;
    if (numbering) numberings.push_back(*numbering);
    // A bearer that is on the card keeps its numbers and its lease.
    if (!bearers_.find(id)->confirmed && bearers_.take_granted(id))
      revoked.push_back({CardNotice::Kind::kRevoke, {.answers = {.id = BearerId{id}}}});
    versions.emplace_back(id, version);
    if (!common) common = bearer;
    members += bearers.emplace_back(to_json(bearer, *common)).size();
  }
  if (bearers.empty()) {
    done_.notify_all();  // some may be absent
    lock.unlock();       // of many such batches none asks the card, which would let others have a turn
    lock.lock();
    return {};
  }
  if (auto entered = enter_in_journal(lock, numberings); !entered) return entered;
  notify(lock, revoked);
  const auto answer = ask(lock, "card.install", {{"common", common_to_json(*common)}, {"bearers", bearers}});
  if (!answer) return tl::unexpected(answer.error());
  view_.installed += bearers.size();
  const auto now = Clock::now();
  for (const auto& [id, version] : versions) bearers_.installed(id, version, now);
  done_.notify_all();
  return {};
}

Expected<void> CardLink::tell_leases(Lock& lock) {
  Json leases = Json::array();
  for (const auto& [id, end] : bearers_.take_leases_to_tell()) leases.push_back({id.value, end});
  if (leases.empty()) return {};
  const auto told = ask(lock, "card.lease", {{"leases", leases}});
  if (!told) return tl::unexpected(told.error());
  return {};
}

Expected<void> CardLink::renew(Lock& lock) {
  if (auto told = tell_leases(lock); !told) return told;
  const auto ids = bearers_.due(Clock::now(), kIdBatch);
  if (ids.empty()) return {};
  const auto rows = ask(lock, "card.numbers", {{"ids", ids}}).and_then(numbers_from_json);
  if (!rows) return tl::unexpected(rows.error());
  const auto now = Clock::now();
  if (auto done = lengthen(lock, *rows, now); !done) return done;
  // After the card has the leases, because the workers count on them.
  notify(lock, bearers_.notices(*rows, settings_, now));
  return {};
}

Expected<void> CardLink::lengthen(Lock& lock, std::span<const CardNumbersRow> rows, Clock::time_point now) {
  LinkBearers::Windows windows;
  if (const auto keepers = bearers_.keepers(rows); !keepers.empty() && settings_.windows) {
    lock.unlock();
    const auto known = settings_.windows(keepers);
    lock.lock();
    for (std::size_t i = 0; i < keepers.size(); ++i) {
      if (known[i]) windows.emplace(keepers[i].value, *known[i]);
    }
  }
  const auto renewals = bearers_.renewals(rows, windows, now);
  std::vector<CardNumbering> numberings;
  for (const auto& renewal : renewals) numberings.push_back(renewal.numbering);
  // The disk may be full. Then the card goes on to the ends that it knows.
  if (!enter_in_journal(lock, numberings)) return {};
  Json leases = Json::array();
  for (const auto& renewal : renewals) {
    if (bearers_.renew(renewal, now)) leases.push_back({renewal.numbering.id.value, renewal.numbering.lease_end});
  }
  if (leases.empty()) return {};
  const auto given = ask(lock, "card.lease", {{"leases", leases}});
  if (!given) return tl::unexpected(given.error());
  view_.leases_renewed += leases.size();
  return {};
}

// Also shows whether a card without bearers still answers.
Expected<void> CardLink::look_at_counters(Lock& lock) {
  if (Clock::now() < next_show_) return {};
  const auto show = ask(lock, "card.show", Json::object());
  if (!show) return tl::unexpected(show.error());
  take_counters(*show);
  return {};
}

void CardLink::take_counters(const Json& show) {
  bearers_.resume();
  next_show_ = Clock::now() + settings_.show_each;
  if (const auto punted = punts_shown(show)) view_.punted += *punted - std::exchange(punted_, *punted);
}

}  // namespace splitplane::app
