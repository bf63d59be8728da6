"""The reader of full mode against blocks made by hand: what went in comes out once, and each fault is noticed."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from nr_framing import HEURISTICS, dissect, in_udp, write_pcap

from full_mode import DOWNLINK, UPLINK, Bearer, Report, read_bearers, read_blocks, read_keys, walk
from full_mode.hand_made import (
    DL,
    KEYS,
    UL,
    Pdcp,
    am18,
    am18_segment,
    am18_segments,
    framed,
    ip_packet,
    ipv6_packet,
    sub_pdu,
    um12_segments,
    write_pcapng,
)
from full_mode.mac import ELEMENTS, sub_pdus
from full_mode.mac import PADDING as PADDING_LCID
from full_mode.pdcp import PdcpReceiver

AM = Bearer(rnti=1, lcid=4)
UM = Bearer(rnti=2, lcid=5, rlc="um12", pdcp_sn=12, drb=7, integrity="none", sdap_ul=False, sdap_dl=False)
AM_DL = Pdcp(DL, sdap=b"\x09")
AM_UL = Pdcp(UL, sdap=b"\x89")
UM_DL = Pdcp(DL, drb=7, sn_bits=12, nia2=False)
PADDING = b"\x3f\0\0\0"
# The least that stands in some elements of variable size. tshark reads it, whatever L says.
WITH_LENGTH = {(DL, 55): 3, (UL, 54): 6, (UL, 56): 3}


def judge(folder: Path, frames: list[bytes], bearers: tuple[Bearer, ...] = (AM, UM), keys=KEYS) -> Report:
    capture = folder / "blocks.pcap"
    write_pcap(capture, frames)
    return walk(read_blocks(capture), bearers, keys)


def sdus(report: Report, direction: int = DOWNLINK) -> list[bytes]:
    return [one.octets for one in report.inner(direction)]


def am_block(count: int, packet: bytes, sn: int | None = None, poll: bool = False) -> bytes:
    return sub_pdu(4, am18(count if sn is None else sn, AM_DL.pdu(count, packet), poll))


def test_whole_sdus_of_both_directions_with_elements_and_padding(tmp_path: Path) -> None:
    down, up = [ip_packet(n) for n in range(3)], [ip_packet(9, 300), ipv6_packet(3)]
    downlink = b"\x3d\x5f" + am_block(0, down[0]) + am_block(1, down[1]) + PADDING  # timing advance
    uplink = sub_pdu(4, am18(0, AM_UL.pdu(0, up[0]), poll=True)) + sub_pdu(4, am18(1, AM_UL.pdu(1, up[1])))
    uplink += b"\x39\x1f\x2a" + b"\x3d\x49" + b"\x3e\x03\x24\x0a\x14" + b"\x3f"  # PHR, short BSR, long BSR
    report = judge(tmp_path, [framed(downlink, DL), framed(uplink, UL), framed(am_block(2, down[2]), DL, harq=1)])
    assert report.faults() == {} and sdus(report) == down and sdus(report, UPLINK) == up
    assert [(one.frame, one.count, one.qfi) for one in report.packets] == [
        (1, 0, 9),
        (1, 1, 9),
        (2, 0, 9),
        (2, 1, 9),
        (3, 2, 9),
    ]
    assert report.packets[0].ip.dst == "8.8.0.0" and report.packets[3].ip.dst == "2001:db8::4"
    ue = report.ues[1, UPLINK]
    assert (ue["ce_phr_single"], ue["ce_bsr_short"], ue["ce_bsr_long"], ue["padding_octets"]) == (1, 1, 1, 1)
    assert report.ues[1, DOWNLINK] == {
        "blocks": 2,
        "octets": len(downlink) + len(am_block(2, down[2])),
        "blocks_repeated": 0,
        "sdus": 3,
        "padding_octets": 4,
        "ce_timing_advance": 1,
    }
    row = report.bearers[1, 4, DOWNLINK]
    assert (row["blocks"], row["mac_sdus"], row["pdcp_pdus"], row["ip_packets"], row["ip_octets"]) == (2, 3, 3, 3, 180)
    assert report.bearers[1, 4, UPLINK]["rlc_polls"] == 1


def test_segments_in_any_order_and_cut_again(tmp_path: Path) -> None:
    packets = [ip_packet(n, 400) for n in range(3)]
    a, b, c = (AM_DL.pdu(n, packet) for n, packet in enumerate(packets))
    pieces = am18_segments(0, a, 100, 250) + am18_segments(1, b, 50) + am18_segments(2, c, 7)
    again = am18_segment(0b11, 0, 60, a[60:130])  # overlaps two of them
    order = [pieces[2], pieces[4], pieces[6], again, pieces[0], pieces[3], pieces[1], pieces[5]]
    report = judge(tmp_path, [framed(sub_pdu(4, piece), DL, harq=n % 16) for n, piece in enumerate(order)])
    assert report.faults() == {} and sorted(sdus(report)) == sorted(packets)
    assert report.bearers[1, 4, DOWNLINK]["rlc_segments"] == 8
    assert report.bearers[1, 4, DOWNLINK]["pdcp_late"] == 1, "COUNT 0 came behind COUNT 1"


def test_a_block_that_harq_sent_again_delivers_once(tmp_path: Path) -> None:
    packets = [ip_packet(n) for n in range(4)]
    whole, um = am_block(0, packets[0]), UM_DL.pdu(0, packets[2])
    halves = [sub_pdu(4, piece) for piece in am18_segments(1, AM_DL.pdu(1, packets[1]), 30)]
    um_whole = sub_pdu(5, b"\0" + um)
    um_halves = [sub_pdu(5, piece) for piece in um12_segments(0, UM_DL.pdu(1, packets[3]), 30)]
    frames = []
    for block in (whole, *halves):
        frames += [framed(block, DL), framed(block, DL)]
    frames += [framed(whole, DL)]  # long after, when RLC knows the SDU
    for block in (um_whole, *um_halves):
        frames += [framed(block, DL, rnti=2)] * 2
    report = judge(tmp_path, frames + [framed(um_halves[0], DL, rnti=2), framed(um_halves[1], DL, rnti=2)])
    assert report.faults() == {} and sdus(report) == packets
    assert report.ues[1, DOWNLINK]["blocks_repeated"] == 3
    assert report.bearers[1, 4, DOWNLINK]["rlc_duplicates"] == 4
    assert report.bearers[2, 5, DOWNLINK]["pdcp_duplicates"] == 1, "UM has no SN for a whole SDU"
    assert report.bearers[2, 5, DOWNLINK]["rlc_duplicates"] == 4


def test_what_the_air_lost_is_no_fault_and_is_missing(tmp_path: Path) -> None:
    packets = [ip_packet(n, 200) for n in range(6)]
    frames = [framed(am_block(n, packets[n]), DL) for n in (0, 2, 5)]
    frames += [framed(sub_pdu(4, am18_segments(3, AM_DL.pdu(3, packets[3]), 80)[1]), DL)]  # its begin is lost
    frames += [framed(sub_pdu(5, um12_segments(4, UM_DL.pdu(0, packets[4]), 80)[0]), DL, rnti=2)]
    report = judge(tmp_path, frames)
    assert report.faults() == {} and sdus(report) == [packets[0], packets[2], packets[5]]
    assert report.bearers[1, 4, DOWNLINK]["rlc_unfinished"] == 1
    assert report.bearers[2, 5, DOWNLINK]["rlc_unfinished"] == 1


def test_counts_go_on_where_sns_wrap(tmp_path: Path) -> None:
    """RLC's 18 bits, PDCP's 12 bits, and UM's 12 bits."""
    um_frames, packets = [], []
    for count in range(0, 12288, 512):  # over two wraps of a 12 bit SN, with losses; each SN comes three times
        packets.append(ip_packet(count, 100))
        pieces = um12_segments(count % 4096, UM_DL.pdu(count, packets[-1]), 40)
        um_frames += [framed(sub_pdu(5, piece), DL, rnti=2) for piece in pieces]
    am_frames, late = [], []
    for n in range(262142, 262147):
        late.append(ip_packet(n % 9999))
        am_frames.append(framed(am_block(n, late[-1], sn=n % 262144), DL))
    started = Bearer(rnti=1, lcid=4, counts=(0, 262000))
    report = judge(tmp_path, um_frames + am_frames, (started, UM))
    assert report.faults() == {} and sdus(report) == packets + late
    assert [one.count for one in report.packets[-2:]] == [262145, 262146]


