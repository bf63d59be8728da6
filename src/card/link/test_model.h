// For tests only: a card's control server whose card is a model in memory: bearers, numbers, leases, UPFs, and a record
// of every COUNT that it used.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "card/protocol/methods.h"
#include "control/registry.h"

namespace splitplane::app {

class CardModel {
 public:
  struct OnCard {
    nic::CardBearer bearer;
    nic::CardNumbers numbers;
    std::uint32_t lease_end = 0;
  };

  explicit CardModel(std::string boot) : boot_(std::move(boot)) {}

  Expected<nlohmann::json> show_card() {
    return nlohmann::json{{"boot", boot_},
                          {"program", program},
                          {"lookup", lookup},
                          {"features", features},
                          {"punt_n3", 0},
                          {"punt_air", punt_air},
                          {"punts", {{"ip_options", punts.load()}, {"arp", 1}}},
                          {"max_bearers", capacity},
                          {"vfs", vfs}};
  }
  Expected<void> install_on_card(std::span<const nic::CardBearer> bearers, bool restart) {
    {
      const std::lock_guard guard(mutex_);
      for (const auto& b : bearers) {
        if (refuses.contains(b.id.value)) return fail("bearer {}: the card is full; allowed: fewer", b.id.value);
      }
      const auto fresh = std::ranges::count_if(bearers, [&](const auto& b) { return !there_.contains(b.id.value); });
      if (capacity != 0 && there_.size() + static_cast<std::size_t>(fresh) > capacity) {
        ++overflows;
        return fail("the card is full; allowed: {} bearers", capacity);
      }
      for (const auto& b : bearers) {
        const auto [at, is_new] = there_.try_emplace(b.id.value);
        at->second.bearer = b;
        at->second.numbers.epoch = b.epoch;
        const bool comes_from_host =
            !is_new && at->second.numbers.place == nic::Place::kHost && b.place == nic::Place::kCard;
        at->second.numbers.place = b.place;
        if (!is_new && !restart && !comes_from_host) continue;
        at->second.numbers = {.pdcp_next = b.next_count, .rlc_next = b.next_rlc, .epoch = b.epoch, .place = b.place};
        at->second.lease_end = b.next_count + b.lease;
      }
      ++installs;
    }
    pause(slow_installs);
    return {};
  }
  Expected<void> remove_from_card(std::span<const BearerId> ids) {
    const std::lock_guard guard(mutex_);
    for (const BearerId id : ids) {
      if (!there_.contains(id.value)) return fail("bearer {} is not on the card", id.value);
    }
    for (const BearerId id : ids) there_.erase(id.value);
    return {};
  }
  Expected<void> set_card_peer(const nic::CardPeer& peer) {
    const std::lock_guard guard(mutex_);
    for (const auto& [id, on_card] : there_) {
      if (on_card.bearer.peer == peer.number && on_card.bearer.uplink_teid.value != peer.to.octets()[3]) ++to_wrong_upf;
    }
    peers_[peer.number] = peer;
    return {};
  }
  Expected<void> unset_card_peer(unsigned number) {
    const std::lock_guard guard(mutex_);
    peers_.erase(number);
    return {};
  }
  Expected<void> set_marks(const nic::CardMarks& tos) {
    const std::lock_guard guard(mutex_);
    marks_ = tos;
    return {};
  }
  [[nodiscard]] nic::CardMarks marks() const {
    const std::lock_guard guard(mutex_);
    return marks_;
  }
  Expected<void> set_leases(std::span<const nic::CardLease> leases) {
    {
      const std::lock_guard guard(mutex_);
      for (const auto& [id, end] : leases) {
        if (!there_.contains(id.value)) return fail("bearer {} is not on the card", id.value);
      }
      for (const auto& [id, end] : leases) there_.at(id.value).lease_end = end;
    }
    pause(slow_leases);
    return {};
  }
  Expected<void> begin(std::span<const nic::CardBeginning> bearers) {
    {
      const std::lock_guard guard(mutex_);
      if (refused_begins.load() > 0 && refused_begins.fetch_sub(1) > 0) return fail("the card has no memory for that");
      for (const auto& b : bearers) {
        const auto at = there_.find(b.id.value);
        if (at == there_.end() || at->second.bearer.place == nic::Place::kHost)
          return fail("bearer {} is not served by the card", b.id.value);
      }
      for (const auto& b : bearers) {
        OnCard& on_card = there_.at(b.id.value);
        on_card.bearer.next_count = b.next_count;
        on_card.bearer.ahead = 0;
        on_card.bearer.epoch = b.epoch;
        on_card.lease_end = b.lease_end;
        nic::CardNumbers& n = on_card.numbers;
        n.pdcp_next = b.next_count;
        n.rlc_next = b.next_rlc;
        n.epoch = b.epoch;
        n.in_flight -= std::min(n.in_flight, b.settled);
      }
    }
    pause(slow_begins);
    return {};
  }
  // Its fences go where `on_fence` leads them; it remembers the last token.
  Expected<FencedByCard> fence(std::span<const BearerId> ids, std::uint64_t token) {
    return numbers(ids).map([&](std::vector<nic::BearerNumbers> rows) {
      fenced = token;
      if (on_fence) on_fence(ids, token);
      return FencedByCard{1, 1, std::move(rows)};
    });
  }
  Expected<std::vector<nic::BearerNumbers>> numbers(std::span<const BearerId> ids) {
    if (!ids.empty()) looked_at_last = ids.back().value;
    while (hung) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard guard(mutex_);
    std::vector<nic::BearerNumbers> rows;
    for (const BearerId id : ids) {
      if (!there_.contains(id.value) || id.value == vanished) return fail("bearer {} is not on the card", id.value);
      rows.emplace_back(id, numbers_of(there_.at(id.value)));
    }
    return rows;
  }
  Expected<std::vector<nic::BearerNumbers>> numbers_after(std::uint32_t after, std::size_t limit) {
    const std::lock_guard guard(mutex_);
    std::vector<nic::BearerNumbers> rows;
    for (auto at = there_.upper_bound(after); at != there_.end() && rows.size() < limit; ++at)
      rows.emplace_back(BearerId{at->first}, numbers_of(at->second));
    return rows;
  }
  // This must outlive the registry.
  void add_methods(MethodRegistry& registry) {
    const auto calls = [this](auto member) { return std::bind_front(member, this); };
    registry.add("card.show", without_params(calls(&CardModel::show_card)));
    registry.add("card.install", card_install(calls(&CardModel::install_on_card)));
    registry.add("card.remove", card_remove(calls(&CardModel::remove_from_card)));
    registry.add("card.peer", card_peer(calls(&CardModel::set_card_peer)));
    registry.add("card.peer_gone", card_peer_gone(calls(&CardModel::unset_card_peer)));
    registry.add("card.marks", card_marks(calls(&CardModel::set_marks)));
    registry.add("card.lease", card_lease(calls(&CardModel::set_leases)));
    registry.add("card.begin", card_begin(calls(&CardModel::begin)));
    registry.add("card.fence", card_fence(calls(&CardModel::fence)));
    registry.add("card.numbers", card_numbers(calls(&CardModel::numbers), calls(&CardModel::numbers_after)));
  }

