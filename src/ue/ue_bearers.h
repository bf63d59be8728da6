// The UE side's bearers. Downlink finds them by identity, uplink by the UE's address in the packet. The worker owns
// them and changes them on its thread between two rounds. The tables grow as bearers come.
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

  // Makes the bearer, or restarts it with these numbers; its counters continue.
  void establish(const ran::BearerConfig& config, const Numbers& numbers);
  // Takes a changed configuration of a bearer that continues; returns false if there is no such bearer.
  bool update(const ran::BearerConfig& config);
  bool release(BearerId id);

  [[nodiscard]] UeBearer* find(BearerId id);
  [[nodiscard]] UeBearer* find_source(ran::Ipv4Key source);
  [[nodiscard]] UeBearer* find_source(const ran::Ipv6Key& source);

  [[nodiscard]] std::size_t size() const { return ids_->table.size(); }
  // Copies at most `limit` bearers with an identity greater than `after`, in ascending order: all bearers, or those
  // that had packets.
  enum class Which : std::uint8_t { kAll, kUsed };
  [[nodiscard]] std::vector<UeBearer> after(BearerId after, std::size_t limit, Which which = Which::kAll) const;
  // Calls visit(const UeBearer&) for each bearer, in no particular order.
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
  std::size_t shared_addresses_ = 0;  // bearers whose address belongs to another bearer, which gets the uplink
  std::unique_ptr<Table<ran::Ipv4Key>> ids_, ipv4_;
  std::unique_ptr<Table<ran::Ipv6Key>> ipv6_;
};

}  // namespace splitplane::ue
