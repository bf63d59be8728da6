"""GTP-U and the PDU Session Container against two other implementations, in both directions: what our writers wrote is
read by scapy and pycrate, and what these build is read by our parsers.

Where they are not judges: scapy pads a container in front of the next extension header's type, so that containers with
optional fields in chains come out wrong; pycrate refuses or re-encodes otherwise a chain of 0xC0 and 0x85. These chains
are tshark's to judge.
"""

from __future__ import annotations

import logging
import random

logging.getLogger("scapy").setLevel(logging.ERROR)

from pycrate_mobile.TS29281_GTPU import parse_GTPU  # noqa: E402
from pycrate_mobile.TS38415_PDUSess import PDUSessInfo  # noqa: E402
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer  # noqa: E402
from scapy.layers.inet import IP, UDP, IPOption_NOP  # noqa: E402
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting  # noqa: E402
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402

Told = dict[str, str]
INNER = bytes.fromhex("4500001e00010000401160900a2d0002080808089c419c42000a00006869")
DL_FIELDS = ("QMP", "SNP", "PPP", "RQI", "QFI", "PPI", "DLSndTS", "DLQFISeqNum")
UL_FLAGS = ("QMP", "SNP", "DLDelayInd", "ULDelayInd", "N3N9DelayInd", "NewIEFlagInd", "QFI")
UL_VALUES = (
    "DLSndTSRep",
    "DLRcvTS",
    "ULSndTS",
    "DLDelayRes",
    "ULDelayRes",
    "ULQFISeqNum",
    "N3N9DelayRes",
    "NewIEFlags",
)


def pycrate_fields(info: PDUSessInfo) -> Told:
    """What pycrate holds in a PDU Session Container, without fields that its flags leave out."""
    kind = info["Type"].get_val()
    inner = info["Info"].get_alt()
    names = DL_FIELDS if kind == 0 else (*UL_FLAGS, *UL_VALUES, "D1ULPDCPDelayResInd")
    present = {name: str(inner[name].get_val()) for name in names if not inner[name].get_trans()}
    return {"Type": str(kind), **present}


def test_pycrate_reads_every_container_that_we_write(pdus: dict[str, list[Told]]) -> None:
    for told in pdus["psc"]:
        octets = bytes.fromhex(told["pdu"])
        info = PDUSessInfo()
        info.from_bytes(octets)
        assert pycrate_fields(info) == {key: value for key, value in told.items() if key != "pdu"}
        assert info.to_bytes() == octets


def random_container(source: random.Random) -> Told:
    """Fields of a container, all combinations of optional ones."""
    uplink = source.random() < 0.5
    names = UL_FLAGS if uplink else ("QMP", "SNP", "PPP", "RQI", "QFI")
    fields = {name: source.randrange(64 if name == "QFI" else 2) for name in names}
    optional = {
        "PPI": ("PPP", 3),
        "DLSndTS": ("QMP", 64),
        "DLQFISeqNum": ("SNP", 24),
    }
    if uplink:
        optional = {
            "DLSndTSRep": ("QMP", 64),
            "DLRcvTS": ("QMP", 64),
            "ULSndTS": ("QMP", 64),
            "DLDelayRes": ("DLDelayInd", 32),
            "ULDelayRes": ("ULDelayInd", 32),
            "ULQFISeqNum": ("SNP", 24),
            "N3N9DelayRes": ("N3N9DelayInd", 32),
            "NewIEFlags": ("NewIEFlagInd", 1),
        }
    for name, (flag, bits) in optional.items():
        if fields[flag]:
            fields[name] = source.getrandbits(bits)
    if fields.get("NewIEFlags"):
        fields["D1ULPDCPDelayResInd"] = source.randrange(2)
    return {"Type": str(int(uplink)), **{name: str(value) for name, value in fields.items()}}


def test_we_read_every_container_that_pycrate_builds(read_back) -> None:
    source = random.Random(38415)
    told = [random_container(source) for _ in range(300)]
    built = []
    for fields in told:
        values = {name: int(value) for name, value in fields.items() if name != "Type"}
        built.append(PDUSessInfo(val={"Type": int(fields["Type"]), "Info": values}).to_bytes())
    assert read_back("psc", built) == told


def test_pycrate_reads_every_message_that_we_write(pdus: dict[str, list[Told]]) -> None:
    for told in pdus["gtpu"]:
        if told.get("extensions") == "192,133,0":
            continue
        octets = bytes.fromhex(told["pdu"])
        message, error = parse_GTPU(octets)
        assert error == 0, told
        header = message["GTPUHdr"] if "GTPUHdr" in message._by_name else message[0]
        assert header["Type"].get_val() == int(told["message"])
        assert header["TEID"].get_val() == int(told["teid"], 16)
        assert header["Len"].get_val() == int(told["length"])
        assert message.to_bytes() == octets, told


def test_scapy_reads_every_short_container_that_we_write(pdus: dict[str, list[Told]]) -> None:
    checked = 0
    for told in pdus["gtpu"]:
        if told.get("extensions") != "133,0":
            continue
        packet = GTP_U_Header(bytes.fromhex(told["pdu"]))
        container = packet[GTPPDUSessionContainer]
        assert packet.teid == int(told["teid"], 16)
        assert packet.length == int(told["length"])
        assert container.type == int(told["psc_type"])
        assert int(told["qfi"]) == container.QFI
        if "rqi" in told:
            assert (int(told["rqi"]), int(told["ppp"])) == (container.RQI, container.PPP)
        if "ppi" in told:
            assert int(told["ppi"]) == container.PPI
        assert bytes(packet[IP])[: len(INNER)] == INNER
        checked += 1
    assert checked > 50


