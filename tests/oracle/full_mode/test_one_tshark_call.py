"""One call of tshark over blocks made by hand shows the packets that went in, and what it cannot do is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from nr_framing import write_pcap
from scapy.layers.inet import IP, UDP

from full_mode import DOWNLINK, UPLINK, Bearer, read_blocks, walk
from full_mode.hand_made import DL, KEYS, UL, Pdcp, am18, am18_segments, framed, ip_packet, sub_pdu
from full_mode.one_tshark_call import Unsuitable, one_tshark_call, options

OTHER_KEYS = (bytes([7] * 16), bytes([8] * 16))
ALL_KEYS = {**KEYS, 2: OTHER_KEYS}
BEARERS = [
    Bearer(rnti=rnti, lcid=lcid, drb=lcid - 3, key=rnti, integrity="none", sdap_ul=False, sdap_dl=False)
    for rnti in (1, 2)
    for lcid in (4, 5)
]


def frames_of(bearers: list[Bearer], nia2: bool) -> tuple[list[bytes], dict[tuple[int, int], list[bytes]]]:
    """Each bearer has packets of both directions; some in two or three segments over as many blocks, which take turns
    with those of the others. Returns the packets by direction and RNTI in the order in which they are whole."""
    queues: list[list[tuple[bytes, bytes | None, int, int]]] = []
    for bearer in bearers:
        for direction in (DL, UL):
            sender = Pdcp(direction, bearer.drb, nia2=nia2, keys=ALL_KEYS[bearer.key])
            queue = []
            for n in range(6):
                packet = ip_packet(1000 * bearer.rnti + 100 * bearer.lcid + 10 * direction + n, 200 + n)
                pdu = sender.pdu(n, packet)
                pieces = [am18(n, pdu, poll=n == 5)] if n % 3 == 0 else am18_segments(n, pdu, 50, 150)[: n + 1]
                if n == 1:
                    pieces = am18_segments(n, pdu, 120)
                blocks = [sub_pdu(bearer.lcid, piece) + b"\x3f\0" for piece in pieces]
                queue += [(block, None, direction, bearer.rnti) for block in blocks[:-1]]
                queue.append((blocks[-1], packet, direction, bearer.rnti))
            queues.append(queue)
    frames, packets = [], {}
    while any(queues):
        for queue in filter(None, queues):
            block, packet, direction, rnti = queue.pop(0)
            frames.append(framed(block, direction, rnti=rnti, ue=rnti, slot=len(frames), harq=len(frames) % 16))
            if packet is not None:
                packets.setdefault((direction, rnti), []).append(packet)
    return frames, packets


def inside(rows: list[dict[str, list[str]]], direction: int, rnti: int) -> list[tuple[str, str, int]]:
    return [
        (row["ip.src"][1], row["ip.dst"][1], int(row["udp.length"][1]))
        for row in rows
        if (row["mac-nr.direction"], row["mac-nr.rnti"]) == ([str(direction)], [f"{rnti:#06x}"])
        and row["udp.length"][1:]
    ]


def told(packets: list[bytes]) -> list[tuple[str, str, int]]:
    return [(IP(one).src, IP(one).dst, IP(one)[UDP].len) for one in packets]


@pytest.mark.parametrize("nia2", [False, True], ids=["nia0", "nia2_not_verified"])
def test_tshark_shows_the_packets_that_went_in(tmp_path: Path, tshark: str, nia2: bool) -> None:
    bearers = [Bearer(**{**one.__dict__, "integrity": "nia2"}) for one in BEARERS] if nia2 else BEARERS
    frames, packets = frames_of(bearers, nia2)
    capture = tmp_path / "blocks.pcap"
    write_pcap(capture, frames)
    rows = one_tshark_call(capture, bearers, ALL_KEYS)
    assert len(rows) == len(frames) and len(packets) == 4
    report = walk(read_blocks(capture), bearers, ALL_KEYS)
    assert report.faults() == {}
    for (direction, rnti), those in packets.items():
        assert inside(rows, direction, rnti) == told(those)
        assert [one.octets for one in report.inner(direction, rnti)] == those, "the other reader agrees"
    assert {direction for direction, _ in packets} == {UPLINK, DOWNLINK}


def test_with_a_wrong_key_tshark_shows_none_of_them(tmp_path: Path, tshark: str) -> None:
    frames, packets = frames_of(BEARERS, nia2=False)
    write_pcap(tmp_path / "blocks.pcap", frames)
    rows = one_tshark_call(tmp_path / "blocks.pcap", BEARERS, {1: KEYS[1], 2: (bytes(16), bytes(16))})
    assert inside(rows, DL, 1) == told(packets[DL, 1]) and not set(inside(rows, DL, 2)) & set(told(packets[DL, 2]))


def test_what_one_call_cannot_show_is_refused(tmp_path: Path) -> None:
    def refused(*bearers: Bearer) -> str:
        with pytest.raises(Unsuitable) as why:
            options(list(bearers), ALL_KEYS, {1: 1, 2: 2})
        return str(why.value)

    plain = BEARERS[0]
    assert "UM" in refused(Bearer(1, 4, rlc="um12"))
    assert "SDAP" in refused(Bearer(1, 4))
    assert "PDCP SN" in refused(plain, Bearer(**{**plain.__dict__, "rnti": 2, "pdcp_sn": 12}))
    assert "LCID 4 differ" in refused(plain, Bearer(**{**plain.__dict__, "rnti": 2, "drb": 9}))
    assert "has keys" in refused(plain, Bearer(**{**plain.__dict__, "lcid": 5, "drb": 2, "key": 2}))
    write_pcap(tmp_path / "a.pcap", [framed(b"\x3f", DL, ue=None)])
    with pytest.raises(Unsuitable, match="no UE id"):
        one_tshark_call(tmp_path / "a.pcap", BEARERS, ALL_KEYS)
