"""The kit's commands on a machine where programs crash or are ended: what it answers, and what its page is made of.
Bench and device check are played.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_GPU, MORE = 77, 75
HEAD = {"machine": {"cpu": "a CPU", "cores": 2, "kernel": "6", "compiler": "12", "gpu": "no GPU: CPU threads"}}


class Kit:
    def __init__(self, folder: Path) -> None:
        shutil.copytree(ROOT / "tests" / "gpu" / "kit", folder)
        (folder / "bench").mkdir()
        for name in ("gpu_rows.py", "gpu_page.py"):
            shutil.copy(ROOT / "bench" / name, folder / "bench")
        self.folder, self.out = folder, folder / "out"
        self.out.mkdir()
        self.program("gpu/bin/device_check", "exit 0")

    def program(self, name: str, text: str) -> None:
        path = self.folder / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def bench(self, text: str) -> None:
        """It runs in out/, where matrix.json and matrix.json.rows are."""
        self.program("release/splitplane", f"cd {self.out}; {text}")

    def cut_off(self) -> None:
        """As a bench leaves it that ended by --within."""
        row = {"section": "fig7", "mode": "bypass", "rings": 2, "size": 1000, "error": "left out"}
        (self.out / "matrix.json.rows").write_text(f"{json.dumps(HEAD)}\n{json.dumps(row)}\n")
        sections = {name: [] for name in ("tab2", "fig5", "fig7", "throughput")}
        (self.out / "matrix.json").write_text(json.dumps(HEAD | {"interrupted": True, "matrix": sections}))

    def run(self, *words: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-B", self.folder / "kit.py", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path / "kit")


@pytest.mark.parametrize("end", ["kill -SEGV $$", "exit 1"], ids=["crash", "failure"])
def test_a_bench_that_does_not_get_to_its_end_is_no_reason_to_ask_for_more(kit: Kit, end: str) -> None:
    kit.cut_off()
    kit.bench(end)
    assert kit.run("matrix", "5").returncode == 1
    assert "Not run: bypass, 2 rings" in kit.run("page").stdout  # its rows are kept


def test_a_bench_that_was_cut_off_by_its_time_has_more_and_a_whole_one_is_not_run_again(kit: Kit) -> None:
    kit.bench("""echo '{"interrupted": true}' > matrix.json; echo rows > matrix.json.rows; exit 1""")
    assert kit.run("matrix", "5").returncode == MORE
    kit.bench("""echo '{"interrupted": false}' > matrix.json; rm matrix.json.rows""")
    assert kit.run("matrix", "5").returncode == 0
    kit.bench("exit 9")
    assert kit.run("matrix", "5").returncode == 0


def test_a_page_is_made_of_the_rows_of_a_bench_that_was_killed(kit: Kit) -> None:
    kit.cut_off()
    (kit.out / "matrix.json").unlink()
    done = kit.run("page")
    assert done.returncode == 0, done.stderr
    assert "Not run: bypass, 2 rings, 1000 B: left out" in done.stdout
    assert (kit.out / "matrix.md").exists()


def test_without_rows_there_is_no_page(kit: Kit) -> None:
    assert kit.run("page").returncode == NO_GPU
