// The UE's power headroom reporting with the single entry PHR (TS 38.321 5.4.6). What it reports comes from the PHY.
#pragma once

#include <cstdlib>

#include "ran/mac/control_element.h"
#include "ran/rlc/types.h"

namespace splitplane::ran::mac {

using rlc::Time;

struct PhrConfig {
  Time periodic = rlc::kNever;  // phr-PeriodicTimer in ticks; kNever: infinity
  Time prohibit = 0;            // phr-ProhibitTimer in ticks
  int change_db = 3;            // phr-Tx-PowerFactorChange
};

// What the PHY says at a grant.
struct RadioState {
  std::uint8_t power_headroom = 0;  // the level of TS 38.133 10.1.17, 0..63
  std::uint8_t pcmax = 0;           // the level of TS 38.133 10.1.18, 0..63
  int path_loss_db = 0;
};

class PowerHeadroom {
 public:
  static constexpr std::size_t kBytes = 3;  // a single entry PHR and its subheader

  // Configuration triggers a PHR.
  explicit PowerHeadroom(const PhrConfig& config) : config_(config) {}

  // A grant for new data came: the first one starts phr-PeriodicTimer, and a path loss that changed triggers a PHR.
  void granted(const RadioState& radio, Time now) {
    if (!was_granted_ && config_.periodic != rlc::kNever) t_periodic_.start(now, config_.periodic);
    was_granted_ = true;
    if (t_periodic_.expired(now)) {
      t_periodic_.stop();
      triggered_ = true;
    }
    if (t_prohibit_.expired(now)) t_prohibit_.stop();
    const bool changed = std::abs(radio.path_loss_db - reported_path_loss_db_) > config_.change_db;
    if (!t_prohibit_.running() && changed) triggered_ = true;
  }
  [[nodiscard]] bool triggered() const { return triggered_; }

  // The PHR of this moment.
  [[nodiscard]] static ControlElement report(const RadioState& radio) {
    return ControlElement::of(wire::mac::SinglePhr{radio.power_headroom, radio.pcmax});
  }
  // That PHR is in the block.
  void sent(const RadioState& radio, Time now) {
    triggered_ = false;
    reported_path_loss_db_ = radio.path_loss_db;
    if (config_.periodic != rlc::kNever) t_periodic_.start(now, config_.periodic);
    t_prohibit_.start(now, config_.prohibit);
  }

 private:
  PhrConfig config_;
  bool triggered_ = true, was_granted_ = false;
  int reported_path_loss_db_ = 0;
  rlc::Timer t_periodic_, t_prohibit_;
};

}  // namespace splitplane::ran::mac
