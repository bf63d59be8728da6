"""The SDAP model against TS 37.324, event by event."""

from __future__ import annotations

import pytest

from pdcp.sdap import Drb, GnbSdap, UeSdap

SDU = b"ip"


def ue(default_drb: int | None = 1) -> UeSdap:
    """DRB 1 and 2 with both headers, 3 with a DL header only, 4 with none."""
    drbs = {1: Drb(True, True), 2: Drb(True, True), 3: Drb(False, True), 4: Drb(qfi=9)}
    return UeSdap(drbs, default_drb)


def gnb() -> GnbSdap:
    return GnbSdap({1: Drb(True, True), 2: Drb(qfi=9), 3: Drb()}, 1)


def pdus(entity: UeSdap | GnbSdap) -> list[tuple[int, str]]:
    return [(drb, pdu.hex()) for drb, pdu in entity.take_answer().pdus]


def test_a_flow_without_a_rule_uses_the_default_drb() -> None:
    at = ue()
    at.send(5, SDU)
    assert pdus(at) == [(1, "856970")]
    nowhere = ue(default_drb=None)
    nowhere.send(5, SDU)
    assert pdus(nowhere) == [] and nowhere.counters == {"no_drb": 1}


def test_a_configured_rule_moves_a_flow_and_ends_it_on_the_default_drb() -> None:
    """5.3.1"""
    at = ue()
    at.rule_configure(5, 2)
    at.send(5, SDU)
    assert pdus(at) == [(1, "05"), (2, "856970")]


def test_a_changed_rule_ends_the_flow_on_the_old_drb() -> None:
    at = ue()
    at.rule_configure(5, 2)
    at.take_answer()
    at.rule_configure(5, 4)
    at.send(5, SDU)
    assert pdus(at) == [(2, "05"), (4, "6970")]


def test_an_unchanged_rule_ends_nothing() -> None:
    at = ue()
    at.rule_configure(5, 2)
    at.take_answer()
    at.rule_configure(5, 2)
    at.receive(2, b"\x85" + SDU)
    assert pdus(at) == []


def test_no_end_marker_without_an_ul_header() -> None:
    at = ue()
    at.rule_configure(5, 3)
    at.take_answer()
    at.rule_configure(5, 1)
    assert pdus(at) == []


def test_rdi_maps_the_flow_of_the_pdu() -> None:
    """5.3.2: DRB 2, QFI 9; RQI goes to NAS (5.4)."""
    at = ue()
    at.receive(2, bytes([0xC9]) + SDU)
    answer = at.take_answer()
    assert answer.delivered == [(9, SDU)] and answer.indications == [("rqi", 9, 2)]
    assert answer.pdus == [(1, b"\x09")]
    at.send(9, SDU)
    assert pdus(at) == [(2, "896970")]


def test_without_rdi_no_rule_is_stored() -> None:
    at = ue()
    at.receive(2, bytes([0x49]) + SDU)
    assert at.rules == {}


def test_the_latest_rule_counts_configured_or_reflective() -> None:
    """TS 38.300 12.1"""
    at = ue()
    at.rule_configure(9, 2)
    at.receive(1, bytes([0x89]) + SDU)
    assert at.rules == {9: 1}
    at.rule_configure(9, 3)
    assert at.rules == {9: 3}
    assert pdus(at) == [(1, "09"), (2, "09"), (1, "09")]


def test_a_released_rule_or_drb_leaves_the_default_drb() -> None:
    at = ue()
    at.rule_configure(5, 2)
    at.rule_configure(6, 3)
    at.rule_release(5)
    at.drb_release(3)
    at.take_answer()
    at.send(5, SDU)
    at.send(6, SDU)
    assert pdus(at) == [(1, "856970"), (1, "866970")]


def test_a_ue_without_a_dl_header_does_not_know_the_flow() -> None:
    at = ue()
    at.receive(4, SDU)
    assert at.take_answer().delivered == [(None, SDU)]


@pytest.mark.parametrize("rdi, rqi, first", [(0, 0, "09"), (1, 0, "89"), (0, 1, "49"), (1, 1, "c9")])
def test_the_gnb_writes_rdi_and_rqi(rdi: int, rqi: int, first: str) -> None:
    at = gnb()
    at.send(9, SDU, bool(rdi), bool(rqi))
    at.rule_configure(9, 2)
    at.send(9, SDU, bool(rdi), bool(rqi))
    assert pdus(at) == [(1, first + "6970"), (2, "6970")]


def test_the_gnb_takes_the_qfi_from_the_header_or_the_only_flow() -> None:
    at = gnb()
    at.receive(1, b"\x85" + SDU)
    at.receive(1, b"\xc5" + SDU)  # the R bit is ignored
    at.receive(2, SDU)
    at.receive(3, SDU)
    assert at.take_answer().delivered == [(5, SDU), (5, SDU), (9, SDU)]
    assert at.counters == {"no_qfi": 1}


def test_the_gnb_hears_of_an_end_marker_and_delivers_nothing() -> None:
    at = gnb()
    at.receive(1, b"\x05")
    answer = at.take_answer()
    assert answer.delivered == [] and answer.indications == [("end_marker", 5, 1)]


@pytest.mark.parametrize("pdu", ["", "85", "0500"])
def test_the_gnb_drops_what_is_no_pdu(pdu: str) -> None:
    at = gnb()
    at.receive(1, bytes.fromhex(pdu))
    assert at.counters == {"malformed": 1}


def test_ue_and_gnb_understand_each_other_for_each_qfi() -> None:
    for qfi in range(64):
        terminal, network = ue(), gnb()
        terminal.send(qfi, SDU)
        network.send(qfi, SDU, True, True)
        for drb, pdu in terminal.take_answer().pdus:
            network.receive(drb, pdu)
        for drb, pdu in network.take_answer().pdus:
            terminal.receive(drb, pdu)
        assert terminal.take_answer().delivered == [(qfi, SDU)] and terminal.rules == {qfi: 1}
        network.send(qfi, SDU)
        assert network.take_answer().pdus[0][0] == 1
    terminal.send(64, SDU)
    assert terminal.counters == {"bad_qfi": 1}
