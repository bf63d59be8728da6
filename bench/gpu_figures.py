"""Tables and plots of `splitplane gpu bench --matrix --json FILE`: gpu-fig5, gpu-fig7, gpu-tab2 and the comparisons.

.venv/bin/python bench/gpu_figures.py FILE OUT writes OUT.md, OUT-*.png and OUT.json, from which all of it can be made
again. The values of the paper (Kundel et al., "Host Bypassing: Let your GPU speak Ethernet") stand beside ours; where
ours were taken is in the title of everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # before pyplot: there is no screen
import matplotlib.pyplot as plt  # noqa: E402
from gpu_page import NAMES, bypass_mode, mpps, on_what, page, percent  # noqa: E402
from gpu_rows import Group, groups  # noqa: E402


def save(figure, out: Path, name: str) -> None:
    figure.tight_layout()
    figure.savefig(f"{out}-{name}.png", dpi=100, metadata={"Software": None})
    plt.close(figure)


def label(group: Group, name: str) -> str:
    lost = percent(group.median(lambda row: row["loss"]))
    return f"{name} (loss {lost} %, counts: {group.mark})"


def plot_fig5(run: dict, out: Path) -> None:
    """Latency over time at 9.99 Gbit/s: mean and highest of each bin, of the first repeat."""
    sizes = (300, 1000)
    figure, axes = plt.subplots(len(sizes), 1, figsize=(9, 7), sharex=True)
    for size, axis in zip(sizes, axes, strict=True):
        for number, group in enumerate(g for g in groups(run["matrix"]["fig5"]) if g.first["size"] == size):
            row = group.first
            series = enumerate(row.get("series_us", []))
            points = [(row["bin_seconds"] * (i + 0.5), mean, highest) for i, (n, mean, highest) in series if n]
            axis.plot(
                [p[0] for p in points],
                [p[1] for p in points],
                color=f"C{number}",
                label=label(group, NAMES[row["mode"]]),
            )
            axis.plot([p[0] for p in points], [p[2] for p in points], ".", ms=2, color=f"C{number}", alpha=0.5)
        axis.set(yscale="log", ylabel="latency in us", title=f"{size} octets at 9.99 Gbit/s, 8 rings")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper right")
    axes[-1].set_xlabel("seconds; lines: mean of each bin, dots: its highest")
    figure.suptitle(f"gpu-fig5 on {on_what(run)}", fontsize=9)
    save(figure, out, "fig5")


def plot_fig7(run: dict, out: Path) -> None:
    """The distribution of latencies by the number of rings, 1000 octets at 7.4 Gbit/s: the repeats' medians."""
    figure, axis = plt.subplots(figsize=(9, 4.5))
    mode = bypass_mode(run)
    for group in (g for g in groups(run["matrix"]["fig7"]) if g.first["mode"] == mode):
        rings = group.first["rings"]
        marks = [q for q, _ in group.first["quantiles_us"]]
        us = [group.median(lambda row, i=i: row["quantiles_us"][i][1]) for i in range(len(marks))]
        axis.plot(us, marks, marker=".", label=label(group, f"{rings} ring{'s' if rings > 1 else ''}"))
    axis.set(xscale="log", xlabel="latency in us", ylabel="% of packets at or below")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.suptitle(f"gpu-fig7, 1000 octets at 7.4 Gbit/s, on {on_what(run)}", fontsize=9)
    save(figure, out, "fig7")


def plot_throughput(run: dict, out: Path) -> None:
    """Medians, and from the lowest repeat to the highest."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    all_groups = groups(run["matrix"]["throughput"])
    for axis, size in zip(axes, (64, 1500), strict=True):
        for mode in dict.fromkeys(group.first["mode"] for group in all_groups):
            of_mode = [g for g in all_groups if (g.first["mode"], g.first["size"]) == (mode, size)]
            of_mode.sort(key=lambda group: group.first["rings"])
            rings, middle = [g.first["rings"] for g in of_mode], [g.median(mpps) for g in of_mode]
            low = [m - min(g.values(mpps)) for g, m in zip(of_mode, middle, strict=True)]
            high = [max(g.values(mpps)) - m for g, m in zip(of_mode, middle, strict=True)]
            axis.errorbar(rings, middle, yerr=(low, high), marker="o", capsize=3, label=NAMES[mode])
        axis.set(xscale="log", xlabel="rings", ylabel="Mpps", title=f"{size} octets, closed loop", ylim=(0, None))
        axis.set_xticks([1, 2, 4, 8, 16, 32], labels=["1", "2", "4", "8", "16", "32"])
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.suptitle(f"Throughput on {on_what(run)}", fontsize=9)
    save(figure, out, "throughput")


def packed(run: dict) -> str:
    """The run without what no table or plot takes, a line for each row; what all rows have alike stands once."""
    rows = [row for section in run["matrix"].values() for row in section]
    same = {
        key: value
        for key, value in (rows[0] if rows else {}).items()
        if all(key in row and row[key] == value for row in rows)
    }

    def kept(section: str, row: dict) -> dict:
        left_out = set(same) if row.get("findings") else set(same) | {"findings"}
        left_out |= set() if section == "fig7" else {"quantiles_us"}
        left_out |= set() if section == "fig5" and row.get("repeat") == 0 else {"series_us"}
        return {key: value for key, value in row.items() if key not in left_out}

    head = {key: value for key, value in run.items() if key != "matrix"} | {"same": same}
    sections = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(kept(name, row)) for row in section) + "\n]"
        for name, section in run["matrix"].items()
    ]
    return json.dumps(head, indent=1).removesuffix("\n}") + ',\n "matrix": {\n' + ",\n".join(sections) + "\n}}\n"


def load(file: Path) -> dict:
    """What the bench or packed() wrote."""
    run = json.loads(file.read_text())
    same = run.pop("same", {})
    if "matrix" in run:
        run["matrix"] = {name: [same | row for row in rows] for name, rows in run["matrix"].items()}
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="what --json of the bench wrote")
    parser.add_argument("out", type=Path, help="page, plots and rows: OUT.md, OUT-*.png, OUT.json")
    options = parser.parse_args()
    try:
        run = load(options.file)
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
    Path(f"{options.out}.md").write_text(page(run, options.out.name))
    Path(f"{options.out}.json").write_text(packed(run))
    print(f"{options.out}.md, {options.out}.json, {options.out}-fig5.png, -fig7.png, -throughput.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
