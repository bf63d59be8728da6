// The tables and registers of the program `gnb`, in terms of bearers and UPFs. CardTables turns requests of the control
// plane into keys, action data and register values. The names are those of the P4 sources (p4/gnb.p4i).
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "card/affinity.h"
#include "card/card.h"
#include "card/swx/swx_pipeline.h"

namespace splitplane::nic {

// The key by which the card finds a bearer's downlink packets: a TEID, or the UE's address.
struct BearerKey {
  std::uint64_t high = 0, low = 0;  // high: only of IPv6 addresses
  bool v6 = false;
  friend bool operator==(const BearerKey&, const BearerKey&) = default;
};
struct BearerKeyHash {
  std::size_t operator()(const BearerKey& k) const noexcept {
    return (k.low ^ k.high * 0x9e3779b97f4a7c15U ^ static_cast<std::uint64_t>(k.v6)) * 0xff51afd7ed558ccdU >> 16;
  }
};

class CardTables {
 public:
  // Returns an error if the program lacks a table, an action or an argument, or has one that this class does not fill.
  static Expected<CardTables> of(SwxPipeline& pipeline, const CardSettings& settings);

  Expected<void> install(std::span<const CardBearer> bearers, bool restart);
  Expected<std::size_t> would_install(std::span<const CardBearer> bearers);
  Expected<void> remove(std::span<const BearerId> ids);
  Expected<void> can_remove(std::span<const BearerId> ids);
  Expected<void> set_peer(const CardPeer& peer);
  void unset_peer(unsigned number);
  Expected<void> set_markers(std::uint64_t to_host, unsigned vf);
  Expected<void> set_leases(std::span<const CardLease> leases);
  [[nodiscard]] Expected<void> can_lease(std::span<const CardLease> leases) const;
  [[nodiscard]] Expected<CardNumbers> numbers(BearerId id) const;
  [[nodiscard]] std::vector<BearerNumbers> numbers_after(std::uint32_t after, std::size_t limit) const;
  [[nodiscard]] const CardBearer* find(BearerId id) const;
  [[nodiscard]] std::vector<BearerId> bearers() const;
  [[nodiscard]] std::size_t count() const { return order_.size(); }
  [[nodiscard]] std::size_t served() const { return served_; }
  void add_reasons(CardCounters& counters) const;
  [[nodiscard]] bool by_ue_address() const { return by_ue_address_; }

 private:
  struct Entry {
    CardBearer bearer;
    std::uint32_t slot = 0;
    bool fresh = false;           // the slot's registers were 0 before
    std::uint64_t installed = 0;  // number of the install() call that named it last
  };
  // What one call of install() has done so far. It is undone if a later bearer is refused.
  struct Attempt {
    std::vector<Entry*> entries;     // of the bearers that were accepted, in order
    std::vector<std::uint32_t> ids;  // new on the card
    std::vector<BearerKey> keys;     // new on the card
    std::size_t written = 0;         // bearers whose table entries are written
  };
  // At most an IPv4 and an IPv6 address.
  struct Keys {
    std::array<BearerKey, 2> key;
    std::size_t count = 0;
    void push_back(const BearerKey& k) { key[count++] = k; }
    [[nodiscard]] const BearerKey* begin() const { return key.data(); }
    [[nodiscard]] const BearerKey* end() const { return key.data() + count; }
  };

  [[nodiscard]] Keys keys_of(const CardBearer& bearer) const;
  [[nodiscard]] Expected<void> check(const CardBearer& bearer) const;
  Expected<void> claim(std::span<const CardBearer> bearers, Attempt& attempt);
  Expected<void> try_install(std::span<const CardBearer> bearers, Attempt& attempt);
  void undo(std::span<const CardBearer> bearers, const Attempt& attempt);
  [[nodiscard]] unsigned longest_sdu(const CardBearer& bearer) const;
  [[nodiscard]] bool write_entries(const CardBearer& bearer, std::uint32_t slot);
  [[nodiscard]] bool write_key(const BearerKey& key, const CardBearer& bearer, std::uint32_t slot);
  void erase_key(const BearerKey& key);
  void write_registers(const CardBearer& bearer, const Entry& entry, bool is_new, bool restart);
  void write_fixed();
  [[nodiscard]] CardNumbers read_numbers(const Entry& entry) const;
  [[nodiscard]] bool is_own(std::uint32_t id) const { return core_of(id, settings_.cores) == settings_.core; }
  void enter_order(std::vector<std::uint32_t> ids);
  void leave_order(std::vector<std::uint32_t> ids);
  [[nodiscard]] bool take_slot(Entry& entry);
  Expected<void> bind(SwxPipeline& pipeline);
  [[nodiscard]] Expected<void> require_all(const SpecFile& spec, bool punts) const;

  CardSettings settings_;
  bool by_ue_address_ = false;
  bool has_headers_ = true;       // false: feature set decap
  std::uint32_t clone_port_ = 0;  // feature set clone_drop: the sink; 0: the bearer's VF for copies
  SwxTable *bearers_ = nullptr, *bearers_v6_ = nullptr, *uplink_ = nullptr, *peers_ = nullptr, *fixed_ = nullptr,
           *marker_ = nullptr;
  SwxAction serve_, to_host_, serve_v6_, to_host_v6_, uplink_serve_, uplink_to_host_, peer_, serve_fixed_,
      to_host_fixed_, miss_fixed_, on_card_, on_host_;
  SwxRegisters pdcp_next_, rlc_next_, without_poll_, lease_, in_flight_, dl_packets_, ul_packets_, punts_, drops_,
      rlc_control_;

  std::unordered_map<std::uint32_t, Entry> entries_;                    // by identity
  std::unordered_map<BearerKey, std::uint32_t, BearerKeyHash> owners_;  // identity by key
  std::vector<std::uint32_t> order_;                                    // identities of this core, ascending
  std::vector<std::uint32_t> used_slots_;                               // free again, but their registers are not 0
  std::uint32_t slots_ = 0, next_slot_ = 0;                             // slots from next_slot_ on were never used
  std::size_t served_ = 0;                                              // entries of order_ that are not kHost
  std::uint32_t fixed_id_ = 0;
  std::uint64_t calls_ = 0;
  std::array<bool, 256> has_peer_{};
};

}  // namespace splitplane::nic
