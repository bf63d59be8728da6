"""A transport block as a list of subPDUs: TS 38.321 6.1.2 (MAC PDU), 6.1.3 (control elements), 6.2.1 (LCIDs).

Values of Rel-15, and the extended LCIDs (33 and 34) of Rel-16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .framing import DOWNLINK, UPLINK

PADDING = 63
LAST_CHANNEL = 32
EXTENDED_TWO, EXTENDED_ONE = 33, 34
# LCID -> name, and the octets of the element; None: its subheader has a length. Tables 6.2.1-1 and 6.2.1-2.
ELEMENTS: dict[int, dict[int, tuple[str, int | None]]] = {
    DOWNLINK: {
        47: ("recommended_bit_rate", 2),
        48: ("sp_zp_csi_rs", 2),
        49: ("pucch_spatial_relation", 3),
        50: ("sp_srs", None),
        51: ("sp_csi_on_pucch", 2),
        52: ("tci_state_pdcch", 2),
        53: ("tci_states_pdsch", None),
        54: ("aperiodic_csi", None),
        55: ("sp_csi_rs", None),
        56: ("duplication", 1),
        57: ("scell_4", 4),
        58: ("scell_1", 1),
        59: ("long_drx", 0),
        60: ("drx", 0),
        61: ("timing_advance", 1),
        62: ("contention_resolution", 6),
    },
    UPLINK: {
        53: ("recommended_bit_rate_query", 2),
        54: ("phr_multiple_4", None),
        55: ("configured_grant_confirmation", 0),
        56: ("phr_multiple_1", None),
        57: ("phr_single", 2),
        58: ("c_rnti", 2),
        59: ("bsr_short_truncated", 1),
        60: ("bsr_long_truncated", None),
        61: ("bsr_short", 1),
        62: ("bsr_long", None),
    },
}
# CCCH of the uplink has no length: 0 is CCCH1 with 64 bits, 52 is CCCH with 48 bits.
COMMON_CHANNEL_OCTETS = {0: 8, 52: 6}


class Malformed(ValueError):
    """The rest of the block cannot be read."""


@dataclass(frozen=True)
class SubPdu:
    """`kind`: sdu, padding, or the name of a control element. `payload` is what follows the subheader."""

    kind: str
    lcid: int
    payload: bytes

    @property
    def is_element(self) -> bool:
        return self.kind not in ("sdu", "padding")


def sub_pdus(pdu: bytes, direction: int) -> Iterator[SubPdu]:
    """Raises Malformed where the rest cannot be read, behind what could be."""
    at = 0
    while at < len(pdu):
        long, lcid = bool(pdu[at] & 0x40), pdu[at] & 0x3F
        at += 1
        if lcid == PADDING:
            yield SubPdu("padding", lcid, pdu[at:])
            return
        kind, octets = "sdu", None
        if direction == UPLINK and lcid in COMMON_CHANNEL_OCTETS:
            octets = COMMON_CHANNEL_OCTETS[lcid]
        elif lcid in ELEMENTS[direction]:
            kind, octets = ELEMENTS[direction][lcid]
        elif lcid in (EXTENDED_TWO, EXTENDED_ONE):
            raise Malformed(f"extended LCID behind LCID {lcid}, which nothing here configures")
        elif lcid > LAST_CHANNEL:
            raise Malformed(f"reserved LCID {lcid}")
        if octets is None:  # F and L
            size = 2 if long else 1
            if at + size > len(pdu):
                raise Malformed(f"LCID {lcid}: its length is cut off")
            octets, at = int.from_bytes(pdu[at : at + size], "big"), at + size
        if at + octets > len(pdu):
            raise Malformed(f"LCID {lcid}: {octets} octets, and {len(pdu) - at} are left")
        yield SubPdu(kind, lcid, pdu[at : at + octets])
        at += octets


def is_in_order(seen: list[SubPdu], direction: int) -> bool:
    """6.1.2: control elements stand before SDUs downlink, and behind them uplink."""
    kinds = [one.is_element for one in seen if one.kind != "padding"]
    return kinds == sorted(kinds, reverse=direction == DOWNLINK)
