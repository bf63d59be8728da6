"""The reader and the writer of segments, held against scapy."""

from __future__ import annotations

import logging

import pytest

logging.getLogger("scapy").setLevel(logging.ERROR)

from scapy.layers.inet import IP, TCP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Dot1Q, Ether  # noqa: E402
from segments import ACK, PSH, SYN, at_most, less, option_octets, read, write  # noqa: E402

OPTIONS = [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (7, 9)), ("NOP", None), ("WScale", 7)]


def packet(version: int, **tcp):
    if version == 4:
        return IP(src="10.77.0.1", dst="10.77.0.2", tos=2) / TCP(sport=1234, dport=80, **tcp)
    return IPv6(src="fd00:77::1", dst="fd00:77::2", tc=2) / TCP(sport=1234, dport=80, **tcp)


@pytest.mark.parametrize("version", (4, 6))
@pytest.mark.parametrize("vlan", (0, 100))
def test_what_scapy_writes_is_read(version, vlan):
    link = Ether() / Dot1Q(vlan=vlan) if vlan else Ether()
    frame = bytes(link / packet(version, flags="SEC", seq=5, ack=6, window=7, options=OPTIONS) / b"odd")
    one = read(1, frame + bytes(6))  # behind the packet is the padding of the link
    assert one and one.ip_sound and one.tcp_sound
    assert (one.source[1], one.destination[1], one.sequence, one.acknowledgment) == (1234, 80, 5, 6)
    assert (one.window, one.payload, one.vlan, one.ecn) == (7, b"odd", vlan, 2)
    assert one.flags == SYN | 0xC0 and one.end == 5 + 3 + 1
    assert (one.options.mss, one.options.scale, one.options.sack_permitted) == (1460, 7, True)
    assert one.options.timestamps == (7, 9)


@pytest.mark.parametrize("version", (4, 6))
def test_one_wrong_bit_is_seen(version):
    frame = bytearray(bytes(Ether() / packet(version, flags="A", options=[("SAck", (10, 20, 30, 40))])))
    one = read(0, bytes(frame))
    assert one and one.tcp_sound and one.options.sack == [(10, 20), (30, 40)]
    frame[-1] ^= 1
    wrong = read(0, bytes(frame))
    assert wrong and wrong.ip_sound and not wrong.tcp_sound
    if version == 4:
        frame[22] ^= 1  # TTL
        wrong = read(0, bytes(frame))
        assert wrong and not wrong.ip_sound


@pytest.mark.parametrize("ends", (("10.77.0.1", "10.77.0.2"), ("fd00:77::1", "fd00:77::2")))
def test_what_is_written_is_as_scapy_has_it(ends):
    frame = write(*(ends[0], 1234, ends[1], 80, ACK | PSH), sequence=5, acknowledgment=6, payload=b"abc", vlan=7)
    theirs = Ether(frame)
    assert theirs[Dot1Q].vlan == 7 and theirs[TCP].seq == 5 and bytes(theirs[TCP].payload) == b"abc"
    sums = theirs[TCP].chksum
    del theirs[TCP].chksum
    if IP in theirs:
        del theirs[IP].chksum
    assert bytes(theirs.__class__(bytes(theirs))) == frame and Ether(bytes(theirs))[TCP].chksum == sums
    syn = write(*(ends[0], 1, ends[1], 2, SYN), options=option_octets(mss=1460, scale=7, sack=True, stamps=(1, 0)))
    found = dict(option for option in Ether(syn)[TCP].options if option[0] != "NOP")
    assert found == {"MSS": 1460, "SAckOK": b"", "Timestamp": (1, 0), "WScale": 7}


def test_sequence_numbers_wrap():
    assert less(0xFFFFFFFF, 0) and not less(0, 0xFFFFFFFF)
    assert at_most(5, 5) and at_most(0xFFFFFFF0, 16) and not at_most(16, 0xFFFFFFF0)


@pytest.mark.parametrize("cut", range(0, 54, 3))
def test_what_is_cut_is_no_segment(cut):
    frame = bytes(Ether() / packet(4, flags="S"))
    assert read(0, frame[: max(14, cut)]) is None
