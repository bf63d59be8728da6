#include "explain/guard.h"

#include <unistd.h>

#include <algorithm>

#include "explain/guard_words.h"

namespace splitplane::app {
namespace {

using guard::Side;

constexpr std::size_t kExplainMegabytes = 96;
constexpr std::uint32_t kMostEntries = 4096;  // of each table: a story has few packets
constexpr unsigned kBuffers = 1023, kRingEntries = 256;

template <class Counts>
std::optional<guard::Outcome> outcome_since(const Counts& before, const Counts& after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] != before[i]) return static_cast<guard::Outcome>(i);
  }
  return std::nullopt;
}

}  // namespace

Expected<std::unique_ptr<GuardExplainer>> GuardExplainer::make(const GuardConfig& config, bool armed) {
  auto eal = datapath::Eal::start({.file_prefix = fmt::format("splitplane-explain-{}", ::getpid()),
                                   .megabytes = kExplainMegabytes,
                                   .hugepages = false,
                                   .alone = true,
                                   .log_level = "error"});
  if (!eal) return tl::unexpected(eal.error());
  return make_on(std::move(*eal), config, armed);
}

Expected<std::unique_ptr<GuardExplainer>> GuardExplainer::make_on(std::optional<datapath::Eal> eal,
                                                                  const GuardConfig& config, bool armed) {
  std::unique_ptr<GuardExplainer> explainer(new GuardExplainer(config, std::move(eal)));
  if (auto built = explainer->build(armed); !built) return tl::unexpected(built.error());
  return explainer;
}

GuardExplainer::GuardExplainer(const GuardConfig& config, std::optional<datapath::Eal> eal)
    : config_(config), eal_(std::move(eal)) {}

GuardExplainer::~GuardExplainer() = default;

Expected<void> GuardExplainer::build(bool armed) {
  const auto room = static_cast<std::uint16_t>(config_.memory.mbuf_data_bytes + RTE_PKTMBUF_HEADROOM);
  pool_.reset(rte_pktmbuf_pool_create("explain", kBuffers, 0, 0, room, SOCKET_ID_ANY));
  if (!pool_) return fail("no memory for packet buffers of {} octets", config_.memory.mbuf_data_bytes);
  for (std::size_t side = 0; side < in_.size(); ++side) {
    in_[side].reset(
        rte_ring_create(fmt::format("explain-in{}", side).c_str(), kRingEntries, SOCKET_ID_ANY, RING_F_SC_DEQ));
    out_[side].reset(
        rte_ring_create(fmt::format("explain-out{}", side).c_str(), kRingEntries, SOCKET_ID_ANY, RING_F_SP_ENQ));
    if (!in_[side] || !out_[side]) return fail("no memory for the rings of the guard");
  }
  guard::GuardSettings settings{.sources = config_.sources,
                                .flows = config_.flows,
                                .key_seconds = config_.key_seconds,
                                .replies_per_second = config_.limits.replies_per_second,
                                .unproven_per_second = config_.limits.unproven_per_second};
  settings.sources.entries = std::min(settings.sources.entries, kMostEntries);
  settings.flows.entries = std::min(settings.flows.entries, kMostEntries);
  auto tables =
      guard::StateFile::open({.path = "", .workers = 1, .sources = settings.sources, .flows = settings.flows});
  if (!tables) return tl::unexpected(tables.error());
  tables_.emplace(*std::move(tables));
  const auto part = tables_->part(0);
  guard_.emplace(settings, guard::GuardMemory{part.sources, part.flows, part.keys, part.secret});
  for (guard::ServerRule rule : config_.servers) {
    if (armed) rule.arm = guard::Arm::kAlways;
    if (auto put = guard_->put_server(rule); !put) return tl::unexpected(put.error());
  }
  function_.emplace(*guard_, guard::GuardClock::of_this_machine(),
                    Function::Ends{{in_[0].get()}, {in_[1].get()}, {out_[0].get()}, {out_[1].get()}});
  return {};
}

