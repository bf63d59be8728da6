// Downlink of header mode, stage by stage: N3 frame -> G-PDU -> bearer -> airhdr, RLC, PDCP, SDAP -> reference for the
// copies -> air. The feature set decides at compile time how far the path goes (DESIGN 1).
#pragma once

#include "engine/endpoints.h"
#include "engine/l2fwd.h"
#include "engine/probe.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/count_limit.h"
#include "gnb/datapath/feature_set.h"
#include "gnb/datapath/returned_frame.h"
#include "gnb/datapath/slow_path.h"
#include "n3/parse.h"
#include "ran/header_mode.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
class GnbDownlink {
 public:
  // `back` leads to N3: frames that a card has to number go back to the card there.
  GnbDownlink(GnbContext& context, Sink air, Sink back)
      : context_(context), stats_(context.stats), air_(air), back_(back) {}

  void process(Burst& burst) {
    Losses losses(stats_);
    probe_.begin(stats_);
    if constexpr (F == FeatureSet::drop) {
      drop_burst(burst, losses);
    } else if constexpr (F == FeatureSet::l2fwd) {
      swap_macs(burst);
      probe_.stage(Stage::l2fwd, burst.size);
      transmit(burst);
    } else {
      if (context_.checksums != ChecksumMode::off) [[unlikely]]
        drop_wrong_checksums(burst, context_.checksums, losses);
      forward(burst, losses);
      if constexpr (F >= FeatureSet::mat) {
        if (slow_ != 0) [[unlikely]]
          deliver_ordered();
      }
    }
  }

  // Once per round: sends packets that waited long enough for their predecessors, and those of bearers that were
  // released.
  void flush() {
    if constexpr (F >= FeatureSet::mat) {
      if (context_.reorder.held() == 0) [[likely]]
        return;
      probe_.resume();
      context_.reorder.expire(rte_rdtsc());
      deliver_ordered();
    }
  }
  // Once per round: serves the timers of acknowledged bearers and the STATUS PDUs of their peers.
  void serve_acknowledged() {
    if constexpr (F == FeatureSet::clone) {
      if (context_.arq == nullptr || context_.arq->idle()) [[likely]]
        return;
      context_.arq->serve(
          rte_rdtsc(), air_passes_mbufs(), [this](rte_mbuf** mbufs, unsigned n) { return air_.send(mbufs, n); },
          [this](ArqBearer& b) {
            set_count_limit(*context_.bearers.downlink_line(b.id), context_.bearers.lease(b.id), &b);
          });
      note_served(context_);
    }
  }
  // The time of the next work that no packet announces. A time up to `now` means now.
  [[nodiscard]] std::uint64_t next_work(std::uint64_t now) const {
    std::uint64_t next = context_.reorder.next_work();
    if constexpr (F == FeatureSet::clone) {
      if (context_.arq != nullptr) next = std::min(next, context_.arq->next_work(now));
    }
    return next;
  }
  // At the end of the worker's life: sends what is still held.
  void finish() {
    context_.reorder.release_all();
    flush();
  }
  [[nodiscard]] const Probe& probe() const { return probe_; }

 private:
  void forward(Burst& burst, Losses& losses) {
    slow_ = 0;
    context_.n3.sends_tagged() ? parse<true>(burst, losses) : parse<false>(burst, losses);
    if constexpr (F >= FeatureSet::mat) {
      find_bearers(burst, losses);
      if (slow_ == kSequenced && !context_.reorder.any()) slow_ = 0;  // no bearer asks for an order
      if (slow_ != 0) [[unlikely]]
        check_options_slow(context_, burst, gpdu_.data(), bearer_.data(), ordered_, losses);
    }
    if constexpr (F == FeatureSet::headers) require_fixed_bearer(burst, losses);
    add_headers(burst, losses);
    if constexpr (F >= FeatureSet::clone_drop) take_references(burst);
    transmit(burst);
  }

  // Sends packets that are in order now through all stages again: the reordering holds whole frames. Each packet enters
  // each stage once in the counters.
  [[gnu::noinline]] void deliver_ordered() {
    Burst burst;
    ordered_ = true;
    while (context_.reorder.take_ready(burst) != 0) {
      Losses losses(stats_);  // one per burst, because it has room for one burst only
      forward(burst, losses);
    }
    ordered_ = false;
    stats_.reorder_held.set(context_.reorder.held());
    stats_.reorder_given_up.set(context_.reorder.given_up());
  }

  void drop_burst(Burst& burst, Losses& losses) {
    for (unsigned i = 0; i < burst.size; ++i) losses.add(burst.mbuf[i], DropReason::feature_drop);
    probe_.stage(Stage::dl_parse, burst.size);
  }

