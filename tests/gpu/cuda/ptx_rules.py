"""What the PTX and the machine code of a CUDA program must hold. Python's own library only: a bare machine can ask too.

ptx_rules.py FOLDER prints one line for each program and GPU, and exits with 1 if a rule is broken, 77 without programs.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

GPUS = (75, 80, 90)
NO_PROGRAMS = 77
MOVER = "processor_nic_kernel"

# A store that the NIC takes as a doorbell, and the fence before it that makes all earlier stores visible to the NIC.
DOORBELL = "st.mmio.relaxed.sys.global.u32"
FENCE = "fence.acq_rel.sys"
DESCRIPTOR_LOAD = re.compile(r"ld\.acquire\.sys(\.global)?\.[bu]64")
# Whatever may move data between two looks at a doorbell's surroundings.
MEMORY = re.compile(r"^(ld|st|atom|red|fence|membar|cp)\.")


def kernels(ptx: str) -> dict[str, list[str]]:
    """Instructions of each entry function, without predicates, in order."""
    found: dict[str, list[str]] = {}
    for name, body in re.findall(r"\.entry\s+(\w+)\(.*?\)[^{]*\{(.*?)^\}", ptx, re.DOTALL | re.MULTILINE):
        lines = (re.sub(r"^@!?%p\d+\s+", "", line.strip()) for line in body.splitlines())
        found[name] = [line for line in lines if re.match(r"[a-z]+[.\w]*[\s;]", line)]
    return found


def unfenced_doorbells(instructions: list[str]) -> list[str]:
    """Doorbells whose nearest memory instruction before them is not the system-scope fence."""
    memory = [line for line in instructions if MEMORY.match(line)]
    return [
        line
        for before, line in zip(["", *memory], memory)  # noqa: B905 - the first has none before it
        if line.startswith("st.mmio") and not (line.startswith(DOORBELL) and before.startswith(FENCE))
    ]


def rings_a_doorbell(instructions: list[str]) -> bool:
    return any(line.startswith(DOORBELL) for line in instructions)


def breaches_of_a_mover(instructions: list[str]) -> list[str]:
    """What a kernel that is a NIC's DMA engine owes: payload by 16 octets, all lanes' before a descriptor (a barrier of
    the warp between them), the descriptor released at system scope, the count for the host behind it; no tail written.
    """
    memory = [line for line in instructions if re.match(r"(ld|st|bar|fence)\b", line) and "param" not in line]
    found = []
    if any(line.startswith("st.mmio") for line in memory):
        found.append("a NIC writes no tails")
    descriptors = [i for i, line in enumerate(memory) if re.match(r"st\.release\.sys(\.global)?\.[bu]64", line)]
    if len(descriptors) < 2:
        found.append("not both directions release their descriptors at system scope")
    for at in descriptors:
        before = [i for i, line in enumerate(memory[:at]) if re.match(r"st(\.global)?\.v2\.[bu]64", line)]
        if not before:
            found.append("no payload is stored by 16 octets before a descriptor")
        elif not any(line.startswith("bar.warp.sync") for line in memory[before[-1] : at]):
            found.append("no barrier of the warp between payload and descriptor")
        if not any(re.match(r"st\.release\.sys(\.global)?\.[bu]32", line) for line in memory[at : at + 3]):
            found.append("no count is released to the host behind a descriptor")
    loads = [line for line in memory if re.match(r"ld\.acquire\.sys(\.global)?\.[bu]32", line)]
    if len(loads) < 4:
        found.append("a tail or a count is read without acquire")
    return found


def embedded_gpus(program: bytes) -> set[int]:
    """Whose machine code is in a program's fatbinary: header 0xba55ed50, then entries; kind 2 is ELF."""
    gpus: set[int] = set()
    at = -1
    while (at := program.find(struct.pack("<I", 0xBA55ED50), at + 1)) >= 0:
        _, version, header_bytes, size = struct.unpack_from("<IHHQ", program, at)
        if version != 1 or header_bytes != 16:
            continue
        entry, end = at + header_bytes, at + header_bytes + size
        while entry < end:
            kind, _, header_bytes, size = struct.unpack_from("<HHIQ", program, entry)
            (gpu,) = struct.unpack_from("<I", program, entry + 28)
            if kind == 2:
                gpus.add(gpu)
            entry += header_bytes + size
    return gpus


def breaches(build: Path, program: str, gpu: int) -> list[str]:
    """What is wrong with a program's PTX for this GPU, or with its machine code."""
    ptx = (build / "ptx" / f"{program}.sm_{gpu}.ptx").read_text()
    found = [] if f".target sm_{gpu}" in ptx else [f"its PTX is not for sm_{gpu}"]
    if gpu not in embedded_gpus((build / "bin" / program).read_bytes()):
        found.append(f"it holds no machine code for sm_{gpu}")
    all_kernels = kernels(ptx)
    if program == "host_bypass" and not any(MOVER in name for name in all_kernels):
        found.append(f"there is no {MOVER}")
    if not any(rings_a_doorbell(instructions) for instructions in all_kernels.values()):
        found.append("no kernel rings a doorbell")
    for name, instructions in all_kernels.items():
        if MOVER in name:
            found += [f"{name}: {sentence}" for sentence in breaches_of_a_mover(instructions)]
        found += [f"{name}: {line} without {FENCE} right before it" for line in unfenced_doorbells(instructions)]
        if rings_a_doorbell(instructions) and not any(DESCRIPTOR_LOAD.match(line) for line in instructions):
            found.append(f"{name}: rings, and reads no descriptor by one ld.acquire.sys of 64 bits")
    return found


def programs(build: Path) -> list[str]:
    return sorted(path.name for path in (build / "bin").glob("*"))


def main(arguments: list[str]) -> int:
    build = Path(arguments[0])
    if not (names := programs(build)):
        print(f"no programs in {build}")
        return NO_PROGRAMS
    wrong = {(name, gpu): breaches(build, name, gpu) for name in names for gpu in GPUS}
    for (name, gpu), found in wrong.items():
        print(f"{name} sm_{gpu}: {'; '.join(found) or 'doorbells fenced, descriptors acquired'}")
    broken = sum(bool(found) for found in wrong.values())
    print(f"{len(wrong) - broken} of {len(wrong)} keep the rules")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
