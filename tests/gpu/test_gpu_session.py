"""The plan for a lent GPU, dry: it fits its 45 minutes and its 10 minutes a command. It survives a command that is
ended at its limit, a busy runner and a session that is cut off, and loses no row. The kit is played by a script.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL, RUNNER = ROOT / "tools" / "gpu_session.py", ROOT / "tests" / "gpu" / "fake_runner.py"
sys.path.insert(0, str(TOOL.parent))

import gpu_session  # noqa: E402

# Its matrix makes three rows a second and needs @ROWS@; everything else ends at once. A file "hang" lets it hang.
KIT = """#!/bin/sh
here=$(cd "${0%/*}" && pwd); mkdir -p "$here/out"; echo "$*" >> "$here/calls"
if [ -e "$here/hang" ] && [ "$1" = matrix ]; then rm "$here/hang"; echo early > "$OUT/early"; sleep 100; fi
if [ "$1" = matrix ]; then
  end=$(( $(date +%s) + $2 ))
  while [ "$(cat "$here/out/rows" 2>/dev/null | wc -l)" -lt @ROWS@ ]; do
    [ "$(date +%s)" -lt $end ] || { cp "$here/out/rows" "$OUT/"; exit 75; }
    echo row >> "$here/out/rows"; sleep 0.3
  done
  cp "$here/out/rows" "$OUT/"
