"""Makes tests/p4/vectors/*.json: packets, table entries and what must come out, by p4testgen from the v1model build.

p4testgen runs the program with symbols for packet and entries, and looks for tests that reach new statements. Alone it
loses itself among the paths. So each run looks into one region of p4/steering.py: a copy of the sources, with what the
region assumes behind some statements. A C++ test (src/card/vectors_test.cpp) gives the same packets and entries to the
card's pipeline. `python3 p4/vectors.py` makes all files anew, names given make some.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from specs import P4, PROGRAMS, Program, include_folder
from steering import REGIONS, Region, steer

FOLDER = P4.parent / "tests" / "p4" / "vectors"
GENERATOR = "p4testgen"
NAMES = ("gnb-clone",)
WRAPPER = "gnb_v1model.p4"
WHAT_IS_MISSING = (
    f"{GENERATOR} is not on PATH. It is needed only to change a P4 program: the vectors are in tests/p4/vectors. It is "
    "part of p4c (github.com/p4lang/p4c, built with P4Testgen), which no package registry of this project has."
)
# Statements that no test can reach, as p4testgen prints them: program, pattern, why.
UNREACHED = (
    (
        "gnb-clone-ue",
        r"gnb_numbering\.p4i:\d+: meta\.reason = 2;",
        "the parser looked at the T-PDU's address, so it has octets if the lengths agree",
    ),
)
SWITCHES = [
    *("--target", "bmv2", "--arch", "v1model", "--test-backend", "STF", "--Wdisable=unused", "-DTESTGEN"),
    *("--path-selection", "GREEDY_STATEMENT_SEARCH", "--track-coverage", "STATEMENTS", "--print-coverage"),
    *("--stop-metric", "MAX_NODE_COVERAGE", "--only-covering-tests", "--max-tests", "0"),
    # The card of the test has 9 ports.
    *("--port-ranges", "0:8", "--seed", "1"),
]
# When a run ends: without a new test for some seconds of CPU time, or for its memory, because p4testgen frees none.
PATIENCE_SECONDS = 10
PATIENCE_FOR_THE_FIRST_SECONDS = 60  # it compiles first
MEMORY_BYTES = 4 << 30
LONGEST_SECONDS = 180
NICENESS = 10

INDEX = {"turns": "first"}  # an action's argument is the register's index; of others the slot
HELD = "_held"  # tables of v1model.p4i that say what registers hold
ENTRY = re.compile(r'add "GnbControl\.(\w+)" (.*?) ?"GnbControl\.(\w+)"\((.*)\)')
DEFAULT = re.compile(r'setdefault "GnbControl\.(\w+)" "GnbControl\.(\w+)"\((.*)\)')
INNER_NAME = re.compile(r"\b\w+/(?=\w)")  # the compiler's, in front of the program's
KEY = re.compile(r'"[^"]+":(0x[0-9A-F]+)')
VALUE = re.compile(r'"(\w+)":(0x[0-9A-F]+)')


@dataclass
class Coverage:
    """Of all runs: a statement is missed if no test reached it."""

    statements: int = 0
    missed: set[str] | None = None

    def add(self, missed: set[str]) -> bool:
        """What one more test left uncovered in its run; true if it reached something new."""
        before = self.missed
        self.missed = missed if before is None else before & missed
        return before is None or len(self.missed) < len(before)

    @property
    def covered(self) -> int:
        return self.statements - len(self.missed or ())


def left_by_each(log: str) -> tuple[int, list[set[str]]]:
    """How many statements there are, assumptions too; and which others no test had reached after each test of a run."""
    statements = 0
    left = []
    for part in log.split("Nodes covered:")[1:]:
        statements = int(re.match(r" \S+ \(\d+/(\d+)\)", part)[1])
        found = re.findall(r"^\t(\S+?)\\(\d+): (.*)$", part, re.MULTILINE)
        lines = {f"{Path(file).name}:{line}: {INNER_NAME.sub('', text)}" for file, line, text in found}
        left.append({line for line in lines if "testgen_assume(" not in line})
    return statements, left


@dataclass
class Vector:
    port: int = 0
    frame: str = ""
    short: bool = False  # the parser met the frame's end
    entries: list[dict[str, object]] = field(default_factory=list)
    registers: list[list[str | int]] = field(default_factory=list)  # before the packet: name, index, value
    mirror: list[list[int]] = field(default_factory=list)  # session, port
    out: list[list[object]] = field(default_factory=list)  # port, octets or null: any

    def line(self) -> str:
        return json.dumps({name: value for name, value in vars(self).items() if value or name in ("port", "out")})


def why(program: str, statement: str) -> str:
    reasons = (reason for name, pattern, reason in UNREACHED if name == program and re.fullmatch(pattern, statement))
    return next(reasons, "")


def numbers(text: str) -> dict[str, int]:
    return {name: int(value, 16) for name, value in VALUE.findall(text)}


def registers(name: str, value: int) -> dict[str, int]:
    """As the software NIC names them, which has no pairs."""
    return {"next_count": value >> 32, "waiting": value & 0xFFFFFFFF} if name == "numbers" else {name: value}


def read_test(text: str) -> Vector:
    """A test in p4testgen's form STF."""
    vector = Vector(short="[ExtractFailure]" in text or "[LookaheadFailure]" in text)
    held: dict[str, int] = {}
    for line in text.splitlines():
        words = line.split()
        if line.startswith("add "):
            table, keys, action, values = ENTRY.fullmatch(line.rstrip()).groups()
            key = [int(value, 16) for value in KEY.findall(keys)]
            vector.entries.append({"table": table, "key": key, "action": action, "values": numbers(values)})
        elif line.startswith("setdefault "):
            table, action, values = DEFAULT.fullmatch(line.rstrip()).groups()
            if table.endswith(HELD):
                held |= registers(table.removesuffix(HELD), numbers(values)["value"])
                continue
            vector.entries.append({"table": table, "key": [], "action": action, "values": numbers(values)})
        elif line.startswith("packet "):
            vector.port, vector.frame = int(words[1]), "".join(words[2:]).lower()
        elif line.startswith("mirroring_add "):
            vector.mirror.append([int(words[1]), int(words[2])])
        elif line.startswith("expect "):
            octets = "".join(words[2:]).rstrip("$").lower()
            vector.out.append([int(words[1]), octets or None])
        elif words and not line.startswith("#"):
            raise ValueError(f"not understood: {line}")
    values = {name: value for entry in vector.entries for name, value in entry["values"].items()}
    vector.registers = [[name, values.get(INDEX.get(name, "slot"), 0), value] for name, value in held.items()]
    return vector


