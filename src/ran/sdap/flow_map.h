// Which DRB each QoS flow of a session uses, and which headers each DRB has (TS 37.324 5.2.1, 5.3). The UE has one for
// UL, the gNB one for DL. A lookup is one load: a flow without a rule has the default DRB entered at its place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ran/sdap/drb.h"

namespace splitplane::ran::sdap {

class alignas(64) FlowMap {
 public:
  FlowMap() { only_flow_.fill(kNoFlow); }

  // Adds a DRB, or changes its headers. Returns false if its identity or its QFI is out of range.
  bool configure_drb(DrbId drb, const DrbConfig& config);
  // Releases the DRB with all rules that name it (5.3.3). Its flows use the default DRB again, if that is another one.
  void release_drb(DrbId drb);
  // The DRB of flows without a rule; none: {}. Returns false if the session has no such DRB.
  bool set_default(DrbId drb);
  // Returns false if the session has no such DRB, or the QFI is beyond 63.
  bool set_rule(Qfi qfi, DrbId drb);
  void release_rule(Qfi qfi);

  [[nodiscard]] bool has_drb(DrbId drb) const { return (drbs_ & bit(drb)) != 0; }
  [[nodiscard]] bool header_ul(DrbId drb) const { return (header_ul_ & bit(drb)) != 0; }
  [[nodiscard]] bool header_dl(DrbId drb) const { return (header_dl_ & bit(drb)) != 0; }
  // The only UL flow of a DRB without an UL header.
  [[nodiscard]] std::optional<Qfi> only_flow(DrbId drb) const {
    const std::uint8_t qfi = has_drb(drb) ? only_flow_[drb.value - 1U] : kNoFlow;
    return qfi == kNoFlow ? std::nullopt : std::optional(Qfi{qfi});
  }
  [[nodiscard]] DrbId default_drb() const { return default_; }
  // The DRB of a flow, by rule or by default; {} if there is none. `qfi` is at most 63.
  [[nodiscard]] DrbId drb_of(Qfi qfi) const { return DrbId{drb_[qfi.value]}; }
  // The DRB that a rule names; {} if the flow has no rule. `qfi` is at most 63.
  [[nodiscard]] DrbId rule_of(Qfi qfi) const { return (ruled_ >> qfi.value & 1) != 0 ? drb_of(qfi) : DrbId{}; }

 private:
  static constexpr std::uint8_t kNoFlow = 0xff;
  // 0 for an identity out of range.
  static constexpr std::uint32_t bit(DrbId drb) { return drb.value - 1U < kMaxDrb ? 1U << (drb.value - 1U) : 0U; }

  std::array<std::uint8_t, kFlows> drb_{};
  std::uint64_t ruled_ = 0;                                 // bit q: flow q has a rule
  std::uint32_t drbs_ = 0, header_ul_ = 0, header_dl_ = 0;  // bit d-1: DRB d
  DrbId default_{};
  std::array<std::uint8_t, kMaxDrb> only_flow_{};
};
static_assert(sizeof(FlowMap) == 128);

}  // namespace splitplane::ran::sdap
