"""SN wraps of 12 and 18 bits and every RLC mode, fed by DPDK's pcap driver so that 262,144 packets pass in a second.
Both directions' packets are compared octet by octet, every one; tshark judges every bearer's downlink over its wrap."""

from __future__ import annotations

import os
import random
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import air_views
import configs
import gtpu
import pcap
import pytest
from instance import Instance
from judge import CHECKSUMS, N3_FIELDS, PDCP, PDCP_FIELDS, RLC, RLC_FIELDS, gaps, judge, number
from namespaces import N3Link
from paths import own
from processes import Processes, wait_until
from upf import SERVER_IPV4

LINK = N3Link()
UPF_MAC, GNB_MAC = bytes.fromhex("020000000002"), b"\x02pcap\x00"
FEW, OVER = 100, 200
STATUS_PDUS = 7
AROUND_WRAP = 1000  # packets before the 18-bit wrap that tshark gets: all 262,144 would take it half a minute


@dataclass(frozen=True)
class Case:
    """A bearer and how many packets it gets in each direction."""

    shard: int
    rlc: str
    pdcp_sn: int
    count: int
    qfi: int = 9
    sdap: bool = True

    @property
    def judged_from(self) -> int:
        """The first packet that tshark gets; `make accept` gives it all of them."""
        if os.environ.get("SPLITPLANE_JUDGE_ALL") == "1":
            return 0
        return max(0, self.count - OVER - AROUND_WRAP) if self.count > 1 << 18 else 0

    @property
    def id(self) -> int:
        return configs.identity(self.shard)

    @property
    def ul_teid(self) -> int:
        return 0x1000 + self.shard

    @property
    def ue(self) -> str:
        return f"10.45.0.{self.shard + 1}"

    @property
    def rlc_bits(self) -> int:
        return int(self.rlc[2:] or 0)

    def tree(self) -> dict:
        return configs.bearer(
            self.shard,
            upf=LINK.upf_ipv4,
            shard=self.shard,
            rlc=self.rlc,
            pdcp_sn=self.pdcp_sn,
            qfi=self.qfi,
            sdap=self.sdap,
        )


CASES = [
    Case(1, "am12", 12, (1 << 12) + OVER),
    Case(2, "am18", 18, (1 << 18) + OVER),
    Case(3, "um12", 12, FEW, 5),
    Case(4, "um6", 18, FEW, 63),
    Case(5, "tm", 18, FEW, 0),
    Case(6, "am18", 12, FEW, 7, sdap=False),
    Case(7, "am12", 18, (1 << 12) + OVER, 1),
]
BY_ID = {case.id: case for case in CASES}


def inner_head(source: str, destination: str) -> bytes:
    """An IPv4 UDP packet without its last four octets, the packet's number; UDP checksum 0, as IPv4 allows."""
    udp = struct.pack("!HHHH", 40001, 40002, 12, 0)
    return gtpu.ipv4(udp + bytes(4), source, destination)[:-4]


def order() -> list[Case]:
    """Whose packet comes when: all bearers mixed at random, with a fixed seed."""
    slots = [case for case in CASES for _ in range(case.count)]
    random.Random(1).shuffle(slots)
    return slots


def downlink_frames(slots: list[Case]) -> list[bytes]:
    heads, counts = {}, Counter()
    for case in CASES:
        outer = gtpu.ipv4(
            struct.pack("!HHHH", 2152, 2152, 8 + 16 + 32, 0)
            + gtpu.gpdu(case.id, inner_head(SERVER_IPV4, case.ue) + bytes(4), case.qfi),
            LINK.upf_ipv4,
            LINK.gnb_ipv4,
        )
        heads[case] = (GNB_MAC + UPF_MAC + b"\x08\x00" + outer)[:-4]
    frames = []
    for case in slots:
        frames.append(heads[case] + struct.pack("!I", counts[case]))
        counts[case] += 1
    return frames


def uplink_frames(slots: list[Case]) -> list[bytes]:
    heads = {case: inner_head(case.ue, SERVER_IPV4) for case in CASES}
    counts, frames = Counter(), []
    for case in slots:
        n = counts[case]
        counts[case] += 1
        pdu = rlc_header(case, n) + pdcp_header(case, n) + heads[case] + struct.pack("!I", n)
        frames.append(air_head(case, len(pdu)) + pdu)
    status = [air_head(CASES[0], 3) + bytes.fromhex("000a00")] * STATUS_PDUS
    return frames + status


