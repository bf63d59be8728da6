// A bearer of the UE side as users see it.
#pragma once

#include "ran/bearer_view.h"
#include "ue/ue_bearer.h"
#include "ue/ue_session.h"

namespace splitplane::ue {

[[nodiscard]] inline app::BearerView view_of(const UeBearer& b) {
  app::BearerView view;
  view.config = b.config;
  view.downlink = {b.downlink.received, b.downlink.delivered, b.downlink.dropped, b.downlink.control, b.downlink.bytes};
  view.uplink = {b.uplink.received, b.uplink.sent, b.uplink.dropped, 0, b.uplink.bytes};
  view.pdcp_tx_next = b.pdcp_tx_next;
  view.rlc_tx_next = b.rlc_tx_next;
  view.pdcp_rx_next = b.secured == nullptr ? b.pdcp_rx.next() : b.secured->entity.rx().rx_next();
  if (b.secured != nullptr) view.downlink.held += b.secured->entity.rx().held();
  view.rlc_rx_next = b.config.rlc_mode == RlcMode::kAm ? b.rlc_rx.next() : 0;
  if (b.arq != nullptr) view.rlc_am = datapath::view_of(*b.arq);
  if (b.session != nullptr) view.session = b.session->place_of(b);
  if (b.secured != nullptr) view.epoch = b.secured->epoch;
  return view;
}

}  // namespace splitplane::ue
