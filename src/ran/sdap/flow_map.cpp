#include "ran/sdap/flow_map.h"

namespace splitplane::ran::sdap {

bool FlowMap::configure_drb(DrbId drb, const DrbConfig& config) {
  const std::uint32_t its = bit(drb);
  if (its == 0 || (config.qfi && config.qfi->value >= kFlows)) return false;
  drbs_ |= its;
  header_ul_ = config.header_ul ? header_ul_ | its : header_ul_ & ~its;
  header_dl_ = config.header_dl ? header_dl_ | its : header_dl_ & ~its;
  only_flow_[drb.value - 1U] = config.qfi ? config.qfi->value : kNoFlow;
  return true;
}

void FlowMap::release_drb(DrbId drb) {
  const std::uint32_t its = bit(drb);
  if ((drbs_ & its) == 0) return;
  if (default_ == drb) set_default({});
  drbs_ &= ~its;
  header_ul_ &= ~its;
  header_dl_ &= ~its;
  only_flow_[drb.value - 1U] = kNoFlow;
  for (std::uint8_t qfi = 0; qfi < kFlows; ++qfi) {
    if (rule_of(Qfi{qfi}) == drb) release_rule(Qfi{qfi});
  }
}

bool FlowMap::set_default(DrbId drb) {
  if (drb != DrbId{} && !has_drb(drb)) return false;
  default_ = drb;
  for (std::uint8_t qfi = 0; qfi < kFlows; ++qfi) {
    if ((ruled_ >> qfi & 1) == 0) drb_[qfi] = drb.value;
  }
  return true;
}

bool FlowMap::set_rule(Qfi qfi, DrbId drb) {
  if (qfi.value >= kFlows || !has_drb(drb)) return false;
  drb_[qfi.value] = drb.value;
  ruled_ |= std::uint64_t{1} << qfi.value;
  return true;
}

void FlowMap::release_rule(Qfi qfi) {
  if (qfi.value >= kFlows) return;
  drb_[qfi.value] = default_.value;
  ruled_ &= ~(std::uint64_t{1} << qfi.value);
}

}  // namespace splitplane::ran::sdap
