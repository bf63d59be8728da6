#include "engine/tap_lane.h"

#include <rte_errno.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {
namespace {

constexpr unsigned kObjectOverhead = sizeof(rte_mbuf) + sizeof(TapMark) + 64;  // and the mempool's own header

}  // namespace

std::uint64_t tap_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // by the vDSO: no system call
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::size_t TapLane::memory_bytes(unsigned buffers, unsigned snap) {
  return std::size_t{buffers} * (kObjectOverhead + RTE_PKTMBUF_HEADROOM + snap + 2 * sizeof(void*));
}

Expected<std::unique_ptr<TapLane>> TapLane::make(const Settings& settings) {
  static std::atomic<unsigned> made{0};
  const std::string name = fmt::format("tap{}", made.fetch_add(1));
  std::unique_ptr<TapLane> lane(new TapLane(settings));
  const auto room = static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + settings.snap);
  lane->pool_ = rte_pktmbuf_pool_create_by_ops(name.c_str(), settings.buffers, 0, sizeof(TapMark), room, SOCKET_ID_ANY,
                                               "ring_sp_sc");
  // The ring has as many places as there are buffers, so it is never full.
  lane->ring_ =
      rte_ring_create(name.c_str(), settings.buffers, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
  if (lane->pool_ == nullptr || lane->ring_ == nullptr) {
    return fail(
        "no memory for {} buffers of {} octets; allowed: a larger memory.megabytes, fewer buffers or a smaller "
        "snap",
        settings.buffers, settings.snap);
  }
  return lane;
}

TapLane::~TapLane() {
  std::array<rte_mbuf*, kMost> left{};
  while (ring_ != nullptr) {
    const unsigned n = receive(left);
    if (n == 0) break;
    give_back(std::span(left).first(n));
  }
  rte_ring_free(ring_);
  rte_mempool_free(pool_);
}

bool TapLane::concerns(rte_mbuf* m) const {
  if (!settings_.bearer) return true;
  const auto* frame = rte_pktmbuf_mtod(m, const std::uint8_t*);
  return m->data_len >= 22 && wire::load_be16(frame + 12) == wire::ethernet::kTypeAirhdr &&
         wire::load_be32(frame + 18) == *settings_.bearer;
}

// held_[i] is the copy of mbufs[i], or null.
void TapLane::copy(rte_mbuf* const* mbufs, unsigned n, TapDirection direction) {
  held_count_ = std::min(n, kMost);
  if (n > kMost) dropped_.add(n - kMost);
  const std::uint64_t time_ns = tap_time_ns();
  for (unsigned i = 0; i < held_count_; ++i) {
    rte_mbuf* m = mbufs[i];
    held_[i] = nullptr;
    if (!concerns(m)) continue;
    // The copy has one segment at most, by the size of the pool's buffers. So it needs one buffer, and none is given
    // back here.
    rte_mbuf* made = rte_pktmbuf_copy(m, pool_, 0, settings_.snap);
    if (made == nullptr) {
      dropped_.add(1);
      continue;
    }
    *static_cast<TapMark*>(rte_mbuf_to_priv(made)) = {time_ns, m->pkt_len, direction, true};
    held_[i] = made;
  }
}

void TapLane::take_received(rte_mbuf* const* mbufs, unsigned n) {
  copy(mbufs, n, TapDirection::kIn);
  release(n);
}

void TapLane::hold(rte_mbuf* const* mbufs, unsigned n) {
  copy(mbufs, n, TapDirection::kOut);
}

void TapLane::release(unsigned sent) {
  unsigned kept = 0;
  for (unsigned i = 0; i < held_count_; ++i) {
    rte_mbuf* made = held_[i];
    if (made == nullptr) continue;
    static_cast<TapMark*>(rte_mbuf_to_priv(made))->wanted = i < sent;  // only the writer may give buffers back
    held_[kept++] = made;
  }
  held_count_ = 0;
  if (kept != 0) rte_ring_sp_enqueue_burst(ring_, reinterpret_cast<void* const*>(held_.data()), kept, nullptr);
}

unsigned TapLane::receive(std::span<rte_mbuf*> into) {
  return rte_ring_sc_dequeue_burst(ring_, reinterpret_cast<void**>(into.data()), static_cast<unsigned>(into.size()),
                                   nullptr);
}

void TapPoint::attach(TapLane& lane, bool in, bool out) {
  if (in) lane.next_in_ = std::exchange(in_, &lane);
  if (out) lane.next_out_ = std::exchange(out_, &lane);
}

void TapPoint::detach(TapLane& lane) {
  for (TapLane** at = &in_; *at != nullptr; at = &(*at)->next_in_) {
    if (*at != &lane) continue;
    *at = lane.next_in_;
    break;
  }
  for (TapLane** at = &out_; *at != nullptr; at = &(*at)->next_out_) {
    if (*at != &lane) continue;
    *at = lane.next_out_;
    break;
  }
}

void TapPoint::take_received(rte_mbuf* const* mbufs, unsigned n) const {
  if (n == 0) return;
  for (TapLane* lane = in_; lane != nullptr; lane = lane->next_in_) lane->take_received(mbufs, n);
}

void TapPoint::hold(rte_mbuf* const* mbufs, unsigned n) const {
  for (TapLane* lane = out_; lane != nullptr; lane = lane->next_out_) lane->hold(mbufs, n);
}

void TapPoint::release(unsigned sent) const {
  for (TapLane* lane = out_; lane != nullptr; lane = lane->next_out_) lane->release(sent);
}

}  // namespace splitplane::datapath
