"""Child processes of the demo and the end-to-end tests: started in a namespace, logged to a file, waited for by
asking, ended by process id in reverse order."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # working directory of all children: configurations name files from here


_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PATIENCE = 90.0  # seconds after which a wait has failed: no verdict on speed, only what hangs needs so long
LAST_SECONDS = 10.0  # for children that a failed or finished test leaves
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
_started: list[Process] = []  # all children that may still run


class Failure(Exception):
    """Something did not work; the text is what the user should read."""


def run(command: list[str], *, netns: str = "", timeout: float = 0, check: bool = True) -> subprocess.CompletedProcess:
    """Runs a command to its end, in a namespace if one is named. `timeout` only raises the limit."""
    full = (["ip", "netns", "exec", netns] if netns else []) + [str(part) for part in command]
    limit = max(timeout, PATIENCE)
    try:
        done = subprocess.run(full, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failure(f"{' '.join(full)}: no end after {limit:g} s") from late
    except FileNotFoundError as missing:
        raise Failure(f"{full[0]}: not installed; `make setup` installs it") from missing
    if check and done.returncode != 0:
        text = (done.stderr or done.stdout).strip().splitlines()
        raise Failure(f"{' '.join(full)}: exit code {done.returncode}: {text[-1] if text else 'no message'}")
    return done


def wait_until(what: str, ready: Callable[[], bool], timeout: float = 0, processes: list[Process] | None = None):
    """Asks until `ready` is true. Fails at once when one of `processes` has ended or any child has crashed; `timeout`
    only raises the limit."""
    begin, limit = time.monotonic(), max(timeout, PATIENCE)
    while not ready():
        for process in processes or []:
            if process.poll() is not None:
                raise Failure(
                    f"{process.name} ended with exit code {process.poll()} while waiting for {what}\n" + process.tail()
                )
        fail_after_a_crash(what)
        if time.monotonic() > begin + limit:
            tails = "\n".join(process.tail() for process in processes or [])
            raise Failure(f"waited {limit:g} s for {what}\n{tails}")
        time.sleep(0.05)


def fail_after_a_crash(what: str):
    """A child that a signal of its own making ended: nothing that waits for it needs to wait longer."""
    for process in _started:
        code = process.poll()
        if code is not None and -code in CRASHES:
            _started.remove(process)
            raise Failure(f"{process.name} ended by signal {-code} while waiting for {what}\n{process.tail()}")


@contextlib.contextmanager
def undisturbed():
    """Signals that end this program wait until what is inside has been done: for removing what was made."""
    arrived: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda number, _: arrived.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


def end_with_parent():
    """In a new child: SIGTERM when the demo is gone, however it went (SIGKILL included)."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Process:
    """One child in a process group of its own; both outputs go to its log file. It does not outlive us."""

    def __init__(self, name: str, command: list[str], log: Path, netns: str = "", env: dict[str, str] | None = None):
        self.name, self.log = name, log
        self.command = (["ip", "netns", "exec", netns] if netns else []) + [str(part) for part in command]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            try:
                self.child = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=end_with_parent,
                    cwd=ROOT,
                    env={**os.environ, **(env or {})},
                )
            except FileNotFoundError as missing:
                raise Failure(f"{name}: {self.command[0]} not found; build it first") from missing
        _started.append(self)

    def poll(self) -> int | None:
        return self.child.poll()

    def wait(self, timeout: float = 0) -> int:
        """Its exit code, once it has ended by itself; `timeout` only raises the limit."""
        limit = max(timeout, PATIENCE)
        try:
            code = self.child.wait(limit)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"{self.name}: no end after {limit:g} s\n{self.tail()}") from late
        self._forget()
        return code

    def _forget(self):
        if self in _started:
            _started.remove(self)

    def signal(self, number: int):
        """`ip netns exec` replaces itself by the program, so the child's id is the program's."""
        if self.child.poll() is None:
            self.child.send_signal(number)

    def stop(self, timeout: float = PATIENCE) -> int:
        """SIGTERM, and SIGKILL for the whole group if that is not enough; returns the exit code."""
        self.signal(signal.SIGTERM)
        try:
            self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        self._forget()
        return self.child.returncode

    def tail(self, lines: int = 12) -> str:
        text = self.log.read_text(errors="replace").splitlines()[-lines:]
        return f"--- end of {self.log}:\n" + "\n".join("    " + line for line in text or ["(empty)"])


class Processes:
    """All children of one run, ended in reverse order of their start."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.children: list[Process] = []

    def start(self, name: str, command: list[str], netns: str = "", env: dict[str, str] | None = None) -> Process:
        process = Process(name, command, self.folder / f"{name}.log", netns, env)
        self.children.append(process)
        return process

    def stop(self, process: Process) -> int:
        if process in self.children:
            self.children.remove(process)
        return process.stop()

    def stop_all(self):
        """Their verdicts are known: what does not end soon is killed."""
        while self.children:
            self.children.pop().stop(timeout=LAST_SECONDS)
