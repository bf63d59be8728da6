"""P5 bodies: PARAM, CONFIG, START, STOP, ERROR (SCF-222 10.02 clause 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .profile import Profile
from .reader import Reader, sfn_slot

# Tag: name and kind. PARAM TLVs: SCF-222 Tables 3-9..3-16 (OAI nfapi_nr_interface_scf.h, pack_nr_param_response).
PARAM_TLVS: dict[int, tuple[str, str]] = {
    0x0001: ("release_capability", "u16"),
    0x0002: ("phy_state", "u16"),
    0x0003: ("skip_blank_dl_config", "u8"),
    0x0004: ("skip_blank_ul_config", "u8"),
    0x0005: ("num_config_tlvs_to_report", "report"),
    0x0006: ("cyclic_prefix", "u8"),
    # OAI declares and packs 0x0007 as u16 but 0x0009 as u8; Intel has one octet for both: both sizes are taken.
    0x0007: ("supported_subcarrier_spacings_dl", "u8|u16"),
    0x0008: ("supported_bandwidth_dl", "u16"),
    0x0009: ("supported_subcarrier_spacings_ul", "u8|u16"),
    0x000A: ("supported_bandwidth_ul", "u16"),
    0x000B: ("cce_mapping_type", "u8"),
    0x000C: ("coreset_outside_first_3_ofdm_syms_of_slot", "u8"),
    0x000D: ("precoder_granularity_coreset", "u8"),
    0x000E: ("pdcch_mu_mimo", "u8"),
    0x000F: ("pdcch_precoder_cycling", "u8"),
    0x0010: ("max_pdcchs_per_slot", "u8"),
    0x0011: ("pucch_formats", "u8"),
    0x0012: ("max_pucchs_per_slot", "u8"),
    0x0013: ("pdsch_mapping_type", "u8"),
    0x0014: ("pdsch_allocation_types", "u8"),
    0x0015: ("pdsch_vrb_to_prb_mapping", "u8"),
    0x0016: ("pdsch_cbg", "u8"),
    0x0017: ("pdsch_dmrs_config_types", "u8"),
    0x0018: ("pdsch_dmrs_max_length", "u8"),
    0x0019: ("pdsch_dmrs_additional_pos", "u8"),
    0x001A: ("max_pdschs_tbs_per_slot", "u8"),
    0x001B: ("max_number_mimo_layers_pdsch", "u8"),
    0x001C: ("supported_max_modulation_order_dl", "u8"),
    0x001D: ("max_mu_mimo_users_dl", "u8"),
    0x001E: ("pdsch_data_in_dmrs_symbols", "u8"),
    0x001F: ("premption_support", "u8"),
    0x0020: ("pdsch_non_slot_support", "u8"),
    0x0021: ("uci_mux_ulsch_in_pusch", "u8"),
    0x0022: ("uci_only_pusch", "u8"),
    0x0023: ("pusch_frequency_hopping", "u8"),
    0x0024: ("pusch_dmrs_config_types", "u8"),
    0x0025: ("pusch_dmrs_max_len", "u8"),
    0x0026: ("pusch_dmrs_additional_pos", "u8"),
    0x0027: ("pusch_cbg", "u8"),
    0x0028: ("pusch_mapping_type", "u8"),
    0x0029: ("pusch_allocation_types", "u8"),
    0x002A: ("pusch_vrb_to_prb_mapping", "u8"),
    0x002B: ("pusch_max_ptrs_ports", "u8"),
    0x002C: ("max_pduschs_tbs_per_slot", "u8"),
    0x002D: ("max_number_mimo_layers_non_cb_pusch", "u8"),
    0x002E: ("supported_modulation_order_ul", "u8"),
    0x002F: ("max_mu_mimo_users_ul", "u8"),
    0x0030: ("dfts_ofdm_support", "u8"),
    0x0031: ("pusch_aggregation_factor", "u8"),
    0x0032: ("prach_long_formats", "u8"),
    # OAI u8, Intel u16: both sizes are taken.
    0x0033: ("prach_short_formats", "u8|u16"),
    0x0034: ("prach_restricted_sets", "u8"),
    0x0035: ("max_prach_fd_occasions_in_a_slot", "u8"),
    0x0036: ("rssi_measurement_support", "u8"),
}

# CONFIG TLVs: SCF-222 Tables 3-21..3-27 (OAI pack_nr_config_request; Aerial scf_fapi_config_message_id_e).
CONFIG_TLVS: dict[int, tuple[str, str]] = {
    0x1001: ("dl_bandwidth", "u16"),
    0x1002: ("dl_frequency", "u32"),
    0x1003: ("dl_k0", "5*u16"),
    0x1004: ("dl_grid_size", "5*u16"),
    0x1005: ("num_tx_ant", "u16"),
    0x1006: ("uplink_bandwidth", "u16"),
    0x1007: ("uplink_frequency", "u32"),
    0x1008: ("ul_k0", "5*u16"),
    0x1009: ("ul_grid_size", "5*u16"),
    0x100A: ("num_rx_ant", "u16"),
    0x100B: ("frequency_shift_7p5khz", "u8"),
    0x100C: ("phy_cell_id", "u16"),
    0x100D: ("frame_duplex_type", "u8"),
    0x100E: ("ss_pbch_power", "s32"),
    0x100F: ("bch_payload", "u8"),
    0x1010: ("scs_common", "u8"),
    0x1011: ("prach_sequence_length", "u8"),
    0x1012: ("prach_sub_c_spacing", "u8"),
    0x1013: ("restricted_set_config", "u8"),
    0x1014: ("num_prach_fd_occasions", "u8"),
    0x1015: ("prach_root_sequence_index", "u16"),
    0x1016: ("num_root_sequences", "u8"),
    0x1017: ("k1", "u16"),
    0x1018: ("prach_zero_corr_conf", "u8"),
    # OAI declares 0x1019 as an octet and packs it as u16; Intel u16: both sizes are taken.
    0x1019: ("num_unused_root_sequences", "u8|u16"),
    0x101A: ("unused_root_sequences", "u16"),
    0x101B: ("ssb_per_rach", "u8"),
    0x101C: ("prach_multiple_carriers_in_a_band", "u8"),
    0x101D: ("ssb_offset_point_a", "u16"),
    0x101E: ("beta_pss", "u8"),
    0x101F: ("ssb_period", "u8"),
    0x1020: ("ssb_subcarrier_offset", "u8"),
    0x1021: ("mib", "u32"),
    0x1022: ("ssb_mask", "u32"),
    0x1023: ("beam_id", "u8"),
    0x1024: ("ss_pbch_multiple_carriers_in_a_band", "u8"),
    0x1025: ("multiple_cells_ss_pbch_in_a_carrier", "u8"),
    0x1026: ("tdd_period", "u8"),
    # One octet for each symbol, one TLV each, in 222.10.02 (OAI ENABLE_10_02); one TLV with all of them for Aerial.
    0x1027: ("slot_config", "octets"),
    0x1028: ("rssi_measurement", "u8"),
    0x1029: ("prach_config_index", "u8"),
    # 222.10.04: period octet and all symbols in one TLV (OAI ENABLE_10_04).
    0x1035: ("tdd_table", "octets"),
}

# nFAPI TLVs in PARAM.response and CONFIG.request: SCF-225 2.1 Tables 3-16 and 3-19 (O-DU); the same tags in OAI.
NFAPI_TLVS: dict[int, tuple[str, str]] = {
    0x0100: ("p7_vnf_address_ipv4", "x4"),
    0x0101: ("p7_vnf_address_ipv6", "x16"),
    0x0102: ("p7_vnf_port", "u16"),
    0x0103: ("p7_pnf_address_ipv4", "x4"),
    0x0104: ("p7_pnf_address_ipv6", "x16"),
    0x0105: ("p7_pnf_port", "u16"),
    0x0106: ("dl_tti_timing_offset", "u32"),
    0x0107: ("ul_tti_timing_offset", "u32"),
    0x0108: ("ul_dci_timing_offset", "u32"),
    0x0109: ("tx_data_timing_offset", "u32"),
    # OAI packs the timing window as one octet though its comment says 0..30000 microseconds: both sizes are taken.
    0x011E: ("timing_window", "u8|u16"),
    0x011F: ("timing_info_mode", "u8"),
    0x0120: ("timing_info_period", "u8"),
}


def _value(reader: Reader, kind: str) -> Any:
    """The value of one TLV; the reader holds just this value."""
    if kind == "octets":
        return reader.octets(reader.left(), "value").hex()
    if kind == "report":
        # Table 3-9: the count, then for each CONFIG TLV its tag, length (1) and report value.
        count = reader.unsigned(16, "count")
        if not reader.left():
            return count
        return [reader.fields("tag:u16 length:u8 value:u8") for _ in range(count)]
    if kind.startswith("5*"):
        return [reader.unsigned(16, "value") for _ in range(5)]
    sizes = {int(one[1:]): one for one in kind.split("|")}
    if kind[0] == "x":
        return reader.octets(int(kind[1:]), "value").hex()
    bits = reader.left() * 8
    if bits not in sizes:
        raise ValueError(f"{reader.where}: value of {bits // 8} octets, it shall have {kind}")
    return reader.signed(bits, "value") if sizes[bits][0] == "s" else reader.unsigned(bits, "value")


def tlv(reader: Reader, known: dict[int, tuple[str, str]] | None) -> dict[str, Any]:
    """tag u16, length u16, value, zeros to a multiple of 4 octets.

    SCF-222 clause 3.3.1.4 (Aerial, scf_fapi_tl::Set) and SCF-225 clause 2.3.2.1 (OAI, pack_nr_tlv): the length counts
    the value without the padding. With no known tags, any tag is taken and the value is not read.
    """
    tag = reader.unsigned(16, "tag")
    length = reader.unsigned(16, "length")
    value = reader.sub(length, f"TLV 0x{tag:04x}")
    if reader.octets(-length % 4, f"padding of TLV 0x{tag:04x}").strip(b"\0"):
        raise ValueError(f"{reader.where}: padding of TLV 0x{tag:04x} is not zero")
    if known is None:
        return {"tag": tag, "length": length, "value": value.octets(length, "value").hex()}
    if tag not in known:
        raise ValueError(f"{reader.where}: unknown tag 0x{tag:04x}")
    name, kind = known[tag]
    out = {"tag": tag, "name": name, "length": length, "value": _value(value, kind)}
    value.end()
    return out


def _tlvs(reader: Reader, count: int, known: dict[int, tuple[str, str]] | None) -> list[dict[str, Any]]:
    return [tlv(reader, known) for _ in range(count)]


def empty(_reader: Reader, _profile: Profile) -> dict[str, Any]:
    """PARAM.request, START.request, STOP.request, STOP.indication have no body (SCF-222 clause 3.3; OAI)."""
    return {}


def param_response(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-222 Table 3-5: error code u8, number of TLVs u8 (Aerial scf_fapi_param_response_header_t; OAI)."""
    out: dict[str, Any] = reader.fields("error_code:u8 number_of_tlvs:u8")
    out["tlvs"] = _tlvs(reader, int(out["number_of_tlvs"]), PARAM_TLVS | NFAPI_TLVS)
    return out


