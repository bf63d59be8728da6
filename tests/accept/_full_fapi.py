"""FAPI and nFAPI: an independent decoder reads every message, a million changed datagrams, and what a message costs."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

RELEASE = ROOT / "build" / "release"
SOURCES = ROOT / "src" / "phy" / "fapi"
DECODER = ROOT / "tests" / "oracle" / "test_fapi.py"
MILLION = 1_000_000
SANITIZERS = {"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
KINDS = 19  # of messages, all in one file of fapi_tool

# Row of the bench, unit of its figure, and the most that it may be.
COSTS = {
    "dl_tti_write_per_pdu/100": (150, "ns"),
    "dl_tti_read_per_pdu/100": (300, "ns"),
}
# Octets a second, at least: a slot of 0.5 ms with 160 KiB needs 0.33 GB/s.
RATES = {"tx_data_cut/checksum/1/163840": 2.0, "tx_data_receive/checksum/1/163840": 1.0}


def decoder(report: Report) -> None:
    if not DECODER.exists():
        report.skip("fapi_independent_decoder", "agrees", f"{DECODER.relative_to(ROOT)} is not there")
        return
    status, output, seconds = run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", DECODER], 600)
    met = status == 0 and "skipped" not in last_line(output)
    report.judge("fapi_independent_decoder", last_line(output), "agrees", met, "" if met else f"{seconds:.0f} s")


def read_back(report: Report) -> None:
    """What was meant and what our readers find, over every kind of message: the file, not the memory, is between."""
    with tempfile.TemporaryDirectory() as folder:
        octets, meant = Path(folder) / "octets", Path(folder) / "meant"
        status, output, _ = run([RELEASE / "tools" / "fapi_tool", "emit", "7", "50", octets, meant], 120)
        if status == 0:
            status, output, _ = run([RELEASE / "tools" / "fapi_tool", "read", octets], 120)
        if status != 0:
            report.judge("fapi_read_back", "none", "every message", False, f"exit code {status}: {last_line(output)}")
            return
        wanted, found = json.loads(meant.read_text()), json.loads(output)
    # The reader does not know in which form TX_DATA was sent.
    form = re.compile(r"pdu_length$|tag$")
    aside = {"interface", "first_datagram", "datagrams", "sequence_number", "transmit_timestamp"}

    def bare(message: dict) -> dict:
        return {k: v for k, v in message.items() if k not in aside and not form.search(k)}

    equal = sum(bare(a) == bare(b) for a, b in zip(wanted, found, strict=False))
    kinds = len({message["message"] for message in wanted})
    met = equal == len(wanted) == len(found) and kinds == KINDS
    report.judge(
        "fapi_read_back", f"{equal} of {len(wanted)}", "every message", met, "" if met else f"{kinds} kinds of messages"
    )


def mutations(report: Report, item: str, preset: str, **environment: str) -> None:
    program = ROOT / "build" / preset / "phy_fapi_test"
    if not program.exists():
        report.skip(item, "survived", f"{program.relative_to(ROOT)} is not built")
        return
    # `make accept` builds release only: an old program of another preset would speak of other sources.
    if program.stat().st_mtime < max(path.stat().st_mtime for path in SOURCES.iterdir()):
        report.skip(item, "survived", f"{program.relative_to(ROOT)} is older than the sources")
        return
    command = [program, "--gtest_filter=FapiMutation.*"]
    status, output, seconds = run(command, 1800, SPLITPLANE_MUTATIONS=str(MILLION), **environment)
    met = status == 0 and "[  PASSED  ] 1 test" in output
    report.judge(
        item, f"{MILLION} changed datagrams", "survived", met, f"{seconds:.0f} s" if met else last_line(output)
    )


def cost(report: Report) -> None:
    status, output, _ = run([RELEASE / "bench" / "fapi_bench", "--benchmark_format=json"], 300)
    if status != 0:
        report.judge("fapi_cost", "none", "fapi_bench runs", False, last_line(output))
        return
    rows = {row["name"]: row for row in json.loads(output[output.index("{") :])["benchmarks"]}
    for name, (limit, unit) in COSTS.items():
        report.at_most(f"fapi_{name}".replace("/", "_"), 1e9 / rows[name]["items_per_second"], limit, unit)
    for name, limit in RATES.items():
        gigabytes = rows[name]["bytes_per_second"] / 1e9
        report.at_least(f"fapi_{name}".replace("/", "_"), gigabytes, limit, "GB/s")


def items(report: Report) -> None:
    say("FAPI: independent decoder, changed datagrams, cost")
    decoder(report)
    read_back(report)
    mutations(report, "fapi_million_mutations", "release")
    mutations(report, "fapi_million_mutations_asan", "asan", **SANITIZERS)
    cost(report)
