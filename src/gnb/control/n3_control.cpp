#include "gnb/control/n3_control.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "wire/bytes.h"

namespace splitplane::gnb {
namespace {

using PathChange = datapath::PathSupervisor::Change;
using Clock = std::chrono::steady_clock;

// How often next hops are looked at, and how often for new ones.
constexpr std::chrono::milliseconds kAsk{50}, kWatch{200};
constexpr std::chrono::milliseconds kLookForPeers{100};
constexpr std::size_t kForgottenPerTurn = 256;

std::string list_of(std::span<const std::uint8_t> types) {
  std::string text;
  for (const std::uint8_t type : types) text += fmt::format("{}{:#04x}", text.empty() ? "" : " ", type);
  return text;
}

void log_change(const std::string& port, const IpAddress& upf, PathChange change) {
  if (change == PathChange::kUp) log::info("N3 {}: the path to {} is up", port, upf.to_string());
  if (change == PathChange::kDown) log::warn("N3 {}: the path to {} is down: no Echo Response", port, upf.to_string());
  if (change == PathChange::kRestarted)
    log::warn("N3 {}: {} restarted: another restart counter", port, upf.to_string());
}

}  // namespace

void N3Control::serve(const Locked& locked, Time now) {
  if (cards_.look(locked, now)) next_question_ = now;
  for (const auto& worker : workers_.all()) {
    datapath::Punts* const punts = worker->gnb        ? &worker->gnb->punt
                                   : worker->dispatch ? &worker->dispatch->punt
                                                      : nullptr;
    if (punts == nullptr) continue;
    for (rte_ring* ring : punts->rings) drain_punts(locked, *worker, ring);
  }
  serve_paths(locked, now);
  if (now < next_question_) return;
  next_question_ = now + kAsk;
  uplinks_.serve(locked, now);
  const bool watch = now >= next_hops_;
  if (watch) next_hops_ = now + kWatch;
  for (auto& n3 : peers_.interfaces(locked)) {
    if (n3.config.peer_mac) continue;
    if (watch) {
      const auto hops = PeerTable::next_hops(n3);
      n3.neighbors.watch({hops.begin(), hops.end()}, now);
    }
    serve_neighbors(locked, n3, now);
  }
}

void N3Control::drain_punts(const Locked& locked, WorkerRuntime& worker, rte_ring* punts) {
  N3Interface& n3 = peers_.n3_of(worker);
  const auto now = std::chrono::steady_clock::now();
  void* packet = nullptr;
  for (unsigned budget = kPuntsPerTurn; budget != 0 && rte_ring_sc_dequeue(punts, &packet) == 0; --budget) {
    auto* m = static_cast<rte_mbuf*>(packet);
    const std::span<const std::uint8_t> frame(datapath::octets(m), m->data_len);
    const auto result = datapath::handle_neighbor_frame(frame, n3.own);
    if (result.refused_mac) n3.gtpu.count(NeighborCounter::neighbor_macs_refused);
    if (result.claim && !n3.config.peer_mac) {
      if (const auto event = n3.neighbors.take(*result.claim, now)) take_event(locked, n3, *event, now);
    }
    if (result.answer) inject(n3, *result.answer);
    if (!result.claim && !result.answer && !result.refused_mac) handle_gtpu(locked, n3, frame);
    rte_pktmbuf_free(m);
  }
}

bool N3Control::inject(N3Interface& n3, std::span<const std::uint8_t> frame) {
  WorkerRuntime* worker = n3.workers.empty() ? nullptr : n3.workers.front();
  if (worker == nullptr) return false;
  rte_mbuf* m = rte_pktmbuf_alloc(worker->gnb->pool);
  char* room = m == nullptr ? nullptr : rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size()));
  if (room != nullptr) std::copy(frame.begin(), frame.end(), room);
  if (room != nullptr && rte_ring_sp_enqueue(worker->gnb->inject, m) == 0) {
    worker->power.wakeup().wake();
    return true;
  }
  rte_pktmbuf_free(m);
  worker->gnb->stats.inject_refused.add(1);
  return false;
}

