"""P7 bodies from the VNF: DL_TTI, UL_TTI, UL_DCI, TX_DATA requests and DL_NODE_SYNC.

Tables are those of SCF-222 10.02 as named in Aerial's scf_5g_fapi.h; OAI's nr_fapi_p7.c agrees where nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .profile import Profile
from .reader import Reader, bit_octets, refuse, sfn_slot

BWP = "bwp_size:u16 bwp_start:u16 subcarrier_spacing:u8 cyclic_prefix:u8"


def tx_beamforming(reader: Reader) -> dict[str, Any]:
    """Table 3-43: Tx precoding and beamforming PDU."""
    out: dict[str, Any] = reader.fields("num_prgs:u16 prg_size:u16 dig_bf_interfaces:u8")
    out["prgs"] = [
        {
            "pm_idx": reader.unsigned(16, "pm_idx"),
            "beam_idx": [reader.unsigned(16, "beam_idx") for _ in range(out["dig_bf_interfaces"])],
        }
        for _ in range(out["num_prgs"])
    ]
    return out


def rx_beamforming(reader: Reader) -> dict[str, Any]:
    """Table 3-53: Rx beamforming PDU, without the trpScheme octet of 10.04."""
    out: dict[str, Any] = reader.fields("num_prgs:u16 prg_size:u16 dig_bf_interfaces:u8")
    out["prgs"] = [
        {"beam_idx": [reader.unsigned(16, "beam_idx") for _ in range(out["dig_bf_interfaces"])]}
        for _ in range(out["num_prgs"])
    ]
    return out


def maintenance(reader: Reader, profile: Profile) -> dict[str, Any]:
    """OAI, not built for Aerial: two parameters of 222.10.04 at the end of PDSCH and PUSCH PDUs."""
    if not profile.maintenance_v3:
        return {}
    return dict(reader.fields("ldpc_base_graph:u8 tb_size_lbrm_bytes:u32"))


def dci(reader: Reader) -> dict[str, Any]:
    """Table 3-37: DL DCI PDU; the payload takes ceil(PayloadSizeBits / 8) octets (OAI pack_dci_payload, Aerial)."""
    out: dict[str, Any] = reader.fields(
        "rnti:u16 scrambling_id:u16 scrambling_rnti:u16 cce_index:u8 aggregation_level:u8"
    )
    out["precoding_and_beamforming"] = tx_beamforming(reader)
    out.update(reader.fields("beta_pdcch_1_0:u8 power_control_offset_ss:u8 payload_size_bits:u16"))
    out["payload"] = reader.octets(bit_octets(out["payload_size_bits"], False), "payload").hex()
    return out


def pdcch(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-36: PDCCH PDU."""
    out: dict[str, Any] = reader.fields(
        BWP + " start_symbol_index:u8 duration_symbols:u8 freq_domain_resource:x6 cce_reg_mapping_type:u8"
        " reg_bundle_size:u8 interleaver_size:u8 core_set_type:u8 shift_index:u16 precoder_granularity:u8"
        " num_dl_dci:u16"
    )
    out["dl_dcis"] = [dci(reader) for _ in range(out["num_dl_dci"])]
    return out


