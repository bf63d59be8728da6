"""Tables and plots of `splitplane gpu bench --matrix --json FILE`: gpu-fig5, gpu-fig7, gpu-tab2 and the comparisons.

.venv/bin/python bench/gpu_figures.py FILE OUT writes OUT.md and OUT-*.png. The values of the paper (Kundel et al.,
"Host Bypassing: Let your GPU speak Ethernet") stand beside ours; where ours were taken is in the title of everything.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # before pyplot: there is no screen
import matplotlib.pyplot as plt  # noqa: E402

# Table II of the paper: rings, size -> latency in us, its deviation, loss and reordered packets in percent.
PAPER_TAB2 = {
    (1, 1500): (9.76, 0.0877, 0, 0),
    (1, 300): (1790, 50.3, 74.78, 0.01),
    (2, 300): (1000, 87.7, 51.64, 49.49),
    (4, 300): (544.2, 99.7, 6.45, 42.28),
    (8, 300): (27.17, 7.6, 0, 38.20),
}
PAPER_FIG5 = "the paper: DPDK below 25 us with peaks over 150; FPGA 7.99 us; GPU, 8 rings: no loss, above DPDK at 300 B"
PAPER_FIG7 = "the paper: one ring has the lowest latency and jitter"
NAMES = {
    "bypass": "host bypass",
    "plain": "plain driver",
    "staging": "staging",
    "gpu-e1": "GPU, copy engine (E1)",
    "gpu-e2": "GPU, rings in host memory (E2)",
    "gpu-e4": "GPU, NIC as a kernel (E4)",
    "gpu-staging": "staging on the GPU",
}


def on_what(run: dict) -> str:
    gpu = run["machine"]["gpu"]
    machine = f"{run['machine']['cpu']}, {run['machine']['cores']} cores"
    return f"CPU threads, no GPU; {machine}" if gpu.startswith("no GPU") else f"{json.loads(gpu)['gpu']}; {machine}"


def good(rows: list[dict]) -> list[dict]:
    return [row for row in rows if "error" not in row]


def bypass_mode(run: dict) -> str:
    """What stands for the paper's GPU: the copy engine where there was a GPU, the CPU threads otherwise."""
    return "bypass" if run["machine"]["gpu"].startswith("no GPU") else "gpu-e1"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def percent(part: float) -> str:
    return f"{100 * part:.2f}"


def tab2(run: dict) -> str:
    """Medians of the repeats, beside the paper's."""
    rows = []
    mode = bypass_mode(run)
    for (rings, size), paper in PAPER_TAB2.items():
        ours = [
            row
            for row in good(run["matrix"]["tab2"])
            if (row["rings"], row["size"], row["mode"]) == (rings, size, mode)
        ]
        if not ours:
            continue

        def median(value, ours=ours) -> float:
            return statistics.median(value(row) for row in ours)

        rows.append(
            [
                str(rings),
                str(size),
                f"{median(lambda r: r['offered_mpps']):.2f}",
                f"{median(lambda r: r['latency_us']['mean']):.1f}",
                f"{median(lambda r: r['latency_us']['deviation']):.1f}",
                percent(median(lambda r: r["loss"])),
                percent(median(lambda r: r["reordered"])),
                str(sum(r["reordered_in_flow"] for r in ours)),
                *(f"{value:g}" for value in paper),
            ]
        )
    head = ["rings", "size", "offered Mpps", "mean us", "dev. us", "loss %", "reordered %", "in a flow"]
    return table([*head, "paper: us", "dev. us", "loss %", "reordered %"], rows)


def pivot(rows: list[dict], value: str) -> str:
    sizes = sorted({row["size"] for row in rows})
    keys = list(dict.fromkeys((row["mode"], row["rings"]) for row in rows))
    found = {(row["mode"], row["rings"], row["size"]): row for row in rows}
    body = []
    for mode, rings in keys:
        cells = [found.get((mode, rings, size)) for size in sizes]
        body.append([NAMES[mode], str(rings), *(f"{cell[value]:.2f}" if cell else "-" for cell in cells)])
    return table(["mode", "rings", *(f"{size} B" for size in sizes)], body)


def cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def latency_table(rows: list[dict], key: str, title: str) -> str:
    body = []
    for row in rows:
        latency = row["latency_us"]
        body.append(
            [NAMES[row["mode"]], str(row["rings"]), str(row["size"]), cell(row[key])]
            + [f"{row['mpps']:.2f}", f"{row['gbps']:.2f}"]
            # A NIC that is a kernel has no clock: it measures no latency.
            + [f"{latency[name]:.1f}" if latency["max"] > 0 else "-" for name in ("p50", "p99", "p99.9", "max")]
            + [percent(row["loss"]), percent(row["reordered"]), f"{row['doorbells_per_packet']:.3f}"]
            + [f"{row['host_cpu_seconds'] / row['measured_seconds']:.2f}"]
        )
    head = ["mode", "rings", "size", title, "Mpps", "Gbit/s", "p50 us", "p99 us", "p99.9 us", "max us", "loss %"]
    return table([*head, "reord. %", "doorbells/packet", "host CPUs"], body)


def save(figure, out: Path, name: str) -> None:
    figure.tight_layout()
    figure.savefig(f"{out}-{name}.png", dpi=100, metadata={"Software": None})
    plt.close(figure)


def plot_fig5(run: dict, out: Path) -> None:
    """Latency over time at 9.99 Gbit/s: mean and highest of each bin."""
    sizes = (300, 1000)
    figure, axes = plt.subplots(len(sizes), 1, figsize=(9, 7), sharex=True)
    for size, axis in zip(sizes, axes, strict=True):
        for number, row in enumerate(row for row in good(run["matrix"]["fig5"]) if row["size"] == size):
            series = enumerate(row.get("series_us", []))
            points = [(row["bin_seconds"] * (i + 0.5), mean, highest) for i, (n, mean, highest) in series if n]
            label = f"{NAMES[row['mode']]} (loss {percent(row['loss'])} %)"
            axis.plot([p[0] for p in points], [p[1] for p in points], color=f"C{number}", label=label)
            axis.plot([p[0] for p in points], [p[2] for p in points], ".", ms=2, color=f"C{number}", alpha=0.5)
        axis.set(yscale="log", ylabel="latency in us", title=f"{size} octets at 9.99 Gbit/s, 8 rings")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper right")
    axes[-1].set_xlabel("seconds; lines: mean of each bin, dots: its highest")
    figure.suptitle(f"gpu-fig5 on {on_what(run)}", fontsize=9)
    save(figure, out, "fig5")


def plot_fig7(run: dict, out: Path) -> None:
    """The distribution of latencies by the number of rings, 1000 octets at 7.4 Gbit/s."""
    figure, axis = plt.subplots(figsize=(9, 4.5))
    mode = bypass_mode(run)
    for row in (row for row in good(run["matrix"]["fig7"]) if row["mode"] == mode):
        quantiles = row["quantiles_us"]
        label = f"{row['rings']} ring{'s' if row['rings'] > 1 else ''} (loss {percent(row['loss'])} %)"
        axis.plot([us for _, us in quantiles], [q for q, _ in quantiles], marker=".", label=label)
    axis.set(xscale="log", xlabel="latency in us", ylabel="% of packets at or below")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.suptitle(f"gpu-fig7, 1000 octets at 7.4 Gbit/s, on {on_what(run)}", fontsize=9)
    save(figure, out, "fig7")


