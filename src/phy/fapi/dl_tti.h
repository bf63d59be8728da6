// DL_TTI.request: what the PHY sends in a slot (SCF-222.10.02 3.4.2). PDCCH and PDSCH are offered.
#pragma once

#include "phy/fapi/beamforming.h"
#include "phy/fapi/bwp.h"
#include "phy/fapi/group.h"
#include "phy/fapi/message_id.h"
#include "phy/fapi/pdu.h"
#include "phy/fapi/slot_time.h"

namespace splitplane::fapi {

// A DCI (table 3-37), and the CORESET that carries it (table 3-36).
struct DlDci {
  static constexpr std::size_t kMaxPayloadOctets = 18;  // 140 bits (TS 38.212 7.3.1)

  std::uint16_t rnti = 0;
  std::uint16_t scrambling_id = 0;
  std::uint16_t scrambling_rnti = 0;
  std::uint8_t cce_index = 0;
  std::uint8_t aggregation_level = 0;
  TxPrecoding precoding;
  std::uint8_t beta_pdcch_1_0 = 0;
  std::uint8_t power_control_offset_ss = 0;
  std::uint16_t payload_size_bits = 0;
  std::array<std::uint8_t, kMaxPayloadOctets> payload{};  // the first bit of the DCI is bit 7 of octet 0

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("rnti", m.rnti);
    io("scrambling_id", m.scrambling_id);
    io("scrambling_rnti", m.scrambling_rnti);
    io("cce_index", m.cce_index);
    io("aggregation_level", m.aggregation_level);
    TxPrecoding::fields(io, m.precoding);
    io("beta_pdcch_1_0", m.beta_pdcch_1_0);
    io("power_control_offset_ss", m.power_control_offset_ss);
    io("payload_size_bits", m.payload_size_bits);
    const std::size_t octets = (m.payload_size_bits + 7U) / 8;
    if (octets > kMaxPayloadOctets) return io.refuse(Reason::bad_length);
    Payload bits{Octets(m.payload).first(octets)};
    io.payload("payload", bits, octets);
    if constexpr (Io::kReads) {
      m.payload.fill(0);
      wire::copy_octets(m.payload.data(), bits.octets.data(), bits.size());
    }
  }

  friend bool operator==(const DlDci&, const DlDci&) = default;
};

struct PdcchPdu {
  static constexpr std::uint16_t kType = 0;
  static constexpr std::size_t kMaxDcis = 8;

  Bwp bwp;
  std::uint8_t start_symbol_index = 0;
  std::uint8_t duration_symbols = 1;
  std::array<std::uint8_t, 6> freq_domain_resource{};  // 45 bits, one for each 6 PRBs
  std::uint8_t cce_reg_mapping_type = 0;
  std::uint8_t reg_bundle_size = 6;
  std::uint8_t interleaver_size = 0;
  std::uint8_t core_set_type = 1;
  std::uint16_t shift_index = 0;
  std::uint8_t precoder_granularity = 0;
  Bounded<DlDci, kMaxDcis> dl_dcis;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    Bwp::fields(io, m.bwp);
    io("start_symbol_index", m.start_symbol_index);
    io("duration_symbols", m.duration_symbols);
    io("freq_domain_resource", m.freq_domain_resource);
    io("cce_reg_mapping_type", m.cce_reg_mapping_type);
    io("reg_bundle_size", m.reg_bundle_size);
    io("interleaver_size", m.interleaver_size);
    io("core_set_type", m.core_set_type);
    io("shift_index", m.shift_index);
    io("precoder_granularity", m.precoder_granularity);
    io.template list<std::uint16_t>("num_dl_dci", "dl_dcis", m.dl_dcis,
                                    [](auto& each, auto& dci) { DlDci::fields(each, dci); });
  }

  friend bool operator==(const PdcchPdu&, const PdcchPdu&) = default;
};

// Table 3-38.
struct PdschPdu {
  static constexpr std::uint16_t kType = 1;
  static constexpr std::uint16_t kHasPtrs = 1, kHasCbg = 2;  // bits of pdu_bitmap

  struct Codeword {
    std::uint16_t target_code_rate = 0;  // information bits of 1024 coded bits, in tenths
    std::uint8_t qam_mod_order = 2;
    std::uint8_t mcs_index = 0;
    std::uint8_t mcs_table = 0;
    std::uint8_t rv_index = 0;
    std::uint32_t tb_size = 0;  // octets

    friend bool operator==(const Codeword&, const Codeword&) = default;
  };

