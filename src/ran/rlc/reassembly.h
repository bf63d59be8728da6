// Puts SDUs together from segments in any order, cut anywhere, overlapping or twice: only octets that are not yet held
// are kept, in the buffers that they came in.
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

  // The name of a new, empty one; 0 without memory.
  [[nodiscard]] std::uint32_t begin() {
    Assembly* const assembly = memory_.assemblies.take();
    if (assembly == nullptr) return 0;
    *assembly = {};
    return memory_.assemblies.name_of(assembly);
  }

  // Adds octets [start, stop), which begin at `skip` of `pdu`; `is_last`: `stop` is the SDU's length. kStored also when
  // the SDU is complete now. On kNoMemory what was held is still held.
  [[nodiscard]] Received add(std::uint32_t name, B pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                             bool is_last) {
    Assembly& a = memory_.assemblies.named(name);
    if (contradicts(a, stop, is_last)) return Received::kContradiction;
    if (a.last == 0 || segment(a.last).stop <= start) return append(a, std::move(pdu), skip, start, stop, is_last);
    return insert(a, std::move(pdu), skip, start, stop, is_last);
  }

  [[nodiscard]] bool complete(std::uint32_t name) const {
    const Assembly& a = memory_.assemblies.named(name);
    return a.bytes != 0 && a.octets == a.bytes;
  }
  [[nodiscard]] bool is_empty(std::uint32_t name) const { return memory_.assemblies.named(name).first == 0; }
  // An octet is missing below the last one held; a missing tail is no gap (TS 38.322 5.2.3.2.3).
  [[nodiscard]] bool has_gap(std::uint32_t name) const {
    const Assembly& a = memory_.assemblies.named(name);
    return a.last != 0 && a.octets != segment(a.last).stop;
  }

  // Calls hole(start, stop) for every run of missing octets, in order, while it returns true; `stop` is kMaxSduBytes +
  // 1 for the tail of an SDU of unknown length. False if one call did.
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
    }
    memory_.assemblies.give(&a);
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
    return memory_.segments.name_of(s);
  }

  // Behind all that is held: the usual case.
  [[nodiscard]] Received append(Assembly& a, B pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                                bool is_last) {
    if (memory_.segments.available() == 0) return Received::kNoMemory;
    const std::uint32_t name = make(std::move(pdu), skip, start, stop);
    (a.last == 0 ? a.first : segment(a.last).next) = name;
    a.last = name;
    a.octets += stop - start;
    if (is_last) a.bytes = stop;
    return Received::kStored;
  }

  // One new segment for each run of [start, stop) that is missing, all of them or none.
  [[nodiscard]] Received insert(Assembly& a, B pdu, std::uint16_t skip, std::uint16_t start, std::uint16_t stop,
                                bool is_last) {
    std::uint32_t missing = 0;
    for_each_missing(a, start, stop, [&](std::uint32_t, std::uint32_t, std::uint32_t) { ++missing; });
    if (missing == 0) return Received::kDuplicate;
    if (memory_.segments.available() < missing) return Received::kNoMemory;
    for_each_missing(a, start, stop, [&](std::uint32_t from, std::uint32_t to, std::uint32_t behind) {
      const std::uint32_t name = make(pdu.share(), skip + (from - start), from, to);
      std::uint32_t& link = behind == 0 ? a.first : segment(behind).next;
      segment(name).next = link;
      link = name;
      if (segment(name).next == 0) a.last = name;
      a.octets += to - from;
      return name;
    });
    if (is_last) a.bytes = stop;
    return Received::kStored;
  }

  // Calls run(from, to, behind) for the missing runs; `behind`: the segment before it. The run may be put in meanwhile.
  template <class Run>
  void for_each_missing(const Assembly& a, std::uint32_t start, std::uint32_t stop, Run&& run) {
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
};

}  // namespace splitplane::ran::rlc
