// The probe of `splitplane explain`. It records what the stages of the production pipeline saw of one packet. The
// pipeline is the same template as in a running worker; only this parameter differs.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/probe.h"
#include "n3/parse.h"
#include "ran/bearer.h"

namespace splitplane::datapath {

struct Trace {
  std::vector<std::pair<Stage, unsigned>> stages;  // with the number of packets that entered it
  std::optional<GPdu> gpdu;                        // downlink: the G-PDU that the first stage read
  std::uint32_t bearer = 0;                        // 0: no bearer was found
  std::optional<std::uint8_t> qfi;                 // uplink: for the PDU Session Container
};

class TraceProbe {
 public:
  void begin(WorkerStats&) { trace_ = {}; }
  void resume() {}
  void stage(Stage s, unsigned n) { trace_.stages.emplace_back(s, n); }
  void parsed(const GPdu* gpdu, unsigned n) {
    if (n != 0 && !trace_.gpdu) trace_.gpdu = *gpdu;
  }
  template <class Line>
  void found(Line* const* bearers, unsigned n) {
    if (n != 0 && trace_.bearer == 0) trace_.bearer = bearers[0]->id;
  }
  void read(const std::uint8_t* qfi, unsigned n) {
    if (n != 0) trace_.qfi = *qfi;
  }
  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  Trace trace_;
};

}  // namespace splitplane::datapath
