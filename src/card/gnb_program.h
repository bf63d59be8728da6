// The tables and registers of the program `gnb`: how a bearer, a UPF and a bearer's numbers are written in its terms.
// The names are those of the P4 sources (p4/gnb.p4i). CardTables knows which bearers there are; this class keeps what
// their entries say of numbers.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "card/card.h"
#include "card/pipeline/pipeline.h"
#include "card/shared_numbers.h"
#include "card/slots.h"

namespace splitplane::nic {

inline constexpr unsigned kCardPeers = 256;       // numbers of UPFs
inline constexpr unsigned kCardProfiles = 256;    // different combinations of what a profile has
inline constexpr unsigned kCardN3Addresses = 64;  // to which the core sends

// The key by which the card finds a bearer's downlink packets: a TEID, TEID and QFI, or the UE's address.
struct BearerKey {
  std::uint64_t high = 0, low = 0;  // high: only of IPv6 addresses
  bool v6 = false;
  std::optional<std::uint8_t> flow;  // with the TEID of a session
  friend bool operator==(const BearerKey&, const BearerKey&) = default;
};
struct BearerKeyHash {
  std::size_t operator()(const BearerKey& k) const noexcept {
    const std::uint64_t kind = static_cast<std::uint64_t>(k.v6) | (k.flow ? 0x200U | std::uint64_t{*k.flow} << 1 : 0);
    return (k.low ^ k.high * 0x9e3779b97f4a7c15U ^ kind * 0xc2b2ae3d27d4eb4fU) * 0xff51afd7ed558ccdU >> 16;
  }
};

// The keys of one bearer: an IPv4 and an IPv6 address, or its TEID and its flows.
struct BearerKeys {
  std::array<BearerKey, 65> key;
  std::size_t count = 0;
  void push_back(const BearerKey& k) { key[count++] = k; }
  [[nodiscard]] const BearerKey* begin() const { return key.data(); }
  [[nodiscard]] const BearerKey* end() const { return key.data() + count; }
};

// The addresses of one N3 port, to which the core sends: IPv4 in memory order, and IPv6. All zeros: none.
struct N3Pair {
  std::uint32_t v4 = 0;
  std::uint64_t high = 0, low = 0;
  [[nodiscard]] bool has_v6() const { return (high | low) != 0; }
  friend auto operator<=>(const N3Pair&, const N3Pair&) = default;
};

// What a bearer shares with many others: its next hop, the form of its headers, and limits.
struct BearerProfile {
  std::uint64_t air_dst = 0, air_src = 0;
  N3Pair n3;
  std::uint16_t n3_vlan = 0;
  std::uint16_t poll_pdu = 0;
  std::uint8_t form = 0;  // bit 0: RLC SN 18, bit 1: PDCP SN 18, bit 2: SDAP header
  friend auto operator<=>(const BearerProfile&, const BearerProfile&) = default;
};

// What a bearer's entry says of its numbers.
struct EntryNumbers {
  std::uint32_t limit = 0;      // the first COUNT that may not be used
  std::uint32_t rlc_begin = 0;  // the COUNT whose PDU has SN 0
};

class GnbProgram {
 public:
  // Returns an error if the program lacks a table, an action or an argument, or has one that this class does not fill.
  static Expected<GnbProgram> of(Pipeline& pipeline, const CardSettings& settings);

  [[nodiscard]] BearerKeys keys_of(const CardBearer& bearer) const;
  // The numbers with which a bearer begins, and those that the slot's bearer has.
  [[nodiscard]] static EntryNumbers first_numbers(const CardBearer& bearer);
  [[nodiscard]] EntryNumbers numbers_of(std::uint32_t slot) const { return states_[slot].numbers; }
  // Writes a bearer's entries, or replaces them. The error says which table is full; some entries may then be written.
  Expected<void> write_entries(const CardBearer& bearer, std::uint32_t slot, const EntryNumbers& numbers);
  // The slot has no bearer any more.
  void release(std::uint32_t slot);
  void erase_key(const BearerKey& key);
  void erase_uplink(BearerId id);
  // Feature sets decap and headers: all packets get the headers of this bearer. Without a bearer they go to the host.
  void set_fixed(const CardBearer* bearer, std::uint32_t slot);

  // The host numbered the bearer until now, so the card's registers do not know how far.
  [[nodiscard]] static bool comes_from_host(const CardBearer* before, const CardBearer& b) {
    return before != nullptr && before->place == Place::kHost && b.place == Place::kCard;
  }
  // Begins the numbers of a bearer that is new (`before` is nullptr), has a `restart`, or comes from the host;
  // otherwise they go on.
  void begin_numbers(const CardBearer& bearer, Slot slot, const CardBearer* before, bool restart);
  // The numbers of a bearer that is installed already and has numbered nothing. `settled`: packets that the
  // host no longer has.
  void begin_moved(const CardBearer& bearer, std::uint32_t slot, std::uint32_t settled);
  [[nodiscard]] std::uint32_t pdcp_next(std::uint32_t slot) const;
  // Changes the entry and touches no register, which the program may change at the same time on a real card.
  void set_lease(const CardBearer& bearer, std::uint32_t slot, std::uint32_t first_not_allowed);
  // What the registers of a slot say: all but epoch and `ahead`.
  [[nodiscard]] CardNumbers numbers(std::uint32_t slot) const;
  void add_reasons(CardCounters& counters) const;

