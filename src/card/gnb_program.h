// The tables and registers of the program `gnb`: how a bearer, a UPF and a bearer's numbers are written in its terms.
// The names are those of the P4 sources (p4/gnb.p4i). CardTables knows which bearers there are; this class keeps none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "card/card.h"
#include "card/slots.h"
#include "card/swx/swx_pipeline.h"

namespace splitplane::nic {

inline constexpr unsigned kCardPeers = 256;  // numbers of UPFs

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

// The keys of one bearer: at most an IPv4 and an IPv6 address.
struct BearerKeys {
  std::array<BearerKey, 2> key;
  std::size_t count = 0;
  void push_back(const BearerKey& k) { key[count++] = k; }
  [[nodiscard]] const BearerKey* begin() const { return key.data(); }
  [[nodiscard]] const BearerKey* end() const { return key.data() + count; }
};

class GnbProgram {
 public:
  // Returns an error if the program lacks a table, an action or an argument, or has one that this class does not fill.
  static Expected<GnbProgram> of(SwxPipeline& pipeline, const CardSettings& settings);

  [[nodiscard]] BearerKeys keys_of(const CardBearer& bearer) const;
  // Writes a bearer's entries, or replaces them. Returns false if a table is full; some entries may then be written.
  [[nodiscard]] bool write_entries(const CardBearer& bearer, std::uint32_t slot);
  void erase_key(const BearerKey& key);
  void erase_uplink(BearerId id);
  // Feature sets decap and headers: all packets get the headers of this bearer. Without a bearer they go to the host.
  void set_fixed(const CardBearer* bearer, std::uint32_t slot);

  // Begins the numbers of a bearer that is new (`before` is nullptr) or has a `restart`; otherwise they go on.
  void begin_numbers(const CardBearer& bearer, Slot slot, const CardBearer* before, bool restart);
  [[nodiscard]] std::uint32_t pdcp_next(std::uint32_t slot) const;
  void set_lease(std::uint32_t slot, std::uint32_t first_not_allowed);
  // What the registers of a slot say: all but epoch and `ahead`.
  [[nodiscard]] CardNumbers numbers(std::uint32_t slot) const;
  void add_reasons(CardCounters& counters) const;

  Expected<void> set_peer(const CardPeer& peer);
  void unset_peer(unsigned number);
  Expected<void> set_markers(std::uint64_t to_host, unsigned vf);

  // How many bearers its tables and registers hold, at most the card's capacity.
  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] bool by_ue_address() const { return by_ue_address_; }

 private:
  Expected<void> bind(SwxPipeline& pipeline);
  [[nodiscard]] Expected<void> require_all(const SpecFile& spec, bool punts) const;
  [[nodiscard]] unsigned longest_sdu(const CardBearer& bearer) const;
  [[nodiscard]] bool write_key(const BearerKey& key, const CardBearer& bearer, std::uint32_t slot);

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
  std::uint32_t slots_ = 0;
  std::array<bool, kCardPeers> has_peer_{};
};

}  // namespace splitplane::nic