def plot_throughput(run: dict, out: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    rows = good(run["matrix"]["throughput"])
    for axis, size in zip(axes, (64, 1500), strict=True):
        for mode in dict.fromkeys(row["mode"] for row in rows):
            points = sorted((row["rings"], row["mpps"]) for row in rows if (row["mode"], row["size"]) == (mode, size))
            axis.plot([p[0] for p in points], [p[1] for p in points], marker="o", label=NAMES[mode])
        axis.set(xscale="log", xlabel="rings", ylabel="Mpps", title=f"{size} octets, closed loop", ylim=(0, None))
        axis.set_xticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32"])
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.suptitle(f"Throughput on {on_what(run)}", fontsize=9)
    save(figure, out, "throughput")


def page(run: dict, out: Path) -> str:
    matrix = run["matrix"]
    machine = run["machine"]
    name = out.name
    parts = [
        f"# Host bypass: {on_what(run)}\n",
        f"Made by `splitplane gpu bench --matrix` in {run['seconds']:.0f} s and `bench/gpu_figures.py`. Machine:"
        f" {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, g++ {machine['compiler']};"
        f" {machine['gpu']}.\n",
    ]
    if machine["gpu"].startswith("no GPU"):
        parts.append(
            "**Nothing here ran on a GPU.** The ring engines ran on one CPU thread, the soft NIC and its traffic on"
            ' another. "Staging" has memcpy in the place of the bus and a function call in the place of a launch.'
            " Latency is from the moment a frame was due at the soft NIC (with a window: from its arrival) to its"
            " leaving it: where this machine cannot keep the offered rate, as at 4.16 Mpps over 8 rings, it grows with"
            " the length of the run and is no property of the driver. On a shared virtual machine a thread"
            " loses its core for milliseconds now and then: that is the highest latency, and the loss at loads below"
            " what goes; *host CPUs* below 1 says how much of its core the driver was given.\n"
        )
    parts += [
        "## gpu-tab2: rings and size at 9.99 Gbit/s\n",
        tab2(run),
        "\nMedians of three runs. *reordered*: of the wire as a whole, the paper's metric; *in a flow*: packets of all"
        " runs.\n",
        f"## gpu-fig5: latency over time at 9.99 Gbit/s, 8 rings\n\n![fig5]({name}-fig5.png)\n\n{PAPER_FIG5}.\n",
        latency_table(good(matrix["fig5"]), "offered_mpps", "offered"),
        f"\n## gpu-fig7: latency by rings, 1000 octets at 7.4 Gbit/s\n\n![fig7]({name}-fig7.png)\n\n{PAPER_FIG7}.\n",
        latency_table(good(matrix["fig7"]), "offered_mpps", "offered"),
        f"\n## Throughput in Mpps, closed loop, no loss\n\n![throughput]({name}-throughput.png)\n",
        pivot(good(matrix["throughput"]), "mpps"),
        "\n## Load: offered parts of the throughput found, 4 rings\n",
        latency_table(good(matrix["load"]), "offered_mpps", "offered"),
        "\n## Functions, 4 rings, closed loop\n",
        latency_table(good(matrix["functions"]), "function", "function"),
        "\n## Packets under way, 1 ring, 64 octets\n",
        latency_table(good(matrix["window"]), "window", "window"),
        "\n## Tail written every n-th packet, 4 rings, 64 octets\n",
        latency_table(good(matrix["doorbells"]), "doorbell_every", "every"),
    ]
    if matrix.get("order"):
        parts += ["\n## Order of the wire restored by one sender for all rings, 256 octets\n"]
        parts += [latency_table(good(matrix["order"]), "restore_order", "restored")]
    errors = [row for rows in matrix.values() for row in rows if "error" in row]
    parts += [f"\nNot run: {row['mode']}, {row['rings']} rings, {row['size']} B: {row['error']}\n" for row in errors]
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="what --json of the bench wrote")
    parser.add_argument("out", type=Path, help="page and plots: OUT.md, OUT-*.png")
    options = parser.parse_args()
    try:
        run = json.loads(options.file.read_text())
    except (OSError, ValueError) as error:
        print(f"gpu_figures: {options.file}: {error}", file=sys.stderr)
        return 2
    if "matrix" not in run or run["interrupted"]:
        print(f"gpu_figures: {options.file} holds no whole run of `gpu bench --matrix`", file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    plot_fig5(run, options.out)
    plot_fig7(run, options.out)
    plot_throughput(run, options.out)
    Path(f"{options.out}.md").write_text(page(run, options.out))
    print(f"{options.out}.md, {options.out}-fig5.png, -fig7.png, -throughput.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
