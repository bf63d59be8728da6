#include "control/methods/backend.h"

namespace splitplane::app {
namespace {

// A command without bearers of its own answers so.
tl::unexpected<Error> no_bearers() {
  return fail("this command has no bearers; allowed: stats, stop, ping");
}

tl::unexpected<Error> no_taps() {
  return fail("this command has no taps; allowed: with `splitplane run`");
}

tl::unexpected<Error> no_card() {
  return fail("this command is no card; allowed: with `splitplane nic`");
}

}  // namespace

Expected<AddedBearers> ControlBackend::add_bearers(std::span<const ran::BearerConfig>, std::optional<unsigned>) {
  return no_bearers();
}
Expected<ran::BearerConfig> ControlBackend::modify_bearer(BearerId, const BearerPatch&) {
  return no_bearers();
}
Expected<bool> ControlBackend::release_bearer(BearerId) {
  return no_bearers();
}

Expected<std::uint8_t> ControlBackend::reestablish_bearer(BearerId) {
  return no_bearers();
}
Expected<BearerView> ControlBackend::show_bearer(BearerId) {
  return no_bearers();
}
Expected<std::vector<BearerView>> ControlBackend::list_bearers(std::uint32_t, std::size_t) {
  return no_bearers();
}
Expected<nlohmann::json> ControlBackend::tap_on(const tap::Settings&) {
  return no_taps();
}
Expected<nlohmann::json> ControlBackend::tap_off(const std::string&) {
  return no_taps();
}
Expected<nlohmann::json> ControlBackend::list_taps() {
  return no_taps();
}

Expected<nlohmann::json> ControlBackend::peers() {
  return fail("this command has no peers; allowed: stats, stop, ping");
}

Expected<nlohmann::json> ControlBackend::show_power() {
  return fail("this command has no workers with a power policy; allowed: stats, stop, ping");
}
Expected<nlohmann::json> ControlBackend::set_power(const std::string&, const power::Settings&) {
  return fail("this command has no workers with a power policy; allowed: stats, stop, ping");
}

Expected<nlohmann::json> ControlBackend::set_air(const AirPatch&) {
  return fail("this command has no air to impair; allowed: with `splitplane ue`");
}

Expected<nlohmann::json> ControlBackend::show_card() {
  return no_card();
}
Expected<void> ControlBackend::install_on_card(std::span<const nic::CardBearer>, bool) {
  return no_card();
}
Expected<void> ControlBackend::remove_from_card(std::span<const BearerId>) {
  return no_card();
}
Expected<void> ControlBackend::set_card_peer(const nic::CardPeer&) {
  return no_card();
}
Expected<void> ControlBackend::unset_card_peer(unsigned) {
  return no_card();
}
Expected<void> ControlBackend::set_leases(std::span<const Lease>) {
  return no_card();
}
Expected<std::vector<ControlBackend::NumbersRow>> ControlBackend::card_numbers(std::span<const BearerId>) {
  return no_card();
}
Expected<std::vector<ControlBackend::NumbersRow>> ControlBackend::card_numbers_after(std::uint32_t, std::size_t) {
  return no_card();
}

}  // namespace splitplane::app
