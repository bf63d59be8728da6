"""What only a GPU can show: what the machine has, the device code against the host's, and a short run of each mode.

Nothing here needs more than Python's own library, the programs of build/release and build/gpu, and the machine's nvcc
where it has one. The kit of `make gpu-kit` runs the same items. Without a GPU each item is named and skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from _tools import ROOT, last_line, run, say
from report import Report

sys.path.insert(0, str(ROOT / "setup"))
import nvcc  # noqa: E402

NO_GPU = 77
LEAST_NVCC = (12, 2)  # st.mmio: PTX ISA 8.2
PROGRAM = ROOT / "build" / "release" / "splitplane"
CUDA = ROOT / "build" / "gpu" / "bin"
OUT = ROOT / "out"
MODES = ("gpu-e1", "gpu-e2", "gpu-e3", "gpu-e4", "gpu-staging")
FUNCTIONS = ("macswap", "gnb-headers", "pdcp-nea2")
SMOKE_SECONDS = "0.5"


def why_not(program: Path) -> str:
    return "" if program.exists() else f"{program.relative_to(ROOT)} is not here"


def info(report: Report) -> str:
    """Judges `gpu info`; why there is no GPU, or nothing."""
    if missing := why_not(PROGRAM):
        report.skip("gpu_info", "what is here, in JSON", missing)
        return missing
    code, output, _ = run([PROGRAM, "gpu", "info", "--json"], 120)
    try:
        found = json.loads(output)
    except ValueError:
        report.judge("gpu_info", f"exit {code}", "what is here, in JSON", False, last_line(output))
        return "gpu info said nothing"
    gpu = found["gpu"]
    measured = gpu["gpu"] if isinstance(gpu, dict) else gpu
    refusals = [check["sentence"] for check in found["checks"] if check["gravity"] == "refusal"]
    report.judge("gpu_info", measured, "what is here, in JSON", code == 0, f"exit {code}" if code else "")
    if isinstance(gpu, dict):
        # What it refuses is a finding about this machine, and no fault of the program.
        report.judge("gpu_refusals", "; ".join(refusals) or "none", "named", True)
        return ""
    report.skip("gpu_refusals", "named", gpu)
    return gpu


def program(report: Report, name: str, path: Path, target: str) -> None:
    if missing := why_not(path):
        report.skip(name, target, missing)
        return
    code, output, _ = run([path], 300)
    if code == NO_GPU:
        report.skip(name, target, last_line(output))
    else:
        report.judge(name, f"exit {code}", target, code == 0, "" if code == 0 else last_line(output))


def own_compiler(report: Report) -> None:
    """The device check, built by the machine's nvcc for the machine's GPU: nothing but our headers is needed."""
    name, target = "device_check_by_the_machines_nvcc", "compiled for this GPU, as the host computes"
    compiler, source = nvcc.find(LEAST_NVCC), ROOT / "src" / "gpu" / "cuda" / "device_check.cu"
    if compiler is None or not source.exists():
        least = ".".join(str(part) for part in LEAST_NVCC)
        why = f"no nvcc of {least} or later" if compiler is None else f"{source.relative_to(ROOT)} is not here"
        report.skip(name, target, why)
        return
    OUT.mkdir(exist_ok=True)
    built = OUT / "device_check_here"
    flags = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", "-I", ROOT / "src", "-arch", "native"]
    code, output, _ = run([compiler, *flags, source, "-o", built], 300)
    if code != 0 and "native" in output:  # without a GPU there is no native one: any will do
        flags[-1] = "sm_90"
        code, output, _ = run([compiler, *flags, source, "-o", built], 300)
    if code != 0:
        report.judge(name, "not compiled", target, False, last_line(output))
        return
    program(report, name, built, target)


def sanitizer(report: Report) -> None:
    name, target = "device_check_under_compute_sanitizer", "no error"
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(tool, os.X_OK):
        report.skip(name, target, "compute-sanitizer is not here")
        return
    if missing := why_not(CUDA / "device_check"):
        report.skip(name, target, missing)
        return
    code, output, _ = run([tool, "--error-exitcode", "9", CUDA / "device_check"], 300)
    if code == NO_GPU:
        report.skip(name, target, "no GPU")
    else:
        report.judge(name, f"exit {code}", target, code == 0, "" if code == 0 else last_line(output))


def bench(report: Report, name: str, target: str, no_gpu: str, *options: str) -> None:
    """A bench on the GPU whose rows must all be there and sound."""
    if no_gpu:
        report.skip(name, target, no_gpu)
        return
    OUT.mkdir(exist_ok=True)
    file = OUT / f"accept-gpu-{name}.json"
    file.unlink(missing_ok=True)
    command = [PROGRAM, "gpu", "bench", "--duration", SMOKE_SECONDS, "--json", file, *options]
    code, output, _ = run(command, 300)
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    bad = [row for row in rows if "error" in row or not row["sound"] or row["received"] == 0]
    said = "; ".join(row["error"] if "error" in row else "not sound: " + ", ".join(row["findings"]) for row in bad)
    rates = ", ".join(f"{row['rings']}r {row['size']}B {row['mpps']:.3f}" for row in rows if "error" not in row)
    report.judge(
        name, f"{rates} Mpps" if rates else f"exit {code}", target, bool(rows) and not bad,
        "" if rows and not bad else said[:160] or last_line(output),
    )  # fmt: skip


def smoke(report: Report, no_gpu: str) -> None:
    say("a short run of each mode on the GPU")
    for mode in MODES:
        name = f"smoke_{mode.replace('-', '_')}"
        bench(report, name, "1 and 4 rings sound", no_gpu, "--mode", mode, "--rings", "1,4", "--size", "256")
    for function in FUNCTIONS:
        name = f"smoke_{function.replace('-', '_')}"
        bench(
            report, name, "sound", no_gpu, "--mode", "gpu-e2", "--rings", "2", "--size", "512", "--function", function
        )


def run_on_gpu(report: Report, no_gpu: str) -> None:
    name, target = "gpu_run_on_a_gpu", "a gNB function on the GPU, every packet as it should be"
    if no_gpu:
        report.skip(name, target, no_gpu)
        return
    command = [PROGRAM, "gpu", "run", "--gpu", "--rings", "2", "--function", "gnb-headers", "--duration", "2"]
    code, output, _ = run(command, 120)
    report.judge(name, f"exit {code}", target, code == 0, "" if code == 0 else last_line(output))


def items(report: Report) -> None:
    say("what a GPU can show")
    no_gpu = info(report)
    program(report, "device_check", CUDA / "device_check", "NEA2 and doorbells as the host computes them")
    program(report, "programs_on_a_gpu", CUDA / "host_bypass", "each mode sound")
    own_compiler(report)
    sanitizer(report)
    smoke(report, no_gpu)
    run_on_gpu(report, no_gpu)
