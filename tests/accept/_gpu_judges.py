"""What tests say: faults by name, sanitizers, the seeded doorbell, and NEA2 by another implementation."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

BUILD = ROOT / "build" / "release"
TESTS = ("gpu_rings_test", "gpu_nic_test", "nicmodel_test", "bypass_test", "bypass_matrix_test")
# What the issue names, and the tests that show it: programs and filters, each of which must find some.
FAULTS = {
    "fault_nic_stops": (("nicmodel_test", "DriverFaults.a_stopped_nic*"), ("gpu_rings_test", "StoppedNic.*")),
    "fault_corrupt_descriptor": (
        ("nicmodel_test", "DriverFaults.a_corrupted_descriptor*:DriverFaults.a_frame_with_an_error*"),
        ("gpu_rings_test", "BadDescriptor.*"),
    ),
    "fault_early_done": (("nicmodel_test", "DriverFaults.an_early_done*"), ("gpu_rings_test", "EarlyWriteBack.*")),
    "fault_lost_doorbell": (("nicmodel_test", "DriverFaults.a_lost_*_doorbell*"), ("gpu_rings_test", "LostDoorbell.*")),
    "fault_stalled_function": (("gpu_rings_test", "StalledFunction.*:WatchdogTest.*"),),
    "fault_slots_exhausted": (("gpu_rings_test", "Slots.*"),),
    "hundred_starts_and_stops": (("nicmodel_test", "*hundred*"), ("gpu_rings_test", "*hundred*")),
}


def tests(program, pattern: str, timeout: float = 300, **environment: str) -> tuple[int, int, str]:
    """Passed, all, and the output of a GoogleTest program."""
    code, output, _ = run([program, f"--gtest_filter={pattern}"], timeout, **environment)
    passed = re.search(r"\[  PASSED  \] (\d+) test", output)
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", output)
    count = int(passed.group(1)) if passed else 0
    return (
        (count if code == 0 else min(count, int(ran.group(1)) - 1) if ran else 0),
        int(ran.group(1)) if ran else -1,
        output,
    )


def faults(report: Report) -> None:
    say("faults")
    if gone := [name for name in TESTS if not (BUILD / name).exists()]:
        for name in FAULTS:
            report.skip(name, "detected, reported, over or stopped cleanly", f"not here: {', '.join(gone)}")
        return
    for name, programs in FAULTS.items():
        results = [tests(BUILD / program, pattern) for program, pattern in programs]
        passed, ran = sum(r[0] for r in results), sum(r[1] for r in results)
        good = all(p == n > 0 for p, n, _ in results)
        output = "".join(r[2] for r in results if r[0] != r[1])
        report.judge(
            name, f"{passed} of {ran} tests", "detected, reported, over or stopped cleanly, no slot leaked", good,
            "" if good else last_line(output),
        )  # fmt: skip


SANITIZERS = ("asan_ubsan_clean", "tsan_clean", "seeded_relaxed_doorbell")


def without_sanitizers(report: Report, why: str) -> None:
    judged = {item.name for item in report.items}
    for name in SANITIZERS:
        if name not in judged:
            report.skip(name, "clean", why)


def sanitizer_environment() -> dict[str, str]:
    sys.path.insert(0, str(ROOT / "tests"))
    import run_all

    return run_all.sanitizer_environment()


def sanitizers(report: Report) -> None:
    if missing := [tool for tool in ("cmake", "ninja", "clang++") if shutil.which(tool) is None]:
        without_sanitizers(report, f"they need a build, and here is no {' and no '.join(missing)}")
        return
    environment = sanitizer_environment()
    for preset, title in (("asan", "asan_ubsan_clean"), ("tsan", "tsan_clean")):
        extra = ["tsan_seeded_doorbell"] if preset == "tsan" else []
        say(f"building {', '.join(TESTS)} with {preset}, some minutes")
        code, output, _ = run(["setup/build.sh", preset, *TESTS, *extra], 3000)
        if code != 0 and os.environ.get("SPLITPLANE_OFFLINE") == "1":
            without_sanitizers(report, f"nothing is installed here, and {preset} cannot be built: {last_line(output)}")
            return
        if code != 0:
            report.judge(title, "not built", "clean", False, last_line(output))
            continue
        say(f"running them with {preset}")
        results = [tests(ROOT / "build" / preset / name, "*", 1200, **environment) for name in TESTS]
        passed, ran = sum(r[0] for r in results), sum(r[1] for r in results)
        reports = sum(
            len(re.findall(r"WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:", r[2])) for r in results
        )
        good = passed == ran > 0 and reports == 0
        report.judge(
            title, f"{passed} of {ran} tests, {reports} reports", "all, 0 reports", good, "" if good else preset
        )
    seeded(report, environment)


def seeded(report: Report, environment: dict[str, str]) -> None:
    program = ROOT / "build" / "tsan" / "tests" / "tsan_seeded_doorbell"
    script = ROOT / "tests" / "tsan_seeded_race.sh"
    race, said, _ = run([script, program, "race", "TestNic"], 300, **environment)
    clean, said_clean, _ = run([script, program, "clean", "TestNic"], 300, **environment)
    good = race == 0 and clean == 0
    report.judge(
        "seeded_relaxed_doorbell",
        "reported, and without it nothing is" if good else f"exit codes {race} and {clean}",
        "caught by TSan",
        good,
        "" if good else last_line(said if race else said_clean),
    )


def nea2(report: Report) -> None:
    say("NEA2 against OpenSSL")
    if missing := [name for name in ("pytest", "cryptography") if importlib.util.find_spec(name) is None]:
        report.skip("nea2_by_openssl", "every message as python cryptography", f"no {' and no '.join(missing)} here")
        nea2_by_test_vectors(report)
        return
    code, output, _ = run([PYTHON, "-m", "pytest", "tests/gpu/test_nea2.py", "-q"], 120)
    good = code == 0 and "skipped" not in output
    report.judge(
        "nea2_by_openssl", last_line(output), "every message as python cryptography", good,
        "" if good else last_line(output),
    )  # fmt: skip
    nea2_by_test_vectors(report)


def nea2_by_test_vectors(report: Report) -> None:
    passed, ran, output = 0, 0, ""
    for program, chosen in (("crypto_device_test", "Aes128*:Nea2*"), ("gpu_rings_test", "PdcpNea2*")):
        if not (BUILD / program).exists():
            report.skip("nea2_by_test_vectors", "FIPS 197, TS 33.401 C.1", f"build/release/{program} is not here")
            return
        good, all_of_it, said = tests(BUILD / program, chosen)
        passed, ran, output = passed + good, ran + all_of_it, output + said
    good = passed == ran > 0
    report.judge(
        "nea2_by_test_vectors",
        f"{passed} of {ran} tests",
        "FIPS 197, TS 33.401 C.1",
        good,
        "" if good else last_line(output),
    )


def items(report: Report) -> None:
    faults(report)
    nea2(report)
    if os.environ.get("ACCEPT_WITHOUT_SANITIZERS") == "1":
        timings = ROOT / "build" / "results" / "timings.json"
        rows = json.loads(timings.read_text()) if timings.exists() else []
        words = ", ".join(
            f"{r['part']}: {r['passed']} passed, {r['failed']} failed" for r in rows if "san" in r["part"]
        )
        without_sanitizers(report, f"left out by ACCEPT_WITHOUT_SANITIZERS; make test said: {words or 'nothing'}")
        return
    sanitizers(report)
