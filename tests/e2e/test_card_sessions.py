"""A session with three bearers behind a card: the default one and one with two flows on the card, one at the host. Each
QoS flow takes its bearer, and the packets that the card gives to the host keep their place in it."""

from __future__ import annotations

import json
import time

import configs
import gtpu
import pytest
from air_views import AirPdu
from card_wires import (
    SERVER,
    CardWires,
    assert_numbered,
    by_bearer,
    gpdu_in,
    number_of,
    sdu,
    to_gnb,
    uplink,
)
from namespaces import N3Link
from paths import own, splitplane
from processes import Failure, run, wait_until

LINK = N3Link()
UE = "10.45.0.2"
UL_TEID, SHARD = 0x3001, 5
DEFAULT, FLOWS, HOST = (configs.identity(SHARD, place) for place in range(3))
SESSION = {
    "upf": LINK.upf_ipv4,
    "ul_teid": UL_TEID,
    "shard": SHARD,
    "default_drb": 1,
    "ue_ipv4": UE,
    "bearers": [
        {"drb": 1, "card": "card0"},
        {"drb": 2, "card": "card0", "flows": [5, 6], "rlc": "am12", "pdcp_sn": 12},
        {"drb": 3, "flows": [7]},
    ],
}
BEARER_OF = {9: DEFAULT, 0: DEFAULT, 5: FLOWS, 6: FLOWS, 7: HOST}
ON_CARD = (DEFAULT, FLOWS)

# Extension headers in front of a T-PDU, by name: type of the first one, and the octets of all (TS 29.281 5.2).
UDP_PORT, PDCP_NUMBER, UNKNOWN = 0x40, 0xC0, 0xFE  # the last one must be understood


def psc(qfi: int, following: int = 0) -> bytes:
    """A PDU Session Container of 4 octets (TS 38.415 5.5.2.1)."""
    return bytes([1, 0, qfi, following])


def monitored(qfi: int) -> bytes:
    """One with QMP and the time stamp of QoS monitoring."""
    return bytes([3, 0x08, qfi]) + bytes(8) + b"\0"


HEADERS = {
    "plain": lambda qfi: (0x85, psc(qfi)),
    "second header": lambda qfi: (0x85, psc(qfi, UDP_PORT) + b"\1\x08\x68\0"),
    "QMP": lambda qfi: (0x85, monitored(qfi)),
    "header before the PSC": lambda qfi: (PDCP_NUMBER, bytes([1, 0, 1, 0x85]) + psc(qfi)),
    "unknown header": lambda qfi: (0x85, psc(qfi, UNKNOWN) + b"\1\0\0\0"),
}


def gpdu(number: int, qfi: int, kind: str = "plain", teid: int = DEFAULT) -> bytes:
    first, headers = HEADERS[kind](qfi)
    body = bytes([0, 0, 0, first]) + headers + sdu(number, UE)
    return to_gnb(b"\x34\xff" + len(body).to_bytes(2, "big") + teid.to_bytes(4, "big") + body)


