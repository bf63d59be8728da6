"""Hosts of RLC entities that obey one line a command: the Python models, the C++ tool, and the duel between two.

Commands: new NAME am|um KEY=VALUE..., seed NAME SN, send NAME HEX, pull NAME GRANT, receive NAME HEX, tick NAME NOW,
discard NAME ID, reset NAME. A reply is a dictionary that always has the entity's state and events.
"""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Callable
from pathlib import Path

from rlc_model_am import AmEntity
from rlc_model_am_tx import AmConfig
from rlc_model_um import UmConfig, UmEntity

# Compared only while the timer runs.
VALID_WITH = {"rx_next_status_trigger": "t_reassembly", "rx_timer_trigger": "t_reassembly"}
SHOWN_STEPS = 20
SHOWN_CHARACTERS = 160
ANSWER_SECONDS = 20


class ModelHost:
    """`am` and `um` make the entities, so that a test can put in one with a wrong rule."""

    def __init__(
        self,
        am: Callable[[AmConfig], AmEntity] = AmEntity,
        um: Callable[[UmConfig], UmEntity] = UmEntity,
    ) -> None:
        self.makers = {"am": lambda values: am(AmConfig(**values)), "um": lambda values: um(UmConfig(**values))}
        self.entities: dict[str, AmEntity | UmEntity] = {}

    def run(self, line: str) -> dict:
        command, name, *words = line.split()
        if command == "new":
            values = {key: int(value) for key, value in (word.split("=") for word in words[1:])}
            self.entities[name] = self.makers[words[0]](values)
        entity = self.entities[name]
        reply = {} if command == "new" else getattr(self, command)(entity, *words)
        return reply | {"state": entity.state(), "events": entity.events()}

    def seed(self, entity: AmEntity | UmEntity, sn: str) -> dict:
        entity.seed(int(sn))
        return {}

    def send(self, entity: AmEntity | UmEntity, octets: str) -> dict:
        return {"accepted": entity.send(bytes.fromhex(octets))}

    def pull(self, entity: AmEntity | UmEntity, grant: str) -> dict:
        pdu = entity.pull(int(grant))
        return {"pdu": None if pdu is None else pdu.hex()}

    def receive(self, entity: AmEntity | UmEntity, octets: str) -> dict:
        return {"delivered": [sdu.hex() for sdu in entity.receive(bytes.fromhex(octets))]}

    def tick(self, entity: AmEntity | UmEntity, now: str) -> dict:
        entity.tick(int(now))
        return {}

    def discard(self, entity: AmEntity | UmEntity, number: str) -> dict:
        return {"discarded": entity.discard(int(number))}

    def reset(self, entity: AmEntity | UmEntity) -> dict:
        entity.reset()
        return {}


class ToolHost:
    """The C++ entities behind the tool's standard input and output."""

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def run(self, line: str) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            return {"ended": self.process.wait(ANSWER_SECONDS)}
        answer = b""
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_SECONDS)
            piece = self.process.stdout.read(1 << 20) if ready else None
            if piece is None:
                return {"silent_for_s": ANSWER_SECONDS}
            if not piece:
                return {"ended": self.process.wait(ANSWER_SECONDS)}
            answer += piece
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(ANSWER_SECONDS)
        self.process.stdout.close()


def differences(ours: dict, theirs: dict) -> list[str]:
    """What the second reply lacks or says otherwise; it may say more than the first."""
    found = []
    for key, value in ours.items():
        if key in ("state", "events"):
            found += [f"{key}: {text}" for text in differences(value, theirs.get(key, {}))]
        elif VALID_WITH.get(key) in ours and ours[VALID_WITH[key]] is None:
            continue
        elif key not in theirs or theirs[key] != value:
            found.append(f"{key}: {shortened(str(value))} against {shortened(str(theirs.get(key, 'nothing')))}")
    return found


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"


class DifferenceFound(AssertionError):
    pass


class Duel:
    """Gives each command to both hosts and compares their replies; the first difference ends it."""

    def __init__(self, first: ModelHost, second: ModelHost | ToolHost, replay_folder: Path | None = None) -> None:
        self.first, self.second, self.replay_folder = first, second, replay_folder
        self.steps = 0
        self.label = ""
        self.lines: list[str] = []

    def begin(self, label: str) -> None:
        """A new schedule with new entities: the replay file needs nothing from before."""
        self.label = label
        self.lines = []

    def run(self, line: str) -> dict:
        self.steps += 1
        self.lines.append(line)
        ours = self.first.run(line)
        theirs = self.second.run(line)
        wrong = differences(ours, theirs)
        if wrong:
            raise DifferenceFound(self.report(wrong, ours, theirs))
        return ours

    def report(self, wrong: list[str], ours: dict, theirs: dict) -> str:
        parts = [f"{self.label}, step {len(self.lines)}:", *wrong, "", f"the last {SHOWN_STEPS} steps:"]
        parts += [f"  {shortened(line)}" for line in self.lines[-SHOWN_STEPS:]]
        parts += ["", f"first:  {json.dumps(ours)}", f"second: {json.dumps(theirs)}"]
        if self.replay_folder is not None:
            self.replay_folder.mkdir(parents=True, exist_ok=True)
            path = self.replay_folder / f"{self.label.replace(' ', '_')}.txt"
            path.write_text("\n".join(self.lines) + "\n")
            parts.append(f"replay: rlc_tool < {path}")
        return "\n".join(parts)