def air_head(case: Case, pdu_bytes: int) -> bytes:
    mode = {"tm": 0, "um": 1, "am": 2}[case.rlc[:2]]
    modes = mode << 5 | case.rlc_bits // 6 << 3 | (4 if case.pdcp_sn == 18 else 0) | (2 if case.sdap else 0)
    return GNB_MAC + UPF_MAC + b"\x88\xb5" + struct.pack("!BBHIH", 0x20, modes, 0, case.id, pdu_bytes)


def rlc_header(case: Case, n: int) -> bytes:
    if case.rlc == "tm":
        return b""
    if case.rlc.startswith("um"):
        return b"\0"
    return number_field(n, case.rlc_bits)


def pdcp_header(case: Case, n: int) -> bytes:
    return number_field(n, case.pdcp_sn) + (bytes([0x80 | case.qfi]) if case.sdap else b"")


def number_field(n: int, bits: int) -> bytes:
    """D/C = 1, then the number: the shape that RLC AM data and PDCP data headers share."""
    return struct.pack("!H", 0x8000 | n & 0xFFF) if bits == 12 else (0x800000 | n & 0x3FFFF).to_bytes(3, "big")


@dataclass
class Outcome:
    folder: Path
    stats: dict
    bearers: list[dict]
    air: list[air_views.AirPdu] = field(default_factory=list)


@pytest.fixture(scope="module")
def outcome():
    """Feeds both directions once and returns what came out."""
    folder = own("e2e") / "wrap"
    folder.mkdir(parents=True, exist_ok=True)
    slots = order()
    pcap.write(folder / "dl-in.pcap", downlink_frames(slots))
    pcap.write(folder / "ul-in.pcap", uplink_frames(slots))
    tree = configs.gnb(
        "wr",
        journal="none",  # every packet of a quarter of a million that come at once is numbered, whatever the disk does
        ports={
            "n3": {"device": f"net_pcap0,rx_pcap={folder}/dl-in.pcap,tx_pcap={folder}/ul-out.pcap"},
            "air": {"device": f"net_pcap1,rx_pcap={folder}/ul-in.pcap,tx_pcap={folder}/dl-out.pcap"},
        },
        # no Echo Requests of our own: every frame that comes out is one that went in
        n3=[{"port": "n3", "ipv4": LINK.gnb_ipv4, "peer_mac": UPF_MAC.hex(":"), "echo": {"interval_s": 0}}],
        air=[{"port": "air"}],
        workers={"w0": {"core": 0, "function": "gnb", "n3": "n3", "air": "air", "policy": "yield"}},
        bearers=[case.tree() for case in CASES],
    )
    processes = Processes(folder)
    try:
        gnb = Instance(processes, "gnb", "run", configs.write(folder, "gnb", tree))
        expected = 2 * len(slots) + STATUS_PDUS
        wait_until(
            "all packets to be received",
            lambda: gnb.control.stats()["totals"]["received"] >= expected,
            processes=[gnb.process],
        )
        bearers = gnb.control.bearers()
        made = Outcome(folder, gnb.finish(), bearers)
    finally:
        processes.stop_all()
    made.air = list(air_views.read(folder / "dl-out.pcap"))
    yield made
    for name in ("dl-in", "ul-in", "dl-out", "ul-out", "dl-rlc", "dl-pdcp"):
        (folder / f"{name}.pcap").unlink(missing_ok=True)  # 150 MB that say nothing once the tests are done


def test_every_packet_comes_out_and_adds_up(outcome):
    sent = sum(case.count for case in CASES)
    assert len(outcome.air) == sent
    totals = outcome.stats["totals"]
    assert totals["balanced"] is True and totals["received"] == 2 * sent + STATUS_PDUS
    assert (totals["transmitted"], totals["consumed"], totals["dropped"]) == (2 * sent, STATUS_PDUS, 0)
    ports = {port["name"]: port for port in outcome.stats["ports"]}
    assert (ports["n3"]["received"], ports["air"]["transmitted"], ports["n3"]["transmitted"]) == (sent, sent, sent)
    assert ports["air"]["received"] == sent + STATUS_PDUS
    for port in ports.values():
        assert port["received"] == port["workers_received"] and port["transmitted"] == port["workers_transmitted"]
    assert [bearer["id"] for bearer in outcome.bearers] == [case.id for case in CASES]
    for bearer in outcome.bearers:
        count = BY_ID[bearer["id"]].count
        assert bearer["downlink"]["received"] == bearer["downlink"]["transmitted"] == count
        assert bearer["uplink"]["transmitted"] == count
        assert bearer["pdcp_tx_next"] == bearer["pdcp_rx_next"] == count


