// GTP-U path and tunnel management of the running user plane (TS 29.281 7.2 and 7.3), on the control thread: Echo in
// both directions, Error Indication, End Marker, Supported Extension Headers Notification. Workers hand the frames
// over.
#include <algorithm>
#include <set>

#include "base/log.h"
#include "gnb/control/instance.h"
#include "n3/message.h"

namespace splitplane::app {
namespace {

using Change = datapath::PathSupervisor::Change;
using Clock = std::chrono::steady_clock;
using datapath::UplinkState;

constexpr std::chrono::milliseconds kLookForPeers{100};
constexpr std::size_t kForgottenPerTurn = 256;
constexpr std::chrono::milliseconds kLookAtUplink{100};  // at one bearer's, after an Error Indication

std::string list_of(std::span<const std::uint8_t> types) {
  std::string text;
  for (const std::uint8_t type : types) text += fmt::format("{}{:#04x}", text.empty() ? "" : " ", type);
  return text;
}

void tell(const std::string& port, const IpAddress& upf, Change change) {
  if (change == Change::kUp) log::info("N3 {}: the path to {} is up", port, upf.to_string());
  if (change == Change::kDown) log::warn("N3 {}: the path to {} is down: no Echo Response", port, upf.to_string());
  if (change == Change::kRestarted) log::warn("N3 {}: {} restarted: another restart counter", port, upf.to_string());
}

}  // namespace

void UserPlane::handle_gtpu(N3Runtime& n3, std::span<const std::uint8_t> frame) {
  const auto message = datapath::read_n3_message(frame);
  const auto now = Clock::now();
  GtpuRuntime& gtpu = n3.gtpu;
  if (!message) return;  // a neighbour's frame without news
  using Duty = datapath::N3Duty;
  switch (datapath::duty_of(*message)) {
    case Duty::kNone:
      return;
    case Duty::kMalformed:
      return gtpu.count(GtpuCounter::malformed);
    case Duty::kNotifyExtensions:
      return answer_extension(n3, *message, now);
    case Duty::kIndicateError:
      return answer_unknown_teid(n3, *message, now);
    case Duty::kAnswerEcho:
      gtpu.count(GtpuCounter::echo_requests_received);
      if (!gtpu.echo_responses.allow(message->ends.source, now)) {
        return gtpu.count(GtpuCounter::echo_responses_withheld);
      }
      if (inject(n3, *datapath::answer_echo(*message, n3.own.mac))) gtpu.count(GtpuCounter::echo_responses_sent);
      return;
    case Duty::kTakeEchoResponse: {
      const auto echo = *wire::gtpu::parse_echo(message->octets, message->header, wire::gtpu::kEchoResponse);
      const auto change = gtpu.paths.answered(message->ends.source, echo.sequence_number,
                                              echo.has_recovery ? std::optional(echo.recovery) : std::nullopt, now);
      if (!change) return gtpu.count(GtpuCounter::echo_responses_unasked);
      gtpu.count(GtpuCounter::echo_responses_received);
      return tell(n3.config.port, message->ends.source, *change);
    }
    case Duty::kTakeErrorIndication:
      return take_error_indication(n3, *message, now);
    case Duty::kTakeEndMarker:
      return take_end_marker(n3, *message);
    case Duty::kTakeExtensions: {
      const auto supported = *wire::gtpu::parse_supported_extensions(message->octets, message->header);
      gtpu.count(GtpuCounter::extension_notifications_received);
      if (gtpu.log_lines.allow(message->ends.source, now)) {
        log::warn("N3 {}: {} says that it supports the extension headers {} only", n3.config.port,
                  message->ends.source.to_string(), list_of(supported.types));
      }
      return;
    }
  }
}

void UserPlane::answer_extension(N3Runtime& n3, const datapath::N3Message& message, Clock::time_point now) {
  if (!n3.gtpu.extension_notifications.allow(message.ends.source, now)) {
    return n3.gtpu.count(GtpuCounter::extension_notifications_withheld);
  }
  if (!inject(n3, datapath::notify_extensions(message, n3.own.mac))) return;
  n3.gtpu.count(GtpuCounter::extension_notifications_sent);
}

void UserPlane::answer_unknown_teid(N3Runtime& n3, const datapath::N3Message& gpdu, Clock::time_point now) {
  const BearerId id{gpdu.header.teid.value};
  if (store_->find_downlink(Teid{id.value}) != nullptr) return;  // added meanwhile
  const auto released = n3.gtpu.released.find(id.value);
  const bool silent = released != n3.gtpu.released.end() && now < released->second;
  if (silent || !n3.gtpu.error_indications.allow(gpdu.ends.source, now)) {
    return n3.gtpu.count(GtpuCounter::error_indications_withheld);
  }
  if (!inject(n3, datapath::indicate_error(gpdu, n3.own.mac))) return;
  n3.gtpu.count(GtpuCounter::error_indications_sent);
  log::debug("N3 {}: {} sends to TEID {:#010x}, which no bearer has", n3.config.port, gpdu.ends.source.to_string(),
             id.value);
}

// The UPF does not know the uplink TEID: sending there has no use until it does, or the session management gives
// another one. Only the UPF itself may say so, and it must say it again after a check (n3/uplink_check.h).
void UserPlane::take_error_indication(N3Runtime& n3, const datapath::N3Message& message, Clock::time_point now) {
  const auto indication = wire::gtpu::parse_error_indication(message.octets, message.header);
  const auto& octets = indication->address;
  const IpAddress upf = indication->address_bytes == 16 ? IpAddress::v6(octets)
                                                        : IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
  const bool from_upf = message.ends.source == upf || n3.config.any_source;
  const auto* bearer = from_upf ? store_->find_uplink(upf, indication->teid) : nullptr;
  WorkerRuntime* worker = bearer == nullptr ? nullptr : owner_of(bearer->id.value);
  // Of a bearer that is being changed it may be meant for what is replaced; the UPF says it again with the next packet.
  if (worker == nullptr || n3_of(*worker) != &n3 || bearer->id == changing_) {
    return n3.gtpu.count(GtpuCounter::error_indications_unmatched);
  }
  n3.gtpu.count(GtpuCounter::error_indications_received);
  BearerGtpu& seen = bearer_gtpu_[bearer->id.value];
  ++seen.error_indications;
  if (seen.uplink_stopped() || now - seen.looked < kLookAtUplink) return;
  if (seen.uplink.state() == datapath::UplinkState::active && !n3.gtpu.uplink_checks.allow(upf, now)) {
    return n3.gtpu.count(GtpuCounter::error_indications_limited);
  }
  seen.looked = now;
  const auto path = n3.gtpu.paths.paths().find(upf);
  const Time echo = path == n3.gtpu.paths.paths().end() ? Time{} : path->second.answered_at;
  using Act = datapath::UplinkCheck::Act;
  const auto before = seen.uplink;
  const Act act = seen.uplink.indicated(now, uplink_packets(*worker, *bearer), echo);
  if (act == Act::kAskUpf) {
    n3.gtpu.paths.ask_now(upf, now);
    uplinks_in_check_.insert(bearer->id.value);
  }
  if (act != Act::kStop) return;
  if (!stop_uplink(*worker, *bearer, true)) {
    seen.uplink = before;
    return;
  }
  ++seen.uplink_stops;
  n3.gtpu.count(GtpuCounter::uplinks_stopped);
  if (!n3.gtpu.log_lines.allow(upf, now)) return;
  log::warn("N3 {}: {} does not know TEID {:#010x}: bearer {:#010x} sends no uplink for {} s, then it is tried again",
            n3.config.port, upf.to_string(), indication->teid.value, bearer->id.value,
            std::chrono::duration_cast<std::chrono::seconds>(seen.uplink.until() - now).count());
}

// How many went out. The packets of a bearer on a card are the card's: there each look counts as one more.
std::uint64_t UserPlane::uplink_packets(WorkerRuntime& worker, const ran::BearerConfig& bearer) {
  const std::uint32_t id = bearer.id.value;
  if (!bearer.card.empty()) return bearer_gtpu_[id].error_indications;
  datapath::GnbContext* gnb = worker.gnb.get();
  const auto sent = std::make_shared<std::uint64_t>(0);
  const bool done = worker.execute([gnb, id, sent] { *sent = gnb->bearers.uplink_line(id)->received; });
  return done ? *sent : 0;
}

// False: the worker does not answer, and nothing was changed.
bool UserPlane::stop_uplink(WorkerRuntime& worker, const ran::BearerConfig& bearer, bool stop) {
  datapath::GnbContext* gnb = worker.gnb.get();
  const std::uint32_t id = bearer.id.value;
  const bool done = worker.execute([gnb, id, stop] {
    ran::BearerUplink& line = *gnb->bearers.uplink_line(id);
    if (line.id != id) return;
    if (stop) line.peer = datapath::kStoppedPeer;
    if (!stop && line.peer == datapath::kStoppedPeer) line.peer = line.home_peer;
  });
  if (done && !bearer.card.empty()) put_soon_on_card(worker, bearer);
  return done;
}

// Uplinks that are checked, stopped or tried again: what is due.
void UserPlane::serve_uplinks(Time now) {
  using Act = datapath::UplinkCheck::Act;
  for (auto at = uplinks_in_check_.begin(); at != uplinks_in_check_.end();) {
    const std::uint32_t id = *at;
    const auto seen = bearer_gtpu_.find(id);
    const ran::BearerConfig* bearer = store_->find(BearerId{id});
    if (seen == bearer_gtpu_.end() || bearer == nullptr || seen->second.uplink.state() == UplinkState::active) {
      at = uplinks_in_check_.erase(at);  // released or modified meanwhile
      continue;
    }
    ++at;
    datapath::UplinkCheck& uplink = seen->second.uplink;
    const Act act = uplink.turn(now);
    if (act == Act::kNone) continue;
    WorkerRuntime& worker = *owner_of(id);
    N3Runtime& n3 = *n3_of(worker);
    if (act == Act::kRefuted) n3.gtpu.count(GtpuCounter::error_indications_refuted);
    if (act != Act::kResume) continue;
    uplink.resumed(now, uplink_packets(worker, *bearer));  // first: what a card is told follows the state
    if (!stop_uplink(worker, *bearer, false)) {
      uplink.not_resumed(now);
      continue;
    }
    n3.gtpu.count(GtpuCounter::uplinks_resumed);
    n3.gtpu.paths.ask_now(bearer->upf, now);
    log::debug("N3 {}: bearer {:#010x} sends uplink again, to see whether {} knows it", n3.config.port, id,
               bearer->upf.to_string());
  }
}

void UserPlane::take_end_marker(N3Runtime& n3, const datapath::N3Message& message) {
  const auto teid = wire::gtpu::parse_end_marker(message.header);
  const ran::BearerConfig* bearer = store_->find_downlink(*teid);
  const bool from_upf = bearer != nullptr && (bearer->upf == message.ends.source || n3.config.any_source);
  if (!from_upf) return n3.gtpu.count(GtpuCounter::end_markers_unmatched);
  ++bearer_gtpu_[bearer->id.value].end_markers;
  n3.gtpu.count(GtpuCounter::end_markers_received);
}

void UserPlane::serve_paths(Clock::time_point now) {
  const bool look = now >= next_look_;
  if (look) next_look_ = now + kLookForPeers;
  for (N3Runtime& n3 : n3_) {
    if (look) {
      std::set<IpAddress, datapath::IpLess> upfs;
      for (const WorkerRuntime* worker : n3.workers) {
        for (const UpfPeer& peer : worker->peers) {
          if (peer.bearers != 0) upfs.insert(peer.upf);
        }
      }
      n3.gtpu.paths.watch({upfs.begin(), upfs.end()}, now);
    }
    const auto turn = n3.gtpu.paths.turn(now, [&](const IpAddress& upf) { return mac_of(n3, upf).has_value(); });
    for (const auto& [upf, sequence_number] : turn.requests) {
      const datapath::N3Ends ends{
          .source_mac = n3.own.mac,
          .destination_mac = *mac_of(n3, upf),
          .source = *(upf.is_v6() ? n3.own.ipv6 : n3.own.ipv4),
          .destination = upf,
          .tags = n3.config.vlan == 0 ? std::vector<std::uint16_t>{} : std::vector<std::uint16_t>{n3.config.vlan}};
      if (inject(n3, datapath::request_echo(ends, sequence_number))) n3.gtpu.count(GtpuCounter::echo_requests_sent);
    }
    for (const auto& event : turn.events) {
      tell(n3.config.port, event.upf, event.change);
      if (event.change == Change::kDown) n3.neighbors.doubt(next_hop(n3, event.upf), now);
    }
    forget_released(n3, now);
  }
}

void UserPlane::remember_released(WorkerRuntime& worker, BearerId id) {
  bearer_gtpu_.erase(id.value);
  N3Runtime& n3 = *n3_of(worker);
  const std::chrono::seconds silence{n3.config.released_teid_silence_s};
  if (silence.count() == 0) return;
  const auto until = Clock::now() + silence;
  n3.gtpu.released[id.value] = until;
  n3.gtpu.released_in_order.emplace_back(until, id.value);
}

// A few a turn: releasing many bearers at once must not keep a worker from its packets.
void UserPlane::forget_released(N3Runtime& n3, Clock::time_point now) {
  auto& released = n3.gtpu.released;
  auto& in_order = n3.gtpu.released_in_order;
  std::map<WorkerRuntime*, std::vector<std::uint32_t>> lines;
  for (std::size_t n = 0; n < kForgottenPerTurn && !in_order.empty(); ++n) {
    const auto [until, id] = in_order.front();
    if (now < until) break;
    in_order.pop_front();
    const auto entry = released.find(id);
    if (entry == released.end() || entry->second > now) continue;  // released once more since
    released.erase(entry);
    if (WorkerRuntime* worker = owner_of(id)) lines[worker].push_back(id);
  }
  for (auto& [worker, ids] : lines) {
    datapath::GnbContext* gnb = worker->gnb.get();
    (void)worker->execute([gnb, wanted = std::move(ids)] {
      for (const std::uint32_t id : wanted) {
        ran::BearerDownlink& line = *gnb->bearers.downlink_line(id);
        if (ran::is_released(line, id)) line = {};
      }
    });
  }
}

nlohmann::json UserPlane::peer_rows() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const N3Runtime& n3 : n3_) {
    for (const PathObservation& one : observe_paths(n3)) {
      const auto& path = one.path;
      std::size_t bearers = 0;
      for (const WorkerRuntime* worker : n3.workers) {
        for (const UpfPeer& peer : worker->peers) bearers += peer.upf == one.upf ? peer.bearers : 0;
      }
      const auto mac = mac_of(n3, one.upf);
      const bool down = one.cause != datapath::PathCause::none;
      rows.push_back({{"name", one.upf.to_string()},
                      {"port", n3.config.port},
                      {"state", datapath::name_of(one.state)},
                      {"cause", down ? nlohmann::json(datapath::name_of(one.cause)) : nlohmann::json(nullptr)},
                      {"mac", mac ? nlohmann::json(mac->to_string()) : nlohmann::json(nullptr)},
                      {"bearers", bearers},
                      {"rtt_us", path.rtt ? nlohmann::json(path.rtt->count()) : nlohmann::json(nullptr)},
                      {"restart_counter", path.restart_counter ? nlohmann::json(*path.restart_counter) : nullptr},
                      {"restarts", path.restarts},
                      {"times_down", path.downs},
                      {"echo_sent", path.sent},
                      {"echo_answered", path.answered},
                      {"echo_lost", path.lost}});
    }
  }
  return rows;
}

nlohmann::json UserPlane::gtpu_rows() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const N3Runtime& n3 : n3_) {
    nlohmann::json row{{"name", n3.config.port}};
    for (std::size_t i = 0; i < kGtpuCounterCount; ++i) {
      row[std::string(name_of(static_cast<GtpuCounter>(i)))] = n3.gtpu.counters[i];
    }
    for (std::size_t i = 0; i < kNeighborCounterCount; ++i) {
      row[std::string(name_of(static_cast<NeighborCounter>(i)))] = n3.gtpu.neighbor_counters[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<nlohmann::json> UserPlane::peers() {
  const std::lock_guard guard(mutex_);
  return peer_rows();
}

}  // namespace splitplane::app
