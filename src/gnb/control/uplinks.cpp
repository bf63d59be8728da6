#include "gnb/control/uplinks.h"

#include "base/log.h"

namespace splitplane::gnb {
namespace {

using datapath::UplinkState;
using Act = datapath::UplinkCheck::Act;

constexpr std::chrono::milliseconds kLookAtUplink{100};  // at one bearer's uplink, after an Error Indication

}  // namespace

void Uplinks::take_error_indication(const Locked& locked, N3Interface& n3, const datapath::N3Message& message,
                                    Time now) {
  const auto indication = wire::gtpu::parse_error_indication(message.octets, message.header);
  const auto& octets = indication->address;
  const IpAddress upf = indication->address_bytes == 16 ? IpAddress::v6(octets)
                                                        : IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
  const bool from_upf = message.ends.source == upf || n3.config.any_source;
  const auto* bearer = from_upf ? store_.find_uplink(upf, indication->teid) : nullptr;
  WorkerRuntime* worker = bearer == nullptr ? nullptr : workers_.owner_of(bearer->id.value);
  // Of a bearer that is being changed it may be meant for what is replaced; the UPF says it again with the next packet.
  if (worker == nullptr || &peers_.n3_of(*worker) != &n3 || bearer->id == changing_) {
    return n3.gtpu.count(GtpuCounter::error_indications_unmatched);
  }
  n3.gtpu.count(GtpuCounter::error_indications_received);
  Uplink& seen = bearers_[bearer->id.value];
  ++seen.error_indications;
  if (seen.is_stopped() || now - seen.looked < kLookAtUplink) return;
  if (seen.check.state() == UplinkState::active && !n3.gtpu.uplink_checks.allow(upf, now)) {
    return n3.gtpu.count(GtpuCounter::error_indications_limited);
  }
  seen.looked = now;
  const auto path = n3.gtpu.paths.paths().find(upf);
  const Time echo = path == n3.gtpu.paths.paths().end() ? Time{} : path->second.answered_at;
  const auto before = seen.check;
  const Act act = seen.check.indicated(now, packets(*worker, *bearer), echo);
  if (act == Act::kAskUpf) {
    n3.gtpu.paths.ask_now(upf, now);
    in_check_.insert(bearer->id.value);
  }
  if (act != Act::kStop) return;
  if (!stop(locked, *worker, *bearer, true)) {
    seen.check = before;
    return;
  }
  ++seen.stops;
  n3.gtpu.count(GtpuCounter::uplinks_stopped);
  if (!n3.gtpu.log_lines.allow(upf, now)) return;
  log::warn("N3 {}: {} does not know TEID {:#010x}: bearer {:#010x} sends no uplink for {} s, then it is tried again",
            n3.config.port, upf.to_string(), indication->teid.value, bearer->id.value,
            std::chrono::duration_cast<std::chrono::seconds>(seen.check.until() - now).count());
}

void Uplinks::take_end_marker(const Locked& /*locked*/, N3Interface& n3, const datapath::N3Message& message) {
  const auto teid = wire::gtpu::parse_end_marker(message.header);
  const ran::BearerConfig* bearer = store_.find_downlink(*teid);
  const bool from_upf = bearer != nullptr && (bearer->upf == message.ends.source || n3.config.any_source);
  if (!from_upf) return n3.gtpu.count(GtpuCounter::end_markers_unmatched);
  ++bearers_[bearer->id.value].end_markers;
  n3.gtpu.count(GtpuCounter::end_markers_received);
}

// How many went out. The packets of a bearer on a card are the card's: there each look counts as one more.
std::uint64_t Uplinks::packets(WorkerRuntime& worker, const ran::BearerConfig& bearer) {
  const std::uint32_t id = bearer.id.value;
  if (!bearer.card.empty()) return bearers_[id].error_indications;
  datapath::GnbContext* gnb = worker.gnb.get();
  const auto sent = std::make_shared<std::uint64_t>(0);
  const bool done = worker.execute([gnb, ids = with_its_tunnel(bearer), sent] {
    for (const std::uint32_t one : ids) *sent += gnb->bearers.uplink_line(one)->received;
  });
  return done ? *sent : 0;
}

std::vector<std::uint32_t> Uplinks::with_its_tunnel(const ran::BearerConfig& bearer) const {
  const ran::SessionConfig* session = store_.session_of(bearer.id);
  if (session == nullptr) return {bearer.id.value};
  std::vector<std::uint32_t> ids;
  for (const ran::SessionBearer& one : session->bearers) ids.push_back(one.config.id.value);
  return ids;
}

// False: the worker does not answer, and nothing was changed.
bool Uplinks::stop(const Locked& locked, WorkerRuntime& worker, const ran::BearerConfig& bearer, bool stop) {
  datapath::GnbContext* gnb = worker.gnb.get();
  const bool done = worker.execute([gnb, ids = with_its_tunnel(bearer), stop] {
    for (const std::uint32_t id : ids) {
      ran::BearerUplink& line = *gnb->bearers.uplink_line(id);
      if (line.id != id) continue;
      if (stop) line.peer = datapath::kStoppedPeer;
      if (!stop && line.peer == datapath::kStoppedPeer) line.peer = line.home_peer;
    }
  });
  // Uplink of a session with several bearers comes by the host, whatever the card serves.
  if (done && !bearer.card.empty() && store_.session_of(bearer.id) == nullptr)
    cards_.put_soon(locked, worker, bearer, is_stopped(locked, bearer.id));
  return done;
}

void Uplinks::serve(const Locked& locked, Time now) {
  for (auto at = in_check_.begin(); at != in_check_.end();) {
    const std::uint32_t id = *at;
    const auto seen = bearers_.find(id);
    const ran::BearerConfig* bearer = store_.find(BearerId{id});
    if (seen == bearers_.end() || bearer == nullptr || seen->second.check.state() == UplinkState::active) {
      at = in_check_.erase(at);  // released or modified meanwhile
      continue;
    }
    ++at;
    datapath::UplinkCheck& check = seen->second.check;
    const Act act = check.turn(now);
    if (act == Act::kNone) continue;
    WorkerRuntime& worker = *workers_.owner_of(id);
    N3Interface& n3 = peers_.n3_of(worker);
    if (act == Act::kRefuted) n3.gtpu.count(GtpuCounter::error_indications_refuted);
    if (act != Act::kResume) continue;
    check.resumed(now, packets(worker, *bearer));  // first: what a card is told follows the state
    if (!stop(locked, worker, *bearer, false)) {
      check.not_resumed(now);
      continue;
    }
    n3.gtpu.count(GtpuCounter::uplinks_resumed);
    n3.gtpu.paths.ask_now(bearer->upf, now);
    log::debug("N3 {}: bearer {:#010x} sends uplink again, to see whether {} knows it", n3.config.port, id,
               bearer->upf.to_string());
  }
}

bool Uplinks::is_stopped(const Locked& /*locked*/, BearerId id) const {
  const auto seen = bearers_.find(id.value);
  return seen != bearers_.end() && seen->second.is_stopped();
}

void Uplinks::begin_anew(const Locked& /*locked*/, BearerId id) {
  if (const auto seen = bearers_.find(id.value); seen != bearers_.end()) seen->second.check = {};
}

void Uplinks::add_to(const Locked& /*locked*/, BearerView& view) const {
  // A UPF names the tunnel, which several bearers of a session share: the first one stands for them.
  const ran::SessionConfig* session = store_.session_of(view.config.id);
  const auto seen = bearers_.find(session == nullptr ? view.config.id.value : session->teid().value);
  if (seen == bearers_.end()) return;
  view.uplink_stopped = seen->second.is_stopped();
  view.uplink_state = datapath::name_of(seen->second.check.state());
  view.uplink_stops = seen->second.stops;
  view.error_indications = seen->second.error_indications;
  view.end_markers = seen->second.end_markers;
}

}  // namespace splitplane::gnb
