#include "gnb/place/move_to_host.h"

#include <rte_cycles.h>

#include <algorithm>

#include "base/log.h"
#include "gnb/datapath/count_limit.h"
#include "returns/returned_frame.h"

namespace splitplane::gnb {
namespace {

using datapath::CardMoves;

constexpr std::uint32_t kMostMissing = 1U << 16;  // PDUs without a clone; more is no number of this bearer

}  // namespace

void MoveToHost::drain() {
  const auto run = batch_.link->begin_move(batch_.ids());
  if (!run) return batch_.fail_all(run.error().message);
  batch_.run = *run;
  if (!freeze() || !shorten_leases()) return;
  await_drained();
  commit();
}

bool MoveToHost::freeze() {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  std::vector<CardMoves::Bearer> moving;
  for (const MovingBearer& one : batch_.bearers) moving.push_back({.id = one.config.id, .on_card = {}, .at_host = {}});
  const bool listened = batch_.execute([&] {
    gnb.card_moves.begin(random_token(), CardMoves::To::kHost, std::move(moving));
    for (const MovingBearer& one : batch_.bearers) gnb.card_returns.freeze(one.config.id);
  });
  frozen_ = std::chrono::steady_clock::now();
  if (!listened) give_up(fmt::format("worker {} does not answer", batch_.worker->config.name));
  return listened;
}

// What the worker gave back before fits the reserve, so the card numbers that still.
bool MoveToHost::shorten_leases() {
  constexpr int kTries = 4;  // a card that goes on quickly may pass the new end before it hears of it
  std::string why;
  for (int i = 0; i < kTries; ++i) {
    const auto rows = card_.numbers(batch_.ids());
    if (!rows) {
      give_up(rows.error().message);
      return false;
    }
    std::vector<nic::CardLease> leases;
    for (std::size_t at = 0; at < rows->size() && at < batch_.bearers.size(); ++at) {
      const nic::CardNumbers& n = (*rows)[at].numbers;
      if (i == 0) batch_.bearers[at].lease_end = n.lease_end;
      const std::uint32_t end = n.pdcp_next + nic::kLeaseReserve;
      leases.emplace_back((*rows)[at].id, static_cast<std::int32_t>(n.lease_end - end) < 0 ? n.lease_end : end);
    }
    const auto set = card_.set_leases(leases);
    if (set) return true;
    why = set.error().message;
  }
  give_up(why);
  return false;
}

bool MoveToHost::pass_fences() {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  const std::uint64_t token = random_token();
  if (!batch_.execute([&] { gnb.card_moves.expect(token); })) return false;
  auto fenced = card_.fence(batch_.ids(), token);
  if (!fenced || !batch_.await_fences(fenced->n3, fenced->copies)) return false;
  rows_ = std::move(fenced->rows);
  held_.clear();
  return batch_.execute([&] {
    for (const CardMoves::Bearer& one : gnb.card_moves.bearers()) held_.push_back(one.held);
  });
}

// The card counts a bearer's packets that are at the host: those that wait here, and those on their way back. At the
// fence the worker has all that the card had sent by then. So if both numbers are the same, none is on its way back. A
// packet that the card could not read comes here uncounted, and could hide one that is; so the card's next COUNT must
// not have moved since the fences before either.
void MoveToHost::await_drained() {
  const auto until = frozen_ + kMoveLasts;
  std::string why = "the card has not numbered all packets that it got back";
  for (;;) {
    const bool passed = pass_fences();
    bool all = passed;
    for (std::size_t i = 0; i < batch_.bearers.size() && passed; ++i) {
      MovingBearer& one = batch_.bearers[i];
      const nic::CardNumbers& n = rows_[i].numbers;
      const auto seen = seen_.find(one.config.id.value);
      const bool is_still = seen != seen_.end() && seen->second == n.pdcp_next;
      const bool drained = n.in_flight <= held_[i] && is_still;
      seen_[one.config.id.value] = n.pdcp_next;
      one.failed = drained ? "" : why;
      one.numbers = n;
      one.next_count = n.pdcp_next;
      one.next_rlc = n.rlc_next;
      all = all && drained;
    }
    if (all) return;
    if (!passed) why = "no fence came from the card";
    if (std::chrono::steady_clock::now() > until) {
      if (!passed) batch_.fail_all(why);
      return;
    }
  }
}

// From here on the link tells the card that the host serves the bearers.
void MoveToHost::commit() {
  std::vector<BearerId> stay;
  std::vector<nic::CardBearer> wants;
  for (const MovingBearer& one : batch_.bearers) {
    if (one.failed.empty()) {
      wants.push_back(one.entry);
    } else {
      stay.push_back(one.config.id);
    }
  }
  let_go(stay);
  auto moved = batch_.link->moved_away(batch_.run, wants);
  if (moved) {
    asked_ = *std::move(moved);
    return;
  }
  std::vector<BearerId> all;
  for (const nic::CardBearer& want : wants) all.push_back(want.id);
  let_go(all);
  batch_.fail_all(moved.error().message);
}

void MoveToHost::arrive(const std::vector<ran::CountLease>& leases) {
  datapath::GnbContext& gnb = *batch_.worker->gnb;
  std::vector<LinkBearers::Served> served;
  for (const MovingBearer& one : batch_.bearers) served.push_back(batch_.link->served(one.config.id, one.numbers));
  const bool listened = batch_.execute([&] {
    gnb.card_moves.end();
    std::size_t next_lease = 0;
    for (std::size_t i = 0; i < batch_.bearers.size(); ++i) {
      MovingBearer& one = batch_.bearers[i];
      if (!one.failed.empty()) continue;
      const std::uint32_t id = one.config.id.value;
      datapath::ArqBearer* const arq = gnb.arq_bearers.find(id);
      if (arq != nullptr) {
        const std::uint32_t missing = one.next_rlc - arq->next();
        if (missing < kMostMissing) (void)gnb.arq->note_missing(*arq, missing);
        one.misses = arq->next() != one.next_rlc;
        gnb.arq->watch(*arq, rte_rdtsc());
        datapath::Arq::set_of_card(*arq, false);
      }
      ran::BearerDownlink& line = *gnb.bearers.bearer_line(id);
      const auto frames = gnb.card_returns.take(one.config.id);
      one.in_flight = frames.size();
      ran::BearerDownlink fresh = ran::make_downlink(one.config);
      fresh.pdcp_tx_next = one.next_count;
      fresh.rlc_tx_next = one.next_rlc;
      ran::set_epoch(fresh, one.numbers.epoch);
      fresh.received = served[i].dl_packets + gnb.bearers.drops(id).downlink + frames.size();
      fresh.bytes = served[i].dl_octets;
      for (const rte_mbuf* m : frames) fresh.bytes += m->data_len - datapath::kReturnedHeaderBytes;
      line = fresh;
      *gnb.bearers.lease(id) = leases[next_lease++];
      datapath::set_count_limit(gnb, line);
      ran::BearerUplink& uplink = *gnb.bearers.uplink_line(id);
      uplink.received += served[i].ul_packets;
      uplink.bytes += served[i].ul_octets;
      gnb.card_moves.deliver(frames);
    }
  });
  batch_.held = std::chrono::steady_clock::now() - frozen_;
  if (!listened) {
    for (MovingBearer& one : batch_.bearers) one.is_lost = one.failed.empty();
    batch_.owed.emplace_back([&gnb, ids = batch_.ids()] {
      gnb.card_moves.end();
      for (const BearerId id : ids) gnb.card_returns.thaw(id, rte_rdtsc());
    });
    batch_.fail_all(fmt::format("worker {} does not answer", batch_.worker->config.name));
    return;
  }
  if (auto taken = batch_.link->wait_for(asked_); !taken)
    log::warn("card {} still has bearers that moved to the host: {}", batch_.link->settings().name,
              taken.error().message);
}

// Their packets go to the card again.
void MoveToHost::let_go(const std::vector<BearerId>& ids) {
  if (ids.empty()) return;
  const auto undo = [&gnb = *batch_.worker->gnb, ids] {
    gnb.card_moves.end();
    for (const BearerId id : ids) gnb.card_returns.thaw(id, rte_rdtsc());
  };
  if (!batch_.execute(undo)) batch_.owed.emplace_back(undo);
  batch_.link->give_up_move(ids);
}

void MoveToHost::give_up(const std::string& why) {
  let_go(batch_.ids());
  batch_.fail_all(why);
}

}  // namespace splitplane::gnb
