"""docs/operate/operate.md shows what the program prints: its blocks are those of a real instance."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from live_gnb import LiveGnb
from paths import ROOT, splitplane
from terminal import Terminal
from test_log_json import lines_of
from test_telemetry import Telemetry

PAGE = (ROOT / "docs" / "operate" / "operate.md").read_text().splitlines()
BLOCKS = [line[4:] for line in PAGE if line.startswith("    ")]


def shape(line: dict) -> tuple:
    """A line of the log without what differs from run to run: names, addresses, numbers."""
    message = line["message"]
    for key in ("device", "mac", "control", "instance"):
        if key in line:
            message = message.replace(line[key], f"<{key}>")
    return list(line), line["level"], re.sub(r"\d+", "#", message)


def test_the_log_lines_are_those_of_a_run(folder, processes):
    shown = [shape(json.loads(line)) for line in BLOCKS if line.startswith('{"time"')]
    assert len(shown) >= 4
    printed = [shape(line) for line in lines_of(LiveGnb(folder, processes).config, "--log-format", "json")]
    for line in shown:
        assert line in printed, f"{line} is in operate.md, and a run prints\n" + "\n".join(map(str, printed))


def test_the_telemetry_answer_has_the_members_of_a_running_instance(gnb):
    (asked,) = [line.removeprefix("--> ") for line in BLOCKS if line.startswith("--> ")]
    (shown,) = [json.loads(line) for line in BLOCKS if line.startswith('{"/splitplane')]
    client = Telemetry(gnb.prefix)
    try:
        assert list(client.ask(asked)) == list(*[answer.keys() for answer in shown.values()])
    finally:
        client.socket.close()


@pytest.mark.skipif(not shutil.which("tmux"), reason="SKIPPED: tmux is not installed (make setup)")
def test_the_screen_of_top_has_the_lines_of_a_running_instance(gnb, folder):
    begin = next(n for n, line in enumerate(PAGE) if line.endswith("all accounted for"))
    end = next(n for n, line in enumerate(PAGE) if line.endswith("q quit"))
    shown = [line.strip() for line in PAGE[begin : end + 1]]
    screen = Terminal([splitplane(), "top", gnb.config], 80, 24, folder)
    try:
        printed = screen.wait_for("all accounted for", "dl_headers", "q quit")
    finally:
        screen.close()

    def columns(lines: list[str]) -> list[str]:
        """Heads and keys as they stand; of rows only their names."""
        kept = [line.strip() for line in lines[1:] if line.strip()]
        heads = ("worker ", "port ", "[1 all]", "nothing was dropped")
        return [
            line if line.startswith(heads) else " ".join(re.findall(r"^[a-z]\w*|(?<= )[a-z]+_[a-z]+|copies", line))
            for line in kept
        ]

    assert columns(shown) == columns(printed)
    assert re.sub(r"^\S+", "", re.sub(r"\d+", "#", shown[0])) == re.sub(
        r"^\S+", "", re.sub(r"\d+", "#", printed[0].strip())
    )
