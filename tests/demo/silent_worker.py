"""A worker of a running `splitplane` that does not answer: its thread alone makes no step, the others go on."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from pathlib import Path

from processes import Process

PTRACE_ATTACH, PTRACE_DETACH, WALL = 16, 17, 0x40000000


@contextlib.contextmanager
def silent_worker(process: Process, number: int = 0):
    """The first worker of a process, or the one with that number in the order of its configuration."""
    tasks = Path(f"/proc/{process.child.pid}/task")
    workers = [task for task in tasks.iterdir() if "worker" in (task / "comm").read_text()]
    workers.sort(key=lambda task: int(re.search(r"\d+$", (task / "comm").read_text().strip())[0]))
    thread = int(workers[number].name)
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    assert ptrace(PTRACE_ATTACH, thread, None, None) == 0, os.strerror(ctypes.get_errno())
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        assert ptrace(PTRACE_DETACH, thread, None, None) == 0, os.strerror(ctypes.get_errno())
