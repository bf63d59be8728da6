// The open-loop generator. It sends each packet when it is due, or as soon after as it can. It always stamps the packet
// with its intended send time. It counts packets that leave late or that the port refuses, and skips none.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/counter.h"
#include "base/histogram.h"
#include "engine/burst.h"
#include "traffic/mix.h"
#include "traffic/schedule.h"

namespace splitplane::traffic {

// Only the generator's thread writes; the progress line reads.
struct GeneratorStats {
  Counter sent, bytes;  // that the port took
  Counter late;         // of these: sent more than late_ns late
  Counter refusals;     // refusals by the port; one packet may be refused several times
  Counter refused;      // packets that were given up after a refusal, and never sent
  Counter unsent;       // due, but not sent before the end
  Counter no_buffer;    // turns without buffers, which make packets late
  Counter behind_ns;    // how far the generator is behind its schedule now
};

struct GeneratorSettings {
  std::uint16_t port = 0, queue = 0;
  rte_mempool* pool = nullptr;
  std::uint64_t packets = 0;      // 0: no limit
  std::uint64_t duration_ns = 0;  // 0: no limit
  std::uint64_t late_ns = 100'000;
  bool retry = true;  // offer a refused packet again until the end; otherwise give it up at once
};

// A Maker has flows(), prefetch(flow), make(flow, size, intended, out) and take_back(flow): PacketMaker, Replay.
template <class Maker>
class Generator {
 public:
  Generator(const GeneratorSettings& settings, Maker& maker, Schedule schedule, Mix mix)
      : settings_(settings), maker_(maker), schedule_(std::move(schedule)), mix_(std::move(mix)) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // The time 0 of the schedule.
  void start(std::uint64_t now) { start_ns_ = now; }

  // Sends at most one burst of due packets; returns how many left.
  unsigned poll(std::uint64_t now) {
    if (held_ != 0) [[unlikely]]
      return offer(now);
    plan();
    unsigned due = 0;
    while (at_ + due < planned_ && plan_[at_ + due].due_ns + start_ns_ <= now) ++due;
    if (due == 0) {
      stats_.behind_ns.set(0);
      return 0;
    }
    stats_.behind_ns.set(now - start_ns_ - plan_[at_].due_ns);
    if (rte_pktmbuf_alloc_bulk(settings_.pool, mbuf_.data(), due) != 0) [[unlikely]] {
      stats_.no_buffer.add(1);
      return 0;
    }
    for (unsigned i = 0; i < due; ++i) rte_prefetch0(datapath::octets(mbuf_[i]));
    for (unsigned i = 0; i < due; ++i) {
      rte_mbuf* const m = mbuf_[i];
      const Planned& p = plan_[at_ + i];
      const unsigned bytes = maker_.make(p.choice.flow, p.choice.size, start_ns_ + p.due_ns, datapath::octets(m));
      m->data_len = static_cast<std::uint16_t>(bytes);
      m->pkt_len = bytes;
      sizes_[i] = m->data_len;
    }
    held_ = due;
    return offer(now);
  }

  // True if all that the settings name has been sent.
  [[nodiscard]] bool finished() const { return held_ == 0 && at_ == planned_ && ended_; }
  // The time of the next due packet on the clock; meaningless when finished.
  [[nodiscard]] std::uint64_t next_due() {
    plan();
    return start_ns_ + (at_ < planned_ ? plan_[at_].due_ns : 0);
  }
  // Ends, also before finished(). It frees held packets and counts packets that were due until `now` and did not leave.
  // That takes constant time, because a sink on this thread goes on.
  void end(std::uint64_t now) {
    if (held_ != 0) give_up();
    plan();
    if (now < start_ns_) return;
    std::uint64_t until = now - start_ns_, unsent = 0;
    for (; at_ < planned_ && plan_[at_].due_ns <= until; ++at_) ++unsent;
    if (at_ == planned_ && !ended_) {
      if (settings_.duration_ns != 0) until = std::min(until, settings_.duration_ns - 1);
      const std::uint64_t left = settings_.packets == 0 ? kNoLimit : settings_.packets - count_;
      const std::uint64_t skipped = schedule_.skip_until(until, left);
      count_ += skipped;
      unsent += skipped;
    }
    stats_.unsent.add(unsent);
    plan();
  }