@pytest.mark.parametrize("bearer", [AM, UM], ids=["with_mac_i", "without"])
def test_a_capture_that_begins_at_a_high_count(tmp_path: Path, bearer: Bearer) -> None:
    """The list of bearers says where COUNTs are; one that was taken when they were 0 does not hurt."""
    sender = Pdcp(
        DL, bearer.drb, bearer.pdcp_sn, nia2=bearer.integrity != "none", sdap=b"\x09" if bearer.sdap_dl else b""
    )
    for began in (3, 5_000_123):
        told = Bearer(**{**bearer.__dict__, "counts": (0, 5_000_200)})
        packets = [ip_packet(n) for n in range(3)]
        pdus = [sender.pdu(began + n, packet) for n, packet in enumerate(packets)]
        blocks = [sub_pdu(bearer.lcid, am18(n, pdu) if bearer is AM else b"\0" + pdu) for n, pdu in enumerate(pdus)]
        report = judge(tmp_path, [framed(block, DL, rnti=bearer.rnti) for block in blocks], (told,))
        assert report.faults() == {} and sdus(report) == packets
        assert report.packets[0].count == began


def test_a_wrong_mac_i_and_a_wrong_key_are_noticed(tmp_path: Path) -> None:
    good, pdu = ip_packet(1), bytearray(AM_DL.pdu(0, ip_packet(0)))
    pdu[-1] ^= 1
    frames = [framed(sub_pdu(4, am18(0, bytes(pdu))), DL), framed(am_block(1, good), DL)]
    report = judge(tmp_path, frames)
    assert report.faults() == {"integrity_failed": 1} and sdus(report) == [good]
    assert report.first_faults == ["frame 1, RNTI 1, downlink: integrity_failed (LCID 4)"]
    other = {1: (KEYS[1][0], bytes(16))}
    assert judge(tmp_path, frames, keys=other).faults() == {"integrity_failed": 2}
    unsigned = [framed(sub_pdu(5, b"\0" + UM_DL.pdu(0, good)), DL, rnti=2)]
    assert judge(tmp_path, unsigned).faults() == {}
    assert judge(tmp_path, unsigned, keys={1: (bytes(16), bytes(16))}).faults() == {"not_ip": 1}
    assert judge(tmp_path, unsigned, keys={2: KEYS[1]}).faults() == {"no_keys": 1}


