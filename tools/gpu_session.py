#!/usr/bin/env python3
"""The plan for a machine with a GPU that is lent for 45 minutes and takes one command of at most 10 minutes at a time.

gpu_session.py --print                     the commands, one a line, for whoever gives them by hand
gpu_session.py --runner RUNNER RESULTS     gives them to RUNNER; goes on where RESULTS ended
Options: --budget SECONDS (2700), --limit SECONDS (600), --kit FOLDER (build/gpu-kit, as the machine has it)

RUNNER is a program that stands for the machine: `RUNNER SECONDS COMMAND` runs COMMAND there with a folder in $OUT, ends
it after SECONDS, and prints one line of JSON: rc, timed_out, wall_s, output_tail, files_at (a folder here with what was
in $OUT). Anything else, such as "already running", is no answer: the command is given again a little later, until there
is one or the time is used up. Time is that between giving a command and its answer: a machine's start counts.

What matters most comes first. What a command left in $OUT, rows of the matrix above all, is in RESULTS/kit-out, and
in KIT/out if KIT is here, too: a machine that gets the kit again for the next command goes on where the last one ended.
Python's own library only.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

BUDGET, LIMIT = 2700, 600
MARGIN = 30  # of a command's limit, for its start and for what it has left under $OUT
SKIPPED, MORE = 77, 75
PAUSE = 2.0  # until a runner that gave no answer is asked again


@dataclass(frozen=True)
class Step:
    name: str
    words: str  # behind KIT/run; {seconds}: what the command has
    limit: int  # seconds
    least: int  # with less left it is not begun
    again: bool = False  # while it says that there is more, and time is left

    def command(self, kit: str, limit: int) -> str:
        return f"{kit}/run {self.words.format(seconds=max(1, limit - MARGIN))}"


PLAN = (
    Step("check", "check", 60, 5),
    Step("smoke", "smoke", 240, 60),
    Step("judges", "accept build device judges", 420, 120),
    Step("matrix", "matrix {seconds}", 600, 90, again=True),
    Step("page", "page", 60, 5),
)
RESERVED = {"matrix": 60}  # what the steps behind it need


class Session:
    """Gives the plan's commands to the runner, and remembers what is done in RESULTS/session.json."""

    def __init__(self, runner: str, results: Path, kit: str, budget: float, limit: int) -> None:
        self.runner, self.results, self.kit, self.budget, self.limit = shlex.split(runner), results, kit, budget, limit
        self.file = results / "session.json"
        self.unanswered_s = 0.0  # spent where the runner gave no answer
        results.mkdir(parents=True, exist_ok=True)
        self.done: list[dict] = json.loads(self.file.read_text()) if self.file.exists() else []

    @property
    def left(self) -> float:
        return self.budget - self.unanswered_s - sum(step["wall_s"] for step in self.done)

    def limit_of(self, step: Step) -> int:
        return int(min(step.limit, self.limit, self.left - RESERVED.get(step.name, 0)))

    def has_time_for(self, step: Step) -> bool:
        return self.limit_of(step) >= min(step.least, self.limit)

    def is_over(self, step: Step) -> bool:
        mine = [done for done in self.done if done["name"] == step.name]
        return bool(mine) and not (step.again and mine[-1]["rc"] == MORE)

    def ask(self, command: str, limit: int) -> dict | str:
        """The runner's answer, or what it said that is none."""
        done = subprocess.run([*self.runner, str(limit), command], stdout=subprocess.PIPE, text=True)
        said = done.stdout.strip()
        try:
            answer = json.loads(said.splitlines()[-1])
        except (ValueError, IndexError):
            return said[:200]
        if not isinstance(answer, dict) or "rc" not in answer:
            return said[:200]
        return {"wall_s": 0.0, "timed_out": False, "output_tail": ""} | answer

    def take(self, step: Step) -> bool:
        """Gives the command until it is answered. False, and nothing is remembered: there was no answer in the time."""
        said = None
        while self.has_time_for(step):
            limit = self.limit_of(step)
            command = step.command(self.kit, limit)
            if said is None:
                print(f"session: {step.name}: at most {limit} s, {self.left:.0f} s left: {command}", flush=True)
            begin = time.monotonic()
            answer = self.ask(command, limit)
            if isinstance(answer, dict):
                self.remember(step, command, limit, answer, time.monotonic() - begin)
                return True
            if answer != said:
                print(f"session: {step.name}: asked again until it is answered; it says: {answer}", flush=True)
                said = answer
            time.sleep(PAUSE)
            self.unanswered_s += time.monotonic() - begin
        return False

    def remember(self, step: Step, command: str, limit: int, answer: dict, seconds: float) -> None:
        """`seconds`: since the command was given. The runner's own count leaves out start and transfers."""
        if folder := answer.get("files_at"):
            for kept in (self.results / "kit-out", Path(self.kit) / "out"):
                if kept.parent.exists() and Path(folder).exists():
                    shutil.copytree(folder, kept, dirs_exist_ok=True)
        number = len(self.done)
        (self.results / f"{number:02}-{step.name}.log").write_text(answer["output_tail"])
        # A command that was ended at its limit has left its rows behind it: there may be more.
        code = MORE if step.again and answer["timed_out"] else answer["rc"]
        used = max(seconds, answer["wall_s"])
        outcome = {"rc": code, "wall_s": used, "timed_out": answer["timed_out"]}
        self.done.append({"name": step.name, "command": command, "limit": limit, **outcome})
        self.file.write_text(json.dumps(self.done, indent=1) + "\n")
        how = "ended at its limit" if answer["timed_out"] else f"exit {code}"
        print(f"session: {step.name}: {how} after {used:.0f} s", flush=True)

    def run(self) -> int:
        left_out = []
        for step in PLAN:
            while not self.is_over(step):
                if not self.take(step):
                    left_out.append(step.name)
                    break
        failed = [step["name"] for step in self.done if step["rc"] not in (0, SKIPPED, MORE)]
        used = self.budget - self.left
        print(
            f"session: {len(self.done)} commands, {used:.0f} of {self.budget:.0f} s;"
            f" failed: {', '.join(failed) or 'none'}; no time for: {', '.join(left_out) or 'none'}"
        )
        if failed or left_out:
            return 1
        return SKIPPED if any(step["rc"] == SKIPPED for step in self.done) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--runner")
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--budget", type=float, default=BUDGET)
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--kit", default="build/gpu-kit")
    options = parser.parse_args()
    if options.only_print:
        for step in PLAN:
            limit = min(step.limit, options.limit)
            more = f"   # again while it exits with {MORE}" if step.again else ""
            print(f"{limit:>4} s  {step.command(options.kit, limit)}{more}")
        return 0
    if not options.runner or not options.results:
        parser.error("--runner and RESULTS, or --print")
    return Session(options.runner, options.results, options.kit, options.budget, options.limit).run()


if __name__ == "__main__":
    sys.exit(main())