def test_downlink_octets_are_those_that_went_in(outcome):
    counts = Counter()
    heads = {case.id: inner_head(SERVER_IPV4, case.ue) for case in CASES}
    for pdu in outcome.air:
        case = BY_ID[pdu.bearer]
        assert (pdu.direction, pdu.rlc_sn_bits, pdu.pdcp_sn_bits, pdu.sdap) == (
            1,
            case.rlc_bits,
            case.pdcp_sn,
            case.sdap,
        )
        assert pdu.inner() == heads[case.id] + struct.pack("!I", counts[case.id])
        assert pdu.pdcp_sn() == counts[case.id] % (1 << case.pdcp_sn)
        if case.rlc.startswith("am"):
            assert pdu.rlc_sn() == counts[case.id] % (1 << case.rlc_bits)
        counts[case.id] += 1
    assert counts == {case.id: case.count for case in CASES}


def judged(pdus: list[air_views.AirPdu]) -> Iterator[air_views.AirPdu]:
    counts = Counter()
    for pdu in pdus:
        if counts[pdu.bearer] >= BY_ID[pdu.bearer].judged_from:
            yield pdu
        counts[pdu.bearer] += 1


def test_tshark_judges_the_downlink_over_the_wraps(outcome):
    rlc_frames, pdcp_frames, ues = air_views.views(judged(outcome.air))
    assert len(rlc_frames) == len(pdcp_frames) == sum(case.count - case.judged_from for case in CASES)
    paths = outcome.folder / "dl-rlc.pcap", outcome.folder / "dl-pdcp.pcap"
    for path, frames in zip(paths, (rlc_frames, pdcp_frames), strict=True):
        pcap.write(path, frames)
    with ThreadPoolExecutor(2) as pool:
        rlc_job = pool.submit(judge, paths[0], RLC_FIELDS, RLC)
        pdcp_job = pool.submit(judge, paths[1], PDCP_FIELDS, PDCP + CHECKSUMS)
        rlc, pdcp = rlc_job.result(), pdcp_job.result()
    assert not rlc.complaints, rlc
    assert not pdcp.complaints, pdcp
    rlc_sns, pdcp_sns, qfis = defaultdict(list), defaultdict(list), defaultdict(set)
    for row in rlc.rows:
        if row["rlc-nr.am.sn"]:
            rlc_sns[row["rlc-nr.ueid"]].append(number(row["rlc-nr.am.sn"]))
    for row in pdcp.rows:
        pdcp_sns[row["pdcp-nr.ueid"]].append(number(row["pdcp-nr.seq-num"]))
        qfis[row["pdcp-nr.ueid"]].add(row["sdap.qfi"])
        assert row["ip.src"].endswith(";" + SERVER_IPV4)
    for case in CASES:
        ue = str(ues[case.id])
        judged_count = case.count - case.judged_from
        assert len(pdcp_sns[ue]) == judged_count and gaps(pdcp_sns[ue], 1 << case.pdcp_sn) == 0
        assert pdcp_sns[ue][0] == case.judged_from
        assert pdcp_sns[ue][-1] == (case.count - 1) % (1 << case.pdcp_sn)
        assert qfis[ue] == {str(case.qfi) if case.sdap else ""}
        assert len(rlc_sns[ue]) == (judged_count if case.rlc.startswith("am") else 0)
        if rlc_sns[ue]:
            assert rlc_sns[ue][0] == case.judged_from and gaps(rlc_sns[ue], 1 << case.rlc_bits) == 0


def test_uplink_octets_are_those_that_went_in(outcome):
    frames = list(pcap.read(outcome.folder / "ul-out.pcap"))
    by_teid, counts = {case.ul_teid: case for case in CASES}, Counter()
    heads = {case.ul_teid: inner_head(case.ue, SERVER_IPV4) for case in CASES}
    addresses = gtpu.ipv4(b"", LINK.gnb_ipv4, LINK.upf_ipv4)[12:20]
    for frame in frames:
        data = frame.data
        assert data[:6] == UPF_MAC and data[26:34] == addresses and gtpu.checksum(data[14:34]) == 0
        found = gtpu.parse(data[42:])
        case = by_teid[found["teid"]]
        assert found["psc"] == bytes([0x10, case.qfi])
        assert found["payload"] == heads[case.ul_teid] + struct.pack("!I", counts[case.ul_teid])
        counts[case.ul_teid] += 1
    assert counts == {case.ul_teid: case.count for case in CASES}
    pcap.write(outcome.folder / "ul-out.pcap", frames[:: len(frames) // 5000])
    verdict = judge(outcome.folder / "ul-out.pcap", N3_FIELDS, CHECKSUMS)
    assert not verdict.complaints and len(verdict.rows) >= 5000, verdict
