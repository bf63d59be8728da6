// UL_TTI.request: what the PHY receives in a slot (SCF-222.10.02 3.4.3). PUSCH and PUCCH are offered.
#pragma once

#include "phy/fapi/beamforming.h"
#include "phy/fapi/bwp.h"
#include "phy/fapi/group.h"
#include "phy/fapi/message_id.h"
#include "phy/fapi/pdu.h"
#include "phy/fapi/slot_time.h"

namespace splitplane::fapi {

// Table 3-46; its parts in tables 3-47 to 3-50.
struct PuschPdu {
  static constexpr std::uint16_t kType = 1;
  static constexpr std::uint16_t kHasData = 1, kHasUci = 2, kHasPtrs = 4, kHasDftsOfdm = 8;  // bits of pdu_bitmap

  struct Data {
    std::uint8_t rv_index = 0;
    std::uint8_t harq_process_id = 0;
    std::uint8_t new_data_indicator = 0;  // 1: a new TB, 0: a repetition; it does not toggle as the NDI of a DCI does
    std::uint32_t tb_size = 0;            // octets
    std::uint16_t num_cb = 0;             // 0 without code block groups
    Payload cb_present_and_position;

    friend bool operator==(const Data&, const Data&) = default;
  };

  struct Uci {
    std::uint16_t harq_ack_bit_length = 0;
    std::uint16_t csi_part1_bit_length = 0;
    std::uint16_t csi_part2_bit_length = 0;
    std::uint8_t alpha_scaling = 0;
    std::uint8_t beta_offset_harq_ack = 0;
    std::uint8_t beta_offset_csi1 = 0;
    std::uint8_t beta_offset_csi2 = 0;

    friend bool operator==(const Uci&, const Uci&) = default;
  };

  struct PtrsPort {
    std::uint16_t ptrs_port_index = 0;
    std::uint8_t ptrs_dmrs_port = 0;
    std::uint8_t ptrs_re_offset = 0;

    friend bool operator==(const PtrsPort&, const PtrsPort&) = default;
  };

  struct Ptrs {
    Bounded<PtrsPort, 2> ports;
    std::uint8_t ptrs_time_density = 0;
    std::uint8_t ptrs_freq_density = 0;
    std::uint8_t ul_ptrs_power = 0;

    friend bool operator==(const Ptrs&, const Ptrs&) = default;
  };

  struct DftsOfdm {
    std::uint8_t low_papr_group_number = 0;
    std::uint16_t low_papr_sequence_number = 0;
    std::uint8_t ul_ptrs_sample_density = 0;
    std::uint8_t ul_ptrs_time_density_transform_precoding = 0;

    friend bool operator==(const DftsOfdm&, const DftsOfdm&) = default;
  };

