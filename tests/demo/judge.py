"""tshark as judge of captures: what it finds wrong, and the fields that the tests assert on."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from processes import PATIENCE, Failure

# TCP's own view of retransmissions is not a property of our packets. What TCP carries is random octets, which one or
# another of tshark's heuristics takes for its protocol (Thrift, JXTA): it is data.
COMMON = ["-o", "tcp.analyze_sequence_numbers:FALSE", "-d", "tcp.port==1-65535,data"]
# What the kernels at both ends put into TCP: that a segment came twice; one of 65,536 checksums written as 0xffff.
NOT_OURS = ("D-SACK", "TCP Checksum 0xffff instead of 0x0000")
CHECKSUMS = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
RLC = ["--enable-heuristic", "rlc_nr_udp", "-o", "rlc-nr.reassemble_am_frames:FALSE"]
PDCP = ["--enable-heuristic", "pdcp_nr_udp", "-o", "pdcp-nr.check_sequence_numbers:pdcp-only"]

N3_FIELDS = (
    "gtp.message",
    "gtp.teid",
    "gtp.ext_hdr.pdu_ses_con.pdu_type",
    "gtp.ext_hdr.pdu_ses_con.qos_flow_id",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "udp.checksum.status",
)
RLC_FIELDS = ("rlc-nr.ueid", "rlc-nr.direction", "rlc-nr.am.dc", "rlc-nr.am.si", "rlc-nr.am.sn", "rlc-nr.um.si")
PDCP_FIELDS = (
    "pdcp-nr.ueid",
    "pdcp-nr.direction",
    "pdcp-nr.seq-num",
    "sdap.qfi",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
)
VERDICT = ("frame.number", "_ws.malformed", "_ws.expert.severity", "_ws.expert.message")
WARNING = 0x600000  # epan/proto.h: PI_WARN; PI_ERROR is 0x800000


@dataclass
class Verdict:
    """What tshark saw in a file: a row of fields per frame, and what it found wrong."""

    rows: list[dict[str, str]] = field(default_factory=list)
    complaints: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        if not self.complaints:
            return f"{len(self.rows)} frames, nothing wrong"
        return f"{len(self.rows)} frames; " + ", ".join(f"{n} x {text}" for text, n in self.complaints.most_common(4))


def _lines(command: list[str]) -> Iterator[str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except FileNotFoundError as missing:
        raise Failure("tshark is not installed; `make setup` installs it") from missing
    except subprocess.TimeoutExpired as late:
        raise Failure(f"{' '.join(command)}: no end after {PATIENCE:g} s") from late
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    yield from done.stdout.splitlines()


def judge(capture: Path, fields: tuple[str, ...], options: list[str]) -> Verdict:
    """Dissects every frame; malformed ones and expert warnings and errors become complaints."""
    names = VERDICT + fields
    command = [
        "tshark",
        "-n",
        "-r",
        str(capture),
        *COMMON,
        *options,
        "-T",
        "fields",
        "-E",
        "separator=|",
        "-E",
        "occurrence=a",
        "-E",
        "aggregator=;",
    ]
    for name in names:
        command += ["-e", name]
    verdict = Verdict()
    for line in _lines(command):
        row = dict(zip(names, line.split("|"), strict=True))
        verdict.rows.append(row)
        if row["_ws.malformed"]:
            verdict.complaints["malformed"] += 1
        verdict.complaints.update(_warnings(row["_ws.expert.severity"], row["_ws.expert.message"]))
    return verdict


def _warnings(severities: str, messages: str) -> set[str]:
    """What a frame's expert information warns of."""
    levels, texts = [int(text, 0) for text in severities.split(";") if text], messages.split(";")
    if len(levels) != len(texts):  # a message with a semicolon inside: cannot be told apart, so all of it counts
        return {messages[:100]} if any(level >= WARNING for level in levels) else set()
    found = zip(levels, texts, strict=True)
    return {text[:100] for level, text in found if level >= WARNING and not text.startswith(NOT_OURS)}


def way(row: dict[str, str]) -> str:
    """The direction of a row of any of the three field lists: up, down, or neither."""
    if "gtp.ext_hdr.pdu_ses_con.pdu_type" in row:
        return {"0": "down", "1": "up"}.get(row["gtp.ext_hdr.pdu_ses_con.pdu_type"], "")
    return {"0": "up", "1": "down"}.get(row.get("rlc-nr.direction", row.get("pdcp-nr.direction", "")), "")


def number(text: str) -> int:
    """A field's value when there is exactly one."""
    return int(text, 0)


def gaps(numbers: list[int], modulus: int) -> int:
    """How often a number is not the one before it plus one."""
    return sum((after - before) % modulus != 1 for before, after in zip(numbers, numbers[1:], strict=False))