@dataclass
class Run:
    region: Region
    vectors: list[Vector]
    log: str
    missing: list[str]  # places that the sources do not have
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


def run(generator: str, program: Program, region: Region) -> Run:
    """p4testgen looks on and on for a test of what cannot be reached, and takes more and more memory: it is ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        missing = steer(P4, region, folder)
        first, last = (8 * octets for octets in region.octets)
        command = [generator, *SWITCHES, region.only, "--packet-size-range", f"{first}:{last}"]
        command += ["-I", str(include_folder(generator)), *(f"-D{define}" for define in program.defines)]
        command += ["--out-dir", str(folder), str(folder / WRAPPER)]
        log = folder / "log"
        with log.open("w") as output:
            running = subprocess.Popen(
                [part for part in command if part],
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=limit,
            )
            try:
                cpu, most = wait(running, folder)
            finally:
                running.kill()
                running.wait()
        tests = sorted(folder.glob("*.stf"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))
        texts = [path.read_text() for path in tests]
        vectors = [read_test(text) for text in texts if "\npacket " in text]  # the last one may have been cut off
        return Run(region, vectors, log.read_text(), missing, cpu, most)


def limit() -> None:
    """It ends by itself if this script is killed."""
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_SECONDS, LONGEST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY_BYTES, 2 * MEMORY_BYTES))


def wait(running: subprocess.Popen[bytes], folder: Path) -> tuple[float, int]:
    """Until it has ended, or found nothing for too long. CPU seconds and octets of memory that it took."""
    found, since, cpu, most = 0, 0.0, 0.0, 0
    patience = PATIENCE_FOR_THE_FIRST_SECONDS
    while running.poll() is None and cpu - since < patience and most < MEMORY_BYTES:
        time.sleep(0.5)
        cpu, most = max(cpu, cpu_seconds(running.pid)), max(most, memory_bytes(running.pid))
        if (now := len(list(folder.glob("*.stf")))) != found:
            found, since, patience = now, cpu, PATIENCE_SECONDS
    return cpu, most


def cpu_seconds(pid: int) -> float:
    """0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