void N3Control::take_event(const Locked& locked, N3Interface& n3, const datapath::NeighborTable::Event& event,
                           Time now) {
  using What = datapath::NeighborTable::What;
  const std::string hop = event.ip.to_string();
  const char* const how = event.ip.is_v6() ? "neighbour discovery" : "ARP";
  switch (event.what) {
    case What::kFound:
      if (!tell(locked, n3, event.ip, event.mac)) return n3.neighbors.forget(event.ip, now);  // it is asked for again
      log::info("N3 {}: {} is at {}", n3.config.port, hop, event.mac.to_string());
      break;
    case What::kMoved:
      if (!tell(locked, n3, event.ip, event.mac)) return n3.neighbors.forget(event.ip, now);
      n3.gtpu.count(NeighborCounter::neighbor_moves);
      log::warn("N3 {}: {} moved from {} to {}", n3.config.port, hop, event.other.to_string(), event.mac.to_string());
      break;
    case What::kGone:
      (void)tell(locked, n3, event.ip, std::nullopt);
      n3.gtpu.count(NeighborCounter::neighbor_gone);
      log::warn("N3 {}: {} at {} does not answer {} any more: the path is down", n3.config.port, hop,
                event.mac.to_string(), how);
      return;
    case What::kUnanswered:
      log::warn("N3 {}: {} for {} gets no answer: the path is down, and no Echo Request can be sent", n3.config.port,
                how, hop);
      return;
    case What::kClaimRefused:
      n3.gtpu.count(NeighborCounter::neighbor_claims_refused);
      if (n3.gtpu.log_lines.allow(event.ip, now)) {
        log::warn("N3 {}: a frame claims that {} is at {}; it is not believed, since {} still answers", n3.config.port,
                  hop, event.other.to_string(), event.mac.to_string());
      }
      return;
  }
  for (const auto& [upf, path] : n3.gtpu.paths.paths()) {
    if (path.unresolved && PeerTable::next_hop(n3, upf) == event.ip) n3.gtpu.paths.ask_now(upf, now);
  }
}

// True if all workers that send by way of `hop` listened.
bool N3Control::tell(const Locked& locked, N3Interface& n3, const IpAddress& hop,
                     const std::optional<MacAddress>& mac) {
  const bool told = peers_.tell(locked, n3, hop, mac);
  cards_.tell(locked, n3, hop, mac);
  return told;
}

void N3Control::serve_neighbors(const Locked& locked, N3Interface& n3, Time now) {
  const auto turn = n3.neighbors.turn(now);
  for (const auto& event : turn.events) take_event(locked, n3, event, now);
  for (const auto& [ip, only] : turn.questions) {
    const auto request = datapath::make_neighbor_request(ip, n3.own, only);
    if (request && inject(n3, *request)) n3.gtpu.count(NeighborCounter::neighbor_questions);
  }
  n3.gtpu.neighbor_counters[static_cast<std::size_t>(NeighborCounter::neighbor_checks)] = n3.neighbors.checks();
}

void N3Control::handle_gtpu(const Locked& locked, N3Interface& n3, std::span<const std::uint8_t> frame) {
  const auto message = datapath::read_n3_message(frame);
  const auto now = Clock::now();
  GtpuRuntime& gtpu = n3.gtpu;
  if (!message) return;  // a neighbor's frame without news
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
      return log_change(n3.config.port, message->ends.source, *change);
    }
    case Duty::kTakeErrorIndication:
      return uplinks_.take_error_indication(locked, n3, *message, now);
    case Duty::kTakeEndMarker:
      return uplinks_.take_end_marker(locked, n3, *message);
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

void N3Control::answer_extension(N3Interface& n3, const datapath::N3Message& message, Time now) {
  if (!n3.gtpu.extension_notifications.allow(message.ends.source, now)) {
    return n3.gtpu.count(GtpuCounter::extension_notifications_withheld);
  }
  if (!inject(n3, datapath::notify_extensions(message, n3.own.mac))) return;
  n3.gtpu.count(GtpuCounter::extension_notifications_sent);
}

