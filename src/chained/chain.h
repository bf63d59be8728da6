// Transport blocks by chains of mbufs, as in "A Packet Processing Scheme in 5G MAC Protocol Using DPDK" (Song, Chung):
// each subheader is prepended to its SDU, rte_pktmbuf_chain() puts subPDUs behind each other, rte_pktmbuf_linearize()
// makes them one piece. Chain (the paper's scheme 1) makes one piece at the end; ChainLinearize (scheme 2, the paper's
// proposal) makes one after each subPDU, so that its list has at most two mbufs. No program uses them: bench/mac_bench
// compares ran/mac's own schemes with them.
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>

#include "engine/mbuf_buffer.h"
#include "ran/mac/scheme.h"

namespace splitplane::datapath {

enum class Linearize : std::uint8_t { kAtTheEnd, kAfterEach };

struct ChainCounters {
  std::uint64_t searched = 0;    // mbufs that rte_pktmbuf_chain() walked to find the last one
  std::uint64_t linearized = 0;  // calls that had two mbufs or more to join
  std::uint64_t copied = 0;      // octets of payload and headers, by linearize and into the block's own mbuf
  std::uint64_t unshared = 0;    // octets copied before: the SDU's buffer was shared, so nothing could be prepended
  std::uint64_t too_large = 0;   // grants beyond one mbuf
  std::uint64_t no_mbuf = 0;     // grants for which no mbuf was free
};

// A block is one mbuf of a pool with room for the largest block: the first subPDU is copied into it, because linearize
// appends to the first mbuf of a list and SDUs have buffers of 2 KiB. The length of an mbuf's data has 16 bits. So
// blocks end at 65,535 octets less the headroom, and larger grants are refused (too_large); blocks of NR may have 160
// KiB.
template <Linearize when>
class Chain {
 public:
  using Block = rte_mbuf*;  // made by begin(); the caller frees it

  // `blocks`: mbufs for whole blocks; `parts`: mbufs for control elements, STATUS PDUs and SDUs that are shared.
  Chain(rte_mempool* blocks, rte_mempool* parts) : blocks_(blocks), parts_(parts) {}
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() { rte_pktmbuf_free(part_); }

  [[nodiscard]] bool begin(Block& block, std::size_t bytes) {
    const bool fits = bytes + RTE_PKTMBUF_HEADROOM <= rte_pktmbuf_data_room_size(blocks_);
    counters_.too_large += fits ? 0 : 1;
    block = fits ? rte_pktmbuf_alloc(blocks_) : nullptr;
    if (block == nullptr) {
      counters_.no_mbuf += fits ? 1 : 0;
      return false;
    }
    head_ = block;
    left_ = bytes;
    return true;
  }
  // A part is kept ready, because a PDU that was pulled cannot go back. No subPDU is larger than a part.
  [[nodiscard]] std::size_t room() const {
    return has_part() ? std::min<std::size_t>(left_, rte_pktmbuf_tailroom(part_)) : 0;
  }

  void sdu(std::uint32_t channel, ran::rlc::Pdu<MbufBuffer>&& pdu) {
    const auto bytes = static_cast<std::uint16_t>(pdu.size());
    const auto subheader = static_cast<std::uint16_t>(wire::mac::sdu_subheader_bytes(channel, bytes));
    const auto headers = static_cast<std::uint16_t>(subheader + pdu.header_bytes);
    rte_mbuf* const m = own_payload(pdu, headers);
    auto* const at = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(m, headers));
    std::memcpy(wire::mac::put_sdu_subheader(at, channel, bytes), pdu.header.data(), pdu.header_bytes);
    append(m);
  }

  [[nodiscard]] wire::MutableOctets open(std::size_t most) {
    if (!has_part()) return {};
    const std::size_t room = std::min<std::size_t>({most, left_, rte_pktmbuf_tailroom(part_)});
    return {rte_pktmbuf_mtod(part_, std::uint8_t*), room};
  }
  void close(std::size_t used) {
    if (used == 0) return;
    rte_pktmbuf_append(part_, static_cast<std::uint16_t>(used));
    append(std::exchange(part_, nullptr));
  }

  std::size_t finish() {
    linearize();
    const std::size_t padding = std::exchange(left_, 0);
    if (padding == 0) return 0;
    auto* const at = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(head_, static_cast<std::uint16_t>(padding)));
    return wire::mac::write_padding({at, padding});
  }
  void flush() {}

  [[nodiscard]] std::uint64_t copied_octets() const { return counters_.copied + counters_.unshared; }
  [[nodiscard]] const ChainCounters& counters() const { return counters_; }
  // The list as it is now; for tests that walk it.
  [[nodiscard]] const rte_mbuf* list() const { return head_; }

 private:
  bool has_part() const {
    if (part_ == nullptr) part_ = rte_pktmbuf_alloc(parts_);
    return part_ != nullptr;
  }

  // The payload of a PDU in an mbuf before which `headers` octets can be written.
  rte_mbuf* own_payload(ran::rlc::Pdu<MbufBuffer>& pdu, std::uint16_t headers) {
    MbufBuffer& sdu = pdu.sdu;
    if (sdu.writable() && sdu.headroom() + pdu.offset >= headers) {
      (void)sdu.trim_front(pdu.offset);
      (void)sdu.trim_back(sdu.size() - pdu.length);
      return sdu.detach();
    }
    rte_mbuf* const m = std::exchange(part_, nullptr);
    std::memcpy(rte_pktmbuf_append(m, pdu.length), pdu.data().data(), pdu.length);
    counters_.unshared += pdu.length;
    sdu.release();
    return m;
  }

  void append(rte_mbuf* m) {
    left_ -= m->data_len;
    counters_.copied += m->data_len;
    if (head_->data_len == 0) {
      std::memcpy(rte_pktmbuf_append(head_, m->data_len), rte_pktmbuf_mtod(m, const void*), m->data_len);
      rte_pktmbuf_free(m);
      return;
    }
    counters_.searched += head_->nb_segs;
    rte_pktmbuf_chain(head_, m);
    if constexpr (when == Linearize::kAfterEach) linearize();
  }
  void linearize() {
    counters_.linearized += rte_pktmbuf_is_contiguous(head_) ? 0 : 1;
    rte_pktmbuf_linearize(head_);
  }

  rte_mempool *blocks_, *parts_;
  rte_mbuf* head_ = nullptr;
  mutable rte_mbuf* part_ = nullptr;
  std::size_t left_ = 0;
  ChainCounters counters_;
};

using ChainLinearize = Chain<Linearize::kAfterEach>;
using ChainAtTheEnd = Chain<Linearize::kAtTheEnd>;

static_assert(ran::mac::Scheme<ChainLinearize, MbufBuffer>);
static_assert(ran::mac::Scheme<ChainAtTheEnd, MbufBuffer>);

}  // namespace splitplane::datapath
