"""`make bench`: cycles per packet of every feature set, interleaved with dpdk-testpmd on net_null; medians.

A repeat counts only if the machine was quiet while it ran (time lost in gaps over 2 us, and other processes' share of
the CPU); a run with too few quiet repeats is marked invalid instead of being printed as good. Writes out/bench.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("SPLITPLANE_BUILD", ROOT / "build" / "release"))
OUT = ROOT / "out"

MAX_JITTER_PERCENT = 4.0  # a virtual machine that does nothing else shows 2 to 3
MAX_OTHER_LOAD = 0.25  # cores
TESTPMD_SECONDS = 1.0


def top_priority() -> None:
    """Own session and autogroup with the highest weight, where we may (root)."""
    os.setsid()
    try:
        Path("/proc/self/autogroup").write_text("-20")
        os.nice(-20)
    except OSError:
        pass


def busy_ticks() -> float:
    fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return sum(fields) - fields[3] - fields[4]  # all but idle and iowait


def other_load(seconds: float = 0.5) -> float:
    """Cores kept busy by others while we do nothing."""
    before = busy_ticks()
    time.sleep(seconds)
    return (busy_ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


def pipeline(arguments: list[str]) -> dict:
    done = subprocess.run(
        [BUILD / "bench" / "pipeline_bench", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=top_priority,
    )
    if done.returncode != 0:
        raise RuntimeError(f"pipeline_bench: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def testpmd_mpps(mode: str, hugepages: bool) -> float:
    """Packets per microsecond of one forwarding core over two net_null ports."""
    command = [
        *(
            "stdbuf",
            "-oL",
            "dpdk-testpmd",
            "--no-pci",
            "--iova-mode=va",
            "--file-prefix=splitbenchpmd",
            "--lcores=0@1,1@0",
        ),
        *(["-m", "256"] if hugepages else ["--no-huge", "-m", "512"]),
        *("--vdev=net_null0,size=128", "--vdev=net_null1,size=128"),
        *("--", "-i", "--nb-cores=1", f"--forward-mode={mode}", "--total-num-mbufs=20000"),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=top_priority,
    )
    assert process.stdin is not None
    try:
        time.sleep(0.6)  # EAL and ports
        process.stdin.write("start\nshow port stats all\n")
        process.stdin.flush()
        time.sleep(TESTPMD_SECONDS)
        output, _ = process.communicate("show port stats all\nstop\nquit\n", timeout=20)
    finally:
        process.kill()
    rates = [int(rate) for rate in re.findall(r"Rx-pps:\s+(\d+)", output)]
    if len(rates) < 2 or sum(rates[-2:]) == 0:
        raise RuntimeError("dpdk-testpmd gave no figures: " + " / ".join(output.strip().splitlines()[-3:]))
    return sum(rates[-2:]) / 1e6


def one_repeat(arguments: list[str]) -> dict:
    load = other_load()
    repeat = pipeline(arguments)
    cycles = repeat["cycles"]
    for mode in ("macswap", "io"):
        mpps = testpmd_mpps(mode, repeat["hugepages"])
        cycles[f"testpmd_{mode}"] = repeat["tsc_hz"] / (mpps * 1e6)
    repeat["other_load"] = load
    repeat["quiet"] = repeat["jitter_percent"] <= MAX_JITTER_PERCENT and load <= MAX_OTHER_LOAD
    return repeat


def collect(wanted: int, arguments: list[str]) -> list[dict]:
    repeats: list[dict] = []
    quiet = 0
    begin = time.monotonic()
    while quiet < wanted and len(repeats) < 2 * wanted:
        try:
            repeat = one_repeat(arguments)
        except KeyboardInterrupt:
            if not repeats:
                raise
            print(f"  interrupted: what follows is of {len(repeats)} repeats", file=sys.stderr, flush=True)
            break
        repeats.append(repeat)
        quiet += repeat["quiet"]
        print(
            f"  repeat {len(repeats)}: jitter {repeat['jitter_percent']:.1f} %, other load {repeat['other_load']:.2f} "
            f"cores: {'quiet' if repeat['quiet'] else 'NOT QUIET, not counted'}",
            file=sys.stderr,
            flush=True,
        )
        if len(repeats) == 1:
            each = time.monotonic() - begin
            print(
                f"  {wanted} quiet ones are wanted, {2 * wanted} made at most: {wanted * each / 60:.1f} to "
                f"{2 * wanted * each / 60:.1f} minutes; Ctrl-C shows what there is by then",
                file=sys.stderr,
                flush=True,
            )
    return repeats


def summarise(repeats: list[dict], wanted: int) -> dict:
    quiet = [repeat for repeat in repeats if repeat["quiet"]]
    used = quiet if len(quiet) >= wanted else repeats
    rows = {
        name: {
            "median": statistics.median(repeat["cycles"][name] for repeat in used),
            "min": min(repeat["cycles"][name] for repeat in used),
            "max": max(repeat["cycles"][name] for repeat in used),
        }
        for name in used[0]["cycles"]
    }
    return {
        "valid": len(quiet) >= wanted,
        "repeats": len(used),
        "quiet_repeats": len(quiet),
        "hugepages": used[0]["hugepages"],
        "tsc_hz": used[0]["tsc_hz"],
        "cpu": cpu_model(),
        "rows": rows,
    }


def cpu_model() -> str:
    found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return found.group(1) if found else "unknown"


ROWS = {
    "drop": "drop (free, no restore)",
    "l2fwd": "l2fwd",
    "decap": "decap",
    "headers": "headers, one bearer",
    "mat.1024": "mat, 1 K bearers",
    "mat.65536": "mat, 64 K bearers",
    "mat.1048576": "mat, 1 M bearers",
    "clone_drop": "clone_drop",
    "clone": "clone, drained on the same core",
    "clone_two_cores": "clone, consumer on the other core (restore not subtracted)",
    "l2fwd_on_null": "l2fwd with net_null receive and transmit, cold",
    "mat_on_null": "mat with net_null receive and transmit, cold",
    "l2fwd_null": "our l2fwd on net_null, hot",
    "io_null": "our receive and transmit on net_null, hot",
    "testpmd_macswap": "dpdk-testpmd macswap on net_null, hot",
    "testpmd_io": "dpdk-testpmd io on net_null, hot",
    "restore": "restore of a buffer (measured alone, subtracted)",
}


def print_table(summary: dict) -> None:
    hz = summary["tsc_hz"]
    state = "quiet" if summary["valid"] else "INVALID: the machine was not quiet, do not quote"
    pages = "hugepages" if summary["hugepages"] else "NO hugepages"
    print(f"\n{summary['cpu']}, TSC {hz / 1e9:.2f} GHz, {pages}, {summary['repeats']} repeats: {state}")
    print("One core, 128-octet packets, 65,536 cold buffers in random order; TSC cycles per packet\n")
    print(f"  {'row':60s} {'median':>8s} {'min':>8s} {'max':>8s} {'Mpps':>7s}")
    for name, text in ROWS.items():
        if name not in summary["rows"]:
            continue
        row = summary["rows"][name]
        mpps = f"{hz / row['median'] / 1e6:7.1f}" if row["median"] > 0 else "      -"
        print(f"  {text:60s} {row['median']:8.1f} {row['min']:8.1f} {row['max']:8.1f} {mpps}")
    rows = summary["rows"]
    if "round_trip_ns_before" in rows:
        before, after = rows["round_trip_ns_before"]["median"], rows["round_trip_ns_after"]["median"]
        mode = "fast" if max(before, after) < 100 else "slow"
        print(f"\n  core-to-core round trip {before:.0f} ns before, {after:.0f} ns after: {mode} mode")
    checks = {name: rows[name]["max"] for name in ("copies_lost", "unexpected_drops", "damaged_buffers")}
    print("  " + ", ".join(f"{name} {value:.0f}" for name, value in checks.items()))


def micro_benchmarks() -> dict:
    """The Google Benchmark programs of wire/ and the bearer tables, medians in nanoseconds."""
    results: dict[str, float] = {}
    for name in ("wire_bench", "key_table_bench"):
        program = BUILD / "bench" / name
        if not program.exists():
            continue
        done = subprocess.run(
            [program, "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_min_time=0.02"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=300,
            preexec_fn=top_priority,
        )
        for row in json.loads(done.stdout)["benchmarks"]:
            if row.get("aggregate_name") == "median":
                results[row["run_name"]] = row["cpu_time"]
    return results


def measure(repeats: int, one_core: bool, micro: bool) -> dict:
    arguments = ["--one-core"] if one_core or (os.cpu_count() or 1) < 2 else []
    found = collect(repeats, arguments)
    summary = summarise(found, repeats)
    if micro and (summary["valid"] or len(found) == 2 * repeats):  # not after Ctrl-C
        print(
            "  wire formats and key tables, some minutes (--no-micro leaves them out) ...", file=sys.stderr, flush=True
        )
        try:
            summary["nanoseconds"] = micro_benchmarks()
        except KeyboardInterrupt:
            print("  interrupted: without these", file=sys.stderr, flush=True)
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="quiet repeats wanted (default 7)")
    parser.add_argument("--one-core", action="store_true", help="leave the two-core rows out")
    parser.add_argument("--no-micro", action="store_true", help="leave the Google Benchmark programs out")
    options = parser.parse_args()
    print("bench: pipeline on cold buffers, interleaved with dpdk-testpmd", file=sys.stderr, flush=True)
    try:
        summary = measure(options.repeats, options.one_core, not options.no_micro)
    except KeyboardInterrupt:
        print("bench: interrupted before there was anything to show", file=sys.stderr)
        return 130
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print_table(summary)
    for name, nanoseconds in summary.get("nanoseconds", {}).items():
        print(f"  {name:60s} {nanoseconds:8.2f} ns")
    print("\n  JSON: out/bench.json")
    return 0 if summary["valid"] else 1


if __name__ == "__main__":
    sys.exit(main())
