"""What passes on both sides of a guard during a test, for the judge of octets."""

from __future__ import annotations

import time

from bed import BANNER_PORT, CLOSED_PORT, SERVER_IPV4, SERVER_IPV6, WEB_PORT, Bed
from capture import Capture
from tcp_judge import Verdict, judge_files

PROTECTED = {(SERVER_IPV4, WEB_PORT), (SERVER_IPV6, WEB_PORT), (SERVER_IPV4, BANNER_PORT), (SERVER_IPV4, CLOSED_PORT)}
WHOLE_FRAME = 2048


class Judged:
    """Captures at both ends from entry to exit; then `verdict` is there, and the test fails if anything was wrong."""

    def __init__(self, bed: Bed, name: str, *, armed_auth: bool = False):
        self.bed, self.name, self.armed_auth = bed, name, armed_auth
        self.verdict = Verdict()

    def __enter__(self) -> Judged:
        self.captures = []
        for netns, interface in (
            (self.bed.client, self.bed.client_wire),
            (self.bed.server, self.bed.server_wire),
        ):
            path = self.bed.folder / f"{self.name}-{netns.split('-')[1]}.pcapng"
            options = {"octets": WHOLE_FRAME, "packets": 200_000}
            self.captures.append(Capture(self.bed.processes, netns, interface, path, **options))
        time.sleep(0.02)  # what was on its way when the second began
        self.since_us = time.time_ns() // 1000
        return self

    def __exit__(self, kind, *_):
        until_us = time.time_ns() // 1000  # one capture ends before the other
        dropped = sum(capture.stop() for capture in reversed(self.captures))
        if kind is not None:
            return
        assert dropped == 0, f"the kernel had no room for {dropped} frames of the capture: nothing can be judged"
        paths = [capture.path for capture in self.captures]
        how = {"armed_auth": self.armed_auth, "since_us": self.since_us, "until_us": until_us}
        self.verdict = judge_files(*paths, PROTECTED, **how)
        assert not self.verdict.wrong, f"{self.name}: {self.verdict}"
