"""Pages of docs/guide, typed line by line into terminals as a new user would: each promised line appears.

The pages name their namespaces `core`, `gnb` and `ue`, and their instances. The terminals share separate mount,
network and process namespaces, with an empty /run and no journal, so that nothing else on this machine is in the way.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from paths import ROOT, own
from processes import Failure
from service import free_hugepages_mb

sys.path.insert(0, str(ROOT / "tests" / "live"))

from terminal import Terminal  # noqa: E402

# What the page names in the checkout; what it writes there lands in a folder of this test's own.
NAMED = (".venv", "build", "config", "docs", "tests", "tools")
GUIDE = ROOT / "docs" / "guide"
FENCE = re.compile(r"^```(sh|text)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "at-the-prompt"
PATIENCE = 60.0  # seconds: what is waited for is what happens, however busy the machine is

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="SKIPPED: tmux is not installed (make setup)")


@dataclass
class Block:
    """Lines to type into a terminal, or lines that must appear in it."""

    terminal: int
    lines: list[str]
    expected: bool = False
    interrupts: bool = False


def blocks_of(page: str) -> list[Block]:
    found: list[Block] = []
    for kind, words, body in FENCE.findall(page):
        lines = body.strip().splitlines()
        if kind == "sh":
            head = re.fullmatch(r"# terminal (\d)(: Ctrl-C first)?", lines[0])
            assert head, f"a block does not say which terminal it is for: {lines[0]}"
            found.append(Block(int(head[1]), lines[1:], interrupts=bool(head[2])))
        else:
            named = re.search(r"terminal (\d)", words)
            found.append(Block(int(named[1]) if named else found[-1].terminal, lines, expected=True))
    return found


class Shell:
    """A shell in a terminal of the page: types as a person does, and waits for its prompt."""

    def __init__(self, number: int, inside: int, folder: Path, checkout: Path):
        place = folder / f"terminal-{number}"
        place.mkdir(exist_ok=True)
        enter = ["nsenter", f"--target={inside}", "--root", "--mount", "--net", "--pid", f"--wd={checkout}"]
        clean = ["env", "-u", "SPLITPLANE_INSTANCE", f"PS1={PROMPT} \\# $?>", "bash", "--norc", "--noprofile"]
        self.number, self.typed = number, 0
        self.terminal = Terminal([*enter, *clean], 200, 50, place)
        self.begin = 0  # where the output of the block begins that was typed last
        self.wait_for_prompt()

    def text(self) -> str:
        return self.terminal._tmux("capture-pane", "-p", "-J", "-S", "-")

    def wait_for_prompt(self) -> int:
        """Until the shell waits for its next command; the exit code of the last one."""
        end = time.monotonic() + PATIENCE
        while True:
            last = re.findall(rf"^{PROMPT} (\d+) (\d+)>", self.text(), re.MULTILINE)
            if last and int(last[-1][0]) == self.typed + 1:
                return int(last[-1][1])
            if time.monotonic() > end:
                raise Failure(f"terminal {self.number} has no prompt after {PATIENCE:g} s:\n{self.text().rstrip()}")
            time.sleep(0.05)

    def type(self, line: str):
        self.terminal._tmux("send-keys", "-l", line)
        self.terminal.press("Enter")
        self.typed += 1

    def wait_for(self, line: str):
        wanted, end = " ".join(line.split()), time.monotonic() + PATIENCE
        while wanted not in " ".join(self.text()[self.begin :].split()):
            if time.monotonic() > end:
                raise Failure(f"terminal {self.number} does not show {wanted!r}:\n{self.text()[self.begin :].rstrip()}")
            time.sleep(0.1)


@dataclass
class Walk:
    """The page's terminals, and what is typed into them."""

    folder: Path
    checkout: Path
    inside: subprocess.Popen = field(init=False)
    shells: dict[int, Shell] = field(default_factory=dict)

    def __enter__(self) -> Walk:
        prepare = (
            "mount -t tmpfs tmpfs /run && mkdir -p /var/lib/splitplane && mount -t tmpfs tmpfs /var/lib/splitplane && "
            "ip link set lo up && echo ready && exec sleep infinity"
        )
        self.inside = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", prepare],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.inside.stdout is not None and self.inside.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self.inside.pid}/task/{self.inside.pid}/children").read_text().split()
        self.first = int(children[0])
        return self

    def __exit__(self, *_):
        for shell in self.shells.values():
            (self.folder / f"terminal-{shell.number}.txt").write_text(shell.text())
            shell.terminal.close()
        self.inside.kill()  # and with it all that runs inside
        self.inside.wait()

    def go(self, block: Block, results_follow: bool):
        if block.expected:
            for line in block.lines:
                self.shells[block.terminal].wait_for(line)
            return
        if block.terminal not in self.shells:
            self.shells[block.terminal] = Shell(block.terminal, self.first, self.folder, self.checkout)
        shell = self.shells[block.terminal]
        if block.interrupts:
            shell.terminal.press("C-c")
        for number, line in enumerate(block.lines):
            code = shell.wait_for_prompt()
            assert code == 0 or number == 0 or results_follow, f"the line before `{line}` ended with {code}"
            if number == 0:
                shell.begin = len(shell.text().rstrip())
            shell.type(line)


@pytest.fixture
def checkout() -> Path:
    """Looks like the checkout to whoever types the page, and no capture of somebody else stands in it."""
    place = own("e2e") / "guides"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in NAMED:
        (place / name).symlink_to(ROOT / name)
    return place


# And how often each pings.
PAGES = [
    ("first-hour.md", 4),
    ("secured.md", 3),
    ("placement.md", 5),
    ("full-mode.md", 1),
    ("syn-flood.md", 1),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("page", "pings"), PAGES)
def test_a_page_shows_what_it_promises(folder, checkout, page, pings):
    text = (GUIDE / page).read_text()
    needed = re.search(r"(\d+) MB of free hugepages", text)
    if needed and free_hugepages_mb() < int(needed[1]):
        pytest.skip(f"SKIPPED: {free_hugepages_mb()} MB of hugepages are free, and the page needs {needed[1]}")
    blocks = blocks_of(text)
    assert sum("ping" in line for block in blocks for line in block.lines) >= pings
    with Walk(folder, checkout) as walk:
        for block, following in zip(blocks, [*blocks[1:], None], strict=True):
            walk.go(block, following is not None and following.expected)
        assert walk.shells[blocks[-1].terminal].wait_for_prompt() == 0, "the last line"


def test_the_smallest_configuration_is_small():
    lines = (ROOT / "config" / "minimal.yaml").read_text().splitlines()
    assert len([line for line in lines if line.strip() and not line.startswith("#")]) <= 14


def test_the_upf_explains_itself():
    done = subprocess.run(["python3", ROOT / "tools" / "upf.py", "--help"], capture_output=True, text=True, check=True)
    assert "--dl-teid" in done.stdout and "--ul-teid" in done.stdout
