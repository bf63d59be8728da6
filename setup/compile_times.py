"""A table of compile times by room: what `make compile-times` prints. Builds TARGETS anew without the compiler cache.

The build stands in build/times-PRESET and is removed afterwards. Seconds are those of one core, as long as no more is
compiled at once than there are cores.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OBJECT = re.compile(r"CMakeFiles/(?P<target>\w+)\.dir/.*?(?P<file>\w+)\.(cpp|cxx)\.o$")  # of a room, or one file


def steps(log: Path) -> dict[str, float]:
    """Seconds of each output in Ninja's log; of one that was built again the last ones."""
    seconds = {}
    for line in log.read_text().splitlines():
        if not line.startswith("#"):
            begin, end, _, output, _ = line.split("\t")
            seconds[output] = (int(end) - int(begin)) / 1000
    return seconds


def rooms_of_src() -> list[str]:
    lines = (ROOT / "src" / "rooms.txt").read_text().splitlines()
    return [line.partition(":")[0] for line in lines if line and not line.startswith("#")]


def table(seconds: dict[str, float]) -> str:
    named = {room.replace("/", "_"): room for room in rooms_of_src()}
    rooms: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])  # files, s, tests, s
    slowest: dict[str, tuple[float, str]] = {}
    for output, took in seconds.items():
        found = OBJECT.search(output)
        target = found["target"] if found else ""
        room = named.get(target.removesuffix("_test"), "(bench, fuzz, tests)" if found else "(links)")
        at = 2 if target.endswith("_test") else 0
        rooms[room][at] += 1
        rooms[room][at + 1] += took
        slowest[room] = max(slowest.get(room, (0.0, "")), (took, found["file"] if found else Path(output).name))
    lines = [f"{'room':<22}{'units':>6}{'s':>8}{'tests':>7}{'s':>8}  slowest"]
    for room, row in sorted(rooms.items(), key=lambda item: -item[1][1] - item[1][3]):
        took, file = slowest[room]
        lines.append(f"{room:<22}{row[0]:>6.0f}{row[1]:>8.1f}{row[2]:>7.0f}{row[3]:>8.1f}  {file} {took:.1f} s")
    sums = [sum(row[i] for row in rooms.values()) for i in range(4)]
    lines.append(f"{'sum':<22}{sums[0]:>6.0f}{sums[1]:>8.1f}{sums[2]:>7.0f}{sums[3]:>8.1f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="release", help="release, debug, asan, tsan (default release)")
    parser.add_argument(
        "targets", nargs="*", default=["splitplane"], help="default splitplane; all: tests and benches too"
    )
    args = parser.parse_args()
    folder = ROOT / "build" / f"times-{args.preset}"
    shutil.rmtree(folder, ignore_errors=True)
    without_cache = os.environ | {"CCACHE_DISABLE": "1"}
    print(f"compile-times: {args.preset} {' '.join(args.targets)} without a cache, minutes ...", flush=True)
    try:
        configured = subprocess.run(
            ["cmake", "--preset", args.preset, "-B", str(folder)], cwd=ROOT, capture_output=True, text=True
        )
        if configured.returncode != 0:
            print(configured.stderr[-2000:], file=sys.stderr)
            return 1
        begin = time.monotonic()
        built = subprocess.run(["ninja", "-C", str(folder), *args.targets], cwd=ROOT, env=without_cache)
        took = time.monotonic() - begin
        if built.returncode == 0:
            print(table(steps(folder / ".ninja_log")))
            print(f"compile-times: {took:.0f} s with {os.cpu_count()} cores")
        return built.returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
