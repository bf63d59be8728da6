#include "ran/ecn/marker.h"

#include <algorithm>

namespace splitplane::ran::ecn {

bool Marker::offer(wire::MutableOctets sdu, std::uint32_t sn, Time now) {
  using wire::ecn::Codepoint;
  const Time queueing = sojourn_.queueing(now);
  law_.update(queueing, now);
  counters_.queueing_most = std::max(counters_.queueing_most, queueing);
  sojourn_.sent(sn, sdu.size(), now);
  const Codepoint codepoint = wire::ecn::codepoint_of(sdu);
  if (!wire::ecn::is_capable(codepoint)) return false;
  const bool is_scalable = codepoint == Codepoint::kEct1;
  ++(is_scalable ? counters_.ect1 : counters_.ect0);
  if (!law_.marks(codepoint, queueing)) return false;
  ++(is_scalable ? counters_.marked_ect1 : counters_.marked_ect0);
  wire::ecn::set_ce(sdu);
  return true;
}

}  // namespace splitplane::ran::ecn
