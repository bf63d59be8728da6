// The sending MAC of a gNB for one UE: control elements first, then SDUs, then padding (TS 38.321 6.1.2).
#pragma once

#include "ran/mac/control_element.h"
#include "ran/mac/multiplexer.h"

namespace splitplane::ran::mac {

template <buf::PacketBuffer B>
class Downlink {
 public:
  static constexpr unsigned kMostElements = 8;

  explicit Downlink(Time ticks_per_second) : mux_(ticks_per_second) {}

  [[nodiscard]] Multiplexer<B>& mux() { return mux_; }
  [[nodiscard]] const Multiplexer<B>& mux() const { return mux_; }

  // A control element for the next block that has room for it; elements keep their order. False: kMostElements wait.
  [[nodiscard]] bool add(const ControlElement& element) {
    if (waiting_ == kMostElements) return false;
    elements_[waiting_++] = element;
    return true;
  }
  [[nodiscard]] unsigned elements_waiting() const { return waiting_; }

  // Octets that a grant could carry now, for the scheduler: PDUs of RLC and control elements, without subheaders of
  // SDUs.
  [[nodiscard]] std::uint64_t sendable() const {
    std::uint64_t octets = mux_.sendable();
    for (unsigned i = 0; i < waiting_; ++i) octets += elements_[i].size();
    return octets;
  }

  // Builds a transport block of exactly `bytes` octets. It is complete when the scheme is flushed. False: there is no
  // block, because `bytes` is 0 or the scheme cannot make it; nothing was taken from the channels.
  template <Scheme<B> S>
  bool build(S& scheme, typename S::Block& block, std::size_t bytes, Time now) {
    MuxCounters& counters = mux_.counters();
    if (bytes == 0 || !scheme.begin(block, bytes)) {
      ++counters.no_block;
      return false;
    }
    if (waiting_ != 0) put_elements(scheme);
    mux_.fill(scheme, 0, now);
    counters.padding_octets += scheme.finish();
    ++counters.blocks;
    counters.octets += bytes;
    return true;
  }

  // For a batch: fetches this object's own state.
  void prefetch() const {
    mux_.prefetch();
    __builtin_prefetch(&waiting_);
  }

 private:
  template <class S>
  void put_elements(S& scheme) {
    unsigned put = 0;
    for (; put < waiting_; ++put) {
      const Octets from = elements_[put].octets();
      const MutableOctets to = scheme.open(from.size());
      if (to.size() < from.size()) {
        scheme.close(0);
        break;
      }
      wire::copy_octets(to.data(), from.data(), from.size());
      scheme.close(from.size());
    }
    mux_.counters().elements += put;
    std::move(elements_.begin() + put, elements_.begin() + waiting_, elements_.begin());
    waiting_ -= put;
  }

  Multiplexer<B> mux_;
  unsigned waiting_ = 0;
  std::array<ControlElement, kMostElements> elements_;
};

}  // namespace splitplane::ran::mac
