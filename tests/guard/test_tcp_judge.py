"""The judge passes what a right guard does, and finds each of the ways in which one may be wrong."""

from __future__ import annotations

import pytest
from segments import ACK, CWR, ECE, FIN, RST, SYN, option_octets
from tcp_judge import judge
from tcp_model import (
    CLIENT,
    CLIENT_ISN,
    COOKIE,
    SERVER,
    SERVER_ISN,
    TS_DELTA,
    authorized,
    proxied,
    stamps,
)

SERVERS = {SERVER}
FIRST = {"mss": 1460, "scale": 7, "sack": True}


def test_a_right_proxy_is_passed_and_all_of_it_is_seen():
    verdict = judge(*proxied().segments(), SERVERS)
    assert not verdict.wrong, verdict
    assert verdict.seen["challenges by sequence"] == verdict.seen["connections opened"] == 1
    assert verdict.seen["windows opened"] == verdict.seen["handshakes completed"] == 1
    assert verdict.seen["translated to the server"] == 2 and verdict.seen["translated to the client"] == 1
    assert (verdict.seen["octets of clients"], verdict.seen["octets of servers"]) == (3, 5)


def test_a_right_authorization_is_passed():
    verdict = judge(*authorized().segments(), SERVERS, armed_auth=True)
    assert not verdict.wrong, verdict
    assert verdict.seen["challenges by acknowledgment"] == 1
    assert verdict.seen["passed to the server"] == verdict.seen["passed to the client"] == 1


WRONG = {
    "a wrong checksum of TCP": {"answered": {"bad_checksum": True}},
    "a SYN-ACK longer than its SYN": {"syn": {"options": b""}},
    "a SYN-ACK with payload": {"challenge": {"payload": b"x"}},
    "the SYN did not ask for ECN": {"challenge": {"flags": SYN | ACK | ECE}},
    "opens the window before": {"challenge": {"window": 100}},
    "TSecr is not the TSval": {
        "challenge": {"options": option_octets(**FIRST, stamps=(5000 + TS_DELTA, 99))},
    },
    "a window scale, the SYN had none": {
        "syn": {"options": option_octets(mss=1460, sack=True, stamps=(100, 0)) + b"\1\1\1\1"}
    },
    "SACK-permitted, the SYN had none": {
        "syn": {"options": option_octets(mss=1460, scale=7, stamps=(100, 0)) + b"\1\1\1\1"}
    },
    "without an ACK that returned the cookie": {"proof": {"acknowledgment": COOKIE + 2}},
    "MSS 1460, the client said 536": {
        "syn": {"options": option_octets(mss=536, scale=7, sack=True, stamps=(100, 0))},
    },
    "window scale 9, the client said 7": {
        "syn to server": {"options": option_octets(mss=1460, scale=9, sack=True, stamps=(101, 0))}
    },
    "timestamps: False to the server, True to the client": {
        "syn to server": {"options": option_octets(**FIRST)},
    },
    "a TSval that the client did not send": {
        "syn to server": {"options": option_octets(**FIRST, stamps=(999, 0))},
    },
    "asks for ECN": {"syn to server": {"flags": SYN | ECE | CWR}},
    "a segment to the client that the server did not send": {"answered": {"payload": b"rePly"}},
    "a segment to the server that the client did not send": {"asked": {"payload": b"aSk"}},
    "acknowledges what the server did not send": {"last to server": {"acknowledgment": COOKIE + 6}},
    "acknowledges what the client did not send": {
        "answer": {"acknowledgment": CLIENT_ISN + 40},
        "answered": {"acknowledgment": CLIENT_ISN + 40},
    },
    "TSecr 505003 that the server did not send": {"last to server": {"options": stamps(103, 5003 + TS_DELTA)}},
    "runs back": {"answered": {"options": stamps(4000 + TS_DELTA, 102)}},
    "octets beyond what the server offered": {"answered": {"window": 1000}},
    "MSS 1460 told to the client, the server's is 1200": {
        "syn-ack": {"options": option_octets(mss=1200, scale=10, sack=True, stamps=(5001, 101))}
    },
    "SACK-permitted told to the client, the server did not agree": {
        "syn-ack": {"options": option_octets(mss=1460, scale=10, stamps=(5001, 101)) + b"\1\1\1\1"}
    },
    "a SYN-ACK in VLAN 5": {"challenge": {"vlan": 5}},
    "a RST to the client that the server did not send": {"answered": {"flags": RST | ACK, "payload": b""}},
    "its IP header or VLAN changed": {"asked": {"hop_limit": 63}},
    "SACK 77..90": {
        "last to server": {"options": stamps(103, 5003) + b"\1\1\5\12" + bytes.fromhex("0000004d 0000005a")},
    },
}


