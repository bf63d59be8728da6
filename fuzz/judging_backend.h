// For the fuzz target `control`: the tests' backend in memory, which checks the requests that arrive.
#pragma once

#include <set>

#include "card/protocol/request.h"
#include "control/methods/test_backend.h"
#include "fuzz.h"

namespace splitplane::fuzz {

using Json = nlohmann::json;

inline constexpr std::size_t kCapacity = 200;

// Refuses nothing itself, and checks what arrives.
class Backend : public app::MemoryBackend {
 public:
  Backend() : MemoryBackend(kCapacity) {}

  Expected<app::AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted,
                                          std::optional<unsigned> shard) override {
    require(!wanted.empty() && wanted.size() <= kBearersPerBatch, "a batch of {}", wanted.size());
    for (const auto& bearer : wanted) {
      const auto wrong = ran::refuse(bearer);
      require(!wrong && bearer.qfi.value <= 63, "a bearer that is refused elsewhere: {}", wrong.value_or("QFI"));
    }
    auto added = MemoryBackend::add_bearers(wanted, shard);
    if (added) {
      for (const auto& bearer : added->bearers) there.insert(bearer.id.value);
    }
    return added;
  }
  Expected<bool> release_bearer(BearerId id) override {
    const auto released = MemoryBackend::release_bearer(id);
    same(*released, there.erase(id.value) == 1, "released");
    return released;
  }
  Expected<Json> set_air(const app::AirPatch& patch) override {
    for (const auto* values : {&patch.downlink, &patch.uplink}) {
      for (std::size_t i = 0; i < values->size(); ++i) {
        const auto& row = phy::kImpairments[i];
        require(!(*values)[i] || ((*values)[i] >= row.min && (*values)[i] <= row.max), "{} beyond its limits",
                row.name);
      }
    }
    return Json::object();
  }
  Expected<void> install_on_card(std::span<const nic::CardBearer> bearers, bool) override {
    require(bearers.size() <= app::kCardBearersPerRequest, "{} bearers in a request", bearers.size());
    for (const auto& b : bearers) require(b.id.value != 0 && b.teid.value != 0 && b.qfi.value <= 63, "a card's bearer");
    return {};
  }
  Expected<void> remove_from_card(std::span<const BearerId>) override { return {}; }
  Expected<void> set_leases(std::span<const Lease>) override { return {}; }
  Expected<void> set_card_peer(const nic::CardPeer& peer) override {
    require(peer.from.is_v6() == peer.to.is_v6(), "a peer of two families");
    return {};
  }

  std::set<std::uint32_t> there;
};

}  // namespace splitplane::fuzz
