"""`splitplane guard` between real Linux clients and a real Linux server: modes idle and armed, floods while new clients
connect, what may not be answered, and a judge of the octets on both sides."""

from __future__ import annotations

import itertools
import socket
import time

import pytest
from bed import CLOSED_PORT, SERVER_IPV4, SERVER_IPV6, SMALL_BACKLOG, WEB_PORT, Bed, crowd_ipv4, crowd_ipv6
from crowd import Crowd, Running
from ends import MSG_FASTOPEN, Link, curl, drop_first_syns, drop_from_port, drop_some, speak
from flood import Flood
from guard_wires import Judged
from guarded import QUICK, Guard, outcomes_of
from paths import own
from processes import run
from segments import ECE, SYN, Segment, read
from tcp_frames import ODD_PORT, ipv6_syns, is_fragment, mutated, odd_frames, send_for
from wire import Wire

CROWD, CROWD_PAUSE_S, CROWD_PATIENCE_S = 20, 0.05, 5.0
# hping3 sends 5,000 a second at most then. What passes until the guard is armed, some 0.4 s, must not fill the server's
# backlog: the test of a small one below has what happens then.
FLOOD_PAUSE_US = 200
MOST_CONNECT_S = 1.5  # a SYN that is not answered well is sent again after a second at most, by Linux 6 at once
MODES = ("bypass", "observe", "auth", "proxy")
ACTING = ("auth", "proxy")
MUTATIONS = 3000


@pytest.fixture(scope="module")
def bed():
    with Bed(own("e2e") / "guard", "e2e") as made:
        yield made


@pytest.fixture(scope="module")
def guard(bed):
    """One process for the module; each test sets modes and begins with clients that were never seen."""
    with Guard(bed, each=QUICK) as made:
        yield made


@pytest.fixture(scope="module")
def new():
    """Addresses that no test used before."""
    numbers = itertools.count()
    return lambda: crowd_ipv4(next(numbers))


def settle(guard: Guard, mode: str, arm: str = "auto") -> None:
    guard.set(mode=mode, arm=arm)
    if mode in ACTING:
        guard.wait_armed(arm == "always")


def assert_counters_add_up(guard: Guard) -> int:
    """Every packet that a worker received has one outcome; returns how many that were."""
    time.sleep(0.1)  # until nothing is on its way
    workers = guard.workers()
    received = sum(worker["received"] for worker in workers)
    assert sum(sum(counts.values()) for counts in outcomes_of(workers).values()) == received
    assert all(worker["balanced"] for worker in workers)
    return received


def heard(wire: Wire, seconds: float) -> list[Segment]:
    """The segments that arrive there within that time."""
    return [one for one in (read(0, frame) for frame in wire.frames(seconds)) if one is not None]


@pytest.mark.parametrize("mode", MODES)
def test_an_idle_guard_passes_every_octet_as_it_is(bed, guard, new, mode):
    settle(guard, mode)
    with Judged(bed, f"idle-{mode}") as wires:
        for source in (new(), new()):
            assert curl(bed, source, 100_000)["ok"]
        assert curl(bed, crowd_ipv6(7), 100_000, SERVER_IPV6)["ok"]
        assert run(["ping", "-c1", "-W2", SERVER_IPV4], netns=bed.client).returncode == 0
    made = [what for what in wires.verdict.seen if not what.startswith(("segments", "passed"))]
    assert not made, wires.verdict
    assert wires.verdict.seen["passed to the client"] == wires.verdict.seen["segments from server"] > 100


@pytest.mark.parametrize("version", (4, 6))
def test_an_armed_guard_authorizes_a_new_client_once(bed, guard, new, version):
    settle(guard, "auth", "always")
    server, source = (SERVER_IPV4, new()) if version == 4 else (SERVER_IPV6, crowd_ipv6(1))
    with Judged(bed, f"auth-{version}", armed_auth=True) as wires:
        first = curl(bed, source, 100_000, server)
        second = curl(bed, source, 100_000, server)
    assert first["ok"] and first["time_connect"] < MOST_CONNECT_S, "the client sends its SYN again, and sees no more"
    assert second["ok"]
    assert wires.verdict.seen["challenges by acknowledgment"] == 1