  std::uint16_t pdu_bitmap = kHasData;
  std::uint16_t rnti = 0;
  std::uint32_t handle = 0;  // comes back in RX_DATA, CRC and UCI indications
  Bwp bwp;
  std::uint16_t target_code_rate = 0;  // information bits of 1024 coded bits, in tenths
  std::uint8_t qam_mod_order = 2;
  std::uint8_t mcs_index = 0;
  std::uint8_t mcs_table = 0;
  std::uint8_t transform_precoding = 1;  // 1: off
  std::uint16_t data_scrambling_id = 0;
  std::uint8_t nr_of_layers = 1;
  std::uint16_t ul_dmrs_symb_pos = 0;
  std::uint8_t dmrs_config_type = 0;
  std::uint16_t ul_dmrs_scrambling_id = 0;
  std::uint16_t pusch_identity = 0;
  std::uint8_t scid = 0;
  std::uint8_t num_dmrs_cdm_grps_no_data = 1;
  std::uint16_t dmrs_ports = 0;
  std::uint8_t resource_alloc = 1;
  std::array<std::uint8_t, kRbBitmapOctets> rb_bitmap{};
  std::uint16_t rb_start = 0;
  std::uint16_t rb_size = 0;
  std::uint8_t vrb_to_prb_mapping = 0;
  std::uint8_t frequency_hopping = 0;
  std::uint16_t tx_direct_current_location = 0;
  std::uint8_t uplink_frequency_shift_7p5khz = 0;
  std::uint8_t start_symbol_index = 0;
  std::uint8_t nr_of_symbols = 0;
  Data data;  // each of these four with its bit of pdu_bitmap only
  Uci uci;
  Ptrs ptrs;
  DftsOfdm dfts_ofdm;
  RxBeamforming beamforming;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("pdu_bitmap", m.pdu_bitmap);
    io("rnti", m.rnti);
    io("handle", m.handle);
    Bwp::fields(io, m.bwp);
    io("target_code_rate", m.target_code_rate);
    io("qam_mod_order", m.qam_mod_order);
    io("mcs_index", m.mcs_index);
    io("mcs_table", m.mcs_table);
    io("transform_precoding", m.transform_precoding);
    io("data_scrambling_id", m.data_scrambling_id);
    io("nr_of_layers", m.nr_of_layers);
    io("ul_dmrs_symb_pos", m.ul_dmrs_symb_pos);
    io("dmrs_config_type", m.dmrs_config_type);
    io("ul_dmrs_scrambling_id", m.ul_dmrs_scrambling_id);
    io("pusch_identity", m.pusch_identity);
    io("scid", m.scid);
    io("num_dmrs_cdm_grps_no_data", m.num_dmrs_cdm_grps_no_data);
    io("dmrs_ports", m.dmrs_ports);
    io("resource_alloc", m.resource_alloc);
    io("rb_bitmap", m.rb_bitmap);
    io("rb_start", m.rb_start);
    io("rb_size", m.rb_size);
    io("vrb_to_prb_mapping", m.vrb_to_prb_mapping);
    io("frequency_hopping", m.frequency_hopping);
    io("tx_direct_current_location", m.tx_direct_current_location);
    io("uplink_frequency_shift_7p5khz", m.uplink_frequency_shift_7p5khz);
    io("start_symbol_index", m.start_symbol_index);
    io("nr_of_symbols", m.nr_of_symbols);
    if ((m.pdu_bitmap & kHasData) != 0) {
      io("rv_index", m.data.rv_index);
      io("harq_process_id", m.data.harq_process_id);
      io("new_data_indicator", m.data.new_data_indicator);
      io("tb_size", m.data.tb_size);
      io("num_cb", m.data.num_cb);
      io.payload("cb_present_and_position", m.data.cb_present_and_position, (m.data.num_cb + 7U) / 8);
    }
    if ((m.pdu_bitmap & kHasUci) != 0) {
      io("harq_ack_bit_length", m.uci.harq_ack_bit_length);
      io("csi_part1_bit_length", m.uci.csi_part1_bit_length);
      io("csi_part2_bit_length", m.uci.csi_part2_bit_length);
      io("alpha_scaling", m.uci.alpha_scaling);
      io("beta_offset_harq_ack", m.uci.beta_offset_harq_ack);
      io("beta_offset_csi1", m.uci.beta_offset_csi1);
      io("beta_offset_csi2", m.uci.beta_offset_csi2);
    }
    if ((m.pdu_bitmap & kHasPtrs) != 0) {
      io.template list<std::uint8_t>("num_ptrs_ports", "ptrs_ports", m.ptrs.ports, [](auto& each, auto& port) {
        each("ptrs_port_index", port.ptrs_port_index);
        each("ptrs_dmrs_port", port.ptrs_dmrs_port);
        each("ptrs_re_offset", port.ptrs_re_offset);
      });
      io("ptrs_time_density", m.ptrs.ptrs_time_density);
      io("ptrs_freq_density", m.ptrs.ptrs_freq_density);
      io("ul_ptrs_power", m.ptrs.ul_ptrs_power);
    }
    if ((m.pdu_bitmap & kHasDftsOfdm) != 0) {
      io("low_papr_group_number", m.dfts_ofdm.low_papr_group_number);
      io("low_papr_sequence_number", m.dfts_ofdm.low_papr_sequence_number);
      io("ul_ptrs_sample_density", m.dfts_ofdm.ul_ptrs_sample_density);
      io("ul_ptrs_time_density_transform_precoding", m.dfts_ofdm.ul_ptrs_time_density_transform_precoding);
    }
    RxBeamforming::fields(io, m.beamforming);
  }

  friend bool operator==(const PuschPdu&, const PuschPdu&) = default;
};

// Table 3-51. HARQ feedback of PDSCH comes on it unless a PUSCH carries it.
struct PucchPdu {
  static constexpr std::uint16_t kType = 2;