  std::uint16_t pdu_bitmap = 0;
  std::uint16_t rnti = 0;
  std::uint16_t pdu_index = 0;  // names the PDU of TX_DATA.request with its transport blocks
  Bwp bwp;
  Bounded<Codeword, 2> codewords;
  std::uint16_t data_scrambling_id = 0;
  std::uint8_t nr_of_layers = 1;
  std::uint8_t transmission_scheme = 0;
  std::uint8_t ref_point = 0;
  std::uint16_t dl_dmrs_symb_pos = 0;
  std::uint8_t dmrs_config_type = 0;
  std::uint16_t dl_dmrs_scrambling_id = 0;
  std::uint8_t scid = 0;
  std::uint8_t num_dmrs_cdm_grps_no_data = 1;
  std::uint16_t dmrs_ports = 0;
  std::uint8_t resource_alloc = 1;
  std::array<std::uint8_t, kRbBitmapOctets> rb_bitmap{};
  std::uint16_t rb_start = 0;
  std::uint16_t rb_size = 0;
  std::uint8_t vrb_to_prb_mapping = 0;
  std::uint8_t start_symbol_index = 0;
  std::uint8_t nr_of_symbols = 0;
  std::uint8_t ptrs_port_index = 0;  // these five with kHasPtrs only
  std::uint8_t ptrs_time_density = 0;
  std::uint8_t ptrs_freq_density = 0;
  std::uint8_t ptrs_re_offset = 0;
  std::uint8_t n_epre_ratio_of_pdsch_to_ptrs = 0;
  TxPrecoding precoding;
  std::uint8_t power_control_offset = 0;
  std::uint8_t power_control_offset_ss = 0;
  std::uint8_t is_last_cb_present = 0;  // these three with kHasCbg only
  std::uint8_t is_inline_tb_crc = 0;
  std::uint32_t dl_tb_crc = 0;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("pdu_bitmap", m.pdu_bitmap);
    io("rnti", m.rnti);
    io("pdu_index", m.pdu_index);
    Bwp::fields(io, m.bwp);
    io.template list<std::uint8_t>("nr_of_codewords", "codewords", m.codewords, [](auto& each, auto& codeword) {
      each("target_code_rate", codeword.target_code_rate);
      each("qam_mod_order", codeword.qam_mod_order);
      each("mcs_index", codeword.mcs_index);
      each("mcs_table", codeword.mcs_table);
      each("rv_index", codeword.rv_index);
      each("tb_size", codeword.tb_size);
    });
    io("data_scrambling_id", m.data_scrambling_id);
    io("nr_of_layers", m.nr_of_layers);
    io("transmission_scheme", m.transmission_scheme);
    io("ref_point", m.ref_point);
    io("dl_dmrs_symb_pos", m.dl_dmrs_symb_pos);
    io("dmrs_config_type", m.dmrs_config_type);
    io("dl_dmrs_scrambling_id", m.dl_dmrs_scrambling_id);
    io("scid", m.scid);
    io("num_dmrs_cdm_grps_no_data", m.num_dmrs_cdm_grps_no_data);
    io("dmrs_ports", m.dmrs_ports);
    io("resource_alloc", m.resource_alloc);
    io("rb_bitmap", m.rb_bitmap);
    io("rb_start", m.rb_start);
    io("rb_size", m.rb_size);
    io("vrb_to_prb_mapping", m.vrb_to_prb_mapping);
    io("start_symbol_index", m.start_symbol_index);
    io("nr_of_symbols", m.nr_of_symbols);
    if ((m.pdu_bitmap & kHasPtrs) != 0) {
      io("ptrs_port_index", m.ptrs_port_index);
      io("ptrs_time_density", m.ptrs_time_density);
      io("ptrs_freq_density", m.ptrs_freq_density);
      io("ptrs_re_offset", m.ptrs_re_offset);
      io("n_epre_ratio_of_pdsch_to_ptrs", m.n_epre_ratio_of_pdsch_to_ptrs);
    }
    TxPrecoding::fields(io, m.precoding);
    io("power_control_offset", m.power_control_offset);
    io("power_control_offset_ss", m.power_control_offset_ss);
    if ((m.pdu_bitmap & kHasCbg) != 0) {
      io("is_last_cb_present", m.is_last_cb_present);
      io("is_inline_tb_crc", m.is_inline_tb_crc);
      io("dl_tb_crc", m.dl_tb_crc);
    }
  }

  friend bool operator==(const PdschPdu&, const PdschPdu&) = default;
};

// Table 3-35.
struct DlTtiRequest {
  static constexpr MessageId kId = MessageId::kDlTtiRequest;
  static constexpr std::size_t kMaxUesOfGroup = 12;
  using AnyPdu = Pdu<PdcchPdu, PdschPdu>;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  Bounded<AnyPdu, kMaxPdus> pdus;
  Bounded<Group<kMaxUesOfGroup>, kMaxGroups> groups;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    auto n_pdus = static_cast<std::uint8_t>(m.pdus.size());
    auto n_group = static_cast<std::uint8_t>(m.groups.size());
    io("n_pdus", n_pdus);
    io("n_group", n_group);
    io.elements("pdus", m.pdus, n_pdus, [](auto& each, auto& pdu) { AnyPdu::fields(each, pdu); });
    group_fields(io, m.groups, n_group, n_pdus);
  }

  friend bool operator==(const DlTtiRequest&, const DlTtiRequest&) = default;
};

}  // namespace splitplane::fapi
