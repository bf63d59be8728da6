"""Clients that nobody knows yet: connections, each from an address of its own, timed one by one.

As a program it runs in the client's namespace and prints one JSON list. `Crowd` is what one run found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SIZE = 64
REQUEST = b"GET /%d HTTP/1.1\r\nHost: guarded\r\nConnection: close\r\n\r\n" % SIZE


@dataclass(frozen=True)
class Crowd:
    """Seconds until each connection was there and until its answer was complete; negative: it was not."""

    connect_s: list[float]
    whole_s: list[float]

    @property
    def tried(self) -> int:
        return len(self.whole_s)

    @property
    def answered(self) -> int:
        return sum(each >= 0 for each in self.whole_s)

    @property
    def success(self) -> float:
        """Percent."""
        return 100 * self.answered / max(1, self.tried)

    @property
    def connect_ms(self) -> float:
        """Median of those that were answered; not a number if none was."""
        found = [1e3 * c for c, w in zip(self.connect_s, self.whole_s, strict=True) if w >= 0]
        return statistics.median(found) if found else float("nan")

    def __str__(self) -> str:
        return f"{self.answered} of {self.tried} answered, connect median {self.connect_ms:.1f} ms"


async def one(server: str, port: int, source: str, patience: float) -> tuple[float, float]:
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    connected, begin = -1.0, time.monotonic()
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_STREAM) as link:
        link.setblocking(False)
        link.bind((source, 0))
        try:
            async with asyncio.timeout(patience):
                await loop.sock_connect(link, (server, port))
                connected = time.monotonic() - begin
                await loop.sock_sendall(link, REQUEST)
                got = b""
                while block := await loop.sock_recv(link, 4096):
                    got += block
        except (OSError, TimeoutError):
            return connected, -1.0
    whole = got.endswith(b"") and len(got.partition(b"\r\n\r\n")[2]) == SIZE
    return connected, time.monotonic() - begin if whole else -1.0


async def crowd(arguments: argparse.Namespace) -> list[tuple[float, float]]:
    tasks = []
    for source in arguments.sources:
        tasks.append(asyncio.create_task(one(arguments.server, arguments.port, source, arguments.patience)))
        await asyncio.sleep(arguments.pause)
    return await asyncio.gather(*tasks)


class Running:
    """A crowd that connects meanwhile; `result()` waits for it."""

    def __init__(self, bed, sources: list[str], server: str, port: int, pause_s: float, patience_s: float):
        self.out = bed.folder / "crowd.json"
        self.out.unlink(missing_ok=True)
        words = [sys.executable, Path(__file__), "--server", server, "--port", port, "--pause", pause_s]
        words += ["--patience", patience_s, "--out", self.out, *sources]
        self.bed = bed
        self.process = bed.processes.start("crowd", words, bed.client)
        self.limit = 30 + len(sources) * pause_s + patience_s

    def result(self) -> Crowd:
        try:
            code = self.process.wait(self.limit)
        finally:
            self.bed.processes.stop(self.process)
        assert code == 0, self.process.tail()
        rows = json.loads(self.out.read_text())
        return Crowd([row[0] for row in rows], [row[1] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--server", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pause", type=float, default=0.02)
    parser.add_argument("--patience", type=float, default=5.0)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.write_text(json.dumps(asyncio.run(crowd(arguments))) + "\n")


if __name__ == "__main__":
    main()
