// All cores of a card as one card for the control plane. Each core has separate tables and registers and executes
// requests on its own thread. A request to several cores is checked on all of them before any of them executes it. If a
// core stops answering between the two steps, the others have executed it. Then the error names that core, and
// repeating the same request completes it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "card/core.h"

namespace splitplane::nic {

class CardCores {
 public:
  // Runs the command on the core's thread. Returns false if the core does not answer; it then never runs the command.
  using Execute = std::function<bool(unsigned core, const std::function<void()>& command)>;

  CardCores(std::vector<Card*> cards, Execute execute) : cards_(std::move(cards)), execute_(std::move(execute)) {}

  // Installs all bearers or none, as Card does. A bearer whose identity and TEID lead to different cores must have
  // place host.
  Expected<void> install(std::span<const CardBearer> bearers, bool restart);
  Expected<void> remove(std::span<const BearerId> ids);
  Expected<void> set_peer(const CardPeer& peer);
  Expected<void> unset_peer(unsigned number);
  Expected<void> set_marks(const CardMarks& tos);
  Expected<void> set_leases(std::span<const CardLease> leases);
  // Core by core: after an error the bearers of some cores may have begun.
  Expected<void> begin(std::span<const CardBeginning> bearers);
  // A fence from each core that has one of the bearers, with its bearers; and their numbers at that moment, in the
  // order of `ids`.
  struct Fenced {
    CardFences fences;
    std::vector<BearerNumbers> numbers;
  };
  [[nodiscard]] Expected<Fenced> fence(std::span<const BearerId> ids, std::uint64_t token, rte_mempool* pool);
  [[nodiscard]] Expected<std::vector<BearerNumbers>> numbers(std::span<const BearerId> ids);
  [[nodiscard]] Expected<std::vector<BearerNumbers>> numbers_after(std::uint32_t after, std::size_t limit);

  // Returns an error if a core does not execute commands.
  Expected<void> all_answer();
  // Calls `use` with each core's card in turn, on the core's thread. The first error ends it.
  Expected<void> on_each(const std::function<Expected<void>(unsigned core, Card&)>& use);

 private:
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(cards_.size()); }
  [[nodiscard]] const CardSettings& settings() const { return cards_.front()->settings(); }
  Expected<void> on(unsigned core, const std::function<Expected<void>(unsigned core, Card&)>& use);
  Expected<std::vector<std::vector<CardBearer>>> by_core(std::span<const CardBearer> bearers) const;

  std::vector<Card*> cards_;
  Execute execute_;
};

// Adds `more` to `all`: the counters of a card are the sums over its cores.
void add(CardCounters& all, const CardCounters& more);

}  // namespace splitplane::nic
