"""What `make gpu` built: code for each GPU, memory order in the PTX of every kernel that talks to a NIC, exit code 77
where there is no GPU. Without nvcc's output (build/gpu) everything here is skipped.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ptx_rules import (  # noqa: E402
    DOORBELL,
    GPUS,
    breaches,
    breaches_of_a_mover,
    embedded_gpus,
    kernels,
    programs,
    rings_a_doorbell,
    unfenced_doorbells,
)

BUILD = Path(__file__).resolve().parents[3] / "build" / "gpu"
PROGRAMS = programs(BUILD)
NO_GPU = 77


def ptx_of(program: str, gpu: int) -> str:
    return (BUILD / "ptx" / f"{program}.sm_{gpu}.ptx").read_text()


built = pytest.mark.skipif(not PROGRAMS, reason="build/gpu is not there: `make gpu` builds it")


@built
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_holds_machine_code_for_each_gpu_and_no_other(program: str) -> None:
    assert embedded_gpus((BUILD / "bin" / program).read_bytes()) == set(GPUS)


@built
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_doorbells_are_mmio_stores_behind_a_system_fence_and_descriptors_acquired(program: str, gpu: int) -> None:
    assert breaches(BUILD, program, gpu) == []


@built
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


@built
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


def test_a_mover_without_its_barrier_or_its_release_is_found() -> None:
    payload, barrier = "st.v2.u64 [%rd1], {%rd2, %rd3};", "bar.warp.sync -1;"
    descriptor, count = "st.release.sys.b64 [%rd4],%rd5;", "st.release.sys.b32 [%rd6],%r7;"
    head = ["ld.acquire.sys.b32 %r1,[%rd9];"] * 4
    good = [*head, payload, barrier, descriptor, count, payload, barrier, descriptor, count]
    assert breaches_of_a_mover(good) == []
    assert breaches_of_a_mover([*head, payload, descriptor, count, payload, barrier, descriptor, count])
    assert breaches_of_a_mover([*head, barrier, payload, descriptor, count, payload, barrier, descriptor, count])
    assert breaches_of_a_mover([*good[:-1]])
    assert breaches_of_a_mover(good[1:])
    assert breaches_of_a_mover([*head, payload, barrier, "st.relaxed.sys.b64 [%rd4],%rd5;", count] * 2)
    assert breaches_of_a_mover([*good, f"{DOORBELL} [%rd5], %r7;"])


@built
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_does_its_check_or_says_why_there_is_no_gpu(program: str) -> None:
    done = subprocess.run([BUILD / "bin" / program], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, NO_GPU), done.stdout + done.stderr
    if done.returncode == NO_GPU:
        assert done.stderr.startswith("no GPU: ") and len(done.stderr.splitlines()) == 1
        pytest.skip(done.stderr.strip())
