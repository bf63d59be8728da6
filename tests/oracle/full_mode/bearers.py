"""What RRC would say of a bearer: from `splitplane ctl --json bearer list` or `bearer show`, and the file of keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RLC = {"am18": ("am", 18), "am12": ("am", 12), "um12": ("um", 12), "um6": ("um", 6)}
Keys = dict[int, tuple[bytes, bytes]]  # number -> for ciphering, for integrity


@dataclass(frozen=True)
class Bearer:
    """`counts`: where its COUNTs may be when the capture begins, by direction (uplink, downlink)."""

    rnti: int
    lcid: int
    rlc: str = "am18"
    pdcp_sn: int = 18
    drb: int = 1
    cipher: str = "nea2"
    integrity: str = "nia2"
    key: int = 1
    sdap_ul: bool = True
    sdap_dl: bool = True
    counts: tuple[int, int] = (0, 0)
    id: int = 0

    @property
    def mode(self) -> str:
        return RLC[self.rlc][0]

    @property
    def rlc_sn(self) -> int:
        return RLC[self.rlc][1]

    def has_sdap(self, direction: int) -> bool:
        return self.sdap_dl if direction else self.sdap_ul


def bearer_of(row: dict[str, Any]) -> Bearer | None:
    """None for a bearer that is not in full mode."""
    if "rlc_full" not in row:
        return None
    security, sdap = row["security"], row["sdap"]
    if isinstance(sdap, bool):
        sdap = {"dl": sdap, "ul": sdap}
    return Bearer(
        rnti=row["rlc_full"]["rnti"],
        lcid=row["rlc_full"]["lcid"],
        rlc=row["rlc"],
        pdcp_sn=row["pdcp_sn"],
        drb=security["drb"],
        cipher=security["cipher"],
        integrity=security["integrity"],
        key=security["key"],
        sdap_ul=sdap["ul"],
        sdap_dl=sdap["dl"],
        counts=(row.get("pdcp_rx_next", 0), row.get("pdcp_tx_next", 0)),
        id=row.get("id", 0),
    )


def read_bearers(paths: Iterable[Path]) -> list[Bearer]:
    """Of several answers, such as one from before a re-establishment and one from after. The first one of a bearer
    with the same C-RNTI and LCID counts."""
    found: dict[tuple[int, int], Bearer] = {}
    for path in paths:
        answer = json.loads(path.read_text())
        rows = answer if isinstance(answer, list) else answer.get("bearers", [answer])
        for bearer in filter(None, map(bearer_of, rows)):
            found.setdefault((bearer.rnti, bearer.lcid), bearer)
    return list(found.values())


def read_keys(path: Path) -> Keys:
    """Lines of number, key for ciphering, key for integrity, in hexadecimal; `#` begins a comment."""
    keys: Keys = {}
    for line in path.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            number, cipher, integrity = words
            keys[int(number)] = bytes.fromhex(cipher), bytes.fromhex(integrity)
    return keys