def test_a_sdap_octet_or_a_drb_that_changed_is_noticed(tmp_path: Path) -> None:
    pdu = bytearray(AM_DL.pdu(0, ip_packet(0)))
    pdu[3] ^= 1  # not ciphered, but protected
    assert judge(tmp_path, [framed(sub_pdu(4, am18(0, bytes(pdu))), DL)]).faults() == {"integrity_failed": 1}
    of_drb_2 = Pdcp(DL, drb=2, sdap=b"\x09").pdu(0, ip_packet(0))
    assert judge(tmp_path, [framed(sub_pdu(4, am18(0, of_drb_2)), DL)]).faults() == {"integrity_failed": 1}


def test_one_count_for_two_packets_is_noticed(tmp_path: Path) -> None:
    frames = [framed(am_block(0, ip_packet(0)), DL), framed(am_block(0, ip_packet(1), sn=1), DL)]
    report = judge(tmp_path, frames)
    assert report.faults() == {"count_used_twice": 1} and sdus(report) == [ip_packet(0)]


def test_a_retransmission_with_other_octets_is_noticed(tmp_path: Path) -> None:
    pieces = am18_segments(0, AM_DL.pdu(0, ip_packet(0)), 30)
    wrong = pieces[0][:-1] + bytes([pieces[0][-1] ^ 1])
    frames = [framed(sub_pdu(4, piece), DL) for piece in (wrong, *pieces)]
    report = judge(tmp_path, frames)
    assert report.faults() == {"rlc_octets_differ": 1} and sdus(report) == [ip_packet(0)]


