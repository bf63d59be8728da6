"""`splitplane top` in a real terminal (tmux) at two sizes and as plain text, before a gNB with traffic."""

from __future__ import annotations

import re
import shutil
import subprocess
import time

import pytest
from paths import splitplane
from processes import PATIENCE, run, wait_until
from terminal import Terminal

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="SKIPPED: tmux is not installed (make setup)")
INTERVAL = 0.5
RATE = re.compile(r"^(\d+(?:\.\d+)?)([kMGT]?)$")


def value(text: str) -> float:
    match = RATE.match(text)
    assert match, text
    return float(match[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[match[2]]


def row(lines: list[str], *first: str) -> list[str]:
    """The words of the line that begins with these."""
    found = [line.split() for line in lines if line.split()[: len(first)] == list(first)]
    assert len(found) == 1, "\n".join(lines)
    return found[0]


@pytest.fixture
def terminal(gnb, folder):
    opened = []

    def open_at(width: int, height: int, *more: object) -> Terminal:
        words = [splitplane(), "top", gnb.config, "--interval", INTERVAL, *more]
        opened.append(Terminal(words, width, height, folder))
        return opened[-1]

    yield open_at
    for each in opened:
        each.close()


def test_80x24_shows_workers_ports_and_stages_and_the_keys_work(terminal):
    screen = terminal(80, 24)
    lines = screen.wait_for("all accounted for", "cyc/pkt", "n3", "dl_headers", "q quit")
    assert len(lines) == 24 and max(map(len, lines)) <= 80
    assert "256 bearers" in lines[0]
    worker = row(lines, "w0", "0")
    rx, tx, drops = map(value, worker[2:5])
    assert rx > 10_000 and abs(tx - rx) <= 0.1 * rx and drops == 0
    assert float(worker[5]) > 10  # cycles per packet
    assert sum(int(share.rstrip("%")) for share in worker[6:9]) in (99, 100, 101)
    port = row(lines, "n3")
    assert value(port[1]) > 10_000 and value(port[3]) == pytest.approx(value(port[1]) * 128 * 8, rel=0.05)
    assert value(row(lines, "w0", "dl_headers")[2]) > 10_000
    assert "what it does" not in "\n".join(lines)

    screen.press("3")
    lines = screen.wait_for("[3 ports]", "rx bit/s", without="cyc/pkt")
    screen.press("4")
    screen.wait_for("[4 drops]", "nothing was dropped")
    screen.press("5")
    screen.wait_for("[5 bearers]", "0x04000000", "rows 1-21 of 257")

    def rate_is_shown() -> bool:  # a screen may be half drawn
        found = [line.split() for line in screen.screen() if line.startswith("0x04000000")]
        return len(found) == 1 and len(found[0]) > 1 and found[0][1][0].isdigit() and value(found[0][1]) > 10

    wait_until("a rate, of two looks at the bearers", rate_is_shown)
    screen.press("NPage")
    screen.wait_for("rows 21-41 of 257", without="0x04000000")
    screen.press("s")
    screen.wait_for("s sort:rate")
    screen.press("p")
    screen.wait_for("PAUSED", "all accounted for")
    time.sleep(INTERVAL)  # all of it is drawn
    paused = screen.screen()
    time.sleep(3 * INTERVAL)
    assert screen.screen() == paused
    screen.press("p")
    lines = screen.wait_for("all accounted for", without="PAUSED")
    wait_until("it to go on", lambda: screen.screen() != lines)
    screen.press("1")
    screen.wait_for("[1 all]", "cyc/pkt")
    screen.press("p")
    screen.wait_for("PAUSED")
    screen.press("5")  # whose rows nobody has asked for; which bearer is the fastest, nobody can say
    screen.wait_for("[5 bearers]", "PAUSED", "rows 1-21 of 257", "\n0x0")
    screen.press("q")
    assert screen.exit_code() == 0


def test_140x50_has_room_for_explanations_and_a_resize_is_followed(terminal):
    screen = terminal(140, 50)
    lines = screen.wait_for("strip GTP-U, add airhdr, RLC, PDCP, SDAP", "transmit to the air", "q quit")
    assert len(lines) == 50 and "q quit" in lines[49]
    screen.resize(80, 24)
    lines = screen.wait_for("dl_headers", without="what it does")
    assert len(lines) == 24 and "q quit" in lines[23] and max(map(len, lines)) <= 80
    screen.resize(140, 50)
    lines = screen.wait_for("what it does")
    assert "q quit" in lines[49]
    screen.resize(20, 4)  # too small for anything, and no reason to end
    screen.wait_for("[1 all]")
    screen.resize(80, 24)
    screen.wait_for("all accounted for", "dl_headers")
    screen.press("C-c")
    assert screen.exit_code() == 0


def test_a_gnb_that_goes_away_and_comes_back_is_found_again(terminal, gnb):
    screen = terminal(80, 24)
    screen.wait_for("all accounted for", "dl_headers")
    assert gnb.stop() == 0
    screen.wait_for("no answer, trying again")
    gnb.start()
    lines = screen.wait_for("all accounted for", "dl_headers", without="no answer")
    assert value(row(lines, "w0", "0")[2]) > 10_000
    screen.press("q")
    assert screen.exit_code() == 0


def test_once_and_batch_print_plain_text(gnb):
    once = run([splitplane(), "top", "--control", gnb.socket, "--once", "--interval", 0.3]).stdout
    assert "\033" not in once and "every packet is accounted for" in once
    assert value(row(once.splitlines(), "w0", "0")[2]) > 10_000
    batch = run([splitplane(), "top", gnb.config, "--batch", 3, "--interval", 0.2, "--page", "stages"]).stdout
    assert batch.count("cyc/pkt") == 6 and "rx bit/s" not in batch
    bearers = run([splitplane(), "top", gnb.config, "--once", "--page", "bearers", "--bearers", 5]).stdout
    assert len(re.findall(r"^0x04", bearers, re.MULTILINE)) == 5


def test_without_a_terminal_or_an_instance_one_line_says_what_is_wrong(gnb):
    def refused(code: int, *words: object) -> str:
        done = subprocess.run(
            [str(splitplane()), "top", *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == code and done.stdout == "" and done.stderr.count("\n") == 1, done
        return done.stderr

    assert "allowed: --once or --batch N" in refused(2, gnb.config)
    assert "nothing runs at control socket" in refused(1, "--prefix", "sp-live-none", "--once")
    assert "--batch" in refused(2, gnb.config, "--batch", "0")