  // Keeps the G-PDUs in the burst and fills gpdu_ beside them. It also prefetches the bearers' lines.
  template <bool kTagged>
  void parse(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    const std::uint32_t our_ipv4 = context_.n3.ipv4;
    const std::uint16_t vlan = context_.n3.vlan;
    unsigned kept = 0;
    for (unsigned i = 0; i < received; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      burst.prefetch_mbuf_ahead(i);
      if (m->nb_segs == 1 && parse_n3_fast<kTagged>(octets(m), m->data_len, our_ipv4, vlan, gpdu_[kept])) [[likely]] {
      } else if (!parse_slow(m, context_.n3, context_.punt, stats_, losses, gpdu_[kept])) {
        continue;
      }
      slow_ |= gpdu_[kept].slow;
      if constexpr (F >= FeatureSet::mat) {
        bearer_[kept] = context_.bearers.downlink_line(gpdu_[kept].teid);
        rte_prefetch0(bearer_[kept]);
      }
      burst.mbuf[kept++] = m;
    }
    burst.size = kept;
    probe_.parsed(gpdu_.data(), kept);
    probe_.stage(Stage::dl_parse, ordered_ ? 0 : received);
  }

  // Verifies all lines and senders first. It takes the burst apart only if one of them is wrong.
  void find_bearers(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    if (context_.keys.by_ue_address) [[unlikely]]
      find_by_ue_address(context_.keys, context_.bearers, burst.mbuf.data(), gpdu_.data(), bearer_.data(), received);
    const std::uint32_t source_mask = context_.n3.source_mask;
    std::uint32_t wrong = 0;
    for (unsigned i = 0; i < received; ++i) {
      burst.prefetch_octets_ahead(i);
      wrong |= (bearer_[i]->id ^ gpdu_[i].teid) | static_cast<std::uint32_t>(gpdu_[i].teid == 0) |
               ((bearer_[i]->upf ^ gpdu_[i].source) & source_mask);
    }
    if (wrong != 0) [[unlikely]] {
      find_by_teid(context_.keys, context_.bearers, gpdu_.data(), bearer_.data(), received);
      serve_unmatched(burst, losses);
    }
    probe_.found(bearer_.data(), burst.size);
    probe_.stage(Stage::dl_bearer, ordered_ ? 0 : received);
  }

  [[gnu::noinline]] void serve_unmatched(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    unsigned kept = 0;
    Burst card;
    std::array<std::uint32_t, kBurst> card_id;
    for (unsigned i = 0; i < received; ++i) {
      if (!ran::BearerTable::is(*bearer_[i], gpdu_[i].teid)) {
        if (ran::is_on_card(*bearer_[i], gpdu_[i].teid)) {
          card_id[card.size] = gpdu_[i].teid;
          if (make_returned(i, burst.mbuf[i], losses)) card.mbuf[card.size++] = burst.mbuf[i];
        } else if (gpdu_[i].teid != 0 && context_.punt_handoff.has_worker(gpdu_[i].teid)) {
          context_.punt_handoff.hand_off(burst.mbuf[i], gpdu_[i].teid, Direction::kDownlink, stats_, losses);
        } else if (context_.keys.by_ue_address) {
          losses.add(burst.mbuf[i], DropReason::ue_unknown);
        } else if (ran::is_released(*bearer_[i], gpdu_[i].teid)) {
          losses.add(burst.mbuf[i], DropReason::teid_released);
        } else {
          drop_and_tell(context_.punt, burst.mbuf[i], DropReason::teid_unknown, rte_rdtsc(), stats_, losses);
        }
        continue;
      }
      if (((bearer_[i]->upf ^ gpdu_[i].source) & context_.n3.source_mask) != 0) {
        drop_of_bearer(context_, burst.mbuf[i], *bearer_[i], gpdu_[i].bytes, DropReason::not_from_upf, losses);
        continue;
      }
      bearer_[kept] = bearer_[i];
      gpdu_[kept] = gpdu_[i];
      burst.mbuf[kept++] = burst.mbuf[i];
    }
    burst.size = kept;
    if (card.size != 0) return_to_card(card, card_id);
  }

