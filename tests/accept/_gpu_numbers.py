"""Numbers of a bearer that several rings serve: given once, judged over all output frames by a reader of its own
(tests/gpu/air_reader.py), and what one table for all rings costs against one for each.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from _tools import ROOT, last_line, run, say
from report import Report

BUILD = ROOT / "build" / "release"
FRAMES, BEARERS = 50_000, 40
RINGS = (4, 16)
sys.path.insert(0, str(ROOT / "tests" / "gpu"))


def through(folder: Path, traffic, function: str, *flags: str) -> tuple[int, str, Path]:
    import n3_frames

    before, after = folder / "in.pcap", folder / "out.pcap"
    n3_frames.write_pcap(before, traffic.frames)
    code, output, _ = run(
        [BUILD / "splitplane", "gpu", "run", "--function", function, "--flows", BEARERS, "--duration", 120,
         "--pcap-in", before, "--pcap-out", after, *flags], 300,
    )  # fmt: skip
    return code, output, after


def given_once(report: Report, rings: int) -> None:
    """Ciphered frames in every form, source ports that vary: SNs, COUNTs and key stream."""
    import air_reader
    import n3_frames

    say(f"{FRAMES} G-PDUs of {BEARERS} bearers over {rings} rings, outer source ports vary")
    traffic = n3_frames.make(FRAMES, BEARERS, seed=rings)
    with tempfile.TemporaryDirectory() as folder:
        code, output, after = through(Path(folder), traffic, "pdcp-nea2", "--rings", str(rings), "--threads")
        name = f"numbers_once_on_{rings}_rings"
        target = "0 SNs, COUNTs and key-stream octets twice, disorder in a bearer counted: it is spread over rings"
        if code != 0:
            report.judge(name, f"exit {code}", target, False, last_line(output))
            return
        found = air_reader.judge(traffic.sdus, air_reader.read_pcap(after), ciphered=True)
        reason = ""
        if not found.unique() or found.frames != FRAMES:
            reason = "a number is missing, foreign or given twice"
        elif found.reordered == 0:  # several senders never keep a bearer's order over so many frames
            reason = "each bearer came out in order, as one that is served by one ring: nothing was tried"
        report.judge(name, str(found), target, not reason, reason)


def order_kept(report: Report, rings: int) -> None:
    import air_reader
    import n3_frames

    traffic = n3_frames.make(FRAMES, BEARERS, seed=rings, one_family_a_bearer=True)
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--rings", str(rings), "--rss", "addresses", "--threads")
        code, output, after = through(Path(folder), traffic, "gnb-headers", *flags)
        name, target = f"order_in_bearers_on_{rings}_rings", "0 reordered where RSS hashes addresses only"
        if code != 0:
            report.judge(name, f"exit {code}", target, False, last_line(output))
            return
        found = air_reader.judge(traffic.sdus, air_reader.read_pcap(after), ciphered=False)
        good = found.unique() and found.reordered == 0
        report.judge(name, str(found), target, good, "" if good else "order or numbers of a bearer are wrong")


def cost(report: Report) -> None:
    say("one table of bearers for all rings and one for each, in turn")
    code, output, _ = run([BUILD / "bench" / "gpu_bench", "--numbering", "--json"], 900)
    if not output.lstrip().startswith("{"):
        raise RuntimeError(f"gpu_bench: {last_line(output)}")
    found = json.loads(output)
    words = []
    for part in ("lock_step", "threads"):
        for rings in sorted({row["rings"] for row in found[part]}):
            own, one, varied = (
                median(row["ns"] for row in found[part] if row["rings"] == rings and row["name"] == name)
                for name in ("a table for each ring", "one table for all rings", "one table, ports vary")
            )
            more = 100 * (one / own - 1)
            words.append(f"{part} {rings}r {own:.1f} -> {one:.1f} ({more:+.0f} %), varied {varied:.1f}")
    report.judge(
        "cost_of_one_table_ns_per_packet", "; ".join(words), "printed, medians of 5 in turn, nothing lost", code == 0,
        "" if code == 0 else "a row lost, changed or leaked something: gpu_bench --numbering",
    )  # fmt: skip


def items(report: Report) -> None:
    missing = "" if (BUILD / "splitplane").exists() else "build/release/splitplane is not here"
    if not (ROOT / "tests" / "gpu" / "air_reader.py").exists():
        missing = "tests/gpu/air_reader.py is not here"
    elif importlib.util.find_spec("cryptography") is None:
        missing = "no cryptography here, by which the reader deciphers"
    for rings in RINGS:
        if missing:
            report.skip(f"numbers_once_on_{rings}_rings", "nothing twice", missing)
            report.skip(f"order_in_bearers_on_{rings}_rings", "0 reordered", missing)
            continue
        given_once(report, rings)
        order_kept(report, rings)
    if not (BUILD / "bench" / "gpu_bench").exists():
        report.skip("cost_of_one_table_ns_per_packet", "printed", "build/release/bench/gpu_bench is not here")
        return
    cost(report)