@pytest.mark.parametrize("what", WRONG)
def test_each_fault_of_a_proxy_is_found(what):
    verdict = judge(*proxied(WRONG[what]).segments(), SERVERS)
    assert any(what in one for one in verdict.wrong), verdict


def test_a_second_syn_ack_for_one_syn_is_found():
    wires = proxied()
    wires.client.insert(2, (wires.client[1][0] + 1, wires.client[1][1]))
    verdict = judge(*wires.segments(), SERVERS)
    assert any("a SYN-ACK without a SYN" in one for one in verdict.wrong), verdict


def test_what_came_before_both_captures_had_begun_is_not_judged():
    wires = proxied(leave_out=("syn",))
    assert judge(*wires.segments(), SERVERS).wrong
    wires.client[:0] = [(1, wires.client[0][1])]
    verdict = judge(*wires.segments(), SERVERS, since_us=wires.now_us + 1)
    assert not verdict.wrong and not verdict.seen["translated to the client"]


def test_what_came_after_one_of_the_captures_had_ended_is_not_judged():
    wires = proxied()
    until = wires.now_us + 1
    wires.add("client", SERVER, CLIENT, FIN | ACK, sequence=COOKIE + 6, acknowledgment=1)
    assert judge(*wires.segments(), SERVERS).wrong
    verdict = judge(*wires.segments(), SERVERS, until_us=until)
    assert not verdict.wrong and verdict.seen["translated to the client"]


@pytest.mark.parametrize("apart_us, passes", ((100, True), (2000, False)))
def test_what_leaves_two_cores_at_once_may_be_overtaken(apart_us, passes):
    wires = proxied()
    both = [(104, {"payload": b"x", "sequence": CLIENT_ISN + 4}), (105, {"payload": b"y", "sequence": CLIENT_ISN + 5})]
    for value, what in both:
        told = {"acknowledgment": COOKIE + 6, "options": stamps(value, 5003 + TS_DELTA)}
        wires.add("client", CLIENT, SERVER, ACK, **what, **told, window=501)
        wires.now_us += apart_us
    for value, what in reversed(both):
        told = {"acknowledgment": SERVER_ISN + 6, "options": stamps(value, 5003)}
        wires.add("server", CLIENT, SERVER, ACK, **what, **told, window=501)
    verdict = judge(*wires.segments(), SERVERS)
    assert any("runs back" in one for one in verdict.wrong) != passes, verdict
    assert passes != bool(verdict.wrong), verdict


def test_time_stamps_that_run_back_from_what_the_guard_made_are_found():
    """Also where the server speaks just before the window opens: that segment did not overtake another."""
    wires = proxied({"window": {"options": stamps(5004 + TS_DELTA, 101)}})
    (opened,) = [time_us for time_us, frame in wires.client if time_us == 70]
    wires.server[4] = (opened - 5, wires.server[4][1])  # the answer
    verdict = judge(*wires.segments(), SERVERS)
    assert any("runs back" in one for one in verdict.wrong), verdict


def test_a_reply_to_a_rst_is_found():
    wires = proxied()
    wires.add("client", CLIENT, SERVER, RST, sequence=1)
    wires.add("client", SERVER, CLIENT, ACK, sequence=COOKIE + 6, acknowledgment=1)
    assert judge(*wires.segments(), SERVERS).wrong


@pytest.mark.parametrize("left_out", ("challenge", "proof", "syn-ack"))
def test_what_has_no_cause_is_found(left_out):
    assert judge(*proxied(leave_out=(left_out,)).segments(), SERVERS).wrong


def test_lost_octets_are_no_fault_but_a_gap_filled_by_others_is():
    verdict = judge(*proxied(leave_out=("answered", "last", "last to server")).segments(), SERVERS)
    assert not verdict.wrong, "the capture ended before the answer reached the client"


@pytest.mark.parametrize("change", ({"proof": {"sequence": COOKIE + 1}}, {"proof": {"flags": RST | ACK}}))
def test_a_syn_of_a_source_without_a_proof_is_found(change):
    verdict = judge(*authorized(change).segments(), SERVERS, armed_auth=True)
    assert any("had not proven itself" in one for one in verdict.wrong), verdict


def test_an_ordinary_connection_that_only_passes_is_passed():
    wires = authorized(leave_out=("syn", "challenge", "proof"))
    verdict = judge(*wires.segments(), SERVERS)
    assert not verdict.wrong and verdict.seen["passed to the client"] == 1
    assert SERVER_ISN == 77
