"""What PDCP promises, whatever happens: nothing forged, no COUNT twice under one key, in order, in time."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdcp import ciphers
from pdcp.model import Config, PdcpEntity, Security
from pdcp.pdu import LAST_COUNT
from pdcp.scenarios import PEER, PdcpScenario
from pdcp.steps import ModelHost

QUICK = settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
KEYS = [Security("nea2", bytes([number]) * 16, "nia2", bytes([number + 128]) * 16) for number in range(100)]
STARTS = st.sampled_from([0, 0, 4090, 3 * 4096 - 5, 2043, (1 << 31) - 3, LAST_COUNT - 30])
T_REORDERING_US = 1000
# Which PDU arrives next (modulo what there is), what happens to it, and how much time passes before.
ARRIVALS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["", "", "", "twice", "bit", "cut", "longer"]), st.integers(0, 700)),
    max_size=60,
)


def pair(start: int, **config: object) -> tuple[PdcpEntity, PdcpEntity]:
    values: dict = {"sn_bits_ul": 12, "sn_bits_dl": 12, "t_reordering_us": T_REORDERING_US} | config
    gnb, ue = (PdcpEntity(Config(role=role, **values), KEYS[0]) for role in ("gnb", "ue"))
    gnb.set_count(start, 0, {})
    ue.set_count(0, start, {})
    return gnb, ue


def forged(pdu: bytes, kind: str, at: int) -> bytes:
    if kind == "bit":
        changed = bytearray(pdu)
        changed[at % len(pdu)] ^= 1 << at % 8
        return bytes(changed)
    return pdu[: at % len(pdu)] if kind == "cut" else pdu + bytes([at % 256])


def moments_to(ue: PdcpEntity, later: int) -> Iterator[int]:
    """Each moment on the way at which t-Reordering runs out."""
    while ue.rx.deadline is not None and ue.rx.deadline <= later:
        moment = ue.rx.deadline
        ue.advance(moment)
        yield moment
    ue.advance(later)
    yield later


@QUICK
@given(start=STARTS, arrivals=ARRIVALS, out_of_order=st.booleans())
def test_what_is_delivered_was_sent_once_in_order_and_in_time(
    start: int, arrivals: list[tuple[int, str, int]], out_of_order: bool
) -> None:
    """In time: an SDU waits for the t-Reordering that runs, and for one more that starts with it at the latest."""
    gnb, ue = pair(start, out_of_order_delivery=out_of_order)
    for number in range(40):
        gnb.send_sdu(bytes([number]) * 3, 0)
    air = [pdu for _, pdu in gnb.take_answer().pdus]
    sdu_of = {pdu: bytes([number]) * 3 for number, pdu in enumerate(air)}
    now = 0
    arrived: dict[bytes, int] = {}
    delivered: list[bytes] = []

    def look(moment: int) -> None:
        for sdu in ue.take_answer().delivered:
            delivered.append(sdu)
            assert moment - arrived[sdu] <= (0 if out_of_order else 2 * T_REORDERING_US)

    for choice, fate, wait in arrivals:
        for moment in moments_to(ue, now + wait):
            look(moment)
        now += wait
        pdu = air[choice] if len(air) > choice else air[-1]
        if fate in ("bit", "cut", "longer"):
            before = (ue.rx.rx_next, ue.rx.rx_deliv, dict(ue.rx.held))
            ue.receive_pdu(forged(pdu, fate, choice + wait), now)
            assert (ue.rx.rx_next, ue.rx.rx_deliv, ue.rx.held) == before
            look(now)
            continue
        for _ in range(2 if fate == "twice" else 1):
            arrived.setdefault(sdu_of[pdu], now)
            ue.receive_pdu(pdu, now)
            look(now)
    for moment in moments_to(ue, now + 3 * T_REORDERING_US):
        look(moment)
    assert len(set(delivered)) == len(delivered) and set(delivered) <= set(sdu_of.values())
    assert out_of_order or delivered == sorted(delivered)
    assert ue.rx.rx_reord is None and not ue.rx.held, "nothing waits when all timers have run out"
    if not ue.counters["too_old"]:
        assert set(delivered) == set(arrived)


@QUICK
@given(start=STARTS, order=st.permutations(range(30)), lost=st.sets(st.integers(0, 29)))
def test_without_t_reordering_all_is_delivered_up_to_the_first_loss(
    start: int, order: list[int], lost: set[int]
) -> None:
    gnb, ue = pair(start, t_reordering_us=None)
    for number in range(30):
        gnb.send_sdu(bytes([number]), 0)
    air = [pdu for _, pdu in gnb.take_answer().pdus]
    for number in order:
        if number not in lost and number < len(air):
            ue.receive_pdu(air[number], 0)
    reach = min([*lost, len(air)])
    assert ue.take_answer().delivered == [bytes([number]) for number in range(reach)]


OPERATIONS = st.lists(
    st.sampled_from(
        ["send"] * 6 + ["confirm", "same", "fresh", "half", "suspend", "recover", "time", "report", "count"]
    ),
    max_size=80,
)


@QUICK
@given(rlc=st.sampled_from(["am", "um"]), start=STARTS, operations=OPERATIONS)
def test_no_count_protects_two_messages_under_one_key(rlc: str, start: int, operations: list[str]) -> None:
    """Each (algorithm, key, COUNT) sees one message; a retransmission may repeat it."""
    seen: dict[tuple, bytes] = {}

    def watched(name: str, algorithm: ciphers.Algorithm) -> ciphers.Algorithm:
        def watch(key: bytes, count: int, bearer: int, direction: int, octets: bytes) -> bytes:
            assert seen.setdefault((name, key, count, bearer, direction), octets) == octets
            return algorithm(key, count, bearer, direction, octets)

        return watch

    fresh = iter(KEYS[1:])
    with (
        patch.dict(ciphers.CIPHERS, nea2=watched("nea2", ciphers.nea2)),
        patch.dict(ciphers.INTEGRITY, nia2=watched("nia2", ciphers.nia2)),
    ):
        gnb, _ = pair(start, rlc=rlc, discard_timer_us=5000, status_report_required=True)
        for number, operation in enumerate(operations):
            security = gnb.tx.security
            if operation == "send":
                gnb.send_sdu(number.to_bytes(2, "big"), number)
            elif operation == "confirm":
                gnb.confirm(list(gnb.tx.stored)[::2])
            elif operation == "same":
                gnb.reestablish(security)
            elif operation == "half":
                gnb.reestablish(Security("nea2", security.cipher_key, "nia2", next(fresh).integrity_key))
            elif operation == "fresh":
                gnb.reestablish(next(fresh))
            elif operation == "suspend":
                gnb.suspend()
            elif operation == "recover":
                gnb.data_recovery()
            elif operation == "report":
                gnb.receive_pdu(b"\0" + max(0, gnb.tx.tx_next - 2).to_bytes(4, "big"), number)
            elif operation == "count":
                gnb.set_count(max(0, gnb.tx.tx_next - 3), gnb.rx.rx_deliv, {})
            else:
                gnb.advance(number)
            assert all(count is None or count < LAST_COUNT for count, _ in gnb.take_answer().pdus)


@QUICK
@given(seed=st.integers(0, 10_000))
def test_scenarios_keep_the_order_of_the_state_variables(seed: int) -> None:
    """7.1: RX_DELIV <= RX_REORD <= RX_NEXT < 2^32, and t-Reordering runs exactly while something is missing."""
    host = ModelHost()

    def run(step: dict) -> dict:
        reply = host.run(step)
        state = reply["state"]
        reord = state["rx_reord"]
        assert 0 <= state["rx_deliv"] <= state["rx_next"] <= LAST_COUNT and state["tx_next"] <= LAST_COUNT
        if reord is not None:
            assert state["rx_deliv"] < reord <= state["rx_next"]
        elif step["op"] not in ("set_count", "advance"):
            held = host.entities[step["entity"]].rx.held if step["op"] != "release" else {}
            assert state["rx_deliv"] == state["rx_next"] or held, "set_count may leave a gap that no timer watches"
        return reply

    scenario = PdcpScenario(run, seed)
    scenario.play(120)
    assert set(scenario.state) == set(PEER)
