"""Bad input on the control socket: memory stays bounded, others are answered, traffic goes on."""

from __future__ import annotations

import attack

MAY_GROW = 64 << 20  # 32 MiB of unread answers, lines and buffers of 128 clients


def test_100_clients_with_bad_input_cost_neither_memory_nor_answers_nor_packets(gnb):
    quiet = attack.watch(gnb, 2, 0)
    attacked = attack.watch(gnb, 4, attack.CLIENTS)
    print(quiet, attacked)
    assert attacked.resident_bytes - quiet.resident_bytes < MAY_GROW
    assert attacked.pings > 20 and attacked.slowest_ping < 2
    # In the worker's own time: gNB and attackers share a machine that may be busy with other things.
    assert attacked.dropped == 0 and attacked.packets_per_cpu_second > 0.7 * quiet.packets_per_cpu_second
    totals = gnb.stats()["totals"]
    assert totals["balanced"]
    after = attack.watch(gnb, 1, 0)
    assert after.slowest_ping < 0.5
