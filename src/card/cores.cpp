#include "card/cores.h"

#include <algorithm>

namespace splitplane::nic {

using Use = std::function<Expected<void>(unsigned core, Card&)>;

Expected<void> CardCores::on(unsigned core, const Use& use) {
  Expected<void> result = count() == 1 ? fail("card {} does not answer", settings().name)
                                       : fail("core {} of card {} does not answer", core, settings().name);
  (void)execute_(core, [&] { result = use(core, *cards_[core]); });
  return result;
}

Expected<void> CardCores::on_each(const Use& use) {
  for (unsigned core = 0; core < count(); ++core) {
    if (auto done = on(core, use); !done) return done;
  }
  return {};
}

Expected<void> CardCores::all_answer() {
  return on_each([](unsigned, Card&) { return Expected<void>{}; });
}

// A host bearer has its downlink entry on the core of its TEID, and its uplink entry on the core of its identity. If
// these are two cores, all cores get both entries, so that no entry is left over when the TEID changes.
Expected<std::vector<std::vector<CardBearer>>> CardCores::by_core(std::span<const CardBearer> bearers) const {
  std::vector<std::vector<CardBearer>> of(count());
  for (const CardBearer& b : bearers) {
    if (has_one_core(b, count())) {
      of[core_of(b.id.value, count())].push_back(b);
      continue;
    }
    if (b.place != Place::kHost) {
      return fail(
          "bearer {}: its TEID {} leads to another core of card {} than its identity; allowed: the same number "
          "for both, or place host",
          b.id.value, b.teid.value, settings().name);
    }
    for (auto& core : of) core.push_back(b);
  }
  return of;
}

Expected<void> CardCores::install(std::span<const CardBearer> bearers, bool restart) {
  if (count() == 1) return on(0, [&](unsigned, Card& card) { return card.install(bearers, restart); });
  const auto of = by_core(bearers);
  if (!of) return tl::unexpected(of.error());
  std::size_t all = 0;
  auto done = on_each([&](unsigned core, Card& card) -> Expected<void> {
    const auto would = card.would_install((*of)[core]);
    if (!would) return tl::unexpected(would.error());
    all += card.bearer_count() + *would;
    return {};
  });
  if (!done) return done;
  if (all > settings().capacity)
    return fail("card {} would be full; allowed: {} bearers", settings().name, settings().capacity);
  return on_each([&](unsigned core, Card& card) -> Expected<void> {
    if (auto installed = card.install((*of)[core], restart); !installed) return installed;
    std::vector<BearerId> left;  // bearers of the host that were on all cores, because their TEIDs led to other cores
    for (const CardBearer& b : bearers) {
      if (card.find(b.id) != nullptr && has_one_core(b, count()) && core_of(b.id.value, count()) != core)
        left.push_back(b.id);
    }
    return card.remove(left);
  });
}

Expected<void> CardCores::remove(std::span<const BearerId> ids) {
  if (count() == 1) return on(0, [&](unsigned, Card& card) { return card.remove(ids); });
  const auto known_to = [&](unsigned core, const Card& card, bool own) {
    std::vector<BearerId> known;
    for (const BearerId id : ids) {
      const bool is_own = core_of(id.value, count()) == core;
      if (own ? is_own : is_own || card.find(id) != nullptr) known.push_back(id);
    }
    return known;
  };
  auto can = on_each([&](unsigned core, Card& card) { return card.can_remove(known_to(core, card, true)); });
  if (!can) return can;
  return on_each([&](unsigned core, Card& card) { return card.remove(known_to(core, card, false)); });
}

// Every core refuses the same peers, so the first refusal is enough.
Expected<void> CardCores::set_peer(const CardPeer& peer) {
  if (auto there = all_answer(); !there) return there;
  return on_each([&](unsigned, Card& card) { return card.set_peer(peer); });
}

Expected<void> CardCores::unset_peer(unsigned number) {
  if (auto there = all_answer(); !there) return there;
  return on_each([&](unsigned, Card& card) -> Expected<void> {
    card.unset_peer(number);
    return {};
  });
}

Expected<void> CardCores::set_marks(const CardMarks& tos) {
  if (auto there = all_answer(); !there) return there;
  return on_each([&](unsigned, Card& card) { return card.set_marks(tos); });
}

// Between the two steps packets use COUNTs of the present leases, so a lease that is extended is still accepted in the
// second step. A shortened lease may be refused there: its bearer has passed the new end, and the leases of other cores
// are set.
Expected<void> CardCores::set_leases(std::span<const CardLease> leases) {
  std::vector<std::vector<CardLease>> of(count());
  for (const CardLease& lease : leases) of[core_of(lease.first.value, count())].push_back(lease);
  if (count() > 1) {
    auto can = on_each([&](unsigned core, Card& card) { return card.can_lease(of[core]); });
    if (!can) return can;
  }
  return on_each([&](unsigned core, Card& card) { return card.set_leases(of[core]); });
}

Expected<void> CardCores::begin(std::span<const CardBeginning> bearers) {
  std::vector<std::vector<CardBeginning>> of(count());
  for (const CardBeginning& b : bearers) of[core_of(b.id.value, count())].push_back(b);
  return on_each([&](unsigned core, Card& card) { return card.begin(of[core]); });
}

Expected<CardCores::Fenced> CardCores::fence(std::span<const BearerId> ids, std::uint64_t token, rte_mempool* pool) {
  Fenced all{.fences = {}, .numbers = std::vector<BearerNumbers>(ids.size())};
  auto done = on_each([&](unsigned core, Card& card) -> Expected<void> {
    std::vector<BearerId> own;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (core_of(ids[i].value, count()) != core) continue;
      own.push_back(ids[i]);
      const auto numbers = card.numbers(ids[i]);
      if (!numbers) return tl::unexpected(numbers.error());
      all.numbers[i] = {ids[i], *numbers};
    }
    if (own.empty()) return {};
    const auto sent = card.fence(own, token, pool);
    if (!sent) return tl::unexpected(sent.error());
    all.fences.n3 += sent->n3;
    all.fences.copies += sent->copies;
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return all;
}

Expected<std::vector<BearerNumbers>> CardCores::numbers(std::span<const BearerId> ids) {
  std::vector<BearerNumbers> rows(ids.size());
  auto done = on_each([&](unsigned core, Card& card) -> Expected<void> {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (core_of(ids[i].value, count()) != core) continue;
      const auto numbers = card.numbers(ids[i]);
      if (!numbers) return tl::unexpected(numbers.error());
      rows[i] = {ids[i], *numbers};
    }
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  return rows;
}

Expected<std::vector<BearerNumbers>> CardCores::numbers_after(std::uint32_t after, std::size_t limit) {
  std::vector<BearerNumbers> rows;
  auto done = on_each([&](unsigned, Card& card) -> Expected<void> {
    const auto more = card.numbers_after(after, limit);
    rows.insert(rows.end(), more.begin(), more.end());
    return {};
  });
  if (!done) return tl::unexpected(done.error());
  std::ranges::sort(rows, {}, [](const BearerNumbers& row) { return row.first.value; });
  rows.resize(std::min(rows.size(), limit));
  return rows;
}

void add(CardCounters& all, const CardCounters& more) {
  all.ports.resize(std::max(all.ports.size(), more.ports.size()));
  for (std::size_t port = 0; port < more.ports.size(); ++port) {
    all.ports[port].in += more.ports[port].in;
    all.ports[port].out += more.ports[port].out;
    all.ports[port].clones += more.ports[port].clones;
    all.ports[port].tx_full += more.ports[port].tx_full;
  }
  for (std::size_t i = 0; i < kPuntReasonCount; ++i) all.punts[i] += more.punts[i];
  for (std::size_t i = 0; i < kCardDropCount; ++i) all.drops[i] += more.drops[i];
  all.dropped += more.dropped;
  all.tx_full += more.tx_full;
  all.rlc_control += more.rlc_control;
  all.clones += more.clones;
  all.clones_sunk += more.clones_sunk;
  all.clones_failed += more.clones_failed;
  all.fences += more.fences;
  all.reasons_add_up = all.reasons_add_up && more.reasons_add_up;
  all.held += more.held;
}

}  // namespace splitplane::nic
