"""Bad input on the control socket: memory stays bounded, others are answered, traffic goes on."""

from __future__ import annotations

import threading
import time

import attack
import pytest
from processes import Failure

MAY_GROW = 64 << 20  # 32 MiB of unread answers, lines and buffers of 128 clients


@pytest.fixture(scope="module")
def gnb(folder, processes):
    made = attack.target(folder, processes)
    made.start()
    return made


def test_100_clients_with_bad_input_cost_neither_memory_nor_answers_nor_packets(gnb):
    quiet = attack.watch(gnb, 2, 0)
    attacked = attack.watch(gnb, 4, attack.CLIENTS)
    print(quiet, attacked)
    assert not any(quiet.attacks.values())
    # Each in the way it should be; few, where many other programs run beside.
    assert min(attacked.attacks.values()) > 0 and sum(attacked.attacks.values()) > attack.CLIENTS, attacked.attacks
    assert attacked.resident_bytes - quiet.resident_bytes < MAY_GROW
    assert attacked.pings > 20 and attacked.slowest_ping < 2 + 5 * quiet.slowest_ping
    # In the worker's own time: gNB and attackers share a machine that may be busy with other things.
    assert attacked.dropped == 0 and attacked.packets_per_cpu_second > 0.7 * quiet.packets_per_cpu_second
    totals = gnb.stats()["totals"]
    assert totals["balanced"]
    after = attack.watch(gnb, 1, 0)
    assert after.slowest_ping < 0.5 + 5 * quiet.slowest_ping


def test_others_wait_for_the_largest_request_and_not_longer(gnb):
    """Three clients add as many bearers as one request may, and more than there is room for, at the same time."""
    took: list[float] = []

    def add(client, first: int):
        begin = time.monotonic()
        try:
            client.call("bearer.add", upf="10.100.0.3", ul_teid=first, count=60000)
        except Failure:
            return  # no room: another was first
        took.append(time.monotonic() - begin)

    clients = [type(gnb.instance.control)(gnb.socket) for _ in range(3)]
    threads = [threading.Thread(target=add, args=(client, n << 20)) for n, client in enumerate(clients, 1)]
    for thread in threads:
        thread.start()
    slowest, pings = 0.0, 0
    while any(thread.is_alive() for thread in threads):
        asked = time.monotonic()
        gnb.instance.control.call("ping")
        slowest, pings = max(slowest, time.monotonic() - asked), pings + 1
    assert len(took) == 1 and pings > 0
    assert slowest <= 2 * took[0] + 0.5, "more than the request that was being answered"
    assert gnb.stats()["bearers"] >= 60512 and gnb.stats()["totals"]["balanced"]
