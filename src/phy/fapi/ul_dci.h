// UL_DCI.request: the DCIs of a slot that grant uplink (SCF-222.10.02 3.4.4, table 3-54). Its PDCCH PDUs are those of
// DL_TTI.request.
#pragma once

#include "phy/fapi/dl_tti.h"

namespace splitplane::fapi {

struct UlDciRequest {
  static constexpr MessageId kId = MessageId::kUlDciRequest;
  using AnyPdu = Pdu<PdcchPdu>;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<AnyPdu, kMaxPdus> pdus;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    io.template list<std::uint8_t>("num_pdus", "pdus", m.pdus,
                                   [](auto& each, auto& pdu) { AnyPdu::fields(each, pdu); });
  }

  friend bool operator==(const UlDciRequest&, const UlDciRequest&) = default;
};

}  // namespace splitplane::fapi
