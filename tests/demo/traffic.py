"""Real traffic between the UE's namespace and the servers behind the UPF: files by curl, streams by iperf3."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from namespaces import Network
from processes import PATIENCE, Failure, Process, Processes, run, wait_until
from upf import SERVER_IPV4, SERVER_IPV6

PORT = 8080


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Transfer:
    """One file sent through the user plane."""

    bytes: int
    seconds: float
    equal: bool

    @property
    def mbit(self) -> float:
        return self.bytes * 8e-6 / self.seconds if self.seconds else 0.0


class Web:
    """A server in the core namespace and curl in the UE's, with files in a folder of their own."""

    def __init__(self, network: Network, processes: Processes, folder: Path):
        self.network, self.folder = network, folder / "files"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.process: Process = processes.start(
            "http",
            [sys.executable, Path(__file__).with_name("http_server.py"), self.folder, PORT, SERVER_IPV4, SERVER_IPV6],
            network.core,
        )
        wait_until("the HTTP server", lambda: self._listening(), processes=[self.process])

    def _listening(self) -> bool:
        text = run(["ss", "-Hltn", f"sport = :{PORT}"], netns=self.network.core).stdout
        return len(text.splitlines()) == 2

    def make(self, name: str, size: int) -> Path:
        path = self.folder / name
        path.write_bytes(os.urandom(size))
        return path

    def _curl(self, ue: str, *arguments: str | Path, timeout: float) -> dict:
        done = run(
            [
                "curl",
                "--silent",
                "--show-error",
                "--fail",
                "--interface",
                ue,
                "--max-time",
                f"{timeout:g}",
                "--write-out",
                "%{stderr}%{json}",
                *arguments,
            ],
            netns=self.network.ue,
            timeout=timeout + 5,
            check=False,
        )
        if done.returncode != 0:
            raise Failure(f"curl: {done.stderr.splitlines()[0] if done.stderr else 'failed'}")
        return json.loads(done.stderr)

    def _url(self, ue: str, name: str) -> str:
        host = f"[{SERVER_IPV6}]" if ":" in ue else SERVER_IPV4
        return f"http://{host}:{PORT}/{name}"

    def download(self, ue: str, file: Path, timeout: float = PATIENCE) -> Transfer:
        """The UE at address `ue` fetches a file of the server."""
        got = self.folder / f"{file.name}.downloaded"
        got.unlink(missing_ok=True)
        report = self._curl(ue, "-o", got, self._url(ue, file.name), timeout=timeout)
        return Transfer(got.stat().st_size, report["time_total"], sha256(got) == sha256(file))

    def upload(self, ue: str, file: Path, timeout: float = PATIENCE) -> Transfer:
        """The UE sends a file to the server."""
        arrived = self.folder / f"{file.name}.uploaded"
        arrived.unlink(missing_ok=True)
        report = self._curl(ue, "-T", file, "-H", "Expect:", self._url(ue, arrived.name), timeout=timeout)
        return Transfer(arrived.stat().st_size, report["time_total"], sha256(arrived) == sha256(file))


def iperf(network: Network, processes: Processes, ue: str, *, downlink: bool, seconds: float, name: str) -> float:
    """A TCP stream for some seconds; returns the Mbit/s that its receiver counted."""
    end = _iperf(network, processes, ue, ["-R"] if downlink else [], seconds, name)
    return end["sum_received"]["bits_per_second"] * 1e-6


def iperf_udp(
    network: Network, processes: Processes, ue: str, *, downlink: bool, seconds: float, mbit: float, name: str
) -> tuple[int, int]:
    """A UDP stream of packets that fit the tunnel; returns how many were sent, and how many of them did not come."""
    options = ["-u", "-b", f"{mbit:g}M", "-l", "1200", *(["-R"] if downlink else [])]
    total = _iperf(network, processes, ue, options, seconds, name)["sum"]
    return total["packets"], total["lost_packets"]


def _iperf(
    network: Network, processes: Processes, ue: str, options: list[str], seconds: float, name: str
) -> dict[str, dict]:
    server = SERVER_IPV6 if ":" in ue else SERVER_IPV4
    listener = processes.start(f"iperf3-{name}", ["iperf3", "-s", "-1", "-B", server, "-i", "0"], network.core)
    wait_until("iperf3", lambda: ":5201" in run(["ss", "-Hltn"], netns=network.core).stdout, processes=[listener])
    try:
        done = run(
            ["iperf3", "-c", server, "-B", ue, "-t", f"{seconds:g}", "-J", *options],
            netns=network.ue,
            timeout=seconds + 15,
            check=False,
        )
        report = json.loads(done.stdout)
        if done.returncode != 0 or "error" in report:
            raise Failure(f"iperf3: {report.get('error', done.stderr.strip())}")
        return report["end"]
    finally:
        processes.stop(listener)
