"""Where p4testgen looks for tests: regions of the gNB's programs (p4/vectors.py).

A region says what must hold at some places of the sources. A place is a statement, and then the assumption stands
behind it, wherever it is. Or a place is a file, and then the assumption stands before its first statement. p4testgen
leaves a path as soon as an assumption fails, so an early assumption saves the most time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LOOKUPS, LENGTHS, NUMBERING, STRIPPING = (
    f"gnb_{name}.p4i" for name in ("lookups", "lengths", "numbering", "stripping")
)


def extracted(header: str) -> str:
    return f"pkt.extract(hdr.{header});"


def applied(table: str) -> str:
    return f"{table}.apply();"


@dataclass(frozen=True)
class Region:
    name: str
    assumed: dict[str, str]
    octets: tuple[int, int] = (130, 200)  # of frames; shorter ones end in the parser
    only: str = ""  # a switch of p4testgen


def from_side(*sides: str) -> dict[str, str]:
    return {applied("ports"): " || ".join(f"meta.side == SIDE_{side}" for side in sides)}


FORWARDED = "--output-packet-only"
DROPPED = "--dropped-packet-only"

UDP = {
    extracted("vlan"): "hdr.vlan.type == TYPE_IPV4 || hdr.vlan.type == TYPE_IPV6",
    extracted("ipv4"): "hdr.ipv4.version_ihl == 0x45 && hdr.ipv4.fragment == 0x4000 && hdr.ipv4.protocol == 17",
    extracted("ipv6"): "hdr.ipv6.first >= 0x60000000 && hdr.ipv6.first < 0x70000000 && hdr.ipv6.next == 17",
    extracted("udp"): "hdr.udp.dst == 2152",
}
G_PDU = UDP | {LOOKUPS: "meta.kind == KIND_GPDU"}
ANY_G_PDU = UDP | {LOOKUPS: "meta.kind == KIND_GPDU || meta.kind == KIND_GPDU_ODD"}
SERVICE_TAGGED = {extracted("ethernet"): "hdr.ethernet.type == TYPE_SERVICE_VLAN"}
AIR = {extracted("ethernet"): "hdr.ethernet.type == TYPE_AIRHDR"}
RETURNED = AIR | {extracted("airhdr"): "hdr.airhdr.version_kind == AIRHDR_RETURNED"}
PDU = AIR | {extracted("airhdr"): "hdr.airhdr.version_kind == AIRHDR_RLC_PDU"}
# p4testgen chooses 0 for a value that no path depends on. Then a test would not show that two of them were mixed up.
CARDS = {
    LENGTHS: "meta.found == FOUND_CARD && meta.slot > 1 && meta.id > 0x1000000 && meta.epoch > 16 && "
    "meta.rlc_offset > 0x10000 && meta.rlc_mask >= 0xfff && meta.pdcp_mask >= 0xfff",
    applied("air"): "hdr.ethernet.dst > 0x20000000000 && hdr.ethernet.src > 0x20000000000",
}
CARDS_UPLINK = {LENGTHS: "meta.found == FOUND_CARD && meta.slot > 1 && meta.teid > 0x1000000"}
TO_UPF = {
    applied("marks"): "meta.tos > 3 && meta.sum > 0xff00",
    applied("upfs"): "hdr.ethernet.dst > 0x20000000000 && hdr.ethernet.src > 0x20000000000 && "
    "hdr.ipv4.src > 0x1000000 && hdr.ipv4.dst > 0x1000000",
}
EVEN = "meta.odd == 0"
FOR_US = "meta.local == meta.n3 && meta.tag == meta.vlan"
FITS = "meta.last < NEGATIVE && meta.room < NEGATIVE && meta.qos < 0x80 && hdr.udp.checksum == 0"

REGIONS = (
    Region(
        "downlink, numbered",
        from_side("N3") | G_PDU | CARDS | {NUMBERING: f"{EVEN} && {FOR_US} && {FITS}"},
        only=FORWARDED,
    ),
    Region(
        "uplink, stripped",
        from_side("AIR")
        | PDU
        | CARDS_UPLINK
        | TO_UPF
        | {LOOKUPS: "meta.kind == KIND_PDU"}
        | {STRIPPING: f"{EVEN} && meta.seen == meta.modes && meta.last < NEGATIVE && meta.room < NEGATIVE"},
        only=FORWARDED,
    ),
    Region(
        "returned, numbered",
        from_side("VF") | RETURNED | CARDS | {NUMBERING: f"{EVEN} && hdr.airhdr.length != 0"},
        only=FORWARDED,
    ),
    Region(
        "downlink, for the host although the card has the bearer",
        from_side("N3") | G_PDU | CARDS | {NUMBERING: EVEN},
        only=FORWARDED,
    ),
    Region(
        "downlink, with a service tag, the card has the bearer",
        from_side("N3") | SERVICE_TAGGED | ANY_G_PDU | CARDS | {NUMBERING: EVEN},
        only=FORWARDED,
    ),
    Region(
        "downlink, of no bearer or the host's",
        from_side("N3") | ANY_G_PDU | {NUMBERING: f"{EVEN} && meta.found != FOUND_CARD"},
        only=FORWARDED,
    ),
    Region("downlink, lengths wrong", from_side("N3") | ANY_G_PDU | {NUMBERING: "meta.odd != 0"}, only=FORWARDED),
    Region(
        "uplink, for the host although the card has the bearer",
        from_side("AIR") | PDU | CARDS_UPLINK | {STRIPPING: EVEN},
        only=FORWARDED,
    ),
    Region(
        "uplink, of no bearer or the host's",
        from_side("AIR") | PDU | {STRIPPING: "meta.found != FOUND_CARD"},
        only=FORWARDED,
    ),
    Region(
        "from N3 or the air, what the card does not read",
        from_side("N3", "AIR") | {LOOKUPS: "meta.kind == KIND_OTHER || meta.kind == KIND_AIR"},
        only=FORWARDED,
    ),
    Region("from a VF, sent on", from_side("VF") | {LOOKUPS: "meta.kind != KIND_RETURNED"}, only=FORWARDED),
    Region("returned, dropped", from_side("VF") | RETURNED, only=DROPPED),
    Region(
        "numbered or stripped, but its new headers are not known",
        from_side("N3", "AIR")
        | UDP
        | {LOOKUPS: "meta.kind == KIND_GPDU || meta.kind == KIND_PDU", LENGTHS: "meta.found == FOUND_CARD"}
        | {NUMBERING: f"{EVEN} && {FOR_US} && meta.last < NEGATIVE && meta.room < NEGATIVE"}
        | {STRIPPING: "meta.number != 0 || (meta.kind == KIND_PDU && meta.seen == meta.modes && meta.resolved != 0)"}
        | {applied("air"): "meta.dropped != 0", applied("upfs"): "meta.dropped != 0"},
        only=DROPPED,
    ),
    Region(
        "without an SDU, the card has the bearer",
        from_side("N3", "AIR")
        | UDP
        | {LOOKUPS: "meta.kind == KIND_GPDU || meta.kind == KIND_PDU"}
        | {LENGTHS: "meta.found == FOUND_CARD && meta.last >= NEGATIVE", NUMBERING: f"{EVEN} && {FOR_US}"},
        octets=(28, 90),
        only=FORWARDED,
    ),
    Region("short frames", {LOOKUPS: "standard.parser_error == error.PacketTooShort"}, octets=(8, 60), only=FORWARDED),
    Region("dropped", {}, only=DROPPED),
)


def insert(text: str, name: str, place: str, assumption: str) -> str:
    """No line moves, because statements are known by their lines."""
    call = f"testgen_assume({assumption});"
    if place.endswith(";"):
        return text.replace(place, f"{place} {call}")
    return text.replace("\n\n", f"\n{call}\n", 1) if place == name else text


def steer(sources: Path, region: Region, folder: Path) -> list[str]:
    """Copies the sources, with the region's assumptions; the places that they do not have."""
    missing = set(region.assumed)
    for source in [*sources.glob("*.p4"), *sources.glob("*.p4i")]:
        text = source.read_text()
        for place, assumption in region.assumed.items():
            changed = insert(text, source.name, place, assumption)
            if changed != text:
                missing.discard(place)
            text = changed
        (folder / source.name).write_text(text)
    return sorted(missing)