Expected<rte_mbuf*> GuardExplainer::packet(const std::vector<std::uint8_t>& frame) const {
  rte_mbuf* m = rte_pktmbuf_alloc(pool_.get());
  char* const room = m == nullptr ? nullptr : rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size()));
  if (room == nullptr || frame.size() > config_.memory.mbuf_data_bytes) {
    rte_pktmbuf_free(m);
    return fail("{} octets do not fit the packet buffers", frame.size());
  }
  std::copy(frame.begin(), frame.end(), room);
  return m;
}

Side GuardExplainer::side_of(rte_mbuf* m) const {
  guard::Segment segment;
  const guard::SegmentParser parser(guard_->servers);
  parser.parse(m, Side::kClient, segment);
  if (segment.kind != guard::Kind::kOther) return Side::kClient;
  parser.parse(m, Side::kServer, segment);
  return segment.kind == guard::Kind::kOther ? Side::kClient : Side::kServer;
}

void GuardExplainer::look_before(rte_mbuf* m, GuardOutcome& outcome) {
  guard::Segment& segment = outcome.segment;
  guard::SegmentParser(guard_->servers).parse(m, outcome.from, segment);
  if (segment.kind == guard::Kind::kOther) return;
  const guard::ProtectedServer& server = guard_->servers.at(segment.server);
  outcome.server = server.rule;
  outcome.acts = server.acts;
  if (segment.kind == guard::Kind::kUnsound) return;
  if (segment.kind == guard::Kind::kTcp) outcome.options = options_of(segment.tcp_octets(), segment.tcp);
  const std::uint32_t now = guard::GuardClock::of_this_machine().at(rte_rdtsc()).seconds;
  outcome.proof = guard_->sources.find(guard::SourceTable::key_of(segment.tuple), now);
  if (segment.kind == guard::Kind::kFragment) return;
  const guard::Flow* const flow = guard_->flows.find(segment.tuple, guard_->flows.hash_of(segment.tuple), now);
  if (flow != nullptr) outcome.flow = *flow;
}

void GuardExplainer::take_sent(GuardOutcome& outcome) {
  for (const Side to : {Side::kClient, Side::kServer}) {
    void* packet = nullptr;
    while (rte_ring_sc_dequeue(out_[static_cast<std::size_t>(to)].get(), &packet) == 0) {
      auto* const m = static_cast<rte_mbuf*>(packet);
      outcome.sent.push_back({to, {datapath::octets(m), datapath::octets(m) + m->data_len}});
      rte_pktmbuf_free(m);
    }
  }
}

Expected<GuardOutcome> GuardExplainer::run(const std::vector<std::uint8_t>& frame, std::optional<Side> from) {
  auto m = packet(frame);
  if (!m) return tl::unexpected(m.error());
  GuardOutcome outcome;
  outcome.from = from ? *from : side_of(*m);
  outcome.bytes = frame.size();
  look_before(*m, outcome);
  const auto side = static_cast<std::size_t>(outcome.from);
  std::array<std::uint64_t, guard::kOutcomeCount> before{}, after{};
  const auto read = [&](auto& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = guard_->stats.outcomes[side][i].get();
  };
  read(before);
  datapath::Burst burst;
  burst.mbuf[0] = *m;
  burst.size = 1;
  burst.ahead_size = 0;
  function_->process(function_->queues()[side], burst);
  function_->flush();
  read(after);
  outcome.outcome = outcome_since(before, after).value_or(guard::Outcome::passed);
  outcome.segment.mbuf = nullptr;
  take_sent(outcome);
  return outcome;
}

std::string GuardExplainer::words_of(const GuardFrame& frame) const {
  auto m = packet(frame.octets);
  if (!m) return "a frame";
  guard::Segment segment;
  // What goes to the client side looks as if it came from the server side.
  guard::SegmentParser(guard_->servers).parse(*m, guard::other(frame.to), segment);
  std::string text = segment.kind == guard::Kind::kTcp
                         ? segment_words(segment, guard::other(frame.to), options_of(segment.tcp_octets(), segment.tcp))
                         : "unchanged";
  rte_pktmbuf_free(*m);
  return text;
}

}  // namespace splitplane::app