  [[nodiscard]] const GeneratorStats& stats() const { return stats_; }
  [[nodiscard]] const Histogram& lateness() const { return lateness_; }  // of sent packets, ns
  [[nodiscard]] std::uint64_t started_ns() const { return start_ns_; }
  [[nodiscard]] std::uint64_t last_due_ns() const { return last_due_ns_; }  // of the last packet sent, after start
  [[nodiscard]] std::uint64_t last_sent_ns() const { return last_sent_ns_; }

 private:
  struct Planned {
    std::uint64_t due_ns = 0;
    Choice choice;
  };

  static constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

  // Plans a burst of packets ahead, so that the flows' lines are in the cache before they are needed.
  void plan() {
    if (at_ != planned_ || ended_) return;
    at_ = planned_ = 0;
    while (planned_ < datapath::kBurst) {
      if (settings_.packets != 0 && count_ == settings_.packets) break;
      const std::uint64_t due = schedule_.next();
      if (settings_.duration_ns != 0 && due >= settings_.duration_ns) break;
      ++count_;
      plan_[planned_] = {due, mix_.next()};
      maker_.prefetch(plan_[planned_++].choice.flow);
    }
    ended_ = planned_ < datapath::kBurst;
  }

  // Offers the held packets, which are the first of the plan, to the port.
  unsigned offer(std::uint64_t now) {
    const unsigned sent =
        rte_eth_tx_burst(settings_.port, settings_.queue, mbuf_.data() + given_, static_cast<std::uint16_t>(held_));
    std::uint64_t late = 0, bytes = 0;
    for (unsigned i = 0; i < sent; ++i) {
      const std::uint64_t behind = now - start_ns_ - plan_[at_ + i].due_ns;
      lateness_.record(behind);
      late += behind > settings_.late_ns ? 1U : 0U;
      bytes += sizes_[given_ + i];
    }
    if (sent != 0) {
      last_due_ns_ = plan_[at_ + sent - 1].due_ns;
      last_sent_ns_ = now;
    }
    stats_.sent.add(sent);
    stats_.bytes.add(bytes);
    stats_.late.add(late);
    at_ += sent;
    given_ += sent;
    held_ -= sent;
    if (held_ != 0) {
      stats_.behind_ns.set(now - start_ns_ - plan_[at_].due_ns);
      stats_.refusals.add(held_);
      if (!settings_.retry) give_up();
    }
    if (held_ == 0) given_ = 0;
    return sent;
  }

  void give_up() {
    for (unsigned i = held_; i-- > 0;) maker_.take_back(plan_[at_ + i].choice.flow);
    rte_pktmbuf_free_bulk(mbuf_.data() + given_, held_);
    stats_.refused.add(held_);
    at_ += held_;
    held_ = given_ = 0;
  }

  GeneratorSettings settings_;
  Maker& maker_;
  Schedule schedule_;
  Mix mix_;
  GeneratorStats stats_;
  Histogram lateness_;
  std::array<Planned, datapath::kBurst> plan_;
  std::array<rte_mbuf*, datapath::kBurst> mbuf_;
  std::array<std::uint16_t, datapath::kBurst> sizes_;
  unsigned at_ = 0, planned_ = 0;  // in plan_
  unsigned given_ = 0, held_ = 0;  // in mbuf_: packets that the port took, and packets that it has still to take
  bool ended_ = false;             // nothing more will be planned
  std::uint64_t count_ = 0;        // packets planned
  std::uint64_t start_ns_ = 0, last_due_ns_ = 0, last_sent_ns_ = 0;
};

}  // namespace splitplane::traffic