void N3Control::answer_unknown_teid(N3Interface& n3, const datapath::N3Message& gpdu, Time now) {
  const BearerId id{gpdu.header.teid.value};
  if (store_.find_downlink(Teid{id.value}) != nullptr) return;  // added meanwhile
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

void N3Control::serve_paths(const Locked& locked, Time now) {
  const bool look = now >= next_look_;
  if (look) next_look_ = now + kLookForPeers;
  for (N3Interface& n3 : peers_.interfaces(locked)) {
    if (look) {
      const auto upfs = PeerTable::upfs(n3);
      n3.gtpu.paths.watch({upfs.begin(), upfs.end()}, now);
    }
    const auto turn =
        n3.gtpu.paths.turn(now, [&](const IpAddress& upf) { return PeerTable::mac_of(n3, upf).has_value(); });
    for (const auto& [upf, sequence_number] : turn.requests) {
      const datapath::N3Ends ends{
          .source_mac = n3.own.mac,
          .destination_mac = *PeerTable::mac_of(n3, upf),
          .source = *(upf.is_v6() ? n3.own.ipv6 : n3.own.ipv4),
          .destination = upf,
          .tags = n3.config.vlan == 0 ? std::vector<std::uint16_t>{} : std::vector<std::uint16_t>{n3.config.vlan}};
      if (inject(n3, datapath::request_echo(ends, sequence_number))) n3.gtpu.count(GtpuCounter::echo_requests_sent);
    }
    for (const auto& event : turn.events) {
      log_change(n3.config.port, event.upf, event.change);
      if (event.change == PathChange::kDown) n3.neighbors.doubt(PeerTable::next_hop(n3, event.upf), now);
    }
    forget_released(n3, now);
  }
}

void N3Control::remember_released(const Locked& /*locked*/, const WorkerRuntime& worker, BearerId id) {
  N3Interface& n3 = peers_.n3_of(worker);
  const std::chrono::seconds silence{n3.config.released_teid_silence_s};
  if (silence.count() == 0) return;
  const auto until = Clock::now() + silence;
  n3.gtpu.released[id.value] = until;
  n3.gtpu.released_in_order.emplace_back(until, id.value);
}

// A few a turn: releasing many bearers at once must not keep a worker from its packets.
void N3Control::forget_released(N3Interface& n3, Time now) {
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
    if (WorkerRuntime* worker = workers_.owner_of(id)) lines[worker].push_back(id);
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

std::vector<PathObservation> N3Control::observe_paths(const N3Interface& n3) {
  std::vector<PathObservation> all;
  for (const auto& [upf, path] : n3.gtpu.paths.paths()) {
    using datapath::PathCause, datapath::PathState;
    PathObservation one{.upf = upf, .path = path, .state = path.state};
    const bool resolved = PeerTable::mac_of(n3, upf).has_value();
    if (!resolved) {
      const bool unanswered = path.unresolved || n3.neighbors.is_unanswered(PeerTable::next_hop(n3, upf));
      one.state = unanswered ? PathState::down : PathState::resolving;
      if (unanswered) one.cause = upf.is_v6() ? PathCause::nd_unanswered : PathCause::arp_unanswered;
    } else if (path.state == PathState::down) {
      // With an address since a moment: the Echo Request is on its way.
      one.state = path.unresolved ? PathState::unknown : PathState::down;
      if (!path.unresolved) one.cause = PathCause::no_echo_response;
    }
    one.resolved = resolved;
    all.push_back(one);
  }
  return all;
}

std::vector<N3Observation> N3Control::observe(const Locked& locked) const {
  std::vector<N3Observation> all;
  for (const N3Interface& n3 : peers_.interfaces(locked))
    all.push_back({n3.config.port, n3.gtpu.counters, n3.gtpu.neighbor_counters, observe_paths(n3)});
  return all;
}

nlohmann::json N3Control::peer_rows(const Locked& locked) const {
  nlohmann::json rows = nlohmann::json::array();
  for (const N3Interface& n3 : peers_.interfaces(locked)) {
    for (const PathObservation& one : observe_paths(n3)) {
      const auto& path = one.path;
      const auto mac = PeerTable::mac_of(n3, one.upf);
      const bool down = one.cause != datapath::PathCause::none;
      rows.push_back({{"name", one.upf.to_string()},
                      {"port", n3.config.port},
                      {"state", datapath::name_of(one.state)},
                      {"cause", down ? nlohmann::json(datapath::name_of(one.cause)) : nlohmann::json(nullptr)},
                      {"mac", mac ? nlohmann::json(mac->to_string()) : nlohmann::json(nullptr)},
                      {"bearers", PeerTable::bearers_towards(n3, one.upf)},
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

nlohmann::json N3Control::gtpu_rows(const Locked& locked) const {
  nlohmann::json rows = nlohmann::json::array();
  for (const N3Interface& n3 : peers_.interfaces(locked)) {
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

}  // namespace splitplane::gnb
