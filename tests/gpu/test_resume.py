"""`splitplane gpu bench --resume` and `make gpu-results`: rows of two builds never meet in one file, and a page is made
of rows that were just written or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "splitplane"

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="build/release/splitplane is not built")
# Two runs; within a second only the first begins.
SHORT = ("--rings", "1", "--size", "64", "--duration", "1.2", "--repeats", "2")


def bench(program: Path, *flags: str, cuda_program: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"SPLITPLANE_CUDA_PROGRAM": str(cuda_program)} if cuda_program else {})
    return subprocess.run(
        [program, "gpu", "bench", *flags], capture_output=True, text=True, timeout=60, env=environment, check=False
    )


def played_gpu(path: Path, comment: str, then: str = "cat >/dev/null") -> Path:
    """A CUDA program that names a device, and makes no runs."""
    path.write_text(f'#!/bin/sh\n# {comment}\necho \'{{"gpu": "played"}}\'\n{then}\n')
    path.chmod(0o755)
    return path


@needs_program
def test_another_build_does_not_go_on_with_the_rows_of_this_one(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    begun = bench(PROGRAM, *SHORT, "--cpu", "--json", rows, "--within", "1")
    assert begun.returncode == 1 and "interrupted" in begun.stdout, begun
    other = tmp_path / "splitplane"
    shutil.copy(PROGRAM, other)
    with other.open("ab") as file:
        file.write(b"another build")
    refused = bench(other, *SHORT, "--cpu", "--json", rows, "--resume")
    assert refused.returncode == 2
    assert "another machine, program or plan" in refused.stderr
    went_on = bench(PROGRAM, *SHORT, "--cpu", "--json", rows, "--resume")
    assert "1 rows are there already" in went_on.stdout
    plan = json.loads(rows.read_text())["plan"]
    assert "build " in plan["program"] and plan["cuda_program"] is None


@needs_program
def test_a_bench_whose_last_run_ended_late_is_whole(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    once = (*SHORT[:-1], "1")
    done = bench(PROGRAM, *once, "--cpu", "--json", rows, "--within", "1")
    assert "interrupted" not in done.stdout
    assert json.loads(rows.read_text())["interrupted"] is False
    assert not Path(f"{rows}.rows").exists()


@needs_program
def test_runs_that_failed_are_made_again_only_if_that_is_asked_for(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    gpu = tmp_path / "host_bypass"
    dies = played_gpu(gpu, "the first", then="read line")
    begun = bench(PROGRAM, *SHORT, "--mode", "gpu-e2", "--json", rows, cuda_program=dies)
    assert begun.returncode == 1 and begun.stdout.count("the CUDA program ended") == 2
    went_on = bench(PROGRAM, *SHORT, "--mode", "gpu-e2", "--json", rows, "--resume", cuda_program=dies)
    assert went_on.returncode == 1
    assert "2 of them are of runs that failed: --retry makes those again" in went_on.stdout
    again = bench(PROGRAM, *SHORT, "--mode", "gpu-e2", "--json", rows, "--resume", "--retry", cuda_program=dies)
    assert "failed: --retry" not in again.stdout
    assert again.stdout.count("the CUDA program ended") == 2


@needs_program
def test_a_stale_cuda_program_is_another_plan(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    gpu = tmp_path / "host_bypass"
    bench(PROGRAM, *SHORT, "--json", rows, "--within", "1", cuda_program=played_gpu(gpu, "the first"))
    refused = bench(PROGRAM, *SHORT, "--json", rows, "--resume", cuda_program=played_gpu(gpu, "built anew"))
    assert refused.returncode == 2, refused
    went_on = bench(PROGRAM, *SHORT, "--json", rows, "--resume", cuda_program=played_gpu(gpu, "the first"))
    assert "1 rows are there already" in went_on.stdout


def make_results(folder: Path, bench_does: str) -> subprocess.CompletedProcess[str]:
    """`make gpu-results` of this repository in a folder where the program and Python are played."""
    for name, body in (
        ("build/release/splitplane", bench_does),
        (".venv/bin/python", "echo page >made; cat out/gpu-results.json >>made"),
    ):
        script = folder / name
        script.parent.mkdir(parents=True)
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    (folder / "out").mkdir()
    (folder / "out/gpu-results.json").write_text("old\n")
    os.utime(folder / "out/gpu-results.json", (1, 1))
    return subprocess.run(
        ["make", "-f", ROOT / "Makefile", "-o", "build", "gpu-results"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("bench_does", ["exit 2", "exit 1", "echo new >out/gpu-results.json; kill -9 $$", "exit 127"])
def test_no_page_is_made_of_older_rows_or_of_a_bench_that_ended(tmp_path: Path, bench_does: str) -> None:
    done = make_results(tmp_path, bench_does)
    assert done.returncode != 0
    assert not (tmp_path / "made").exists()
    assert ("rm out/gpu-results.json.rows" in done.stderr) == (bench_does == "exit 2")


@pytest.mark.parametrize("code", [0, 1])
def test_a_page_is_made_of_the_rows_that_came(tmp_path: Path, code: int) -> None:
    done = make_results(tmp_path, f"echo new >out/gpu-results.json; exit {code}")
    assert done.returncode == 0, done
    assert (tmp_path / "made").read_text() == "page\nnew\n"
    assert ("not every row is whole and sound" in done.stderr) == (code == 1)
