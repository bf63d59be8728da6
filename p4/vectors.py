"""Makes tests/p4/vectors/*.json: packets, table entries and what must come out, by p4testgen from the v1model build.

p4testgen runs the program with symbols for packet and entries, and looks for tests until every statement was reached. A
C++ test (src/card/vectors_test.cpp) gives the same packets and entries to the card's pipeline. `python3 p4/vectors.py`
makes all files anew, names given make some. Tests that forward come first: those that drop compare less.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from specs import P4, PROGRAMS, Program, include_folder, source_hash

FOLDER = P4.parent / "tests" / "p4" / "vectors"
GENERATOR = "p4testgen"
NAMES = ("gnb-clone",)
WHAT_IS_MISSING = (
    f"{GENERATOR} is not on PATH. It is needed only to change a P4 program: the vectors are in tests/p4/vectors. It is "
    "part of p4c (github.com/p4lang/p4c, built with P4Testgen), which no package registry of this project has."
)
# Statements that no test reaches by construction, and why: a part of the line that p4testgen prints.
UNREACHED = (("meta.waiting = meta.pair[31:0] + 4294967295", "registers are 0 in every test, so nothing waits"),)
SWITCHES = [
    *(
        "--target",
        "bmv2",
        "--arch",
        "v1model",
        "--test-backend",
        "STF",
        "--Wdisable=unused",
    ),
    *("--path-selection", "GREEDY_STATEMENT_SEARCH", "--track-coverage", "STATEMENTS", "--print-coverage"),
    *("--stop-metric", "MAX_NODE_COVERAGE", "--only-covering-tests", "--max-tests", "0"),
    # Bits; shorter frames end in the parser, and the search loses itself in them. The card of the test has 9 ports.
    *("--packet-size-range", "720:1600", "--port-ranges", "0:8"),
]
RUNS = ("--output-packet-only", "--dropped-packet-only")
SEEDS = range(1, 9)
PATIENCE_SECONDS = 60  # of CPU time without a new test
MEMORY_BYTES = 4 << 30

ENTRY = re.compile(r'add "GnbControl\.(\w+)" (.*?) ?"GnbControl\.(\w+)"\((.*)\)')
DEFAULT = re.compile(r'setdefault "GnbControl\.(\w+)" "GnbControl\.(\w+)"\((.*)\)')
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

    @property
    def is_complete(self) -> bool:
        return self.missed is not None and all(why(statement) for statement in self.missed)


def missed_after_each(log: str) -> tuple[int, list[set[str]]]:
    """How many statements there are, and what p4testgen lists as not covered after each test of a run."""
    statements = 0
    lists = []
    for part in log.split("Nodes covered:")[1:]:
        statements = int(re.match(r" \S+ \(\d+/(\d+)\)", part)[1])
        found = re.findall(r"^\t(\S+?)\\(\d+): (.*)$", part, re.MULTILINE)
        lists.append({f"{Path(file).name}:{line}: {text}" for file, line, text in found})
    return statements, lists


@dataclass
class Vector:
    port: int = 0
    frame: str = ""
    short: bool = False  # the parser met the frame's end
    entries: list[dict[str, object]] = field(default_factory=list)
    mirror: list[list[int]] = field(default_factory=list)  # session, port
    out: list[list[object]] = field(default_factory=list)  # port, octets or null: any

    def line(self) -> str:
        return json.dumps({name: value for name, value in vars(self).items() if value or name in ("port", "out")})


def why(statement: str) -> str:
    return next((reason for part, reason in UNREACHED if part in statement), "")


def numbers(text: str) -> dict[str, int]:
    return {name: int(value, 16) for name, value in VALUE.findall(text)}


def read_test(text: str) -> Vector:
    """A test in p4testgen's form STF."""
    vector = Vector(short="[ExtractFailure]" in text or "[LookaheadFailure]" in text)
    for line in text.splitlines():
        words = line.split()
        if line.startswith("add "):
            table, keys, action, values = ENTRY.fullmatch(line.rstrip()).groups()
            key = [int(value, 16) for value in KEY.findall(keys)]
            vector.entries.append({"table": table, "key": key, "action": action, "values": numbers(values)})
        elif line.startswith("setdefault "):
            table, action, values = DEFAULT.fullmatch(line.rstrip()).groups()
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
    return vector


def run(generator: str, program: Program, switch: str, seed: int, folder: Path) -> tuple[list[Vector], str]:
    """p4testgen looks on and on for a test of what cannot be reached, and takes more and more memory: it is ended."""
    command = [generator, *SWITCHES, switch, "--seed", str(seed), "-I", str(include_folder(generator))]
    command += [f"-D{define}" for define in program.defines]
    command += ["--out-dir", str(folder), str(P4 / "gnb_v1model.p4")]
    log = folder / "log"
    with log.open("w") as output:
        running = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=limit_memory)
        found, since = 0, 0.0
        while running.poll() is None and cpu_seconds(running.pid) - since < PATIENCE_SECONDS:
            time.sleep(1)
            if (now := len(list(folder.glob("*.stf")))) != found:
                found, since = now, cpu_seconds(running.pid)
        running.terminate()
        running.wait()
    tests = sorted(folder.glob("*.stf"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))
    whole = [path for path in tests if "\npacket " in path.read_text()]  # the last one may have been cut off
    return [read_test(path.read_text()) for path in whole], log.read_text()


def cpu_seconds(pid: int) -> float:
    """0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def make(generator: str, program: Program) -> str:
    """Writes the program's file; what to print."""
    coverage, vectors = Coverage(), []
    for seed in SEEDS:
        for switch in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                made, log = run(generator, program, switch, seed, Path(folder))
            coverage.statements, missed = missed_after_each(log)
            vectors += [vector for vector, left in zip(made, missed, strict=False) if coverage.add(left)]
            print(f"  seed {seed}, {switch}: {coverage.covered} of {coverage.statements}", flush=True)
        if coverage.is_complete:
            break
    if not vectors:
        raise RuntimeError("p4testgen made no test")
    head = {
        "sha256": source_hash(),
        "program": program.name,
        "defines": program.defines,
        "statements": coverage.statements,
        "covered": coverage.covered,
        "not_covered": {statement: why(statement) for statement in sorted(coverage.missed or ())},
    }
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(vector.line() for vector in vectors)
    text = json.dumps(head, indent=1)[:-2] + f',\n "vectors": [\n{lines}\n]}}\n'
    (FOLDER / f"{program.name}.json").write_text(text)
    return f"{len(vectors)} vectors, {coverage.covered} of {coverage.statements} statements"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"programs, by default {', '.join(NAMES)}")
    names = parser.parse_args().names or NAMES
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
            print(f"{program.name}: {make(generator, program)}", flush=True)
        except (RuntimeError, ValueError) as complaint:
            print(f"{program.name}: {complaint}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
