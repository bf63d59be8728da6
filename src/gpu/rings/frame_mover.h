// A NIC's DMA made by a processor. It moves frames between a stage in host memory and one ring's descriptors and slots.
// To the ring's engines it is the NIC: it writes payload, then the descriptor with DD, and reads a tail before the
// descriptors that the tail announces. To the host it is the far end of a stage (stage.h). On a device a warp runs each
// direction, and the lanes copy a frame together. A CPU thread runs the same source with one lane.
#pragma once

#include "gpu/rings/lane.h"
#include "gpu/rings/ring.h"
#include "gpu/rings/stage.h"

namespace splitplane::gpu {

namespace detail {

struct alignas(kStagePiece) Piece {
  std::uint64_t word[2] = {0, 0};
};

// One frame's copy; both ends are at a multiple of 16.
struct Move {
  std::uint8_t* to = nullptr;
  const std::uint8_t* from = nullptr;
  std::uint32_t bytes = 0;  // up to 15 more octets are copied, which lie in the same slot or place
};

// Copies frames `first` to `n` - 1, at most kGroup of them, by all lanes. All loads of a round start before its first
// store. Each load takes a round trip of the bus, and one after the other they would limit the rate.
inline constexpr std::uint32_t kGroup = 8;
template <class Lane, class MoveOf>
SPLITPLANE_HD inline void copy_group(Lane lane, std::uint32_t first, std::uint32_t n, MoveOf move_of) {
  Move moves[kGroup];
  std::uint32_t pieces[kGroup];
  std::uint32_t most = 0;
  for (std::uint32_t g = 0; g < kGroup; ++g) {
    moves[g] = move_of(least(first + g, n - 1));  // collective: all lanes call it, even for frames that do not exist
    pieces[g] = first + g < n ? (moves[g].bytes + kStagePiece - 1) / kStagePiece : 0;
    most = pieces[g] > most ? pieces[g] : most;
  }
  for (std::uint32_t at = lane.id; at < most; at += Lane::width) {
    Piece held[kGroup];
    for (std::uint32_t g = 0; g < kGroup; ++g) {
      if (at < pieces[g]) held[g] = reinterpret_cast<const Piece*>(moves[g].from)[at];
    }
    for (std::uint32_t g = 0; g < kGroup; ++g) {
      if (at < pieces[g]) reinterpret_cast<Piece*>(moves[g].to)[at] = held[g];
    }
  }
}

}  // namespace detail

// From the stage to the receive ring.
template <class Lane>
class ReceiveMover {
 public:
  SPLITPLANE_HD ReceiveMover(const Ring& ring, const Stage& stage) : ring_(ring), stage_(stage) {}

  // Returns the frames moved: as many as there are frames, descriptors and lanes.
  SPLITPLANE_HD std::uint32_t step(Lane lane) {
    const std::uint32_t mask = ring_.settings.ring_size - 1;
    const std::uint32_t tail = lane.shfl(load_acquire(ring_.rdt), 0);
    const std::uint32_t free = (tail - head_) & mask;
    if (free == 0) return 0;
    if (written_ == taken_) written_ = lane.shfl(load_acquire(stage_.written), 0);  // reading it crosses the bus
    lane.sync();
    const std::uint32_t n = least(least(free, written_ - taken_), least(Lane::width, kBatch));
    if (n == 0) return 0;
    std::uint32_t bytes = 0;
    std::uint64_t buffer = 0;
    if (lane.id < n) {
      bytes = Stage::bytes_of(*stage_.length(taken_ + lane.id));
      buffer = rx_buffer(ring_.rx[(head_ + lane.id) & mask]);
    }
    for (std::uint32_t i = 0; i < n; i += detail::kGroup) {
      detail::copy_group(lane, i, n, [&](std::uint32_t frame) {
        return detail::Move{.to = reinterpret_cast<std::uint8_t*>(lane.shfl(buffer, frame)),
                            .from = stage_.at(taken_ + frame),
                            .bytes = lane.shfl(bytes, frame)};
      });
    }
    lane.sync();  // the octets of all lanes, then each lane's descriptor
    if (lane.id < n) {
      const Descriptor done = make_rx_write_back({.length = static_cast<std::uint16_t>(bytes)});
      store_release(&ring_.rx[(head_ + lane.id) & mask].hi, done.hi);
    }
    head_ = (head_ + n) & mask;
    taken_ += n;
    if (lane.id == 0) store_release(stage_.taken, taken_);
    return n;
  }

 private:
  Ring ring_;
  Stage stage_;
  std::uint32_t head_ = 0;                 // the next descriptor
  std::uint32_t written_ = 0, taken_ = 0;  // frames of the stage
};

// From the transmit ring to the stage.
template <class Lane>
class TransmitMover {
 public:
  SPLITPLANE_HD TransmitMover(const Ring& ring, const Stage& stage) : ring_(ring), stage_(stage) {}

  SPLITPLANE_HD std::uint32_t step(Lane lane) {
    const std::uint32_t mask = ring_.settings.ring_size - 1;
    const std::uint32_t tail = lane.shfl(load_acquire(ring_.tdt), 0);
    const std::uint32_t given = (tail - head_) & mask;
    if (given == 0) return 0;
    if (written_ - taken_ == stage_.places) taken_ = lane.shfl(load_acquire(stage_.taken), 0);
    lane.sync();
    const std::uint32_t room = stage_.places - (written_ - taken_);
    const std::uint32_t n = least(least(given, room), least(Lane::width, kBatch));
    if (n == 0) return 0;
    Descriptor mine{};
    std::uint32_t word = 0;
    if (lane.id < n) {
      const Descriptor& d = ring_.tx[(head_ + lane.id) & mask];
      mine = {d.lo, load_relaxed(&d.hi)};
      // A length that fits no place is cut. The far end then finds the frame changed.
      const std::uint32_t bytes = least(tx_length(mine.hi), stage_.stride - kStagePiece);
      word = Stage::word(bytes, static_cast<std::uint32_t>(tx_buffer(mine) % kStagePiece));
    }
    for (std::uint32_t i = 0; i < n; i += detail::kGroup) {
      detail::copy_group(lane, i, n, [&](std::uint32_t frame) {
        const std::uint32_t length = lane.shfl(word, frame);
        const std::uint64_t from = lane.shfl(tx_buffer(mine), frame) - Stage::padding_of(length);
        return detail::Move{.to = stage_.at(written_ + frame),
                            .from = reinterpret_cast<const std::uint8_t*>(from),
                            .bytes = Stage::bytes_of(length) + Stage::padding_of(length)};
      });
    }
    if (lane.id < n) *stage_.length(written_ + lane.id) = word;
    lane.sync();  // all octets are in the stage, and no lane reads the slots any more
    if (lane.id < n && tx_wants_report(mine.hi)) {
      store_release(&ring_.tx[(head_ + lane.id) & mask].hi, make_tx_write_back().hi);
    }
    head_ = (head_ + n) & mask;
    written_ += n;
    if (lane.id == 0) store_release(stage_.written, written_);
    return n;
  }

 private:
  Ring ring_;
  Stage stage_;
  std::uint32_t head_ = 0;
  std::uint32_t written_ = 0, taken_ = 0;
};

}  // namespace splitplane::gpu
