#include "gnb/place/move_to_card.h"

#include <rte_cycles.h>

#include <algorithm>

#include "base/log.h"
#include "card/protocol/lease.h"

namespace splitplane::gnb {
namespace {

// A lease that lets no packet through: all of it is for packets that the host returns, and none comes.
constexpr std::uint32_t kClosed = 1;
// Without a journal COUNTs have no lease. A number that no run of this host has used marks a move that was cut off.
constexpr std::uint32_t kFarAhead = 1024;

// On the worker's thread: of the PDUs that the bearer's host sends.
std::uint8_t epoch_of(datapath::GnbContext& gnb, const ran::BearerDownlink& line) {
  if (const datapath::ArqBearer* const arq = gnb.arq_bearers.find(line.id); arq != nullptr) return arq->epoch;
  std::uint8_t epoch = 0;
  std::memcpy(&epoch, reinterpret_cast<const std::uint8_t*>(&line.airhdr) + 3, 1);
  return epoch;
}

}  // namespace

void MoveToCard::run() {
  const auto run = batch_.link->begin_move(batch_.ids());
  if (!run) return batch_.fail_all(run.error().message);
  batch_.run = *run;
  if (arm() && read_numbers() && commit()) begin();
}

bool MoveToCard::arm() {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  const std::uint64_t token = random_token();
  std::vector<datapath::CardMoves::Bearer> moving;
  for (const MovingBearer& one : batch_.bearers)
    moving.push_back({.id = one.config.id, .on_card = ran::make_on_card(one.config), .at_host = {}});
  bool is_hosts = true;
  const bool listened = batch_.execute([&] {
    for (MovingBearer& one : batch_.bearers) {
      const std::uint32_t id = one.config.id.value;
      const ran::BearerDownlink& line = *gnb.bearers.bearer_line(id);
      is_hosts = is_hosts && ran::BearerTable::is(line, id);
      // The card must not number anything before it learns where the host stopped; should this process end meanwhile,
      // the next one finds a number there that this one has never used.
      const std::uint32_t lease_end = batch_.leased ? gnb.bearers.lease(id)->end : ran::kCountEnd;
      const std::uint32_t end = lease_end == ran::kCountEnd ? line.pdcp_tx_next + kFarAhead : lease_end;
      one.entry.next_count = end;
      const std::uint32_t half = 1U << (one.config.pdcp_sn_bits - 1);
      one.entry.ahead = std::min(end - line.pdcp_tx_next, half - 1);
      one.entry.lease = kClosed;
      one.entry.epoch = ran::next_epoch(epoch_of(gnb, line));  // that one begins RLC anew there
      one.entry.in_flight = 0;
    }
    if (is_hosts) gnb.card_moves.begin(token, datapath::CardMoves::To::kCard, std::move(moving));
  });
  if (!listened || !is_hosts) {
    batch_.link->give_up_move(batch_.ids());
    batch_.fail_all(listened ? "its worker does not number it"
                             : fmt::format("worker {} does not answer", batch_.worker->config.name));
    return false;
  }
  std::vector<nic::CardBearer> entries;
  for (const MovingBearer& one : batch_.bearers) entries.push_back(one.entry);
  if (auto installed = card_.install(entries); !installed) {
    go_back(installed.error().message);
    return false;
  }
  auto fenced = card_.fence(batch_.ids(), token);
  fenced_ = std::chrono::steady_clock::now();
  if (!fenced) {
    go_back(fenced.error().message);
    return false;
  }
  rows_ = std::move(fenced->rows);
  if (batch_.await_fences(fenced->n3, 0)) return true;
  go_back("no fence came from the card");
  return false;
}

bool MoveToCard::read_numbers() {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  bool all_fenced = true, passed = false;
  const bool listened = batch_.execute([&] {
    auto& moving = gnb.card_moves.bearers();
    for (std::size_t i = 0; i < batch_.bearers.size(); ++i) {
      MovingBearer& one = batch_.bearers[i];
      const datapath::CardMoves::Bearer& at = moving[i];
      const std::uint32_t id = one.config.id.value;
      all_fenced = all_fenced && at.fenced;
      passed = passed || static_cast<std::int32_t>(at.at_host.pdcp_tx_next - one.entry.next_count) > 0;
      one.next_count = at.at_host.pdcp_tx_next;
      one.next_rlc = at.at_host.rlc_tx_next;
      one.numbers = rows_[i].numbers;
      std::uint32_t length = lease_length(one.config.pdcp_sn_bits, 0);
      if (batch_.leased)
        length = std::min(length, gnb.bearers.lease(id)->end - std::min(gnb.bearers.lease(id)->end, one.next_count));
      if (datapath::ArqBearer* const arq = gnb.arq_bearers.find(id); arq != nullptr) {
        const auto left = static_cast<std::int32_t>(arq->limit() - arq->next());
        length = std::min(length, static_cast<std::uint32_t>(std::max(left, 0)));
        datapath::Arq::set_of_card(*arq, true);
      }
      one.lease_end = one.next_count + within_counts(one.next_count, length);
      const std::uint64_t dropped = at.on_card.received;  // until the fence
      arrivals_.push_back({.want = one.entry,
                           .beginning = {.id = one.config.id,
                                         .next_count = one.next_count,
                                         .next_rlc = one.next_rlc,
                                         .lease_end = one.lease_end,
                                         .settled = rows_[i].numbers.in_flight,
                                         .epoch = epoch_of(gnb, at.at_host)},
                           .before = {.dl_packets = at.at_host.received - dropped, .dl_octets = at.at_host.bytes},
                           .numbers = rows_[i].numbers});
    }
  });
  if (listened && all_fenced && !passed) return true;
  go_back(!listened ? "its worker does not answer"
          : passed  ? "it has used up its lease meanwhile"
                    : "a fence did not name it");
  return false;
}

bool MoveToCard::commit() {
  const auto moved = batch_.link->moved_here(batch_.run, arrivals_);
  if (!moved) go_back(moved.error().message);
  return moved.has_value();
}

void MoveToCard::begin() {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  std::vector<nic::CardBeginning> beginnings;
  for (const CardLink::Arrival& one : arrivals_) beginnings.push_back(one.beginning);
  const auto begun = card_.begin(beginnings);
  const bool listened = batch_.execute([&] {
    gnb.card_moves.end();
    for (std::size_t i = 0; i < batch_.bearers.size() && begun; ++i) {
      MovingBearer& one = batch_.bearers[i];
      one.in_flight = gnb.card_returns.held(one.config.id);
      gnb.card_returns.grant({.answers = {one.config.id, datapath::CardRequest::kUnasked},
                              .next = one.next_count,
                              .lease_end = one.lease_end,
                              .in_flight = 0},
                             rte_rdtsc());
    }
  });
  batch_.held = std::chrono::steady_clock::now() - fenced_;
  if (begun && listened) return batch_.link->arrived(batch_.ids());
  if (!listened) batch_.owed.emplace_back([&gnb] { gnb.card_moves.end(); });
  // The card may number them or not. It gives them up and gets them anew, behind what it may have numbered.
  log::warn("card {} did not say that it begins with {} bearers: {}; they begin anew there",
            batch_.link->settings().name, batch_.bearers.size(),
            begun ? "the worker does not answer" : begun.error().message);
  for (const MovingBearer& one : batch_.bearers) (void)batch_.link->restart(one.config.id);
}

// The host goes on. The link gives the card the way to the worker again.
void MoveToCard::go_back(const std::string& why) {
  const auto undo = [&gnb = *batch_.worker->gnb] {
    for (const datapath::CardMoves::Bearer& one : gnb.card_moves.bearers()) {
      ran::BearerDownlink& line = *gnb.bearers.bearer_line(one.id.value);
      // This may run late, when the bearer has been released.
      if (!one.fenced || !ran::is_on_card(line, one.id.value)) continue;
      const auto frames = gnb.card_returns.take(one.id);
      const std::uint64_t came = line.received - one.on_card.received;
      const std::uint64_t octets = line.bytes;
      line = one.at_host;
      line.received += came;
      line.bytes += octets;
      gnb.card_moves.deliver(frames);
      if (datapath::ArqBearer* const arq = gnb.arq_bearers.find(one.id.value); arq != nullptr)
        datapath::Arq::set_of_card(*arq, false);
    }
    gnb.card_moves.end();
  };
  if (!batch_.execute(undo)) batch_.owed.emplace_back(undo);
  batch_.link->give_up_move(batch_.ids());
  batch_.fail_all(why);
}

}  // namespace splitplane::gnb
