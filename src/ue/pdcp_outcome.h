// What PDCP says of a PDU or an SDU, as an outcome of the UE side.
#pragma once

#include "ran/pdcp/types.h"
#include "ue/ue_outcome.h"

namespace splitplane::ue {

// Why a received PDU was dropped; `ok` if it was not.
[[nodiscard]] inline UeOutcome refused_as(ran::pdcp::RxOutcome outcome) {
  using ran::pdcp::RxOutcome;
  switch (outcome) {
    case RxOutcome::malformed:
      return UeOutcome::pdu_too_short;
    case RxOutcome::hfn_negative:
    case RxOutcome::count_out_of_range:
      return UeOutcome::pdcp_count_wrong;
    case RxOutcome::integrity_failed:
      return UeOutcome::pdcp_integrity_failed;
    case RxOutcome::too_old:
      return UeOutcome::pdcp_old;
    case RxOutcome::duplicate:
      return UeOutcome::pdcp_duplicate;
    case RxOutcome::no_memory:
      return UeOutcome::pdcp_no_memory;
    case RxOutcome::crypto_failed:
      return UeOutcome::pdcp_crypto_failed;
    case RxOutcome::suspended:
    case RxOutcome::keys_changed:
      return UeOutcome::pdcp_keys_changed;
    case RxOutcome::control:
    case RxOutcome::unknown_control:
    case RxOutcome::bad_status_report:
      return UeOutcome::pdcp_control;
    case RxOutcome::accepted:
      break;
  }
  return UeOutcome::ok;
}

// Why an SDU was not sent.
[[nodiscard]] inline UeOutcome not_sent_as(ran::pdcp::TxOutcome outcome) {
  using ran::pdcp::TxOutcome;
  switch (outcome) {
    case TxOutcome::sdu_empty:
      return UeOutcome::pdu_too_short;
    case TxOutcome::sdu_too_large:
      return UeOutcome::pdcp_sdu_too_large;
    case TxOutcome::count_exhausted:
      return UeOutcome::count_exhausted;
    case TxOutcome::window_full:
    case TxOutcome::no_credit:
      return UeOutcome::rlc_window_full;
    case TxOutcome::crypto_failed:
      return UeOutcome::pdcp_crypto_failed;
    default:
      return UeOutcome::pdcp_no_memory;
  }
}

}  // namespace splitplane::ue
