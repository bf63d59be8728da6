#include "ran/sdap/ue_entity.h"

namespace splitplane::ran::sdap {

bool UeEntity::configure_rule(Qfi qfi, DrbId drb, EndMarker& end_marker) {
  end_marker = {};
  if (qfi.value >= kFlows || !map_.has_drb(drb)) return false;
  end_marker = store_rule(qfi, drb);
  return true;
}

// A flow without a rule ends on the default DRB, also if the new rule names the default DRB, and also if nothing of the
// flow was ever sent: 5.3 has no such condition. Only a DRB with an UL header can carry the end marker (6.2.3).
EndMarker UeEntity::store_rule(Qfi qfi, DrbId drb) {
  const DrbId rule = map_.rule_of(qfi);
  if (rule == drb) return {};
  const DrbId old = rule == DrbId{} ? map_.default_drb() : rule;
  map_.set_rule(qfi, drb);
  ++counters_.rules_changed;
  if (!map_.header_ul(old)) return {};
  ++counters_.end_markers_sent;
  return {old, wire::sdap::encode(wire::sdap::UplinkHeader{false, qfi})};
}

}  // namespace splitplane::ran::sdap