def status(ack: int, *blocks: bytes) -> bytes:
    """STATUS PDU with 18 bit SNs; each block is that of one NACK, without its E1."""
    fixed = (ack << 2 | bool(blocks) << 1).to_bytes(3, "big")
    for n, block in enumerate(blocks):
        more = n + 1 < len(blocks)
        fixed += (int.from_bytes(block[:3], "big") | more << 5).to_bytes(3, "big") + block[3:]
    return sub_pdu(4, fixed)


def nack(sn: int, octets: tuple[int, int] | None = None, count: int | None = None) -> bytes:
    flags = (octets is not None) << 4 | (count is not None) << 3
    tail = b"" if octets is None else struct.pack("!HH", *octets)
    return (sn << 6 | flags).to_bytes(3, "big") + tail + (b"" if count is None else bytes([count]))


def test_status_pdus_may_say_what_crossed_the_air_and_no_more(tmp_path: Path) -> None:
    packets = [ip_packet(n, 100) for n in range(8)]
    pdus = [AM_DL.pdu(n, packet) for n, packet in enumerate(packets)]
    first, last = am18_segments(3, pdus[3], 40)
    crossed = [framed(am_block(n, packets[n]), DL) for n in (0, 1, 6)] + [framed(sub_pdu(4, first), DL)]
    crossed.append(framed(sub_pdu(4, am18_segments(4, pdus[4], 40)[1]), DL))
    to_the_end = 0xFFFF
    for said, faults in (
        (status(2), {}),
        (status(3, nack(2)), {}),
        (status(7, nack(2), nack(3, (40, to_the_end)), nack(4, count=2)), {}),
        (status(7, nack(2), nack(3, (40, 49), 3)), {"status_acks_missing": 1}),  # the rest of SDU 5 is acknowledged
        (status(7, nack(2), nack(3, (40, to_the_end), 3)), {}),
        (status(7, nack(2, count=4)), {}),
        (status(5, nack(2, count=2), nack(4, (0, 39))), {}),
        (status(5, nack(2, count=2), nack(4, (0, 38))), {"status_acks_missing": 1}),
        (status(3), {"status_acks_missing": 1}),
        (status(4, nack(2)), {"status_acks_missing": 1}),
        (status(4, nack(2), nack(3, (41, to_the_end))), {"status_acks_missing": 1}),
        (status(9), {"status_acks_unsent": 1}),
        (status(2, nack(5)), {"status_nack_beyond_ack": 1}),
        (status(7, nack(2), nack(3), nack(4, count=2))[:-1], {"block_malformed": 1}),
        (sub_pdu(4, b"\x10\0\0"), {"status_malformed": 1}),
    ):
        report = judge(tmp_path, [*crossed, framed(said, UL)])
        assert report.faults() == faults, said.hex()
    assert report.bearers[1, 4, DOWNLINK]["ip_packets"] == 3
    then = [framed(sub_pdu(4, last), DL), framed(status(4, nack(2)), UL)]
    report = judge(tmp_path, [*crossed, framed(status(4, nack(2), nack(3, (40, to_the_end))), UL), *then])
    assert report.faults() == {}
    assert report.bearers[1, 4, UPLINK]["status_pdus"] == 2 and report.bearers[1, 4, UPLINK]["status_nacks"] == 3


