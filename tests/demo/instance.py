"""A running `splitplane run`, `card`, `ue` or `phy`: started in a namespace, asked through its control socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import yaml
from paths import splitplane
from processes import PATIENCE, Failure, Process, Processes, wait_until

PAGE = 1000  # bearers per request


def control_path(config: Path) -> Path:
    """The control socket that a configuration leads to when root runs it."""
    tree = yaml.safe_load(config.read_text())
    return Path(tree.get("control") or f"/run/splitplane/{tree.get('file_prefix', 'splitplane')}.sock")


class Control:
    """The JSON line protocol of the control socket."""

    def __init__(self, path: Path):
        self.path = path

    def call(self, method: str, **params) -> dict:
        request = {"id": 1, "method": method} | ({"params": params} if params else {})
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.path))
            client.sendall(json.dumps(request).encode() + b"\n")
            with client.makefile() as lines:
                reply = json.loads(lines.readline())
        if "error" in reply:
            raise Failure(f"{self.path}: {method}: {reply['error']}")
        return reply["result"]

    def process(self) -> int:
        """Who answers there; 0: nobody."""
        try:
            return self.call("ping")["process"]
        except (OSError, ValueError):
            return 0

    def answers(self) -> bool:
        return self.process() != 0

    def bearers(self) -> list[dict]:
        """All bearers with their counters."""
        found, after = [], 0
        while after is not None:
            page = self.call("bearer.list", after=after, limit=PAGE)
            found += page["bearers"]
            after = page["next"]
        return found

    def stats(self) -> dict:
        return self.call("stats")


class Instance:
    """`splitplane COMMAND CONFIG` in a namespace, ready when itself, not one of an earlier run, answers on its
    control socket. `fresh`: a host that knows nothing of an earlier run's bearers."""

    def __init__(
        self,
        processes: Processes,
        name: str,
        command: str,
        config: Path,
        netns: str = "",
        *,
        timeout: float = 0,
        fresh: bool = True,
    ):
        self.processes, self.config = processes, config
        self.control = Control(control_path(config))
        self.last_stats = processes.folder / f"{name}-stats.json"
        self.last_stats.unlink(missing_ok=True)
        words = [splitplane(), command, config, "--stats-json", self.last_stats]
        if fresh and command == "run":
            words.append("--fresh")  # bearers and numbers of an earlier instance of this name are none of ours
        self.process: Process = processes.start(name, words, netns)
        wait_until(
            f"`splitplane {command}` to answer on {self.control.path}",
            lambda: self.control.process() == self.process.child.pid,
            timeout,
            [self.process],
        )

    def stop(self) -> int:
        return self.processes.stop(self.process)

    def finish(self) -> dict:
        """Ends it; its counters after the last packet."""
        code = self.stop()
        if code != 0:
            raise Failure(f"{self.process.name} ended with exit code {code}\n{self.process.tail()}")
        return json.loads(self.last_stats.read_text())
