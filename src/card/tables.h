// The bearers of a card: which there are, with their keys, slots and numbers. A request is executed for all its bearers
// or for none. GnbProgram writes what the P4 program then reads.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "card/bearer_order.h"
#include "card/card.h"
#include "card/gnb_program.h"
#include "card/slots.h"

namespace splitplane::nic {

class CardTables {
 public:
  CardTables(GnbProgram program, const CardSettings& settings);

  Expected<void> install(std::span<const CardBearer> bearers, bool restart);
  Expected<std::size_t> would_install(std::span<const CardBearer> bearers);
  Expected<void> remove(std::span<const BearerId> ids);
  Expected<void> can_remove(std::span<const BearerId> ids);
  Expected<void> set_leases(std::span<const CardLease> leases);
  [[nodiscard]] Expected<void> can_lease(std::span<const CardLease> leases) const;
  Expected<void> begin(std::span<const CardBeginning> bearers);
  [[nodiscard]] Expected<CardNumbers> numbers(BearerId id) const;
  [[nodiscard]] std::vector<BearerNumbers> numbers_after(std::uint32_t after, std::size_t limit) const;
  [[nodiscard]] const CardBearer* find(BearerId id) const;
  [[nodiscard]] std::vector<BearerId> bearers() const;
  [[nodiscard]] std::size_t count() const { return order_.size(); }
  [[nodiscard]] std::size_t served() const { return served_; }
  // For what concerns no bearer: UPFs, markers, reasons.
  [[nodiscard]] GnbProgram& program() { return program_; }
  [[nodiscard]] const GnbProgram& program() const { return program_; }

 private:
  struct Entry {
    CardBearer bearer;
    Slot slot;
    std::uint64_t installed = 0;  // number of the install() call that named it last
  };
  // What one call of install() has done so far. It is undone if a later bearer is refused.
  struct Attempt {
    std::vector<Entry*> entries;                                  // of the bearers that were accepted, in order
    std::vector<std::uint32_t> ids;                               // new on the card
    std::vector<BearerKey> keys;                                  // new on the card
    std::vector<std::pair<BearerKey, std::uint32_t>> taken_over;  // from a bearer that gives it up, its identity
    std::size_t written = 0;                                      // bearers whose table entries are written
  };

  [[nodiscard]] Expected<void> check(const CardBearer& bearer) const;
  [[nodiscard]] bool gives_up(std::span<const CardBearer> bearers, std::uint32_t owner, const BearerKey& key) const;
  Expected<void> claim(std::span<const CardBearer> bearers, Attempt& attempt);
  Expected<void> try_install(std::span<const CardBearer> bearers, bool restart, Attempt& attempt);
  void undo(std::span<const CardBearer> bearers, const Attempt& attempt);
  void write_fixed();
  [[nodiscard]] CardNumbers numbers_of(const Entry& entry) const;

  CardSettings settings_;
  GnbProgram program_;
  Slots slots_;
  BearerOrder order_;
  std::unordered_map<std::uint32_t, Entry> entries_;                    // by identity
  std::unordered_map<BearerKey, std::uint32_t, BearerKeyHash> owners_;  // identity by key
  std::size_t served_ = 0;                                              // entries of order_ that are not kHost
  std::uint32_t fixed_id_ = 0;                                          // of the bearer that set_fixed() got
  std::uint64_t calls_ = 0;
};

}  // namespace splitplane::nic
