"""Compiles gnb for every target whose compiler is on PATH, and prints what came of it and what each target cannot do.

It writes docs/results/p4-targets.txt (the compilers' answers), docs/results/p4-tofino.txt (what a Tofino has and what
the program takes) and the tables of docs/design/p4.md. The first line of a report has the hash of the P4 sources. The
report names a compiler that was missing.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import memory
import tofino
from specs import P4, PROGRAMS, Program, include_folder, source_hash

DOCS = P4.parent / "docs"
PAGE = DOCS / "design" / "p4.md"
REPORT = DOCS / "results" / "p4-targets.txt"
RESOURCES = DOCS / "results" / "p4-tofino.txt"
NAMES = ("gnb-mat", "gnb-clone", "gnb-clone-ue", "gnb-clone-marker")
COMPILED = tuple(program for program in PROGRAMS if program.name in NAMES)
TOFINO = "gnb_tna.p4"
LONGEST_SECONDS = 180  # for one compiler and program
COLUMNS = ("clone", "numbers of a bearer", "length of the frame", "short frames", "counters")


@dataclass(frozen=True)
class Target:
    name: str
    wrapper: str
    compiler: str
    arguments: tuple[str, ...]
    includes: tuple[str, ...]  # folders in p4include, in front of it
    output: str
    limits: tuple[str, ...]  # in the order of COLUMNS

    def tool(self) -> str | None:
        return shutil.which(self.compiler)


TARGETS = (
    Target(
        "SWX, the software NIC",
        "gnb_pna.p4",
        "p4c-dpdk",
        ("--arch", "pna"),
        ("dpdk",),
        "gnb.spec",
        (
            "of the finished frame",
            "exact if one core has the bearer: registers are the core's own",
            "compared; the input port tells it",
            "go to the host, counted; the input port tells the length",
            "frames, and octets of T-PDUs",
        ),
    ),
    Target(
        "BMv2 simple_switch",
        "gnb_v1model.p4",
        "p4c-bm2-ss",
        (),
        (),
        "gnb.json",
        (
            "of the finished frame, in egress",
            "exact: `@atomic`",
            "compared",
            "go to the host; a VF's go on as they are, the card drops them",
            "frames and octets",
        ),
    ),
    Target(
        "BMv2 pna_nic",
        "gnb_pna_nic.p4",
        "p4c-bm2-pna",
        (),
        ("bmv2",),
        "gnb.json",
        (
            "`mirror_packet`: compiled, not run",
            "exact: `@atomic`",
            "not compared: PNA does not tell it",
            "as simple_switch",
            "frames, in registers: the compiler takes no `Counter`",
        ),
    ),
    Target(
        "XDP (PSA)",
        "gnb_psa.p4",
        "p4c-ebpf",
        ("--arch", "psa", "--xdp", "--target", "kernel"),
        (),
        "gnb.c",
        (
            "of the frame as received, by TC: of no use for RLC",
            "wrong if two CPUs have one bearer: maps without a lock",
            "not compared: PSA does not tell it",
            "as simple_switch",
            "frames",
        ),
    ),
    Target(
        "Tofino (TNA)",
        TOFINO,
        "p4c-barefoot",
        ("--target", "tofino", "--arch", "tna", "-g"),  # -g: with the report of resources
        (),
        "gnb.tofino",
        (
            "written in egress, of the finished frame; the tables need 15 stages of 12",
            "written: one stateful operation for each packet",
            "not compared: ingress does not know it",
            "dropped by the parser, not counted",
            "frames and octets",
        ),
    ),
)


@dataclass(frozen=True)
class Answer:
    target: Target
    program: Program
    complaint: str  # nothing: it compiles
    resources: str = ""  # Tofino's, if it compiles


def version(tool: str) -> str:
    done = subprocess.run([tool, "--version"], capture_output=True, text=True)
    found = re.search(r"Version:? (\S+)", done.stdout + done.stderr, re.IGNORECASE)
    return f"{Path(tool).name} {found[1] if found else '(no version)'}"


def first_error(said: str) -> str:
    """The first line that is an error, not a warning that comes before; else the first line."""
    lines = said.strip().splitlines()
    errors = [line for line in lines if re.search(r"\berror:|Compiler Bug", line)]
    return (errors or lines or [""])[0]


def compile_for(target: Target, program: Program, folder: Path, *more: str) -> str:
    """Compiles into the folder; the compiler's first complaint, or nothing."""
    tool = target.tool()
    include = include_folder(tool) if tool else None
    if include is None:
        return f"not compiled: {target.compiler} was not on PATH, or its folder p4include was not beside it"
    command = [tool, *target.arguments, "--Wdisable=unused"]
    command += [word for name in target.includes for word in ("-I", str(include / name))] + ["-I", str(include)]
    command += [f"-D{define}" for define in (*program.defines, *more)]
    try:
        done = subprocess.run(
            [*command, "-o", str(folder / target.output), str(P4 / target.wrapper)],
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"not finished after {LONGEST_SECONDS} s"
    if done.returncode == 0:
        return ""
    return first_error(done.stderr).replace(f"{P4}/", "") or f"exit code {done.returncode}"


def answer_of(target: Target, program: Program) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        complaint = compile_for(target, program, Path(folder))
        has_report = target.wrapper == TOFINO and not complaint
        return Answer(target, program, complaint, tofino.report_of(Path(folder) / target.output) if has_report else "")


def limits_table() -> str:
    """Between the marks of docs/design/p4.md."""
    lines = [
        f"| target | wrapper, compiler | {' | '.join(COLUMNS)} |",
        "|" + "---|" * (len(COLUMNS) + 2),
    ]
    for target in TARGETS:
        lines.append(f"| {target.name} | `{target.wrapper}`, {target.compiler} | {' | '.join(target.limits)} |")
    return "\n".join(lines)


TABLES = {"targets": limits_table, "memory": memory.table}


def page_with_tables(page: str) -> str:
    for name, table in TABLES.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        page = marks.sub(lambda found, table=table: f"{found[1]}{table()}\n{found[2]}", page)
    return page


def answers_table(answers: list[Answer]) -> str:
    width = max(len(answer.target.name) for answer in answers)
    return "\n".join(
        f"{answer.target.name:<{width}}  {answer.program.name:<16}  {answer.complaint or 'compiles'}"
        for answer in answers
    )


def tools_of(targets: tuple[Target, ...]) -> list[str]:
    return sorted({version(tool) for target in targets if (tool := target.tool())})


def report(answers: list[Answer]) -> str:
    return f"sha256={source_hash()} {', '.join(tools_of(TARGETS))}\n\n{answers_table(answers)}\n"


def resources_report(answers: list[Answer]) -> str:
    """Of each program for Tofino: what it takes, or why it does not compile."""
    parts = [f"sha256={source_hash()} {', '.join(tools_of(TARGETS[-1:]))}"]
    for answer in answers:
        if answer.target.wrapper == TOFINO:
            parts.append(f"{answer.program.name}: {answer.resources or answer.complaint}")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    wanted = [(target, program) for target in TARGETS for program in COMPILED]
    answers: list[Answer] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for answer in pool.map(lambda one: answer_of(*one), wanted):
            answers.append(answer)
            print(answers_table([answer]), flush=True)
    print(f"\n{limits_table()}\n\n{memory.table()}")
    PAGE.write_text(page_with_tables(PAGE.read_text()))
    if not any(target.tool() for target in TARGETS):
        print("the reports in docs/results stay as they are: no compiler is on PATH", file=sys.stderr)
        return 0
    REPORT.write_text(report(answers))
    if TARGETS[-1].tool():
        RESOURCES.write_text(resources_report(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