  // Makes a returned frame: the card could not read this packet and passed it up, but the card numbers its bearer. The
  // frame carries the SDU and its SDAP octet, and the card takes it back. Returns false if the packet was dropped.
  [[nodiscard]] bool make_returned(unsigned i, rte_mbuf* m, Losses& losses) {
    ran::BearerDownlink& line = *bearer_[i];
    const GPdu& gpdu = gpdu_[i];
    ++line.received;
    line.bytes += gpdu.bytes;
    const bool fits = 14 + ran::downlink_overhead(line) + gpdu.bytes <= context_.air_frame_bytes;
    std::uint8_t* frame = fits ? reframe(m, gpdu.offset, kReturnedHeaderBytes, gpdu.bytes) : nullptr;
    if (frame == nullptr) {
      losses.add(m, fits ? DropReason::no_headroom : DropReason::above_mtu);
      ++context_.bearers.losses(gpdu.teid).downlink;
      return false;
    }
    write_air_header(context_.air_header, frame);
    write_returned(gpdu.teid, gpdu.has_qfi ? gpdu.sdap : line.qfi, frame + 14);
    return true;
  }

  void return_to_card(Burst& card, const std::array<std::uint32_t, kBurst>& id) {
    const unsigned sent = back_.send(card.mbuf.data(), card.size);
    stats_.returned.add(sent);
    for (unsigned i = sent; i < card.size; ++i) {
      stats_.drop(DropReason::tx_full);
      ++context_.bearers.losses(id[i]).downlink;
    }
    rte_pktmbuf_free_bulk(card.mbuf.data() + sent, card.size - sent);
  }

  // Feature set `headers` writes the headers of the first bearer. Before that bearer exists it drops all packets.
  void require_fixed_bearer(Burst& burst, Losses& losses) {
    if (context_.fixed_bearer.id != 0) [[likely]]
      return;
    for (unsigned i = 0; i < burst.size; ++i) losses.add(burst.mbuf[i], DropReason::teid_unknown);
    burst.size = 0;
  }

  // Feature set `decap` sends the T-PDU behind an Ethernet header. From `headers` on, airhdr and the RAN headers stand
  // between.
  void add_headers(Burst& burst, Losses& losses) {
    const unsigned received = burst.size;
    const AirHeader air_header = context_.air_header;  // a copy: stores into frames cannot change it
    const unsigned longest = context_.air_frame_bytes;
    const bool has_room = context_.arq == nullptr || context_.arq->has_room();
    unsigned kept = 0;
    for (unsigned i = 0; i < received; ++i) {
      rte_mbuf* m = burst.mbuf[i];
      if constexpr (F < FeatureSet::mat) burst.prefetch_octets_ahead(i);
      const GPdu& gpdu = gpdu_[i];
      ran::BearerDownlink& bearer = bearer_of(i);
      const unsigned overhead = 14 + (F == FeatureSet::decap ? 0 : ran::downlink_overhead(bearer));
      if constexpr (F >= FeatureSet::headers) {
        ++bearer.received;
        bearer.bytes += gpdu.bytes;
      }
      if constexpr (F >= FeatureSet::headers) {
        std::optional<DropReason> stop;
        if (ran::is_at_limit(bearer)) [[unlikely]]
          stop = look_at_limit(context_, bearer);
        if constexpr (F == FeatureSet::clone) {
          if (!has_room && (bearer.options & ran::kAcknowledged) != 0) [[unlikely]]
            stop = DropReason::rlc_window_full;
        }
        if (stop) [[unlikely]] {
          losses.add(m, *stop);
          if constexpr (F >= FeatureSet::mat) ++context_.bearers.losses(bearer.id).downlink;
          continue;
        }
      }
      const bool fits = overhead + gpdu.bytes <= longest;
      std::uint8_t* frame = fits ? reframe(m, gpdu.offset, overhead, gpdu.bytes) : nullptr;
      if (frame == nullptr) [[unlikely]] {
        losses.add(m, fits ? DropReason::no_headroom : DropReason::above_mtu);
        if constexpr (F >= FeatureSet::mat) ++context_.bearers.losses(bearer.id).downlink;
        continue;
      }
      if constexpr (F >= FeatureSet::headers) {
        ran::write_downlink(bearer, gpdu.has_qfi ? gpdu.sdap : bearer.qfi, frame + overhead);
      }
      write_air_header(air_header, frame);
      if constexpr (F == FeatureSet::decap) {
        wire::store_be16(frame + 12, frame[14] >> 4 == 6 ? wire::ethernet::kTypeIpv6 : wire::ethernet::kTypeIpv4);
      }
      bearer_[kept] = &bearer;
      burst.mbuf[kept++] = m;
    }
    burst.size = kept;
    probe_.stage(Stage::dl_headers, received);
  }

  ran::BearerDownlink& bearer_of(unsigned i) {
    if constexpr (F >= FeatureSet::mat) return *bearer_[i];
    return context_.fixed_bearer;
  }

