"""What one bearer takes of a target's memory, computed from the P4 sources: keys and action data of its entries,
registers and counters, both directions. The widths are a target's own (`SLOT_BITS` and so on); Tofino's stand for
hardware.

What a target adds to an entry (a hash table's empty places, pointers, parity) is not in it: see the resource report.
"""

import re
from dataclasses import dataclass
from pathlib import Path

P4 = Path(__file__).resolve().parent
HARDWARE = "tna.p4i"
MOST_OCTETS = 64


@dataclass(frozen=True)
class Part:
    """A row of the table: what it is, and its bits."""

    name: str
    bits: int


def text_of(name: str) -> str:
    return re.sub(r"//.*", "", (P4 / name).read_text())


def widths(target: str) -> dict[str, int]:
    """The macros of a target that are types."""
    return {name: int(bits) for name, bits in re.findall(r"#define (\w+_BITS) bit<(\d+)>", text_of(target))}


def fields(struct: str, text: str) -> dict[str, int]:
    body = re.search(rf"(?:struct|header) {struct} {{(.*?)}}", text, re.DOTALL)[1]
    return {name: int(bits) for bits, name in re.findall(r"bit<(\d+)> (\w+);", body)}


def key_bits(table: str, source: str) -> int:
    body = re.search(rf"table {table} {{\s*key = {{(.*?)}}", text_of(source), re.DOTALL)[1]
    meta = fields("meta_t", text_of("gnb.p4i"))
    headers = text_of("headers.p4i")
    bits = 0
    for place, header, field in re.findall(r"(meta|hdr)\.(\w+)(?:\.(\w+))? : exact", body):
        bits += meta[header] if place == "meta" else fields(f"{header}_t", headers)[field]
    return bits


def data_bits(action: str, source: str, target: str) -> int:
    arguments = re.search(rf"action {action}\((.*?)\)", text_of(source), re.DOTALL)[1]
    macros = widths(target)
    bits = 0
    for kind, _name in re.findall(r"([\w<>]+) (\w+)(?:,|$)", arguments):
        width = re.fullmatch(r"bit<(\d+)>", kind)
        bits += int(width[1]) if width else macros[kind]
    return bits


def register_bits() -> int:
    """Of the pair, and of what counts to a poll."""
    pairs = text_of("numbers.p4i").split("#else")[1]
    return sum(
        int(bits) for bits in re.findall(r"DECLARE_(?:NUMBERS|POLLS)\(size\) REGISTERS\((\d+), \w+, size\)", pairs)
    )


def counter_bits(source: str, target: str) -> int:
    # A Tofino's counter of frames and of octets: 28 and 36 bits, and 64 and 64 if the octets have more than 36.
    octets, kind = re.search(r"#define COUNTERS\(.*?Counter<bit<(\d+)>.*CounterType_t.(\w+)", text_of(target)).groups()
    each = int(octets) if kind == "PACKETS" else 64 if int(octets) <= 36 else 128
    return each * len(re.findall(r"\bCOUNTERS\(\w+, BEARERS\)", text_of(source)))


def parts(target: str = HARDWARE) -> list[Part]:
    """A bearer that is found by TEID or by an IPv4 address; one with an IPv6 address has another entry for that."""
    down, up = "gnb_downlink.p4i", "gnb_uplink.p4i"
    return [
        Part("bearers: key", key_bits("bearers", down)),
        Part("bearers: action data of `serve`", data_bits("serve", down, target)),
        Part("uplink: key", key_bits("uplink", up)),
        Part("uplink: action data of `uplink_serve`", data_bits("uplink_serve", up, target)),
        Part("registers: COUNT, waiting packets, PDUs without poll", register_bits()),
        Part("counter of downlink frames", counter_bits(down, target)),
        Part("counter of uplink frames", counter_bits(up, target)),
    ]


def octets(of: list[Part]) -> int:
    return -(-sum(part.bits for part in of) // 8)


def table() -> str:
    of = parts()
    lines = [f"| {part.name} | {part.bits} |" for part in of]
    v6 = key_bits("bearers_v6", "gnb_downlink.p4i") + data_bits("serve", "gnb_downlink.p4i", HARDWARE)
    flow = key_bits("flows", "gnb_downlink.p4i") + data_bits("serve", "gnb_downlink.p4i", HARDWARE)
    return "\n".join(
        [
            "| of one bearer | bits |",
            "|---|---|",
            *lines,
            f"| all | {sum(part.bits for part in of)} = {octets(of)} octets |",
            f"| `bearers_v6`, if it has an IPv6 address, too | {v6} |",
            f"| `flows`, for each flow of a session that has another bearer than the default one | {flow} |",
        ]
    )


if __name__ == "__main__":
    print(table())