def test_tshark_knows_the_same_elements(tmp_path: Path, tshark: str) -> None:
    """Each one between others: if its size were wrong, what follows would be read as something else."""
    blocks, expected = [], []
    for direction, elements in ELEMENTS.items():
        for lcid, (_, octets) in elements.items():
            size = WITH_LENGTH.get((direction, lcid), 2)
            one = bytes([lcid, size, 1, *bytes(size - 1)]) if octets is None else bytes([lcid, *bytes(octets)])
            around = (b"\x3d\x01", b"\x3d\x02\x3f\0") if direction == DL else (b"\x3a\0\1", b"\x3a\0\2\x3f\0")
            blocks.append((around[0] + one + around[1], direction))
            expected.append([around[0][0], lcid, around[0][0], PADDING_LCID])
    assert [[one.lcid for one in sub_pdus(*block)] for block in blocks] == expected
    fields = ["mac-nr.dlsch.lcid", "mac-nr.ulsch.lcid"]
    options = [*HEURISTICS, "-o", "mac-nr.attempt_rrc_decode:FALSE"]
    rows = dissect(tmp_path / "elements.pcap", [framed(*block) for block in blocks], fields, options)
    assert [[int(word, 0) for word in "".join(row.values()).split(",")] for row in rows] == expected


def test_faults_of_mac_are_noticed(tmp_path: Path) -> None:
    good = am_block(0, ip_packet(0))
    for block, direction, fault in (
        (good + b"\x3d\x5f", DL, "elements_out_of_order"),
        (b"\x3d\x49" + sub_pdu(4, am18(0, AM_UL.pdu(0, ip_packet(0)))), UL, "elements_out_of_order"),
        (good + b"\x04\xff\0", DL, "block_malformed"),
        (good + b"\x28\0", DL, "block_malformed"),  # LCID 40
        (good + b"\x21\0\0", DL, "block_malformed"),  # extended LCID
        (good + sub_pdu(9, b"\x80\0\0\1"), DL, "unknown_channel"),
        (good + sub_pdu(4, b"\xc0\0\1"), DL, "rlc_malformed"),  # no data
    ):
        report = judge(tmp_path, [framed(block, direction)])
        assert report.faults() == {fault: 1}, block.hex()
        assert len(report.packets) == 1, "what stands before it is read"
    assert judge(tmp_path, [framed(good, DL, rnti=77)]).faults() == {"unknown_ue": 1}


def test_octets_by_chance_are_counted_and_end_nothing(tmp_path: Path) -> None:
    draw = random.Random(3)
    frames = []
    for n in range(2000):
        block = bytearray(am_block(n, ip_packet(n % 500)) + status(n % 9, nack(n % 7)) + PADDING)
        for _ in range(draw.randrange(4)):
            block[draw.randrange(len(block))] = draw.randrange(256)
        frames.append(
            framed(bytes(block[: draw.randrange(1, len(block) + 1)]), draw.randrange(2), 1 + draw.randrange(2))
        )
    report = judge(tmp_path, frames)
    assert report.ues[1, UPLINK]["blocks"] + report.ues[1, DOWNLINK]["blocks"] > 900
    assert {"block_malformed", "integrity_failed", "status_malformed"} <= report.faults().keys()


def test_control_pdus_and_end_markers_are_no_packets(tmp_path: Path) -> None:
    report_pdu = b"\0\0\0\0\5\xb0"
    end = AM_UL.pdu(0, b"")[:3] + b"\x05"
    marker = Pdcp(UL, sdap=b"\x05").pdu(0, b"")
    assert marker[:4] == end[:4]
    blocks = [sub_pdu(4, am18(n, pdu)) for n, pdu in enumerate((report_pdu, marker, AM_UL.pdu(1, ip_packet(1))))]
    report = judge(tmp_path, [framed(block, UL) for block in blocks])
    row = report.bearers[1, 4, UPLINK]
    assert report.faults() == {} and (row["pdcp_control"], row["sdap_end_markers"], row["ip_packets"]) == (1, 1, 1)