  // From here on the frames are immutable, because the air and the consumer of copies both hold them (DESIGN decision
  // 10).
  void take_references(Burst& burst) {
    if constexpr (F == FeatureSet::clone) {
      if (context_.arq != nullptr) {
        keep_for_retransmission(burst);
      } else if (air_passes_mbufs()) [[unlikely]] {
        hand_off_real_copies(burst);
      } else {
        for (unsigned i = 0; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], 1);
        const unsigned taken = rte_ring_sp_enqueue_burst(
            context_.copies, reinterpret_cast<void* const*>(burst.mbuf.data()), burst.size, nullptr);
        stats_.copies.add(taken);
        if (taken < burst.size) [[unlikely]] {
          for (unsigned i = taken; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], -1);
          stats_.copies_lost.add(burst.size - taken);
        }
      }
    } else {
      for (unsigned i = 0; i < burst.size; ++i) rte_mbuf_refcnt_update(burst.mbuf[i], 1);
      rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);  // "clone dropped": the second reference goes at once
      stats_.copies.add(burst.size);
    }
    probe_.stage(Stage::dl_clone, burst.size);
  }

  [[gnu::noinline]] void keep_for_retransmission(Burst& burst) {
    std::array<ArqBearer*, kBurst> arq;
    for (unsigned i = 0; i < burst.size; ++i) arq[i] = context_.arq_bearers.find(bearer_[i]->id);
    context_.arq->poll_last({arq.data(), burst.size}, {burst.mbuf.data(), burst.size},
                            [this](std::size_t i) { bearer_[i]->pdu_without_poll = 0; });
    const std::uint64_t now = rte_rdtsc();
    unsigned to_send = 0;
    for (unsigned i = 0; i < burst.size; ++i) {
      rte_mbuf* const m = burst.mbuf[i];
      if (arq[i] != nullptr && !keep(*arq[i], m, now)) continue;
      bearer_[to_send] = bearer_[i];
      burst.mbuf[to_send++] = m;
    }
    burst.size = to_send;
  }
  // Returns false if the packet was numbered but cannot be copied. The window keeps it and sends it when the peer
  // reports it as missing.
  [[nodiscard]] bool keep(ArqBearer& arq, rte_mbuf* m, std::uint64_t now) {
    stats_.copies.add(1);
    rte_mbuf* kept = m;
    if (air_passes_mbufs()) [[unlikely]] {
      kept = rte_pktmbuf_copy(m, context_.pool, 0, UINT32_MAX);
    } else {
      rte_mbuf_refcnt_update(m, 1);
    }
    context_.arq->keep(arq, kept == nullptr ? m : kept, now);
    if (kept == nullptr) stats_.rlc_deferred.add(1);
    return kept != nullptr;
  }

  [[nodiscard]] bool air_passes_mbufs() const {
    if constexpr (requires(Sink s) { s.passes_mbufs; }) return air_.passes_mbufs;
    return false;
  }

  [[gnu::noinline]] void hand_off_real_copies(const Burst& burst) {
    for (unsigned i = 0; i < burst.size; ++i) {
      rte_mbuf* copy = rte_pktmbuf_copy(burst.mbuf[i], context_.pool, 0, UINT32_MAX);
      if (copy != nullptr && rte_ring_sp_enqueue(context_.copies, copy) == 0) {
        stats_.copies.add(1);
      } else {
        rte_pktmbuf_free(copy);
        stats_.copies_lost.add(1);
      }
    }
  }

  void transmit(Burst& burst) {
    const unsigned sent = air_.send(burst.mbuf.data(), burst.size);
    stats_.transmitted_air.add(sent);
    if (sent < burst.size) [[unlikely]]
      drop_unsent(burst, sent);
    probe_.stage(Stage::dl_tx, burst.size);
  }

  [[gnu::noinline]] void drop_unsent(Burst& burst, unsigned sent) {
    for (unsigned i = sent; i < burst.size; ++i) {
      if constexpr (F == FeatureSet::clone) {
        if (context_.arq != nullptr && context_.arq_bearers.find(bearer_[i]->id) != nullptr) {  // the window has it
          stats_.rlc_deferred.add(1);
          continue;
        }
      }
      stats_.drop(DropReason::tx_full);
      if constexpr (F >= FeatureSet::mat) ++context_.bearers.losses(bearer_[i]->id).downlink;
    }
    rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, burst.size - sent);
  }

  GnbContext& context_;
  WorkerStats& stats_;
  Sink air_, back_;
  Probe probe_;
  unsigned slow_ = 0;     // the OR of kNoPsc and so on of all G-PDUs in this burst
  bool ordered_ = false;  // this burst comes from the reordering, and was counted when it arrived
  std::array<GPdu, kBurst + 1> gpdu_;
  std::array<ran::BearerDownlink*, kBurst + 1> bearer_;
};

}  // namespace splitplane::datapath
