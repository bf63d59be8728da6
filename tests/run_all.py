"""What `make test` runs after setup: each part is timed, and the last line counts what passed, failed and was skipped.

A part that fails does not stop the others, except the tests of a build that failed. Logs are in build/log.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "log"
RESULTS = ROOT / "build" / "results"
# TSan is for the rooms with more than one thread; everything else is covered by ASan and UBSan. Left to `--whole` are
# rooms that use threads of the others, and two with some of their own: crypto, and gnb/control, the longest to compile.
TSAN_ROOMS = """
engine engine/driver gnb/datapath tap control card/link card/control gnb/journal runtime observe gpu/rings nicmodel
bypass phy/capture phy/link gnb/phy radio
"""
TSAN_WHOLE_ROOMS = "crypto n3 ran/control gnb/control gpu/nic phy/control ue/terminal"


def tsan_tests(whole: bool) -> list[str]:
    rooms = TSAN_ROOMS + (TSAN_WHOLE_ROOMS if whole else "")
    return [room.replace("/", "_") + "_test" for room in rooms.split()]


SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1",
}
SUPPRESSIONS = {"TSAN_OPTIONS": "tsan-suppressions.txt", "LSAN_OPTIONS": "lsan-suppressions.txt"}
NO_COMPILER = 77  # exit code of setup/gpu.sh where nvcc could not be installed
FUZZ_SECONDS = 5  # for each target
PROPERTY_CASES = 25  # of each property under sanitizers; RapidCheck has 100 unless told
MOST_FAILURES_SAID = 40  # behind the table: who has only the end of the output finds them there
# Proof that the suppressions do not hide a race of ours (tests/CMakeLists.txt).
SEEDED_RACES = ("tsan_seeded_race", "tsan_seeded_doorbell")


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)  # what failed and why, said again behind the table

    def __iadd__(self, other: "Counts") -> "Counts":
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        return self


@dataclass
class Part:
    name: str
    run: Callable[[], tuple[bool, Counts]]
    needs: str = ""
    beside: str = ""  # it runs together with this part, the one before it
    ok: bool = False
    ran: bool = False
    seconds: float = 0.0
    counts: Counts = field(default_factory=Counts)


def logged(name: str, command: list[str], environment: dict[str, str] | None = None) -> bool:
    """Runs a command with its output in build/log; shows the end of it when the command fails."""
    log = LOGS / f"test-{name}.log"
    with log.open("w") as sink:
        status = subprocess.run(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=os.environ | (environment or {})
        ).returncode
    if status != 0:
        print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-60:]))
        print(f"exit code {status}; all of it: {log.relative_to(ROOT)}")
    return status == 0


def junit_counts(files: list[Path]) -> Counts:
    """Adds up the cases in JUnit reports; GoogleTest marks a skipped case by an attribute, pytest by an element."""
    counts = Counts()
    for case in (case for file in files for case in ElementTree.parse(file).iter("testcase")):
        wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
        if wrong is not None:
            counts.failed += 1
            said = (wrong.get("message") or wrong.text or "").strip().splitlines()[:3]
            counts.failures.append(f"{case.get('classname')}.{case.get('name')}: {' | '.join(said)}")
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def judged(ok: bool, counts: Counts) -> tuple[bool, Counts]:
    """A part that failed without a failing case (a crash, a build, nothing collected) counts as one failure."""
    if not ok and counts.failed == 0:
        counts.failed = 1
    return ok and counts.failed == 0, counts


def lint() -> tuple[bool, Counts]:
    ok = logged("lint", ["tests/lint/lint.sh"])
    lines = (LOGS / "test-lint.log").read_text(errors="replace").splitlines()
    verdicts = [line.split()[-1] for line in lines if line.startswith("lint: ")]
    failures = [line for line in lines if line.startswith("lint: ") and line.endswith("FAILED")]
    return judged(ok, Counts(verdicts.count("ok"), verdicts.count("FAILED"), failures=failures))


def test_targets(preset: str, whole: bool) -> list[str]:
    """The *_test executables that this preset's build knows, narrowed to the threaded ones for TSan."""
    listing = subprocess.run(
        ["ninja", "-C", f"build/{preset}", "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    known = sorted(set(re.findall(r"^(\w+_test): ", listing, re.MULTILINE)))
    return [name for name in known if preset != "tsan" or name in tsan_tests(whole)]


def other_programs(preset: str, tests: list[str]) -> list[str]:
    """What a build makes besides the unit tests, the inputs of fuzz targets and the benches: the program, tools. The
    nightly run compiles the benches (`--whole`, `make bench`), which take a minute."""
    listing = subprocess.run(
        ["ninja", "-C", f"build/{preset}", "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    programs = re.findall(r"^(\S+): CXX_EXECUTABLE_LINKER", listing, re.MULTILINE)
    return sorted(set(programs) - set(tests) - {name for name in programs if name.startswith(("fuzz/", "bench/"))})


def build(preset: str, whole: bool) -> tuple[bool, Counts]:
    directory = ROOT / "build" / preset
    launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    if not (directory / "build.ninja").exists() and not logged(
        f"configure-{preset}", ["cmake", "--preset", preset], launcher
    ):
        return judged(False, Counts())
    tests = test_targets(preset, whole)
    if not tests:
        print(f"the {preset} build has no test to build")
        return judged(False, Counts())
    if preset == "release":
        targets = [] if whole else other_programs(preset, tests)
    else:
        targets = tests + {"asan": ["splitplane", "fuzz_targets"], "tsan": list(SEEDED_RACES)}[preset]
    return judged(logged(f"build-{preset}", ["ninja", "-C", str(directory), *targets]), Counts())


def unit_tests(preset: str, whole: bool = False) -> tuple[bool, Counts]:
    """With sanitizers fewer cases of each property, unless `whole`: they are other cases in each run."""
    results = RESULTS / preset
    shutil.rmtree(results, ignore_errors=True)
    environment = {"GTEST_OUTPUT": f"xml:{results}/", **(sanitizer_environment() if preset != "release" else {})}
    if preset != "release" and not whole:
        environment["RC_PARAMS"] = f"max_success={PROPERTY_CASES}"
    more = {"asan": ["metrics_page"], "tsan": ["tsan_seeded_.*"]}.get(preset, [])
    folders = [name.removesuffix("_test") for name in test_targets(preset, whole)] + more
    selection = [] if preset == "release" else ["-R", f"^({'|'.join(folders)})$"]
    ok = logged(
        f"unit-{preset}",
        ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "--no-tests=error", "--timeout", "300"]
        + ["--parallel", "2", *selection],
        environment,
    )
    return judged(ok, junit_counts(sorted(results.glob("*.xml"))))


def sanitizer_environment() -> dict[str, str]:
    options = dict(SANITIZER_OPTIONS)
    for variable, name in SUPPRESSIONS.items():
        file = ROOT / "tests" / name
        if file.exists():
            options[variable] = ":".join(filter(None, [options.get(variable, ""), f"suppressions='{file}'"]))
    return options


def fuzz() -> tuple[bool, Counts]:
    """Each fuzz target for FUZZ_SECONDS from the committed corpus; a finding says its input and how to run it again.
    The inputs are the same ones each time, so that a finding is of the change at hand; `make fuzz` takes new ones."""
    command = [sys.executable, "fuzz/run.py", "--seconds", str(FUZZ_SECONDS), "-seed=1"]
    run = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(run.stdout, end="", flush=True)
    lines = run.stdout.splitlines()
    verdicts = [line.split()[-1] for line in lines if line.startswith("fuzz: ")]
    failures = [line for line in lines if not line.endswith(": ok")]
    return judged(run.returncode == 0, Counts(verdicts.count("ok"), verdicts.count("FAILED"), failures=failures))


def gpu_build() -> tuple[bool, Counts]:
    """Compiles the CUDA programs for each GPU; skipped, and said so, where the compiler cannot be had."""
    log = LOGS / "test-gpu-build.log"
    with log.open("w") as sink:
        status = subprocess.run(
            ["setup/gpu.sh"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        ).returncode
    print(log.read_text(errors="replace"), end="")
    return judged(status in (0, NO_COMPILER), Counts(passed=int(status == 0), skipped=int(status == NO_COMPILER)))


def gpu_tests() -> tuple[bool, Counts]:
    """The PTX of what was built, and each program's own verdict: 0 on a GPU, 77 and the reason without one."""
    report = RESULTS / "gpu.xml"
    report.unlink(missing_ok=True)
    ok = logged("gpu", [sys.executable, "-m", "pytest", "tests/gpu/cuda", "-q", "-rs", f"--junitxml={report}"])
    return judged(ok, junit_counts([report] if report.exists() else []))


def python_tests(whole: bool) -> tuple[bool, Counts]:
    """Oracle and end-to-end tests; as root where that needs no password, because of the network namespaces. The
    end-to-end tests wait most of the time, so that the others run beside them. `whole`: the long ones, too."""
    root = []
    if os.geteuid() != 0 and shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"]).returncode == 0:
        root = ["sudo", "-n", "--preserve-env=PYTHONDONTWRITEBYTECODE,HYPOTHESIS_STORAGE_DIRECTORY"]
    shards = {"e2e": ["tests/e2e"], "other": ["tests", "--ignore=tests/gpu/cuda", "--ignore=tests/e2e"]}
    reports = {name: RESULTS / f"python-{name}.xml" for name in shards}

    def run_shard(name: str) -> bool:
        reports[name].unlink(missing_ok=True)
        command = [*root, sys.executable, "-m", "pytest", *shards[name], "-q", "--durations=10"]
        # Each keeps its own list of what failed last.
        command += [f"--junitxml={reports[name]}", "-o", f"cache_dir=.pytest_cache/{name}"]
        command += [] if whole else ["-m", "not nightly"]
        return logged(f"python-{name}", command)

    with ThreadPoolExecutor(len(shards)) as pool:
        ok = all(list(pool.map(run_shard, shards)))
    return judged(ok, junit_counts([report for report in reports.values() if report.exists()]))


def all_parts(whole: bool) -> list[Part]:
    """`whole`: the unit tests as the release build compiles them too, not only under the sanitizers, and long tests."""
    parts = [Part("lint", lint), Part("release build", lambda: build("release", whole))]
    if whole:
        parts.append(Part("release unit tests", lambda: unit_tests("release"), needs="release build"))
    for preset in ("asan", "tsan"):
        parts.append(Part(f"{preset} build", lambda preset=preset: build(preset, whole)))
        parts.append(
            Part(f"{preset} unit tests", lambda preset=preset: unit_tests(preset, whole), needs=f"{preset} build")
        )
    parts.append(Part("fuzz targets", fuzz, needs="asan build"))
    parts.append(Part("gpu build", gpu_build, beside="fuzz targets"))  # nothing in either is judged by a clock
    parts.append(Part("gpu tests", gpu_tests, needs="gpu build"))
    parts.append(Part("python tests", lambda: python_tests(whole), needs="release build"))
    return parts


def report(parts: list[Part], total_seconds: float) -> bool:
    total = Counts()
    print(f"\n{'part':<20} {'time':>8} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for part in parts:
        total += part.counts
        counts = f"{part.counts.passed:>7} {part.counts.failed:>7} {part.counts.skipped:>8}"
        print(f"{part.name:<20} {part.seconds:>6.1f} s {counts}" + ("" if part.ran else "  not run"))
    print(f"{'total':<20} {total_seconds:>6.1f} s\n")
    for line in total.failures[:MOST_FAILURES_SAID]:
        print(f"failed: {line[:400]}")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return all(part.ok for part in parts)


def save_timings(parts: list[Part]) -> None:
    rows = [{"part": part.name, "seconds": round(part.seconds, 1), **vars(part.counts)} for part in parts]
    (RESULTS / "timings.json").write_text(json.dumps(rows, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="", help="first words of parts, with commas: lint,release,asan,tsan,fuzz,gpu,python"
    )
    parser.add_argument("--whole", action="store_true", help="the unit tests of the release build and long tests too")
    arguments = parser.parse_args()
    wanted = [word for word in arguments.only.split(",") if word]
    if "fuzz" in wanted:
        wanted.append("asan")  # whose build has the targets
    parts = [part for part in all_parts(arguments.whole) if not wanted or part.name.split()[0] in wanted]
    unknown = set(wanted) - {part.name.split()[0] for part in parts}
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; there are lint, release, asan, tsan, fuzz, gpu, python")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(ROOT / "build" / "hypothesis")
    begin = time.monotonic()

    def run(part: Part) -> None:
        where = f"[{parts.index(part) + 1}/{len(parts)}] {part.name}"
        if any(other.name == part.needs and not other.ok for other in parts):
            part.counts.failed = 1
            print(f"{where}: not run, because {part.needs} failed", flush=True)
            return
        print(f"{where} ...", flush=True)
        started = time.monotonic()
        try:
            part.ok, part.counts = part.run()
        except (OSError, subprocess.SubprocessError, ElementTree.ParseError) as error:
            print(f"{part.name} could not be run: {error}")
            part.ok, part.counts = judged(False, Counts())
        part.ran = True
        if not part.ok and not part.counts.failures:
            part.counts.failures = [f"{part.name}: its output above and its log in build/log say why"]
        part.seconds = time.monotonic() - started
        print(f"{where}: {'ok' if part.ok else 'FAILED'} in {part.seconds:.1f} s", flush=True)

    with ThreadPoolExecutor(2) as pool:
        for part in [one for one in parts if one.beside not in [other.name for other in parts]]:
            list(pool.map(run, [part, *(one for one in parts if one.beside == part.name)]))
    save_timings(parts)
    return 0 if report(parts, time.monotonic() - begin) else 1


if __name__ == "__main__":
    sys.exit(main())