  std::uint16_t rnti = 0;
  std::uint32_t handle = 0;
  Bwp bwp;
  std::uint8_t format_type = 0;
  std::uint8_t multi_slot_tx_indicator = 0;
  std::uint8_t pi_2bpsk = 0;
  std::uint16_t prb_start = 0;
  std::uint16_t prb_size = 1;
  std::uint8_t start_symbol_index = 0;
  std::uint8_t nr_of_symbols = 1;
  std::uint8_t freq_hop_flag = 0;
  std::uint16_t second_hop_prb = 0;
  std::uint8_t group_hop_flag = 0;
  std::uint8_t sequence_hop_flag = 0;
  std::uint16_t hopping_id = 0;
  std::uint16_t initial_cyclic_shift = 0;
  std::uint16_t data_scrambling_id = 0;
  std::uint8_t time_domain_occ_idx = 0;
  std::uint8_t pre_dft_occ_idx = 0;
  std::uint8_t pre_dft_occ_len = 0;
  std::uint8_t add_dmrs_flag = 0;
  std::uint16_t dmrs_scrambling_id = 0;
  std::uint8_t dmrs_cyclic_shift = 0;
  std::uint8_t sr_flag = 0;
  std::uint16_t bit_len_harq = 0;
  std::uint16_t bit_len_csi_part1 = 0;
  std::uint16_t bit_len_csi_part2 = 0;
  RxBeamforming beamforming;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("rnti", m.rnti);
    io("handle", m.handle);
    Bwp::fields(io, m.bwp);
    io("format_type", m.format_type);
    io("multi_slot_tx_indicator", m.multi_slot_tx_indicator);
    io("pi_2bpsk", m.pi_2bpsk);
    io("prb_start", m.prb_start);
    io("prb_size", m.prb_size);
    io("start_symbol_index", m.start_symbol_index);
    io("nr_of_symbols", m.nr_of_symbols);
    io("freq_hop_flag", m.freq_hop_flag);
    io("second_hop_prb", m.second_hop_prb);
    io("group_hop_flag", m.group_hop_flag);
    io("sequence_hop_flag", m.sequence_hop_flag);
    io("hopping_id", m.hopping_id);
    io("initial_cyclic_shift", m.initial_cyclic_shift);
    io("data_scrambling_id", m.data_scrambling_id);
    io("time_domain_occ_idx", m.time_domain_occ_idx);
    io("pre_dft_occ_idx", m.pre_dft_occ_idx);
    io("pre_dft_occ_len", m.pre_dft_occ_len);
    io("add_dmrs_flag", m.add_dmrs_flag);
    io("dmrs_scrambling_id", m.dmrs_scrambling_id);
    io("dmrs_cyclic_shift", m.dmrs_cyclic_shift);
    io("sr_flag", m.sr_flag);
    io("bit_len_harq", m.bit_len_harq);
    io("bit_len_csi_part1", m.bit_len_csi_part1);
    io("bit_len_csi_part2", m.bit_len_csi_part2);
    RxBeamforming::fields(io, m.beamforming);
  }

  friend bool operator==(const PucchPdu&, const PucchPdu&) = default;
};

// Table 3-44.
struct UlTtiRequest {
  static constexpr MessageId kId = MessageId::kUlTtiRequest;
  static constexpr std::size_t kMaxUesOfGroup = 6;
  using AnyPdu = Pdu<PuschPdu, PucchPdu>;

  std::uint16_t sfn = 0;
  std::uint16_t slot = 0;
  std::uint8_t rach_present = 0;
  Bounded<AnyPdu, kMaxPdus> pdus;
  Bounded<Group<kMaxUesOfGroup>, kMaxGroups> groups;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    slot_fields(io, m);
    auto n_pdus = static_cast<std::uint8_t>(m.pdus.size());
    auto n_ulsch = static_cast<std::uint8_t>(Io::kReads ? 0 : count_of<PuschPdu>(m.pdus));
    auto n_ulcch = static_cast<std::uint8_t>(Io::kReads ? 0 : count_of<PucchPdu>(m.pdus));
    auto n_group = static_cast<std::uint8_t>(m.groups.size());
    io("n_pdus", n_pdus);
    io("rach_present", m.rach_present);
    io("n_ulsch", n_ulsch);
    io("n_ulcch", n_ulcch);
    io("n_group", n_group);
    io.elements("pdus", m.pdus, n_pdus, [](auto& each, auto& pdu) { AnyPdu::fields(each, pdu); });
    if (Io::kReads && io.ok() && (count_of<PuschPdu>(m.pdus) != n_ulsch || count_of<PucchPdu>(m.pdus) != n_ulcch)) {
      io.refuse(Reason::bad_pdu_count);
    }
    group_fields(io, m.groups, n_group, n_pdus);
  }

  friend bool operator==(const UlTtiRequest&, const UlTtiRequest&) = default;
};

}  // namespace splitplane::fapi