def pdsch(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-38: PDSCH PDU. pduBitmap: bit 0 pdschPtrs, bit 1 cbgRetxCtrl."""
    out: dict[str, Any] = reader.fields("pdu_bitmap:u16 rnti:u16 pdu_index:u16 " + BWP + " nr_of_codewords:u8")
    refuse(profile, out["nr_of_codewords"] not in (1, 2), reader, f"{out['nr_of_codewords']} codewords")
    out["codewords"] = [
        reader.fields("target_code_rate:u16 qam_mod_order:u8 mcs_index:u8 mcs_table:u8 rv_index:u8 tb_size:u32")
        for _ in range(out["nr_of_codewords"])
    ]
    out.update(
        reader.fields(
            "data_scrambling_id:u16 nr_of_layers:u8 transmission_scheme:u8 ref_point:u8 dl_dmrs_symb_pos:u16"
            " dmrs_config_type:u8 dl_dmrs_scrambling_id:u16 scid:u8 num_dmrs_cdm_grps_no_data:u8 dmrs_ports:u16"
            " resource_alloc:u8 rb_bitmap:x36 rb_start:u16 rb_size:u16 vrb_to_prb_mapping:u8 start_symbol_index:u8"
            " nr_of_symbols:u8"
        )
    )
    if out["pdu_bitmap"] & 1:
        out["pdsch_ptrs"] = reader.fields(
            "ptrs_port_index:u8 ptrs_time_density:u8 ptrs_freq_density:u8 ptrs_re_offset:u8"
            " n_epre_ratio_of_pdsch_to_ptrs:u8"
        )
    out["precoding_and_beamforming"] = tx_beamforming(reader)
    out.update(reader.fields("power_control_offset:u8 power_control_offset_ss:u8"))
    if out["pdu_bitmap"] & 2:
        out["cbg_retx_ctrl"] = reader.fields("is_last_cb_present:u8 is_inline_tb_crc:u8 dl_tb_crc:u32")
    out.update(maintenance(reader, profile))
    return out


def csi_rs(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-39: CSI-RS PDU."""
    out: dict[str, Any] = reader.fields(
        BWP + " start_rb:u16 nr_of_rbs:u16 csi_type:u8 row:u8 freq_domain:u16 symb_l0:u8 symb_l1:u8 cdm_type:u8"
        " freq_density:u8 scramb_id:u16 power_control_offset:u8 power_control_offset_ss:u8"
    )
    out["precoding_and_beamforming"] = tx_beamforming(reader)
    return out


def ssb(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Tables 3-40 and 3-41: SSB/PBCH PDU; the BCH payload is given as the four octets that are there."""
    out: dict[str, Any] = reader.fields(
        "phys_cell_id:u16 beta_pss:u8 ssb_block_index:u8 ssb_subcarrier_offset:u8 ssb_offset_point_a:u16"
        " bch_payload_flag:u8 bch_payload:x4"
    )
    out["precoding_and_beamforming"] = tx_beamforming(reader)
    return out


def prach(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-45: PRACH PDU."""
    out: dict[str, Any] = reader.fields(
        "phys_cell_id:u16 num_prach_ocas:u8 prach_format:u8 num_ra:u8 prach_start_symbol:u8 num_cs:u16"
    )
    out["beamforming"] = rx_beamforming(reader)
    return out


def pusch(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-46: PUSCH PDU. pduBitmap: bit 0 puschData, 1 puschUci, 2 puschPtrs, 3 dftsOfdm."""
    out: dict[str, Any] = reader.fields(
        "pdu_bitmap:u16 rnti:u16 handle:u32 " + BWP + " target_code_rate:u16 qam_mod_order:u8 mcs_index:u8 mcs_table:u8"
        " transform_precoding:u8 data_scrambling_id:u16 nr_of_layers:u8 ul_dmrs_symb_pos:u16 dmrs_config_type:u8"
        " ul_dmrs_scrambling_id:u16 pusch_identity:u16 scid:u8 num_dmrs_cdm_grps_no_data:u8 dmrs_ports:u16"
        " resource_alloc:u8 rb_bitmap:x36 rb_start:u16 rb_size:u16 vrb_to_prb_mapping:u8 frequency_hopping:u8"
        " tx_direct_current_location:u16 uplink_frequency_shift_7p5khz:u8 start_symbol_index:u8 nr_of_symbols:u8"
    )
    if out["pdu_bitmap"] & 1:  # Table 3-47
        data: dict[str, Any] = reader.fields(
            "rv_index:u8 harq_process_id:u8 new_data_indicator:u8 tb_size:u32 num_cb:u16"
        )
        data["cb_present_and_position"] = reader.octets(bit_octets(data["num_cb"], False), "cbPresent").hex()
        out["pusch_data"] = data
    if out["pdu_bitmap"] & 2:  # Table 3-48
        out["pusch_uci"] = reader.fields(
            "harq_ack_bit_length:u16 csi_part1_bit_length:u16 csi_part2_bit_length:u16 alpha_scaling:u8"
            " beta_offset_harq_ack:u8 beta_offset_csi1:u8 beta_offset_csi2:u8"
        )
    if out["pdu_bitmap"] & 4:  # Table 3-49
        ptrs: dict[str, Any] = reader.fields("num_ptrs_ports:u8")
        ptrs["ports"] = [
            reader.fields("ptrs_port_index:u16 ptrs_dmrs_port:u8 ptrs_re_offset:u8")
            for _ in range(ptrs["num_ptrs_ports"])
        ]
        ptrs.update(reader.fields("ptrs_time_density:u8 ptrs_freq_density:u8 ul_ptrs_power:u8"))
        out["pusch_ptrs"] = ptrs
    if out["pdu_bitmap"] & 8:  # Table 3-50
        out["dfts_ofdm"] = reader.fields(
            "low_papr_group_number:u8 low_papr_sequence_number:u16 ul_ptrs_sample_density:u8"
            " ul_ptrs_time_density_transform_precoding:u8"
        )
    out["beamforming"] = rx_beamforming(reader)
    out.update(maintenance(reader, profile))
    return out


def pucch(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-51: PUCCH PDU."""
    out: dict[str, Any] = reader.fields(
        "rnti:u16 handle:u32 " + BWP + " format_type:u8 multi_slot_tx_indicator:u8 pi_2bpsk:u8 prb_start:u16"
        " prb_size:u16 start_symbol_index:u8 nr_of_symbols:u8 freq_hop_flag:u8 second_hop_prb:u16 group_hop_flag:u8"
        " sequence_hop_flag:u8 hopping_id:u16 initial_cyclic_shift:u16 data_scrambling_id:u16 time_domain_occ_idx:u8"
        " pre_dft_occ_idx:u8 pre_dft_occ_len:u8 add_dmrs_flag:u8 dmrs_scrambling_id:u16 dmrs_cyclic_shift:u8 sr_flag:u8"
        " bit_len_harq:u16 bit_len_csi_part1:u16 bit_len_csi_part2:u16"
    )
    out["beamforming"] = rx_beamforming(reader)
    return out


PduDecoder = Callable[[Reader, Profile], dict[str, Any]]
DL_PDUS: dict[int, tuple[str, PduDecoder]] = {
    0: ("PDCCH", pdcch),
    1: ("PDSCH", pdsch),
    2: ("CSI-RS", csi_rs),
    3: ("SSB", ssb),
}
UL_PDUS: dict[int, tuple[str, PduDecoder]] = {0: ("PRACH", prach), 1: ("PUSCH", pusch), 2: ("PUCCH", pucch)}
DCI_PDUS: dict[int, tuple[str, PduDecoder]] = {0: ("PDCCH", pdcch)}


def octets_only(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """A PDU of a type that is not offered."""
    return {"octets": reader.octets(reader.left(), "octets").hex()}


def pdu(reader: Reader, profile: Profile, kinds: dict[int, tuple[str, PduDecoder]]) -> dict[str, Any]:
    """PDU type u16, PDU size u16; the size counts these four octets too (Tables 3-35, 3-44, 3-54)."""
    kind = reader.unsigned(16, "pdu_type")
    size = reader.unsigned(16, "pdu_size")
    if kind not in kinds and profile.offered is None:
        raise ValueError(f"{reader.where}: unknown PDU type {kind}")
    name, decoder = kinds.get(kind, ("unknown", octets_only))
    if size < 4:
        raise ValueError(f"{reader.where}: PDU size {size} does not hold type and size")
    body = reader.sub(size - 4, name)
    if profile.offered is not None and name not in profile.offered:
        decoder = octets_only
    out = {"pdu_type": kind, "pdu": name, "pdu_size": size, **decoder(body, profile)}
    body.end()
    return out


def _groups(reader: Reader, profile: Profile, count: int, bits: int, pdus: int) -> list[list[int]]:
    groups = []
    for _ in range(count):
        group = [reader.unsigned(bits, "pdu_idx") for _ in range(reader.unsigned(8, "n_ue"))]
        refuse(profile, any(index >= pdus for index in group), reader, f"group {group} names a PDU beyond {pdus}")
        groups.append(group)
    return groups


def dl_tti(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-35: SFN, slot, nPDUs u8, nGroup u8, PDUs, groups."""
    out: dict[str, Any] = sfn_slot(reader)
    out.update(reader.fields("n_pdus:u8 n_group:u8"))
    out["pdus"] = [pdu(reader, profile, DL_PDUS) for _ in range(out["n_pdus"])]
    out["groups"] = _groups(reader, profile, out["n_group"], profile.dl_group_index_bits, out["n_pdus"])
    return out


def ul_tti(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-44: SFN, slot, nPDUs, RachPresent, nULSCH, nULCCH, nGroup, each u8, PDUs, groups."""
    out: dict[str, Any] = sfn_slot(reader)
    out.update(reader.fields("n_pdus:u8 rach_present:u8 n_ulsch:u8 n_ulcch:u8 n_group:u8"))
    out["pdus"] = [pdu(reader, profile, UL_PDUS) for _ in range(out["n_pdus"])]
    out["groups"] = _groups(reader, profile, out["n_group"], 8, out["n_pdus"])
    have = [one["pdu"] for one in out["pdus"]]
    for field, name in (("n_ulsch", "PUSCH"), ("n_ulcch", "PUCCH")):
        count = have.count(name)
        refuse(profile, out[field] != count, reader, f"{field} is {out[field]}, there are {count} {name} PDUs")
    wrong = out["rach_present"] != ("PRACH" in have)
    refuse(profile, wrong, reader, f"rach_present is {out['rach_present']} with PDUs {have}")
    return out


def ul_dci(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-54: SFN, slot, numPDUs u8, PDCCH PDUs."""
    out: dict[str, Any] = sfn_slot(reader)
    out["num_pdus"] = reader.unsigned(8, "num_pdus")
    out["pdus"] = [pdu(reader, profile, DCI_PDUS) for _ in range(out["num_pdus"])]
    return out


def _tx_tlv(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Tag u16: 0 payload inline, 1 pointer, 2 offset (Aerial scf_fapi_tx_req_payload_type_t; OAI)."""
    tag = reader.unsigned(16, "tag")
    length = reader.unsigned(profile.tx_tlv_length_bits, "length")
    out: dict[str, Any] = {"tag": tag, "length": length}
    if tag == 0:
        pad = -length % 4 if profile.tx_padded else 0
        value = reader.octets(length + pad, "payload")
        if profile.tx_words_swapped:
            value = b"".join(value[at : at + 4][::-1] for at in range(0, len(value), 4))
        if value[length:].strip(b"\0"):
            raise ValueError(f"{reader.where}: the padding of the payload is not zero")
        out["payload"] = value[:length].hex()
    elif tag == 2:
        out["offset"] = reader.unsigned(32, "offset")
    else:
        # SCF-225 (clause "Handling of pointer option in FAPI messages"): no pointers over a network.
        raise ValueError(f"{reader.where}: payload tag {tag} cannot be sent over nFAPI")
    return out


def _tx_pdu(reader: Reader, profile: Profile) -> dict[str, Any]:
    one: dict[str, Any] = {"pdu_length": reader.unsigned(profile.pdu_length_bits, "pdu_length")}
    one.update(reader.fields("pdu_index:u16 num_tlv:u32"))
    one["tlvs"] = [_tx_tlv(reader, profile) for _ in range(int(one["num_tlv"]))]
    payload = sum(item["length"] for item in one["tlvs"])
    tlv_octets = int(one["num_tlv"]) * (2 + profile.tx_tlv_length_bits // 8)
    offsets = 4 * sum(item["tag"] == 2 for item in one["tlvs"])
    # Table 3-58: "the total length of the PDU description and PDU data, without the padding bytes".
    readings = {
        6 + profile.pdu_length_bits // 8 + tlv_octets + offsets + payload: "description and data",
        8 + 4 * int(one["num_tlv"]) + payload: "description and data with 222.10.02 widths (OAI)",
        payload: "data only (Aerial)",
    }
    if one["pdu_length"] not in readings:
        raise ValueError(f"{reader.where}: PDU length {one['pdu_length']} is none of {sorted(readings)}")
    one["pdu_length_reading"] = readings[one["pdu_length"]]
    return one


def _tail(reader: Reader, pdus: list[dict[str, Any]]) -> None:
    """The payloads of tag 2, from the end of the control portion on (222.10.04, as OAI quotes it for the SRS report).

    Over a network they can only be in the same message (Aerial: in a buffer of their own, with padding between them).
    Here they shall fill the rest of the message without gaps.
    """
    tlvs = [item for one in pdus for item in one["tlvs"] if item["tag"] == 2]
    area = reader.octets(reader.left(), "payloads")
    at = 0
    for item in sorted(tlvs, key=lambda item: (item["offset"], item["length"])):
        if item["offset"] != at or at + item["length"] > len(area):
            raise ValueError(
                f"{reader.where}: payload at {item['offset']} of {item['length']}, {at} of {len(area)} used"
            )
        item["payload"] = area[at : at + item["length"]].hex()
        at += item["length"]
    if at != len(area):
        raise ValueError(f"{reader.where}: {len(area) - at} trailing octets after the payloads")


def tx_data(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-58: SFN, slot, number of PDUs u16; PDU length, PDU index u16, numTLV u32, TLVs."""
    out: dict[str, Any] = sfn_slot(reader)
    out["number_of_pdus"] = reader.unsigned(16, "number_of_pdus")
    out["pdus"] = [_tx_pdu(reader, profile) for _ in range(out["number_of_pdus"])]
    if not (profile.tx_payload_apart and any(item["tag"] == 2 for one in out["pdus"] for item in one["tlvs"])):
        _tail(reader, out["pdus"])
    return out


def dl_node_sync(reader: Reader, profile: Profile) -> dict[str, Any]:
    """SCF-225 2.1 Table 4-1 (O-DU; OAI pack_nr_dl_node_sync without the last octet)."""
    scs = " subcarrier_spacing:u8" if profile.sync_scf225_2 else ""
    return dict(reader.fields("t1:u32 delta_sfn_slot:s32" + scs))


BODIES: dict[str, PduDecoder] = {
    "DL_TTI.request": dl_tti,
    "UL_TTI.request": ul_tti,
    "UL_DCI.request": ul_dci,
    "TX_DATA.request": tx_data,
    "DL_NODE_SYNC": dl_node_sync,
}