def source_hash(program: Program) -> str:
    """Of what the compiler reads of our sources for that program: comments and other programs' parts are not in it."""
    with tempfile.TemporaryDirectory() as name:
        for of_the_compiler in ("core.p4", "v1model.p4"):
            (Path(name) / of_the_compiler).touch()
        command = ["cpp", "-P", "-nostdinc", "-I", name, *(f"-D{define}" for define in program.defines)]
        text = subprocess.run([*command, P4 / WRAPPER], capture_output=True, text=True, check=True).stdout
    return hashlib.sha256(text.encode()).hexdigest()


def made_before(program: Program) -> tuple[Coverage, list[Vector]]:
    """Of the same sources, for a run that adds to them."""
    path = FOLDER / f"{program.name}.json"
    if not path.exists():
        raise RuntimeError("there are no vectors yet; allowed without --add")
    head = json.loads(path.read_text())
    if head["sha256"] != source_hash(program):
        raise RuntimeError("the vectors are of other sources; allowed without --add")
    vectors = [Vector(**one) for one in head["vectors"]]
    return Coverage(head["statements"], set(head["not_covered"])), vectors


def make(generator: str, program: Program, jobs: int, add: list[str]) -> str:
    """Writes the program's file; what to print."""
    coverage, vectors = made_before(program) if add else (Coverage(), [])
    regions = [region for region in REGIONS if region.name in add] if add else REGIONS
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda region: run(generator, program, region), regions):
            statements, left = left_by_each(done.log)
            if left:
                coverage.statements = min(statements, coverage.statements or statements)  # assumptions are some, too
            kept = 0
            for vector, missed in zip(done.vectors, left, strict=False):
                is_new = coverage.add(missed)
                # One of a frame that is dropped compares nothing.
                if (is_new or vector.out) and vector not in vectors:
                    vectors.append(vector)
                    kept += 1
            report = f"{kept} vectors, {len(coverage.missed or ())} statements left"
            if not left:
                report += f"; p4testgen says: {' '.join(done.log.split())[:500]}"
            if done.missing:
                report += f"; the sources do not have {', '.join(done.missing)}"
            print(
                f"  {done.region.name}: {report}; {done.cpu_seconds:.0f} s of CPU, {done.memory_bytes >> 20} MiB",
                flush=True,
            )
    if not coverage.statements:
        raise RuntimeError("p4testgen made no test")
    head = {
        "sha256": source_hash(program),
        "program": program.name,
        "defines": program.defines,
        "statements": coverage.statements,
        "covered": coverage.covered,
        "not_covered": sorted(coverage.missed or ()),
    }
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(vector.line() for vector in vectors)
    text = json.dumps(head, indent=1)[:-2] + f',\n "vectors": [\n{lines}\n]}}\n'
    (FOLDER / f"{program.name}.json").write_text(text)
    out = sum(1 for vector in vectors if vector.out)
    unexplained = sum(1 for statement in coverage.missed or () if not why(program.name, statement))
    return (
        f"{len(vectors)} vectors, {out} of them of frames that go out; {coverage.covered} of {coverage.statements} "
        f"statements; for {unexplained} of the others no reason is known"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"programs, by default {', '.join(NAMES)}")
    parser.add_argument(
        "--add",
        nargs="+",
        default=[],
        choices=[region.name for region in REGIONS],
        help="looks there only, and adds what is new",
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, of up to 4 GiB each")
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    generator = shutil.which(GENERATOR)
    if generator is None:
        print(WHAT_IS_MISSING, file=sys.stderr)
        return 1
    if include_folder(generator) is None:
        print(
            f"{GENERATOR} is on PATH, but its folder p4include is neither beside it nor in share/p4c", file=sys.stderr
        )
        return 1
    failed = 0
    for program in (p for p in PROGRAMS if p.name in names):
        try:
            print(f"{program.name}: {make(generator, program, arguments.jobs, arguments.add)}", flush=True)
        except (RuntimeError, ValueError) as complaint:
            print(f"{program.name}: {complaint}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
