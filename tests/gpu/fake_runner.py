"""Stands for a machine that takes commands: one at a time, each with a limit, and gives back what they left in $OUT.

fake_runner.py ROOM SECONDS COMMAND: ROOM is a folder of its own. COMMAND runs with an empty environment but for OUT and
PATH. While another command of ROOM runs, the answer is one line of text. Prints one line of JSON otherwise.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TAIL = 12_000


def main() -> int:
    room, limit, command = Path(sys.argv[1]).resolve(), float(sys.argv[2]), sys.argv[3]
    room.mkdir(parents=True, exist_ok=True)
    with (room / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("already running")
            return 0
        number = len(list(room.glob("out-*")))
        out = room / f"out-{number}"
        out.mkdir()
        environment = {"OUT": str(out), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        begin = time.monotonic()
        with (room / "output").open("w+b") as output:
            child = subprocess.Popen(
                ["/bin/sh", "-c", command], env=environment, cwd=os.getcwd(), stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            timed_out = False
            try:
                code = child.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                code, timed_out = 124, True
            output.seek(0)
            tail = output.read()[-TAIL:].decode(errors="replace")
        answer = {
            "rc": code, "timed_out": timed_out, "wall_s": round(time.monotonic() - begin, 3), "output_tail": tail,
            "files_at": str(out),
        }  # fmt: skip
        print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
