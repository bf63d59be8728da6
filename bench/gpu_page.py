"""The page of `splitplane gpu bench --matrix`: each row with what was sent of what was due, how many repeats count, the
mean beside p50 and p99, and what the pairs of repeats say of the direction that is claimed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from gpu_rows import CANNOT_TELL, Group, compare, groups

# Table II of the paper: rings, size -> latency in us, its deviation, loss and reordered packets in percent.
PAPER_TAB2 = {
    (1, 1500): (9.76, 0.0877, 0, 0),
    (1, 300): (1790, 50.3, 74.78, 0.01),
    (2, 300): (1000, 87.7, 51.64, 49.49),
    (4, 300): (544.2, 99.7, 6.45, 42.28),
    (8, 300): (27.17, 7.6, 0, 38.20),
}
PAPER_GBPS = 9.99
PREAMBLE_AND_GAP = 20
PAPER_FIG5 = "the paper: DPDK below 25 us with peaks over 150; FPGA 7.99 us; GPU, 8 rings: no loss, above DPDK at 300 B"
PAPER_FIG7 = "the paper: one ring has the lowest latency and jitter"
NAMES = {
    "bypass": "host bypass",
    "plain": "plain driver",
    "staging": "staging",
    "gpu-e1": "GPU, copy engine (E1)",
    "gpu-e2": "GPU, rings in host memory (E2)",
    "gpu-e3": "GPU, processors as DMA (E3)",
    "gpu-e4": "GPU, NIC as a kernel (E4)",
    "gpu-staging": "staging on the GPU",
}
LITTLE = 0.02  # two rates or latencies that differ by no more are alike


def on_what(run: dict) -> str:
    gpu = run["machine"]["gpu"]
    machine = f"{run['machine']['cpu']}, {run['machine']['cores']} cores"
    return f"CPU threads, no GPU; {machine}" if no_gpu(run) else f"{json.loads(gpu)['gpu']}; {machine}"


def no_gpu(run: dict) -> bool:
    return run["machine"]["gpu"].startswith("no GPU")


def bypass_mode(run: dict, section: str = "") -> str:
    """What stands for the paper's GPU: the copy engine where there was a GPU, the CPU threads otherwise. Only the NIC
    model has a packet buffer in front of the rings, and it needs them in host memory.
    """
    if no_gpu(run):
        return "bypass"
    return "gpu-e2" if section == "tab2_drop_en_off" else "gpu-e1"


def mpps(row: dict) -> float:
    return row["mpps"]


def loss(row: dict) -> float:
    return row["loss"]


def latency(name: str) -> Callable[[dict], float]:
    return lambda row: row["latency_us"][name]


def jitter(row: dict) -> float:
    return row["latency_us"]["p99"] - row["latency_us"]["p50"]


def packets_inside(row: dict) -> float:
    """Little's law: a packet's mean time between the link's ends, times the packets a second that left."""
    return row["latency_us"]["mean"] * row["mpps"]


@dataclass(frozen=True)
class Direction:
    """A claim about a row and another of its section: `value` of this one is above (or below) that one's."""

    title: str
    value: Callable[[dict], float]
    above: bool
    # Of the section's groups, the one to compare with; none: nothing is claimed of this row.
    other: Callable[[Group, list[Group]], Group | None]

    def judge(self, group: Group, section: list[Group]) -> str:
        other = self.other(group, section)
        if other is None:
            return "-"
        this, that = (group, other) if self.above else (other, group)
        return compare(this, that, self.value, LITTLE).text()


def same_but(*names: str, wanted: Callable[[dict, dict], bool]) -> Callable[[Group, list[Group]], Group | None]:
    """The last group of the section that differs only in `names` and of which `wanted` holds."""
    keys = tuple(
        name
        for name in ("mode", "function", "rings", "size", "offered_mpps", "window", "doorbell_every", "restore_order")
        if name not in names
    )

    def find(group: Group, section: list[Group]) -> Group | None:
        mine = group.first
        found = [
            other
            for other in section
            if other is not group and all(other.first[key] == mine[key] for key in keys) and wanted(other.first, mine)
        ]
        return found[-1] if found else None

    return find


