#include "ran/sdap/gnb_entity.h"

namespace splitplane::ran::sdap {

bool GnbEntity::configure_rule(Qfi qfi, DrbId drb) {
  const DrbId old = qfi.value < kFlows ? map_.rule_of(qfi) : DrbId{};
  if (!map_.set_rule(qfi, drb)) return false;
  if (old != drb) ++counters_.rules_changed;
  return true;
}

ReceivedByGnb GnbEntity::receive_without_header(DrbId drb, wire::Octets pdu) {
  if (pdu.empty()) return {counters_.drop(Drop::malformed)};
  const auto qfi = map_.only_flow(drb);
  if (!qfi) return {counters_.drop(Drop::no_qfi)};
  counters_.received[qfi->value].add(pdu.size());
  return {Drop::none, false, *qfi, 0};
}

}  // namespace splitplane::ran::sdap
