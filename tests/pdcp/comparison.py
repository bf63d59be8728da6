"""Feeds the same steps to the model and to another program on a pipe, and stops at the first difference.

python -m pdcp.comparison --seed 1 --steps 100000 PROGRAM [ARGUMENT...]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Protocol

from pdcp.model import COUNTERS
from pdcp.scenarios import KINDS, play
from pdcp.sdap import SDAP_COUNTERS
from pdcp.steps import ModelHost, Reply, Step

REPLAYS = Path(__file__).resolve().parents[2] / "build" / "pdcp_replay"

DROPS = {*COUNTERS, *SDAP_COUNTERS}
BATCH = 256
SHOWN_STEPS = 12
SHOWN_CHARACTERS = 200
SHOWN_ITEMS = 8
ANSWER_SECONDS = 60


class Other(Protocol):
    def exchange(self, steps: list[Step]) -> list[Reply]: ...


class Program:
    """An implementation behind its standard input and output: one line a step, one line an answer."""

    def __init__(self, command: list[str], cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd)

    def exchange(self, steps: list[Step]) -> list[Reply]:
        """Writes in a thread, so that neither side waits for the other with a full pipe."""
        assert self.process.stdout is not None
        writer = threading.Thread(target=self.write, args=("".join(json.dumps(step) + "\n" for step in steps),))
        watchdog = threading.Timer(ANSWER_SECONDS, self.process.kill)
        writer.start()
        watchdog.start()
        replies: list[Reply] = []
        for _ in steps:
            line = self.process.stdout.readline()
            if not line:
                replies.append({"ended": self.process.wait()})
                break
            replies.append(json.loads(line))
        watchdog.cancel()
        writer.join()
        return replies

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(ANSWER_SECONDS)
        self.process.stdout.close()


class InProcess:
    """A host in this process, such as a mutant. What it raises is its answer."""

    def __init__(self, host: ModelHost) -> None:
        self.host = host

    def exchange(self, steps: list[Step]) -> list[Reply]:
        replies: list[Reply] = []
        for step in steps:
            try:
                replies.append(self.host.run(step))
            except Exception as error:  # whatever a wrong rule leads to
                replies.append({"ended": repr(error)})
                break
        return replies


def normal(reply: Reply) -> Reply:
    """A key whose value is empty says as much as no key; a counter of 0 likewise."""
    out = {key: value for key, value in reply.items() if value not in ([], {})}
    if "counters" in out:
        out["counters"] = {name: number for name, number in out["counters"].items() if number}
    return out


def differences(ours: Reply, theirs: Reply, ignored: frozenset[str] = frozenset()) -> list[str]:
    """An implementation may show more state and more counters than the model, and no other difference.

    `ignored` are names such as state.held, of what an implementation does not show yet.
    """
    found = []
    ours, theirs = normal(ours), normal(theirs)
    for key in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(key, {}), theirs.get(key, {})
        if key in ("state", "counters") and isinstance(mine, dict) and isinstance(other, dict):
            found += [
                f"{key}.{name}: {shortened(mine[name])} against {shortened(other.get(name, 'nothing'))}"
                for name in mine
                if mine[name] != other.get(name, "nothing") and f"{key}.{name}" not in ignored
            ]
            if key == "counters":
                names = [
                    name for name in other if name in DROPS and name not in mine and f"{key}.{name}" not in ignored
                ]
                found += [f"counters.{name}: 0 against {other[name]}" for name in names]
        elif mine != other:
            found.append(f"{key}: {shortened(mine or 'nothing')} against {shortened(other or 'nothing')}")
    return found


def shortened(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"


def cut(value: Any) -> Any:
    """With long strings and lists shortened, inside as well."""
    if isinstance(value, dict):
        return {key: cut(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        shown = [cut(each) for each in value[:SHOWN_ITEMS]]
        return shown + [f"... ({len(value)} in all)"] * (len(value) > SHOWN_ITEMS)
    return shortened(value) if isinstance(value, str) else value


class DifferenceFound(AssertionError):
    pass


class Comparison:
    """`run` plays a step on the model at once, and on the other side with the batch."""

    def __init__(self, other: Other, replay_folder: Path | None = None, ignored: frozenset[str] = frozenset()) -> None:
        self.model, self.other, self.replay_folder, self.ignored = ModelHost(), other, replay_folder, ignored
        self.steps = 0
        self.label = ""
        self.history: list[Step] = []  # of this scenario
        self.compared = 0  # of the history
        self.replies: list[Reply] = []  # of what was not compared yet

    def begin(self, label: str) -> None:
        """A new scenario makes its own entities, so its steps alone show a difference again."""
        self.flush()
        self.label, self.history, self.compared = label, [], 0

    def run(self, step: Step) -> Reply:
        self.history.append(step)
        reply = self.model.run(step)
        self.replies.append(reply)
        self.steps += 1
        if len(self.replies) >= BATCH:
            self.flush()
        return reply

    def flush(self) -> None:
        if not self.replies:
            return
        ours, self.replies = self.replies, []
        theirs = self.other.exchange(self.history[self.compared :])
        for mine, other in zip(ours, theirs, strict=False):
            self.compared += 1
            wrong = differences(mine, other, self.ignored)
            if wrong:
                raise DifferenceFound(self.report(wrong, mine, other))

    def report(self, wrong: list[str], ours: Reply, theirs: Reply) -> str:
        steps = self.history[: self.compared]
        parts = [f"{self.label}, step {len(steps)}:", *wrong, "", f"the last {SHOWN_STEPS} steps:"]
        parts += [f"  {json.dumps(cut(step))}" for step in steps[-SHOWN_STEPS:]]
        parts += ["", f"model: {json.dumps(cut(ours))}", f"other: {json.dumps(cut(theirs))}"]
        if self.replay_folder is not None:
            self.replay_folder.mkdir(parents=True, exist_ok=True)
            path = self.replay_folder / f"{self.label.replace(' ', '_')}.jsonl"
            path.write_text("".join(json.dumps(step) + "\n" for step in steps))
            parts.append(f"all steps: {path}")
        return "\n".join(parts)


def compare(comparison: Comparison, seed: int, steps: int, kinds: tuple[str, ...] = KINDS) -> None:
    """Plays scenarios from `seed` on until `steps` steps are compared."""
    number = seed * 1_000_000
    while comparison.steps < steps:
        comparison.begin(f"scenario {number}")
        play(comparison.run, number, steps - comparison.steps, kinds)
        number += 1
    comparison.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="compares a program with the PDCP and SDAP models (protocol.md)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--replays", type=Path, default=REPLAYS)
    parser.add_argument("--ignore", action="append", default=[], metavar="state.NAME", help="what is not shown yet")
    parser.add_argument("--kind", choices=KINDS, help="PDCP alone or SDAP alone")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    program = Program(arguments.command)
    begin = time.monotonic()
    comparison = Comparison(program, arguments.replays, frozenset(arguments.ignore))
    try:
        compare(comparison, arguments.seed, arguments.steps, (arguments.kind,) if arguments.kind else KINDS)
    except DifferenceFound as difference:
        print(difference)
        return 1
    finally:
        program.close()
    print(f"{comparison.steps} steps, no difference, {time.monotonic() - begin:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