@pytest.mark.parametrize("version", (4, 6))
def test_an_armed_guard_proxies_a_new_client_at_once(bed, guard, new, version):
    settle(guard, "proxy", "always")
    server, source = (SERVER_IPV4, new()) if version == 4 else (SERVER_IPV6, crowd_ipv6(2))
    with Judged(bed, f"proxy-{version}") as wires:
        found = [curl(bed, source, 300_000, server) for _ in range(3)]
    assert all(one["ok"] and one["time_connect"] < 0.9 for one in found), found
    seen = wires.verdict.seen
    assert seen["challenges by sequence"] == seen["connections opened"] == seen["handshakes completed"] == 3
    assert seen["octets of servers"] > 3 * 300_000
    assert_counters_add_up(guard)


def flooded(bed: Bed, guard: Guard, new) -> tuple[Crowd, int]:
    """A flood that arms the guard, and people who connect after that; and how many connections were half open then."""
    with Flood(bed, seconds=15, pause_us=FLOOD_PAUSE_US) as flood:
        guard.wait_armed(True)
        sources = [new() for _ in range(CROWD)]
        crowd = Running(bed, sources, SERVER_IPV4, WEB_PORT, CROWD_PAUSE_S, CROWD_PATIENCE_S).result()
        half_open = bed.half_open()
    assert flood.sent > 1_000 * flood.seconds, "twice what arms the guard"
    return crowd, half_open


@pytest.mark.parametrize("mode", ACTING)
def test_a_flood_arms_it_new_clients_connect_and_it_rests_again(bed, guard, new, mode):
    settle(guard, mode)
    bed.fresh_server()
    armings = guard.servers()["web"]["armings"]
    crowd, half_open = flooded(bed, guard, new)
    assert crowd.answered == crowd.tried == CROWD, crowd
    assert crowd.connect_ms < 1000 * (0.3 if mode == "proxy" else MOST_CONNECT_S), crowd
    assert half_open < bed.backlog * 3 / 4, "the server is full"
    guard.wait_armed(False)
    assert guard.servers()["web"]["armings"] == armings + 1, "one flood arms it once"
    assert_counters_add_up(guard)


def test_a_server_with_a_small_backlog_is_reached_once_the_guard_is_armed():
    numbers = itertools.count()
    with (
        Bed(own("e2e") / "guard-small", "small", backlog=SMALL_BACKLOG) as bed,
        Guard(bed, "proxy", each=QUICK) as guard,
    ):
        crowd, _ = flooded(bed, guard, lambda: crowd_ipv4(next(numbers)))
        assert crowd.answered == crowd.tried


def test_a_flood_of_ipv6_is_answered_too(bed, guard):
    settle(guard, "proxy", "always")
    before = guard.outcomes()["from_clients"]["challenged_syn"]
    sent = send_for(bed, ipv6_syns(bed, 2000), seconds=0.5)
    assert curl(bed, crowd_ipv6(3), 1000, SERVER_IPV6)["ok"]
    answered = guard.outcomes()["from_clients"]["challenged_syn"] - before
    assert answered > 0.95 * sent > 500


@pytest.mark.parametrize("lost", (False, True))
def test_a_server_that_speaks_first_is_heard(bed, guard, new, lost):
    """In mode proxy; also when the server did not get the first SYN, which nothing of the client's would repeat."""
    settle(guard, "proxy", "always")
    if lost:
        drop_first_syns(bed)
    begin = time.monotonic()
    try:
        with speak(bed, new()) as link:
            assert link.line(b"hello") == b"hello"
    finally:
        drop_some(bed, bed.server, 0)
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("mode", ACTING)
def test_a_half_closed_connection_goes_on_in_the_other_direction(bed, guard, new, mode):
    settle(guard, mode, "always")
    lines = b"".join(b"%d\n" % number for number in range(20_000))
    with Judged(bed, f"half-closed-{mode}"), speak(bed, new()) as link:
        link.socket.sendall(lines)
        link.socket.shutdown(socket.SHUT_WR)
        assert link.all() == lines