class SessionWires(CardWires):
    def ctl(self, *words: object, code: int = 0) -> dict:
        command = [splitplane(), "ctl", "--config", self.gnb.config, "--json", "session", *words]
        done = run(command, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if code == 0 else {"error": done.stderr.strip()}

    def __enter__(self) -> SessionWires:
        super().__enter__()
        if self.tree["sessions"] and sorted(self.numbers()) != [DEFAULT, FLOWS, HOST]:
            self.__exit__()
            pytest.fail("the host has not installed the bearers of its session on the card")
        return self


def bed(name: str, sessions: list[dict]) -> SessionWires:
    tree = configs.behind_a_card(name, []) | {"sessions": sessions}
    return SessionWires(name, tree, {"card0": configs.nic(name)})


def inner_numbers(pdus: list[AirPdu]) -> list[int]:
    return [number_of(pdu.inner()) for pdu in pdus]


def qfi_of(pdu: AirPdu) -> int:
    """Of the SDAP header in front of the SDU."""
    return pdu.pdu[pdu.rlc_header_bytes() + (2 if pdu.pdcp_sn_bits == 12 else 3)] & 0x3F


def test_each_flow_of_the_session_takes_its_bearer_and_the_card_serves_its_own():
    qfis = [9, 5, 7, 0, 6, 5, 9, 7] * 25
    with bed("cses", [SESSION]) as made:
        made.n3[0].send(*(gpdu(number, qfi) for number, qfi in enumerate(qfis)))
        pdus = made.on_air(len(qfis))
        assert not made.quiet_on_air()
        found = by_bearer(pdus)
        assert sorted(found) == [DEFAULT, FLOWS, HOST]
        for bearer, some in found.items():
            assert_numbered(some)
            sent = [(number, qfi) for number, qfi in enumerate(qfis) if BEARER_OF[qfi] == bearer]
            assert [(number_of(pdu.inner()), qfi_of(pdu)) for pdu in some] == sent
        assert {pdu.pdcp_sn_bits for pdu in found[FLOWS]} == {12}
        assert {pdu.pdcp_sn_bits for pdu in found[DEFAULT]} == {18}
        numbers = made.numbers()
        assert [numbers[b]["dl_packets"] for b in ON_CARD] == [len(found[b]) for b in ON_CARD]
        sizes = {bearer: len(some) for bearer, some in found.items()}
        wait_until(
            "the host to show them", lambda: {b: made.show(b)["downlink"]["transmitted"] for b in sizes} == sizes
        )
        shown = {bearer: made.show(bearer)["downlink"] for bearer in found}
        for bearer, some in found.items():
            counted = shown[bearer]
            assert (counted["received"], counted["transmitted"]) == (len(some), len(some))
            assert counted["bytes"] == sum(len(pdu.inner()) for pdu in some)
        assert made.drops() == {} and made.punts() == {}
        # Neither names a flow: the default bearer of the session.
        plain = gtpu.message(255, DEFAULT, sdu(1000, UE))
        made.n3[0].send(to_gnb(plain), to_gnb(gtpu.message(255, DEFAULT, sdu(1001, UE), sequence=7)))
        last = made.on_air(2)
        assert [(pdu.bearer, number_of(pdu.inner())) for pdu in last] == [(DEFAULT, 1000), (DEFAULT, 1001)]
        assert_numbered(last, len(found[DEFAULT]))
        made.finish()


def mixed(kinds: tuple[str, ...], qfis: tuple[int, ...], count: int) -> list[tuple[int, str]]:
    """QFI and kind of `count` packets; each kind comes among each flow."""
    return [(qfis[n % len(qfis)], kinds[n // len(qfis) % len(kinds)]) for n in range(count)]


def assert_order(made: CardWires, packets: list[tuple[int, str]], dropped: str = ""):
    """Sends them in pieces, as a UPF that has gaps, and expects each bearer's in order with its own numbers."""
    starts = {bearer: row["pdcp_tx_next"] for bearer, row in made.bearers().items()}
    # A host whose card does not answer in time shows what it heard before.
    starts |= {bearer: row["pdcp_next"] for bearer, row in made.numbers().items() if bearer in ON_CARD}
    for begin in range(0, len(packets), 20):
        made.n3[0].send(*(gpdu(begin + n, *one) for n, one in enumerate(packets[begin : begin + 20])))
        time.sleep(0.01)
    kept = [(number, qfi) for number, (qfi, kind) in enumerate(packets) if kind != dropped]
    found = by_bearer(made.on_air(len(kept)))
    assert not made.quiet_on_air()
    for bearer, pdus in found.items():
        assert_numbered(pdus, starts[bearer])
        sent = [number for number, qfi in kept if BEARER_OF[qfi] == bearer]
        assert inner_numbers(pdus) == sent, f"{bearer:#x} out of order"


@pytest.mark.parametrize("kind", ["second header", "QMP"])
def test_what_the_card_gives_to_the_host_keeps_its_place_in_its_bearer(kind):
    with bed(f"cso{len(kind)}", [SESSION]) as made:
        packets = mixed(("plain", kind, "plain"), (9, 5, 7, 6), 240)
        assert_order(made, packets)
        made.nothing_in_flight()
        returned = {bearer: made.show(bearer)["on_card"]["returned"] for bearer in ON_CARD}
        odd = [BEARER_OF[qfi] for qfi, one in packets if one == kind]
        assert all(returned[bearer] >= odd.count(bearer) > 0 for bearer in ON_CARD)
        stats = made.gnb.control.stats()["workers"]
        assert not any(worker.get("card_resettled") for worker in stats)
        assert made.drops() == {}
        punts = made.punts()
        reason = "extension_chain"
        assert punts.pop(reason) == sum(odd.count(bearer) for bearer in ON_CARD)
        assert set(punts) <= {"diverted"}
        made.finish()


def test_a_header_before_the_container_hides_the_flow_from_the_card_alone():
    """The card counts such a packet for the default bearer, and the host repairs that count (docs/design/cards.md)."""
    with bed("cshid", [SESSION]) as made:
        packets = mixed(("plain", "header before the PSC", "plain"), (9, 5, 7, 6), 240)
        made.n3[0].send(*(gpdu(number, *one) for number, one in enumerate(packets)))
        found = by_bearer(made.on_air(len(packets)))
        assert not made.quiet_on_air()
        for bearer, pdus in found.items():
            assert_numbered(pdus)
            sent = [number for number, (qfi, _) in enumerate(packets) if BEARER_OF[qfi] == bearer]
            assert sorted(inner_numbers(pdus)) == sent
            assert bearer != DEFAULT or inner_numbers(pdus) == sent, "its own packets keep their order"
        made.nothing_in_flight()
        assert made.drops() == {}
        assert made.gnb.control.stats()["workers"][0]["card_resettled"] >= 1
        assert_order(made, mixed(("plain",), (9, 5, 7, 6), 40))
        made.finish(card_drops=("settled",))


def test_what_the_host_drops_is_settled_for_the_bearer_of_its_flow():
    """An extension header that must be understood, and is not: the host drops the packet and tells the UPF."""
    with bed("csdrop", [SESSION]) as made:
        packets = mixed(("plain", "unknown header", "plain", "second header"), (9, 5, 7, 6), 240)
        assert_order(made, packets, dropped="unknown header")
        made.nothing_in_flight()
        dropped = [BEARER_OF[qfi] for qfi, kind in packets if kind == "unknown header"]
        (reason,) = made.drops()
        assert made.drops()[reason] == len(dropped), reason
        worker = made.gnb.control.stats()["workers"][0]
        assert worker["settled"] == sum(dropped.count(bearer) for bearer in ON_CARD)
        assert not worker.get("card_resettled")
        made.finish(card_drops=("settled",))


def test_uplink_of_all_bearers_arrives_with_the_flow_and_the_tunnel_of_the_session():
    with bed("csup", [SESSION]) as made:
        bearers, sent = made.bearers(), []
        for number in range(30):
            for bearer, qfi in ((DEFAULT, 9), (FLOWS, 5), (FLOWS, 6), (HOST, 7)):
                sn = 2 * number + (qfi == 6) if bearer == FLOWS else number
                made.air[0].send(uplink(bearers[bearer], sn, sdu(number, SERVER, UE), qfi))
                sent.append((qfi, number))
        frames = made.on_n3(len(sent))
        messages = [gpdu_in(frame) for frame in frames]
        assert {message["teid"] for message in messages} == {UL_TEID}
        assert {message["psc"][0] for message in messages} == {0x10}, "UL PDU SESSION INFORMATION"
        for qfi in (9, 5, 6, 7):
            of_flow = [number_of(m["payload"]) for m in messages if m["psc"][1] & 0x3F == qfi]
            assert of_flow == [number for flow, number in sent if flow == qfi]
        shown = {bearer: made.show(bearer)["uplink"] for bearer in bearers}
        assert [shown[b]["transmitted"] for b in (DEFAULT, FLOWS, HOST)] == [30, 60, 30]
        assert {b: row["bytes"] for b, row in shown.items()} == {DEFAULT: 30 * 52, FLOWS: 60 * 52, HOST: 30 * 52}
        assert all(row["ul_packets"] == 0 for row in made.numbers().values()), "the host keeps the order of flows"
        assert made.drops() == {}
        made.finish()


def test_an_uplink_flow_that_the_ue_moves_keeps_its_order_across_the_card():
    """What the new bearer brings waits for the end marker on the old one (TS 37.324 5.3.1)."""
    with bed("csmove", [SESSION]) as made:
        bearers = made.bearers()
        old, new = bearers[FLOWS], bearers[DEFAULT]
        made.air[0].send(*(uplink(old, n, sdu(n, SERVER, UE), 5) for n in range(3)))
        assert [number_of(gpdu_in(frame)["payload"]) for frame in made.on_n3(3)] == [0, 1, 2]
        made.air[0].send(*(uplink(new, n, sdu(6 + n, SERVER, UE), 5) for n in range(3)))
        time.sleep(0.1)
        made.air[0].send(*(uplink(old, n, sdu(n, SERVER, UE), 5) for n in range(3, 6)), end_marker(old, 6, 5))
        assert [number_of(gpdu_in(frame)["payload"]) for frame in made.on_n3(6)] == [3, 4, 5, 6, 7, 8]
        wait_until("the end marker", lambda: made.drops() == {"sdap_end_marker": 1})
        made.finish()


def end_marker(bearer: dict, sn: int, qfi: int) -> bytes:
    """An SDAP control PDU: the uplink frame without an SDU, and D/C 0 (TS 37.324 6.2.2.3)."""
    frame = bytearray(uplink(bearer, sn, b"", qfi))
    frame[-1] = qfi
    return bytes(frame)


def test_a_session_comes_and_goes_while_the_card_serves():
    with bed("csctl", []) as made:
        words = ["add", "--upf", LINK.upf_ipv4, "--ul-teid", UL_TEID, "--shard", SHARD, "--default-drb", 1]
        words += ["--ue-ipv4", UE]
        for bearer in SESSION["bearers"]:
            words += ["--bearer", json.dumps(bearer)]
        made.ctl(*words)
        assert sorted(made.numbers()) == [DEFAULT, FLOWS, HOST]
        assert_order(made, mixed(("plain", "second header"), (9, 5, 7, 6), 80))
        assert [row["dl_packets"] for row in made.numbers().values()] == [20, 40, 0]
        refused = made.ctl("flow", hex(DEFAULT), "--qfi", 5, "--drb", 1, code=2)["error"]
        assert "drb 1 is on card card0, where flows do not move; allowed: session.release, then session.add" in refused
        with pytest.raises(Failure, match="where flows do not move"):
            made.gnb.control.call("session.flow", id=DEFAULT, qfi=7, drb=1)
        assert made.ctl("show", DEFAULT)["bearers"][1]["flows"] == [5, 6]
        assert_order(made, mixed(("plain",), (9, 5, 7, 6), 40))
        made.nothing_in_flight()
        assert made.ctl("release", DEFAULT)["existed"]
        wait_until("the card to have none of it", lambda: made.numbers() == {})
        made.n3[0].send(gpdu(0, 5), gpdu(1, 9))
        assert not made.quiet_on_air(0.2)
        made.ctl(*words)  # it gets other identities, and so another TEID
        assert len(made.numbers()) == 3 and DEFAULT not in made.numbers()
        made.finish()


CARD = {"card": "card0"}
REFUSED = {
    "reflective": (
        [{"drb": 1, **CARD}, {"drb": 2, **CARD, "flows": [5], "reflective": True}],
        "drb 2: reflective, and card card0 writes no RDI; allowed: one of the two",
    ),
    "default": (
        [{"drb": 2, "flows": [5]}, {"drb": 1, **CARD}],
        "drb 1: card card0, but a card takes the first bearer for flows without a rule; allowed: default_drb 2",
    ),
    "other default": (
        [{"drb": 2, "flows": [5], **CARD}, {"drb": 1}],
        "drb 2: card card0, but a card takes the first bearer for flows without a rule; allowed: default_drb 2",
    ),
    "mode": ([{"drb": 1, **CARD}, {"drb": 2, **CARD, "rlc": "um12"}], "which a card does not serve"),
    "no such card": ([{"drb": 1, **CARD}, {"drb": 2, "card": "card7"}], "there is no card 'card7'; allowed: card0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_check_refuses_a_session_that_a_card_cannot_serve(case):
    bearers, says = REFUSED[case]
    folder = own("e2e") / "csrefused"
    folder.mkdir(parents=True, exist_ok=True)
    tree = configs.behind_a_card("csref", []) | {"sessions": [SESSION | {"bearers": bearers}]}
    done = run([splitplane(), "check", configs.write(folder, case.split()[0], tree), "--file-only"], check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr and "sessions[0]" in done.stderr


def test_the_control_socket_refuses_the_same():
    with bed("csbad", [SESSION]) as made:
        for case, (bearers, says) in REFUSED.items():
            with pytest.raises(Failure) as refused:
                made.gnb.control.call("session.add", upf=LINK.upf_ipv4, ul_teid=9, default_drb=1, bearers=bearers)
            assert (says if case != "no such card" else "this host has no card 'card7'") in str(refused.value), case
        assert sorted(made.bearers()) == [DEFAULT, FLOWS, HOST]
        made.n3[0].send(gpdu(0, 5), gpdu(1, 9), gpdu(2, 7))
        assert sorted(pdu.bearer for pdu in made.on_air(3)) == [DEFAULT, FLOWS, HOST]
        made.finish()