  Expected<void> set_peer(const CardPeer& peer);
  void unset_peer(unsigned number);
  // Type of service of uplink packets, by QFI.
  Expected<void> set_marks(const CardMarks& tos);
  Expected<void> set_markers(std::uint64_t to_host, unsigned vf);
  // What goes to one of `count` VFs from `first` on goes to all of them in turn, or by a hash of tunnel and flow.
  Expected<void> set_spread(unsigned first, unsigned count, VfSpread how);

  // How many bearers its tables and registers hold, at most the card's capacity.
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] bool by_ue_address() const { return by_ue_address_; }
  // Whether it looks for flows of sessions.
  [[nodiscard]] bool has_flows() const { return flows_ != nullptr; }

 private:
  struct SlotState {
    EntryNumbers numbers;
    bool has_profile = false;
    std::uint8_t profile_number = 0;
    BearerProfile profile;
  };

  // Where a key stands, and the actions of that table. `table` is nullptr in programs without it.
  struct KeyRow {
    PipelineTable* table;
    std::array<std::uint64_t, 2> words;
    const TableAction *serve, *to_host;
  };
  [[nodiscard]] KeyRow row_of(const BearerKey& key) const;

  explicit GnbProgram(CardSettings settings)
      : settings_(std::move(settings)), profiles_(0, kCardProfiles), n3_numbers_(1, kCardN3Addresses) {}
  Expected<void> bind(Pipeline& pipeline);
  Expected<void> bind_tables(Pipeline& pipeline);
  Expected<void> write_ports();
  [[nodiscard]] Expected<void> require_all(const SpecFile& spec) const;
  [[nodiscard]] unsigned longest_sdu(std::uint8_t form) const;
  Expected<void> take_profile(const CardBearer& bearer, std::uint32_t slot);
  [[nodiscard]] bool write_profile(const BearerProfile& profile, std::uint8_t number, std::uint8_t n3);
  // The number of the addresses, whose rows are written; nothing if there is no number or no place left. Two pairs with
  // one address in common: packets to it are the later pair's, and the host serves them for the others.
  [[nodiscard]] std::optional<std::uint8_t> take_addresses(const N3Pair& pair);
  void give_back_addresses(const N3Pair& pair);
  void give_back(const BearerProfile& profile, std::uint8_t number);
  [[nodiscard]] bool write_key(const BearerKey& key, const CardBearer& bearer, std::uint32_t slot,
                               const EntryNumbers& numbers);

  CardSettings settings_;
  bool by_ue_address_ = false;
  bool has_headers_ = true;       // false: feature set decap
  std::uint32_t clone_port_ = 0;  // feature set clone_drop: the sink; 0: the VF for copies
  PipelineTable *bearers_ = nullptr, *bearers_v6_ = nullptr, *uplink_ = nullptr, *peers_ = nullptr, *upfs_ = nullptr,
                *fixed_ = nullptr, *marker_ = nullptr, *profile_rows_ = nullptr, *air_ = nullptr,
                *n3_addresses_ = nullptr, *n3_addresses_v6_ = nullptr, *ports_ = nullptr, *out_ports_ = nullptr,
                *clones_ = nullptr, *marks_ = nullptr, *spread_ = nullptr, *buckets_ = nullptr, *flows_ = nullptr;
  TableAction serve_, to_host_, serve_v6_, to_host_v6_, uplink_serve_, uplink_to_host_, peer_, to_upf_, to_upf_vlan_,
      serve_fixed_, to_host_fixed_, miss_fixed_, on_card_, on_host_, profile_, n3_address_, n3_address_v6_, from_n3_,
      from_air_, from_vf_, send_, clone_to_, mark_, in_turn_, by_hash_, bucket_, serve_flow_, flow_to_host_,
      flows_to_host_;
  std::array<TableAction, 8> air_forms_;  // by form
  PipelineRegisters next_count_, waiting_, polls_, dl_packets_, ul_packets_, dl_octets_, ul_octets_, punts_, drops_,
      rlc_control_;
  std::uint32_t slots_ = 0;
  std::array<bool, kCardPeers> has_peer_{};
  std::vector<SlotState> states_;
  SharedNumbers<BearerProfile> profiles_;
  SharedNumbers<N3Pair> n3_numbers_;
  std::map<N3Pair, N3Pair> n3_rows_;  // of which pair the row of a single address is
};

}  // namespace splitplane::nic
