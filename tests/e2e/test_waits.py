"""How the tests wait: for what happens, not for the clock; and what two runs of them side by side do not share."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import paths
import pytest
from processes import PATIENCE, Failure, Processes, wait_until

SIGSEGV = 11


def test_a_wait_ends_at_once_when_a_child_crashes(folder):
    children = Processes(folder)
    children.start("crashes", ["sh", "-c", "echo last words; kill -SEGV $$"])
    begin = time.monotonic()
    with pytest.raises(Failure, match=rf"(?s)crashes ended by signal {SIGSEGV} while waiting for Godot.*last words"):
        wait_until("Godot", lambda: False)
    assert time.monotonic() - begin < PATIENCE / 2
    children.stop_all()


def test_a_wait_ends_at_once_when_who_is_waited_for_has_ended(folder):
    children = Processes(folder)
    ends = children.start("ends", ["sh", "-c", "exit 3"])
    with pytest.raises(Failure, match="ends ended with exit code 3 while waiting for Godot"):
        wait_until("Godot", lambda: False, processes=[ends])
    children.stop_all()


def test_a_small_limit_does_not_make_a_busy_machine_fail(folder):
    answers = iter([False] * 10 + [True])
    wait_until("the eleventh answer", lambda: next(answers), 0.01)
    children = Processes(folder)
    assert children.start("slow", ["sleep", "0.5"]).wait(0.01) == 0
    children.stop_all()


def test_two_runs_side_by_side_have_two_folders():
    program = "import sys; import paths; print(paths.own('side-by-side'), flush=True); sys.stdin.read()"
    runs = []
    try:
        for _ in range(3):
            command = [sys.executable, "-c", program]
            where = Path(paths.__file__).parent
            runs.append(subprocess.Popen(command, cwd=where, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        folders = [run.stdout.readline().strip() for run in runs if run.stdout is not None]
        assert len(set(folders)) == 3
    finally:
        for run in runs:
            run.communicate("")
