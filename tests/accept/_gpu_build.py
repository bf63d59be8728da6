"""The CUDA programs: built for three architectures with what is here, and judged by their PTX."""

from __future__ import annotations

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report

BUILD = ROOT / "build" / "gpu"


def items(report: Report) -> None:
    say("CUDA programs for three architectures")
    script = ROOT / "setup" / "gpu.sh"
    code, output, seconds = run([script], 1800) if script.exists() else (77, "no source here: a kit's programs", 0)
    there = (BUILD / "bin" / "host_bypass").exists()
    target = "sm_75, sm_80, sm_90 built"
    if code == 77:
        report.skip("kernels_for_three_gpus", target, f"{'built before; ' if there else ''}{last_line(output)}")
    else:
        said = "" if code == 0 else last_line(output)
        report.judge("kernels_for_three_gpus", f"exit {code} after {seconds:.0f} s", target, code == 0, said)
    name, target = "ptx_of_doorbell_and_descriptor", "ld.acquire.sys.b64; fence.acq_rel.sys, st.mmio.relaxed.sys"
    if not there:
        report.skip(name, target, "build/gpu/bin/host_bypass is not here")
        return
    code, output, _ = run([PYTHON, "tests/gpu/cuda/ptx_rules.py", BUILD], 120)
    report.judge(name, last_line(output), target, code == 0, "" if code == 0 else last_line(output))
