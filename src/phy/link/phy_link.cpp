#include "phy/link/phy_link.h"

namespace splitplane::phy {

using fapi::ErrorCode;
using fapi::MessageId;
using State = PhyLinkState;

PhyLink::PhyLink(const Settings& settings, DatagramSocket p5, DatagramSocket p7, PhyLinkOwner& owner)
    : settings_(settings),
      p5_(std::move(p5), settings.phy_id),
      p7_(std::move(p7), settings.phy_id, settings.p7),
      owner_(owner) {}

void PhyLink::poll(Time now) {
  p5_.receive([this, now](std::uint16_t id, wire::Octets body) { take_p5(id, body, now); },
              settings_.datagrams_at_once);
  p7_.receive([this, now](std::uint16_t id, wire::Octets body) { take_p7(id, body, now); }, settings_.datagrams_at_once,
              now);
  keep_time(now);
}

void PhyLink::end(Time now) {
  if (std::exchange(ending_, true)) return;
  if (state() == State::away) {
    state_ = State::ended;
  } else {
    leave_running();
    ask(State::stop, now);
  }
}

void PhyLink::keep_time(Time now) {
  switch (state()) {
    case State::ended:
      return;
    case State::running:
      if (now - last_arrival_ < settings_.silence) return;
      counters_.silences.add(1);
      leave_running();
      return go_away(now);
    case State::away:
      if (now >= next_try_) ask(State::param, now);
      return;
    default:
      if (now < next_try_) return;
      if (tries_ >= settings_.tries) {
        counters_.unanswered.add(1);
        return go_away(now);
      }
      ++tries_;
      counters_.retries.add(1);
      next_try_ = now + settings_.answer_timeout;
      send_request();
  }
}

void PhyLink::ask(State state, Time now) {
  state_ = state;
  tries_ = 1;
  next_try_ = now + settings_.answer_timeout;
  send_request();
}

void PhyLink::send_request() {
  switch (state()) {
    case State::param:
      return p5_.send(fapi::ParamRequest{});
    case State::config:
      return p5_.send(settings_.config);
    case State::start:
      return p5_.send(fapi::StartRequest{});
    case State::stop:
      return p5_.send(fapi::StopRequest{});
    default:
      return;
  }
}

void PhyLink::leave_running() {
  if (state() != State::running) return;
  state_ = State::away;
  owner_.phy_is_away();
}

void PhyLink::go_away(Time now) {
  state_ = ending_ ? State::ended : State::away;
  next_try_ = now + settings_.away_time;
}

namespace {

// Calls f(message) if the body has this ID and is right; returns whether it has the ID.
template <class Message, class Channel, class F>
bool read_as(Message& message, std::uint16_t id, wire::Octets body, Channel& channel, F f) {
  if (id != static_cast<std::uint16_t>(Message::kId)) return false;
  if (fapi::read_body(body, message) == fapi::Reason::ok) {
    f(message);
  } else {
    channel.count_unreadable();
  }
  return true;
}

}  // namespace

void PhyLink::take_p5(std::uint16_t id, wire::Octets body, Time now) {
  const auto take_it = [this, now](const auto& message) { take(message, now); };
  fapi::ParamResponse param;
  fapi::ConfigResponse config;
  fapi::StopIndication stop;
  fapi::ErrorIndication error;
  const bool known = read_as(param, id, body, p5_, take_it) || read_as(config, id, body, p5_, take_it) ||
                     read_as(stop, id, body, p5_, take_it) || read_as(error, id, body, p5_, take_it);
  if (!known) p5_.count_unexpected();
}

void PhyLink::take(const fapi::ParamResponse& response, Time now) {
  if (state() != State::param) return p5_.count_unexpected();
  // A PHY that runs has been started by an earlier life of this link.
  if (response.error_code != ErrorCode::kOk) return ask(State::stop, now);
  capabilities_ = response;
  ask(State::config, now);
}

void PhyLink::take(const fapi::ConfigResponse& response, Time now) {
  if (state() != State::config) return p5_.count_unexpected();
  if (response.error_code == ErrorCode::kInvalidState) return ask(State::stop, now);
  if (response.error_code != ErrorCode::kOk) {
    counters_.config_refused.add(1);
    go_away(now);
    return owner_.config_is_refused(response);
  }
  p7_.restart();
  ask(State::start, now);
}

void PhyLink::take(const fapi::StopIndication&, Time now) {
  if (state() == State::running) {
    counters_.restarts.add(1);
    leave_running();
    return ask(State::param, now);
  }
  if (state() != State::stop) return p5_.count_unexpected();
  if (ending_) {
    state_ = State::ended;
  } else {
    ask(State::param, now);
  }
}

void PhyLink::take(const fapi::ErrorIndication& error, Time now) {
  counters_.errors.add(1);
  owner_.receive(error);
  if (error.error_code != ErrorCode::kInvalidState) return;
  // A START.request that was sent again may bring an error from a PHY that runs: only messages of slots say that it
  // does not.
  if (state() == State::running && error.message_id >= static_cast<std::uint8_t>(MessageId::kDlTtiRequest)) {
    counters_.restarts.add(1);
    leave_running();
    ask(State::param, now);
  } else if (state() == State::stop && error.message_id == static_cast<std::uint8_t>(MessageId::kStopRequest)) {
    take(fapi::StopIndication{}, now);  // an answer to a STOP.request that was lost, or the PHY did not run
  }
}

void PhyLink::take_p7(std::uint16_t id, wire::Octets body, Time now) {
  const auto to_owner = [this, now](const auto& message) {
    if (state() != State::running) return p7_.count_unexpected();
    last_arrival_ = now;
    owner_.receive(message);
  };
  fapi::SlotIndication slot;
  const bool known = read_as(slot, id, body, p7_, [this, now](const auto& message) { take(message, now); }) ||
                     read_as(*rx_data_, id, body, p7_, to_owner) || read_as(*crc_, id, body, p7_, to_owner) ||
                     read_as(*uci_, id, body, p7_, to_owner);
  if (!known) p7_.count_unexpected();
}

void PhyLink::take(const fapi::SlotIndication& slot, Time now) {
  const unsigned numerology = settings_.config.scs_common.value_or(0);
  if (slot.slot >= slots_per_frame(numerology) || (state() != State::start && state() != State::running)) {
    return p7_.count_unexpected();
  }
  if (state() == State::start) {
    state_ = State::running;
    counters_.starts.add(1);
    owner_.phy_runs(capabilities_);
  } else {
    // A SLOT.indication that was overtaken says nothing new.
    const unsigned ahead = slots_between(slot_, slot, numerology);
    if (ahead == 0 || ahead > 512 * slots_per_frame(numerology)) return p7_.count_unexpected();
    counters_.slots_missed.add(ahead - 1);
  }
  last_arrival_ = now;
  slot_ = slot;
  counters_.slots.add(1);
  p7_.anchor(slot.sfn, slot.slot, numerology, now);
  owner_.slot_begins(slot);
}

}  // namespace splitplane::phy
