"""P7 bodies from the PNF: SLOT, RX_DATA, CRC, UCI, RACH indications, UL_NODE_SYNC and TIMING.info.

Tables are those of SCF-222 10.02 as named in Aerial's scf_5g_fapi.h; OAI's nr_fapi_p7.c agrees where nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .p7_down import octets_only
from .profile import Profile
from .reader import Reader, bit_octets, refuse, sfn_slot

# UL_CQI, timing advance and RSSI of 222.10.02 (in 10.04 five other fields take their place).
MEASUREMENT = "ul_cqi:u8 timing_advance:u16 rssi:u16"


def slot_indication(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-34: SFN, slot."""
    return dict(sfn_slot(reader))


def rx_data(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-61: number of PDUs u16; handle, RNTI, HARQ id, PDU length, UL_CQI, timing advance, RSSI, the PDU."""
    out: dict[str, Any] = sfn_slot(reader)
    out["number_of_pdus"] = reader.unsigned(16, "number_of_pdus")
    out["pdus"] = []
    for _ in range(out["number_of_pdus"]):
        one: dict[str, Any] = reader.fields("handle:u32 rnti:u16 harq_id:u8")
        one["pdu_length"] = reader.unsigned(profile.pdu_length_bits, "pdu_length")
        one.update(reader.fields(MEASUREMENT))
        one["payload"] = reader.octets(one["pdu_length"], "payload").hex()
        out["pdus"].append(one)
    return out


def crc_indication(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-62: number of CRCs u16; handle, RNTI, HARQ id, TB CRC status, NumCb, CbCrcStatus, measurements.

    CbCrcStatus takes ceil(NumCb / 8) octets (Aerial); OAI writes NumCb / 8 + 1, and none where NumCb is 0.
    """
    out: dict[str, Any] = sfn_slot(reader)
    out["num_crcs"] = reader.unsigned(16, "num_crcs")
    out["crcs"] = []
    for _ in range(out["num_crcs"]):
        one: dict[str, Any] = reader.fields("handle:u32 rnti:u16 harq_id:u8 tb_crc_status:u8 num_cb:u16")
        count = bit_octets(one["num_cb"], profile.bits_plus_one) if one["num_cb"] else 0
        one["cb_crc_status"] = reader.octets(count, "cb_crc_status").hex()
        one.update(reader.fields(MEASUREMENT))
        out["crcs"].append(one)
    return out


def _bits(reader: Reader, profile: Profile, name: str, crc: bool) -> dict[str, Any]:
    """Tables 3-69..3-72: [CRC result u8,] bit length u16, payload."""
    out: dict[str, Any] = {f"{name}_crc": reader.unsigned(8, "crc")} if crc else {}
    length = reader.unsigned(16, "bit_len")
    out[f"{name}_bit_len"] = length
    out[f"{name}_payload"] = reader.octets(bit_octets(length, profile.bits_plus_one), "payload").hex()
    return out


def _long_parts(reader: Reader, profile: Profile, bitmap: int) -> dict[str, Any]:
    """HARQ (bit 1), CSI part 1 (bit 2), CSI part 2 (bit 3) of UCI on PUSCH and on PUCCH formats 2, 3, 4."""
    out: dict[str, Any] = {}
    for bit, name in ((1, "harq"), (2, "csi_part1"), (3, "csi_part2")):
        if bitmap >> bit & 1:
            out[name] = _bits(reader, profile, name, True)
    return out


def uci_pusch(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-64; bit 0 of the bitmap is not used."""
    out: dict[str, Any] = reader.fields("pdu_bitmap:u8 handle:u32 rnti:u16 " + MEASUREMENT)
    refuse(profile, bool(out["pdu_bitmap"] & 0xF1), reader, f"reserved bits in bitmap 0x{out['pdu_bitmap']:02x}")
    out.update(_long_parts(reader, profile, out["pdu_bitmap"]))
    return out


def uci_format_0_1(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Tables 3-65, 3-67 (SR) and 3-68 (HARQ)."""
    out: dict[str, Any] = reader.fields("pdu_bitmap:u8 handle:u32 rnti:u16 pucch_format:u8 " + MEASUREMENT)
    wrong = out["pdu_bitmap"] & 0xFC or out["pucch_format"] > 1
    refuse(profile, bool(wrong), reader, f"bitmap 0x{out['pdu_bitmap']:02x}, format {out['pucch_format']}")
    if out["pdu_bitmap"] & 1:
        out["sr"] = reader.fields("sr_indication:u8 sr_confidence_level:u8")
    if out["pdu_bitmap"] & 2:
        harq: dict[str, Any] = reader.fields("num_harq:u8 harq_confidence_level:u8")
        refuse(profile, harq["num_harq"] not in (1, 2), reader, f"{harq['num_harq']} HARQ bits")
        harq["harq_values"] = [reader.unsigned(8, "harq_value") for _ in range(harq["num_harq"])]
        out["harq"] = harq
    return out


def uci_format_2_3_4(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Tables 3-66 and 3-69..3-72; pucchFormat 0, 1, 2 for formats 2, 3, 4."""
    out: dict[str, Any] = reader.fields("pdu_bitmap:u8 handle:u32 rnti:u16 pucch_format:u8 " + MEASUREMENT)
    wrong = out["pdu_bitmap"] & 0xF0 or out["pucch_format"] > 2
    refuse(profile, bool(wrong), reader, f"bitmap 0x{out['pdu_bitmap']:02x}, format {out['pucch_format']}")
    if out["pdu_bitmap"] & 1:
        out["sr"] = _bits(reader, profile, "sr", False)
    out.update(_long_parts(reader, profile, out["pdu_bitmap"]))
    return out


BodyDecoder = Callable[[Reader, Profile], dict[str, Any]]
UCI_PDUS: dict[int, tuple[str, BodyDecoder]] = {
    0: ("PUSCH", uci_pusch),
    1: ("PUCCH format 0/1", uci_format_0_1),
    2: ("PUCCH format 2/3/4", uci_format_2_3_4),
}


def uci_indication(reader: Reader, profile: Profile) -> dict[str, Any]:
    """Table 3-63: number of UCIs u16; PDU type u16, PDU size u16 with its own four octets, the PDU.

    OAI's PNF fills the size with the size of a C structure (phy_procedures_nr_gNB.c): not followed here.
    """
    out: dict[str, Any] = sfn_slot(reader)
    out["num_ucis"] = reader.unsigned(16, "num_ucis")
    out["ucis"] = []
    for _ in range(out["num_ucis"]):
        kind = reader.unsigned(16, "pdu_type")
        size = reader.unsigned(16, "pdu_size")
        if (kind not in UCI_PDUS and profile.offered is None) or size < 4:
            raise ValueError(f"{reader.where}: PDU type {kind}, size {size}")
        name, decoder = UCI_PDUS.get(kind, ("unknown", octets_only))
        body = reader.sub(size - 4, name)
        out["ucis"].append({"pdu_type": kind, "pdu": name, "pdu_size": size, **decoder(body, profile)})
        body.end()
    return out


def rach_indication(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """Table 3-74."""
    out: dict[str, Any] = sfn_slot(reader)
    out["num_pdus"] = reader.unsigned(8, "num_pdus")
    out["pdus"] = []
    for _ in range(out["num_pdus"]):
        one: dict[str, Any] = reader.fields(
            "phys_cell_id:u16 symbol_index:u8 slot_index:u8 freq_index:u8 avg_rssi:u8 avg_snr:u8 num_preamble:u8"
        )
        one["preambles"] = [
            reader.fields("preamble_index:u8 timing_advance:u16 preamble_pwr:u32") for _ in range(one["num_preamble"])
        ]
        out["pdus"].append(one)
    return out


def ul_node_sync(reader: Reader, _profile: Profile) -> dict[str, Any]:
    """SCF-225 2.1 Table 4-2 (O-DU; OAI pack_nr_ul_node_sync)."""
    return dict(reader.fields("t1:u32 t2:u32 t3:u32"))


def timing_info(reader: Reader, profile: Profile) -> dict[str, Any]:
    """OAI pack_nr_timing_info; SCF-225 2.1 Table 4-3 (O-DU) has 16-bit SFN and slot and a last octet."""
    bits = 16 if profile.sync_scf225_2 else 32
    scs = " subcarrier_spacing:u8" if profile.sync_scf225_2 else ""
    return dict(
        reader.fields(
            f"last_sfn:u{bits} last_slot:u{bits} time_since_last_timing_info:u32"
            " dl_tti_jitter:u32 tx_data_request_jitter:u32 ul_tti_jitter:u32 ul_dci_jitter:u32"
            " dl_tti_latest_delay:s32 tx_data_request_latest_delay:s32 ul_tti_latest_delay:s32 ul_dci_latest_delay:s32"
            " dl_tti_earliest_arrival:s32 tx_data_request_earliest_arrival:s32 ul_tti_earliest_arrival:s32"
            " ul_dci_earliest_arrival:s32" + scs
        )
    )


BODIES: dict[str, BodyDecoder] = {
    "SLOT.indication": slot_indication,
    "RX_DATA.indication": rx_data,
    "CRC.indication": crc_indication,
    "UCI.indication": uci_indication,
    "RACH.indication": rach_indication,
    "UL_NODE_SYNC": ul_node_sync,
    "TIMING.info": timing_info,
}