def test_we_read_every_gpdu_that_scapy_builds(read_back) -> None:
    source = random.Random(29281)
    built, told = [], []
    for _ in range(200):
        teid, qfi, rqi, ppi = source.getrandbits(32), source.randrange(64), source.randrange(2), source.randrange(8)
        uplink, with_ppi = source.random() < 0.5, source.random() < 0.5
        fields = {
            "message": "255",
            "teid": str(teid),
            "payload": INNER.hex(),
            "Type": str(int(uplink)),
            "QFI": str(qfi),
        }
        if uplink:
            container = GTPPDUSessionContainer(type=1, QFI=qfi)
        else:
            container = GTPPDUSessionContainer(type=0, QFI=qfi, RQI=rqi, PPP=int(with_ppi), PPI=ppi)
            fields |= {"RQI": str(rqi), "PPP": str(int(with_ppi))}
            if with_ppi:
                fields["PPI"] = str(ppi)
        built.append(bytes(GTP_U_Header(teid=teid, E=1, next_ex=0x85, gtp_type=255) / container / Raw(INNER)))
        told.append(fields)
    for seen, fields in zip(read_back("gtpu", built), told, strict=True):
        assert {key: seen.get(key) for key in fields} == fields


def test_we_read_every_message_that_pycrate_builds(read_back) -> None:
    """Its own encodings of the messages in the worked examples, after it decoded them."""
    examples = {
        "320100040000000000070000": {"message": "1", "sequence": "7"},
        "3202000600000000000700000e00": {"message": "2", "sequence": "7"},
        "361a001400000000000000400108680010deadbeef8500040a000002": {
            "message": "26",
            "unknown_teid": str(0xDEADBEEF),
            "peer": "0a000002",
            "udp_port": "2152",
        },
        "30fe000001020304": {"message": "254", "ended": str(0x01020304)},
        "321f000700000000000000008d0185": {"message": "31", "types": "85"},
    }
    built = [parse_GTPU(bytes.fromhex(octets))[0].to_bytes() for octets in examples]
    for seen, fields in zip(read_back("gtpu", built), examples.values(), strict=True):
        assert {key: seen.get(key) for key in fields} == fields


def gpdu(teid: int) -> bytes:
    header = GTP_U_Header(teid=teid, E=1, next_ex=0x85, gtp_type=255)
    return bytes(header / GTPPDUSessionContainer(type=0, QFI=9) / Raw(INNER))


def test_we_read_every_frame_that_scapy_builds(read_back) -> None:
    """VLAN tags, IPv4 options, IPv6 extension headers; both checksums as scapy computes them."""
    links = [
        (Ether(), 0),
        (Ether() / Dot1Q(vlan=100), 100),
        (Ether() / Dot1AD(vlan=7) / Dot1Q(vlan=4094), 4094),
    ]
    v6 = {"src": "fd00::1", "dst": "fd00::2"}
    networks = [
        (IP(src="10.0.0.1", dst="10.0.0.2"), "4"),
        (IP(src="10.0.0.1", dst="10.0.0.2", options=[IPOption_NOP()] * 40), "4"),
        (IPv6(**v6), "6"),
        (IPv6(**v6) / IPv6ExtHdrHopByHop(), "6"),
        (IPv6(**v6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrRouting(), "6"),
    ]
    built, told = [], []
    for link, vlan in links:
        for network, version in networks:
            teid = random.Random(len(built)).getrandbits(32)
            packet = link.copy() / network.copy() / UDP(sport=40000 + len(built), dport=2152) / Raw(gpdu(teid))
            fields = {"version": version, "udp_checksum_good": "1", "vlan": str(vlan), "teid": str(teid), "QFI": "9"}
            fields |= {"source_port": str(40000 + len(built)), "payload": INNER.hex()}
            if version == "4":
                fields["ip_checksum_good"] = "1"
            built.append(bytes(packet))
            told.append(fields)
    for seen, fields in zip(read_back("frame", built), told, strict=True):
        assert {key: seen.get(key) for key in fields} == fields


def test_we_refuse_what_scapy_breaks_on_purpose(read_back) -> None:
    fragment = Ether() / IP(flags="MF") / UDP(dport=2152) / Raw(gpdu(1))
    other_port = Ether() / IP() / UDP(dport=2153) / Raw(gpdu(1))
    wrong_length = Ether() / IP() / UDP(dport=2152, len=9000) / Raw(gpdu(1))
    gtp_prime = Ether() / IP() / UDP(dport=2152) / Raw(bytes([0x20]) + gpdu(1)[1:])
    wrong_sum = Ether() / IP() / UDP(dport=2152, chksum=0x1234) / Raw(gpdu(1))
    reasons = [
        row.get("reason") for row in read_back("frame", [bytes(p) for p in (fragment, other_port, wrong_length)])
    ]
    assert reasons == ["ipv4_fragment", "udp_port_unknown", "udp_bad_length"]
    assert read_back("frame", [bytes(gtp_prime)])[0]["reason"] == "gtpu_not_gtp"
    assert read_back("frame", [bytes(wrong_sum)])[0]["udp_checksum_good"] == "0"
