"""What the walk found: counts by C-RNTI, channel and direction, the inner packets, and what was wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet

from .framing import UPLINK

# Counters that are zero if sender, air and receiver keep the rules. What a loss can cause is not among them.
FAULTS = [
    "block_malformed",
    "elements_out_of_order",
    "unknown_ue",
    "unknown_channel",
    "no_keys",
    "rlc_malformed",
    "rlc_size_differs",
    "rlc_octets_differ",
    "status_malformed",
    "status_acks_unsent",
    "status_acks_missing",
    "status_nack_beyond_ack",
    "pdcp_malformed",
    "integrity_failed",
    "count_unknown",
    "count_used_twice",
    "sdap_malformed",
    "not_ip",
]
WAY = ("uplink", "downlink")


@dataclass(frozen=True)
class Inner:
    """An IP packet from inside: the frame of the capture that completed it, and where it belongs."""

    frame: int
    time: float
    direction: int
    rnti: int
    lcid: int
    count: int
    qfi: int | None
    octets: bytes

    @property
    def ip(self) -> Packet:
        return (IP if self.octets[0] >> 4 == 4 else IPv6)(self.octets)


@dataclass
class Report:
    """`ues`: by (C-RNTI, direction), what MAC counts. `bearers`: by (C-RNTI, LCID, direction), what is above."""

    ues: defaultdict[tuple[int, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bearers: defaultdict[tuple[int, int, int], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    packets: list[Inner] = field(default_factory=list)
    first_faults: list[str] = field(default_factory=list)

    def total(self, name: str) -> int:
        return sum(row[name] for table in (self.ues, self.bearers) for row in table.values())

    def faults(self) -> dict[str, int]:
        return {name: total for name in FAULTS if (total := self.total(name))}

    def inner(self, direction: int, rnti: int | None = None) -> list[Inner]:
        return [one for one in self.packets if one.direction == direction and rnti in (None, one.rnti)]

    def to_json(self) -> dict:
        """Counters that are zero are left out."""

        def rows(table: dict[tuple[int, ...], Counter[str]]) -> list[dict]:
            return [
                {"rnti": key[0]}
                | ({"lcid": key[1]} if len(key) == 3 else {})
                | {"direction": WAY[key[-1]]}
                | {name: value for name, value in counts.items() if value}
                for key, counts in sorted(table.items())
            ]

        return {
            "ues": rows(self.ues),
            "bearers": rows(self.bearers),
            "faults": self.faults(),
            "first_faults": self.first_faults,
        }

    def to_text(self) -> str:
        def line(row: dict) -> str:
            return "  ".join(f"{name} {value}" for name, value in row.items())

        shown = self.to_json()
        lines = [f"UE: {line(row)}" for row in shown["ues"]] + [f"bearer: {line(row)}" for row in shown["bearers"]]
        lines += [f"fault: {text}" for text in self.first_faults]
        way = [sum(one.direction == d for one in self.packets) for d in (UPLINK, 1 - UPLINK)]
        verdict = line(shown["faults"]) or "none"
        return "\n".join([*lines, f"IP packets: {way[0]} uplink, {way[1]} downlink; faults: {verdict}"])
