"""A real terminal for the tests: tmux with a server of its own, a fixed size, and its screen as text."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import time
from pathlib import Path

from processes import PATIENCE, Failure

_number = itertools.count()  # a server that is about to end must not get the next window


class Terminal:
    """Runs a command in a tmux window until it ends; `screen` is what a person would see."""

    def __init__(self, command: list[object], width: int, height: int, folder: Path):
        self.server = f"sp-live-{os.getpid()}-{next(_number)}"
        self.status = folder / "terminal-status"
        self.status.unlink(missing_ok=True)
        line = " ".join(shlex.quote(str(word)) for word in command)
        shell = f"{line}; echo $? > {shlex.quote(str(self.status))}"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), shell)
        self._tmux("set-option", "-g", "status", "off")
        self.resize(width, height)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self.server, *words], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise Failure(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def resize(self, width: int, height: int):
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def press(self, *keys: str):
        self._tmux("send-keys", *keys)

    def screen(self) -> list[str]:
        return self._tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def wait_for(self, *texts: str, without: str = "") -> list[str]:
        """The first screen that holds all of `texts` and not `without`."""
        end = time.monotonic() + PATIENCE
        while True:
            lines = self.screen()
            text = "\n".join(lines)
            if all(part in text for part in texts) and not (without and without in text):
                return lines
            if time.monotonic() > end:
                raise AssertionError(f"no screen with {texts} and without {without!r}; the last was\n{text}")
            time.sleep(0.05)

    def exit_code(self) -> int:
        """Of the command, once it has ended."""
        end = time.monotonic() + PATIENCE
        while not (self.status.exists() and self.status.read_text().strip()):
            if time.monotonic() > end:
                raise AssertionError("the command in the terminal has not ended\n" + "\n".join(self.screen()))
            time.sleep(0.05)
        return int(self.status.read_text())

    def close(self):
        subprocess.run(["tmux", "-L", self.server, "kill-server"], capture_output=True, check=False)
