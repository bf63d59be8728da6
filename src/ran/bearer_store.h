// The control path's book of bearers: who exists, under which identity, in which shard. The packet path's lines are
// written from it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/expected.h"
#include "ran/bearer_config.h"
#include "ran/session_config.h"

namespace splitplane::app {

class BearerStore {
 public:
  // `owned`: the shards that some worker of this instance serves. `per_shard`: bearers that fit each. `by_ue_address`:
  // packets find their bearer by the UE's address, so it must have one.
  BearerStore(unsigned instance, std::vector<ShardId> owned, std::uint32_t per_shard, bool by_ue_address = false);

  // Enters a bearer. With identity 0 the store chooses the next one, shard after shard, or in `shard`. Error: the
  // shards are full, the identity is taken or not ours, or packets find another bearer by one of its keys. Such a key
  // is a dl_teid that is another bearer's identity or dl_teid, or a UE address of another bearer. The store chooses no
  // identity that is in use as a dl_teid.
  Expected<ran::BearerConfig> add(ran::BearerConfig config, std::optional<unsigned> shard);
  // Enters a session with several bearers: all of them or none. Identities 0 are chosen, all in one shard, and so is
  // `spare`. Packets find the session by the keys of its first bearer. Error: as add(), or what ran::refuse() says.
  Expected<ran::SessionConfig> add_session(ran::SessionConfig config, std::optional<unsigned> shard);
  void remove_session(Teid teid);
  // Other flows of a session that is there; its bearers and identities stay.
  void replace_session(const ran::SessionConfig& config);
  // The session with several bearers that a bearer belongs to; nullptr if the bearer is a session by itself.
  [[nodiscard]] const ran::SessionConfig* session_of(BearerId id) const;
  // The sessions with several bearers and a TEID above `after`, in order, `limit` at most.
  [[nodiscard]] std::vector<ran::SessionConfig> sessions_after(std::uint32_t after, std::size_t limit) const;
  // Whether this instance may have a bearer of that identity.
  [[nodiscard]] bool is_ours(BearerId id) const;
  // Identities that add() does not choose by itself, until release_reserved().
  void reserve(std::set<std::uint32_t> ids) { reserved_ = std::move(ids); }
  void release_reserved() { reserved_.clear(); }
  // The bearer with the same UPF and uplink TEID, if there is one.
  [[nodiscard]] const ran::BearerConfig* find_uplink(const IpAddress& upf, Teid uplink_teid) const;
  [[nodiscard]] const ran::BearerConfig* find(BearerId id) const;
  // The bearer that packets with this TEID are for: its identity, or its dl_teid.
  [[nodiscard]] const ran::BearerConfig* find_downlink(Teid teid) const;
  // Replaces a bearer that exists. One of a session with several bearers keeps its UPF and uplink TEID.
  void replace(const ran::BearerConfig& config);
  // Does nothing to a bearer of a session with several ones: see remove_session().
  void remove(BearerId id);
  // The first bearer with an identity above `after`, and so on.
  [[nodiscard]] std::vector<ran::BearerConfig> after(std::uint32_t after, std::size_t limit) const;
  // The same without copies. Returns the last identity that was visited; `after` if there is none above it.
  template <class Visit>
  std::uint32_t visit_after(std::uint32_t after, std::size_t limit, Visit visit) const {
    for (auto at = bearers_.upper_bound(after); at != bearers_.end() && limit != 0; ++at, --limit) {
      visit(at->second);
      after = at->first;
    }
    return after;
  }
  [[nodiscard]] std::size_t size() const { return bearers_.size(); }

 private:
  struct Shard {
    bool owned = false;
    std::uint32_t next = 0;              // lowest index never used
    std::deque<std::uint32_t> released;  // the longest unused one first
  };
  using UplinkKey = std::pair<std::array<std::uint8_t, 17>, std::uint32_t>;
  static UplinkKey uplink_key(const IpAddress& upf, Teid teid);
  [[nodiscard]] bool has_room(const Shard& shard) const { return shard.next < per_shard_ || !shard.released.empty(); }
  [[nodiscard]] std::optional<Error> key_in_use(const ran::BearerConfig& config) const;
  std::optional<std::uint32_t> take_index(ShardId id);
  Expected<BearerId> choose(std::optional<unsigned> shard);
  Expected<void> claim(BearerId id);
  void give_back(BearerId id) { shards_[ran::shard_of(id.value).value].released.push_back(ran::index_of(id.value)); }

  unsigned instance_;
  std::vector<ShardId> owned_;
  std::uint32_t per_shard_;
  std::size_t turn_ = 0;  // of owned_, for the next bearer
  std::array<Shard, ran::kShards> shards_;
  std::map<std::uint32_t, ran::BearerConfig> bearers_;
  std::map<UplinkKey, std::uint32_t> by_uplink_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_dl_teid_;
  std::set<std::uint32_t> reserved_;
  std::map<std::uint32_t, ran::SessionConfig> sessions_;         // by TEID
  std::unordered_map<std::uint32_t, std::uint32_t> session_of_;  // of bearers and spare identities: the session's TEID
  bool by_ue_address_;
  std::map<std::array<std::uint8_t, 17>, std::uint32_t> by_ue_;
};

}  // namespace splitplane::app
