// The mbuf model of PacketBuffer (buf/packet_buffer.h): a handle that owns one reference to a one-segment rte_mbuf. In
// release builds every operation is a few moves on the mbuf's fields. Debug builds add the freeze check.
#pragma once

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include <array>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>

#include "buf/packet_buffer.h"

namespace splitplane::datapath {

#ifdef NDEBUG
inline constexpr bool kFreezeChecks = false;
#else
inline constexpr bool kFreezeChecks = true;
#endif

namespace freeze {

// What debug builds record beside the octets, in a dynamic field of the mbuf that embeds them. DPDK does not clear it
// when it takes an mbuf back, so it counts only from the time when a handle takes the mbuf.
struct Record {
  std::uint64_t sum;
  std::uint16_t offset, bytes;  // the frozen octets, from buf_addr
  bool frozen;
};

[[noreturn]] inline void die(const char* what) {
  std::fprintf(stderr, "mbuf_buffer: %s\n", what);
  std::abort();
}

inline Record& record(rte_mbuf* embedding) {
  static const int offset = [] {
    constexpr rte_mbuf_dynfield kField{
        .name = "splitplane_freeze", .size = sizeof(Record), .align = alignof(Record), .flags = 0};
    const int at = rte_mbuf_dynfield_register(&kField);
    if (at < 0) die("no dynamic field for the freeze check");
    return at;
  }();
  return *RTE_MBUF_DYNFIELD(embedding, offset, Record*);
}

}  // namespace freeze

// A buffer that owns one mbuf reference. The buffers of a split come from the pool of the split mbuf. Octets in an
// external buffer count as those of a part, because another owner may use them. In debug builds a handle must not take
// an indirect mbuf that split() did not make.
class MbufBuffer {
 public:
  MbufBuffer() noexcept = default;
  // Takes over one reference to `m`, which must have one segment; nullptr makes an empty handle.
  explicit MbufBuffer(rte_mbuf* m) noexcept : MbufBuffer(m, Fresh{}) {
    assert(m == nullptr || m->nb_segs == 1);
    if constexpr (kFreezeChecks) {
      if (writable()) freeze::record(m_).frozen = false;
    }
  }
  // Makes a buffer of `size` octets of unspecified content with `headroom` before them. It is empty if no mbuf is free
  // or if mbufs are too small.
  [[nodiscard]] static MbufBuffer make(rte_mempool* pool, std::size_t size,
                                       std::size_t headroom = RTE_PKTMBUF_HEADROOM) noexcept {
    if (size > UINT16_MAX || headroom > UINT16_MAX) return {};
    MbufBuffer buffer(rte_pktmbuf_alloc(pool));
    if (!buffer || headroom + size > buffer.m_->buf_len) return {};
    buffer.m_->data_off = static_cast<std::uint16_t>(headroom);
    buffer.set_size(size);
    return buffer;
  }

  MbufBuffer(MbufBuffer&& other) noexcept : m_(std::exchange(other.m_, nullptr)) {}
  MbufBuffer& operator=(MbufBuffer&& other) noexcept {
    if (this != &other) {
      release();
      m_ = std::exchange(other.m_, nullptr);
    }
    return *this;
  }
  ~MbufBuffer() { release(); }

  explicit operator bool() const noexcept { return m_ != nullptr; }
  [[nodiscard]] const std::uint8_t* data() const noexcept {
    return m_ == nullptr ? nullptr : rte_pktmbuf_mtod(m_, const std::uint8_t*);
  }
  [[nodiscard]] std::size_t size() const noexcept { return m_ == nullptr ? 0 : m_->data_len; }
  [[nodiscard]] bool writable() const noexcept { return alone() && RTE_MBUF_DIRECT(m_); }
  [[nodiscard]] std::size_t headroom() const noexcept { return writable() ? m_->data_off : 0; }
  [[nodiscard]] std::size_t tailroom() const noexcept {
    return writable() ? static_cast<std::size_t>(m_->buf_len - m_->data_off - m_->data_len) : 0;
  }

  [[nodiscard]] std::uint8_t* mutable_data() noexcept {
    if (!writable()) return nullptr;
    thaw();
    return rte_pktmbuf_mtod(m_, std::uint8_t*);
  }
  [[nodiscard]] std::uint8_t* prepend(std::size_t n) noexcept {
    if (!writable() || n > m_->data_off) return nullptr;
    thaw();
    m_->data_off = static_cast<std::uint16_t>(m_->data_off - n);
    set_size(m_->data_len + n);
    return rte_pktmbuf_mtod(m_, std::uint8_t*);
  }
  [[nodiscard]] std::uint8_t* append(std::size_t n) noexcept {
    if (!writable() || n > tailroom()) return nullptr;
    thaw();
    std::uint8_t* const added = rte_pktmbuf_mtod(m_, std::uint8_t*) + m_->data_len;
    set_size(m_->data_len + n);
    return added;
  }
  [[nodiscard]] bool trim_front(std::size_t n) noexcept {
    if (!alone() || n > m_->data_len) return false;
    if (RTE_MBUF_DIRECT(m_)) thaw();
    m_->data_off = static_cast<std::uint16_t>(m_->data_off + n);
    set_size(m_->data_len - n);
    return true;
  }
  [[nodiscard]] bool trim_back(std::size_t n) noexcept {
    if (!alone() || n > m_->data_len) return false;
    if (RTE_MBUF_DIRECT(m_)) thaw();
    set_size(m_->data_len - n);
    return true;
  }

