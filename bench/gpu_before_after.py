"""Two builds of `splitplane gpu bench` on CPU threads, run in turn: lone-packet latency, doorbells per packet, and
rates by rings and size, as medians with the lowest and highest of the repeats. With --ptx also the stores at system
scope that each engine kernel has: what it sends over the bus.

    bench/gpu_before_after.py BEFORE/splitplane build/release/splitplane [--repeats 5] [--seconds 1]
                              [--ptx BEFORE.ptx AFTER.ptx]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "gpu" / "cuda"))
from ptx_rules import kernels, rings_a_doorbell  # noqa: E402

RINGS, SIZES = (1, 2, 4, 8), (64, 300)


def bench(program: Path, *options: str) -> dict:
    """One run, as the bench's row. A run that is not sound ends everything."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "row.json"
        command = [program, "gpu", "bench", "--cpu", "--json", file, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(f"{program}: {done.stderr or done.stdout}")
        return json.loads(file.read_text())["rows"][0]


def spread(values: list[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def verdict(before: list[float], after: list[float]) -> str:
    """Holds only where the ranges of the repeats do not overlap."""
    if max(after) < min(before):
        return "less"
    return "more" if min(after) > max(before) else "cannot tell"


def system_stores(ptx: Path) -> dict[str, Counter]:
    """Kernels that ring a doorbell: their stores at system scope by kind."""
    return {
        name: Counter(kind for line in lines for kind in re.findall(r"^st\.[a-z0-9.]*sys[a-z0-9.]*", line))
        for name, lines in kernels(ptx.read_text()).items()
        if rings_a_doorbell(lines)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--ptx", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()

    one = ("--rings", "1", "--size", "64")
    lone = ("a lone packet, p50 us", (*one, "--window", "1"), lambda r: r["latency_us"]["p50"])
    doorbells = ("doorbells per packet", one, lambda r: r["doorbells_per_packet"])
    rates = [
        (f"Mpps, {rings} rings, {size} octets", ("--rings", str(rings), "--size", str(size)), lambda r: r["mpps"])
        for rings in RINGS
        for size in SIZES
    ]
    print(f"| {options.repeats} repeats in turn | before | after | after is |\n|---|---|---|---|")
    for title, flags, value in [lone, doorbells, *rates]:
        before, after = [], []
        for _ in range(options.repeats):
            for program, values in ((options.before, before), (options.after, after)):
                values.append(value(bench(program, *flags, "--duration", str(options.seconds))))
        print(f"| {title} | {spread(before)} | {spread(after)} | {verdict(before, after)} |", flush=True)
    for ptx in options.ptx or ():
        print(f"\nStores at system scope in {ptx}:\n")
        for name, stores in system_stores(ptx).items():
            print(f"- `{name}`: " + ", ".join(f"{n} {kind}" for kind, n in sorted(stores.items())))


if __name__ == "__main__":
    main()