  // Up to `n` packets of a bearer get numbers; returns how many its lease allowed.
  unsigned send(std::uint32_t id, unsigned n, std::multiset<std::uint32_t>& used) {
    const std::lock_guard guard(mutex_);
    const auto at = there_.find(id);
    unsigned sent = 0;
    if (at != there_.end() && at->second.bearer.place == nic::Place::kHost) return 0;
    for (; at != there_.end() && sent < n && at->second.numbers.pdcp_next != at->second.lease_end; ++sent) {
      used.insert(at->second.numbers.pdcp_next++);
      ++at->second.numbers.rlc_next;
      ++at->second.numbers.dl_packets;
    }
    return sent;
  }
  // It counts this number of packets of the bearer at the host.
  void set_in_flight(std::uint32_t id, std::uint32_t n) {
    const std::lock_guard guard(mutex_);
    there_.at(id).numbers.in_flight = n;
  }
  // From now on it refuses this bearer only; 0: none.
  void refuse(std::uint32_t id) {
    const std::lock_guard guard(mutex_);
    refuses = {id};
  }
  [[nodiscard]] std::optional<OnCard> find(std::uint32_t id) const {
    const std::lock_guard guard(mutex_);
    const auto at = there_.find(id);
    return at == there_.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return there_.size();
  }
  [[nodiscard]] std::optional<nic::CardPeer> peer(unsigned number) const {
    const std::lock_guard guard(mutex_);
    const auto at = peers_.find(number);
    return at == peers_.end() ? std::nullopt : std::optional(at->second);
  }

  std::atomic<unsigned> to_wrong_upf{0};  // in tests whose uplink TEIDs are the last octets of their UPFs
  std::atomic<unsigned> overflows{0};     // installations for which it had no room
  std::size_t capacity = 0;               // bearers that it has room for; 0: any number, and it says none
  std::set<std::uint32_t> refuses;        // this and those up to `on_fence` are set before the server runs
  std::string program = "gnb-clone", lookup = "teid", features = "clone";
  unsigned punt_air = 1;
  std::vector<std::string> vfs{"vf-n3", "vf-air", "vf-copies"};
  std::function<void(std::span<const BearerId> ids, std::uint64_t token)> on_fence;
  std::atomic<bool> hung{false};                 // answers nothing, and its sockets stay open
  std::atomic<std::uint32_t> looked_at_last{0};  // of those whose numbers were asked for last
  std::atomic<std::uint32_t> vanished{0};        // has no numbers, as if it had been removed just before
  std::atomic<unsigned> punts{0};
  std::atomic<int> installs{0};
  std::atomic<int> slow_installs{0}, slow_leases{0}, slow_begins{0};  // how many it executes but answers too late
  std::atomic<int> refused_begins{0};                                 // how many it refuses
  std::atomic<std::uint64_t> fenced{0};                               // the token of the last fence

 private:
  static nic::CardNumbers numbers_of(const OnCard& on_card) {
    nic::CardNumbers numbers = on_card.numbers;
    numbers.ahead = numbers.pdcp_next == on_card.bearer.next_count ? on_card.bearer.ahead : 0;
    numbers.lease_end = on_card.lease_end;
    return numbers;
  }
  static void pause(std::atomic<int>& left) {
    if (left.load() > 0 && left.fetch_sub(1) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }

  const std::string boot_;
  nic::CardMarks marks_{};
  mutable std::mutex mutex_;
  std::map<std::uint32_t, OnCard> there_;
  std::map<unsigned, nic::CardPeer> peers_;
};

}  // namespace splitplane::app
