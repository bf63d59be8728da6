"""The demo's look at host bypass: the driver of a GPU, on CPU threads, against the soft NIC."""

from __future__ import annotations

import json

from checks import Checks
from paths import OUT, splitplane
from processes import run

PACKETS = 100_000
BYPASS_HEAD = ("function", "rings", "Mpps", "Gbit/s", "p50, us", "p99, us", "lost", "doorbells/packet")


def host_bypass(say, checks: Checks) -> list[list[object]]:
    """Rows for the summary: each function on 1 and 4 rings."""
    functions = "echo,gnb-headers,pdcp-nea2"
    say(f"splitplane gpu bench: the GPU's NIC driver on CPU threads against a soft 82599, {functions}")
    found = OUT / "gpu.json"
    found.unlink(missing_ok=True)
    # Hashed by addresses only, a bearer's packets are on one ring: they stay in order.
    command = [splitplane(), "gpu", "bench", "--cpu", "--rings", "1,4", "--size", "512", "--function", functions]
    command += ["--rss", "addresses"]
    run([*command, "--packets", PACKETS, "--json", found], timeout=120)
    rows = json.loads(found.read_text())["rows"]
    lost = sum(row["lost"] + row["corrupt"] + row["reordered_in_flow"] for row in rows)
    checks.add(
        "host bypass: packets back from the soft NIC",
        f"{sum(row['received'] for row in rows)} of {PACKETS * len(rows)}, {lost} lost, changed or out of order",
        lost == 0 and all(row["sound"] and row["received"] == PACKETS for row in rows),
    )
    return [
        [row["function"], row["rings"], f"{row['mpps']:.2f}", f"{row['gbps']:.2f}", row["latency_us"]["p50"]]
        + [row["latency_us"]["p99"], row["lost"], f"{row['doorbells_per_packet']:.3f}"]
        for row in rows
    ]