  [[nodiscard]] MbufBuffer share() noexcept {
    if (m_ == nullptr) return {};
    if (writable()) freeze_octets();  // otherwise the first share or split did it
    rte_mbuf_refcnt_update(m_, 1);
    return MbufBuffer(m_, Fresh{});
  }

  [[nodiscard]] MbufBuffer split(std::size_t at) noexcept {
    if (m_ == nullptr || at > m_->data_len) return {};
    rte_mbuf* const tail = rte_pktmbuf_alloc(m_->pool);
    if (tail == nullptr) return {};
    if (alone() && !RTE_MBUF_DIRECT(m_)) {
      cut(tail, m_, at, m_->data_len - at);
      set_size(at);
      return MbufBuffer(tail, Fresh{});
    }
    // Other handles keep their edges, and a direct mbuf cannot be a part, so the head gets a new mbuf too.
    rte_mbuf* const head = rte_pktmbuf_alloc(m_->pool);
    if (head == nullptr) {
      rte_pktmbuf_free(tail);
      return {};
    }
    if (writable()) freeze_octets();
    cut(tail, m_, at, m_->data_len - at);
    cut(head, m_, 0, at);
    rte_pktmbuf_free(std::exchange(m_, head));
    return MbufBuffer(tail, Fresh{});
  }

  void release() noexcept {
    if (m_ == nullptr) return;
    if (!intact()) freeze::die("octets changed after they were shared");
    rte_pktmbuf_free(std::exchange(m_, nullptr));
  }

  // Fetches both lines of the mbuf: the second one is looked at when it is freed.
  void prefetch() const noexcept {
    if (m_ == nullptr) return;
    rte_mbuf_prefetch_part1(m_);
    rte_mbuf_prefetch_part2(m_);
  }
  // Gives the references back to the mempool together.
  static void release_all(std::span<MbufBuffer> buffers) noexcept {
    constexpr std::size_t kAtOnce = 64;
    std::array<rte_mbuf*, kAtOnce> gone;
    unsigned count = 0;
    for (MbufBuffer& buffer : buffers) {
      if (!buffer.intact()) freeze::die("octets changed after they were shared");
      if (rte_mbuf* const m = buffer.detach(); m != nullptr) gone[count++] = m;
      if (count == kAtOnce) rte_pktmbuf_free_bulk(gone.data(), std::exchange(count, 0));
    }
    rte_pktmbuf_free_bulk(gone.data(), count);
  }

  // Gives up the reference in DPDK's form, for a ring or a port; the handle is empty then.
  [[nodiscard]] rte_mbuf* detach() noexcept { return std::exchange(m_, nullptr); }
  [[nodiscard]] rte_mbuf* get() const noexcept { return m_; }

  // Returns false if octets changed after share() or split() froze them. Only debug builds can tell.
  [[nodiscard]] bool intact() const noexcept {
    if constexpr (kFreezeChecks) {
      if (m_ == nullptr || RTE_MBUF_HAS_EXTBUF(m_)) return true;
      rte_mbuf* const from = embedding();
      const freeze::Record& r = freeze::record(from);
      return !r.frozen ||
             r.sum == buf::freeze_sum({static_cast<const std::uint8_t*>(from->buf_addr) + r.offset, r.bytes});
    }
    return true;
  }

 private:
  struct Fresh {};
  MbufBuffer(rte_mbuf* m, Fresh) noexcept : m_(m) {}

  // acquire: all accesses of the other holders before their release are visible to this thread.
  [[nodiscard]] bool alone() const noexcept {
    return m_ != nullptr && __atomic_load_n(&m_->refcnt, __ATOMIC_ACQUIRE) == 1;
  }
  // The mbuf that embeds the octets.
  [[nodiscard]] rte_mbuf* embedding() const noexcept { return RTE_MBUF_CLONED(m_) ? rte_mbuf_from_indirect(m_) : m_; }

  void set_size(std::size_t n) noexcept {
    m_->data_len = static_cast<std::uint16_t>(n);
    m_->pkt_len = static_cast<std::uint32_t>(n);
  }
  static void cut(rte_mbuf* part, rte_mbuf* from, std::size_t at, std::size_t bytes) noexcept {
    rte_pktmbuf_attach(part, from);
    part->data_off = static_cast<std::uint16_t>(from->data_off + at);
    part->data_len = static_cast<std::uint16_t>(bytes);
    part->pkt_len = static_cast<std::uint32_t>(bytes);
  }
  void freeze_octets() noexcept {
    if constexpr (kFreezeChecks) {
      thaw();
      freeze::record(m_) = {buf::freeze_sum(buf::octets(*this)), m_->data_off, m_->data_len, true};
    }
  }
  void thaw() noexcept {
    if constexpr (kFreezeChecks) {
      if (!intact()) freeze::die("octets changed after they were shared");
      freeze::record(m_).frozen = false;
    }
  }

  rte_mbuf* m_ = nullptr;
};

static_assert(buf::PacketBuffer<MbufBuffer>);
static_assert(sizeof(MbufBuffer) == sizeof(void*));

}  // namespace splitplane::datapath
