#include "phy/link/phy_peer.h"

namespace splitplane::phy {

using fapi::ErrorCode;
using fapi::PhyState;

PhyPeer::PhyPeer(const Settings& settings, DatagramSocket p5, DatagramSocket p7, PhyPeerOwner& owner)
    : settings_(settings),
      p5_(std::move(p5), settings.phy_id),
      p7_(std::move(p7), settings.phy_id, settings.p7),
      owner_(owner),
      machine_(settings.capabilities, settings.slots_early) {}

void PhyPeer::poll(Time now) {
  errors_left_ = kErrorsAtOnce;
  p5_.receive([this, now](std::uint16_t id, wire::Octets body) { take_p5(id, body, now); },
              settings_.datagrams_at_once);
  p7_.receive([this, now](std::uint16_t id, wire::Octets body) { take_p7(id, body, now); }, settings_.datagrams_at_once,
              now);
  if (state() != PhyState::kRunning || l2_away_ || now - last_arrival_ < settings_.silence) return;
  l2_away_ = true;
  counters_.silences.add(1);
  owner_.l2_is_away();
}

std::optional<fapi::SlotIndication> PhyPeer::begin_slot(Time now) {
  const auto slot = machine_.begin_slot();
  if (!slot) return std::nullopt;
  counters_.slots.add(1);
  p7_.anchor(slot->sfn, slot->slot, machine_.config().scs_common.value_or(0), now);
  (void)p7_.send(*slot, now);  // its failures are counted there; the next slot follows soon
  return slot;
}

void PhyPeer::send_error(const fapi::ErrorIndication& error) {
  if (errors_left_ == 0) return counters_.errors_withheld.add(1);
  --errors_left_;
  counters_.errors_sent.add(1);
  p5_.send(error);
}

void PhyPeer::is_there(Time now) {
  last_arrival_ = now;
  l2_away_ = false;
}

// Only requests are answered, with an error if it must be. Two ends that both answer errors would never be silent.
void PhyPeer::take_p5(std::uint16_t id, wire::Octets body, Time now) {
  const auto take_as = [&]<class Message>(Message message) {
    if (id != static_cast<std::uint16_t>(Message::kId)) return false;
    is_there(now);
    if (fapi::read_body(body, message) == fapi::Reason::ok) {
      answer(message);
    } else {
      p5_.count_unreadable();
      send_error(machine_.refuse(id, ErrorCode::kInvalidConfig));
    }
    return true;
  };
  const bool known = take_as(fapi::ParamRequest{}) || take_as(fapi::ConfigRequest{}) || take_as(fapi::StartRequest{}) ||
                     take_as(fapi::StopRequest{});
  if (!known) p5_.count_unexpected();
}

void PhyPeer::answer(const fapi::ParamRequest& request) {
  p5_.send(machine_.receive(request));
}

void PhyPeer::answer(const fapi::ConfigRequest& request) {
  const fapi::ConfigResponse response = machine_.receive(request);
  if (response.error_code == ErrorCode::kOk) counters_.configs.add(1);
  p5_.send(response);
}

void PhyPeer::answer(const fapi::StartRequest& request) {
  if (const auto error = machine_.receive(request)) return send_error(*error);
  counters_.starts.add(1);
  p7_.restart();
  owner_.phy_starts(machine_.config());
}

void PhyPeer::answer(const fapi::StopRequest& request) {
  if (const auto error = machine_.receive(request)) return send_error(*error);
  counters_.stops.add(1);
  p5_.send(fapi::StopIndication{});
  owner_.phy_stops();
}

namespace {

fapi::Reason read_any(wire::Octets body, fapi::TxDataRequest& message) {
  return fapi::read_tx_data(body, message);
}
template <class Message>
fapi::Reason read_any(wire::Octets body, Message& message) {
  return fapi::read_body(body, message);
}

}  // namespace

template <class Message>
bool PhyPeer::take_as(Message& message, std::uint16_t id, wire::Octets body, Time now) {
  if (id != static_cast<std::uint16_t>(Message::kId)) return false;
  if (read_any(body, message) != fapi::Reason::ok) {
    p7_.count_unreadable();
    return true;
  }
  is_there(now);
  if (const auto error = machine_.receive_for_slot(Message::kId, message.sfn, message.slot)) {
    counters_.out_of_slot.add(1);
    send_error(*error);
    return true;
  }
  counters_.delivered.add(1);
  owner_.receive(message);
  return true;
}

void PhyPeer::take_p7(std::uint16_t id, wire::Octets body, Time now) {
  const bool known = take_as(*dl_tti_, id, body, now) || take_as(*ul_tti_, id, body, now) ||
                     take_as(*tx_data_, id, body, now) || take_as(*ul_dci_, id, body, now);
  if (!known) p7_.count_unexpected();
}

}  // namespace splitplane::phy
