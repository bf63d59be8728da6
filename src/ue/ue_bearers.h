// The UE side's bearers: found by identity (downlink) and by the UE's address as packets carry it (uplink). Owned by
// the worker; changed on its thread between two rounds. Grows as bearers are learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "ran/key_table.h"
#include "ue/ue_bearer.h"

namespace splitplane::ue {

class UeBearers {
 public:
  UeBearers();

  // Makes the bearer, or starts it anew with these numbers; its counters go on.
  void establish(const ran::BearerConfig& config, const Numbers& numbers);
  // Takes over a changed configuration of a bearer that goes on counting; false if there is none.
  bool update(const ran::BearerConfig& config);
  bool release(BearerId id);

  [[nodiscard]] UeBearer* find(BearerId id);
  [[nodiscard]] UeBearer* find_source(ran::Ipv4Key source);
  [[nodiscard]] UeBearer* find_source(const ran::Ipv6Key& source);

  [[nodiscard]] std::size_t size() const { return ids_->table.size(); }
  // Copies of at most `limit` bearers with an identity greater than `after`, in ascending order; of all, or of those
  // that had packets.
  enum class Which : std::uint8_t { kAll, kUsed };
  [[nodiscard]] std::vector<UeBearer> after(BearerId after, std::size_t limit, Which which = Which::kAll) const;
  // Calls visit(const UeBearer&) for each, in no particular order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const UeBearer& bearer : slots_) {
      if (bearer.config.id.value != 0) visit(bearer);
    }
  }

 private:
  template <class Key>
  struct Table {
    explicit Table(std::size_t capacity);
    struct alignas(64) Line {
      std::byte octets[64];
    };
    std::vector<Line> memory;
    ran::KeyTable<Key> table;
  };

  [[nodiscard]] UeBearer* at(std::optional<std::uint32_t> slot) { return slot ? &slots_[*slot] : nullptr; }
  void index(std::uint32_t slot);
  void unindex(std::uint32_t slot);
  [[nodiscard]] bool index_addresses(std::uint32_t slot);
  void index_all_addresses();
  void grow();

  std::deque<UeBearer> slots_;  // stable addresses; id 0: free
  std::vector<std::uint32_t> free_;
  std::size_t capacity_;
  std::size_t shared_addresses_ = 0;  // bearers whose address led to another one already: that one gets the uplink
  std::unique_ptr<Table<ran::Ipv4Key>> ids_, ipv4_;
  std::unique_ptr<Table<ran::Ipv6Key>> ipv6_;
};

}  // namespace splitplane::ue
