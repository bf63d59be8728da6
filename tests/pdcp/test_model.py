"""The PDCP model against worked examples, published vectors, and what clauses of TS 38.323 say of single events.

C1 to C5, S1 to S3 and P1 to P3 are the examples that tshark has judged (formats.md, section 9).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdcp.ciphers import CIPHERS, INTEGRITY
from pdcp.model import Config, PdcpEntity, Security
from pdcp.pdu import LAST_COUNT, StatusReport, data_header, read_status_report

KE, KI = bytes(range(16)), bytes(range(16, 32))
DATA = bytes.fromhex("aabbccddee")
CLEAR = Security()
BOTH = Security("nea2", KE, "nia2", KI)
CIPHERED = Security("nea2", KE)
NEW_KEYS = Security("nea2", KI, "nia2", KE)
ALGORITHMS = CIPHERS | INTEGRITY
# Also of NEA1, NIA1, NEA3 and NIA3: a row in ciphers.py is enough to test them.
VECTORS = json.loads(Path(__file__).with_name("own_vectors.json").read_text())
OWN_VECTORS = [vector for vector in VECTORS if vector["alg"] in ALGORITHMS]
MS = 1000


def entity(security: Security = CLEAR, **config: object) -> PdcpEntity:
    values: dict = {"sn_bits_ul": 12, "sn_bits_dl": 12} | config
    return PdcpEntity(Config(**values), security)


def sent(of: PdcpEntity) -> list[str]:
    return [pdu.hex() for _, pdu in of.take_answer().pdus]


def data_pdu(count: int, sdu: bytes | None = None, sn_bits: int = 12) -> bytes:
    """Without security; the SDU tells its COUNT."""
    return data_header(sn_bits, count) + (bytes([count & 0xFF]) if sdu is None else sdu)


def receive(at: PdcpEntity, *counts: int, now: int = 0) -> list[int]:
    """What is delivered, by the last octet of each COUNT."""
    for count in counts:
        at.receive_pdu(data_pdu(count), now)
    return [sdu[0] for sdu in at.take_answer().delivered]


def test_the_last_octet_is_the_count_in_these_tests() -> None:
    assert receive(entity(), 0, 1) == [0, 1]


# Algorithms


@pytest.mark.parametrize("vector", OWN_VECTORS, ids=lambda vector: f"{vector['alg']} {vector['name']}")
def test_algorithms_give_the_values_that_two_foreign_implementations_agree_on(vector: dict) -> None:
    algorithm = ALGORITHMS[vector["alg"]]
    octets = bytes.fromhex(vector.get("plaintext", vector.get("message", "")))
    expected = vector.get("ciphertext", vector.get("mac"))
    got = algorithm(bytes.fromhex(vector["key"]), vector["count"], vector["bearer"], vector["direction"], octets)
    assert got.hex() == expected


def test_nea2_gives_the_first_set_of_3gpp() -> None:
    """TS 33.401 C.1, 253 bits: the last three are not compared."""
    key = bytes.fromhex("d3c5d592327fb11c4035c6680af8c6d1")
    plain = bytes.fromhex("981ba6824c1bfb1ab485472029b71d808ce33e2cc3c0b5fc1f3de8a6dc66b1f0")
    cipher = CIPHERS["nea2"](key, 0x398A59B4, 0x15, 1, plain)
    assert cipher[:31].hex() == "e9fed8a63d155304d71df20bf3e82214b20ed7dad2f233dc3c22d7bdeeed8e"
    assert cipher[31] & 0xF8 == 0x78


def test_nia2_gives_the_second_set_of_3gpp() -> None:
    key = bytes.fromhex("d3c5d592327fb11c4035c6680af8c6d1")
    assert INTEGRITY["nia2"](key, 0x398A59B4, 0x1A, 1, bytes.fromhex("484583d5afe082ae")).hex() == "b93787e6"


# Formats

EXAMPLES = {
    "C1": (CIPHERED, {"sn_bits_dl": 18}, 0, DATA, "8000002f6c3102c6"),
    "C2": (BOTH, {}, 1, DATA, "800115aaf7b7ec31637d0a"),
    "C3": (BOTH, {"role": "ue", "drb": 3, "sn_bits_ul": 18}, 7, DATA, "8000075c5b2d981a8975443e"),
    "C4": (BOTH, {"sn_bits_dl": 18, "sdap_header_dl": True}, 0, b"\x49" + DATA, "800000492f6c3102c6736e1ce7"),
    "C5": (BOTH, {}, 0x3001, DATA, "80012cbbdad66453819d2c"),
    "S1": (CLEAR, {"sn_bits_dl": 18, "sdap_header_dl": True}, 5, b"\x89" + DATA, "80000589aabbccddee"),
    "S2": (CLEAR, {"role": "ue", "sdap_header_ul": True}, 0xABC, b"\x85" + DATA, "8abc85aabbccddee"),
    "S3": (CLEAR, {"role": "ue", "sn_bits_ul": 18, "sdap_header_ul": True}, 6, b"\x05", "80000605"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_sent_and_received(name: str) -> None:
    security, config, count, sdu, pdu = EXAMPLES[name]
    sender = entity(security, **config)
    sender.set_count(count, 0, {})
    sender.send_sdu(sdu, 0)
    assert sent(sender) == [pdu]
    peer = entity(security, **config | {"role": "gnb" if config.get("role") == "ue" else "ue"})
    peer.set_count(0, count, {})
    peer.receive_pdu(bytes.fromhex(pdu), 0)
    assert peer.take_answer().delivered == [sdu]


def test_an_end_marker_stays_clear_and_its_mac_i_does_not() -> None:
    """5.8: ciphered are data and MAC-I, except SDAP header and SDAP control PDU; the keystream begins at the MAC-I."""
    ue = entity(BOTH, role="ue", sdap_header_ul=True)
    ue.send_sdu(b"\x05", 0)
    pdu = ue.take_answer().pdus[0][1]
    mac_i = INTEGRITY["nia2"](KI, 0, 0, 0, bytes.fromhex("800005"))
    assert pdu[:3].hex() == "800005" and pdu[3:] == CIPHERS["nea2"](KE, 0, 0, 0, mac_i) != mac_i


@pytest.mark.parametrize("bit", range(6 * 8))
def test_no_bit_of_a_protected_pdu_may_change(bit: int) -> None:
    """5.9: PDCP header with its R bits, SDAP header, and data are covered. The D/C bit makes another PDU of it."""
    sender, peer = entity(BOTH, sdap_header_dl=True), entity(BOTH, role="ue", sdap_header_dl=True)
    sender.send_sdu(b"\x49" + DATA, 0)
    pdu = bytearray(sender.take_answer().pdus[0][1])
    pdu[bit // 8] ^= 0x80 >> bit % 8
    peer.receive_pdu(bytes(pdu), 0)
    assert peer.take_answer().delivered == [] and peer.rx.rx_next == 0
    assert sum(peer.counters.values()) == 1


def test_r_bits_are_ignored_without_integrity_protection() -> None:
    at = entity()
    at.receive_pdu(bytes.fromhex("f000aa"), 0)
    assert at.take_answer().delivered == [b"\xaa"]


@pytest.mark.parametrize("pdu", ["", "80", "8000", "800001020304"])
def test_what_is_too_short_is_malformed(pdu: str) -> None:
    at = entity(BOTH)
    at.receive_pdu(bytes.fromhex(pdu), 0)
    assert at.counters == {"malformed": 1}


@pytest.mark.parametrize("first", range(0x10, 0x80))
def test_no_other_control_pdu_is_known(first: int) -> None:
    at = entity()
    at.receive_pdu(bytes([first, 0x20, 0x11, 0x22, 0, 0]), 0)  # P3 among them
    assert at.counters == {"unknown_control": 1}


def test_nia0_is_a_mac_i_of_zeros() -> None:
    """TS 33.501 D.1. The receiver compares it."""
    at = entity(Security("nea0", bytes(16), "nia0"))
    at.send_sdu(DATA, 0)
    assert sent(at) == ["8000aabbccddee00000000"]
    at.receive_pdu(bytes.fromhex("8000aabbccddee00000001"), 0)
    assert at.counters == {"integrity_failed": 1}


# 5.2.2.1, RCVD_COUNT

COUNTS = [
    # RX_DELIV, RCVD_SN, RCVD_COUNT; SN 12, Window_Size 2048
    (0, 0, 0),
    (0, 2047, 2047),
    (0, 2048, -2048),
    (0, 4095, -1),
    (2047, 4094, 4094),
    (2047, 4095, -1),
    (2048, 0, 0),
    (2048, 4095, 4095),
    (2049, 0, 4096),
    (2049, 1, 1),
    (4095, 2046, 4096 + 2046),
    (4095, 2047, 2047),
    (4096 + 5, 2052, 4096 + 2052),
    (4096 + 5, 2053, 2053),
    (4096 + 5, 4095, 4095),
    (5 * 4096 + 4000, 1951, 6 * 4096 + 1951),
    (5 * 4096 + 4000, 1952, 5 * 4096 + 1952),
]


@pytest.mark.parametrize("rx_deliv, sn, count", COUNTS)
def test_the_window_gives_the_hfn(rx_deliv: int, sn: int, count: int) -> None:
    at = entity()
    at.set_count(0, rx_deliv, {})
    assert at.rx.count_of(sn) == count
    at.receive_pdu(data_pdu(sn), 0)
    assert at.counters["hfn_negative"] == (count < 0)


def test_the_hfn_follows_rx_deliv_and_not_rx_next() -> None:
    at = entity()
    at.set_count(0, 2047, {})
    receive(at, 4000)
    assert at.rx.rx_next == 4001 and at.rx.count_of(1000) == 1000


@pytest.mark.parametrize("sn_bits", [12, 18])
def test_each_count_of_the_window_is_found(sn_bits: int) -> None:
    window = 1 << sn_bits - 1
    for rx_deliv in (0, 5, window - 1, window, 2 * window - 1, 2 * window, 7 * window + 3):
        at = entity(sn_bits_dl=sn_bits, sn_bits_ul=sn_bits)
        at.set_count(0, rx_deliv, {})
        for count in {0, 1, rx_deliv - window, rx_deliv - 1, rx_deliv, rx_deliv + 1, rx_deliv + window - 1}:
            if count >= 0 and rx_deliv - window <= count < rx_deliv + window:
                assert at.rx.count_of(count & 2 * window - 1) == count


def test_the_last_count_is_not_received() -> None:
    """7.1: RX_NEXT would be 2^32."""
    at = entity()
    at.set_count(0, LAST_COUNT - 1, {})
    assert receive(at, LAST_COUNT, LAST_COUNT - 1) == [0xFE]
    assert at.counters == {"count_out_of_range": 1}


# 5.2.2.1 and 5.2.2.2, order


def test_a_gap_waits_for_t_reordering() -> None:
    at = entity(t_reordering_us=100 * MS)
    assert receive(at, 0, 2) == [0]
    assert at.state() | {"rx_next": 3, "rx_deliv": 1, "rx_reord": 3, "t_reordering": 100 * MS} == at.state()
    assert receive(at, 3, 4, now=50 * MS) == []
    at.advance(100 * MS - 1)
    assert at.take_answer().delivered == []
    at.advance(100 * MS)
    assert at.take_answer().delivered == [b"\2", b"\3", b"\4"]
    assert at.state() | {"rx_deliv": 5, "rx_reord": None, "t_reordering": None, "held": 0} == at.state()


def test_t_reordering_starts_again_for_a_later_gap() -> None:
    at = entity(t_reordering_us=100 * MS)
    receive(at, 1)
    receive(at, 3, now=10 * MS)
    assert at.rx.rx_reord == 2
    at.advance(100 * MS)
    assert at.take_answer().delivered == [b"\1"]
    assert at.state() | {"rx_deliv": 2, "rx_reord": 4, "t_reordering": 200 * MS} == at.state()
    at.advance(200 * MS)
    assert at.take_answer().delivered == [b"\3"] and at.rx.rx_deliv == 4 and at.rx.rx_reord is None


def test_t_reordering_stops_when_the_gap_closes_and_starts_for_the_next() -> None:
    at = entity(t_reordering_us=100 * MS)
    assert receive(at, 1) == []
    assert receive(at, 3, now=10 * MS) == []
    assert receive(at, 0, now=20 * MS) == [0, 1]
    assert at.state() | {"rx_deliv": 2, "rx_reord": 4, "t_reordering": 120 * MS} == at.state()
    assert receive(at, 2, now=30 * MS) == [2, 3]
    assert at.rx.rx_reord is None


def test_t_reordering_goes_on_when_a_delivery_does_not_reach_rx_reord() -> None:
    at = entity(t_reordering_us=100 * MS)
    receive(at, 2)
    assert receive(at, 0, now=10 * MS) == [0]
    assert at.state() | {"rx_deliv": 1, "rx_reord": 3, "t_reordering": 100 * MS} == at.state()


def test_what_waited_is_delivered_in_the_order_of_counts() -> None:
    at = entity(t_reordering_us=100 * MS)
    receive(at, 6)
    receive(at, 4, 2)
    at.advance(100 * MS)
    assert at.take_answer().delivered == [b"\2", b"\4", b"\6"]


def test_a_late_pdu_is_too_old_and_a_second_one_a_duplicate() -> None:
    at = entity(t_reordering_us=100 * MS)
    receive(at, 2, 2)
    assert at.counters == {"duplicate": 1}
    at.advance(100 * MS)
    receive(at, 1, 2, now=100 * MS)
    assert at.counters == {"duplicate": 1, "too_old": 2}


def test_a_forged_duplicate_is_an_integrity_failure() -> None:
    """5.2.2.1 verifies before it looks for duplicates."""
    sender, at = entity(BOTH, role="ue"), entity(BOTH)
    for _ in range(2):
        sender.send_sdu(DATA, 0)
    pdu = sender.take_answer().pdus[1][1]
    at.receive_pdu(pdu, 0)
    at.receive_pdu(pdu[:-1] + bytes([pdu[-1] ^ 1]), 0)
    assert at.counters == {"integrity_failed": 1}
    assert at.take_answer().indications == [("integrity_failure", 1)]


def test_out_of_order_delivery_delivers_each_once() -> None:
    at = entity(out_of_order_delivery=True, t_reordering_us=100 * MS)
    assert receive(at, 2, 1, 2) == [2, 1]
    assert at.state() | {"rx_deliv": 0, "rx_next": 3, "rx_reord": 3, "held": 0} == at.state()
    assert receive(at, 0) == [0] and at.rx.rx_deliv == 3 and at.rx.rx_reord is None


def test_t_reordering_of_zero_waits_for_nothing() -> None:
    at = entity(t_reordering_us=0)
    assert receive(at, 5, 7, 6) == [5, 7]
    assert at.rx.rx_deliv == 8 and at.rx.rx_reord is None


def test_without_t_reordering_a_gap_waits_for_ever() -> None:
    at = entity()
    receive(at, 1)
    at.advance(10**12)
    assert at.take_answer().delivered == [] and at.state()["rx_reord"] == 2


def test_a_new_t_reordering_counts_from_now() -> None:
    """5.2.2.3: RX_REORD becomes RX_NEXT, the timer starts again."""
    at = entity(t_reordering_us=100 * MS)
    receive(at, 1)
    receive(at, 3, now=10 * MS)
    at.set_t_reordering(20 * MS, 50 * MS)
    assert at.state() | {"rx_reord": 4, "t_reordering": 70 * MS} == at.state()
    at.advance(70 * MS)
    assert at.take_answer().delivered == [b"\1", b"\3"]


# 5.4, status report


def test_reports_are_those_of_the_examples() -> None:
    at = entity(status_report_required=True)
    receive(at, *range(5))
    at.data_recovery()
    assert sent(at) == ["0000000005"]  # P1
    receive(at, 6, 8, 9)
    at.data_recovery()
    assert sent(at) == ["0000000005b0"]  # P2


def test_bit_eight_fills_an_octet_and_bit_nine_begins_one() -> None:
    at = entity(status_report_required=True)
    receive(at, 8)
    at.data_recovery()
    assert sent(at) == ["000000000001"]
    receive(at, 9)
    at.data_recovery()
    assert sent(at) == ["00000000000180"]


def test_a_report_ends_at_9000_octets() -> None:
    at = entity(sn_bits_dl=18, sn_bits_ul=18, status_report_required=True)
    for count in (1, 71_960, 71_961, 100_000):
        at.receive_pdu(data_pdu(count, DATA, 18), 0)
    report = at.rx.status_report()
    assert len(report.write()) == 9000
    assert report.confirms(71_960) and not report.confirms(71_961)


def test_a_report_confirms_what_is_below_fmc_or_has_its_bit() -> None:
    """5.4.2 and 5.3: discard, and tell lower layers."""
    at = entity()
    for _ in range(12):
        at.send_sdu(DATA, 0)
    at.receive_pdu(bytes.fromhex("0000000005b0"), 0)
    assert at.take_answer().discards == [0, 1, 2, 3, 4, 6, 8, 9]
    assert list(at.tx.stored) == [5, 7, 10, 11]


def test_the_last_bit_before_the_wrap_is_the_last_count() -> None:
    """6.3.10 counts modulo 2^32; what lies behind the wrap is below FMC, and so confirmed."""
    assert StatusReport(LAST_COUNT - 1, b"\x80").confirms(LAST_COUNT)
    assert not StatusReport(LAST_COUNT - 1, b"\x7f").confirms(LAST_COUNT)
    assert StatusReport(LAST_COUNT - 1, b"\x00").confirms(0)


@pytest.mark.parametrize("pdu", ["00", "00000000", "0000000001", "00ffffffff"])
def test_a_bad_report_confirms_nothing(pdu: str) -> None:
    """Cut, or with an FMC beyond TX_NEXT."""
    at = entity()
    at.receive_pdu(bytes.fromhex(pdu), 0)
    assert at.counters == {"bad_status_report": 1}
    assert read_status_report(bytes(9001)) is None and read_status_report(bytes(9000)) is not None


# 5.3, discard


def test_discard_timer_counts_from_arrival_and_tells_lower_layers() -> None:
    at = entity(discard_timer_us=50 * MS)
    at.send_sdu(DATA, 0)
    at.send_sdu(DATA, 10 * MS)
    at.advance(50 * MS)
    assert at.take_answer().discards == [0]
    at.confirm([1])
    at.advance(60 * MS)
    assert at.take_answer().discards == [] and at.counters == {"discarded_by_timer": 1}


# 5.5, data recovery; 5.1.2, re-establishment; 5.1.4, suspend


def test_data_recovery_sends_the_same_pdus_again_behind_a_report() -> None:
    at = entity(BOTH, status_report_required=True)
    for _ in range(4):
        at.send_sdu(DATA, 0)
    first = sent(at)
    at.confirm([0, 2])
    assert at.data_recovery() == {}
    assert sent(at) == ["0000000000", first[1], first[3]]
    assert entity(rlc="um").data_recovery() == {"refused": "not_am"}


def test_an_am_bearer_keeps_its_counts_under_new_keys() -> None:
    at = entity(BOTH, t_reordering_us=100 * MS)
    ue = entity(BOTH, role="ue")
    for number in range(4):
        at.send_sdu(bytes([number]), 0)
        ue.send_sdu(bytes([number]), 0)
    uplink = [pdu for _, pdu in ue.take_answer().pdus]
    at.receive_pdu(uplink[2], 0)
    at.take_answer()
    at.confirm([0, 2])
    assert at.reestablish(NEW_KEYS) == {}
    counts = [count for count, _ in at.answer.pdus]
    peer = entity(NEW_KEYS, role="ue")
    for _, pdu in at.take_answer().pdus:
        peer.receive_pdu(pdu, 0)
    assert counts == [1, 3] and at.tx.tx_next == 4 and peer.rx.rx_next == 4
    assert at.state() | {"rx_deliv": 0, "rx_next": 3, "rx_reord": 3, "t_reordering": 100 * MS, "held": 1} == at.state()
    at.receive_pdu(uplink[3], 0)
    assert at.counters == {"integrity_failed": 1}, "the old key is gone"


def test_a_um_bearer_begins_anew() -> None:
    at = entity(BOTH, rlc="um", t_reordering_us=100 * MS, status_report_required=True)
    ue = entity(BOTH, role="ue", rlc="um")
    for number in range(4):
        at.send_sdu(bytes([number]), 0)
        ue.send_sdu(bytes([number]), 0)
    uplink = [pdu for _, pdu in ue.take_answer().pdus]
    at.receive_pdu(uplink[3], 0)
    at.receive_pdu(uplink[1], 0)
    at.take_answer()
    assert at.reestablish(NEW_KEYS) == {}
    answer = at.take_answer()
    assert answer.delivered == [b"\1", b"\3"] and answer.pdus == []
    zero = {"tx_next": 0, "rx_next": 0, "rx_deliv": 0, "rx_reord": None, "held": 0}
    assert at.state() | zero == at.state()


@pytest.mark.parametrize("rlc", ["am", "um"])
def test_suspend_delivers_and_a_resumed_bearer_begins_at_zero(rlc: str) -> None:
    """5.1.4; then 5.1.2: SDUs of an AM bearer are sent as if they had just arrived, and those of the pause follow."""
    at = entity(BOTH, rlc=rlc, discard_timer_us=50 * MS)
    ue = entity(BOTH, role="ue")
    for number in range(4):
        at.send_sdu(bytes([number]), 0)
        ue.send_sdu(bytes([number]), 0)
    at.receive_pdu(ue.take_answer().pdus[2][1], 0)
    at.confirm([0, 2])
    at.take_answer()
    assert at.suspend() == {}
    at.send_sdu(b"\x09", 10 * MS)
    assert at.suspend() == at.reestablish(BOTH) | {"refused": "suspended"} == {"refused": "suspended"}
    answer = at.take_answer()
    assert answer.delivered == [b"\2"] and answer.pdus == [] and at.tx.tx_next == at.rx.rx_next == 0
    assert at.reestablish(NEW_KEYS) == {}
    resent = [b"\1", b"\3", b"\x09"] if rlc == "am" else [b"\x09"]
    peer = entity(NEW_KEYS, role="ue")
    for _, pdu in at.take_answer().pdus:
        peer.receive_pdu(pdu, 0)
    assert peer.take_answer().delivered == resent
    at.advance(50 * MS)
    assert at.take_answer().discards == ([0, 1] if rlc == "am" else []), "the old discardTimer goes on"
    at.advance(60 * MS)
    assert len(at.take_answer().discards) == 1


def test_a_report_goes_before_the_data_of_a_re_establishment() -> None:
    """5.4.1: as the first PDCP PDU."""
    at = entity(status_report_required=True)
    at.send_sdu(DATA, 0)
    at.reestablish(CLEAR)
    assert [count for count, _ in at.take_answer().pdus] == [0, None, 0]


def test_a_suspended_entity_drops_what_arrives() -> None:
    at = entity()
    at.suspend()
    assert receive(at, 0) == [] and at.counters == {"suspended": 1}


# One COUNT, one key (TS 38.331 5.3.1.2)

ONE_KEY_NEW = [Security("nea2", KE, "nia2", KE), Security("nea2", KI, "nia2", KI)]


@pytest.mark.parametrize("old", [BOTH, *ONE_KEY_NEW])
def test_counts_never_begin_anew_under_an_old_key(old: Security) -> None:
    at = entity(BOTH, rlc="um")
    at.send_sdu(DATA, 0)
    before = at.state()
    assert at.reestablish(old) == {"refused": "key_reused"} and at.state() == before


def test_an_am_bearer_may_keep_all_keys_and_then_repeats_its_pdus() -> None:
    at = entity(BOTH)
    at.send_sdu(DATA, 0)
    first = sent(at)
    assert at.reestablish(BOTH) == {} and sent(at) == first
    assert [at.reestablish(mixed)["refused"] for mixed in ONE_KEY_NEW] == ["key_reused"] * 2


def test_without_security_counts_may_begin_anew() -> None:
    at = entity(Security("nea0", KE, "nia0", KI), rlc="um")
    assert at.reestablish(Security("nea0", KE, "nia0", KI)) == {}


def test_a_key_is_asked_for_once_and_counts_end() -> None:
    at = entity(count_threshold=LAST_COUNT - 3)
    at.set_count(LAST_COUNT - 5, LAST_COUNT - 5, {})
    indications = []
    for _ in range(7):
        at.send_sdu(DATA, 0)
        indications.append(at.take_answer().indications)
    assert indications == [[], [("key_needed", "tx")], [], [], [], [], []]
    assert at.tx.tx_next == LAST_COUNT and at.counters == {"count_exhausted": 2}
    receive_from = LAST_COUNT - 5
    at.receive_pdu(data_pdu(receive_from), 0)
    at.receive_pdu(data_pdu(receive_from + 1), 0)
    at.receive_pdu(data_pdu(receive_from + 2), 0)
    assert at.take_answer().indications == [("key_needed", "rx")]


def test_the_window_of_an_am_bearer_fills_up() -> None:
    """5.2.1 NOTE: half of the SN space may be in flight, no more."""
    at = entity()
    for _ in range(2049):
        at.send_sdu(DATA, 0)
    assert at.tx.tx_next == 2048 and at.counters == {"window_full": 1}
    at.confirm([5])
    at.send_sdu(DATA, 0)
    assert at.counters == {"window_full": 2}
    at.confirm([0])
    at.send_sdu(DATA, 0)
    assert at.tx.tx_next == 2049


def test_what_was_discarded_is_in_flight_until_a_later_sdu_arrives() -> None:
    """5.2.1 NOTE: discarded SDUs are a cause of HFN desynchronization."""
    at = entity(discard_timer_us=10 * MS)
    for now in range(2500):
        at.advance(now * MS)
        at.send_sdu(DATA, now * MS)
    assert at.tx.tx_next == 2048 and list(at.tx.stored) == [2047], "the last one stays"
    assert at.take_answer().discards == list(range(2047))
    at.confirm([1000])  # RLC had sent it before its discard
    at.advance(3000 * MS)
    assert at.take_answer().discards == [2047], "the window is open"
    at.send_sdu(DATA, 3000 * MS)
    assert at.tx.tx_next == 2049
    at.receive_pdu(StatusReport(2049, b"").write(), 3000 * MS)
    assert at.tx.settled == 2049


def test_rrc_is_told_once_until_count_begins_anew() -> None:
    at = entity(BOTH, count_threshold=2)
    for key in range(3):
        at.send_sdu(DATA, 0)
        at.reestablish(Security("nea2", bytes([key] * 16), "nia2", bytes([key + 50] * 16)))
    assert at.take_answer().indications == [("key_needed", "tx")]
    at.suspend()
    at.reestablish(Security("nea2", bytes([9] * 16), "nia2", bytes([59] * 16)))
    assert at.take_answer().indications == [("key_needed", "tx")], "three stored SDUs have new numbers"


def test_sdu_sizes_have_limits() -> None:
    at = entity()
    for size in (0, 1, 9000, 9001):
        at.send_sdu(bytes(size), 0)
    assert at.tx.tx_next == 2 and at.counters == {"sdu_empty": 1, "sdu_too_large": 1}
    at.receive_pdu(data_pdu(0, bytes(9001)), 0)
    at.receive_pdu(data_pdu(0, bytes(9000)), 0)
    assert at.counters["malformed"] == 1 and at.rx.rx_deliv == 1


# RRC and Xn


def test_counter_check_tells_the_last_counts() -> None:
    """TS 38.331 5.3.6.3"""
    at = entity()
    assert at.counter_check() == {"uplink": 0, "downlink": 0, "uplink_msb": 0, "downlink_msb": 0}
    at.set_count(300, 1000, {})
    assert at.counter_check() == {"uplink": 999, "downlink": 299, "uplink_msb": 7, "downlink_msb": 2}
    ue = entity(role="ue")
    ue.set_count(1000, 300, {})
    assert ue.counter_check() == at.counter_check()


def test_a_target_goes_on_where_the_source_was() -> None:
    """TS 38.423 9.1.1.4, with the SDUs that the source got out of sequence."""
    source, ue = entity(BOTH), entity(BOTH, role="ue", status_report_required=True)
    for number in range(6):
        ue.send_sdu(bytes([number]), 0)
        source.send_sdu(DATA, 0)
    uplink = [pdu for _, pdu in ue.take_answer().pdus]
    for number in (0, 1, 3, 5):
        source.receive_pdu(uplink[number], 0)
    assert source.get_count() == {"tx_next": 6, "rx_deliv": 2, "bitmap": "a0"}
    target = entity(NEW_KEYS)
    forwarded = {3: b"\3", 5: b"\5"}
    assert target.set_count(6, 2, forwarded) == {}
    assert target.rx.rx_next == 6 and target.rx.rx_reord is None
    ue.receive_pdu(target.rx.status_report().write(), 0)
    ue.reestablish(NEW_KEYS)
    for count, pdu in ue.take_answer().pdus:
        if count is not None:
            target.receive_pdu(pdu, 0)
    assert target.take_answer().delivered == [b"\2", b"\3", b"\4", b"\5"]
    target.send_sdu(DATA, 0)
    assert target.take_answer().pdus[0][0] == 6


def test_set_count_only_moves_forward_and_only_an_empty_entity() -> None:
    at = entity()
    assert at.set_count(5, 5, {5: b"x"}) == {"refused": "out_of_range"}
    assert at.set_count(5, 5, {5 + 2048: b"x"}) == {"refused": "out_of_range"}
    assert at.set_count(5, 5, {}) == {}
    assert at.set_count(4, 5, {}) == at.set_count(5, 4, {}) == {"refused": "count_goes_back"}
    at.send_sdu(DATA, 0)
    assert at.set_count(6, 6, {}) == {"refused": "not_empty"}


def test_release_delivers_what_is_held() -> None:
    """5.1.3"""
    at = entity()
    receive(at, 3, 1)
    at.release()
    assert at.take_answer().delivered == [b"\1", b"\3"]