@pytest.mark.parametrize("mode", ACTING)
def test_a_port_on_which_no_process_listens_refuses_the_client(bed, guard, new, mode):
    settle(guard, mode, "always")
    link = Link(bed, new(), port=CLOSED_PORT, patience_s=5, connect=False)
    with Judged(bed, f"refused-{mode}"), link, pytest.raises(ConnectionError):
        link.socket.connect(link.peer)  # with a proxy between it may be there for a moment, before it is reset
        link.socket.sendall(b"x")
        link.socket.recv(1)


@pytest.mark.parametrize("mode", ACTING)
def test_data_on_the_syn_is_sent_again(bed, guard, new, mode):
    """TCP Fast Open without a cookie of the server: Linux sends the data again behind the SYN-ACK, at once."""
    settle(guard, mode, "always")
    bed.sysctl(bed.client, "net.ipv4.tcp_fastopen", 5)  # on, and data without a cookie
    try:
        with Judged(bed, f"fast-open-{mode}"), Link(bed, new(), connect=False) as link:
            link.socket.sendto(b"GET /50000 HTTP/1.1\r\n\r\n", MSG_FASTOPEN, link.peer)
            assert link.got(50_000)
    finally:
        bed.sysctl(bed.client, "net.ipv4.tcp_fastopen", 1)


@pytest.mark.parametrize("mode", ACTING)
def test_a_client_that_asks_for_ecn_connects(bed, guard, new, mode):
    settle(guard, mode, "always")
    bed.sysctl(bed.client, "net.ipv4.tcp_ecn", 1)
    try:
        with Judged(bed, f"ecn-{mode}"), Link(bed, new()) as link:
            assert link.get(50_000)
    finally:
        bed.sysctl(bed.client, "net.ipv4.tcp_ecn", 2)


@pytest.mark.parametrize("mode", ACTING)
def test_what_is_no_sound_first_segment_is_not_answered(bed, guard, mode):
    """And of it nothing reaches the server, but for a few segments of connections that may be old."""
    settle(guard, mode, "always")
    outside, inside = Wire(bed.client, "cl0"), Wire(bed.server, "sv0")
    source = "198.51.100.7"
    drop_from_port(bed, ODD_PORT)  # what still passes is not answered by the server itself
    try:
        for what, frame in odd_frames(bed, source, with_options=mode == "proxy").items():
            outside.send(frame)
            replies = [one for one in heard(outside, 0.05) if one.source[1] == WEB_PORT]
            assert not replies, f"{mode}: {what} was answered: {replies[0]}"
            passed = [one for one in heard(inside, 0.02) if one.source[1] == ODD_PORT and one.flags & SYN]
            assert not passed, f"{mode}: {what} reached the server: {passed[0]}"
    finally:
        drop_some(bed, bed.server, 0)
        outside.close()
        inside.close()
    assert guard.alive()
    assert_counters_add_up(guard)


@pytest.mark.parametrize("mode", ACTING)
def test_mutated_frames_do_not_end_it_and_all_are_counted(bed, guard, new, mode):
    settle(guard, mode, "always")
    before = assert_counters_add_up(guard)
    sound = [*odd_frames(bed, new()).values(), *ipv6_syns(bed, 20)]
    frames = [frame for frame in mutated(sound, MUTATIONS) if not is_fragment(frame)]
    sent = send_for(bed, frames, seconds=MUTATIONS / 5000)
    assert curl(bed, new(), 1000)["ok"] and guard.alive()
    assert assert_counters_add_up(guard) - before >= sent


def test_a_syn_ack_with_ece_answers_only_who_asked(bed, guard, new):
    settle(guard, "proxy", "always")
    wire, flags = Wire(bed.client, "cl0"), {}
    try:
        for ecn in (0, 1):
            bed.sysctl(bed.client, "net.ipv4.tcp_ecn", ecn)
            source = new()
            with Link(bed, source) as link:
                assert link.get(64)
            flags[ecn] = [one.flags for one in heard(wire, 0.2) if one.destination[0] == source and one.flags & SYN]
    finally:
        bed.sysctl(bed.client, "net.ipv4.tcp_ecn", 2)
        wire.close()
    assert flags[0] and not any(each & ECE for each in flags[0])
    assert flags[1], "the guard answered"
