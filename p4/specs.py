"""Compiles the P4 programs to p4/generated/*.spec with p4c-dpdk; what `make p4` runs.

The first line of a .spec says from what it was made: the SHA-256 of every source file of p4/, the program and its -D's,
and the CRC-32 of all lines behind it. A test holds them against each other, so that neither a change of a .p4 without a
new .spec nor one of a .spec by hand passes.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from temporaries import share_temporaries

P4 = Path(__file__).resolve().parent
GENERATED = P4 / "generated"
COMPILER = "p4c-dpdk"
WHAT_IS_MISSING = (
    f"{COMPILER} is not on PATH. It is needed only to change a P4 program: the compiled ones are in p4/generated. "
    "p4c (github.com/p4lang/p4c, backend dpdk) is in no package registry that this project uses: docs/design/p4.md."
)


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    arch: str
    defines: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        return self.source.split(".")[0].split("_")[0]

    @property
    def spec(self) -> Path:
        return GENERATED / f"{self.name}.spec"


def gnb(name: str, feature: str, *defines: str) -> Program:
    return Program(f"gnb-{name}", "gnb_pna.p4", "pna", (f"FEATURE=FEATURE_{feature}", *defines))


PROGRAMS = (
    Program("l2fwd", "l2fwd.p4", "psa"),
    Program("p4wire", "p4wire.p4", "psa"),
    gnb("drop", "drop"),
    gnb("decap", "decap"),
    gnb("headers", "headers"),
    gnb("mat", "mat"),
    gnb("clone_drop", "clone_drop"),
    gnb("clone", "clone"),
    gnb("clone-ue", "clone", "BY_UE_ADDRESS"),
    gnb("clone-marker", "clone", "MARKER"),
)


def source_hash() -> str:
    """Of all sources, names included: the programs share most of them."""
    digest = hashlib.sha256()
    for path in sorted([*P4.glob("*.p4"), *P4.glob("*.p4i")]):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def first_line(program: Program, body: str) -> str:
    """What card/spec/spec_file.h reads. `body`: all lines behind it."""
    made_of = f"sha256={source_hash()} program={program.program} defines={','.join(program.defines)}"
    return f"; {made_of} body={zlib.crc32(body.encode()):08x}\n"


def include_folder(executable: str) -> Path | None:
    """p4c's own includes: beside the program as built, or as installed."""
    folder = Path(executable).resolve().parent
    beside = [parent / "p4include" for parent in (folder, *folder.parents)]
    for candidate in [*beside, *(parent / "share" / "p4c" / "p4include" for parent in folder.parents)]:
        if (candidate / "core.p4").exists():
            return candidate
    return None


def compiler() -> tuple[str, Path] | None:
    found = shutil.which(COMPILER)
    include = include_folder(found) if found else None
    return (found, include) if found and include else None


def compile_program(tool: tuple[str, Path], program: Program, output: Path) -> str:
    """Writes the .spec; the compiler's complaint, or nothing."""
    executable, include = tool
    # dpdk/ first: the folder above has another pna.p4.
    done = subprocess.run(
        [executable, "--arch", program.arch, "--Wdisable=unused", "-I", include / "dpdk", "-I", include]
        + [f"-D{define}" for define in program.defines]
        + ["-o", output, P4 / program.source],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return done.stderr.strip() or f"exit code {done.returncode}"
    try:
        body = share_temporaries(output.read_text().lstrip("\n"))
    except ValueError as too_much:
        return str(too_much)
    output.write_text(first_line(program, body) + body)
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs, by default all of them")
    names = parser.parse_args().names
    if unknown := set(names) - {program.name for program in PROGRAMS}:
        print(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in PROGRAMS)}")
        return 2
    tool = compiler()
    if tool is None:
        no_includes = f"{COMPILER} is on PATH, but its folder p4include is neither beside it nor in share/p4c"
        print(no_includes if shutil.which(COMPILER) else WHAT_IS_MISSING, file=sys.stderr)
        return 1
    GENERATED.mkdir(exist_ok=True)
    failed = 0
    for program in PROGRAMS:
        if names and program.name not in names:
            continue
        complaint = compile_program(tool, program, program.spec)
        failed |= complaint != ""
        print(f"{program.name}: {complaint or f'{len(program.spec.read_text().splitlines())} lines'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
