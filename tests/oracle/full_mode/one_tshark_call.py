"""One call of tshark that goes from transport blocks to the IP packets inside: MAC, RLC reassembly, PDCP deciphering.

What tshark 4.0 can do so: RLC AM (reassembly of UM aborts at the second segmented SDU of a bearer), without SDAP
header (it would take the first octet of the packet for one), NEA0 or NEA2, and COUNTs that begin at 0. It does not
verify MAC-Is on this way, and takes one for a trailer of the IP packet. A channel has one RLC mode, one SN size and one
DRB for all UEs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from .bearers import Bearer, Keys
from .framing import Block, read_blocks

FIELDS = ["frame.number", "mac-nr.rnti", "mac-nr.direction", "rlc-nr.am.sn", "pdcp-nr.seq-num", "ip.src", "ip.dst"]
FIELDS += ["udp.length", "tcp.len"]


class Unsuitable(ValueError):
    """These bearers cannot be shown by one call."""


def _same(bearers: list[Bearer], what: str, *names: str) -> tuple:
    values = {tuple(getattr(bearer, name) for name in names) for bearer in bearers}
    if len(values) != 1:
        raise Unsuitable(f"{what} differ: {sorted(values)}")
    return values.pop()


def ue_ids(blocks: Iterable[Block]) -> dict[int, int]:
    """By C-RNTI the UE id of the framing, by which tshark knows keys."""
    found: dict[int, int] = {}
    for block in blocks:
        if block.ue_id is None:
            raise Unsuitable(f"frame {block.frame} has no UE id")
        if found.setdefault(block.rnti, block.ue_id) != block.ue_id:
            raise Unsuitable(f"RNTI {block.rnti} has two UE ids")
    return found


def options(bearers: list[Bearer], keys: Keys, ues: dict[int, int]) -> list[str]:
    """What tshark has to know. `ues`: as ue_ids() has it; bearers of other C-RNTIs are left out."""
    bearers = [bearer for bearer in bearers if bearer.rnti in ues]
    if any(bearer.mode != "am" for bearer in bearers):
        raise Unsuitable("RLC UM")
    if any(bearer.sdap_ul or bearer.sdap_dl for bearer in bearers):
        raise Unsuitable("SDAP headers")
    (pdcp_sn,) = _same(bearers, "PDCP SN sizes", "pdcp_sn")
    (cipher,) = _same(bearers, "ciphers", "cipher")
    if cipher not in ("nea0", "nea2"):
        raise Unsuitable(cipher)
    rows = ["--enable-heuristic", "mac_nr_udp"]
    for lcid in sorted({bearer.lcid for bearer in bearers}):
        of_it = [bearer for bearer in bearers if bearer.lcid == lcid]
        drb, rlc_sn = _same(of_it, f"bearers of LCID {lcid}", "drb", "rlc_sn")
        mode = f"AM, SN Len={rlc_sn}"
        rows += ["-o", f'uat:drb_bearerconfig:"LCID {lcid}","{drb}","{mode}","{mode}"']
    for rnti, ue in sorted(ues.items()):
        numbers = {bearer.key for bearer in bearers if bearer.rnti == rnti}
        if len(numbers) > 1:
            raise Unsuitable(f"RNTI {rnti} has keys {sorted(numbers)}")
        for number in numbers:
            cipher_key, integrity_key = (key.hex() for key in keys[number])
            rows += ["-o", f'uat:pdcp_nr_ue_keys:"{ue}","","{cipher_key}","","{integrity_key}"']
    settings = {
        "mac-nr.attempt_rrc_decode": "FALSE",
        "mac-nr.attempt_to_dissect_srb_sdus": "FALSE",
        "rlc-nr.call_pdcp_for_dl_drb": f"pdcp-drb-sn-{pdcp_sn}",
        "rlc-nr.call_pdcp_for_ul_drb": f"pdcp-drb-sn-{pdcp_sn}",
        "rlc-nr.reassemble_am_frames": "TRUE",
        "rlc-nr.reassemble_um_frames": "FALSE",
        "pdcp-nr.default_ciphering_algorithm": cipher,
        "pdcp-nr.default_integrity_algorithm": "nia0",
        "pdcp-nr.decipher_userplane": "TRUE",
        "pdcp-nr.check_sequence_numbers": "rlc-only",
    }
    return rows + [word for name, value in settings.items() for word in ("-o", f"{name}:{value}")]


def one_tshark_call(
    capture: Path, bearers: list[Bearer], keys: Keys, fields: list[str] | None = None, timeout: float = 120
) -> list[dict[str, list[str]]]:
    """A row for each frame: the values of each field, in the order of the layers."""
    fields = fields or FIELDS
    command = ["tshark", "-n", "-r", str(capture), *options(bearers, keys, ue_ids(read_blocks(capture)))]
    command += ["-T", "fields", "-E", "separator=|", "-E", "occurrence=a", "-E", "aggregator=,"]
    command += [word for field in fields for word in ("-e", field)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    complaints = [line for line in run.stderr.splitlines() if line and "Running as user" not in line]
    if run.returncode or complaints:
        raise RuntimeError(f"tshark ended with {run.returncode}: {complaints}")
    rows = [line.split("|") for line in run.stdout.splitlines()]
    return [
        {field: value.split(",") if value else [] for field, value in zip(fields, row, strict=True)} for row in rows
    ]
