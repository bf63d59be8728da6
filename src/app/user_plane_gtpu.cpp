// GTP-U path and tunnel management of the running user plane (TS 29.281 7.2 and 7.3), on the control thread: Echo in
// both directions, Error Indication, End Marker, Supported Extension Headers Notification. Workers hand the frames
// over.
#include <algorithm>
#include <set>

#include "app/user_plane.h"
#include "base/log.h"
#include "datapath/n3_message.h"

namespace splitplane::app {
namespace {

using Change = datapath::PathSupervisor::Change;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookForPeers{100};
constexpr std::size_t kForgottenPerTurn = 256;

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
      return take_error_indication(n3, *message);
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

// The UPF does not know the uplink TEID: sending there has no use until the session management gives another one. Only
// the UPF itself may say so.
void UserPlane::take_error_indication(N3Runtime& n3, const datapath::N3Message& message) {
  const auto indication = wire::gtpu::parse_error_indication(message.octets, message.header);
  const auto& octets = indication->address;
  const IpAddress upf = indication->address_bytes == 16 ? IpAddress::v6(octets)
                                                        : IpAddress::v4({octets[0], octets[1], octets[2], octets[3]});
  const auto* bearer = message.ends.source == upf ? store_->find_uplink(upf, indication->teid) : nullptr;
  BearerGtpu* seen = bearer == nullptr ? nullptr : &bearer_gtpu_[bearer->id.value];
  if (seen != nullptr) ++seen->error_indications;
  // Of a bearer that is being changed it may be meant for what is replaced; the UPF says it again with the next packet.
  if (seen == nullptr || seen->uplink_stopped || bearer->id == changing_)
    return n3.gtpu.count(GtpuCounter::error_indications_unmatched);
  WorkerRuntime& worker = *owner_of(bearer->id.value);
  datapath::GnbContext* gnb = worker.gnb.get();
  const std::uint32_t id = bearer->id.value;
  const bool done = worker.execute([gnb, id] { gnb->bearers.uplink_line(id)->peer = datapath::kStoppedPeer; });
  if (!done) return n3.gtpu.count(GtpuCounter::error_indications_unmatched);
  seen->uplink_stopped = true;
  if (!bearer->card.empty()) put_soon_on_card(worker, *bearer);
  n3.gtpu.count(GtpuCounter::error_indications_received);
  log::warn("N3 {}: {} does not know TEID {:#010x}: bearer {:#010x} sends no uplink until it is modified",
            n3.config.port, upf.to_string(), indication->teid.value, id);
}

void UserPlane::take_end_marker(N3Runtime& n3, const datapath::N3Message& message) {
  const auto teid = wire::gtpu::parse_end_marker(message.header);
  const ran::BearerConfig* bearer = store_->find_downlink(*teid);
  if (bearer == nullptr) return n3.gtpu.count(GtpuCounter::end_markers_unmatched);
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
      const datapath::N3Ends ends{.source_mac = n3.own.mac,
                                  .destination_mac = *mac_of(n3, upf),
                                  .source = *(upf.is_v6() ? n3.own.ipv6 : n3.own.ipv4),
                                  .destination = upf,
                                  .tags = {}};
      if (inject(n3, datapath::request_echo(ends, sequence_number))) n3.gtpu.count(GtpuCounter::echo_requests_sent);
    }
    for (const auto& event : turn.events) tell(n3.config.port, event.upf, event.change);
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
    for (const auto& [upf, path] : n3.gtpu.paths.paths()) {
      std::size_t bearers = 0;
      for (const WorkerRuntime* worker : n3.workers) {
        for (const UpfPeer& peer : worker->peers) bearers += peer.upf == upf ? peer.bearers : 0;
      }
      const auto mac = mac_of(n3, upf);
      rows.push_back({{"name", upf.to_string()},
                      {"port", n3.config.port},
                      {"state", datapath::name_of(path.state)},
                      {"mac", mac ? nlohmann::json(mac->to_string()) : nlohmann::json(nullptr)},
                      {"bearers", bearers},
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
    rows.push_back(std::move(row));
  }
  return rows;
}

Expected<nlohmann::json> UserPlane::peers() {
  const std::lock_guard guard(mutex_);
  return peer_rows();
}

}  // namespace splitplane::app