def config_request(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-222 Table 3-17: number of TLVs u8 (Aerial scf_fapi_config_request_body_t; OAI pack_nr_config_request)."""
    out: dict[str, Any] = reader.fields("number_of_tlvs:u8")
    out["tlvs"] = _tlvs(reader, int(out["number_of_tlvs"]), CONFIG_TLVS | NFAPI_TLVS)
    return out


def config_response(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-222 Table 3-18: error code and four counts, each u8, then the four lists (Aerial; OAI).

    The lists hold TLVs that the PHY may not know, so any tag is taken and the value is given in hexadecimal. No source
    says what length they have; OAI's test has the lengths of the values, its packer leaves out a TLV of length 0.
    """
    out: dict[str, Any] = reader.fields(
        "error_code:u8 number_of_invalid_or_unsupported_tlvs:u8 number_of_invalid_tlvs_only_in_idle:u8"
        " number_of_invalid_tlvs_only_in_running:u8 number_of_missing_tlvs:u8"
    )
    counts = [int(out[name]) for name in list(out)[1:]]
    lists = ("invalid_or_unsupported_tlvs", "invalid_tlvs_only_in_idle", "invalid_tlvs_only_in_running", "missing_tlvs")
    for name, count in zip(lists, counts, strict=True):
        out[name] = _tlvs(reader, count, None)
    return out


def start_response(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-225 2.1 Table 3-12, id 0x0108: error code (one octet in OAI pack_nr_start_response)."""
    return dict(reader.fields("error_code:u8"))


def error_indication(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-222 Table 3-30: SFN u16, slot u16, message id u8, error code u8 (Aerial scf_fapi_error_ind_t; OAI)."""
    return {**sfn_slot(reader), **reader.fields("failed_message_id:u8 error_code:u8")}


BODIES: dict[str, Callable[[Reader, Profile], dict[str, Any]]] = {
    "PARAM.request": empty,
    "PARAM.response": param_response,
    "CONFIG.request": config_request,
    "CONFIG.response": config_response,
    "START.request": empty,
    "START.response": start_response,
    "STOP.request": empty,
    "STOP.indication": empty,
    "ERROR.indication": error_indication,
}
