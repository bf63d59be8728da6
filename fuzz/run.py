"""Runs the fuzz targets of build/asan for so many seconds each, two at a time; `make test` and `make fuzz` call it.

One line a target: inputs that were run, coverage, and for a finding the input and how to run it again. Without --keep
each run begins with the committed corpus; with it, what was found stays in build/fuzz-found for the next run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARIES = ROOT / "build" / "asan" / "fuzz"
FOUND = ROOT / "build" / "fuzz-found"
# Files that are good inputs wherever they stand.
MORE_SEEDS = {"yaml": ROOT / "config", "spec": ROOT / "p4" / "generated"}
# Of libFuzzer: a text that is changed in five places at once is refused for the first of them.
OPTIONS = {"yaml": ["-mutate_depth=1"]}
MOST_MEGABYTES = 4096
SECONDS_PER_INPUT = 60  # one that takes longer is a finding


def environment() -> dict[str, str]:
    return os.environ | {
        "ASAN_OPTIONS": "strict_string_checks=1:detect_stack_use_after_return=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": f"suppressions='{ROOT / 'tests' / 'lsan-suppressions.txt'}':print_suppressions=0",
    }


def number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def first_lines(log: str) -> str:
    """What went wrong: from the target's own sentence, or the sanitizer's, a dozen lines."""
    lines = log.splitlines()
    marks = ("fuzz: ", "ERROR: ", "runtime error:", "Failure", "terminate called", "libFuzzer: ")
    start = next((i for i, line in enumerate(lines) if any(mark in line for mark in marks)), max(0, len(lines) - 12))
    return "\n".join("    " + line[:200] for line in lines[start : start + 12])


def run(name: str, seconds: int, keep: bool, options: list[str]) -> bool:
    binary = BINARIES / f"fuzz_{name}"
    crashes = FOUND / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    work = FOUND / name if keep else Path(tempfile.mkdtemp(prefix=f"splitplane-fuzz-{name}-"))
    work.mkdir(parents=True, exist_ok=True)
    dictionary = ROOT / "fuzz" / "dictionaries" / f"{name}.txt"
    command = [str(binary), f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/{name}-"]
    command += [f"-rss_limit_mb={MOST_MEGABYTES}", f"-timeout={SECONDS_PER_INPUT}", "-print_final_stats=1"]
    command += [f"-dict={dictionary}"] if dictionary.exists() else []
    command += [*OPTIONS.get(name, []), *options, str(work), str(ROOT / "fuzz" / "corpus" / name)]
    command += [str(MORE_SEEDS[name])] if name in MORE_SEEDS else []
    log_file = FOUND / f"{name}.log"
    with log_file.open("w") as sink:
        status = subprocess.run(
            command, cwd=work, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=environment()
        ).returncode
    log = log_file.read_text(errors="replace")
    if not keep:
        shutil.rmtree(work, ignore_errors=True)
    executions, coverage = number(r"stat::number_of_executed_units: (\d+)", log), number(r"cov: (\d+)", log)
    verdict = "ok" if status == 0 and executions > 0 else "FAILED"
    print(f"fuzz: {name}: {executions} inputs in {seconds} s, coverage {coverage}: {verdict}", flush=True)
    if verdict == "ok":
        return True
    print(first_lines(log))
    written = re.search(r"Test unit written to (\S+)", log)
    if written:
        artifact = Path(written.group(1))
        print(f"    again: {binary.relative_to(ROOT)} {artifact.relative_to(ROOT)}")
    print(f"    all of it: {log_file.relative_to(ROOT)}", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10, help="for each target (default 10)")
    parser.add_argument("--target", default="", help="names with commas between them; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (default 2)")
    parser.add_argument(
        "--keep", action="store_true", help="go on from what earlier runs found, and keep what this finds"
    )
    arguments, options = parser.parse_known_args()  # what begins with - and is not ours is libFuzzer's
    known = sorted(path.name.removeprefix("fuzz_") for path in BINARIES.glob("fuzz_*") if path.is_file())
    if not known:
        print("there are no fuzz targets in build/asan; 'make fuzz' builds them")
        return 2
    wanted = [name for name in arguments.target.split(",") if name] or known
    unknown = set(wanted) - set(known)
    if unknown:
        print(f"there is no target {', '.join(sorted(unknown))}; allowed: {', '.join(known)}")
        return 2
    with ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(pool.map(lambda name: run(name, arguments.seconds, arguments.keep, options), wanted))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
