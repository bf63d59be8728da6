"""The GPU kit on a machine with a GPU, without network, packages or the repository. Python's own library only.

run smoke            gpu info, the device check, a short run of each mode on the GPU; 77 without a GPU, each item named
run accept [MODULE]  items of `make accept PART=gpu` that need no build: build, cpu, device, judges; default: device
run matrix SECONDS   makes runs of the matrix for so many seconds, and goes on where it ended before; 75: there are more
run page             tables of the matrix as far as it went
run check            whether the kit is whole

Results are in out/ beside this file, and copied to the folder that OUT names.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
PROGRAM = HERE / "build" / "release" / "splitplane"
ROWS = OUT / "matrix.json"
LOG = OUT / "matrix.json.rows"  # while there is more to come
SCALE = "0.5"
NO_GPU, MORE, USAGE = 77, 75, 2
NEVER_SKIPPED = {"gpu_info"}


def check() -> int:
    """Every file is as it was packed, and the programs start."""
    wrong = []
    lines = (HERE / "manifest").read_text().splitlines()
    for line in lines[1:]:
        digest, name = line.split("  ", 1)
        file = HERE / name
        if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            wrong.append(name)
    if wrong:
        print(f"gpu-kit: not as packed: {', '.join(wrong)}", file=sys.stderr)
        return 1
    for name in ("release/splitplane --version", "release/gpu_rings_test --gtest_list_tests", "gpu/bin/device_check"):
        words = name.split()
        done = subprocess.run([HERE / "build" / words[0], *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode not in (0, NO_GPU):
            print(f"gpu-kit: {words[0]} does not start: {done.stdout.decode(errors='replace')[:300]}", file=sys.stderr)
            print(f"gpu-kit: {lines[0]}", file=sys.stderr)
            return 1
    print(f"gpu-kit: whole; {lines[0]}")
    return 0


def accept(modules: list[str]) -> int:
    """Their items, one line each. 77 if nothing but what needs no GPU was judged."""
    sys.path.insert(0, str(HERE / "tests" / "accept"))
    os.environ.setdefault("ACCEPT_WITHOUT_SANITIZERS", "1")  # those need a build
    report = importlib.import_module("report").Report()
    for name in modules:
        importlib.import_module(f"_gpu_{name}").items(report)
    if report.exit_code() != 0:
        return 1
    on_gpu = [item for item in report.items if item.name not in NEVER_SKIPPED]
    if all(item.verdict == "skipped" for item in on_gpu):
        print(f"gpu-kit: no GPU: {len(on_gpu)} items skipped", file=sys.stderr)
        return NO_GPU
    return 0


def matrix(seconds: str) -> int:
    has_gpu = subprocess.run([HERE / "build/gpu/bin/device_check"], capture_output=True).returncode != NO_GPU
    if not has_gpu and os.environ.get("WITHOUT_GPU") != "1":
        print("gpu-kit: no GPU: the matrix is skipped (WITHOUT_GPU=1 makes it on CPU threads)", file=sys.stderr)
        return NO_GPU
    command = [PROGRAM, "gpu", "bench", "--matrix", "--scale", SCALE, "--json", ROWS, "--resume", "--within", seconds]
    if ROWS.exists() and not LOG.exists():
        print("gpu-kit: the matrix is whole", file=sys.stderr)
        return 0
    ROWS.unlink(missing_ok=True)  # all of it is in LOG; a bench that crashes must not leave an older one's answer
    bench = subprocess.Popen(command)
    while bench.poll() is None:
        time.sleep(1)
        collect()  # who ends this command at its limit still gets the rows
    if bench.returncode == USAGE or not ROWS.exists():
        return 1
    return MORE if json.loads(ROWS.read_text())["interrupted"] else bench.returncode


def page() -> int:
    sys.path.insert(0, str(HERE / "bench"))
    found = json.loads(ROWS.read_text()) if ROWS.exists() else None
    if LOG.exists() and (found is None or found["interrupted"]):  # the bench may have been ended in a run
        found = importlib.import_module("gpu_rows").matrix_of_log(LOG.read_text())
    if found is None:
        print("gpu-kit: there are no rows of a matrix", file=sys.stderr)
        return NO_GPU
    text = importlib.import_module("gpu_page").page(found, "matrix")
    (OUT / "matrix.md").write_text(text)
    print(text)
    return 0


def collect() -> None:
    """OUT names a folder that somebody takes away: whatever is in out/ goes there."""
    wanted = os.environ.get("OUT")
    if not wanted or Path(wanted).resolve() == OUT:
        return
    for file in OUT.iterdir():
        try:
            shutil.copy(file, wanted)
        except OSError as error:  # it was replaced meanwhile, and comes the next time
            print(f"gpu-kit: {file.name} was not copied: {error.strerror}", file=sys.stderr)


def main(words: list[str]) -> int:
    OUT.mkdir(exist_ok=True)
    try:
        if words[:1] == ["smoke"]:
            return check() or accept(["device"])
        if words[:1] == ["accept"]:
            return accept(words[1:] or ["device"])
        if words[:1] == ["matrix"] and len(words) == 2:
            return matrix(words[1])
        if words == ["page"]:
            return page()
        if words == ["check"]:
            return check()
        print(__doc__, file=sys.stderr)
        return USAGE
    finally:
        collect()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
