// All cores of a card as the control plane sees them: one card. Each core has tables and registers of its own and is
// asked on its own thread; what concerns several is checked on all of them before it is done on any. A core that falls
// silent between the two leaves the others changed: the error names it, and the same request again makes it whole.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "card/core.h"

namespace splitplane::nic {

class CardCores {
 public:
  // Runs the command on the thread of the core; false: it does not answer, and never runs it.
  using Execute = std::function<bool(unsigned core, const std::function<void()>& command)>;

  CardCores(std::vector<Card*> cards, Execute execute) : cards_(std::move(cards)), execute_(std::move(execute)) {}

  // All or none, as Card's. A bearer whose identity and TEID lead to different cores can only be the host's.
  Expected<void> install(std::span<const CardBearer> bearers, bool restart);
  Expected<void> remove(std::span<const BearerId> ids);
  Expected<void> set_peer(const CardPeer& peer);
  Expected<void> unset_peer(unsigned number);
  Expected<void> set_leases(std::span<const CardLease> leases);
  [[nodiscard]] Expected<std::vector<BearerNumbers>> numbers(std::span<const BearerId> ids);
  [[nodiscard]] Expected<std::vector<BearerNumbers>> numbers_after(std::uint32_t after, std::size_t limit);

  // Whether each of them looks at what it is asked.
  Expected<void> all_answer();
  // `use` with each core's card in turn, on its thread; the first error ends it.
  Expected<void> on_each(const std::function<Expected<void>(unsigned core, Card&)>& use);

 private:
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(cards_.size()); }
  [[nodiscard]] const CardSettings& settings() const { return cards_.front()->settings(); }
  Expected<void> on(unsigned core, const std::function<Expected<void>(unsigned core, Card&)>& use);
  Expected<std::vector<std::vector<CardBearer>>> by_core(std::span<const CardBearer> bearers) const;

  std::vector<Card*> cards_;
  Execute execute_;
};

// What `more` counted beside `all`: the counters of a card are the sums over its cores.
void add(CardCounters& all, const CardCounters& more);

}  // namespace splitplane::nic
