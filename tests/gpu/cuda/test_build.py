"""What `make gpu` built: code for each GPU, memory order in the PTX of every kernel that talks to a NIC, exit code 77
where there is no GPU. Without nvcc's output (build/gpu) everything here is skipped.
"""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[3] / "build" / "gpu"
GPUS = (75, 80, 90)
PROGRAMS = sorted(path.name for path in (BUILD / "bin").glob("*"))
NO_GPU = 77

pytestmark = pytest.mark.skipif(not PROGRAMS, reason="build/gpu is not there: `make gpu` builds it")

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
        for before, line in zip(["", *memory], memory, strict=False)
        if line.startswith("st.mmio") and not (line.startswith(DOORBELL) and before.startswith(FENCE))
    ]


def rings_a_doorbell(instructions: list[str]) -> bool:
    return any(line.startswith(DOORBELL) for line in instructions)


def ptx_of(program: str, gpu: int) -> str:
    return (BUILD / "ptx" / f"{program}.sm_{gpu}.ptx").read_text()


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


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_holds_machine_code_for_each_gpu(program: str) -> None:
    assert embedded_gpus((BUILD / "bin" / program).read_bytes()) == set(GPUS)


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_doorbell_is_an_mmio_store_behind_a_system_fence(program: str, gpu: int) -> None:
    ptx = ptx_of(program, gpu)
    assert f".target sm_{gpu}" in ptx
    for name, instructions in kernels(ptx).items():
        assert unfenced_doorbells(instructions) == [], name
    assert any(rings_a_doorbell(instructions) for instructions in kernels(ptx).values())


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_kernel_that_rings_reads_descriptors_by_one_system_acquire(program: str, gpu: int) -> None:
    for name, instructions in kernels(ptx_of(program, gpu)).items():
        if rings_a_doorbell(instructions):
            assert any(DESCRIPTOR_LOAD.match(line) for line in instructions), name


@pytest.mark.parametrize("gpu", GPUS)
def test_an_engine_stores_nothing_for_the_host(gpu: int) -> None:
    """Beside descriptors (v2), tails (mmio) and its end, an engine's words stay on the device: counters, indices."""
    for name, instructions in kernels(ptx_of("host_bypass", gpu)).items():
        if not rings_a_doorbell(instructions):
            continue
        stores = [line for line in instructions if line.startswith("st.") and ".sys" in line.split()[0]]
        others = [s for s in stores if not re.match(r"st\.(mmio|relaxed\.sys\.global\.v2|release\.sys\.b32)", s)]
        marks = 1 if "receiver" in name else 0  # a watched slot's, which the NIC writes over
        assert len(others) <= marks, (name, others)
        assert sum(line.startswith("st.relaxed.gpu") for line in instructions) >= 9, name


@pytest.mark.parametrize("gpu", GPUS)
def test_a_warp_takes_numbers_by_one_addition(gpu: int) -> None:
    numbering = {n: i for n, i in kernels(ptx_of("host_bypass", gpu)).items() if "GnbHeaders" in n or "PdcpNea2" in n}
    assert len(numbering) >= 4
    for name, instructions in numbering.items():
        additions = [line for line in instructions if line.startswith("atom.")]
        assert len(additions) == 1 and additions[0].startswith("atom.add.relaxed.gpu"), (name, additions)


def test_a_doorbell_without_its_fence_is_found() -> None:
    head = "ld.acquire.sys.b64 %rd8,[%rd3];", "st.global.b64 [%rd1], %rd2;"
    good = [*head, "fence.acq_rel.sys;", "cvta.to.global.u64 %rd5, %rd4;", f"{DOORBELL} [%rd5], %r7;"]
    assert unfenced_doorbells(good) == []
    assert len(unfenced_doorbells([*head, f"{DOORBELL} [%rd5], %r7;"])) == 1
    assert len(unfenced_doorbells(["fence.acq_rel.gpu;", f"{DOORBELL} [%rd5], %r7;"])) == 1
    assert len(unfenced_doorbells(["fence.acq_rel.sys;", head[1], f"{DOORBELL} [%rd5], %r7;"])) == 1
    assert len(unfenced_doorbells(["fence.acq_rel.sys;", "st.mmio.relaxed.sys.global.u64 [%rd5], %rd7;"])) == 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_does_its_check_or_says_why_there_is_no_gpu(program: str) -> None:
    done = subprocess.run([BUILD / "bin" / program], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, NO_GPU), done.stdout + done.stderr
    if done.returncode == NO_GPU:
        assert done.stderr.startswith("no GPU: ") and len(done.stderr.splitlines()) == 1
        pytest.skip(done.stderr.strip())
