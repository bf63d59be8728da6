// For the fuzz target `control`: one machine that serves the methods of all programs, and judges what arrives.
#pragma once

#include <functional>
#include <set>

#include "card/protocol/methods.h"
#include "card/protocol/request.h"
#include "fuzz.h"
#include "ran/control/test_bearers.h"
#include "runtime/power_methods.h"
#include "runtime/tap_methods.h"
#include "ue/control/air.h"

namespace splitplane::fuzz {

using Json = nlohmann::json;

inline constexpr std::size_t kCapacity = 200;

// Refuses only what no gNB has room for.
class Machine {
 public:
  Machine() {
    add_bearer_methods();
    add_card_methods();
    methods.add("stats", app::without_params(empty));
    methods.add("tap.on", app::tap_on([](const tap::Settings&) { return empty(); }));
    methods.add("tap.off", app::tap_off([](const std::string&) { return empty(); }));
    methods.add("air.set", app::air_set(std::bind_front(&Machine::set_air, this)));
    methods.add("power.show", app::power_show(empty));
    methods.add("power.set", app::power_set([](const std::string&, const power::Settings&) { return empty(); }));
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  unsigned stops = 0;
  app::MethodRegistry methods{[this] { ++stops; }};
  std::set<std::uint32_t> there;  // the bearers that were added, less those released

 private:
  static Expected<Json> empty() { return Json::object(); }

  void add_bearer_methods() {
    const auto calls = [this](auto member) { return std::bind_front(member, this); };
    const app::WaitForDisk wait_for_disk = [] { return Expected<void>(); };
    methods.add("bearer.add", app::bearer_add(calls(&Machine::add_bearers), wait_for_disk));
    methods.add("bearer.modify",
                app::bearer_modify(std::bind_front(&app::MemoryBearers::modify, &bearers_), wait_for_disk));
    methods.add("bearer.release", app::bearer_release(calls(&Machine::release_bearer), wait_for_disk));
    methods.add("bearer.reestablish",
                app::bearer_reestablish([](BearerId) -> Expected<std::uint8_t> { return std::uint8_t{1}; }));
    methods.add("bearer.list", app::bearer_list(std::bind_front(&app::MemoryBearers::list, &bearers_)));
    methods.add("bearer.show", app::bearer_show(std::bind_front(&app::MemoryBearers::show, &bearers_)));
  }
  void add_card_methods() {
    const auto calls = [this](auto member) { return std::bind_front(member, this); };
    methods.add("card.show", app::without_params(empty));
    methods.add("card.install", app::card_install(calls(&Machine::install_on_card)));
    methods.add("card.remove", app::card_remove([](std::span<const BearerId>) { return Expected<void>(); }));
    methods.add("card.peer", app::card_peer(calls(&Machine::set_card_peer)));
    methods.add("card.peer_gone", app::card_peer_gone([](unsigned) { return Expected<void>(); }));
    methods.add("card.lease", app::card_lease([](std::span<const nic::CardLease>) { return Expected<void>(); }));
    methods.add("card.numbers", app::card_numbers([](std::span<const BearerId>) { return no_numbers(); },
                                                  [](std::uint32_t, std::size_t) { return no_numbers(); }));
  }
  static Expected<std::vector<nic::BearerNumbers>> no_numbers() { return {}; }

  Expected<app::AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard) {
    require(!wanted.empty() && wanted.size() <= app::kBearersPerBatch, "a batch of {}", wanted.size());
    for (const auto& bearer : wanted) {
      const auto wrong = ran::refuse(bearer);
      require(!wrong && bearer.qfi.value <= 63, "a bearer that is refused elsewhere: {}", wrong.value_or("QFI"));
    }
    auto added = bearers_.add(wanted, shard);
    if (added) {
      for (const auto& bearer : added->bearers) there.insert(bearer.id.value);
    }
    return added;
  }
  Expected<bool> release_bearer(BearerId id) {
    const auto released = bearers_.release(id);
    same(*released, there.erase(id.value) == 1, "released");
    return released;
  }
  Expected<Json> set_air(const app::AirPatch& patch) {
    for (const auto* values : {&patch.downlink, &patch.uplink}) {
      for (std::size_t i = 0; i < values->size(); ++i) {
        const auto& row = phy::kImpairments[i];
        require(!(*values)[i] || ((*values)[i] >= row.min && (*values)[i] <= row.max), "{} beyond its limits",
                row.name);
      }
    }
    return Json::object();
  }
  Expected<void> install_on_card(std::span<const nic::CardBearer> bearers, bool) {
    require(bearers.size() <= app::kCardBearersPerRequest, "{} bearers in a request", bearers.size());
    for (const auto& b : bearers) require(b.id.value != 0 && b.teid.value != 0 && b.qfi.value <= 63, "a card's bearer");
    return {};
  }
  Expected<void> set_card_peer(const nic::CardPeer& peer) {
    require(peer.from.is_v6() == peer.to.is_v6(), "a peer of two families");
    return {};
  }

  app::MemoryBearers bearers_{kCapacity};
};

}  // namespace splitplane::fuzz
