// What the control socket asks of the running user plane. One implementation per subcommand (run, ue); every call is
// answered after it took effect on the workers' own threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "base/expected.h"
#include "card/protocol/bearer.h"
#include "phy/impairment.h"
#include "power/settings.h"
#include "ran/bearer_view.h"
#include "tap/settings.h"

namespace splitplane::app {

struct AddedBearers {
  std::vector<ran::BearerConfig> bearers;
  std::size_t existed = 0;  // of them, there already
};

// Fields present are changed, the others stay.
struct BearerPatch {
  std::optional<Teid> uplink_teid;
  std::optional<IpAddress> upf;
  std::optional<Qfi> qfi;
  std::optional<std::uint16_t> poll_pdu;
};

// As above, of what the air does: by row of phy::kImpairments.
struct AirPatch {
  using Values = std::array<std::optional<double>, phy::kImpairments.size()>;
  Values downlink, uplink;
};

class ControlBackend {
 public:
  virtual ~ControlBackend() = default;

  // Adds bearers, all or none, and returns them with their identities. config.id 0: the gNB chooses one (in `shard` if
  // given). Idempotent: the same (upf, uplink_teid) with the same configuration returns the bearer that is there
  // already, and counts it as `existed`. At most kBearersPerBatch at a time, so that no round of a worker grows long.
  static constexpr std::size_t kBearersPerBatch = 64;
  virtual Expected<AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard);
  // Waits until the changes before are on the disk, where they have to be. Error: what they are worth until then.
  virtual Expected<void> settle() { return {}; }
  virtual Expected<ran::BearerConfig> modify_bearer(BearerId id, const BearerPatch& patch);
  // True if it existed, false if there was none (releasing twice is no error).
  virtual Expected<bool> release_bearer(BearerId id);
  // RLC re-establishment with PDCP data recovery of an acknowledged bearer (the part of RRC): its new epoch.
  virtual Expected<std::uint8_t> reestablish_bearer(BearerId id);
  virtual Expected<BearerView> show_bearer(BearerId id);
  // Up to `limit` bearers with an identity greater than `after`, in ascending order (0: from the start).
  virtual Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit);
  // Everything counted: ports, workers with stages and drops, sums and whether they add up.
  virtual Expected<nlohmann::json> stats() = 0;
  // The UPFs with bearers, and how the paths to them are.
  virtual Expected<nlohmann::json> peers();
  // Taps: on with the same settings, or off, twice is no error. Each answers with the tap, or whether there was one.
  virtual Expected<nlohmann::json> tap_on(const tap::Settings& settings);
  virtual Expected<nlohmann::json> tap_off(const std::string& name);
  virtual Expected<nlohmann::json> list_taps();
  // What the air between gNB and UE side does from now on, in full.
  virtual Expected<nlohmann::json> set_air(const AirPatch& patch);
  // Each worker's power policy: settings, state, where its time went.
  virtual Expected<nlohmann::json> show_power();
  // A worker begins anew with this policy, between two rounds.
  virtual Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings);

  // A card (`splitplane nic`): what it is and has counted.
  virtual Expected<nlohmann::json> show_card();
  // All or none. Known bearers are replaced and keep their numbers, unless `restart`.
  virtual Expected<void> install_on_card(std::span<const nic::CardBearer> bearers, bool restart);
  virtual Expected<void> remove_from_card(std::span<const BearerId> ids);
  virtual Expected<void> set_card_peer(const nic::CardPeer& peer);
  virtual Expected<void> unset_card_peer(unsigned number);
  // COUNTs below the second may be given to the first's packets; all or none.
  using Lease = nic::CardLease;
  virtual Expected<void> set_leases(std::span<const Lease> leases);
  using NumbersRow = nic::BearerNumbers;
  virtual Expected<std::vector<NumbersRow>> card_numbers(std::span<const BearerId> ids);
  // Up to `limit` bearers with an identity greater than `after`, in ascending order.
  virtual Expected<std::vector<NumbersRow>> card_numbers_after(std::uint32_t after, std::size_t limit);
};

}  // namespace splitplane::app
