"""tshark as a further judge of what the models write: formats, deciphering, MAC-I.

Faults of tshark 4.0.17 that these tests go round (oracles.md 1.4): it leaves the SDAP octet out of the MAC-I, and reads
it from the deciphered octets; so such PDUs are shown in two views. It counts the HFN from 0, so COUNTs begin there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nr_framing import HEURISTICS, dissect, in_udp, pdcp_nr

from pdcp.ciphers import CIPHERS, INTEGRITY
from pdcp.model import Config, PdcpEntity, Security, protect
from pdcp.pdu import SN_OCTETS, StatusReport, bitmap_of, data_header
from pdcp.sdap import Drb, GnbSdap, UeSdap

KE, KI = bytes(range(16)), bytes(range(16, 32))
VERDICTS = ["_ws.malformed", "_ws.expert.message"]
UE = 1
SECURITY = [
    *HEURISTICS,
    *("-o", f'uat:pdcp_nr_ue_keys:"{UE}","","{KE.hex()}","","{KI.hex()}"'),
    *("-o", "pdcp-nr.check_sequence_numbers:pdcp-only", "-o", "pdcp-nr.decipher_userplane:TRUE"),
]
AS_DATA = "pdcp-nr.show_user_plane_as_ip:FALSE"
NEA2 = ["-o", "pdcp-nr.default_ciphering_algorithm:nea2"]
NIA2 = ["-o", "pdcp-nr.default_integrity_algorithm:nia2"]

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="SKIPPED: tshark is not installed (make setup)")


def read(path: Path, pdus: list[bytes], fields: list[str], options: list[str], **framing: object) -> list[list[str]]:
    values: dict = {"sn_bits": 12, "direction": 1, "ue": UE, "sdap": 0} | framing
    frames = [in_udp(pdcp_nr(pdu, **values)) for pdu in pdus]
    rows = dissect(path, frames, [*fields, *VERDICTS], options)
    return [[row[field] for field in [*fields, *VERDICTS]] for row in rows]


def of_entity(role: str, sn_bits: int, drb: int, sdus: list[bytes]) -> list[bytes]:
    sender = PdcpEntity(
        Config(role=role, drb=drb, sn_bits_ul=sn_bits, sn_bits_dl=sn_bits), Security("nea2", KE, "nia2", KI)
    )
    for sdu in sdus:
        sender.send_sdu(sdu, 0)
    return [pdu for _, pdu in sender.take_answer().pdus]


SDUS = [bytes([number, 0xFE]) * (1 + number) for number in range(24)]


@pytest.mark.parametrize("role, sn_bits, drb", [("gnb", 12, 1), ("ue", 18, 3), ("gnb", 18, 32), ("ue", 12, 17)])
def test_tshark_deciphers_and_verifies(tmp_path: Path, role: str, sn_bits: int, drb: int) -> None:
    direction = int(role == "gnb")
    pdus = of_entity(role, sn_bits, drb, SDUS)
    wrong = pdus[-1][:-1] + bytes([pdus[-1][-1] ^ 1])
    fields = ["pdcp-nr.security-config.count", "pdcp-nr.security-config.bearer", "pdcp-nr.security-config.direction"]
    framing = {"sn_bits": sn_bits, "direction": direction, "bearer_id": drb, "mac_i": True}
    rows = read(tmp_path / "a.pcap", [*pdus[:-1], wrong], [*fields, "data.data"], [*SECURITY, *NEA2, *NIA2], **framing)
    for count, (row, sdu) in enumerate(zip(rows[:-1], SDUS, strict=False)):
        assert row == [str(count), str(drb - 1), str(direction), sdu.hex(), "", ""]
    assert "MAC" in rows[-1][-1], "one changed bit is noticed"


def test_tshark_agrees_with_both_views_of_a_pdu_with_sdap_header(tmp_path: Path) -> None:
    """C4, and 20 more; view A without the SDAP octet is deciphered, view B is the plain PDU with its MAC-I."""
    security = Security("nea2", KE, "nia2", KI)
    sdus = [bytes([0x40 | number]) + SDUS[number] for number in range(21)]
    pdus = [protect(security, 18, count, 0, 1, sdu, True) for count, sdu in enumerate(sdus)]
    header = SN_OCTETS[18]
    cut = [pdu[:header] + pdu[header + 1 :] for pdu in pdus]
    view_a = read(tmp_path / "a.pcap", cut, ["data.data"], [*SECURITY, *NEA2], sn_bits=18)
    for row, sdu in zip(view_a, sdus, strict=True):
        assert row[0].startswith(sdu[1:].hex()) and len(row[0]) == 2 * (len(sdu) - 1 + 4)
    plain = [
        data_header(18, count) + sdu + bytes.fromhex(row[0])[-4:]
        for count, (sdu, row) in enumerate(zip(sdus, view_a, strict=True))
    ]
    view_b = read(
        tmp_path / "b.pcap", plain, ["pdcp-nr.mac"], [*SECURITY, *NIA2, "-o", AS_DATA], sn_bits=18, mac_i=True
    )
    for row, pdu in zip(view_b, plain, strict=True):
        assert row == [f"0x{pdu[-4:].hex()}", "", ""], "no expert message: the MAC-I is right"


def test_tshark_agrees_with_an_end_marker(tmp_path: Path) -> None:
    """Clear QFI, ciphered MAC-I over header and control PDU; again in two views."""
    pdu = protect(Security("nea2", KE, "nia2", KI), 18, 0, 0, 0, b"\x05", True)
    (row,) = read(tmp_path / "a.pcap", [pdu[:3] + pdu[4:]], ["data.data"], [*SECURITY, *NEA2], sn_bits=18, direction=0)
    assert row[0] == INTEGRITY["nia2"](KI, 0, 0, 0, pdu[:4]).hex() == CIPHERS["nea2"](KE, 0, 0, 0, pdu[4:]).hex()


def test_tshark_reads_sdap_headers(tmp_path: Path) -> None:
    gnb, ue = GnbSdap({1: Drb(True, True)}, 1), UeSdap({1: Drb(True, True)}, 1)
    for qfi in range(0, 64, 7):
        gnb.send(qfi, b"\x01\x02", qfi % 2 == 1, qfi % 3 == 1)
        ue.send(qfi, b"\x01\x02")
        ue.rule_configure(qfi, 1)
    down = [data_header(12, 0) + pdu for _, pdu in gnb.take_answer().pdus]
    up = [data_header(12, 0) + pdu for _, pdu in ue.take_answer().pdus]
    options = [*HEURISTICS, "-o", "pdcp-nr.check_sequence_numbers:no-analysis"]
    rows = read(tmp_path / "d.pcap", down, ["sdap.rdi", "sdap.rqi", "sdap.qfi", "data.data"], options, sdap=2)
    expected = [[str(qfi % 2), str(int(qfi % 3 == 1)), str(qfi), "0102", "", ""] for qfi in range(0, 64, 7)]
    assert rows == expected
    rows = read(tmp_path / "u.pcap", up, ["sdap.pdu-type", "sdap.qfi"], options, sdap=1, direction=0)
    assert rows == [[kind, str(qfi), "", ""] for qfi in range(0, 64, 7) for kind in ("1", "0")]


def test_tshark_reads_status_reports(tmp_path: Path) -> None:
    received = [[], [6], [6, 8, 9], list(range(7, 30)), [6, 300]]
    reports = [StatusReport(5, bitmap_of(5, counts)) for counts in received] + [StatusReport(0xFFFFFFF0)]
    fields = ["pdcp-nr.pdu-type", "pdcp-nr.control-pdu-type", "pdcp-nr.fmc", "pdcp-nr.bitmap.byte"]
    rows = read(tmp_path / "s.pcap", [report.write() for report in reports], fields, HEURISTICS)
    for row, report in zip(rows, reports, strict=True):
        bitmap = ",".join(f"0x{octet:02x}" for octet in report.bitmap)
        assert row == ["0", "0x00", str(report.fmc), bitmap, "", ""]
