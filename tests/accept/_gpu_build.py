"""The CUDA programs: built for three architectures, judged by their PTX, and run where there is a GPU."""

from __future__ import annotations

from _tools import PYTHON, ROOT, last_line, run, say
from report import Report


def items(report: Report) -> None:
    say("CUDA programs for three architectures")
    code, output, seconds = run(["setup/gpu.sh"], 1800)
    if code == 77:
        for name in ("kernels_for_three_gpus", "ptx_of_doorbell_and_descriptor", "programs_on_a_gpu"):
            report.skip(name, "compiled and judged", f"no CUDA compiler: {last_line(output)}")
        return
    report.judge(
        "kernels_for_three_gpus", f"exit {code} after {seconds:.0f} s", "sm_75, sm_80, sm_90 built", code == 0,
        "" if code == 0 else last_line(output),
    )  # fmt: skip
    code, output, _ = run([PYTHON, "-m", "pytest", "tests/gpu/cuda", "-q", "-rs"], 300)
    report.judge(
        "ptx_of_doorbell_and_descriptor",
        last_line(output),
        "ld.acquire.sys.b64; fence.acq_rel.sys, st.mmio.relaxed.sys",
        code == 0,
        "" if code == 0 else last_line(output),
    )
    code, output, _ = run([ROOT / "build" / "gpu" / "bin" / "host_bypass"], 300)
    if code == 77:
        report.skip("programs_on_a_gpu", "each mode sound", last_line(output))
    else:
        report.judge(
            "programs_on_a_gpu", f"exit {code}", "each mode sound", code == 0, "" if code == 0 else last_line(output)
        )
