"""Files through `splitplane guard` in mode proxy: SHA-256 of 20 MB both ways, whatever the ends agreed on, and paths
that lose segments or take only short ones."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import pytest
from bed import CLIENT_IPV6, FAR_CLIENT_IPV4, FAR_SERVER_IPV4, SERVER_IPV4, SERVER_IPV6, Bed, crowd_ipv4
from ends import FILE_BYTES, Link, Shape, drop_some
from guard_wires import Judged
from guarded import Guard
from paths import own
from processes import run

JUDGED_BYTES = 600_000  # what the judge reads octet by octet
LOSSY_BYTES, LOSS_PERCENT = 5_000_000, 1
NARROW = 1280
WRAP = (1 << 32) - JUDGED_BYTES // 2
LARGE_BUFFER = "4096 131072 1073741824"
# What is set at an end, and the shape of the client's socket.
AGREEMENTS = {
    "as usual": ({}, {}, Shape()),
    "no timestamps": ({"net.ipv4.tcp_timestamps": 0}, {}, Shape()),
    "no timestamps of the server": ({}, {"net.ipv4.tcp_timestamps": 0}, Shape()),
    "no SACK": ({"net.ipv4.tcp_sack": 0}, {}, Shape()),
    "no SACK of the server": ({}, {"net.ipv4.tcp_sack": 0}, Shape()),
    "no window scale": ({"net.ipv4.tcp_window_scaling": 0}, {}, Shape()),
    "no window scale of the server": ({}, {"net.ipv4.tcp_window_scaling": 0}, Shape()),
    "window scale 0": ({}, {}, Shape(clamp=65535)),
    "window scale 14": ({"net.ipv4.tcp_rmem": LARGE_BUFFER}, {}, Shape()),
    "window scale 14 of the server": ({}, {"net.ipv4.tcp_rmem": LARGE_BUFFER}, Shape()),
    "MSS 536": ({}, {}, Shape(mss=536)),
    "the client's numbers wrap": ({}, {}, Shape(isn=WRAP)),
}


@pytest.fixture(scope="module")
def bed():
    with Bed(own("e2e") / "guard-streams", "streams", narrow_client=NARROW, narrow_server=NARROW) as made:
        yield made


@pytest.fixture(scope="module")
def guard(bed):
    with Guard(bed, "proxy", "always") as made:
        yield made


@pytest.fixture(scope="module")
def new():
    numbers = itertools.count()
    return lambda: crowd_ipv4(next(numbers))


@contextmanager
def agreement(bed: Bed, name: str):
    of_client, of_server, shape = AGREEMENTS[name]
    before = []
    try:
        for netns, settings in ((bed.client, of_client), (bed.server, of_server)):
            for key, value in settings.items():
                before.append((netns, key, run(["sysctl", "-n", key], netns=netns).stdout.strip()))
                bed.sysctl(netns, key, value)
        yield shape
    finally:
        for setting in before:
            bed.sysctl(*setting)


@pytest.mark.parametrize("name", AGREEMENTS)
def test_a_file_passes_both_ways_whatever_the_ends_agree_on(bed, guard, new, name):
    with agreement(bed, name) as shape:
        with Link(bed, new()) as link:  # by it the guard learns what its server agrees to
            assert link.get(64)
        with Judged(bed, name.replace(" ", "-")) as wires, Link(bed, new(), shape=shape) as link:
            assert link.get(JUDGED_BYTES) and link.put(JUDGED_BYTES)
        with Link(bed, new(), shape=shape) as link:
            assert link.get(FILE_BYTES), "to the client"
            assert link.put(FILE_BYTES), "from the client"
    assert wires.verdict.seen["octets of servers"] > JUDGED_BYTES < wires.verdict.seen["octets of clients"]


def test_a_file_passes_over_ipv6(bed, guard):
    with Link(bed, CLIENT_IPV6, SERVER_IPV6) as link:
        assert link.get(FILE_BYTES) and link.put(FILE_BYTES)


@pytest.mark.parametrize("sack", (1, 0))
def test_a_file_passes_while_both_ends_lose_segments(bed, guard, new, sack):
    """SACK blocks and duplicate acknowledgments, in both directions."""
    bed.sysctl(bed.client, "net.ipv4.tcp_sack", sack)
    for netns in (bed.client, bed.server):
        drop_some(bed, netns, LOSS_PERCENT)
    try:
        with Judged(bed, f"loss-sack-{sack}"), Link(bed, new()) as link:
            assert link.get(LOSSY_BYTES) and link.put(LOSSY_BYTES)
    finally:
        for netns in (bed.client, bed.server):
            drop_some(bed, netns, 0)
        bed.sysctl(bed.client, "net.ipv4.tcp_sack", 1)


def test_icmp_of_a_narrow_path_reaches_the_server_as_its_own(bed, guard):
    """Behind the client segments must be shorter: its router says so of numbers that only the client's side knows."""
    with Link(bed, FAR_CLIENT_IPV4, netns=bed.far_client, patience_s=10) as link:
        assert link.get(LOSSY_BYTES)


def test_icmp_of_a_narrow_path_reaches_the_client_as_its_own(bed, guard, new):
    with Link(bed, new(), FAR_SERVER_IPV4, patience_s=10) as link:
        assert link.put(LOSSY_BYTES)


def test_fragments_of_a_proxied_connection_pass(bed, guard):
    """The host behind the narrow path does not mind fragments (no DF): its router cuts what it sends."""
    bed.sysctl(bed.far_client, "net.ipv4.ip_no_pmtu_disc", 1)
    bed.sysctl(bed.server, "net.ipv4.ip_no_pmtu_disc", 1)
    try:
        with Link(bed, FAR_CLIENT_IPV4, SERVER_IPV4, netns=bed.far_client, patience_s=10) as link:
            assert link.get(JUDGED_BYTES)
    finally:
        bed.sysctl(bed.far_client, "net.ipv4.ip_no_pmtu_disc", 0)
        bed.sysctl(bed.server, "net.ipv4.ip_no_pmtu_disc", 0)


def test_a_file_passes_in_a_vlan():
    with Bed(own("e2e") / "guard-vlan", "vlan", vlan=100) as bed, Guard(bed, "proxy", "always"):
        with Judged(bed, "vlan") as wires, Link(bed, crowd_ipv4(0)) as link:
            assert link.get(JUDGED_BYTES) and link.put(JUDGED_BYTES)
        assert wires.verdict.seen["connections opened"] == 1