MORE_RINGS_MORE = Direction(
    "faster than 1 ring", mpps, True, same_but("rings", wanted=lambda a, b: a["rings"] == 1 < b["rings"])
)
HALF_THE_RINGS = same_but("rings", wanted=lambda a, b: a["rings"] * 2 == b["rings"])
ONE_RING = same_but("rings", wanted=lambda a, b: a["rings"] == 1 < b["rings"])
DIRECTIONS: dict[str, tuple[Direction, ...]] = {
    "tab2": (
        Direction("less loss than half the rings", loss, False, HALF_THE_RINGS),
        Direction("lower mean", latency("mean"), False, HALF_THE_RINGS),
    ),
    "fig5": (
        Direction(
            "mean above the plain driver's",
            latency("mean"),
            True,
            same_but("mode", wanted=lambda a, b: a["mode"] == "plain" != b["mode"]),
        ),
    ),
    "fig7": (
        Direction("p50 above 1 ring's", latency("p50"), True, ONE_RING),
        Direction("p99 - p50 above", jitter, True, ONE_RING),
    ),
    "throughput": (MORE_RINGS_MORE,),
    "load": (
        Direction(
            "p99 above the load's before",
            latency("p99"),
            True,
            same_but("offered_mpps", wanted=lambda a, b: a["offered_mpps"] < b["offered_mpps"]),
        ),
    ),
    "functions": (
        Direction(
            "slower than echo",
            mpps,
            False,
            same_but("function", wanted=lambda a, b: a["function"] == "echo" != b["function"]),
        ),
    ),
    "window": (
        Direction(
            "faster than with fewer",
            mpps,
            True,
            same_but("window", wanted=lambda a, b: a["window"] < b["window"]),
        ),
    ),
    "doorbells": (
        Direction(
            "faster than with each packet",
            mpps,
            True,
            same_but("doorbell_every", wanted=lambda a, b: a["doorbell_every"] == 1 < b["doorbell_every"]),
        ),
    ),
    "order": (
        Direction(
            "slower than as it comes",
            mpps,
            False,
            same_but("restore_order", wanted=lambda a, b: b["restore_order"] and not a["restore_order"]),
        ),
    ),
}
DIRECTIONS["tab2_drop_en_off"] = DIRECTIONS["tab2"]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def percent(part: float) -> str:
    return f"{100 * part:.2f}"


def cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def kept(group: Group) -> str:
    return "-" if group.kept is None else f"{group.kept:.4f}"


def latencies(group: Group) -> list[str]:
    """Mean, p50, p99 and highest. A NIC that is a kernel has no clock: it measures no latency."""
    if group.median(latency("max")) <= 0:
        return ["-"] * 4
    return [f"{group.median(latency(name)):.1f}" for name in ("mean", "p50", "p99", "max")]


def rows_table(section: str, all_groups: list[Group], key: str, title: str) -> str:
    directions = DIRECTIONS[section]
    body = []
    for group in all_groups:
        row = group.first
        body.append(
            [NAMES[row["mode"]], str(row["rings"]), str(row["size"]), cell(row[key]), kept(group), group.mark]
            + [f"{group.median(mpps):.2f}", f"{group.median(lambda r: r['gbps']):.2f}", *latencies(group)]
            + [percent(group.median(loss)), percent(group.median(lambda r: r["reordered"]))]
            + [f"{group.median(lambda r: r['doorbells_per_packet']):.3f}"]
            + [f"{group.median(lambda r: r['host_cpu_seconds'] / max(r['measured_seconds'], 1e-9)):.2f}"]
            + [direction.judge(group, all_groups) for direction in directions]
        )
    head = ["mode", "rings", "size", title, "sent/due", "count", "Mpps", "Gbit/s", "mean us", "p50 us", "p99 us"]
    head += ["max us", "loss %", "reord. %", "doorbells/packet", "host CPUs"]
    return table([*head, *(direction.title for direction in directions)], body)


def paper_packets_inside(size: int, paper: tuple) -> float:
    """What the paper's latency and loss imply to be between the link's ends, at 9.99 Gbit/s with preamble and gap."""
    mean, _, lost, _ = paper
    return mean * PAPER_GBPS * 1e3 / 8 / (size + PREAMBLE_AND_GAP) * (1 - lost / 100)