def test_worked_examples_that_tshark_and_3gpp_agree_with() -> None:
    """NEA2 and NIA2 of other implementations: PDUs with keys 00.. and 10.., data aabbccddee."""
    for sn_bits, drb, direction, count, sdap, pdu in (
        (12, 1, DL, 1, False, "8001 15aaf7b7ec 31637d0a"),
        (18, 3, UL, 7, False, "800007 5c5b2d981a 8975443e"),
        (18, 1, DL, 0, True, "800000 49 2f6c3102c6 736e1ce7"),
        (12, 1, DL, 0x3001, False, "8001 2cbbdad664 53819d2c"),
    ):
        counts = (count, count)
        bearer = Bearer(1, 4, pdcp_sn=sn_bits, drb=drb, sdap_ul=sdap, sdap_dl=sdap, counts=counts)
        sdu = PdcpReceiver(bearer, direction, KEYS[1]).receive(bytes.fromhex(pdu))
        assert sdu is not None and (sdu.count, sdu.octets.hex()) == (count, "aabbccddee")


def test_pcapng_and_other_frames(tmp_path: Path) -> None:
    packets = [ip_packet(n) for n in range(2)]
    frames = [bytes(60), framed(am_block(0, packets[0]), DL), in_udp(b"other"), framed(am_block(1, packets[1]), DL)]
    write_pcapng(tmp_path / "a.pcapng", frames)
    write_pcap(tmp_path / "a.pcap", frames)
    ng, classic = (list(read_blocks(tmp_path / name)) for name in ("a.pcapng", "a.pcap"))
    assert [(b.frame, b.rnti, b.ue_id, b.harq, b.slot) for b in ng] == [(2, 1, 1, 0, (0, 0)), (4, 1, 1, 0, (0, 0))]
    assert ng == classic and [one.time for one in ng] == [1_700_000_000.001, 1_700_000_000.003]
    assert sdus(walk(ng, [AM], KEYS)) == packets
    cut = tmp_path / "cut"
    for name, octets in (("a.pcapng", 130), ("a.pcap", 40)):  # the writer was killed
        cut.write_bytes((tmp_path / name).read_bytes()[:-octets])
        assert list(read_blocks(cut)) == ng[:1]
    cut.write_bytes((tmp_path / "a.pcap").read_bytes().replace(b"mac-nr\1\1\3\2", b"mac-nr\1\1\3\x55"))
    with pytest.raises(ValueError, match="frame 2: unknown tag 0x55"):
        list(read_blocks(cut))


def test_the_command_reads_what_ctl_prints(tmp_path: Path) -> None:
    row = {
        "id": 67108864,
        "pdcp_rx_next": 0,
        "pdcp_sn": 18,
        "pdcp_tx_next": 2,
        "rlc": "am18",
        "rlc_full": {"rnti": 1, "lcid": 4},
        "sdap": {"dl": True, "ul": True},
        "security": {"cipher": "nea2", "drb": 1, "integrity": "nia2", "key": 1},
    }
    (tmp_path / "list.json").write_text(json.dumps({"bearers": [row, {"rlc": "um12"}], "next": None}))
    (tmp_path / "show.json").write_text(json.dumps(row))
    (tmp_path / "keys").write_text(f"# a comment\n1 {KEYS[1][0].hex()} {KEYS[1][1].hex()}\n")
    told = Bearer(1, 4, counts=(0, 2), id=67108864)
    assert read_bearers([tmp_path / "list.json"]) == read_bearers([tmp_path / "show.json"]) == [told]
    assert read_keys(tmp_path / "keys") == KEYS
    write_pcap(tmp_path / "a.pcap", [framed(am_block(n, ip_packet(n)), DL) for n in range(2)])
    command = [sys.executable, Path(__file__).parent, tmp_path / "a.pcap", "--bearers", tmp_path / "list.json"]
    command += ["--keys", tmp_path / "keys", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bearers"][0]["ip_packets"] == 2
    (tmp_path / "keys").write_text(f"1 {bytes(16).hex()} {bytes(16).hex()}\n")
    done = subprocess.run(command[:-1], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "faults: integrity_failed 2" in done.stdout
