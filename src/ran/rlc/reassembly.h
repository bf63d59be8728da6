// Puts SDUs together from segments, which may come in any order, be cut anywhere, overlap, or come twice. It keeps only
// octets that it does not hold yet, in the buffers in which they came.
#pragma once

#include "ran/rlc/counters.h"
#include "ran/rlc/memory.h"

namespace splitplane::ran::rlc {

// Gives a completed SDU's parts, in order, to deliver(std::span<Part<B>>), which may take their buffers.
template <buf::PacketBuffer B, class Deliver>
void hand_over(std::span<Part<B>> parts, ReceiveCounters& counters, Deliver&& deliver) {
  ++counters.sdus;
  for (const Part<B>& part : parts) counters.octets += part.length;
  deliver(parts);
  for (Part<B>& part : parts) part.pdu.release();
}

template <buf::PacketBuffer B>
class Reassembly {
 public:
  explicit Reassembly(Memory<B>& memory) : memory_(memory) {}

  // How much of the memory that all entities share an SDU may take. kFair: as much as it leaves for all others, so that
  // half-received SDUs of one bearer leave some for every other bearer. kAll: everything; this is for the SDU that
  // holds up the window. An entity never holds more than memory.segments_of_one.
  enum class Share : std::uint8_t { kFair, kAll };

  // Starts an empty assembly and returns its name; 0 without memory.
  [[nodiscard]] std::uint32_t begin(Share share = Share::kFair) {
    if (share == Share::kFair && assemblies_ >= memory_.assemblies.available()) return 0;
    Assembly* const assembly = memory_.assemblies.take();
    if (assembly == nullptr) return 0;
    *assembly = {};
    ++assemblies_;
    return memory_.assemblies.name_of(assembly);
  }

  // Adds octets [start, stop), which begin at offset `skip` of `pdu`. If `is_last`, `stop` is the SDU's length. kStored
  // also means that the SDU may be complete now; `pdu` is taken only on kStored. On kNoMemory the segments that were
  // held stay.
  [[nodiscard]] Received add(std::uint32_t name, B& pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                             bool is_last, Share share = Share::kFair) {
    Assembly& a = memory_.assemblies.named(name);
    if (contradicts(a, stop, is_last)) return Received::kContradiction;
    const std::size_t left = memory_.segments.available();
    const std::size_t of_one = memory_.segments_of_one - std::min<std::size_t>(memory_.segments_of_one, segments_);
    const std::size_t fair = share == Share::kAll ? left : left - std::min<std::size_t>(left, segments_);
    const std::size_t most = std::min(fair, of_one);
    const bool is_behind = a.last == 0 || segment(a.last).stop <= start;
    return is_behind ? append(a, pdu, skip, start, stop, is_last, most)
                     : insert(a, pdu, skip, start, stop, is_last, most);
  }

  // True if octets [start, stop) would complete the SDU.
  [[nodiscard]] bool completes(std::uint32_t name, std::uint16_t start, std::uint16_t stop, bool is_last) const {
    const Assembly& a = memory_.assemblies.named(name);
    if (contradicts(a, stop, is_last)) return false;
    std::uint32_t octets = a.octets;
    for_each_missing(a, start, stop, [&](std::uint32_t from, std::uint32_t to, std::uint32_t) { octets += to - from; });
    return octets == (is_last ? stop : a.bytes) && octets != 0;
  }
  // Works as add() and then finish() for an SDU that completes(), and needs no memory for the last segment.
  [[nodiscard]] std::span<Part<B>> finish_with(std::uint32_t name, B pdu, std::uint16_t skip, std::uint16_t start,
                                               std::uint16_t stop) {
    memory_.parts.clear();
    std::uint32_t at = start;
    const auto put_up_to = [&](std::uint32_t to) {
      if (at >= to) return;
      memory_.parts.push_back(
          {pdu.share(), static_cast<std::uint16_t>(skip + (at - start)), static_cast<std::uint16_t>(to - at)});
    };
    for_all(name, [&](Segment<B>& s) {
      put_up_to(std::min(stop, s.start));
      at = std::max<std::uint32_t>(at, s.stop);
      memory_.parts.push_back({std::move(s.pdu), s.skip, static_cast<std::uint16_t>(s.stop - s.start)});
    });
    put_up_to(stop);
    return memory_.parts;
  }

  [[nodiscard]] bool complete(std::uint32_t name) const {
    const Assembly& a = memory_.assemblies.named(name);
    return a.bytes != 0 && a.octets == a.bytes;
  }
  [[nodiscard]] bool is_empty(std::uint32_t name) const { return memory_.assemblies.named(name).first == 0; }
  [[nodiscard]] std::uint32_t holes(std::uint32_t name) const { return memory_.assemblies.named(name).holes; }
  // True if an octet is missing below the last one held. A missing tail is no gap (TS 38.322 5.2.3.2.3).
  [[nodiscard]] bool has_gap(std::uint32_t name) const {
    const Assembly& a = memory_.assemblies.named(name);
    return a.last != 0 && a.octets != segment(a.last).stop;
  }