def tab2(run: dict, section: str) -> str:
    """Medians of the repeats, beside the paper's."""
    mode = bypass_mode(run, section)
    all_groups = [g for g in groups(run["matrix"].get(section, [])) if g.first["mode"] == mode]
    if not all_groups:
        return "Not run.\n"
    body = []
    for (rings, size), paper in PAPER_TAB2.items():
        found = [g for g in all_groups if (g.first["rings"], g.first["size"]) == (rings, size)]
        if not found:
            continue
        group = found[0]
        deviation = f"{group.median(latency('deviation')):.1f}"
        mean, p50, p99, _ = latencies(group)
        inside = f"{group.median(packets_inside):.0f}"
        body.append(
            [str(rings), str(size), f"{group.first['offered_mpps']:.3f}", kept(group), group.mark]
            + [mean, deviation, p50, p99, percent(group.median(loss)), inside]
            + [percent(group.median(lambda r: r["reordered"])), str(sum(r["reordered_in_flow"] for r in group.rows))]
            + [direction.judge(group, all_groups) for direction in DIRECTIONS[section]]
            + [f"{value:g}" for value in paper]
            + [f"{paper_packets_inside(size, paper):.0f}"]
        )
    head = ["rings", "size", "offered Mpps", "sent/due", "count", "mean us", "dev. us", "p50 us", "p99 us", "loss %"]
    head += ["packets inside", "reord. %", "in a flow", *(d.title for d in DIRECTIONS[section])]
    return table([*head, "paper: us", "dev. us", "loss %", "reord. %", "packets inside"], body)


def throughput(all_groups: list[Group]) -> str:
    """Mpps by size: median, and what the repeats say against one ring at the smallest and the largest size."""
    if not all_groups:
        return "Not run.\n"
    sizes = sorted({group.first["size"] for group in all_groups})
    keys = list(dict.fromkeys((group.first["mode"], group.first["rings"]) for group in all_groups))
    found = {(g.first["mode"], g.first["rings"], g.first["size"]): g for g in all_groups}
    body = []
    for mode, rings in keys:
        row = [found.get((mode, rings, size)) for size in sizes]
        there = [group for group in row if group]
        ends = [row[0], row[-1]]
        valid = [len(group.valid) for group in there]
        total = max(len(group.rows) for group in there)
        body.append(
            [NAMES[mode], str(rings), f"{min(valid)} of {total}"]
            + [f"{group.median(mpps):.2f}" if group else "-" for group in row]
            + [MORE_RINGS_MORE.judge(group, all_groups) if group else "-" for group in ends]
            + [f"{there[0].median(latency(name)):.1f}" if mode != "gpu-e4" else "-" for name in ("p50", "p99")]
        )
    head = ["mode", "rings", "count, at least", *(f"{size} B" for size in sizes)]
    head += [f"{MORE_RINGS_MORE.title}, {size} B" for size in (sizes[0], sizes[-1])]
    return table([*head, f"p50 us, {sizes[0]} B", "p99 us"], body)


NO_GPU = (
    "**Nothing here ran on a GPU.** The ring engines ran on one CPU thread, the soft NIC and its traffic on another."
    ' "Staging" has memcpy in the place of the bus and a function call in the place of a launch. Latency is from the'
    " moment a frame was due at the soft NIC (with a window: from its arrival) to its leaving it. On a shared virtual"
    " machine a thread loses its core for milliseconds now and then: that is the highest latency, and the loss at loads"
    " below what goes; *host CPUs* below 1 says how much of its core the driver was given.\n"
)
OTHER_WAY = (
    "**More rings are slower here, and faster on a GPU.** On a GPU each ring has two warps of its own: a ring more is"
    " more work at the same time, which is what the paper measures from 1 to 8 rings. On CPU threads one thread serves"
    " all rings in turn. A ring more adds no processor; it adds descriptors, index rings and slots to the same caches,"
    " and it thins out the batches: the packets under way are spread over more rings, so a visit finds fewer of them,"
    " and tails and counters are written for fewer at a time. Read the columns by rings as the cost of a ring for one"
    " thread, not as what rings bring.\n"
)
HOW_TO_READ = (
    "**How to read a row.** Figures are medians of the repeats that count. *sent/due*: the least part of what the rate"
    " asked for that the generator sent; a repeat with less than 0.995 does not count. Neither does one with a packet"
    " that was changed, doubled, missing or out of its flow's order, one in which a bearer's number was given twice or"
    " left out, nor one whose NIC thread had less than 90 % of a core. *count*: repeats that do; where none does, the"
    " figures are those of all and say nothing about the load. Repeats of a section are interleaved, and two rows are"
    f" compared by pairs of one repeat: *direction holds* if 5 of 5 pairs agree (differences below {LITTLE:.0%} are"
    f" none), *does not* if 5 of 5 say the opposite, else *{CANNOT_TELL}*.\n"
)