fi
echo "$1" > "$OUT/said-$1"
exit @CODE@
"""


def play(folder: Path, rows: int = 3, code: int = 0) -> Path:
    kit = folder / "kit"
    kit.mkdir()
    (kit / "run").write_text(KIT.replace("@ROWS@", str(rows)).replace("@CODE@", str(code)))
    (kit / "run").chmod(0o755)
    return kit


def session(folder: Path, *options: str) -> subprocess.CompletedProcess:
    runner = f"{sys.executable} {RUNNER} {folder / 'room'}"
    command = [sys.executable, TOOL, "--runner", runner, "--kit", folder / "kit", *options, folder / "results"]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)


def calls(folder: Path) -> list[str]:
    return [line.split()[0] for line in (folder / "kit" / "calls").read_text().splitlines()]


def test_the_plan_fits_its_time_and_each_command_its_limit() -> None:
    # Every command may last until its limit, the matrix for one of its commands: that is half of the time. The other
    # half is for more of the matrix.
    assert sum(step.limit for step in gpu_session.PLAN) <= 0.55 * gpu_session.BUDGET
    behind = gpu_session.PLAN[[step.name for step in gpu_session.PLAN].index("matrix") + 1 :]
    assert sum(step.limit for step in behind) <= gpu_session.RESERVED["matrix"]
    assert all(step.limit <= gpu_session.LIMIT for step in gpu_session.PLAN)
    printed = subprocess.run([sys.executable, TOOL, "--print"], capture_output=True, text=True, check=True).stdout
    assert len(printed.splitlines()) == len(gpu_session.PLAN)
    assert all(len(line) < 2000 for line in printed.splitlines())
    assert "build/gpu-kit/run matrix 570" in printed


def test_the_whole_plan_runs_and_what_it_made_is_here(tmp_path: Path) -> None:
    play(tmp_path)
    done = session(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert calls(tmp_path) == ["check", "smoke", "accept", "matrix", "page"]
    assert {path.name for path in (tmp_path / "results" / "kit-out").glob("said-*")} >= {"said-smoke", "said-page"}
    assert (tmp_path / "results" / "kit-out" / "rows").read_text().count("row") == 3


def test_without_a_gpu_every_step_is_asked_and_the_end_is_skipped(tmp_path: Path) -> None:
    play(tmp_path, code=77)
    done = session(tmp_path)
    assert done.returncode == 77, done.stdout
    assert len(calls(tmp_path)) == len(gpu_session.PLAN)


def test_the_matrix_is_given_again_while_there_is_more_and_no_command_outlasts_its_limit(tmp_path: Path) -> None:
    play(tmp_path, rows=12)
    done = session(tmp_path, "--limit", "32")  # 30 of them are the margin: 2 seconds of matrix a command
    assert done.returncode == 0, done.stdout
    log = json.loads((tmp_path / "results" / "session.json").read_text())
    assert calls(tmp_path).count("matrix") >= 2
    assert all(step["wall_s"] <= step["limit"] + 1 for step in log)
    assert (tmp_path / "results" / "kit-out" / "rows").read_text().count("row") == 12


def test_a_command_that_hangs_is_ended_at_its_limit_and_what_it_left_comes_back(tmp_path: Path) -> None:
    kit = play(tmp_path)
    (kit / "hang").touch()
    done = session(tmp_path, "--limit", "3")
    assert done.returncode == 0, done.stdout
    log = json.loads((tmp_path / "results" / "session.json").read_text())
    assert [step["timed_out"] for step in log if step["name"] == "matrix"][:2] == [True, False]
    assert next(step["rc"] for step in log if step["name"] == "matrix") == gpu_session.MORE
    assert (tmp_path / "results" / "kit-out" / "early").exists()


def test_a_session_that_is_cut_off_behind_a_command_that_hung_goes_on_with_the_matrix(tmp_path: Path) -> None:
    kit = play(tmp_path)
    (kit / "hang").touch()
    matrix = next(step for step in gpu_session.PLAN if step.name == "matrix")

    def begun() -> gpu_session.Session:
        runner = f"{sys.executable} {RUNNER} {tmp_path / 'room'}"
        return gpu_session.Session(runner, tmp_path / "results", str(kit), 2700, 2)

    assert begun().take(matrix)
    assert not begun().is_over(matrix)


def test_time_that_is_used_up_ends_the_matrix_and_leaves_the_page_its_share(tmp_path: Path) -> None:
    play(tmp_path, rows=1000)
    done = session(tmp_path, "--limit", "3", "--budget", "70")
    log = json.loads((tmp_path / "results" / "session.json").read_text())
    assert done.returncode == 1 and "no time for: " in done.stdout
    assert [step["name"] for step in log][-1] == "page"
    assert sum(step["wall_s"] for step in log) <= 70


def test_a_session_that_was_cut_off_goes_on_and_does_nothing_twice(tmp_path: Path) -> None:
    play(tmp_path)
    assert session(tmp_path).returncode == 0
    log = tmp_path / "results" / "session.json"
    log.write_text(json.dumps(json.loads(log.read_text())[:2]))
    assert session(tmp_path).returncode == 0
    assert calls(tmp_path) == ["check", "smoke", "accept", "matrix", "page", "accept", "matrix", "page"]


def test_a_failure_is_named_and_the_rest_is_made_all_the_same(tmp_path: Path) -> None:
    play(tmp_path, code=1)
    done = session(tmp_path)
    assert done.returncode == 1
    assert "failed: check, smoke, judges, matrix, page" in done.stdout
    assert len(calls(tmp_path)) == len(gpu_session.PLAN)


def test_a_runner_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    play(tmp_path)
    room = tmp_path / "room"
    other = subprocess.Popen([sys.executable, RUNNER, room, "20", "sleep 3"], stdout=subprocess.DEVNULL)
    while not list(room.glob("out-*")):
        time.sleep(0.05)
    refused = subprocess.run([sys.executable, RUNNER, room, "5", "true"], capture_output=True, text=True)
    assert refused.stdout == "already running\n"
    assert session(tmp_path).returncode == 0
    other.wait()


def test_a_runner_that_is_busy_for_long_costs_time_and_no_step(tmp_path: Path) -> None:
    play(tmp_path)
    room = tmp_path / "room"
    other = subprocess.Popen([sys.executable, RUNNER, room, "30", "sleep 11"], stdout=subprocess.DEVNULL)
    while not list(room.glob("out-*")):
        time.sleep(0.05)
    done = session(tmp_path)
    other.wait()
    assert done.returncode == 0, done.stdout
    assert calls(tmp_path) == ["check", "smoke", "accept", "matrix", "page"]
    assert done.stdout.count("already running") == 1
    used = float(done.stdout.split(" commands, ")[1].split()[0])
    assert used >= 9


def test_a_runner_that_never_answers_uses_up_the_time_and_nothing_is_remembered(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(gpu_session, "PAUSE", 0.05)
    none = gpu_session.Session("echo busy", tmp_path / "results", str(tmp_path), 7, 600)
    begin = time.monotonic()
    assert none.run() == 1
    assert none.done == [] and not (tmp_path / "results" / "session.json").exists()
    assert time.monotonic() - begin >= 2  # 7 seconds, of which the first step needs 5
    assert none.left < 5


def test_a_machines_start_counts_although_the_runner_leaves_it_out(tmp_path: Path) -> None:
    runner = tmp_path / "runner"
    runner.write_text('#!/bin/sh\nsleep 0.3\necho \'{"rc": 0, "wall_s": 0.001, "output_tail": ""}\'\n')
    runner.chmod(0o755)
    slow = gpu_session.Session(str(runner), tmp_path / "results", str(tmp_path), 2700, 600)
    assert slow.run() == 0
    assert all(step["wall_s"] >= 0.3 for step in slow.done)
    assert slow.left <= 2700 - 0.3 * len(gpu_session.PLAN)