  // Calls hole(start, stop) for every run of missing octets, in order, while `hole` returns true. For the tail of an
  // SDU of unknown length `stop` is kMaxSduBytes + 1. Returns false if one call did.
  template <class Hole>
  bool for_each_hole(std::uint32_t name, Hole&& hole) const {
    const Assembly& a = memory_.assemblies.named(name);
    std::uint32_t at = 0;
    for (std::uint32_t s = a.first; s != 0; s = segment(s).next) {
      if (segment(s).start != at && !hole(at, std::uint32_t{segment(s).start})) return false;
      at = segment(s).stop;
    }
    return a.bytes != 0 || hole(at, std::uint32_t{kMaxSduBytes + 1});
  }

  // Moves the SDU's parts, in order, into memory.parts and forgets the assembly.
  [[nodiscard]] std::span<Part<B>> finish(std::uint32_t name) {
    memory_.parts.clear();
    for_all(name, [&](Segment<B>& s) {
      memory_.parts.push_back({std::move(s.pdu), s.skip, static_cast<std::uint16_t>(s.stop - s.start)});
    });
    return memory_.parts;
  }
  void discard(std::uint32_t name) {
    for_all(name, [](Segment<B>& s) { s.pdu.release(); });
  }

 private:
  Segment<B>& segment(std::uint32_t name) { return memory_.segments.named(name); }
  [[nodiscard]] const Segment<B>& segment(std::uint32_t name) const { return memory_.segments.named(name); }

  template <class Take>
  void for_all(std::uint32_t name, Take&& take) {
    Assembly& a = memory_.assemblies.named(name);
    for (std::uint32_t s = a.first; s != 0;) {
      Segment<B>& one = segment(s);
      s = one.next;
      take(one);
      memory_.segments.give(&one);
      --segments_;
    }
    memory_.assemblies.give(&a);
    --assemblies_;
  }

  [[nodiscard]] bool contradicts(const Assembly& a, std::uint16_t stop, bool is_last) const {
    if (a.bytes != 0) return stop > a.bytes || (is_last && stop != a.bytes);
    return is_last && a.last != 0 && segment(a.last).stop > stop;
  }

  [[nodiscard]] std::uint32_t make(B pdu, std::size_t skip, std::uint32_t start, std::uint32_t stop) {
    Segment<B>* const s = memory_.segments.take();
    s->pdu = std::move(pdu);
    s->skip = static_cast<std::uint16_t>(skip);
    s->start = static_cast<std::uint16_t>(start);
    s->stop = static_cast<std::uint16_t>(stop);
    s->next = 0;
    ++segments_;
    return memory_.segments.name_of(s);
  }

  // Appends octets behind all that is held, as most segments are. `most` limits the segments that may be taken.
  [[nodiscard]] Received append(Assembly& a, B& pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                                bool is_last, std::size_t most) {
    if (most == 0) return Received::kNoMemory;
    const std::uint32_t end = a.last == 0 ? 0 : segment(a.last).stop;
    const std::uint32_t name = make(std::move(pdu), skip, start, stop);
    (a.last == 0 ? a.first : segment(a.last).next) = name;
    a.last = name;
    a.octets += stop - start;
    a.holes += (start != end ? 1 : 0) - (is_last ? 1 : 0);
    if (is_last) a.bytes = stop;
    return Received::kStored;
  }

  // Adds one new segment for each missing run within [start, stop): all of them or none.
  [[nodiscard]] Received insert(Assembly& a, B& pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                                bool is_last, std::size_t most) {
    std::uint32_t missing = 0;
    for_each_missing(a, start, stop, [&](std::uint32_t, std::uint32_t, std::uint32_t) { ++missing; });
    if (missing == 0) return Received::kDuplicate;
    if (most < missing) return Received::kNoMemory;
    for_each_missing(a, start, stop, [&](std::uint32_t from, std::uint32_t to, std::uint32_t behind) {
      const std::uint32_t name = make(pdu.share(), skip + (from - start), from, to);
      std::uint32_t& link = behind == 0 ? a.first : segment(behind).next;
      const std::uint32_t next = link;
      segment(name).next = next;
      link = name;
      if (next == 0) a.last = name;
      a.octets += to - from;
      // The hole that it fills is now none, one before it, one behind it, or both.
      const bool hole_before = from != (behind == 0 ? 0 : segment(behind).stop);
      const bool hole_behind = next == 0 || to != segment(next).start;
      a.holes += (hole_before ? 1 : 0) + (hole_behind ? 1 : 0) - 1;
    });
    pdu.release();
    if (is_last && a.bytes == 0) --a.holes;  // the tail of unknown length
    if (is_last) a.bytes = stop;
    return Received::kStored;
  }

  // Calls run(from, to, behind) for each missing run; `behind` is the segment after it. `run` may insert the run
  // meanwhile.
  template <class Run>
  void for_each_missing(const Assembly& a, std::uint32_t start, std::uint32_t stop, Run&& run) const {
    std::uint32_t behind = 0, at = start;
    for (std::uint32_t s = a.first; s != 0 && at < stop;) {
      const Segment<B>& held = segment(s);
      const std::uint32_t held_start = held.start, held_stop = held.stop, next = held.next;
      if (held_stop > at) {
        if (held_start > at) run(at, std::min(stop, held_start), behind);
        at = std::max(at, held_stop);
      }
      behind = s;
      s = next;
    }
    if (at < stop) run(at, stop, behind);
  }

  Memory<B>& memory_;
  std::uint32_t segments_ = 0, assemblies_ = 0;  // of this entity
};

}  // namespace splitplane::ran::rlc