def page(run: dict, name: str) -> str:
    matrix = run["matrix"]
    machine = run["machine"]
    plan = run.get("plan", {})
    section = {key: groups(rows) for key, rows in matrix.items()}
    parts = [
        f"# Host bypass: {on_what(run)}\n",
        f"Made by `splitplane gpu bench --matrix` and `bench/gpu_figures.py` (`make gpu-results`): program"
        f" {plan.get('program', 'unknown')}, {plan.get('repeats', 1)} repeats, scale {plan.get('scale', 1):g}. Machine:"
        f" {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, g++ {machine['compiler']};"
        f" {machine['gpu']}.\n",
        HOW_TO_READ,
    ]
    if no_gpu(run):
        parts += [NO_GPU, OTHER_WAY]
    parts += [
        "## gpu-tab2: rings and size at 9.99 Gbit/s\n",
        tab2(run, "tab2"),
        "\nLoads are those of the wire, with preamble and gap: 3.90 Mpps of 300 octets. *reord.*: of the wire as a"
        " whole, the paper's metric; *in a flow*: packets of all repeats. *packets inside*: mean latency times packets"
        " that left a second.\n",
    ]
    if "tab2_drop_en_off" in matrix:
        parts += [
            "## gpu-tab2 without DROP_EN: the packet buffer of the NIC in front of the rings, as in the paper\n",
            tab2(run, "tab2_drop_en_off"),
            f"\nMode: {NAMES[bypass_mode(run, 'tab2_drop_en_off')]}. Under overload what is inside is the NIC's buffer"
            " and the rings, whatever the rate: the paper's latencies and losses imply about as many packets in each of"
            " its overloaded rows.\n",
        ]
    parts += [
        f"## gpu-fig5: latency over time at 9.99 Gbit/s, 8 rings\n\n![fig5]({name}-fig5.png)\n\n{PAPER_FIG5}.\n",
        rows_table("fig5", section.get("fig5", []), "offered_mpps", "offered"),
        f"\n## gpu-fig7: latency by rings, 1000 octets at 7.4 Gbit/s\n\n![fig7]({name}-fig7.png)\n\n{PAPER_FIG7}.\n",
        rows_table("fig7", section.get("fig7", []), "offered_mpps", "offered"),
        f"\n## Throughput in Mpps, closed loop, no loss\n\n![throughput]({name}-throughput.png)\n",
        throughput(section.get("throughput", [])),
    ]
    for key, column, title, heading in (
        ("load", "offered_mpps", "offered", "Load: offered parts of the throughput found, 4 rings"),
        ("functions", "function", "function", "Functions, 4 rings, closed loop"),
        ("window", "window", "window", "Packets under way, 1 ring, 64 octets"),
        ("doorbells", "doorbell_every", "every", "Tail written every n-th packet, 4 rings, 64 octets"),
        ("order", "restore_order", "restored", "Order of the wire restored by one sender for all rings, 256 octets"),
    ):
        if section.get(key):
            parts += [f"\n## {heading}\n", rows_table(key, section[key], column, title)]
    errors = [row for rows in matrix.values() for row in rows if "error" in row]
    parts += [f"\nNot run: {row['mode']}, {row['rings']} rings, {row['size']} B: {row['error']}\n" for row in errors]
    return "\n".join(parts)
