// Third stage of the downlink, on the slow path only: does what a G-PDU's form asks of its bearer. Most bursts have no
// such G-PDU and pass by one comparison.
//
//   goes on  a packet that is in order; a time stamp is recorded for the uplink
//   waits    a packet whose predecessors are missing (n3/reorder.h): GnbDownlink sends it later
//   dropped  psc_missing, n3_sn_old
#pragma once

#include "gnb/datapath/downlink_path.h"
#include "gnb/datapath/slow_path.h"

namespace splitplane::datapath {

template <FeatureSet F, class Sink, class Probe>
inline void check_options(DownlinkPath<F, Sink, Probe>& path, Burst& burst, Drops& drops) {
  if (path.slow == kSequenced && !path.gnb.reorder.any()) path.slow = 0;  // no bearer asks for an order
  if (path.slow != 0) [[unlikely]]
    check_options_slow(path.gnb, burst, path.gpdu.data(), path.bearer.data(), path.ordered, drops);
}

}  // namespace splitplane::datapath
